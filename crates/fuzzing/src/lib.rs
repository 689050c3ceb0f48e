//! What reads the outside, held against bytes that nobody meant well (A11, A12).
//!
//! A [`Target`] is a function that takes any bytes and asserts what must hold whatever they are:
//! not only that nothing panics, but that what was stored can be sent again, that reading in other
//! pieces reads the same, that bounds are bounds. The same functions are called by libFuzzer
//! (`fuzz/`, nightly, with sanitizers and coverage) and by the [`runner`] in the ordinary tests
//! (stable, seeded, a bounded number of inputs).
//!
//! The life of an input: a [seed](Seeds) of our own, of the shared test data, or one that once
//! found a mistake and is kept under `tests/data/TARGET` with its story as its name →
//! [mutated](mutate) → run. What a target needs to be told besides the bytes (a Content-Type, an
//! agent's name) stands in the first line, so that it is mutated like everything else.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a target that fails says so by panicking")]

mod draw;
mod mutate;
pub mod runner;
mod seeds;
mod targets;
mod trickle;

pub use draw::Draw;
pub use seeds::Seeds;
pub use targets::{
    ANSWER, API, ARCHIVE, CHUNKED, CONFIG, CSS, DECODE, HTML, HTTP, IMPORT, JOURNAL, RECOVERY, ROBOTS,
    SITEMAP, TARGETS, URL, WARC, WINDOW, XML,
};
pub use trickle::Trickle;

/// Something that takes bytes from outside.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Of the binary in `fuzz/`, of the test, and of the directory of kept inputs.
    pub name: &'static str,
    /// Panics if something is not as it must be.
    pub run: fn(&[u8]),
    /// Where mutation starts.
    pub seeds: fn(&mut Seeds),
    /// Pieces that mean something here, for mutation to put in.
    pub words: &'static [&'static str],
    /// Inputs of an ordinary test run, beside the seeds.
    pub runs: u64,
}

/// The first line, and what follows it.
pub fn first_line(input: &[u8]) -> (&[u8], &[u8]) {
    match input.iter().position(|byte| *byte == b'\n') {
        Some(end) => (&input[..end], &input[end + 1..]),
        None => (input, &[]),
    }
}
