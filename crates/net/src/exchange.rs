//! One exchange with a server, as it went over the wire.
//!
//! A request goes out, an answer comes in, and every byte of both is recorded: small ones in
//! memory, large ones in a file without a name that vanishes with its last holder. The archive
//! stores these bytes as they are; only reading for links takes off the codings.

use std::fs::File;
use std::io::{self, Cursor, Read, Write};
use std::net::SocketAddr;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use policy::time::{Span, Time};

use crate::content_type::ContentType;

/// A recorded request and its answer.
#[derive(Debug)]
pub struct Exchange {
    /// As asked for.
    pub url: String,
    /// When the request was sent.
    pub at: Time,
    pub remote: SocketAddr,
    /// Request line, headers and the empty line.
    pub request: Vec<u8>,
    /// Status line, headers, and the body with its transfer coding.
    pub response: Recording,
    pub head: Head,
    pub framing: Framing,
    /// Why the recording ends before the answer did.
    pub truncated: Option<Truncated>,
    pub tls: Option<Tls>,
    /// From sending the request to the first byte, and to the last.
    pub first_byte: Span,
    pub total: Span,
}

/// The head of an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    pub status: u16,
    /// Names as sent, values as sent (bytes that are no text included), in their order.
    pub headers: Vec<(String, Vec<u8>)>,
    /// Bytes of status line and headers with the empty line: where the body begins in the
    /// recording.
    pub bytes: usize,
}

/// How the body is laid out after the head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// As it is: by length, or up to the end of the connection.
    Plain,
    Chunked,
}

/// Why an answer was not taken in whole (A5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truncated {
    Length,
    Time,
    Disconnect,
}

/// What there is to say of the encryption (A4).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tls {
    pub version: String,
    pub cipher: String,
    /// What was wrong with the certificate, where that was accepted.
    pub complaint: Option<String>,
}

impl Truncated {
    /// As `WARC-Truncated` spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            Truncated::Length => "length",
            Truncated::Time => "time",
            Truncated::Disconnect => "disconnect",
        }
    }
}

impl Head {
    /// The first header of that name, as text; none if it is absent.
    pub fn header(&self, name: &str) -> Option<std::borrow::Cow<'_, str>> {
        self.all(name).next().map(String::from_utf8_lossy)
    }

    /// Every header of that name, as it came.
    pub fn all<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a [u8]> {
        let named = self.headers.iter().filter(move |(have, _)| have.eq_ignore_ascii_case(name));
        named.map(|(_, value)| value.as_slice())
    }

    /// What the answer says it is.
    pub fn content_type(&self) -> ContentType {
        ContentType::read(self.all("content-type"))
    }
}

/// Bytes in memory up to a bound, beyond it in a file without a name.
#[derive(Debug)]
pub struct Recording {
    memory: Vec<u8>,
    spilled: Option<File>,
    len: u64,
    memory_bytes_max: usize,
    dir: PathBuf,
}

impl Recording {
    /// Spills into `dir` what is longer than `memory_bytes_max`.
    pub fn new(memory_bytes_max: usize, dir: &Path) -> Recording {
        Recording { memory: Vec::new(), spilled: None, len: 0, memory_bytes_max, dir: dir.to_owned() }
    }

    /// Something already in memory.
    pub fn from_bytes(bytes: Vec<u8>) -> Recording {
        let len = bytes.len() as u64;
        Recording { memory: bytes, spilled: None, len, memory_bytes_max: usize::MAX, dir: PathBuf::new() }
    }

    pub fn len(&self) -> u64 {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// All of it, if it is in memory.
    pub fn in_memory(&self) -> Option<&[u8]> {
        self.spilled.is_none().then_some(&self.memory)
    }

    pub fn push(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.spilled.is_none() && self.memory.len() + bytes.len() > self.memory_bytes_max {
            let mut file = tempfile::tempfile_in(&self.dir)?;
            file.write_all(&self.memory)?;
            self.memory = Vec::new();
            self.spilled = Some(file);
        }
        match &mut self.spilled {
            Some(file) => file.write_all(bytes)?,
            None => self.memory.extend_from_slice(bytes),
        }
        self.len += bytes.len() as u64;
        Ok(())
    }

    /// Forgets everything from `len` on.
    pub fn truncate(&mut self, len: u64) -> io::Result<()> {
        if len >= self.len {
            return Ok(());
        }
        match &mut self.spilled {
            Some(file) => {
                file.set_len(len)?;
                io::Seek::seek(file, io::SeekFrom::Start(len))?;
            }
            None => self.memory.truncate(usize::try_from(len).unwrap_or(usize::MAX)),
        }
        self.len = len;
        Ok(())
    }

    /// Reads from `offset` to the end; several readers do not disturb each other.
    pub fn reader(&self, offset: u64) -> RecordingReader<'_> {
        match &self.spilled {
            Some(file) => RecordingReader::File { file, at: offset },
            None => {
                let from = usize::try_from(offset).unwrap_or(usize::MAX).min(self.memory.len());
                RecordingReader::Memory(Cursor::new(&self.memory[from..]))
            }
        }
    }
}

/// See [`Recording::reader`].
#[derive(Debug)]
pub enum RecordingReader<'a> {
    Memory(Cursor<&'a [u8]>),
    File { file: &'a File, at: u64 },
}

impl Read for RecordingReader<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            RecordingReader::Memory(bytes) => bytes.read(into),
            RecordingReader::File { file, at } => {
                let read = file.read_at(into, *at)?;
                *at += read as u64;
                Ok(read)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test")]
    use super::*;

    #[test]
    fn a11_a_recording_spills_and_reads_back() {
        let dir = tempfile::tempdir().unwrap();
        for memory in [0, 3, 6, 100] {
            let mut recording = Recording::new(memory, dir.path());
            for piece in [&b"abc"[..], b"def", b"", b"ghi"] {
                recording.push(piece).unwrap();
            }
            assert_eq!(recording.in_memory().is_some(), memory == 100);
            recording.truncate(8).unwrap();
            recording.push(b"IJ").unwrap();
            let mut all = String::new();
            recording.reader(2).read_to_string(&mut all).unwrap();
            assert_eq!((all.as_str(), recording.len()), ("cdefghIJ", 10));
        }
    }
}
