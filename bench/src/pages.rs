//! The web that is harvested: `/p/N` on every address of the loopback network, each address being a
//! host.
//!
//! Page N links to its twenty children, N × 20 + 1 and on, so that all are found from the first;
//! pages without children link to others drawn from their number. Answers are put together from a
//! text made once, and written in one go.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Result;
use parking_lot::Mutex;
use testkit::web::Answer;

use crate::web::{self, Web};

const LINKS: u64 = 20;
const TEXT_BYTES: usize = 18_500;

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
    asked: Mutex<HashSet<(String, u64)>>,
    words: Vec<u8>,
}

pub fn serve(port: u16) -> Result<()> {
    let state =
        State { pages: AtomicU64::new(0), asked: Mutex::default(), words: words(4000, 3, 20 * TEXT_BYTES) };
    web::serve(([0, 0, 0, 0], port).into(), move |ask| match ask.path.strip_prefix("/p/").map(str::parse) {
        Some(Ok(n)) if n < state.pages.load(Ordering::Relaxed) => {
            state.asked.lock().insert((ask.host.clone(), n));
            page(n, &state)
        }
        _ => control(&ask.path, &state),
    })
}

fn control(path: &str, state: &State) -> Answer {
    if let Some(pages) = path.strip_prefix("/reset/") {
        state.pages.store(pages.parse().unwrap_or(0), Ordering::Relaxed);
        state.asked.lock().clear();
        Answer::text("reset")
    } else if path == "/seen" {
        Answer::text(&state.asked.lock().len().to_string())
    } else {
        Answer::of(404, &[], "")
    }
}

fn page(n: u64, state: &State) -> Answer {
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
    Answer::html(body)
}

/// Text that packs about as well as prose does: words of a lexicon, the first of so many draws.
pub fn words(lexicon: usize, draws: usize, bytes: usize) -> Vec<u8> {
    let mut rng = fastrand::Rng::with_seed(1);
    let lexicon: Vec<String> =
        (0..lexicon).map(|_| (0..rng.usize(2..10)).map(|_| rng.lowercase()).collect()).collect();
    let mut text = Vec::new();
    while text.len() < bytes {
        // Some words are said far more often than others.
        let first = (0..draws).map(|_| rng.usize(0..lexicon.len())).min();
        text.extend_from_slice(lexicon[first.unwrap_or(0)].as_bytes());
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
