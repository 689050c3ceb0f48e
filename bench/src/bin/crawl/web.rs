//! The web that is harvested: `/p/N` on every address of the loopback network, each address being a host.
//!
//! Page N links to its twenty children, N × 20 + 1 and on, so that all are found from the first; pages without children link to others drawn
//! from their number. Answers are put together from a text made once, and written in one go.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context, Result};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const LINKS: u64 = 20;
const TEXT_BYTES: usize = 18_500;
const HEAD_BYTES_MAX: usize = 16 << 10;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) hosts: u64,
    pub(crate) pages: u64,
}

impl Shape {
    pub(crate) fn host(n: u64) -> String {
        format!("127.0.{}.{}", n / 250, n % 250 + 1)
    }
}

/// How many pages a host has, and which were asked for.
struct State {
    pages: AtomicU64,
    asked: parking_lot::Mutex<std::collections::HashSet<(String, u64)>>,
    words: Vec<u8>,
}

pub(crate) fn serve(port: u16) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind(("0.0.0.0", port)).await?;
        let state = Arc::new(State {
            pages: AtomicU64::new(0),
            asked: parking_lot::Mutex::default(),
            words: words(),
        });
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            let state = Arc::clone(&state);
            // A peer that goes away is none of our business.
            tokio::spawn(async move { drop(converse(stream, &state).await) });
        }
    })
}

async fn converse(mut stream: tokio::net::TcpStream, state: &State) -> Result<()> {
    let mut buffer = Vec::with_capacity(4096);
    loop {
        while !buffer.windows(4).any(|end| end == b"\r\n\r\n") {
            anyhow::ensure!(buffer.len() < HEAD_BYTES_MAX, "a head too long");
            if stream.read_buf(&mut buffer).await? == 0 {
                return Ok(());
            }
        }
        let head = String::from_utf8_lossy(&buffer).into_owned();
        buffer.clear();
        let path = head.split(' ').nth(1).unwrap_or("/");
        let header = |name: &str| {
            head.lines().find_map(|line| line.split_once(": ").filter(|(n, _)| n.eq_ignore_ascii_case(name)))
        };
        let host = header("host").map_or("", |(_, value)| value);
        let answer = match path.strip_prefix("/p/").and_then(|n| n.parse::<u64>().ok()) {
            Some(n) if n < state.pages.load(Ordering::Relaxed) => {
                state.asked.lock().insert((host.to_owned(), n));
                page(n, state)
            }
            _ => control(path, state),
        };
        stream.write_all(&answer).await?;
        if header("connection").is_some_and(|(_, value)| value.eq_ignore_ascii_case("close")) {
            return Ok(());
        }
    }
}

fn control(path: &str, state: &State) -> Vec<u8> {
    let body = if let Some(pages) = path.strip_prefix("/reset/") {
        state.pages.store(pages.parse().unwrap_or(0), Ordering::Relaxed);
        state.asked.lock().clear();
        "reset".to_owned()
    } else if path == "/seen" {
        state.asked.lock().len().to_string()
    } else {
        return b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_vec();
    };
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

fn page(n: u64, state: &State) -> Vec<u8> {
    let pages = state.pages.load(Ordering::Relaxed);
    let mut body =
        format!("<!DOCTYPE html><html><head><title>Page {n}</title></head><body><h1>Page {n}</h1><ul>\n")
            .into_bytes();
    let mut rng = fastrand::Rng::with_seed(n);
    for k in 1..=LINKS {
        let child = n * LINKS + k;
        let to = if child < pages { child } else { rng.u64(0..pages) };
        body.extend_from_slice(format!("<li><a href=\"/p/{to}\">to page {to}</a></li>\n").as_bytes());
    }
    body.extend_from_slice(b"</ul><p>");
    let from = rng.usize(0..state.words.len() - TEXT_BYTES);
    body.extend_from_slice(&state.words[from..from + TEXT_BYTES]);
    body.extend_from_slice(b"</p></body></html>\n");
    let mut answer = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\n\r\n",
        body.len()
    )
    .into_bytes();
    answer.extend_from_slice(&body);
    answer
}

/// Text that packs about as well as prose does.
fn words() -> Vec<u8> {
    let mut rng = fastrand::Rng::with_seed(1);
    let lexicon: Vec<String> =
        (0..4000).map(|_| (0..rng.usize(2..10)).map(|_| rng.lowercase()).collect()).collect();
    let mut text = Vec::new();
    while text.len() < 20 * TEXT_BYTES {
        // Some words are said far more often than others.
        let word = &lexicon
            [rng.usize(0..lexicon.len()).min(rng.usize(0..lexicon.len())).min(rng.usize(0..lexicon.len()))];
        text.extend_from_slice(word.as_bytes());
        text.push(b' ');
    }
    text
}

pub(crate) fn free_port() -> Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

pub(crate) fn wait_for(port: u16) -> Result<()> {
    let watch = skurd_bench::Stopwatch::start();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        anyhow::ensure!(watch.elapsed().as_secs() < 10, "the web does not come up");
        std::thread::yield_now();
    }
    Ok(())
}

pub(crate) fn reset(port: u16, shape: &Shape) -> Result<()> {
    ask(port, &format!("/reset/{}", shape.pages)).map(drop)
}

/// Pages that were asked for since, each counted once.
pub(crate) fn seen(port: u16) -> Result<u64> {
    Ok(ask(port, "/seen")?.parse()?)
}

fn ask(port: u16, path: &str) -> Result<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: control\r\nConnection: close\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer.split_once("\r\n\r\n").context("no answer from the web")?.1.to_owned())
}
