//! Commands and events over the browser's pipe: JSON, with a NUL after each message.
//!
//! One task reads, one writes. An answer goes to whoever waits for its number; an event to whoever
//! listens to its session, or to the context it is about. Everything is bounded: messages by size,
//! events by number (who does not keep up loses some, and the page is worse for it, not the
//! process). What a page says comes over the same pipe, so a message that is too long or cannot be
//! read is no end of it: whoever waits for that answer is told at once, and the others go on. When
//! the pipe ends, everybody who waits is told so at once.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{mpsc, oneshot, watch};

use crate::protocol::{Command, Event, Incoming, Outgoing};

/// A picture of a long page, or its DOM, in base 64 or escaped.
const MESSAGE_BYTES_MAX: u64 = 192 << 20;
/// Enough of a message to know whose it is.
const ENVELOPE_BYTES_MAX: usize = 4 << 10;
/// Commands that were not written yet.
const COMMANDS_MAX: usize = 1024;
/// Events that were not taken yet, of one page.
const EVENTS_MAX: usize = 4096;

/// Why a command came to nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CallError {
    #[error("the browser has gone")]
    Gone,
    #[error("{0}: no answer in time")]
    Late(&'static str),
    #[error("{method}: {message}")]
    Refused { method: &'static str, message: String },
}

#[derive(Debug)]
pub(crate) struct Pipe {
    commands: mpsc::Sender<Vec<u8>>,
    shared: Arc<Shared>,
    next: AtomicU64,
    gone: watch::Receiver<bool>,
}

#[derive(Debug, Default)]
struct Shared {
    waiting: Mutex<HashMap<u64, oneshot::Sender<Result<Value, String>>>>,
    listeners: Mutex<Listeners>,
}

#[derive(Debug, Default)]
struct Listeners {
    sessions: HashMap<String, mpsc::Sender<Event>>,
    contexts: HashMap<String, mpsc::Sender<Event>>,
}

impl Listeners {
    fn of(&self, event: &Event) -> Option<&mpsc::Sender<Event>> {
        let by_session = event.session.as_ref().and_then(|session| self.sessions.get(session));
        by_session.or_else(|| self.contexts.get(event.context()?))
    }
}

impl Pipe {
    pub(crate) fn new<R, W>(from: R, to: W) -> Pipe
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let (commands, queue) = mpsc::channel(COMMANDS_MAX);
        let (end, gone) = watch::channel(false);
        let shared = Arc::new(Shared::default());
        tokio::spawn(write(to, queue));
        tokio::spawn(read(from, Arc::clone(&shared), end));
        Pipe { commands, shared, next: AtomicU64::new(1), gone }
    }

    pub(crate) fn is_gone(&self) -> bool {
        *self.gone.borrow()
    }

    /// Until the browser ends.
    pub(crate) async fn gone(&self) {
        let mut gone = self.gone.clone();
        // Whoever could say so has gone itself: the same.
        let _ = gone.wait_for(|gone| *gone).await;
    }

    /// Sends a command to a session, or to the browser itself, and waits for the answer.
    pub(crate) async fn call<C: Command>(
        &self,
        session: Option<&str>,
        command: &C,
        within: Duration,
    ) -> Result<C::Answer, CallError> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let written = serde_json::to_value(command).and_then(|mut params| {
            // What is not given is left out: null is refused.
            params.as_object_mut().into_iter().for_each(|params| params.retain(|_, value| !value.is_null()));
            serde_json::to_vec(&Outgoing { id, method: C::METHOD, params, session })
        });
        let mut bytes = written.map_err(|problem| refused(C::METHOD, &problem.to_string()))?;
        bytes.push(0);
        let (reply, answer) = oneshot::channel();
        self.shared.waiting.lock().insert(id, reply);
        let _waiting = Waiting { pipe: self, id };
        let asked = async {
            // Looked at after the place was taken: who ends the pipe clears the places after that.
            if self.is_gone() || self.commands.send(bytes).await.is_err() {
                return Err(CallError::Gone);
            }
            answer.await.map_err(|_| CallError::Gone)
        };
        let answer = tokio::time::timeout(within, asked).await.map_err(|_| CallError::Late(C::METHOD))??;
        let value = answer.map_err(|message| refused(C::METHOD, &message))?;
        serde_json::from_value(value).map_err(|problem| refused(C::METHOD, &problem.to_string()))
    }

    /// Hears of what concerns a context, until the other end is dropped.
    pub(crate) fn listen(&self, context: &str) -> (mpsc::Sender<Event>, mpsc::Receiver<Event>) {
        let (events, heard) = mpsc::channel(EVENTS_MAX);
        self.shared.listeners.lock().contexts.insert(context.to_owned(), events.clone());
        (events, heard)
    }

    /// This session's events go there too.
    pub(crate) fn join(&self, session: &str, to: &mpsc::Sender<Event>) {
        self.shared.listeners.lock().sessions.insert(session.to_owned(), to.clone());
    }

    /// Nobody listens to the context any more, nor to sessions of whoever did.
    pub(crate) fn leave(&self, context: &str) {
        let mut listeners = self.shared.listeners.lock();
        if let Some(gone) = listeners.contexts.remove(context) {
            listeners.sessions.retain(|_, to| !to.same_channel(&gone));
        }
    }
}

