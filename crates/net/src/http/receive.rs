//! An answer on its way in.
//!
//! Bytes gather in a buffer until the head is whole; from then on each read goes straight into the
//! recording, as far as it belongs to this answer, and the buffer is empty again. The server is
//! read no faster than that, so memory stays bounded however much it sends. All state is here and
//! not in the futures: a deadline may drop those at any time and what was received remains.
//!
//! Interim answers (1xx) and blank lines before the status line are dropped: the recording begins
//! with the final status line, which is what readers of archives expect of a response record.

use std::io;

use tokio::sync::mpsc;

use super::chunked::{Chunks, Stretch};
use super::error::{FetchErrorKind, Problem};
use super::head::{self, Layout, Parsed};
use super::stream::Stream;
use super::{FetchLimits, Method, Request};
use crate::exchange::{Framing, Head, Recording, Truncated};

/// Room for one read: most pages come in one.
const READ_BYTES: usize = 32 * 1024;

/// What was received so far.
#[derive(Debug)]
pub(super) struct Incoming {
    buffer: Vec<u8>,
    /// Bytes of the buffer that were searched for the end of the head.
    searched: usize,
    header_bytes_left: usize,
    body_bytes_left: u64,
    body: Body,
    keep_alive: bool,
    /// The answer has no body, whatever its head says: it is one to HEAD.
    bodiless: bool,
    /// What is recorded goes there too.
    tap: Option<mpsc::Sender<Vec<u8>>>,
    /// Recorded, and not yet passed on.
    untold: Vec<u8>,
    pub(super) head: Option<Head>,
    pub(super) recording: Recording,
    /// What came behind a head that ends HTTP on this connection.
    pub(super) surplus: Vec<u8>,
}

#[derive(Debug)]
enum Body {
    Length(u64),
    Chunked(Chunks),
    UntilClose,
}

/// How an answer came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Whole,
    Truncated(Truncated),
}

impl Incoming {
    pub(super) fn new(limits: &FetchLimits, recording: Recording) -> Incoming {
        Incoming {
            buffer: Vec::with_capacity(READ_BYTES),
            searched: 0,
            header_bytes_left: usize::try_from(limits.header_bytes).unwrap_or(usize::MAX),
            body_bytes_left: limits.bytes,
            body: Body::UntilClose,
            keep_alive: false,
            bodiless: false,
            tap: None,
            untold: Vec::new(),
            head: None,
            recording,
            surplus: Vec::new(),
        }
    }

    /// An answer to this request: with it comes whether it has a body, and who else hears of it.
    pub(super) fn to(request: &Request<'_>, recording: Recording) -> Incoming {
        let tap = request.live.map(|live| live.tap.clone());
        Incoming { bodiless: request.method == Method::Head, tap, ..Incoming::new(request.limits, recording) }
    }

    /// Passes on what was recorded since last time.
    async fn tell(&mut self) {
        let Some(tap) = &self.tap else { return };
        if self.untold.is_empty() {
            return;
        }
        // Only once there is room for it: whoever drops this future meanwhile finds it all here.
        let place = tap.reserve().await.ok();
        let heard = place.map(|place| place.send(std::mem::take(&mut self.untold))).is_some();
        if !heard {
            self.tap = None;
            self.untold.clear();
        }
    }

    /// Reads once: whether anything came.
    pub(super) async fn first_byte(&mut self, stream: &mut Stream) -> io::Result<bool> {
        match stream.read(&mut self.buffer).await {
            // Many servers end TLS by hanging up, which says nothing as long as they have said nothing.
            Err(end) if end.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
            read => Ok(read? > 0),
        }
    }

    /// Reads until the answer ends, one way or another.
    pub(super) async fn rest(&mut self, stream: &mut Stream) -> Result<Ending, Problem> {
        loop {
            let ending = self.digest()?;
            self.tell().await;
            if let Some(ending) = ending {
                return Ok(ending);
            }
            if self.buffer.capacity() == self.buffer.len() {
                self.buffer.reserve(READ_BYTES);
            }
            match stream.read(&mut self.buffer).await {
                Ok(1..) => {}
                Ok(0) => return self.closed(None),
                Err(problem) => return self.closed(Some(&problem)),
            }
        }
    }

