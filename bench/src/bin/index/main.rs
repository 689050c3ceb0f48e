//! The link index from load to rest, on the embedded store with two cores.
//!
//! (a) first load of `--pages` pages with 20 to 50 links, Zipf targets; bytes per link; memory
//! (b) the same pages again, a tenth of them changed
//! (c) hot page: `--hot` pages link to one, against the same with a target each
//! (d) hot domain: `--uris` URIs in one domain, against the same in ten thousand
//! (e) queries on the index of (a): p50 and p99 of each
//!
//! `--only abcde` chooses, `--workers N` sets the observers, `--buffer-mib N` the store's write
//! buffer.

mod queries;
mod web;

use std::path::Path;

use anyhow::Result;
use index::{Index, Load, Page, Uri, Workers};
use policy::time::Time;
use skurd_bench::{Stopwatch, cpu_seconds, memory_mib, number_flag, scratch, text_flag};
use store::{Durability, Options, Store};

use web::{Web, uri};

/// Pages loaded in one transaction, as a busy harvest commits them.
const BATCH: u64 = 64;
/// Pages that may wait for their observers; then loading pauses.
const AHEAD_MAX: u64 = 20_000;
const SPREAD_DOMAINS: u64 = 10_000;
const LINKS_PER_HUB: u64 = 50;

fn main() -> Result<()> {
    let pages = number_flag("--pages", 1_000_000);
    let hot = number_flag("--hot", 100_000);
    let uris = number_flag("--uris", 1_000_000);
    let workers = usize::try_from(number_flag("--workers", 2))?;
    let only = text_flag("--only").unwrap_or_else(|| "abcde".into());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build()?;
    runtime.block_on(async {
        if only.contains(['a', 'b', 'e']) {
            whole_web(pages, workers, &only).await?;
        }
        if only.contains('c') {
            hot_page(hot, workers).await?;
        }
        if only.contains('d') {
            hot_domain(uris, workers).await?;
        }
        Ok(())
    })
}

struct Bench {
    dir: tempfile::TempDir,
    index: Index,
    workers: usize,
}

impl Bench {
    async fn new(workers: usize) -> Result<Bench> {
        let dir = scratch()?;
        // As `skurd index load` has it.
        let write_buffer_bytes = number_flag("--buffer-mib", Options::bulk().write_buffer_bytes >> 20) << 20;
        let store = Store::open(dir.path(), &Options { write_buffer_bytes, ..Options::default() })?;
        Ok(Bench { index: Index::open(&store, "bench").await?, dir, workers })
    }

