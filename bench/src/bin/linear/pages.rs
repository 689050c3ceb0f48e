//! The web that is walked: `/p/N` is a page of about 2 KB, for every N.

use std::collections::HashSet;
use std::sync::Arc;

use anyhow::Result;
use skurd_bench::web::Web;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const TEXT_BYTES: usize = 1900;
const HEAD_BYTES_MAX: usize = 16 << 10;

struct State {
    asked: parking_lot::Mutex<HashSet<u64>>,
    words: String,
}

pub(crate) fn serve(port: u16) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await?;
        let state = Arc::new(State { asked: parking_lot::Mutex::default(), words: words() });
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
        while !buffer.ends_with(b"\r\n\r\n") {
            anyhow::ensure!(buffer.len() < HEAD_BYTES_MAX, "a head too long");
            if stream.read_buf(&mut buffer).await? == 0 {
                return Ok(());
            }
        }
        let head = String::from_utf8_lossy(&buffer);
        let path = head.split(' ').nth(1).unwrap_or("/");
        let body = match path.strip_prefix("/p/").and_then(|n| n.parse::<u64>().ok()) {
            Some(n) => {
                state.asked.lock().insert(n);
                let from = usize::try_from(n * 7919 % 10_000)?;
                let text = &state.words[from..from + TEXT_BYTES];
                format!(
                    "<!DOCTYPE html><html><head><title>Notice {n}</title></head><body><p>{text}</p></body></html>\n"
                )
            }
            None => control(path, state),
        };
        let close = head.contains("Connection: close");
        let answer = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        buffer.clear();
        stream.write_all(answer.as_bytes()).await?;
        if close {
            return Ok(());
        }
    }
}

fn control(path: &str, state: &State) -> String {
    let mut asked = state.asked.lock();
    match path {
        "/reset" => asked.clear(),
        "/seen" => return asked.len().to_string(),
        _ => {}
    }
    String::new()
}

/// Text that packs about as well as prose does.
fn words() -> String {
    let mut rng = fastrand::Rng::with_seed(1);
    let lexicon: Vec<String> =
        (0..2000).map(|_| (0..rng.usize(2..10)).map(|_| rng.lowercase()).collect()).collect();
    let mut text = String::new();
    while text.len() < 20_000 {
        // Some words are said far more often than others.
        text.push_str(&lexicon[rng.usize(0..lexicon.len()).min(rng.usize(0..lexicon.len()))]);
        text.push(' ');
    }
    text
}

pub(crate) fn reset(web: &Web) -> Result<()> {
    web.ask("/reset").map(drop)
}

/// Ids that were asked for since, each counted once.
pub(crate) fn seen(web: &Web) -> Result<u64> {
    Ok(web.ask("/seen")?.parse()?)
}
