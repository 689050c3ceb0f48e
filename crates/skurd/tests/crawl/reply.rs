//! What the test web answers, down to the byte.

use std::time::Duration;

/// An answer is played step by step.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) steps: Vec<Step>,
    /// Whether the connection ends with it.
    pub(crate) close: bool,
}

#[derive(Debug)]
pub(crate) enum Step {
    Send(Vec<u8>),
    Pause(Duration),
    /// Again and again, with a pause after each, until the other side has had enough.
    Repeat(Vec<u8>, Duration),
}

impl Reply {
    /// A whole answer with a length.
    pub(crate) fn of(status: u16, headers: &[(&str, &str)], body: impl AsRef<[u8]>) -> Reply {
        let body = body.as_ref();
        let mut bytes = format!("HTTP/1.1 {status} Said\r\nContent-Length: {}\r\n", body.len()).into_bytes();
        for (name, value) in headers {
            bytes.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
        }
        bytes.extend_from_slice(b"\r\n");
        // To a conditional request, nothing but the headers.
        if status != 304 {
            bytes.extend_from_slice(body);
        }
        Reply { steps: vec![Step::Send(bytes)], close: false }
    }

    pub(crate) fn html(body: impl AsRef<[u8]>) -> Reply {
        Reply::of(200, &[("Content-Type", "text/html; charset=utf-8")], body)
    }

    pub(crate) fn text(body: &str) -> Reply {
        Reply::of(200, &[("Content-Type", "text/plain")], body)
    }

    pub(crate) fn not_found() -> Reply {
        Reply::of(404, &[("Content-Type", "text/plain")], "not here")
    }

    pub(crate) fn redirect(to: &str) -> Reply {
        Reply::of(302, &[("Location", to)], "")
    }

    /// These bytes as they are, then the end of the connection.
    pub(crate) fn raw(bytes: impl Into<Vec<u8>>) -> Reply {
        Reply { steps: vec![Step::Send(bytes.into())], close: true }
    }

    /// The answer begins only after a while.
    pub(crate) fn after(mut self, pause: Duration) -> Reply {
        self.steps.insert(0, Step::Pause(pause));
        self
    }

    /// This comes over and over behind it.
    pub(crate) fn then_for_ever(mut self, bytes: impl Into<Vec<u8>>, pause: Duration) -> Reply {
        self.steps.push(Step::Repeat(bytes.into(), pause));
        self
    }
}
