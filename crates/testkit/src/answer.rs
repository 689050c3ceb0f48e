//! Answers as scripts: bytes to send and pauses to make.
//!
//! A [`Reply`] is what most sites think in, a status, headers and a body; the ways to deliver it (whole, in
//! chunks, slowly, cut off in the middle) turn it into an [`Answer`]. What no reply can say is written as raw
//! bytes.

use std::time::Duration;

use crate::ask::Ask;
use crate::coding;

#[derive(Debug)]
pub(super) struct Answer {
    /// For the log; what was sent is in the steps.
    pub(super) status: u16,
    pub(super) steps: Vec<Step>,
    /// Whether the connection ends with it.
    pub(super) close: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    Wait(Duration),
    Send(Vec<u8>),
}

impl Answer {
    /// Bytes as they are, after which the connection is closed.
    pub(super) fn raw(status: u16, bytes: Vec<u8>) -> Answer {
        Answer { status, steps: vec![Step::Send(bytes)], close: true }
    }

    /// Waits before the first byte.
    pub(super) fn after(mut self, pause: Duration) -> Answer {
        self.steps.insert(0, Step::Wait(pause));
        self
    }
}

#[derive(Debug)]
pub(super) struct Reply {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
}

impl Reply {
    pub(super) fn new(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Reply {
        let headers = vec![("Server", "Skurdvik/1.0".to_owned()), ("Content-Type", content_type.to_owned())];
        Reply { status, headers, body: body.into() }
    }

    pub(super) fn html(body: String) -> Reply {
        Reply::new(200, "text/html; charset=utf-8", body)
    }

    pub(super) fn text(body: &str) -> Reply {
        Reply::new(200, "text/plain; charset=utf-8", body)
    }

    pub(super) fn redirect(status: u16, location: &str) -> Reply {
        let body = format!(
            "<!doctype html><title>Flyttet</title><p>Moved to <a href=\"{location}\">{location}</a>.\n"
        );
        Reply::new(status, "text/html; charset=utf-8", body).header("Location", location)
    }

    pub(super) fn status(mut self, status: u16) -> Reply {
        self.status = status;
        self
    }

    pub(super) fn header(mut self, name: &'static str, value: impl Into<String>) -> Reply {
        self.headers.push((name, value.into()));
        self
    }

    /// Coded, and said to be.
    pub(super) fn coded(self, name: &str, code: impl Fn(&[u8]) -> Vec<u8>) -> Reply {
        let body = code(&self.body);
        Reply { body, ..self.header("Content-Encoding", name) }
    }

    /// In gzip for those who take it.
    pub(super) fn gzip_for(self, ask: &Ask) -> Reply {
        let reply = self.header("Vary", "Accept-Encoding");
        if ask.accepts("gzip") { reply.coded("gzip", coding::gzip) } else { reply }
    }

    /// Only if it is not what the asker has by its `ETag`.
    pub(super) fn unless_same(self, ask: &Ask) -> Reply {
        let tag = format!("\"{:08x}\"", coding::checksum(&self.body));
        let same = ask.header("if-none-match").is_some_and(|have| have.contains(&tag) || have == "*");
        let reply = self.header("ETag", tag);
        if same { reply.not_modified() } else { reply }
    }

    /// Only if the asker has no copy of that date.
    pub(super) fn unless_since(self, ask: &Ask, date: &str) -> Reply {
        let same = ask.header("if-modified-since") == Some(date);
        let reply = self.header("Last-Modified", date);
        if same { reply.not_modified() } else { reply }
    }

    fn not_modified(self) -> Reply {
        Reply { status: 304, body: Vec::new(), ..self }
    }

    /// Whole, with its length.
    pub(super) fn send(self) -> Answer {
        let mut bytes = match self.status {
            304 => self.head(""),
            _ => self.head(&self.length()),
        };
        bytes.extend_from_slice(&self.body);
        Answer { status: self.status, steps: vec![Step::Send(bytes)], close: false }
    }

    /// In chunks of some bytes, and after the last one these headers.
    pub(super) fn chunked(self, bytes_each: usize, trailers: &str) -> Answer {
        let mut answer = self.open_chunks(bytes_each, Duration::ZERO);
        answer.steps.push(Step::Send(format!("0\r\n{trailers}\r\n").into_bytes()));
        Answer { close: false, ..answer }
    }

    /// In chunks that end without the last one; a pause goes before each.
    pub(super) fn open_chunks(self, bytes_each: usize, pause: Duration) -> Answer {
        let head = self.head("Transfer-Encoding: chunked\r\n");
        let chunks = self.body.chunks(bytes_each.max(1)).map(|piece| {
            let mut chunk = format!("{:x}\r\n", piece.len()).into_bytes();
            chunk.extend_from_slice(piece);
            chunk.extend_from_slice(b"\r\n");
            chunk
        });
        Answer { status: self.status, steps: dripped(head, chunks, pause), close: true }
    }

    /// With its length, but piece by piece with pauses.
    pub(super) fn drip(self, bytes_each: usize, pause: Duration) -> Answer {
        let head = self.head(&self.length());
        let pieces = self.body.chunks(bytes_each.max(1)).map(<[u8]>::to_vec);
        Answer { status: self.status, steps: dripped(head, pieces, pause), close: false }
    }

    /// Promises everything and hangs up in the middle.
    pub(super) fn cut(self) -> Answer {
        let mut answer = self.send();
        if let Some(Step::Send(bytes)) = answer.steps.first_mut() {
            bytes.truncate(bytes.len() * 2 / 3);
        }
        Answer { close: true, ..answer }
    }

    /// Says neither length nor chunks: it ends with the connection.
    pub(super) fn until_close(self) -> Answer {
        let mut bytes = self.head("Connection: close\r\n");
        bytes.extend_from_slice(&self.body);
        Answer::raw(self.status, bytes)
    }

    fn length(&self) -> String {
        format!("Content-Length: {}\r\n", self.body.len())
    }

    /// Status line, headers and the line that says how the body ends.
    fn head(&self, framing: &str) -> Vec<u8> {
        let headers: String =
            self.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let (status, reason) = (self.status, reason(self.status));
        format!("HTTP/1.1 {status} {reason}\r\n{headers}{framing}\r\n").into_bytes()
    }
}

fn dripped(head: Vec<u8>, pieces: impl Iterator<Item = Vec<u8>>, pause: Duration) -> Vec<Step> {
    let mut steps = vec![Step::Send(head)];
    for piece in pieces {
        if !pause.is_zero() {
            steps.push(Step::Wait(pause));
        }
        steps.push(Step::Send(piece));
    }
    steps
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        301 => "Moved Permanently",
        302 => "Found",
        303 => "See Other",
        304 => "Not Modified",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        410 => "Gone",
        421 => "Misdirected Request",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        _ => "Ingen Anelse",
    }
}
