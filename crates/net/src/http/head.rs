//! The head of an answer, read with forgiveness.
//!
//! Servers of the open web send lines that end in LF alone, names with a space before the colon,
//! folded values, bytes that are no text, no reason, two lengths. An archive takes all of that, as
//! long as there is a status line and an empty line. What is unclear about the end of the body is
//! settled here, once, as a [`Layout`]: when in doubt the body goes on to the end of the
//! connection, and the connection is not used again.

use crate::exchange::Head;

/// A head and what follows from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parsed {
    pub head: Head,
    pub layout: Layout,
    /// The server goes on listening after this answer, and there is no doubt where that ends.
    pub keep_alive: bool,
}

/// Where the body ends (RFC 9112, 6.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    Empty,
    Length(u64),
    Chunked,
    UntilClose,
}

/// Just behind the empty line that ends a head, searching from `from`.
pub fn end_of_head(bytes: &[u8], from: usize) -> Option<usize> {
    let searched = bytes.get(from..)?;
    memchr::memchr_iter(b'\n', searched).find_map(|at| match &searched[at + 1..] {
        [b'\n', ..] => Some(from + at + 2),
        [b'\r', b'\n', ..] => Some(from + at + 3),
        _ => None,
    })
}

/// Reads a whole head, the empty line included; none if there is no status line.
pub fn parse(bytes: &[u8]) -> Option<Parsed> {
    let mut lines = bytes.split(|b| *b == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let (version, status) = status_line(lines.next()?)?;
    let mut head = Head { status, headers: Vec::with_capacity(16), bytes: bytes.len() };
    for line in lines.take_while(|line| !line.is_empty()) {
        read_line(line, &mut head.headers);
    }
    let (layout, clear) = layout(&head);
    let keep_alive = clear && status != 101 && stays_open(&head, version);
    Some(Parsed { head, layout, keep_alive })
}

/// A header of a request as it was sent.
pub fn sent_header(request: &[u8], name: &str) -> Option<String> {
    let mut lines = request.split(|b| *b == b'\n').map(<[u8]>::trim_ascii);
    // Behind the empty line is what the request carries.
    let head = lines.by_ref().skip(1).take_while(|line| !line.is_empty());
    head.filter_map(|line| Some((line, memchr::memchr(b':', line)?))).find_map(|(line, colon)| {
        let (own, value) = (line[..colon].trim_ascii(), line[colon + 1..].trim_ascii());
        own.eq_ignore_ascii_case(name.as_bytes()).then(|| String::from_utf8_lossy(value).into_owned())
    })
}

/// Version and status; the reason is nobody's business.
fn status_line(line: &[u8]) -> Option<((u8, u8), u16)> {
    let (protocol, rest) = line.split_at_checked(5)?;
    let [major @ b'0'..=b'9', b'.', minor @ b'0'..=b'9', b' ' | b'\t', rest @ ..] = rest else {
        return None;
    };
    let [a @ b'1'..=b'9', b @ b'0'..=b'9', c @ b'0'..=b'9', after @ ..] = rest.trim_ascii_start() else {
        return None;
    };
    let ends = after.first().is_none_or(|b| !b.is_ascii_alphanumeric());
    let status = [a, b, c].iter().fold(0, |status, digit| status * 10 + u16::from(**digit - b'0'));
    (protocol.eq_ignore_ascii_case(b"HTTP/") && ends).then_some(((major - b'0', minor - b'0'), status))
}

/// A header, the continuation of one, or a line that is neither and therefore skipped.
fn read_line(line: &[u8], headers: &mut Vec<(String, Vec<u8>)>) {
    if let [b' ' | b'\t', ..] = line {
        if let Some((_, value)) = headers.last_mut() {
            let more = line.trim_ascii();
            if !value.is_empty() && !more.is_empty() {
                value.push(b' ');
            }
            value.extend_from_slice(more);
        }
        return;
    }
    let Some(colon) = memchr::memchr(b':', line) else { return };
    let name = line[..colon].trim_ascii();
    if !name.is_empty() {
        headers.push((String::from_utf8_lossy(name).into_owned(), line[colon + 1..].trim_ascii().to_vec()));
    }
}

/// Where the body ends, and whether the head left no doubt about it.
fn layout(head: &Head) -> (Layout, bool) {
    if matches!(head.status, 100..=199 | 204 | 304) {
        return (Layout::Empty, true);
    }
    let lengths = head.all("content-length").flat_map(items);
    let codings = head.all("transfer-encoding").flat_map(items);
    let coding = codings.filter(|coding| !coding.eq_ignore_ascii_case(b"identity")).last();
    match coding {
        Some(last) if last.eq_ignore_ascii_case(b"chunked") => (Layout::Chunked, lengths.count() == 0),
        Some(_) => (Layout::UntilClose, false),
        None => match agreed(lengths) {
            Some(length) => (Layout::Length(length), true),
            None => (Layout::UntilClose, false),
        },
    }
}

/// The one length that all values give; none if they differ or one of them is no number.
fn agreed<'a>(lengths: impl Iterator<Item = &'a [u8]>) -> Option<u64> {
    let mut agreed = None;
    for text in lengths {
        let digits = text.iter().all(u8::is_ascii_digit);
        let length = std::str::from_utf8(text).ok().filter(|_| digits)?.parse().ok()?;
        if *agreed.get_or_insert(length) != length {
            return None;
        }
    }
    agreed
}