    /// The connection can carry another exchange.
    pub(super) fn is_reusable(&self) -> bool {
        self.keep_alive
    }

    pub(super) fn framing(&self) -> Framing {
        if matches!(self.body, Body::Chunked(_)) { Framing::Chunked } else { Framing::Plain }
    }

    /// Makes of the buffer what can be made of it.
    fn digest(&mut self) -> Result<Option<Ending>, Problem> {
        let body_from = match self.head {
            Some(_) => 0,
            None => match self.take_head()? {
                Some(head_bytes) => head_bytes,
                None => return Ok(None),
            },
        };
        self.take_body(body_from)
    }

    /// The length of the final head, once it is in the buffer.
    fn take_head(&mut self) -> Result<Option<usize>, Problem> {
        loop {
            self.skip_blank_lines()?;
            if !begins_like_http(&self.buffer) {
                let start = String::from_utf8_lossy(&self.buffer[..self.buffer.len().min(40)]);
                let reason = format!("the answer is no HTTP: it begins with {start:?}");
                return Err(Problem::new(FetchErrorKind::Broken, reason));
            }
            let found = head::end_of_head(&self.buffer, self.searched);
            if found.unwrap_or(self.buffer.len()) > self.header_bytes_left {
                return Err(Problem::new(FetchErrorKind::Limit, "the headers are longer than allowed"));
            }
            let Some(end) = found else {
                self.searched = self.buffer.len().saturating_sub(2);
                return Ok(None);
            };
            let parsed = head::parse(&self.buffer[..end]).ok_or_else(|| {
                Problem::new(FetchErrorKind::Broken, "the answer has no proper status line")
            })?;
            if !matches!(parsed.head.status, 100 | 102..=199) {
                self.begin_body(parsed);
                return Ok(Some(end));
            }
            self.skip(end)?;
        }
    }

    fn begin_body(&mut self, parsed: Parsed) {
        self.body = match parsed.layout {
            _ if self.bodiless => Body::Length(0),
            Layout::Empty => Body::Length(0),
            Layout::Length(length) => Body::Length(length),
            Layout::Chunked => Body::Chunked(Chunks::new()),
            Layout::UntilClose => Body::UntilClose,
        };
        self.keep_alive = parsed.keep_alive;
        self.head = Some(parsed.head);
    }

    fn skip_blank_lines(&mut self) -> Result<(), Problem> {
        let blank = self.buffer.iter().take_while(|b| matches!(b, b'\r' | b'\n')).count();
        if blank == 0 { Ok(()) } else { self.skip(blank) }
    }

    /// Drops what is not part of the final answer, but counts it: otherwise it could go on forever.
    fn skip(&mut self, bytes: usize) -> Result<(), Problem> {
        self.buffer.drain(..bytes);
        self.searched = 0;
        let left = self.header_bytes_left.checked_sub(bytes);
        self.header_bytes_left =
            left.ok_or_else(|| Problem::new(FetchErrorKind::Limit, "the headers are longer than allowed"))?;
        Ok(())
    }

    /// Records the buffer as far as it belongs to this answer; its first `head_bytes` do.
    fn take_body(&mut self, head_bytes: usize) -> Result<Option<Ending>, Problem> {
        let arrived = &self.buffer[head_bytes..];
        let allowed = usize::try_from(self.body_bytes_left).unwrap_or(usize::MAX).min(arrived.len());
        let (taken, state) = self.body.take(&arrived[..allowed]);
        let surplus = arrived.len() > taken;
        let recorded = &self.buffer[..head_bytes + taken];
        self.recording.push(recorded).map_err(|e| cannot_keep(&e))?;
        if self.tap.is_some() {
            self.untold.extend_from_slice(recorded);
        }
        if self.head.as_ref().is_some_and(|head| head.status == 101) {
            self.surplus = self.buffer.split_off(head_bytes + taken);
        }
        self.buffer.clear();
        self.body_bytes_left -= taken as u64;
        let ending = match state {
            Progress::Complete => {
                self.keep_alive &= !surplus;
                Some(Ending::Whole)
            }
            Progress::Nonsense { sound_bytes } => {
                self.keep_alive = false;
                let head_bytes = self.head.as_ref().map_or(0, |head| head.bytes as u64);
                self.recording.truncate(head_bytes + sound_bytes).map_err(|e| cannot_keep(&e))?;
                Some(Ending::Truncated(Truncated::Disconnect))
            }
            Progress::More if surplus => Some(Ending::Truncated(Truncated::Length)),
            Progress::More => None,
        };
        Ok(ending)
    }

