//! A body seen through a window: what is not yet understood stays, what is understood goes, and it
//! never grows beyond a bound.

use std::io::{Cursor, Read};

/// Read at a time; most pages are one piece.
const CHUNK_BYTES: usize = 64 << 10;

/// Most that is kept of something that does not end (a tag, a line).
pub(super) const WINDOW_BYTES_MAX: usize = 4 * CHUNK_BYTES;

pub struct Window<'a> {
    source: Box<dyn Read + 'a>,
    bytes: Vec<u8>,
    /// What of `bytes` is already understood.
    from: usize,
    ended: bool,
}

impl std::fmt::Debug for Window<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Window").field("bytes", &self.bytes().len()).finish_non_exhaustive()
    }
}

impl<'a> Window<'a> {
    /// With its first piece.
    pub fn new(source: impl Read + 'a) -> Window<'a> {
        let mut window = Window {
            source: Box::new(source),
            bytes: Vec::with_capacity(CHUNK_BYTES / 2),
            from: 0,
            ended: false,
        };
        window.read();
        window
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes[self.from..]
    }

    /// Whether the window reaches to the end of the body.
    pub(super) fn is_last(&self) -> bool {
        self.ended
    }

    pub(super) fn consume(&mut self, bytes: usize) {
        self.from = (self.from + bytes).min(self.bytes.len());
    }

    /// Takes in more; false if the window is as large as it may be.
    pub(super) fn extend(&mut self) -> bool {
        self.bytes.drain(..self.from);
        self.from = 0;
        let has_room = self.bytes.len() < WINDOW_BYTES_MAX;
        if has_room {
            self.read();
        }
        has_room
    }

    /// All that has not been consumed, as a stream.
    pub(super) fn into_reader(mut self) -> impl Read + 'a {
        self.bytes.drain(..self.from);
        Cursor::new(self.bytes).chain(self.source)
    }

    /// A body that fails ends there; a decoded one tells its own problem.
    fn read(&mut self) {
        let read = self.source.by_ref().take(CHUNK_BYTES as u64).read_to_end(&mut self.bytes);
        self.ended = read.map_or(true, |read| read < CHUNK_BYTES);
    }
}
