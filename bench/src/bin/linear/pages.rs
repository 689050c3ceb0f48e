//! The web that is walked: `/p/N` is a page of about 2 KB, for every N.

use std::collections::HashSet;

use anyhow::Result;
use parking_lot::Mutex;
use skurd_bench::pages::words;
use skurd_bench::web::{self, Web};
use testkit::web::Answer;

const TEXT_BYTES: usize = 1900;

pub(crate) fn serve(port: u16) -> Result<()> {
    let asked = Mutex::new(HashSet::new());
    let words = String::from_utf8(words(2000, 2, 20_000))?;
    web::serve(([127, 0, 0, 1], port).into(), move |ask| {
        match (ask.path.as_str(), ask.path.strip_prefix("/p/").map(str::parse::<u64>)) {
            (_, Some(Ok(n))) => {
                asked.lock().insert(n);
                page(n, &words)
            }
            ("/reset", _) => {
                asked.lock().clear();
                Answer::text("reset")
            }
            ("/seen", _) => Answer::text(&asked.lock().len().to_string()),
            _ => Answer::html(""),
        }
    })
}

fn page(n: u64, words: &str) -> Answer {
    let from = usize::try_from(n * 7919 % 10_000).unwrap_or(0);
    let text = &words[from..from + TEXT_BYTES];
    Answer::html(format!(
        "<!DOCTYPE html><html><head><title>Notice {n}</title></head><body><p>{text}</p></body></html>\n"
    ))
}

pub(crate) fn reset(web: &Web) -> Result<()> {
    web.ask("/reset").map(drop)
}

/// Ids that were asked for since, each counted once.
pub(crate) fn seen(web: &Web) -> Result<u64> {
    Ok(web.ask("/seen")?.parse()?)
}
