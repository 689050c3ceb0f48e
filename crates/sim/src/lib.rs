//! The real frontier on the in-memory store, a virtual clock and a synthetic web.
//!
//! Behind `skurd simulate`, where it answers "what will happen if I run this for a month?" in seconds, and behind the seeded
//! tests, where it makes everything go wrong that can, and checks after every step what must never break. Everything random
//! comes from one seed: the same seed gives the same run, step by step.

mod answer;
mod check;
mod clock;
mod generate;
mod harvest;
mod interleave;
mod run;
pub mod web;

pub use check::Checker;
pub use clock::VirtualClock;
pub use generate::generate;
pub use harvest::Harvest;
pub use interleave::interleave;
pub use run::{Flight, Settings, Simulation};
