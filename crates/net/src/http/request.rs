//! The request as it goes out: method, headers and body as they were given, and nothing that could
//! be mistaken for more.

use policy::url::CrawlUrl;

use super::error::{FetchErrorKind, Problem};
use super::{Method, Request};
use crate::exchange::Head;

/// A longer validator is not kept: servers refuse requests whose headers are long, and then the
/// page would never be had again.
const VALIDATOR_BYTES_MAX: usize = 1024;

/// Headers that decide where a message ends, or that the client sends itself.
const RESERVED: [&str; 8] = [
    "connection",
    "content-length",
    "expect",
    "host",
    "proxy-connection",
    "te",
    "transfer-encoding",
    "upgrade",
];

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    #[error("`{0}` is no name for a header")]
    Name(String),
    #[error("the value of the header `{0}` has a control character in it")]
    Value(String),
    #[error("the header `{0}` is the client's own business")]
    Reserved(String),
}

/// Whether a header can be sent as it is, without becoming two, or another request.
pub fn check_header(name: &str, value: &str) -> Result<(), HeaderError> {
    let token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    if name.is_empty() || !name.bytes().all(token) {
        return Err(HeaderError::Name(name.escape_debug().to_string()));
    }
    if RESERVED.iter().any(|reserved| reserved.eq_ignore_ascii_case(name)) {
        return Err(HeaderError::Reserved(name.to_owned()));
    }
    if value.bytes().any(|b| b.is_ascii_control() && b != b'\t') {
        return Err(HeaderError::Value(name.to_owned()));
    }
    Ok(())
}

/// What an answer gives to ask with next time (`ETag`, `Last-Modified`): none where it could not be
/// sent back as it came.
pub fn validator(head: &Head, name: &str) -> Option<String> {
    let value = std::str::from_utf8(head.all(name).next()?).ok()?;
    is_validator(value).then(|| value.to_owned())
}

/// Whether a validator, wherever it was kept, can be sent back.
pub fn is_validator(value: &str) -> bool {
    !value.is_empty() && value.len() <= VALIDATOR_BYTES_MAX && check_header("If-None-Match", value).is_ok()
}

/// Scheme, host and port: what a connection can be used again for.
pub(super) fn origin(url: &CrawlUrl) -> &str {
    let text = url.as_str();
    &text[..text.len() - url.path_and_query().len()]
}

