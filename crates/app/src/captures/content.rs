//! The body of an archived answer, without transfer and content codings.

use std::io::{self, Read};
use std::path::PathBuf;

use net::http::Dechunk;
use net::http::head::Layout;
use net::warc::StoredRecord;

use super::open_file;
use crate::{Answer, Problem};

/// Content beyond this is cut off.
const CONTENT_BYTES_MAX: u64 = 256 << 20;

/// How content is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentKind {
    Utf8,
    /// Text in an encoding that a browser has to guess.
    Text,
    File,
}

impl ContentKind {
    fn of(mime: Option<&str>, charset: Option<&str>) -> ContentKind {
        let mime = mime.unwrap_or_default().to_ascii_lowercase();
        let is_text = mime.starts_with("text/")
            || ["json", "xml", "javascript", "ecmascript"].iter().any(|end| mime.ends_with(end));
        match charset {
            _ if !is_text => ContentKind::File,
            Some(charset) if !charset.eq_ignore_ascii_case("utf-8") => ContentKind::Text,
            _ => ContentKind::Utf8,
        }
    }

    pub fn is_text(self) -> bool {
        self != ContentKind::File
    }
}

/// What is known of content before it is read.
#[derive(Clone, Debug)]
pub struct StoredContent {
    pub(super) file: PathBuf,
    pub(super) offset: u64,
    pub(super) length: u64,
    pub(super) mime: Option<String>,
}

impl StoredContent {
    /// The content without codings, and how it is shown.
    pub fn open(&self) -> Answer<(ContentKind, Box<dyn Read>)> {
        let record = StoredRecord::open(open_file(&self.file)?, self.offset, self.length);
        let content = record.and_then(|record| read(record, self.mime.as_deref()));
        content.map_err(|error| Problem::internal(&error))
    }
}

/// The content of a record.
fn read(mut record: StoredRecord, mime: Option<&str>) -> io::Result<(ContentKind, Box<dyn Read>)> {
    let is_answer = record.head.kind() == "response";
    let Some(parsed) = record.http_head()? else {
        let kind = if is_answer { ContentKind::File } else { ContentKind::of(mime, None) };
        return Ok((kind, Box::new(record.take(CONTENT_BYTES_MAX))));
    };
    let charset = parsed.head.content_type().charset;
    let body: Box<dyn Read> = match parsed.layout {
        Layout::Chunked => Box::new(Dechunk::new(record)),
        _ => Box::new(record),
    };
    let decoded = net::decode::decoded(parsed.head.all("content-encoding"), body, CONTENT_BYTES_MAX);
    Ok((ContentKind::of(mime, charset.as_deref()), Box::new(decoded)))
}
