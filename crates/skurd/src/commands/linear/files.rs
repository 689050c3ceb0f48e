//! One file per id (L13): the body of its answer, under the id and an ending that fits.
//!
//! A file is written under another name and then gets its own, so that one that is there is whole.
//! The body is read from the archive, and written without transfer and content codings.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use frontier::Capture;
use net::http::Dechunk;
use net::http::head::Layout;
use net::warc::{StoredRecord, open_file};

/// What the name of an unfinished file ends with.
const UNFINISHED: &str = ".part";
const DIR_NAME_CHARS_MAX: usize = 120;
/// A body is written up to here when it is unpacked; the archive has all of it.
const BODY_BYTES_MAX: u64 = 1 << 30;

pub(super) struct Files {
    dir: PathBuf,
    warc_dir: PathBuf,
}

impl Files {
    /// Makes the directory, and clears it of what an earlier run had not finished.
    pub(super) fn open(dir: PathBuf, warc_dir: &Path) -> Result<Files> {
        let cannot = || format!("cannot write to the directory {}", dir.display());
        fs::create_dir_all(&dir).with_context(cannot)?;
        for entry in fs::read_dir(&dir).with_context(cannot)? {
            let path = entry.with_context(cannot)?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if name.starts_with('.') && name.ends_with(UNFINISHED) {
                fs::remove_file(&path).with_context(cannot)?;
            }
        }
        Ok(Files { dir, warc_dir: warc_dir.to_owned() })
    }

    pub(super) fn has(&self, id: u64, capture: &Capture) -> bool {
        self.dir.join(name(id, capture)).exists()
    }

    pub(super) fn write(&self, id: u64, capture: &Capture) -> Result<()> {
        let name = name(id, capture);
        let unfinished = self.dir.join(format!(".{name}{UNFINISHED}"));
        let path = self.dir.join(name);
        let cannot = || format!("cannot write {}", path.display());
        let mut file = BufWriter::new(File::create(&unfinished).with_context(cannot)?);
        let copied = open_file(&self.warc_dir.join(&capture.file))
            .and_then(|warc| copy_body(warc, capture, &mut file));
        copied.with_context(|| format!("cannot read {} at {}", capture.file, capture.offset))?;
        file.flush().with_context(cannot)?;
        file.get_ref().sync_data().with_context(cannot)?;
        fs::rename(&unfinished, &path).with_context(cannot)
    }
}

/// The body of an archived answer.
fn copy_body(warc: File, capture: &Capture, into: &mut impl Write) -> io::Result<u64> {
    let mut record = StoredRecord::open(warc, capture.offset, capture.length)?;
    let Some(parsed) = record.http_head()? else { return io::copy(&mut record.take(BODY_BYTES_MAX), into) };
    let body: Box<dyn Read> = match parsed.layout {
        Layout::Chunked => Box::new(Dechunk::new(record)),
        Layout::Empty | Layout::Length(_) | Layout::UntilClose => Box::new(record),
    };
    let decoded = net::decode::decoded(parsed.head.all("content-encoding"), body, BODY_BYTES_MAX);
    io::copy(&mut decoded.take(BODY_BYTES_MAX), into)
}

fn name(id: u64, capture: &Capture) -> String {
    format!("{id}.{}", ending(capture.mime.as_deref().unwrap_or_default()))
}

/// What files of this kind are called; `bin` where nobody agrees.
fn ending(mime: &str) -> &str {
    const KNOWN: [(&str, &str); 27] = [
        ("text/html", "html"),
        ("application/xhtml+xml", "xhtml"),
        ("text/plain", "txt"),
        ("text/css", "css"),
        ("text/csv", "csv"),
        ("text/markdown", "md"),
        ("text/xml", "xml"),
        ("application/xml", "xml"),
        ("application/rss+xml", "xml"),
        ("application/atom+xml", "xml"),
        ("application/json", "json"),
        ("application/ld+json", "json"),
        ("text/javascript", "js"),
        ("application/javascript", "js"),
        ("application/pdf", "pdf"),
        ("application/rtf", "rtf"),
        ("application/msword", "doc"),
        ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx"),
        ("application/vnd.ms-excel", "xls"),
        ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx"),
        ("application/zip", "zip"),
        ("image/jpeg", "jpg"),
        ("image/png", "png"),
        ("image/gif", "gif"),
        ("image/webp", "webp"),
        ("image/svg+xml", "svg"),
        ("image/tiff", "tif"),
    ];
    let essence = mime.split(';').next().unwrap_or_default().trim();
    let known = KNOWN.iter().find(|(mime, _)| mime.eq_ignore_ascii_case(essence));
    known.map_or("bin", |(_, ending)| ending)
}

/// The name of a walk as that of a directory. Different walks get different ones.
pub(super) fn dir_name(walk: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '.') { c } else { '_' };
    let name: String = walk.chars().map(plain).take(DIR_NAME_CHARS_MAX).collect();
    if name == walk && !name.starts_with('.') {
        return name;
    }
    let sum = net::warc::Digest::of(walk.as_bytes()).to_string();
    let sum: String = sum.chars().filter(char::is_ascii_alphanumeric).rev().take(8).collect();
    format!("{}-{sum}", name.trim_start_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l13_files_end_as_their_kind_does() {
        let table = [
            ("text/html; charset=utf-8", "html"),
            ("TEXT/HTML", "html"),
            ("application/pdf", "pdf"),
            ("../../etc/passwd", "bin"),
            ("", "bin"),
        ];
        for (mime, expected) in table {
            assert_eq!(ending(mime), expected, "{mime}");
        }
    }

    #[test]
    fn l13_walks_have_directories_of_their_own() {
        assert_eq!(dir_name("notices-2024"), "notices-2024");
        let names =
            ["http://a.test/{id}", "http://a.test/_id_", "..", ".", "http://a.test/{id}?", &"x".repeat(3000)];
        let mut dirs: Vec<String> = names.iter().map(|name| dir_name(name)).collect();
        assert!(dirs[0].starts_with("http___a.test__id_-"), "{}", dirs[0]);
        assert!(dirs.iter().all(|dir| !dir.starts_with('.') && !dir.contains('/') && dir.len() < 140));
        dirs.sort();
        dirs.dedup();
        assert_eq!(dirs.len(), names.len());
    }
}
