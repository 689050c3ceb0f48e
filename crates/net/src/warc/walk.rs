//! A file of the archive gone through from any record on, damage and all: what can be read is
//! found, also behind what cannot.
//!
//! [`Reader`] ends where data cannot be decoded any further. Here the next place is looked for
//! where a record might begin (the first bytes of a compressed member, a line `WARC/`), and
//! believed if a whole record can be read from it. What lies between is told as damaged. Each
//! record comes with its digests recomputed and with what an index has to say about it, the same as
//! when it was written.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use memchr::memmem;

use super::fields;
use super::head::RecordHead;
use super::members::{GZIP, ZSTD};
use super::pack::{Entry, INDEXED_AS, WARC_FIELDS};
use super::read::{Extent, ReadError, Reader};
use super::verify::{Digests, Verifier};
use super::{Kind, split};
use crate::surt;

const WINDOW_BYTES: usize = 64 * 1024;
/// Of a longer description the rest is not read.
const INFO_BYTES_MAX: usize = 1024 * 1024;
/// With deflate, the only method there is.
const GZIP_MEMBER: [u8; 3] = [GZIP[0], GZIP[1], 8];
const VERSION: &[u8] = b"WARC/1.";

/// Goes through a file.
#[derive(Debug)]
pub struct Walk {
    file: Arc<File>,
    pattern: &'static [u8],
    /// Where the record after the last one begins.
    at: u64,
    end: u64,
    reader: Option<Reader<Section>>,
    /// Where the reader began.
    base: u64,
    /// A record that was found behind damage, and is told after it.
    next: Option<Box<Record>>,
    /// What records say of others is wanted too.
    describes: bool,
}

/// What comes next in a file.
#[derive(Debug)]
pub enum Step {
    Record(Box<Record>),
    /// Nothing could be read of these bytes.
    Damaged {
        from: u64,
        to: u64,
        reason: String,
    },
}

/// A record that was read to its end.
#[derive(Debug)]
pub struct Record {
    pub head: RecordHead,
    pub extent: Extent,
    /// Where the next record would begin.
    pub next: u64,
    pub digests: Digests,
    /// What an index says of it, with its place in the file; none for requests and the like.
    pub entry: Option<Entry>,
    /// The fields of a record that describes others.
    info: Vec<(String, String)>,
}

/// Part of a file.
#[derive(Debug)]
struct Section {
    file: Arc<File>,
    at: u64,
    end: u64,
}

