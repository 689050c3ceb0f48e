//! The body of an archived answer, without transfer and content codings.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Take};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use frontier::Capture;
use net::http::Dechunk;
use net::http::head::{Layout, end_of_head, parse};
use net::warc::Reader;

/// A body is written up to here when it is unpacked; the archive has all of it.
const BODY_BYTES_MAX: u64 = 1 << 30;
/// Of a longer head nothing is believed.
const HEAD_BYTES_MAX: usize = 1 << 20;

/// The archive as it is read again. The file that was read last stays open: the next answer is most
/// often in it too.
pub(super) struct Bodies {
    dir: PathBuf,
    last: Option<(String, File)>,
}

impl Bodies {
    pub(super) fn new(warc_dir: &Path) -> Bodies {
        Bodies { dir: warc_dir.to_owned(), last: None }
    }

    /// Copies the body of a capture to `into`.
    pub(super) fn copy(&mut self, capture: &Capture, into: &mut impl io::Write) -> Result<()> {
        let told = || format!("cannot read {} at {}", capture.file, capture.offset);
        self.read(capture, into).with_context(told)
    }

    fn read(&mut self, capture: &Capture, into: &mut impl io::Write) -> Result<()> {
        let mut file = self.file(&capture.file)?;
        file.seek(SeekFrom::Start(capture.offset))?;
        let mut reader = Reader::new(file.take(capture.length))?;
        reader.next()?.context("there is no record")?;
        let mut block = Block { reader, left: Vec::new(), at: 0 };
        let head = block.take_head()?;
        let Some(parsed) = parse(&head) else {
            io::copy(&mut block.take(BODY_BYTES_MAX), into)?;
            return Ok(());
        };
        let body: Box<dyn Read> = match parsed.layout {
            Layout::Chunked => Box::new(Dechunk::new(block)),
            Layout::Empty | Layout::Length(_) | Layout::UntilClose => Box::new(block),
        };
        let decoded = net::decode::decoded(parsed.head.all("content-encoding"), body, BODY_BYTES_MAX);
        io::copy(&mut decoded.take(BODY_BYTES_MAX), into)?;
        Ok(())
    }

    /// A file that is still written to has another name until it is complete.
    fn file(&mut self, name: &str) -> io::Result<File> {
        if let Some((_, file)) = self.last.as_ref().filter(|(last, _)| last == name) {
            return file.try_clone();
        }
        let open = self.dir.join(format!("{name}.open"));
        let file = File::open(&open).or_else(|_| File::open(self.dir.join(name)))?;
        self.last = Some((name.to_owned(), file.try_clone()?));
        Ok(file)
    }
}

/// The block of a record as something to read.
struct Block {
    reader: Reader<Take<File>>,
    /// What was read of it and is not yet taken, from `at` on.
    left: Vec<u8>,
    at: usize,
}

impl Block {
    /// Takes the head of the answer off; nothing if it has none.
    fn take_head(&mut self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        while let Some(piece) = self.reader.piece()? {
            let searched = bytes.len().saturating_sub(3);
            bytes.extend_from_slice(piece);
            if let Some(end) = end_of_head(&bytes, searched) {
                self.left = bytes.split_off(end);
                return Ok(bytes);
            }
            if bytes.len() > HEAD_BYTES_MAX {
                break;
            }
        }
        self.left = bytes;
        Ok(Vec::new())
    }
}

impl Read for Block {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.at == self.left.len() {
            self.at = 0;
            self.left.clear();
            match self.reader.piece().map_err(io::Error::other)? {
                Some(piece) => self.left.extend_from_slice(piece),
                None => return Ok(0),
            }
        }
        let taken = (&self.left[self.at..]).read(into)?;
        self.at += taken;
        Ok(taken)
    }
}
