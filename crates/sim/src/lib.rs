//! The real harvester on the in-memory store, a virtual clock and a synthetic web.
//!
//! Behind `skurd simulate`, where it answers "what will happen if I run this for a month?" in
//! seconds, and behind the seeded tests, where it makes everything go wrong that can, and checks
//! after every step what must never break. Nothing of the harvester is played: its loop, frontier,
//! walks and transactions are those that harvest, on a [fetcher](fetch), an [archive](shelf) and a
//! clock of ours. Time is the runtime's own, paused: it passes when nobody has anything to do.
//! Everything random comes from one seed, and everything runs on one thread: the same seed gives
//! the same run, step by step.

mod check;
mod clock;
mod ear;
mod fetch;
mod generate;
mod harvest;
mod interleave;
mod shelf;
mod simulation;
pub mod web;

pub use check::Checker;
pub use clock::VirtualClock;
pub use fetch::{WebFetcher, report};
pub use generate::generate;
pub use harvest::Harvest;
pub use interleave::interleave;
pub use shelf::{Answered, Batch, Held, Record, Remembered, Shelf, ShelfFaults, Stage};
pub use simulation::{Moment, Settings, Simulation};

/// Runs a future on this thread, in a time of its own that passes in no time.
pub fn virtual_time<T>(future: impl Future<Output = T>) -> std::io::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?;
    Ok(runtime.block_on(future))
}
