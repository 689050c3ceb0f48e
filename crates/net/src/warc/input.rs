//! A file read in pieces, with the place in it.

use std::io::{self, Read};

const PIECE_BYTES: usize = 64 * 1024;

pub(super) struct Input<R> {
    inner: R,
    buffer: Vec<u8>,
    at: usize,
    end: usize,
    before_buffer: u64,
}

impl<R: Read> Input<R> {
    pub(super) fn new(inner: R) -> Input<R> {
        Input { inner, buffer: vec![0; PIECE_BYTES], at: 0, end: 0, before_buffer: 0 }
    }

    /// The place of the next byte.
    pub(super) fn position(&self) -> u64 {
        self.before_buffer + self.at as u64
    }

    /// Some bytes that come next; none at the end of the file.
    pub(super) fn fill(&mut self) -> io::Result<&[u8]> {
        if self.at == self.end {
            self.before_buffer += self.end as u64;
            (self.at, self.end) = (0, 0);
            self.end = read_some(&mut self.inner, &mut self.buffer)?;
        }
        Ok(&self.buffer[self.at..self.end])
    }

    pub(super) fn consume(&mut self, bytes: usize) {
        self.at = (self.at + bytes).min(self.end);
    }

    /// Goes on by that many of the bytes `fill` gave, and gives them.
    pub(super) fn take(&mut self, bytes: usize) -> &[u8] {
        let from = self.at;
        self.consume(bytes);
        &self.buffer[from..self.at]
    }

    /// The next `wanted` bytes, or as many as there are, without going on.
    pub(super) fn peek(&mut self, wanted: usize) -> io::Result<&[u8]> {
        while self.end - self.at < wanted.min(PIECE_BYTES) {
            self.buffer.copy_within(self.at..self.end, 0);
            self.before_buffer += self.at as u64;
            (self.at, self.end) = (0, self.end - self.at);
            let read = read_some(&mut self.inner, &mut self.buffer[self.end..])?;
            if read == 0 {
                break;
            }
            self.end += read;
        }
        Ok(&self.buffer[self.at..self.end.min(self.at + wanted)])
    }

    /// The next byte; none at the end of the file.
    pub(super) fn byte(&mut self) -> io::Result<Option<u8>> {
        let byte = self.fill()?.first().copied();
        self.consume(usize::from(byte.is_some()));
        Ok(byte)
    }
}

fn read_some(from: &mut impl Read, into: &mut [u8]) -> io::Result<usize> {
    loop {
        match from.read(into) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

impl<R> std::fmt::Debug for Input<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Input")
            .field("position", &(self.before_buffer + self.at as u64))
            .finish_non_exhaustive()
    }
}
