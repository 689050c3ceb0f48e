//! A small web server that keeps books: who was asked for what, from when to when.
//!
//! A request begins when it has been read and ends just before the last bytes of its answer are written. So what is measured is never
//! longer, and pauses are never shorter, than they were for the other side, however busy the machine is: rules that hold on the wire hold
//! here.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::time::Instant;

use crate::reply::{Reply, Step};

/// Longer than anything a test waits for: only a hang is that slow.
const PATIENCE: Duration = Duration::from_secs(60);
const HEAD_BYTES_MAX: usize = 64 << 10;

#[derive(Clone, Debug)]
pub(crate) struct Ask {
    pub(crate) host: String,
    /// With its query.
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    /// How often the same was asked for before.
    pub(crate) nth: usize,
    /// Of all requests to this web: its place in what was seen.
    pub(crate) number: usize,
}

impl Ask {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}{}", self.host, self.path)
    }
}

/// A request as it was seen.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) ask: Ask,
    pub(crate) begin: Instant,
    pub(crate) end: Option<Instant>,
    /// The answer was sent to its last byte.
    pub(crate) whole: bool,
}

type Site = dyn Fn(&Ask) -> Reply + Send + Sync;

struct Shared {
    site: Box<Site>,
    seen: Mutex<Vec<Seen>>,
    more: Condvar,
    asked: Mutex<HashMap<String, usize>>,
}

pub(crate) struct Web {
    pub(crate) port: u16,
    shared: Arc<Shared>,
    /// Its threads end with it.
    _runtime: Runtime,
}

impl Web {
    pub(crate) fn new(site: impl Fn(&Ask) -> Reply + Send + Sync + 'static) -> Web {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let shared = Arc::new(Shared {
            site: Box::new(site),
            seen: Mutex::default(),
            more: Condvar::new(),
            asked: Mutex::default(),
        });
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let port = listener.local_addr().unwrap().port();
        let answering = Arc::clone(&shared);
        runtime.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let shared = Arc::clone(&answering);
                tokio::spawn(async move { converse(stream, &shared).await });
            }
        });
        Web { port, shared, _runtime: runtime }
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.shared.seen.lock().clone()
    }

    pub(crate) fn count(&self) -> usize {
        self.shared.seen.lock().len()
    }

    /// Waits until so many requests have begun since the start.
    pub(crate) fn wait_for(&self, count: usize) {
        let deadline = Instant::now() + PATIENCE;
        let mut seen = self.shared.seen.lock();
        while seen.len() < count {
            let wait = self.shared.more.wait_until(&mut seen, deadline.into_std());
            assert!(!wait.timed_out(), "{} of {count} requests came", seen.len());
        }
    }

    /// How often a URL was asked for.
    pub(crate) fn times(&self, url: &str) -> usize {
        self.shared.asked.lock().get(url).copied().unwrap_or(0)
    }
}

impl Shared {
    fn begin(&self, mut ask: Ask) -> (usize, Ask) {
        let mut asked = self.asked.lock();
        let times = asked.entry(ask.url()).or_default();
        ask.nth = *times;
        *times += 1;
        drop(asked);
        let mut seen = self.seen.lock();
        ask.number = seen.len();
        seen.push(Seen { ask: ask.clone(), begin: Instant::now(), end: None, whole: false });
        self.more.notify_all();
        (ask.number, ask)
    }

    fn end(&self, index: usize) {
        let now = Instant::now();
        self.seen.lock()[index].end.get_or_insert(now);
    }

    fn over(&self, index: usize, played: bool) {
        self.end(index);
        self.seen.lock()[index].whole = played;
    }
}

/// Request after request, until either side goes.
async fn converse(mut stream: TcpStream, shared: &Shared) {
    let _ = stream.set_nodelay(true);
    let mut buffer = Vec::new();
    while let Some(ask) = read_ask(&mut stream, &mut buffer).await {
        let (index, ask) = shared.begin(ask);
        let reply = (shared.site)(&ask);
        let close = reply.close;
        let played = play(&mut stream, reply, || shared.end(index)).await;
        shared.over(index, played);
        if !played {
            return;
        }
        if close {
            let _ = stream.shutdown().await;
            return;
        }
    }
}

async fn read_ask(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Option<Ask> {
    loop {
        if let Some(end) = buffer.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&buffer[..end]).into_owned();
            buffer.drain(..end + 4);
            return parse(&head);
        }
        if buffer.len() > HEAD_BYTES_MAX || stream.read_buf(buffer).await.ok()? == 0 {
            return None;
        }
    }
}

fn parse(head: &str) -> Option<Ask> {
    let mut lines = head.split("\r\n");
    let path = lines.next()?.split(' ').nth(1)?.to_owned();
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_owned(), value.trim().to_owned()))
        .collect();
    let mut ask = Ask { host: String::new(), path, headers, nth: 0, number: 0 };
    ask.host = ask.header("host")?.split(':').next()?.to_ascii_lowercase();
    Some(ask)
}

/// Whether it could be played to its end.
async fn play(stream: &mut TcpStream, reply: Reply, ends: impl Fn()) -> bool {
    let last = reply.steps.len() - 1;
    for (index, step) in reply.steps.into_iter().enumerate() {
        let went_well = match step {
            Step::Send(bytes) => {
                if index == last {
                    ends();
                }
                stream.write_all(&bytes).await.is_ok()
            }
            Step::Pause(pause) => stays(stream, pause).await,
            Step::Repeat(bytes, pause) => {
                while stream.write_all(&bytes).await.is_ok() && stays(stream, pause).await {}
                false
            }
        };
        if !went_well {
            return false;
        }
    }
    true
}

/// Whether the other side is still there after a pause.
async fn stays(stream: &TcpStream, pause: Duration) -> bool {
    if pause.is_zero() {
        return true;
    }
    let mut byte = [0];
    tokio::select! {
        () = tokio::time::sleep(pause) => true,
        peeked = stream.peek(&mut byte) => peeked.is_ok_and(|bytes| bytes > 0),
    }
}