fn stays_open(head: &Head, version: (u8, u8)) -> bool {
    let says =
        |word: &[u8]| head.all("connection").flat_map(items).any(|item| item.eq_ignore_ascii_case(word));
    match version {
        (1, 1) => !says(b"close"),
        _ => says(b"keep-alive") && !says(b"close"),
    }
}

fn items(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|b| *b == b',').map(<[u8]>::trim_ascii).filter(|item| !item.is_empty())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test")]
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a4_heads_are_read_with_forgiveness() {
        for (text, status, headers) in [
            ("HTTP/1.1 200 OK\r\nA: b\r\n\r\n", 200, "A=b"),
            ("HTTP/1.1 200\r\n\r\n", 200, ""),
            ("HTTP/1.0  404   Not Found\n\n", 404, ""),
            ("http/1.1\t200 ok\nX-Y : \t z \n\n", 200, "X-Y=z"),
            ("HTTP/2.0 299 \r\nA:1\r\na:2\r\n\r\n", 299, "A=1|a=2"),
            ("HTTP/1.1 200 OK\r\nA: b\r\n  c\r\n\t\r\n d\r\n\r\n", 200, "A=b c d"),
            ("HTTP/1.1 200 OK\r\n folded onto nothing\r\nno colon\r\n: no name\r\nA:\r\n\r\n", 200, "A="),
            ("HTTP/1.1 200 OK\r\nA: \0b\r\nB: x:y\r\n\r\n", 200, "A=\0b|B=x:y"),
            ("HTTP/1.1 200;odd\r\n\r\n", 200, ""),
        ] {
            assert_eq!(end_of_head(text.as_bytes(), 0), Some(text.len()), "{text:?}");
            let head = parse(text.as_bytes()).unwrap().head;
            let found = head.headers.iter().map(|(n, v)| format!("{n}={}", String::from_utf8_lossy(v)));
            assert_eq!(
                (head.status, found.collect::<Vec<_>>().join("|").as_str()),
                (status, headers),
                "{text:?}"
            );
        }
    }

    #[test]
    fn a11_what_has_no_status_is_no_head() {
        for text in
            ["", "HTTP/1.1", "HTTP/1.1 ", "HTTP/1.1 20", "HTTP/1.1 2000 x", "HTTP/1.1 abc", "HTTP/1.1 099 x"]
        {
            assert_eq!(parse(text.as_bytes()), None, "{text:?}");
        }
        for text in ["HTTP/11 200 OK", "HTTPS/1.1 200 OK", "ICY 200 OK", "<html>", "HTTP/1.1 -20 x"] {
            assert_eq!(parse(text.as_bytes()), None, "{text:?}");
        }
    }

    #[test]
    fn a4_the_head_tells_where_the_body_ends() {
        use Layout::{Chunked, Empty, Length, UntilClose};
        for (version, status, headers, layout, keep_alive) in [
            ("1.1", 200, "Content-Length: 5", Length(5), true),
            ("1.1", 200, "Content-Length: 5|Connection: x, Close", Length(5), false),
            ("1.0", 200, "Content-Length: 5", Length(5), false),
            ("1.0", 200, "Content-Length: 5|Connection: Keep-Alive", Length(5), true),
            ("1.1", 200, "Content-Length: 5|Content-Length: 5", Length(5), true),
            ("1.1", 200, "Content-Length: 5, 5", Length(5), true),
            ("1.1", 200, "Content-Length: 5|Content-Length: 6", UntilClose, false),
            ("1.1", 200, "Content-Length: +5", UntilClose, false),
            ("1.1", 200, "Content-Length: -5", UntilClose, false),
            ("1.1", 200, "Content-Length: 99999999999999999999", UntilClose, false),
            ("1.1", 200, "Content-Length:", UntilClose, false),
            ("1.1", 200, "", UntilClose, false),
            ("1.1", 200, "Transfer-Encoding: Chunked", Chunked, true),
            ("1.1", 200, "Transfer-Encoding: gzip|transfer-encoding: chunked", Chunked, true),
            ("1.1", 200, "Transfer-Encoding: chunked|Content-Length: 5", Chunked, false),
            ("1.1", 200, "Transfer-Encoding: chunked, gzip", UntilClose, false),
            ("1.1", 200, "Transfer-Encoding: identity|Content-Length: 5", Length(5), true),
            ("1.1", 204, "Content-Length: 5", Empty, true),
            ("1.1", 304, "Transfer-Encoding: chunked", Empty, true),
            ("1.1", 101, "", Empty, false),
        ] {
            let headers = headers.replace('|', "\r\n");
            let text = format!("HTTP/{version} {status} x\r\n{headers}\r\n\r\n");
            let parsed = parse(text.as_bytes()).unwrap();
            assert_eq!((parsed.layout, parsed.keep_alive), (layout, keep_alive), "{headers}");
        }
    }

    proptest! {
        #[test]
        fn a11_any_bytes_are_read_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = end_of_head(&bytes, 0);
            let _ = parse(&bytes);
            let mut head = b"HTTP/1.1 200 OK\r\n".to_vec();
            head.extend(bytes);
            prop_assert!(parse(&head).is_some());
        }

        #[test]
        fn a4_the_end_is_found_however_the_head_arrives(cut in 0usize..40) {
            let text = b"HTTP/1.1 200 OK\r\nA: b\r\nC: d\r\n\r\nbody\n\nmore";
            let cut = cut.min(text.len());
            let early = end_of_head(&text[..cut], 0);
            let end = early.or_else(|| end_of_head(text, cut.saturating_sub(2)));
            prop_assert_eq!(end, Some(31));
        }
    }
}
