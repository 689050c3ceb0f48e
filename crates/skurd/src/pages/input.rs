//! What a file is, by its first bytes, and opening it where reading goes on.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek, SeekFrom};
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context, Result};
use declare::excerpt;
use declare::hint::hinted;
use flate2::read::MultiGzDecoder;
use net::warc::ReadError;
use policy::url::UrlRules;

use super::lines::Lines;
use super::warc::Records;
use super::{Mark, Source};

/// The name of standard input.
pub(crate) const STDIN: &str = "-";

/// Looked at to know what a file is.
const HEAD_BYTES: u64 = 4 << 10;
const BUFFER_BYTES: usize = 64 << 10;
const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
const LINE_NAMES: [&str; 3] = [".jsonl", ".ndjson", ".json"];
const KINDS: &str = "WARC and WAT files (plain, gzip, zstd) and JSON lines (plain, gzip) can be loaded";

/// The bytes of a file, counted for whoever watches.
struct Input {
    inner: Box<dyn Read + Send>,
    read: Arc<AtomicU64>,
}

impl Read for Input {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(into)?;
        self.read.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Archive,
    Lines { gzip: bool },
}

/// Opens a file and goes to `from`; `read` always says how many of its bytes have been read.
pub(crate) fn open(
    path: &Path,
    from: Mark,
    rules: &UrlRules,
    read: &Arc<AtomicU64>,
) -> Result<Box<dyn Source>> {
    let cannot = || format!("cannot read {}", path.display());
    let (kind, inner) = begin(path, from).with_context(cannot)??;
    read.store(from.offset, Ordering::Relaxed);
    let input = Input { inner, read: Arc::clone(read) };
    match kind {
        Kind::Archive => match Records::new(input, from, rules.clone()) {
            Ok(records) => Ok(Box::new(records)),
            Err(ReadError::NotWarc(what)) => {
                Err(hinted(format!("{} cannot be loaded: {what}", path.display()), KINDS))
            }
            Err(error) => Err(error).with_context(cannot),
        },
        Kind::Lines { gzip } => {
            let lines: Box<dyn io::BufRead + Send> = match gzip {
                true => Box::new(BufReader::with_capacity(BUFFER_BYTES, MultiGzDecoder::new(input))),
                false => Box::new(BufReader::with_capacity(BUFFER_BYTES, input)),
            };
            Ok(Box::new(Lines::new(lines, gzip, from, read).with_context(cannot)?))
        }
    }
}

/// Looks at the first bytes, and leaves them to be read unless reading begins further on.
fn begin(path: &Path, from: Mark) -> io::Result<Result<(Kind, Box<dyn Read + Send>)>> {
    let mut file = match path == Path::new(STDIN) {
        true => File::from(io::stdin().as_fd().try_clone_to_owned()?),
        false => File::open(path)?,
    };
    let mut head = Vec::new();
    file.by_ref().take(HEAD_BYTES).read_to_end(&mut head)?;
    let kind = kind_of(&head, path);
    Ok(kind.and_then(|kind| match from.offset {
        0 => Ok((kind, Box::new(Cursor::new(head).chain(file)) as Box<dyn Read + Send>)),
        offset => {
            file.seek(SeekFrom::Start(offset))?;
            Ok((kind, Box::new(file) as Box<dyn Read + Send>))
        }
    }))
}

fn kind_of(head: &[u8], path: &Path) -> Result<Kind> {
    let gzip = head.starts_with(&GZIP);
    let mut unpacked = Vec::new();
    let text = match gzip {
        true => {
            // What is cut off here is no error.
            let _ = MultiGzDecoder::new(head).take(HEAD_BYTES).read_to_end(&mut unpacked);
            unpacked.as_slice()
        }
        false => head,
    };
    let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text).trim_ascii_start();
    let name = path.to_string_lossy().to_ascii_lowercase();
    let named_lines = LINE_NAMES.iter().any(|end| name.trim_end_matches(".gz").ends_with(end));
    let is_archive = text.starts_with(b"WARC/") || head.starts_with(&ZSTD);
    match text.first() {
        _ if is_archive => Ok(Kind::Archive),
        None | Some(b'{') => Ok(Kind::Lines { gzip }),
        Some(_) if named_lines => Ok(Kind::Lines { gzip }),
        Some(_) => Err(unknown(text, path)),
    }
}

fn unknown(text: &[u8], path: &Path) -> anyhow::Error {
    let line = text.split(|byte| matches!(byte, b'\n' | b'\r')).next().unwrap_or_default();
    let what = match text {
        [0x04, 0x22, 0x4d, 0x18, ..] => "it is compressed with LZ4".to_owned(),
        _ if text.starts_with(b"filedesc://") => "it is an ARC file".to_owned(),
        _ => format!("it begins with {}", excerpt(&String::from_utf8_lossy(line))),
    };
    hinted(format!("{} cannot be loaded: {what}", path.display()), KINDS)
}
