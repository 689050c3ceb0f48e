//! Answers as scripts: bytes to send, pauses to make, and what becomes of the connection.
//!
//! A script may hold any bytes, so a site can break every rule of HTTP on purpose.

use std::time::Duration;

#[derive(Clone, Debug)]
pub struct Answer {
    /// For the log; what was sent is in the steps.
    pub status: u16,
    pub steps: Vec<Step>,
    pub then: Then,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    Send(Vec<u8>),
    Wait(Duration),
    /// Until the asker has sent so many bytes more.
    Hear(usize),
    /// Again and again, with a pause after each: so often, or until the asker has had enough.
    Repeat {
        bytes: Vec<u8>,
        pause: Duration,
        times: Option<u64>,
    },
}

/// What the web does when an answer has been played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// Waits for the next request.
    Stay,
    Close,
    /// Closes without saying so where a connection is encrypted.
    Drop,
    /// Closes so that the other side sees an error.
    Reset,
    /// Neither says anything more nor closes.
    Hang,
}

impl Answer {
    /// Bytes as they are.
    pub fn bytes(status: u16, bytes: impl Into<Vec<u8>>, then: Then) -> Answer {
        Answer { status, steps: vec![Step::Send(bytes.into())], then }
    }

    /// Bytes as they are, after which the connection is closed.
    pub fn raw(bytes: impl Into<Vec<u8>>) -> Answer {
        Answer::bytes(0, bytes, Then::Close)
    }

    /// Not a byte, and the end of the connection.
    pub fn nothing() -> Answer {
        Answer { status: 0, steps: Vec::new(), then: Then::Close }
    }

    /// Whole, with its length.
    pub fn of(status: u16, headers: &[(&str, &str)], body: impl AsRef<[u8]>) -> Answer {
        let body = body.as_ref();
        let mut bytes = head(status, headers.iter().copied(), &length(body));
        // To a conditional request, nothing but the headers.
        if status != 304 {
            bytes.extend_from_slice(body);
        }
        Answer::bytes(status, bytes, Then::Stay)
    }

    pub fn html(body: impl AsRef<[u8]>) -> Answer {
        Answer::of(200, &[("Content-Type", "text/html; charset=utf-8")], body)
    }

    pub fn text(body: &str) -> Answer {
        Answer::of(200, &[("Content-Type", "text/plain")], body)
    }

    pub fn not_found() -> Answer {
        Answer::of(404, &[("Content-Type", "text/plain")], "not here")
    }

    pub fn redirect(to: &str) -> Answer {
        Answer::of(302, &[("Location", to)], "")
    }

    /// Waits before the first byte.
    pub fn after(mut self, pause: Duration) -> Answer {
        self.steps.insert(0, Step::Wait(pause));
        self
    }

    /// And then this.
    #[must_use]
    pub fn and(mut self, step: Step) -> Answer {
        self.steps.push(step);
        self
    }

    /// What is sent, where nothing is repeated.
    pub fn sent(&self) -> Vec<u8> {
        let bytes = |step: &Step| match step {
            Step::Send(bytes) => bytes.clone(),
            Step::Wait(_) | Step::Hear(_) | Step::Repeat { .. } => Vec::new(),
        };
        self.steps.iter().flat_map(bytes).collect()
    }

    /// As it is to whoever asked with HEAD: without its body.
    pub(super) fn head_only(mut self) -> Answer {
        let mut bytes = self.sent();
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").map_or(bytes.len(), |end| end + 4);
        bytes.truncate(end);
        self.steps = vec![Step::Send(bytes)];
        self
    }

    /// This comes over and over behind it.
    pub fn then_for_ever(mut self, bytes: impl Into<Vec<u8>>, pause: Duration) -> Answer {
        self.steps.push(Step::Repeat { bytes: bytes.into(), pause, times: None });
        self
    }
}

/// The line that says how long the body is.
pub(crate) fn length(body: &[u8]) -> String {
    format!("Content-Length: {}\r\n", body.len())
}

/// Status line, headers and the lines that say how the body ends.
pub(crate) fn head<'a>(
    status: u16,
    headers: impl Iterator<Item = (&'a str, &'a str)>,
    framing: &str,
) -> Vec<u8> {
    let headers: String = headers.map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    format!("HTTP/1.1 {status} {}\r\n{headers}{framing}\r\n", reason(status)).into_bytes()
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
