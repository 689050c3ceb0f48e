//! The body of an archived answer, without transfer and content codings.

use std::io::{self, Read};
use std::path::PathBuf;

use http::StatusCode;
use net::exchange::Head;
use net::extract;
use net::http::Dechunk;
use net::http::head::{Layout, Parsed};
use net::warc::StoredRecord;

use super::open_file;
use crate::{Answer, Problem};

/// Content beyond this is cut off.
const CONTENT_BYTES_MAX: u64 = 256 << 20;

/// Text beyond this is cut off.
const TEXT_BYTES_MAX: usize = 16 << 20;

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

impl StoredContent {
    /// What a reader sees of the page (I10), as plain lines.
    pub fn text(&self) -> Answer<String> {
        let record = StoredRecord::open(open_file(&self.file)?, self.offset, self.length);
        let text = record.and_then(|record| words(record, self.mime.as_deref()));
        text.map_err(|error| Problem::internal(&error))?.ok_or_else(|| {
            let what = self.mime.as_deref().unwrap_or("of no stated type");
            Problem::new(
                StatusCode::NOT_ACCEPTABLE,
                format!("this capture is no page and no text: it is {what}"),
            )
            .hint("`content` has it as it is")
        })
    }
}

fn words(mut record: StoredRecord, mime: Option<&str>) -> io::Result<Option<String>> {
    let parsed = record.http_head()?;
    let (body, head): (Box<dyn Read>, Head) = match parsed {
        Some(Parsed { head, layout: Layout::Chunked, .. }) => (Box::new(Dechunk::new(record)), head),
        Some(Parsed { head, .. }) => (Box::new(record), head),
        None => {
            let headers = mime.map(|mime| ("Content-Type".to_owned(), mime.as_bytes().to_vec()));
            let headers = headers.into_iter().collect();
            (Box::new(record), Head { status: 200, headers, bytes: 0 })
        }
    };
    Ok(extract::words(&head, &mut body.take(CONTENT_BYTES_MAX), TEXT_BYTES_MAX))
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
