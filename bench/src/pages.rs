//! The web that is harvested: `/p/N` on every address of the loopback network, each address being a host.
//!
//! Page N links to its twenty children, N × 20 + 1 and on, so that all are found from the first; pages without children link to others drawn
//! from their number. Answers are put together from a text made once, and written in one go.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Result;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::web::Web;

const LINKS: u64 = 20;
const TEXT_BYTES: usize = 18_500;
const HEAD_BYTES_MAX: usize = 16 << 10;

#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub hosts: u64,
    pub pages: u64,
}

impl Shape {
    pub fn host(n: u64) -> String {
        format!("127.0.{}.{}", n / 250, n % 250 + 1)
    }
}

/// How many pages a host has, and which were asked for.
struct State {
    pages: AtomicU64,
    asked: parking_lot::Mutex<std::collections::HashSet<(String, u64)>>,
    words: Vec<u8>,
}

pub fn serve(port: u16) -> Result<()> {
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

/// Forgets what was asked for, and gives every host so many pages.
pub fn reset(web: &Web, shape: &Shape) -> Result<()> {
    web.ask(&format!("/reset/{}", shape.pages)).map(drop)
}

/// Pages that were asked for since, each counted once.
pub fn seen(web: &Web) -> Result<u64> {
    Ok(web.ask("/seen")?.parse()?)
}
