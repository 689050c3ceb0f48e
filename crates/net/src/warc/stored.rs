//! One record of an archive file, read from where the captures say it begins: an answer as it lies
//! in the archive.
//!
//! [`StoredRecord`] is a record's block as something to read. Where the record is a response,
//! [`StoredRecord::http_head`] takes the head of the answer off, and what is left to read is its
//! body as it came over the wire.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Take};
use std::path::Path;

use super::head::RecordHead;
use super::names::OPEN;
use super::read::Reader;
use crate::http::head::{Parsed, end_of_head, parse};

/// Of a longer head nothing is believed.
const HEAD_BYTES_MAX: usize = 256 << 10;

/// The archive file of this path, under the name it has while it is being written or the one it has
/// afterwards.
pub fn open_file(path: &Path) -> io::Result<File> {
    let mut still_open = path.as_os_str().to_owned();
    still_open.push(OPEN);
    let opened = File::open(path).or_else(|_| File::open(&still_open));
    // It may have been completed in between.
    opened.or_else(|_| File::open(path))
}

/// A record's block.
#[derive(Debug)]
pub struct StoredRecord {
    pub head: RecordHead,
    reader: Reader<Take<File>>,
    /// Read already, and not yet taken from `at` on.
    left: Vec<u8>,
    at: usize,
}

impl StoredRecord {
    /// The record that begins at `offset` and is `length` bytes long in the file.
    pub fn open(mut file: File, offset: u64, length: u64) -> io::Result<StoredRecord> {
        file.seek(SeekFrom::Start(offset))?;
        let mut reader = Reader::new(file.take(length)).map_err(io::Error::other)?;
        let head = reader.next().map_err(io::Error::other)?;
        let head = head.ok_or_else(|| io::Error::other("there is no record here"))?;
        Ok(StoredRecord { head, reader, left: Vec::new(), at: 0 })
    }

    /// Takes the head of the answer off. None if the record is no response, or what it begins with
    /// is no head: then the block is as it was.
    pub fn http_head(&mut self) -> io::Result<Option<Parsed>> {
        if self.head.kind() == "response" { self.head_of_block() } else { Ok(None) }
    }

    /// The head that a revisit has in place of the answer. None if it is no revisit, or has none.
    pub fn revisited_head(&mut self) -> io::Result<Option<Parsed>> {
        if self.head.kind() == "revisit" { self.head_of_block() } else { Ok(None) }
    }

    fn head_of_block(&mut self) -> io::Result<Option<Parsed>> {
        let mut bytes = Vec::new();
        loop {
            let searched = bytes.len().saturating_sub(3);
            let more = self.reader.piece().map_err(io::Error::other)?;
            let ended = more.is_none();
            bytes.extend_from_slice(more.unwrap_or_default());
            if let Some(end) = end_of_head(&bytes, searched)
                && let Some(parsed) = parse(&bytes[..end])
            {
                self.left = bytes.split_off(end);
                return Ok(Some(parsed));
            }
            if ended || bytes.len() > HEAD_BYTES_MAX {
                self.left = bytes;
                return Ok(None);
            }
        }
    }
}

impl Read for StoredRecord {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.at == self.left.len() {
            match self.reader.piece().map_err(io::Error::other)? {
                Some(piece) => self.left = piece.to_vec(),
                None => return Ok(0),
            }
            self.at = 0;
        }
        let taken = (&self.left[self.at..]).read(into)?;
        self.at += taken;
        Ok(taken)
    }
}
