//! WARC and WAT files, record by record.
//!
//! A file may hold captures, or what a WAT says about them, or both: each record is taken for what
//! it is.

use std::collections::HashSet;
use std::io::{self, Read};
use std::sync::Arc;

use anyhow::Result;
use net::warc::{ReadError, Reader, RecordHead};
use policy::url::UrlRules;

use super::html::Record;
use super::{At, JSON_BYTES_MAX, Mark, Problem, Referred, Source, Step, wat};

pub(super) struct Records<R> {
    reader: Reader<R>,
    /// Where the reader began in the file.
    base: u64,
    mark: Mark,
    /// Of the last record.
    offset: u64,
    rules: UrlRules,
    only: Option<Arc<HashSet<Referred>>>,
    /// Of those, the last that was read.
    wanted: Option<Referred>,
}

impl<R: Read> Records<R> {
    /// `input` is at `from.offset`.
    pub(super) fn new(input: R, from: Mark, rules: UrlRules) -> Result<Records<R>, ReadError> {
        let mut records = Records {
            reader: Reader::new(input)?,
            base: from.offset,
            mark: from,
            offset: from.offset,
            rules,
            only: None,
            wanted: None,
        };
        for _ in 0..from.steps {
            records.pass()?;
        }
        Ok(records)
    }

    /// Goes over a record that was taken, or told to be broken, before.
    fn pass(&mut self) -> Result<(), ReadError> {
        let passed = match self.reader.next() {
            Ok(Some(_)) => self.reader.end().map(drop),
            other => other.map(drop),
        };
        match passed {
            Err(ReadError::Broken { .. }) => Ok(()),
            passed => passed,
        }
    }

    /// A record that is whole, but holds what is not as it should be, is a broken one.
    fn record(&mut self, head: &RecordHead) -> Result<Step, ReadError> {
        self.offset = self.base + head.offset;
        self.wanted = self.only.as_ref().and_then(|only| only.get(&named(head)?).cloned());
        let mut block = Block { reader: &mut self.reader, failed: None };
        let content = match (&self.only, &self.wanted) {
            (Some(_), None) if head.kind() != "revisit" => Ok(Step::Other),
            _ => content(head, &mut block, &self.rules),
        };
        self.mark.steps += 1;
        if let Some(error) = block.failed {
            return Err(error);
        }
        let extent = self.reader.end()?;
        if extent.seekable {
            // Reading begins at a record that is known to be good, so that rubbish after it is told and is
            // not taken for the whole file.
            self.mark = Mark { offset: self.base + extent.offset, steps: 1, ..self.mark };
        }
        Ok(content.unwrap_or_else(|reason| Step::Broken(self.problem(head.offset, reason))))
    }

    fn problem(&self, offset: u64, reason: String) -> Problem {
        Problem { at: At::Offset(self.base + offset), reason }
    }
}

impl<R: Read> Source for Records<R> {
    fn next(&mut self) -> Result<Option<Step>> {
        let step = match self.reader.next() {
            Ok(None) => return Ok(None),
            Ok(Some(head)) => self.record(&head),
            Err(error) => {
                self.mark.steps += 1;
                Err(error)
            }
        };
        Ok(Some(match step {
            // The reader has gone on to the next record there is.
            Err(ReadError::Broken { offset, reason }) => Step::Damaged(self.problem(offset, reason)),
            step => step?,
        }))
    }

    fn only(&mut self, wanted: Arc<HashSet<Referred>>) {
        self.only = Some(wanted);
    }

    fn wanted(&self) -> Option<&Referred> {
        self.wanted.as_ref()
    }

    /// Where the last record begins.
    fn place(&self) -> At {
        At::Offset(self.offset)
    }

    fn mark(&self) -> Mark {
        self.mark
    }
}

/// What a record gives, as far as its block can be read.
fn content<R: Read>(head: &RecordHead, block: &mut Block<'_, R>, rules: &UrlRules) -> Result<Step, String> {
    let Some(url) = head.target_uri() else { return Ok(Step::Other) };
    let record = Record { url: &url, time: head.time(), rules };
    match head.kind() {
        "response" => record.response(block).or(Ok(Step::Other)),
        "resource" => Ok(record.resource(head.get("Content-Type"), block)),
        "revisit" => {
            let of = head.refers_to().map(|(url, time)| Referred::new(&cleaned(&url), time));
            Ok(Step::Revisit { time: head.time(), of, url })
        }
        "metadata" if is_json(head) => json(head, block),
        _ => Ok(Step::Other),
    }
}

/// What a revisit would call it.
fn named(head: &RecordHead) -> Option<Referred> {
    let is_answer = matches!(head.kind(), "response" | "resource");
    Some(Referred::new(&head.target_uri().filter(|_| is_answer)?, head.time()?))
}

/// As the URI of a record is read.
fn cleaned(uri: &str) -> String {
    let inner = uri.strip_prefix('<').and_then(|uri| uri.strip_suffix('>')).unwrap_or(uri);
    inner.replace(' ', "%20")
}

fn is_json(head: &RecordHead) -> bool {
    let mime = head.get("Content-Type").and_then(|value| value.split(';').next()).unwrap_or_default();
    mime.trim().eq_ignore_ascii_case("application/json")
}

fn json<R: Read>(head: &RecordHead, block: &mut Block<'_, R>) -> Result<Step, String> {
    if head.block_bytes > JSON_BYTES_MAX as u64 {
        return Err(format!("its JSON is longer than {} MiB", JSON_BYTES_MAX >> 20));
    }
    let mut bytes = Vec::new();
    match block.read_to_end(&mut bytes) {
        Ok(_) => wat::step(&bytes),
        // The block remembers why.
        Err(_) => Ok(Step::Other),
    }
}

/// The block of the record at hand, which remembers how it failed: what reads it passes over
/// errors.
struct Block<'r, R> {
    reader: &'r mut Reader<R>,
    failed: Option<ReadError>,
}

impl<R: Read> Read for Block<'_, R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.failed.is_some() {
            return Ok(0);
        }
        self.reader.read(into).map_err(|error| {
            let kind = error.kind();
            self.failed = Some(unwrapped(error));
            kind.into()
        })
    }
}

/// The reader's own error, which it had to wrap.
fn unwrapped(error: io::Error) -> ReadError {
    match error.downcast::<ReadError>() {
        Ok(own) => own,
        Err(error) => ReadError::Io(error),
    }
}