/// A place among those who wait, given up when the call is dropped.
struct Waiting<'a> {
    pipe: &'a Pipe,
    id: u64,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.pipe.shared.waiting.lock().remove(&self.id);
    }
}

fn refused(method: &'static str, message: &str) -> CallError {
    CallError::Refused { method, message: message.to_owned() }
}

async fn write<W: AsyncWrite + Unpin>(mut to: W, mut queue: mpsc::Receiver<Vec<u8>>) {
    while let Some(message) = queue.recv().await {
        if to.write_all(&message).await.is_err() || to.flush().await.is_err() {
            return;
        }
    }
}

async fn read<R: AsyncRead + Unpin>(from: R, shared: Arc<Shared>, end: watch::Sender<bool>) {
    let mut from = BufReader::with_capacity(64 << 10, from);
    let mut message = Vec::new();
    while let Some(is_whole) = next(&mut from, &mut message, MESSAGE_BYTES_MAX).await {
        match understood(&mut message, is_whole) {
            Ok(Incoming::Answer { id, answer }) => {
                if let Some(waiting) = shared.waiting.lock().remove(&id) {
                    // Who does not wait any more does not want it.
                    let _ = waiting.send(answer);
                }
            }
            Ok(Incoming::Event(event)) => {
                if let Some(listener) = shared.listeners.lock().of(&event) {
                    let _ = listener.try_send(event);
                }
            }
            Err(problem) => tracing::debug!("the browser said something else: {problem}"),
        }
    }
    end.send_replace(true);
    shared.waiting.lock().clear();
    *shared.listeners.lock() = Listeners::default();
}

/// The next message, and whether it is whole: of one that is too long only the beginning is kept.
/// None at the end.
async fn next<R: AsyncRead + Unpin>(
    from: &mut BufReader<R>,
    message: &mut Vec<u8>,
    bytes_max: u64,
) -> Option<bool> {
    message.clear();
    let read = (&mut *from).take(bytes_max).read_until(0, message).await;
    if !matches!(read, Ok(1..)) {
        return None;
    }
    if message.pop_if(|last| *last == 0).is_some() {
        return Some(true);
    }
    message.truncate(ENVELOPE_BYTES_MAX);
    message.shrink_to_fit();
    loop {
        let buffer = from.fill_buf().await.ok()?;
        let end = buffer.iter().position(|byte| *byte == 0);
        let (used, is_over) = (end.map_or(buffer.len(), |end| end + 1), buffer.is_empty());
        from.consume(used);
        if is_over {
            return None;
        }
        if end.is_some() {
            return Some(false);
        }
    }
}

/// Pages have strings that are no Unicode, and frames within frames within frames.
fn understood(message: &mut [u8], is_whole: bool) -> Result<Incoming, String> {
    if !is_whole {
        let id = number_of(message).ok_or("a message that is too long")?;
        return Ok(Incoming::Answer { id, answer: Err("its answer is too long".to_owned()) });
    }
    let problem = match serde_json::from_slice(message) {
        Ok(incoming) => return Ok(incoming),
        Err(problem) => problem,
    };
    replace_lone_surrogates(message);
    serde_json::from_slice(message).or_else(|_| {
        let id = number_of(message).ok_or_else(|| problem.to_string())?;
        Ok(Incoming::Answer { id, answer: Err(format!("its answer cannot be read: {problem}")) })
    })
}

/// The number of an answer, which stands at its beginning.
fn number_of(message: &[u8]) -> Option<u64> {
    let digits = message.strip_prefix(b"{\"id\":")?;
    let end = digits.iter().position(|byte| !byte.is_ascii_digit())?;
    std::str::from_utf8(&digits[..end]).ok()?.parse().ok()
}

