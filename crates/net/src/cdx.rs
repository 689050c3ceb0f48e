//! CDXJ: the index of an archive, one line for each capture, byte for byte as cdxj-indexer writes
//! it (A9).
//!
//! `com,example)/ 20240229123456 {"url": "http://example.com/", "mime": "text/html", "status": "200", "digest": "sha1:…", "length":
//! "1234", "offset": "5678", "filename": "a.warc.gz"}`. A line is made when the capture is appended
//! ([`line_of`]), or from the file at any later time ([`index`]); both give the same bytes. The
//! escapes are those of Python's `json.dumps`, and there is nothing in a line but strings, so no
//! JSON crate is asked.

use std::fmt::Write as _;
use std::io::Read;

use policy::time::Time;
use sha1::{Digest as _, Sha1};

use crate::surt;
use crate::warc::digest::Digest;
use crate::warc::split::HttpSplit;
use crate::warc::{Entry, Extent, Kind, ReadError, Reader, RecordHead, WARC_FIELDS, date};

/// The line (with its line end) of a capture that was appended to `file`, its group beginning at
/// `group_offset`.
pub fn line_of(entry: &Entry, file: &str, group_offset: u64) -> String {
    // The block of such a revisit is empty: whoever indexes the file finds no status.
    let status = entry.status.filter(|status| !(entry.kind == Kind::Revisit && *status == 304));
    let status = status.map(|status| format!("{status:03}"));
    let row = Row {
        key: &entry.surt,
        time: entry.time,
        url: Some(&entry.url),
        mime: entry.mime.as_deref(),
        status: status.as_deref(),
        digest: Some(&entry.digest),
    };
    row.line(entry.length, group_offset + entry.offset, file)
}

/// Hands out the line of every capture in an archive file, in its order. `broken` learns of records
/// that cannot be indexed.
pub fn index<R: Read>(
    archive: R,
    file: &str,
    mut line: impl FnMut(String),
    mut broken: impl FnMut(u64, String),
) -> Result<(), ReadError> {
    let mut reader = Reader::new(archive)?;
    loop {
        let indexed = match reader.next() {
            Ok(None) => return Ok(()),
            Ok(Some(head)) if is_capture(&head) => indexed(&mut reader, &head, file),
            Ok(Some(_)) => continue,
            Err(error) => Err(error),
        };
        match indexed {
            Ok(text) => line(text),
            Err(ReadError::Broken { offset, reason }) => broken(offset, reason),
            Err(error) => return Err(error),
        }
    }
}

/// What cdxj-indexer takes if nothing else is asked for.
fn is_capture(head: &RecordHead) -> bool {
    match head.kind() {
        "response" | "revisit" => true,
        "resource" | "metadata" => head.get("Content-Type") != Some(WARC_FIELDS),
        _ => false,
    }
}

fn indexed(reader: &mut Reader<impl Read>, head: &RecordHead, file: &str) -> Result<String, ReadError> {
    let broken = |reason: &str| ReadError::Broken { offset: head.offset, reason: reason.to_owned() };
    let time = head.time().ok_or_else(|| broken("no WARC-Date that is a date"))?;
    let mut split = head.holds_http().then(HttpSplit::default);
    let said = head.get("WARC-Payload-Digest").filter(|digest| !digest.is_empty());
    let sums = said.is_none() && head.kind() != "revisit";
    let mut hash = Sha1::new();
    while let Some(piece) = reader.piece()? {
        let payload = split.as_mut().map_or(piece, |split| split.feed(piece));
        if sums {
            hash.update(payload);
        }
    }
    let Extent { offset, length, seekable } = reader.end()?;
    if !seekable {
        return Err(broken("more than one record in a compressed member: no index can point to it"));
    }
    let http = split.map(|split| split.http());
    let mime = match head.kind() {
        "revisit" => Some("warc/revisit".to_owned()),
        "response" => http.as_ref().and_then(|http| http.mime()),
        _ => head.get("Content-Type").map(crate::warc::split::mime),
    };
    let url = head.target_uri();
    let status = http.and_then(|http| http.status());
    let found = sums.then(|| Digest(hash.finalize().into()).to_string());
    let key = surt::key(head.get(crate::warc::INDEXED_AS).or(url.as_deref()).unwrap_or_default());
    let (url, mime, status) = (url.as_deref(), mime.as_deref(), status.as_deref());
    Ok(Row { key: &key, time, url, mime, status, digest: said.or(found.as_deref()) }
        .line(length, offset, file))
}

struct Row<'a> {
    key: &'a str,
    time: Time,
    url: Option<&'a str>,
    mime: Option<&'a str>,
    status: Option<&'a str>,
    digest: Option<&'a str>,
}

impl Row<'_> {
    fn line(&self, length: u64, offset: u64, file: &str) -> String {
        let (length, offset) = (length.to_string(), offset.to_string());
        let fields = [
            ("url", self.url),
            ("mime", self.mime),
            ("status", self.status),
            ("digest", self.digest),
            ("length", Some(&length)),
            ("offset", Some(&offset)),
            ("filename", Some(file)),
        ];
        let mut line = format!("{} {} {{", self.key, date::digits14(self.time));
        let mut separator = "";
        for (name, value) in fields {
            let Some(value) = value else { continue };
            line.push_str(separator);
            push_json(&mut line, name);
            line.push_str(": ");
            push_json(&mut line, value);
            separator = ", ";
        }
        line.push_str("}\n");
        line
    }
}

/// A JSON string in ASCII, as `json.dumps` writes it.
pub fn push_json(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            ' '..='~' => out.push(c),
            _ => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    // Writing to a string cannot fail.
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test")]
    use super::*;

    #[test]
    fn a9_strings_are_escaped_as_python_does() {
        let mut out = String::new();
        push_json(&mut out, "a\"\\/\n\r\t\u{8}\u{c}\u{1}\u{7f}ü€𝄞");
        assert_eq!(out, r#""a\"\\/\n\r\t\b\f\u0001\u007f\u00fc\u20ac\ud834\udd1e""#);
    }

    proptest::proptest! {
        #[test]
        fn a9_strings_come_back_through_a_json_parser(text in ".*") {
            let mut out = String::new();
            push_json(&mut out, &text);
            proptest::prop_assert!(out.is_ascii());
            proptest::prop_assert_eq!(serde_json::from_str::<String>(&out).unwrap(), text);
        }
    }
}
