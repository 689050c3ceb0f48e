//! The body of a recorded answer.

use std::io::{self, Read};

use super::chunked::Dechunk;
use crate::exchange::{Exchange, Framing, RecordingReader};

/// The body of an exchange without its transfer coding, but with its content coding; one that was
/// cut off just ends.
pub fn body(exchange: &Exchange) -> Body<'_> {
    let bytes = exchange.response.reader(exchange.head.bytes as u64);
    match exchange.framing {
        Framing::Plain => Body::Plain(bytes),
        Framing::Chunked => Body::Chunked(Dechunk::new(bytes)),
    }
}

/// See [`body`].
#[derive(Debug)]
pub enum Body<'a> {
    Plain(RecordingReader<'a>),
    Chunked(Dechunk<RecordingReader<'a>>),
}

impl Read for Body<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Body::Plain(bytes) => bytes.read(into),
            Body::Chunked(chunks) => chunks.read(into),
        }
    }
}
