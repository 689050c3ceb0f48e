//! Sort-friendly keys of URLs, letter for letter as Python's `surt` package makes them (A9).
//!
//! `http://www.example.com/Path?b=1&a=2` becomes `com,example)/path?a=2&b=1`: captures of one site lie side by side in an index,
//! and pywb, OutbackCDX and cdxj-indexer find under the same key what was written under it here.
//! That package is a chain of regular expressions with quirks of its own, and every quirk is part
//! of the key; so the steps are followed one by one instead of going through a URL parser, and a
//! table of its answers (`tests/data/surt.jsonl`) holds them fast.
//!
//! One difference is left: for international names Python follows the tables of IDNA 2003, the
//! `idna` crate those of UTS 46. The four letters on which they disagree are mapped beforehand; for
//! letters newer than 2003 the keys may differ.

mod host;
mod session;

use std::cmp::Ordering;

/// The key of a URL; the URL itself where `surt` raises an exception, as cdxj-indexer does it.
pub fn key(url: &str) -> String {
    surt(url).unwrap_or_else(|| url.to_owned())
}

/// As `surt.surt(url)`; none where that raises an exception (no scheme, bad port).
pub fn surt(url: &str) -> Option<String> {
    if url.is_empty() {
        return Some("-".to_owned());
    }
    if url.starts_with("filedesc") {
        return Some(url.to_owned());
    }
    let parts = Parts::split(clean(url))?;
    let host = parts.host.map(|host| host::canonical(&host)).filter(|host| !host.is_empty());
    let path = canonical_path(parts.path.as_deref(), host.is_some());
    let query = parts.query.map(|query| canonical_query(&query)).filter(|query| !query.is_empty());

    let mut key = Vec::with_capacity(url.len());
    match host {
        None => key.extend_from_slice(&[&parts.scheme, b":".as_slice()].concat()),
        Some(host) => {
            let massaged = if parts.scheme == b"dns" { &host[..] } else { host::without_www(&host) };
            host::push_reversed(&mut key, massaged);
            if let Some(port) = parts.port.filter(|port| Some(*port) != default_port(&parts.scheme)) {
                key.extend_from_slice(format!(":{port}").as_bytes());
            }
            key.push(b')');
        }
    }
    match (path.is_empty(), &query) {
        (true, Some(_)) => key.push(b'/'),
        _ => key.extend_from_slice(&path),
    }
    if let Some(query) = query {
        key.push(b'?');
        key.extend_from_slice(&query);
    }
    String::from_utf8(key).ok()
}

/// Blanks at the ends go, line ends and tabs go everywhere, and what has no scheme gets one.
fn clean(url: &str) -> Vec<u8> {
    let blank = |c: char| matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0b' | '\x0c');
    let bytes = url.trim_matches(blank).bytes();
    let mut clean: Vec<u8> = bytes.filter(|byte| !matches!(byte, b'\n' | b'\r' | b'\t')).collect();
    if !clean.is_empty() && scheme_len(&clean).is_none() {
        clean.splice(0..0, *b"http://");
    }
    let mut repeated = 0;
    let mut last = 0;
    while let Some(len) = web_prefix_len(&clean[repeated..]) {
        (last, repeated) = (len, repeated + len);
    }
    clean.drain(..repeated - last);
    clean
}

fn web_prefix_len(url: &[u8]) -> Option<usize> {
    [b"http://".as_slice(), b"https://"].into_iter().find(|prefix| url.starts_with(prefix)).map(<[u8]>::len)
}

/// Bytes before the colon, if they can be a scheme.
fn scheme_len(url: &[u8]) -> Option<usize> {
    let len = url.iter().position(|byte| *byte == b':')?;
    let scheme = &url[..len];
    let legal = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    (scheme.first()?.is_ascii_alphabetic() && scheme.iter().all(legal)).then_some(len)
}

fn default_port(scheme: &[u8]) -> Option<u16> {
    match scheme.to_ascii_lowercase().as_slice() {
        b"http" => Some(80),
        b"https" => Some(443),
        _ => None,
    }
}

struct Parts {
    scheme: Vec<u8>,
    host: Option<Vec<u8>>,
    port: Option<u16>,
    path: Option<Vec<u8>>,
    query: Option<Vec<u8>>,
}

