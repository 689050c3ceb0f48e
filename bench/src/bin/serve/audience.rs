//! Who watches: clients on the event stream, and a steady rate of index queries.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::Result;
use parking_lot::Mutex;
use skurd_bench::Stopwatch;
use skurd_bench::pages::Shape;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use tokio::time::MissedTickBehavior;

const LISTENERS: usize = 200;
const ASKERS: u64 = 16;
const QUERIES_PER_SECOND: u64 = 500;

pub(crate) struct Audience {
    runtime: Runtime,
    counts: Arc<Counts>,
    watch: Stopwatch,
}

#[derive(Default)]
struct Counts {
    events: AtomicU64,
    /// How long each query took, in microseconds.
    queries: Mutex<Vec<u64>>,
    refused: AtomicU64,
}

/// What came of it.
pub(crate) struct Heard {
    queries_per_second: f64,
    refused: u64,
    p50_ms: f64,
    p99_ms: f64,
    events_per_second: f64,
}

impl fmt::Display for Heard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "audience: {:.0} queries/s (p50 {:.1} ms, p99 {:.1} ms, {} refused), {:.0} events/s to {LISTENERS} clients",
            self.queries_per_second, self.p50_ms, self.p99_ms, self.refused, self.events_per_second
        )
    }
}

impl Audience {
    pub(crate) fn gather(server: SocketAddr, web_port: u16) -> Result<Audience> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let counts = Arc::new(Counts::default());
        for _ in 0..LISTENERS {
            let counts = Arc::clone(&counts);
            // Whoever is refused is missed in the figures.
            runtime.spawn(async move { drop(listen(server, &counts).await) });
        }
        for asker in 0..ASKERS {
            let counts = Arc::clone(&counts);
            runtime.spawn(async move { drop(ask(server, web_port, asker, &counts).await) });
        }
        Ok(Audience { runtime, counts, watch: Stopwatch::start() })
    }

    #[allow(clippy::cast_precision_loss, reason = "a rate")]
    pub(crate) fn leave(self) -> Result<Heard> {
        let seconds = self.watch.elapsed().as_secs_f64();
        self.runtime.shutdown_background();
        let mut times = std::mem::take(&mut *self.counts.queries.lock());
        anyhow::ensure!(!times.is_empty(), "no query was answered");
        times.sort_unstable();
        let at = |share: usize| times[(times.len() - 1) * share / 100] as f64 / 1000.0;
        Ok(Heard {
            queries_per_second: times.len() as f64 / seconds,
            refused: self.counts.refused.load(Ordering::Relaxed),
            p50_ms: at(50),
            p99_ms: at(99),
            events_per_second: self.counts.events.load(Ordering::Relaxed) as f64 / seconds,
        })
    }
}

async fn listen(server: SocketAddr, counts: &Counts) -> Result<()> {
    let mut stream = TcpStream::connect(server).await?;
    stream.write_all(b"GET /api/v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").await?;
    let mut buffer = vec![0; 64 << 10];
    loop {
        let count = stream.read(&mut buffer).await?;
        anyhow::ensure!(count > 0, "the stream ended");
        let events = buffer[..count].windows(6).filter(|bytes| bytes == b"event:").count() as u64;
        counts.events.fetch_add(events, Ordering::Relaxed);
    }
}

async fn ask(server: SocketAddr, web_port: u16, asker: u64, counts: &Counts) -> Result<()> {
    let mut stream = TcpStream::connect(server).await?;
    stream.set_nodelay(true)?;
    let mut rng = fastrand::Rng::with_seed(asker);
    let mut turn = tokio::time::interval(Duration::from_micros(1_000_000 * ASKERS / QUERIES_PER_SECOND));
    turn.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let mut buffer = Vec::with_capacity(64 << 10);
    loop {
        turn.tick().await;
        let url =
            format!("http%3A%2F%2F{}%3A{web_port}%2Fp%2F{}", Shape::host(rng.u64(0..200)), rng.u64(0..40));
        let path = match rng.u8(0..4) {
            0 => "index/pages?limit=20".to_owned(),
            1 => "index/domains?limit=20".to_owned(),
            2 => format!("index/page?url={url}"),
            _ => format!("index/inlinks?limit=20&url={url}"),
        };
        let request = format!("GET /api/v1/{path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
        let watch = Stopwatch::start();
        stream.write_all(request.as_bytes()).await?;
        let status = answer(&mut stream, &mut buffer).await?;
        counts.queries.lock().push(u64::try_from(watch.elapsed().as_micros())?);
        // What is not known yet is an answer; what is refused is none.
        if !matches!(status, 200 | 404) {
            counts.refused.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Reads one answer to its end.
async fn answer(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Result<u16> {
    buffer.clear();
    loop {
        anyhow::ensure!(stream.read_buf(buffer).await? > 0, "the connection ended");
        let Some(end) = buffer.windows(4).position(|bytes| bytes == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&buffer[..end]).to_ascii_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        let length: usize = length.map_or(Ok(0), |length| length.trim().parse())?;
        if buffer.len() >= end + 4 + length {
            return Ok(head.split(' ').nth(1).unwrap_or_default().parse()?);
        }
    }
}
