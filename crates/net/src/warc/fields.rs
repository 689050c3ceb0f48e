//! Named fields, the lines of which both record heads and blocks of type `application/warc-fields`
//! are made.
//!
//! Values come from pages, servers and configuration, so a line end in one must not begin another
//! field: control characters become blanks in values, escapes in URLs. Reading is as lenient as
//! warcio: LF for CRLF, folded lines, lines without a colon. What is folded in the head of a record
//! is put together by a blank, as the standard has it; in the head of an HTTP message it is left as
//! warcio leaves it, for the index to say the same.

use std::borrow::Cow;

/// The block of a `warcinfo` or `metadata` record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fields(Vec<u8>);

impl Fields {
    pub fn new() -> Fields {
        Fields::default()
    }

    pub fn add(&mut self, name: &str, value: &str) -> &mut Fields {
        push(&mut self.0, name, value);
        self
    }

    /// A link of a page as Heritrix notes it: `outlink: http://a.example/ L a/@href`.
    pub fn outlink(&mut self, url: &str, hop: char, context: &str) -> &mut Fields {
        self.add("outlink", &format!("{} {hop} {context}", one_word(url)))
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Appends `name: value`.
pub(super) fn push(out: &mut Vec<u8>, name: &str, value: &str) {
    let legal = |byte: u8| byte.is_ascii_graphic() && byte != b':';
    out.extend(name.bytes().map(|byte| if legal(byte) { byte } else { b'_' }));
    out.extend_from_slice(b": ");
    out.extend_from_slice(one_line(value).as_bytes());
    out.extend_from_slice(b"\r\n");
}

/// A text without control characters.
pub(super) fn one_line(value: &str) -> Cow<'_, str> {
    if value.contains(char::is_control) {
        Cow::Owned(value.chars().map(|c| if c.is_control() { ' ' } else { c }).collect())
    } else {
        Cow::Borrowed(value)
    }
}

/// A URL without blanks and control characters.
pub(super) fn one_word(url: &str) -> Cow<'_, str> {
    let illegal = |byte: u8| byte <= b' ' || byte == 0x7f;
    if !url.bytes().any(illegal) {
        return Cow::Borrowed(url);
    }
    let mut word = String::with_capacity(url.len() + 8);
    for c in url.chars() {
        match u8::try_from(c) {
            Ok(byte) if illegal(byte) => word.push_str(&format!("%{byte:02X}")),
            _ => word.push(c),
        }
    }
    Cow::Owned(word)
}

/// A first line and the named fields after it.
#[derive(Debug, Default)]
pub(super) struct Parsed {
    pub(super) first: String,
    pub(super) fields: Vec<(String, String)>,
}

impl Parsed {
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        find(&self.fields, name)
    }
}

/// The first field of that name.
pub(super) fn find<'a>(fields: &'a [(String, String)], name: &str) -> Option<&'a str> {
    fields.iter().find(|(have, _)| have.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
}

/// Reads the head of a record up to its empty line or its end.
pub(super) fn parse_record(head: &[u8]) -> Parsed {
    parse_with(head, |value, line| {
        let more = line.trim_start_matches(is_blank);
        if !value.is_empty() && !more.is_empty() {
            value.push(' ');
        }
        value.push_str(more);
    })
}

/// Reads the head of an HTTP message up to its empty line or its end.
pub(super) fn parse(head: &[u8]) -> Parsed {
    parse_with(head, String::push_str)
}

fn parse_with(head: &[u8], unfold: impl Fn(&mut String, &str)) -> Parsed {
    let mut lines = head.split(|byte| *byte == b'\n').map(decode);
    let first = lines.next().unwrap_or_default();
    let mut parsed = Parsed { first: trim_end(&first).to_owned(), fields: Vec::new() };
    if parsed.first.is_empty() {
        return parsed;
    }
    let mut before = None;
    for line in lines {
        let line = trim_end(&line);
        if line.is_empty() {
            break;
        }
        before = Some(match (before, line.split_once(':')) {
            (Some(Line::Field), _) if line.starts_with([' ', '\t']) => {
                if let Some((_, value)) = parsed.fields.last_mut() {
                    unfold(value, line);
                }
                Line::Field
            }
            (Some(Line::Other), _) if line.starts_with([' ', '\t']) => Line::Other,
            (_, Some((name, value))) => {
                let value = value.trim_start_matches(is_blank);
                parsed.fields.push((name.trim_end_matches([' ', '\t']).to_owned(), value.to_owned()));
                Line::Field
            }
            (_, None) => Line::Other,
        });
    }
    parsed
}

/// What a folded line continues.
#[derive(Clone, Copy)]
enum Line {
    Field,
    Other,
}

/// UTF-8 if it is that, otherwise Latin-1.
fn decode(line: &[u8]) -> Cow<'_, str> {
    match str::from_utf8(line) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(line.iter().map(|byte| char::from(*byte)).collect()),
    }
}

fn trim_end(line: &str) -> &str {
    line.trim_end_matches(is_blank)
}

/// What Python's `strip` takes off.
fn is_blank(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\x1c'..='\x1f')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a8_no_value_can_begin_another_field() {
        let mut out = Vec::new();
        push(&mut out, "via\r\nEvil: 1", "http://a/\r\nWARC-Type: response\r\n\r\n\0");
        assert_eq!(out, b"via__Evil__1: http://a/  WARC-Type: response     \r\n");
        assert_eq!(one_word("http://a/\r\nb c\u{7f}ü"), "http://a/%0D%0Ab%20c%7Fü");
        let injected = parse(&[b"WARC/1.1\r\n".as_slice(), &out].concat());
        assert_eq!(injected.fields.len(), 1);
    }

    #[test]
    fn a11_heads_are_read_as_warcio_reads_them() {
        let head = b"HTTP/1.1 200 OK\nA : 1\r\nno colon\r\n folded nowhere\r\nB: x \r\n\ty\r\nC:\r\nD: \xfc\r\n \r\nE: 1\r\n";
        let parsed = parse(head);
        assert_eq!(parsed.first, "HTTP/1.1 200 OK");
        let expected = [("A", "1"), ("B", "x\ty"), ("C", ""), ("D", "ü")];
        assert_eq!(parsed.fields, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
        assert_eq!((parsed.get("b"), parsed.get("e")), (Some("x\ty"), None));
    }

    #[test]
    fn a11_a_folded_line_of_a_record_is_one_value() {
        let head = b"WARC/1.0\r\nWARC-Type:\r\n response\r\nWARC-Target-URI:\r\n\t http://a/\r\nX: a \r\n   b\r\n\tc\r\n";
        let parsed = parse_record(head);
        let expected = [("WARC-Type", "response"), ("WARC-Target-URI", "http://a/"), ("X", "a b c")];
        assert_eq!(parsed.fields, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }
}
