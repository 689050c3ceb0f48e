//! What most sites of the town think in: a status, headers and a body.
//!
//! The ways to deliver a [`Reply`] (whole, in chunks, slowly, cut off in the middle) turn it into
//! an [`Answer`]. What no reply can say is written as raw bytes.

use std::time::Duration;

use crate::coding;
use crate::web::{Answer, Ask, Step, Then, head, length};

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
            _ => self.head(&length(&self.body)),
        };
        bytes.extend_from_slice(&self.body);
        Answer::bytes(self.status, bytes, Then::Stay)
    }

    /// In chunks of some bytes, and after the last one these headers.
    pub(super) fn chunked(self, bytes_each: usize, trailers: &str) -> Answer {
        let mut answer = self.open_chunks(bytes_each, Duration::ZERO);
        answer.steps.push(Step::Send(format!("0\r\n{trailers}\r\n").into_bytes()));
        Answer { then: Then::Stay, ..answer }
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
        Answer { status: self.status, steps: dripped(head, chunks, pause), then: Then::Close }
    }

    /// With its length, but piece by piece with pauses.
    pub(super) fn drip(self, bytes_each: usize, pause: Duration) -> Answer {
        let head = self.head(&length(&self.body));
        let pieces = self.body.chunks(bytes_each.max(1)).map(<[u8]>::to_vec);
        Answer { status: self.status, steps: dripped(head, pieces, pause), then: Then::Stay }
    }

    /// Promises everything and hangs up in the middle.
    pub(super) fn cut(self) -> Answer {
        let mut answer = self.send();
        if let Some(Step::Send(bytes)) = answer.steps.first_mut() {
            bytes.truncate(bytes.len() * 2 / 3);
        }
        Answer { then: Then::Close, ..answer }
    }

    /// Says neither length nor chunks: it ends with the connection.
    pub(super) fn until_close(self) -> Answer {
        let mut bytes = self.head("Connection: close\r\n");
        bytes.extend_from_slice(&self.body);
        Answer::bytes(self.status, bytes, Then::Close)
    }

    fn head(&self, framing: &str) -> Vec<u8> {
        head(self.status, self.headers.iter().map(|(name, value)| (*name, value.as_str())), framing)
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