    /// The server has gone, properly or not. An answer that ends with the connection is whole only
    /// if that ended properly.
    fn closed(&mut self, problem: Option<&io::Error>) -> Result<Ending, Problem> {
        self.keep_alive = false;
        if self.head.is_none() {
            let how = problem.map_or("it was closed".to_owned(), ToString::to_string);
            let reason = format!("the connection broke within the headers: {how}");
            return Err(Problem::new(FetchErrorKind::Broken, reason));
        }
        let whole = match &self.body {
            Body::UntilClose => problem.is_none(),
            Body::Chunked(chunks) => chunks.has_all_data(),
            Body::Length(_) => false,
        };
        Ok(if whole { Ending::Whole } else { Ending::Truncated(Truncated::Disconnect) })
    }
}

/// An answer without its connection.
#[derive(Debug)]
pub struct Received {
    pub head: Head,
    pub framing: Framing,
    pub truncated: Option<Truncated>,
    pub response: Recording,
}

/// What is made of an answer that comes in these pieces, after which the server closes the
/// connection: the way of every answer, for whoever has the bytes already.
pub fn received<'a>(
    pieces: impl IntoIterator<Item = &'a [u8]>,
    limits: &FetchLimits,
    recording: Recording,
) -> Result<Received, FetchErrorKind> {
    let mut incoming = Incoming::new(limits, recording);
    let mut pieces = pieces.into_iter();
    let ending = loop {
        let Some(piece) = pieces.next() else { break incoming.closed(None) };
        incoming.buffer.extend_from_slice(piece);
        match incoming.digest() {
            Ok(None) => {}
            Ok(Some(ending)) => break Ok(ending),
            Err(problem) => break Err(problem),
        }
    };
    let ending = ending.map_err(|problem| problem.kind)?;
    let framing = incoming.framing();
    Ok(Received {
        head: incoming.head.ok_or(FetchErrorKind::Broken)?,
        framing,
        truncated: match ending {
            Ending::Whole => None,
            Ending::Truncated(why) => Some(why),
        },
        response: incoming.recording,
    })
}

/// How a body goes on after some bytes.
enum Progress {
    More,
    Complete,
    /// The coding is broken; so much of the body made sense.
    Nonsense {
        sound_bytes: u64,
    },
}

impl Body {
    /// How many of the bytes belong to this body.
    fn take(&mut self, bytes: &[u8]) -> (usize, Progress) {
        match self {
            Body::UntilClose => (bytes.len(), Progress::More),
            Body::Length(left) => {
                let taken = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
                *left -= taken as u64;
                (taken, if *left == 0 { Progress::Complete } else { Progress::More })
            }
            Body::Chunked(chunks) => {
                let (taken, progress) = walk(chunks, bytes);
                if chunks.never_began() {
                    *self = Body::UntilClose;
                    return (bytes.len(), Progress::More);
                }
                (taken, progress)
            }
        }
    }
}

fn walk(chunks: &mut Chunks, bytes: &[u8]) -> (usize, Progress) {
    let mut taken = 0;
    while taken < bytes.len() {
        match chunks.next(&bytes[taken..]) {
            Stretch::Wrapping(n) | Stretch::Data(n) => taken += n,
            Stretch::End => return (taken, Progress::Complete),
            Stretch::Bad => return (taken, Progress::Nonsense { sound_bytes: chunks.sound_bytes() }),
        }
    }
    (taken, if chunks.has_ended() { Progress::Complete } else { Progress::More })
}

fn begins_like_http(bytes: &[u8]) -> bool {
    let start = &bytes[..bytes.len().min(5)];
    start.eq_ignore_ascii_case(&b"HTTP/"[..start.len()])
}

fn cannot_keep(problem: &io::Error) -> Problem {
    Problem::new(FetchErrorKind::Local, format!("the answer could not be kept: {problem}"))
}
