//! The body of an archived answer, without transfer and content codings.

use std::io::{self, Read};
use std::path::PathBuf;

use axum::body::Body;
use axum::http::HeaderValue;
use net::http::Dechunk;
use net::http::head::Layout;
use net::warc::StoredRecord;

use super::{download, open_file};
use crate::api::problem::{Answer, Problem};

/// Content beyond this is cut off.
const CONTENT_BYTES_MAX: u64 = 256 << 20;

/// How content is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Utf8,
    /// Text in an encoding that a browser has to guess.
    Text,
    File,
}

impl Kind {
    fn of(mime: Option<&str>, charset: Option<&str>) -> Kind {
        let mime = mime.unwrap_or_default().to_ascii_lowercase();
        let is_text = mime.starts_with("text/")
            || ["json", "xml", "javascript", "ecmascript"].iter().any(|end| mime.ends_with(end));
        match charset {
            _ if !is_text => Kind::File,
            Some(charset) if !charset.eq_ignore_ascii_case("utf-8") => Kind::Text,
            _ => Kind::Utf8,
        }
    }

    pub(super) fn content_type(self) -> HeaderValue {
        HeaderValue::from_static(match self {
            Kind::Utf8 => "text/plain; charset=utf-8",
            Kind::Text => "text/plain",
            Kind::File => "application/octet-stream",
        })
    }

    pub(super) fn is_text(self) -> bool {
        self != Kind::File
    }
}

pub(super) async fn open(
    path: PathBuf,
    offset: u64,
    length: u64,
    mime: Option<String>,
) -> Answer<(Kind, Body)> {
    download::stream(move || {
        let record = StoredRecord::open(open_file(&path)?, offset, length);
        let content = record.and_then(|record| read(record, mime.as_deref()));
        content.map_err(|error| Problem::internal(&error))
    })
    .await
}

/// The content of a record.
fn read(mut record: StoredRecord, mime: Option<&str>) -> io::Result<(Kind, Box<dyn Read>)> {
    let is_answer = record.head.kind() == "response";
    let Some(parsed) = record.http_head()? else {
        let kind = if is_answer { Kind::File } else { Kind::of(mime, None) };
        return Ok((kind, Box::new(record.take(CONTENT_BYTES_MAX))));
    };
    let charset = parsed.head.content_type().charset;
    let body: Box<dyn Read> = match parsed.layout {
        Layout::Chunked => Box::new(Dechunk::new(record)),
        _ => Box::new(record),
    };
    let decoded = net::decode::decoded(parsed.head.all("content-encoding"), body, CONTENT_BYTES_MAX);
    Ok((Kind::of(mime, charset.as_deref()), Box::new(decoded)))
}