/// Half of a pair says nothing: it becomes the character for that. Everything keeps its place.
fn replace_lone_surrogates(json: &mut [u8]) {
    let unit = |json: &[u8], at: usize| -> Option<u16> {
        let digits = json.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let mut at = 0;
    while at < json.len() {
        if json[at] != b'\\' {
            at += 1;
            continue;
        }
        at += match (unit(json, at), unit(json, at + 6)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
            (Some(0xd800..=0xdfff), _) => {
                json[at..at + 6].copy_from_slice(b"\\ufffd");
                6
            }
            (Some(_), _) => 6,
            (None, _) => 2,
        };
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test")]
    use super::*;
    use crate::protocol::GetVersion;

    const LONG: Duration = Duration::from_secs(60);

    #[tokio::test(start_paused = true)]
    async fn b12_the_end_of_the_pipe_ends_whoever_waits() {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let (from, to) = tokio::io::split(ours);
        let pipe = Pipe::new(from, to);
        let (mut read, mut write) = tokio::io::split(theirs);
        let answered = async {
            let mut message = Vec::new();
            BufReader::new(&mut read).read_until(0, &mut message).await.unwrap();
            assert_eq!(message, b"{\"id\":1,\"method\":\"Browser.getVersion\",\"params\":{}}\0");
            write.write_all(b"what?\0{\"id\":9,\"result\":{}}\0").await.unwrap();
            let answer = b"{\"id\":1,\"result\":{\"product\":\"P/1\",\"userAgent\":\"U\"}}\0";
            write.write_all(answer).await.unwrap();
        };
        let (version, ()) = tokio::join!(pipe.call(None, &GetVersion {}, LONG), answered);
        assert_eq!(version.unwrap().product, "P/1");

        let refusal = async {
            write.write_all(b"{\"id\":2,\"error\":{\"message\":\"not today\"}}\0").await.unwrap();
        };
        let (refused, ()) = tokio::join!(pipe.call(None, &GetVersion {}, LONG), refusal);
        assert_eq!(refused.unwrap_err().to_string(), "Browser.getVersion: not today");
        let late = pipe.call(None, &GetVersion {}, Duration::from_millis(5)).await;
        assert_eq!(late.unwrap_err(), CallError::Late("Browser.getVersion"));

        let gone = async {
            tokio::task::yield_now().await;
            drop((read, write));
        };
        let (ended, ()) = tokio::join!(pipe.call(None, &GetVersion {}, LONG), gone);
        assert_eq!(ended.unwrap_err(), CallError::Gone);
        pipe.gone().await;
        assert_eq!(pipe.call(None, &GetVersion {}, LONG).await.unwrap_err(), CallError::Gone);
        assert!(pipe.shared.waiting.lock().is_empty());
    }

    async fn read_all(bytes: &[u8], bytes_max: u64) -> Vec<(String, bool)> {
        let (mut from, mut message) = (BufReader::with_capacity(7, bytes), Vec::new());
        let mut all = Vec::new();
        while let Some(is_whole) = next(&mut from, &mut message, bytes_max).await {
            all.push((String::from_utf8_lossy(&message).into_owned(), is_whole));
        }
        all
    }

    #[tokio::test]
    async fn b12_a_message_that_is_too_long_costs_nobody_else_theirs() {
        let long = format!("{{\"id\":7,\"result\":\"{}\"}}\0next\0", "x".repeat(100_000));
        let found = read_all(long.as_bytes(), 5000).await;
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].0.len(), found[0].1), (ENVELOPE_BYTES_MAX, false));
        assert_eq!(found[1], ("next".to_owned(), true));
        assert_eq!(read_all(&long.as_bytes()[..90_000], 5000).await, []);
        let mut begun = found[0].0.clone().into_bytes();
        let Ok(Incoming::Answer { id: 7, answer: Err(why) }) = understood(&mut begun, false) else {
            panic!("not told")
        };
        assert_eq!(why, "its answer is too long");
    }

    #[test]
    fn b12_what_a_page_says_is_read_or_whoever_asked_is_told() {
        for (message, expected) in [
            (r#"{"id":1,"result":"a\ud83d\ude00b"}"#, Ok("a\u{1f600}b")),
            (r#"{"id":1,"result":"\ud800"}"#, Ok("\u{fffd}")),
            (
                r#"{"id":1,"result":"\udc00\ud800x\ud800\ud83d\ude00"}"#,
                Ok("\u{fffd}\u{fffd}x\u{fffd}\u{1f600}"),
            ),
            (r#"{"id":1,"result":"\\ud800 \ud800\\"}"#, Ok("\\ud800 \u{fffd}\\")),
            (r#"{"id":1,"result":"\u0000"}"#, Ok("\0")),
            (r#"{"id":1,"result":"\ud800"#, Err(())),
            (&format!("{{\"id\":1,\"result\":{}1{}}}", "[".repeat(200), "]".repeat(200)), Err(())),
        ] {
            let Ok(Incoming::Answer { id: 1, answer }) = understood(&mut message.as_bytes().to_vec(), true)
            else {
                panic!("{message}")
            };
            assert_eq!(answer.map_err(drop), expected.map(Value::from), "{message}");
        }
        assert!(understood(&mut b"what?".to_vec(), true).is_err());
    }
}
