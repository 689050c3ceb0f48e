//! How long questions take on a large index, first pages and pages deep inside.

use std::time::Duration;

use anyhow::Result;
use index::{By, Index, Seen};
use skurd_bench::Stopwatch;

use crate::web::Web;

const ROUNDS: u64 = 2000;
const LIMIT: usize = 100;
const DEEP_PAGES: usize = 50;

pub(crate) async fn run(index: &Index, web: &Web) -> Result<()> {
    let mut rng = fastrand::Rng::with_seed(5);
    let mut score = Cursor::default();
    let mut missing = Cursor::default();
    let mut times: Vec<(&str, Vec<Duration>)> = Vec::new();
    let mut note = |name: &'static str, watch: &Stopwatch| {
        let took = watch.elapsed();
        match times.iter_mut().find(|(known, _)| *known == name) {
            Some((_, times)) => times.push(took),
            None => times.push((name, vec![took])),
        }
    };
    for _ in 0..ROUNDS {
        let id = rng.u64(0..web.pages);
        let (page, popular) = (web.uri(id), web.uri(rng.u64(0..100) * 100));
        let watch = Stopwatch::start();
        score.turn(index.top(By::Score, score.after(), LIMIT).await?.next);
        note("top by score", &watch);
        let watch = Stopwatch::start();
        missing.turn(index.missing(missing.after(), LIMIT).await?.next);
        note("missing", &watch);
        let watch = Stopwatch::start();
        index.top_domains(None, LIMIT).await?;
        note("top domains", &watch);
        let watch = Stopwatch::start();
        index.domain_pages(page.domain(), None, LIMIT).await?;
        note("a domain's pages", &watch);
        let watch = Stopwatch::start();
        index.inlinks(&page, Seen::default(), None, LIMIT).await?;
        note("inlinks", &watch);
        let watch = Stopwatch::start();
        index.inlinks(&popular, Seen::default(), None, LIMIT).await?;
        note("inlinks, popular", &watch);
        let watch = Stopwatch::start();
        index.outlinks(&page, None, LIMIT).await?;
        note("outlinks", &watch);
        let watch = Stopwatch::start();
        index.page(&page).await?;
        note("counts of a page", &watch);
    }
    println!("(e) {LIMIT} entries a page, {ROUNDS} times each, random pages: ms");
    for (name, mut times) in times {
        times.sort_unstable();
        let at = |share: usize| times[(times.len() - 1) * share / 100].as_secs_f64() * 1000.0;
        println!("    {name:<20} p50 {:>7.3}  p99 {:>7.3}  max {:>7.3}", at(50), at(99), at(100));
    }
    Ok(())
}

/// Pages through a list, and begins again after a while.
#[derive(Default)]
struct Cursor {
    after: Option<String>,
    turns: usize,
}

impl Cursor {
    fn after(&self) -> Option<&str> {
        self.after.as_deref()
    }

    fn turn(&mut self, next: Option<String>) {
        self.turns += 1;
        self.after = if self.turns.is_multiple_of(DEEP_PAGES) { None } else { next };
    }
}
