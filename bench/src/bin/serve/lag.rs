//! How far the link index is behind the harvest: from the moment a harvest is told of to the moment
//! that a link of it is found at the page it leads to, asked over the API. One page at a time;
//! those harvested meanwhile are left out.

use std::fmt;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context, Result};
use skurd_bench::Stopwatch;

const LINKS_ASKED: &str = "1000";
const GIVEN_UP_AFTER: Duration = Duration::from_secs(30);

pub(crate) struct Lag {
    stop: Arc<AtomicBool>,
    watching: JoinHandle<Result<Vec<Duration>>>,
}

/// Sorted.
pub(crate) struct Lags(Vec<Duration>);

impl fmt::Display for Lags {
    #[allow(clippy::cast_precision_loss, reason = "told, not counted with")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = |share: usize| match self.0.len() {
            0 => f64::NAN,
            count => self.0[(count - 1) * share / 100].as_micros() as f64 / 1000.0,
        };
        write!(f, "index lag of {} pages: p50 {:.0} ms, most {:.0} ms", self.0.len(), at(50), at(100))
    }
}

impl Lag {
    pub(crate) fn watch(server: SocketAddr) -> Lag {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        Lag { stop, watching: std::thread::spawn(move || watch(server, &stopped)) }
    }

    pub(crate) fn end(self) -> Result<Lags> {
        self.stop.store(true, Ordering::Relaxed);
        let lags = self.watching.join().map_err(|_| anyhow::anyhow!("the watcher broke"))?;
        let mut lags = lags?;
        lags.sort_unstable();
        Ok(Lags(lags))
    }
}

fn watch(server: SocketAddr, stop: &AtomicBool) -> Result<Vec<Duration>> {
    let mut lags = Vec::new();
    while let Some(url) = next_harvest(server, stop)? {
        let watch = Stopwatch::start();
        while !is_indexed(server, &url)? {
            if stop.load(Ordering::Relaxed) {
                return Ok(lags);
            }
            anyhow::ensure!(watch.elapsed() < GIVEN_UP_AFTER, "a link of {url} is never indexed");
        }
        lags.push(watch.elapsed());
    }
    Ok(lags)
}

/// Whether one of its links is known at the page it leads to.
fn is_indexed(server: SocketAddr, url: &str) -> Result<bool> {
    let outlinks = ask(server, "outlinks", url)?;
    // A link to itself is none.
    let mut targets = outlinks.split("\"url\":\"").skip(1).filter_map(|rest| rest.split('"').next());
    match targets.find(|target| *target != url) {
        Some(target) => Ok(ask(server, "inlinks", target)?.contains(&format!("\"{url}\""))),
        None => Ok(false),
    }
}

/// The next page that is told of, if any is; a new stream each time, so that nothing old is waiting
/// in it.
fn next_harvest(server: SocketAddr, stop: &AtomicBool) -> Result<Option<String>> {
    let mut stream = TcpStream::connect(server)?;
    stream.set_read_timeout(Some(GIVEN_UP_AFTER))?;
    write!(stream, "GET /api/v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")?;
    for line in BufReader::new(stream).lines() {
        let line = line?;
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        if line.starts_with("data:") && line.contains("\"event\":\"harvest\"") {
            let url = line.split_once("\"url\":\"").and_then(|(_, rest)| rest.split('"').next());
            return Ok(Some(url.context("a harvest without a URL")?.to_owned()));
        }
    }
    anyhow::bail!("the events ended")
}

fn ask(server: SocketAddr, what: &str, url: &str) -> Result<String> {
    let mut stream = TcpStream::connect(server)?;
    let url = url.replace(':', "%3A").replace('/', "%2F");
    write!(
        stream,
        "GET /api/v1/index/{what}?limit={LINKS_ASKED}&url={url} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}