    /// Loads what `page` gives for each number, with the observers at work, and returns when all is
    /// at rest.
    async fn load(&self, count: u64, at: i64, page: impl Fn(u64) -> (Uri, Page)) -> Result<()> {
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let observers = Workers::new(&self.index, self.workers);
        let observers = tokio::spawn(async move { observers.run(async { drop(stopped.await) }).await });
        let before = self.index.metrics().pages;
        let mut changed = 0;
        for first in (0..count).step_by(usize::try_from(BATCH)?) {
            let batch: Vec<(Uri, Page)> = (first..(first + BATCH).min(count)).map(&page).collect();
            let loads: Vec<Load<'_>> =
                batch.iter().map(|(uri, page)| Load { uri, page: Some(page), at: Time(at) }).collect();
            let (index, loads) = (&self.index, &loads);
            let load = index.store().transact(|tx| async move {
                tx.set_durability(Durability::Relaxed);
                index.load_many(&tx, loads).await
            });
            let done = load.await?;
            changed += done.iter().filter(|loaded| **loaded == index::Loaded::Changed).count() as u64;
            while changed > self.index.metrics().pages - before + AHEAD_MAX {
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
        }
        self.index.to_rest().await?;
        self.index.store().sync().await?;
        let _ = stop.send(());
        Ok(observers.await??)
    }
}

async fn whole_web(pages: u64, workers: usize, only: &str) -> Result<()> {
    let bench = Bench::new(workers).await?;
    let web = Web { pages };
    let (watch, cpu) = (Stopwatch::start(), cpu_seconds());
    bench.load(pages, 1, |id| (web.uri(id), web.page(id, 0))).await?;
    let totals = bench.index.totals().await?;
    let metrics = bench.index.metrics();
    println!(
        "(a) first load: {pages} pages, {} links, {} URIs in {} domains: {:.0} links/s ({:.1} s, {:.1} CPU s)",
        totals.links,
        totals.uris,
        totals.domains,
        watch.per_second(totals.links),
        watch.elapsed().as_secs_f64(),
        cpu_seconds() - cpu,
    );
    println!(
        "    {} batches of {:.0} updates, {} conflicts; {} bytes a link on disk; memory {:?} MiB (now, peak)",
        metrics.batches,
        metrics.updates as f64 / metrics.batches as f64,
        metrics.conflicts,
        bytes_under(bench.dir.path())? / totals.links,
        memory_mib(),
    );
    if only.contains('b') {
        let before = bench.index.metrics().updates;
        let (watch, cpu) = (Stopwatch::start(), cpu_seconds());
        bench.load(pages, 2, |id| (web.uri(id), web.page(id, u64::from(id % 10 == 3)))).await?;
        println!(
            "(b) again, a tenth changed: {:.0} pages/s, {:.0} links/s seen, {:.0} links/s changed ({:.1} s, {:.1} CPU s)",
            watch.per_second(pages),
            watch.per_second(totals.links),
            watch.per_second(bench.index.metrics().updates - before),
            watch.elapsed().as_secs_f64(),
            cpu_seconds() - cpu,
        );
    }
    if only.contains('e') {
        queries::run(&bench.index, &web).await?;
    }
    Ok(())
}

async fn hot_page(pages: u64, workers: usize) -> Result<()> {
    let source = |n: u64| uri(&format!("http://www.site{:06}.com/page/{n}.html", n / 50));
    let run = async |hot: bool| -> Result<f64> {
        let bench = Bench::new(workers).await?;
        let watch = Stopwatch::start();
        let load = bench.load(pages, 1, |n| {
            let target = if hot { 0 } else { n };
            let target = uri(&format!("http://www.target{:06}.com/page/{target}.html", target / 50));
            (source(n), Page::new([(target, "the one".to_owned())]))
        });
        load.await?;
        Ok(watch.per_second(pages))
    };
    let (hot, spread) = (run(true).await?, run(false).await?);
    println!(
        "(c) {pages} pages, one link each: to one page {hot:.0}/s, spread {spread:.0}/s, ratio {:.2}",
        hot / spread
    );
    Ok(())
}

async fn hot_domain(uris: u64, workers: usize) -> Result<()> {
    let run = async |domains: u64| -> Result<f64> {
        let bench = Bench::new(workers).await?;
        let watch = Stopwatch::start();
        let load = bench.load(uris / LINKS_PER_HUB, 1, |hub| {
            let links = (0..LINKS_PER_HUB).map(|n| {
                let n = web::mix(hub * LINKS_PER_HUB + n);
                (
                    uri(&format!("http://www.domain{:05}.com/page/{n:016x}.html", n % domains)),
                    "a page".to_owned(),
                )
            });
            (uri(&format!("http://hub{hub}.org/")), Page::new(links.collect::<Vec<_>>()))
        });
        load.await?;
        Ok(watch.per_second(uris))
    };
    let (hot, spread) = (run(1).await?, run(SPREAD_DOMAINS).await?);
    println!(
        "(d) {uris} URIs: in one domain {hot:.0}/s, in {SPREAD_DOMAINS} {spread:.0}/s, ratio {:.2}",
        hot / spread
    );
    Ok(())
}

fn bytes_under(dir: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        let about = entry.metadata()?;
        bytes += if about.is_dir() { bytes_under(&entry.path())? } else { about.len() };
    }
    Ok(bytes)
}
