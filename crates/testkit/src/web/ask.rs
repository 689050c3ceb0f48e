//! A request as the sites see it.

/// Headers of one request.
const HEADERS_MAX: usize = 64;
const BODY_BYTES_MAX: usize = 8 << 10;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ask {
    pub method: String,
    /// Of a POST.
    pub body: Vec<u8>,
    /// In lower case, without port.
    pub host: String,
    pub path: String,
    /// What follows the question mark; empty if there is none.
    pub query: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// Whether the connection stays open for another request.
    pub keep_alive: bool,
    /// It came encrypted.
    pub encrypted: bool,
    /// Which connection it came on, and its place among the requests of that.
    pub connection: usize,
    pub turn: usize,
    /// Of all requests to this web: its place in what was seen.
    pub number: usize,
    /// How often the same URL was asked for before, where everything is kept.
    pub nth: usize,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Parsed {
    /// The head goes on.
    Partial,
    /// It takes up this many bytes.
    Complete(Ask, usize),
    /// To be refused with this status.
    Bad(u16),
}

/// Reads the head of a request from what has come in so far.
pub(super) fn parse(bytes: &[u8]) -> Parsed {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut request = httparse::Request::new(&mut headers);
    match request.parse(bytes) {
        Ok(httparse::Status::Partial) => Parsed::Partial,
        Ok(httparse::Status::Complete(length)) => match ask_of(&request) {
            Ok(mut ask) => {
                let sent = ask.header("content-length").and_then(|sent| sent.parse().ok()).unwrap_or(0);
                let Some(body) = bytes.get(length..length + sent) else { return Parsed::Partial };
                ask.body = body.to_vec();
                Parsed::Complete(ask, length + sent)
            }
            Err(status) => Parsed::Bad(status),
        },
        Err(_) => Parsed::Bad(400),
    }
}

fn ask_of(request: &httparse::Request<'_, '_>) -> Result<Ask, u16> {
    let headers: Vec<(String, String)> = request
        .headers
        .iter()
        .map(|header| {
            (header.name.to_ascii_lowercase(), String::from_utf8_lossy(header.value).trim().to_owned())
        })
        .collect();
    let mut ask = Ask { headers, ..Ask::default() };
    let has_body = ask.header("transfer-encoding").is_some()
        || ask.header("content-length").is_some_and(|length| length != "0");
    ask.method = request.method.unwrap_or_default().to_owned();
    if !matches!(ask.method.as_str(), "GET" | "HEAD" | "OPTIONS" | "POST") {
        return Err(405);
    }
    let too_long = ask
        .header("content-length")
        .is_some_and(|sent| sent.parse().map_or(true, |n: usize| n > BODY_BYTES_MAX));
    if (has_body && ask.method != "POST") || too_long || ask.header("transfer-encoding").is_some() {
        return Err(400);
    }
    let (host, target) = split_target(request.path.unwrap_or_default());
    let host = host.or(ask.header("host")).ok_or(400u16)?.to_ascii_lowercase();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    if !path.starts_with('/') {
        return Err(400);
    }
    (ask.path, ask.query) = (path.to_owned(), query.to_owned());
    ask.host = host.rsplit_once(':').map_or(host.as_str(), |(name, _)| name).to_owned();
    let closes = ask.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"));
    ask.keep_alive = request.version == Some(1) && !closes;
    Ok(ask)
}

/// `http://host/path`, as proxies are asked, or just the path.
fn split_target(target: &str) -> (Option<&str>, &str) {
    let Some(rest) = target.strip_prefix("http://") else { return (None, target) };
    match rest.find('/') {
        Some(slash) => (Some(&rest[..slash]), &rest[slash..]),
        None => (Some(rest), "/"),
    }
}

impl Ask {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(have, _)| have.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// The value of a cookie that came along.
    pub fn cookie(&self, name: &str) -> Option<&str> {
        let pairs = self.header("cookie").unwrap_or_default().split(';');
        pairs
            .filter_map(|pair| pair.trim().split_once('='))
            .find(|(have, _)| *have == name)
            .map(|(_, value)| value)
    }

    pub fn accepts(&self, coding: &str) -> bool {
        let accepted = self.header("accept-encoding").unwrap_or_default().split(',');
        accepted.map(|one| one.split(';').next().unwrap_or_default().trim()).any(|one| one == coding)
    }

    /// Path and query as they were asked for.
    pub fn target(&self) -> String {
        match self.query.as_str() {
            "" => self.path.clone(),
            query => format!("{}?{query}", self.path),
        }
    }

    pub fn url(&self) -> String {
        format!("http://{}{}", self.host, self.target())
    }

    /// So that it takes up little more than this, whatever was asked for.
    pub(super) fn shorten(&mut self, bytes_max: usize) {
        let headers: usize = self.headers.iter().map(|(name, value)| name.len() + value.len()).sum();
        if headers > bytes_max {
            self.headers = Vec::new();
        }
        for text in [&mut self.host, &mut self.path, &mut self.query] {
            text.truncate(text.floor_char_boundary(bytes_max));
            text.shrink_to_fit();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complete(head: &str) -> Ask {
        match parse(head.as_bytes()) {
            Parsed::Complete(ask, length) => {
                assert_eq!(length, head.len());
                ask
            }
            other => panic!("{head:?}: {other:?}"),
        }
    }

    #[test]
    fn a4_heads_are_understood() {
        let ask = complete("GET /a?b=c HTTP/1.1\r\nHost: Avis.TEST:8080\r\nCookie: x=1; okt=2\r\n\r\n");
        assert_eq!((ask.host.as_str(), ask.path.as_str(), ask.query.as_str()), ("avis.test", "/a", "b=c"));
        assert_eq!((ask.cookie("okt"), ask.cookie("ok"), ask.target().as_str()), (Some("2"), None, "/a?b=c"));
        assert!(ask.keep_alive);
        let proxied =
            complete("GET http://avis.test/a HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Close\r\n\r\n");
        assert_eq!(
            (proxied.host.as_str(), proxied.path.as_str(), proxied.keep_alive),
            ("avis.test", "/a", false)
        );
        let old = complete("GET / HTTP/1.0\r\nHost: a.test\r\nAccept-Encoding: br;q=0.5, gzip\r\n\r\n");
        assert!(!old.keep_alive && old.accepts("br") && old.accepts("gzip") && !old.accepts("zip"));
    }

    #[test]
    fn a11_bad_heads_are_refused() {
        let table = [
            ("GET / HTTP/1.1\r\n\r\n", Parsed::Bad(400)),
            ("GET a HTTP/1.1\r\nHost: a.test\r\n\r\n", Parsed::Bad(400)),
            ("PUT / HTTP/1.1\r\nHost: a.test\r\n\r\n", Parsed::Bad(405)),
            ("GET / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 3\r\n\r\nabc", Parsed::Bad(400)),
            ("GET / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n", Parsed::Bad(400)),
            ("\0\0", Parsed::Bad(400)),
            ("GET / HTTP/1.1\r\nHost: a.te", Parsed::Partial),
            ("", Parsed::Partial),
        ];
        for (head, expected) in table {
            assert_eq!(parse(head.as_bytes()), expected, "{head:?}");
        }
        let many = format!("GET / HTTP/1.1\r\n{}\r\n", "A: b\r\n".repeat(HEADERS_MAX + 1));
        assert_eq!(parse(many.as_bytes()), Parsed::Bad(400));
    }
}