impl Parts {
    fn split(mut url: Vec<u8>) -> Option<Parts> {
        let colon = scheme_len(&url)?;
        let fragment = url.iter().position(|byte| *byte == b'#').unwrap_or(url.len());
        url.truncate(fragment);
        let (scheme, rest) = (url[..colon].to_vec(), &url[colon + 1..]);
        let (rest, query) = match rest.iter().position(|byte| *byte == b'?') {
            Some(at) => (&rest[..at], Some(rest[at + 1..].to_vec())),
            None => (rest, None),
        };
        let (authority, path) = match rest.strip_prefix(b"//") {
            Some(rest) => rest.split_at(rest.iter().position(|byte| *byte == b'/').unwrap_or(rest.len())),
            None => (&b""[..], rest),
        };
        let (host, port) = host::and_port(authority)?;
        let some = |bytes: Vec<u8>| Some(bytes).filter(|bytes| !bytes.is_empty());
        let (mut host, mut path) = (some(host), some(path.to_vec()));
        if let (true, None, Some(odd)) = (scheme.starts_with(b"http"), &host, &path) {
            // `http:////www.example.com/`
            let start = odd.iter().position(|byte| *byte != b'/').unwrap_or(odd.len());
            let end = odd[start..].iter().position(|byte| *byte == b'/').map_or(odd.len(), |at| start + at);
            let after = odd.get(end + 1..).unwrap_or_default();
            (host, path) = (Some(odd[start..end].to_vec()), Some([b"/", after].concat()));
        }
        Some(Parts { scheme, host, port, path, query: query.and_then(some) })
    }
}

fn canonical_path(path: Option<&[u8]>, has_host: bool) -> Vec<u8> {
    let path = unescape(path.unwrap_or_default());
    let path = if has_host { without_dots(&path) } else { path };
    let mut path = escape(&path);
    path.make_ascii_lowercase();
    let mut path = session::strip_from_path(path);
    if path.len() > 1 && path.ends_with(b"/") {
        path.pop();
    }
    path
}

/// Takes out `.`, `..` and empty segments; a `..` with nothing before it stays.
fn without_dots(path: &[u8]) -> Vec<u8> {
    let mut kept: Vec<&[u8]> = Vec::new();
    for segment in path.split(|byte| *byte == b'/').skip(1) {
        match segment {
            b"." => {}
            b".." if !kept.is_empty() => drop(kept.pop()),
            _ => kept.push(segment),
        }
    }
    let mut clean = vec![b'/'];
    if let Some((last, before)) = kept.split_last() {
        for segment in before.iter().filter(|segment| !segment.is_empty()) {
            clean.extend_from_slice(segment);
            clean.push(b'/');
        }
        clean.extend_from_slice(last);
    }
    clean
}

fn canonical_query(query: &[u8]) -> Vec<u8> {
    let mut query = session::strip_from_query(escape(&unescape(query)));
    query.make_ascii_lowercase();
    if query.len() <= 1 {
        return query;
    }
    let mut arguments: Vec<&[u8]> = query.split(|byte| *byte == b'&').collect();
    arguments.sort_by(|a, b| by_name_then_value(a, b));
    arguments.join(&b'&')
}

fn by_name_then_value(a: &[u8], b: &[u8]) -> Ordering {
    let split = |argument: &[u8]| argument.iter().position(|byte| *byte == b'=').unwrap_or(argument.len());
    let ((a_name, a_value), (b_name, b_value)) = (a.split_at(split(a)), b.split_at(split(b)));
    a_name.cmp(b_name).then(a_value.cmp(b_value))
}

/// Takes off percent escapes until none is left, in one pass: a decoded byte may complete an escape
/// that began before it.
fn unescape(bytes: &[u8]) -> Vec<u8> {
    let hex = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let mut plain = Vec::with_capacity(bytes.len());
    for byte in bytes {
        plain.push(*byte);
        while let [.., b'%', high, low] = plain[..] {
            let (Some(high), Some(low)) = (hex(high), hex(low)) else { break };
            plain.truncate(plain.len() - 3);
            plain.push(high << 4 | low);
        }
    }
    plain
}

/// Escapes what is not visible ASCII, and `#` and `%`.
fn escape(bytes: &[u8]) -> Vec<u8> {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    let mut escaped = Vec::with_capacity(bytes.len());
    for byte in bytes {
        match byte {
            b'#' | b'%' => escaped.extend([b'%', b'2', HEX[usize::from(byte & 15)]]),
            0x21..=0x7e => escaped.push(*byte),
            _ => escaped.extend([b'%', HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]),
        }
    }
    escaped
}
