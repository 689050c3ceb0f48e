//! A source that gives as little at a time as it likes, and counts what is asked of it.

use std::io::{self, Read};

/// Gives `bytes` in pieces of at most `step`.
#[derive(Debug)]
pub struct Trickle<'a> {
    bytes: &'a [u8],
    step: usize,
    /// How often it was read from.
    pub reads: usize,
}

impl<'a> Trickle<'a> {
    pub fn new(bytes: &'a [u8], step: usize) -> Trickle<'a> {
        Trickle { bytes, step: step.max(1), reads: 0 }
    }
}

impl Read for Trickle<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.reads += 1;
        let taken = self.step.min(into.len()).min(self.bytes.len());
        into[..taken].copy_from_slice(&self.bytes[..taken]);
        self.bytes = &self.bytes[taken..];
        Ok(taken)
    }
}
