//! The body of an archived answer, without transfer and content codings.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Take};
use std::path::PathBuf;

use axum::body::Body;
use axum::http::HeaderValue;
use net::http::Dechunk;
use net::http::head::{Layout, end_of_head, parse};
use net::warc::Reader;

use super::{download, open_file};
use crate::api::problem::{Answer, Problem};

/// Content beyond this is cut off.
const CONTENT_BYTES_MAX: u64 = 256 << 20;
/// Of a longer head nothing is believed.
const HEAD_BYTES_MAX: usize = 256 << 10;

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
        let mut file = open_file(&path)?;
        file.seek(SeekFrom::Start(offset)).map_err(|error| Problem::internal(&error))?;
        read(file.take(length), mime.as_deref()).map_err(|error| Problem::internal(&error))
    })
    .await
}

/// The content of the record that begins here.
fn read(file: Take<File>, mime: Option<&str>) -> io::Result<(Kind, Box<dyn Read>)> {
    let mut reader = Reader::new(file).map_err(io::Error::other)?;
    let record = reader.next().map_err(io::Error::other)?;
    let record = record.ok_or_else(|| io::Error::other("there is no record here"))?;
    let mut block = Block { reader, left: Vec::new(), at: 0 };
    if record.kind() != "response" {
        return Ok((Kind::of(mime, None), Box::new(block.take(CONTENT_BYTES_MAX))));
    }
    let bytes = head_of(&mut block)?;
    let Some(parsed) = parse(&bytes) else {
        return Ok((Kind::File, Box::new(block.take(CONTENT_BYTES_MAX))));
    };
    let charset = parsed.head.content_type().charset;
    let body: Box<dyn Read> = match parsed.layout {
        Layout::Chunked => Box::new(Dechunk::new(block)),
        _ => Box::new(block),
    };
    let decoded = net::decode::decoded(parsed.head.all("content-encoding"), body, CONTENT_BYTES_MAX);
    Ok((Kind::of(mime, charset.as_deref()), Box::new(decoded)))
}

/// Takes the head off; what was read of the body stays in the block.
fn head_of(block: &mut Block) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    loop {
        let searched = bytes.len().saturating_sub(3);
        let more = block.reader.piece().map_err(io::Error::other)?.map(<[u8]>::to_vec);
        let ended = more.is_none();
        bytes.extend(more.unwrap_or_default());
        if let Some(end) = end_of_head(&bytes, searched) {
            block.left = bytes.split_off(end);
            return Ok(bytes);
        }
        if ended || bytes.len() > HEAD_BYTES_MAX {
            block.left = bytes;
            return Ok(Vec::new());
        }
    }
}

/// The block of a record as something to read.
struct Block {
    reader: Reader<Take<File>>,
    /// Read already, and not yet taken from `at` on.
    left: Vec<u8>,
    at: usize,
}

impl Read for Block {
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