/// Request line, `Host`, the headers in their order, and the empty line. What cannot be written is
/// a problem of this URL alone: part of it may have come from the web (A12).
pub(super) fn written(request: &Request<'_>) -> Result<Vec<u8>, Problem> {
    let Request { url, headers, method, body, .. } = request;
    let unsendable =
        |why: String| Problem::new(FetchErrorKind::Broken, format!("it cannot be asked for: {why}"));
    if url.as_str().bytes().any(|b| b <= b' ' || b == 0x7f) {
        return Err(unsendable("the URL has a space or control character in it".to_owned()));
    }
    let authority = origin(url).split_once("://").map_or("", |(_, authority)| authority);
    let mut request = Vec::with_capacity(512 + body.len());
    for part in [method.as_str(), " ", url.path_and_query(), " HTTP/1.1\r\nHost: ", authority, "\r\n"] {
        request.extend_from_slice(part.as_bytes());
    }
    match method {
        Method::Upgrade => request.extend_from_slice(b"Connection: Upgrade\r\nUpgrade: websocket\r\n"),
        Method::Post => request.extend_from_slice(format!("Content-Length: {}\r\n", body.len()).as_bytes()),
        Method::Get | Method::Head | Method::Options => {}
    }
    for (name, value) in *headers {
        check_header(name, value).map_err(|e| unsendable(e.to_string()))?;
        for part in [name, ": ", value, "\r\n"] {
            request.extend_from_slice(part.as_bytes());
        }
    }
    request.extend_from_slice(b"\r\n");
    if *method == Method::Post {
        request.extend_from_slice(body);
    }
    Ok(request)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test")]
    use super::*;
    use crate::http::FetchLimits;

    fn written(url: &CrawlUrl, headers: &[(&str, &str)]) -> Result<Vec<u8>, Problem> {
        super::written(&Request::get(url, headers, &FetchLimits::default()))
    }

    #[test]
    fn b5_other_methods_say_what_they_bring() {
        let (url, limits) = (CrawlUrl::from_normal("http://a.test/p").unwrap(), FetchLimits::default());
        for (method, body, expected) in [
            (Method::Head, &b""[..], "HEAD /p HTTP/1.1\r\nHost: a.test\r\nA: 1\r\n\r\n"),
            (Method::Options, b"", "OPTIONS /p HTTP/1.1\r\nHost: a.test\r\nA: 1\r\n\r\n"),
            (
                Method::Post,
                b"x=1",
                "POST /p HTTP/1.1\r\nHost: a.test\r\nContent-Length: 3\r\nA: 1\r\n\r\nx=1",
            ),
            (
                Method::Upgrade,
                b"",
                "GET /p HTTP/1.1\r\nHost: a.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nA: 1\r\n\r\n",
            ),
        ] {
            let get = Request::get(&url, &[("A", "1")], &limits);
            let request = super::written(&Request { method, body, ..get }).unwrap();
            assert_eq!(String::from_utf8(request).unwrap(), expected);
        }
    }

    #[test]
    fn a4_the_request_is_what_was_asked_for() {
        for (url, headers, expected) in [
            (
                "http://a.test/",
                &[("User-Agent", "Skurd"), ("X-é", "")][..1],
                "GET / HTTP/1.1\r\nHost: a.test\r\nUser-Agent: Skurd\r\n\r\n",
            ),
            ("https://[::1]:8443/p?q=1", &[], "GET /p?q=1 HTTP/1.1\r\nHost: [::1]:8443\r\n\r\n"),
            (
                "http://a.test:81/x",
                &[("B", "é"), ("a", ""), ("B", "2")],
                "GET /x HTTP/1.1\r\nHost: a.test:81\r\nB: é\r\na: \r\nB: 2\r\n\r\n",
            ),
        ] {
            let request = written(&CrawlUrl::from_normal(url).unwrap(), headers).unwrap();
            assert_eq!(String::from_utf8(request).unwrap(), expected);
        }
    }

    #[test]
    fn a11_nothing_can_be_smuggled_into_a_request() {
        for (name, value) in [
            ("A", "1\r\nHost: evil"),
            ("A", "1\n"),
            ("A", "1\r"),
            ("A", "\0"),
            ("A", "\x1b[2J"),
            ("A", "\x7f"),
            ("A\r\nB", "1"),
            ("A:", "1"),
            ("A B", "1"),
            ("", "1"),
            ("hÖst", "1"),
            ("Host", "evil"),
            ("content-length", "5"),
            ("Transfer-Encoding", "chunked"),
            ("CONNECTION", "close"),
        ] {
            assert!(check_header(name, value).is_err(), "{name:?}: {value:?}");
        }
        for url in ["http://a.test/ HTTP/1.1\r\nX: y", "http://a.test/a b", "http://a.test/\u{7f}"] {
            let problem = written(&CrawlUrl::from_normal(url).unwrap(), &[]).unwrap_err();
            assert_eq!(problem.kind, FetchErrorKind::Broken);
        }
    }

    #[test]
    fn a12_only_validators_that_can_be_sent_back_are_kept() {
        let long = "x".repeat(VALIDATOR_BYTES_MAX + 1);
        for (value, kept) in [
            (&b"\"v1\""[..], true),
            (b"W/\"caf\xc3\xa9\tau lait\"", true),
            (&long.as_bytes()[1..], true),
            (long.as_bytes(), false),
            (b"", false),
            (b"a\rb", false),
            (b"a\0b", false),
            (b"a\x01b", false),
            (b"a\x7fb", false),
            (b"caf\xe9", false),
        ] {
            let headers = vec![("ETag".to_owned(), value.to_vec())];
            let found = validator(&Head { status: 200, headers, bytes: 0 }, "etag");
            assert_eq!(found.as_deref().map(str::as_bytes), kept.then_some(value), "{value:?}");
            // Whatever is kept makes a request.
            let url = CrawlUrl::from_normal("http://a.test/").unwrap();
            if let Some(found) = &found {
                written(&url, &[("If-None-Match", found), ("If-Modified-Since", found)]).unwrap();
            }
        }
    }
}