impl Read for Section {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end.saturating_sub(self.at)).unwrap_or(usize::MAX);
        let wanted = into.len().min(left);
        let read = self.file.read_at(&mut into[..wanted], self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

impl Walk {
    /// From a place where a record begins, or might, to the end of the file or before it.
    pub fn new(path: &Path, from: u64, to: Option<u64>) -> io::Result<Walk> {
        let file = File::open(path)?;
        let len = file.metadata()?.len();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let pattern = match name {
            _ if name.contains(".warc.gz") => &GZIP_MEMBER[..],
            _ if name.contains(".warc.zst") => &ZSTD[..],
            _ => VERSION,
        };
        let end = to.unwrap_or(len).min(len);
        let (file, base) = (Arc::new(file), from);
        Ok(Walk { file, pattern, at: from, end, reader: None, base, next: None, describes: false })
    }

    /// What comes next; none at the end.
    #[allow(clippy::should_implement_trait, reason = "what cannot be read at all ends it")]
    pub fn next(&mut self) -> io::Result<Option<Step>> {
        if let Some(record) = self.next.take() {
            return Ok(Some(Step::Record(record)));
        }
        if self.at >= self.end {
            return Ok(None);
        }
        let reason = match self.record()? {
            Ok(Some(record)) => return Ok(Some(Step::Record(record))),
            Ok(None) => {
                self.at = self.end;
                return Ok(None);
            }
            Err(reason) => reason,
        };
        let from = self.at;
        self.reader = None;
        self.find(from + 1)?;
        let to = self.next.as_ref().map_or(self.end, |record| record.extent.offset);
        Ok(Some(Step::Damaged { from, to, reason }))
    }

    /// The record at hand, or why it cannot be read.
    fn record(&mut self) -> io::Result<Result<Option<Box<Record>>, String>> {
        let reader = match &mut self.reader {
            Some(reader) => reader,
            none => {
                self.base = self.at;
                match Reader::new(Section { file: Arc::clone(&self.file), at: self.at, end: self.end }) {
                    Ok(reader) => none.insert(reader),
                    Err(error) => return broken(error),
                }
            }
        };
        let read = reader
            .next()
            .and_then(|head| head.map(|head| reader.record(head, self.base, self.describes)).transpose());
        match read {
            Ok(Some(record)) if !record.extent.seekable => {
                Ok(Err("more than one record in a compressed member: no index can point to them".to_owned()))
            }
            Ok(record) => {
                self.at = record.as_ref().map_or(self.end, |record| record.next);
                Ok(Ok(record.map(Box::new)))
            }
            Err(error) => broken(error),
        }
    }

    /// Looks for the next record that is whole, and leaves it in `next`; if there is none,
    /// everything is behind.
    fn find(&mut self, from: u64) -> io::Result<()> {
        let mut candidates = from;
        while let Some(candidate) = self.candidate(candidates)? {
            self.at = candidate;
            self.reader = None;
            if let Ok(Some(record)) = self.record()? {
                self.next = Some(record);
                return Ok(());
            }
            candidates = candidate + 1;
        }
        self.at = self.end;
        Ok(())
    }

    /// The next place from there on that looks like the beginning of a record.
    fn candidate(&self, mut from: u64) -> io::Result<Option<u64>> {
        let finder = memmem::Finder::new(self.pattern);
        let mut window = vec![0; WINDOW_BYTES];
        while from < self.end {
            let wanted = usize::try_from(self.end - from).unwrap_or(WINDOW_BYTES).min(WINDOW_BYTES);
            let read = self.file.read_at(&mut window[..wanted], from)?;
            if let Some(at) = finder.find(&window[..read]) {
                return Ok(Some(from + at as u64));
            }
            if read < self.pattern.len() {
                break;
            }
            // The pattern may lie across the end of the window.
            from += (read + 1 - self.pattern.len()) as u64;
        }
        Ok(None)
    }
}

/// A file that cannot be read at all is another matter than one that says nonsense.
fn broken<T>(error: ReadError) -> io::Result<Result<T, String>> {
    match error {
        ReadError::Io(error) => Err(error),
        ReadError::NotWarc(what) => Ok(Err(format!("no record: {what}"))),
        ReadError::Broken { reason, .. } => Ok(Err(reason)),
    }
}

/// The first value that the file's own records (`warcinfo`, `metadata`) give to a field of one of
/// these names.
pub fn said_first(path: &Path, names: &[&str]) -> io::Result<Option<String>> {
    let mut walk = Walk::new(path, 0, None)?;
    walk.describes = true;
    while let Some(step) = walk.next()? {
        let Step::Record(record) = step else { continue };
        let said = names.iter().find_map(|name| fields::find(&record.info, name));
        if let Some(value) = said.filter(|value| !value.is_empty()) {
            return Ok(Some(value.to_owned()));
        }
    }
    Ok(None)
}

impl<R: Read> Reader<R> {
    /// Reads the record at hand to its end; `base` is where this reader began in the file.
    fn record(&mut self, head: RecordHead, base: u64, describes: bool) -> Result<Record, ReadError> {
        let mut verifier = Verifier::new(&head);
        let describes = describes && head.get("Content-Type") == Some(WARC_FIELDS);
        let mut block = Vec::new();
        while let Some(piece) = self.piece()? {
            verifier.update(piece);
            if describes {
                let room = INFO_BYTES_MAX.saturating_sub(block.len());
                block.extend_from_slice(&piece[..piece.len().min(room)]);
            }
        }
        let extent = self.end()?;
        let extent = Extent { offset: base + extent.offset, ..extent };
        let next = base + self.position();
        let entry = entry(&head, verifier.http().as_ref(), &extent);
        let digests = verifier.finish();
        // What is read there begins with a line that names no field.
        let info = fields::parse_record(&[b"info\n", &block[..]].concat()).fields;
        Ok(Record { head, extent, next, digests, entry, info })
    }
}

/// What an index says of a record, as it was said when the record was written.
fn entry(head: &RecordHead, http: Option<&split::Http>, extent: &Extent) -> Option<Entry> {
    let content_type = head.get("Content-Type");
    let (kind, mime) = match head.kind() {
        "response" => (Kind::Response, http.and_then(split::Http::mime)),
        "revisit" => (Kind::Revisit, Some("warc/revisit".to_owned())),
        "resource" if content_type != Some(WARC_FIELDS) => (Kind::Resource, content_type.map(split::mime)),
        _ => return None,
    };
    let not_modified =
        || head.get("WARC-Profile").filter(|p| p.ends_with("server-not-modified")).map(|_| 304);
    let said = http.and_then(split::Http::status).and_then(|status| status.parse().ok());
    let url = head.get(INDEXED_AS).map_or_else(|| head.target_uri(), |url| Some(url.to_owned()))?;
    Some(Entry {
        kind,
        surt: surt::key(&url),
        url,
        time: head.time()?,
        status: if kind == Kind::Resource { None } else { said.or_else(not_modified) },
        mime,
        // Ours have one, each of them.
        digest: head.get("WARC-Payload-Digest")?.to_owned(),
        offset: extent.offset,
        length: extent.length,
        refers: head.refers_to().filter(|_| kind == Kind::Revisit),
        cut: kind == Kind::Response && head.get("WARC-Truncated").is_some(),
    })
}
