//! Skurd against its peers on a loopback web: pages of about 20 KB with 20 links each.
//!
//! The web is a process of its own (this binary with `--serve`), so that everybody pays for it
//! alike. Each peer harvests the whole web, from an empty directory; a run counts only if the web
//! saw every page. Two webs: 20,000 pages of one host, and 200 hosts of 100 pages. Runs alternate,
//! and the medians count (of memory the most). `--skurd FILE` is the binary to measure, `--only
//! NAME` runs the lines whose name contains it, `--rounds N` says how often.

mod hyper_client;
mod peers;

use anyhow::Result;
use skurd_bench::pages::{self, Shape};
use skurd_bench::web::Web;
use skurd_bench::{median, number_flag, text_flag};

use peers::{Run, peers};

fn main() -> Result<()> {
    if let Some(port) = text_flag("--serve") {
        return pages::serve(port.parse()?);
    }
    let count = number_flag("--pages", 20_000);
    let hosts = number_flag("--hosts", 200);
    let only = text_flag("--only").unwrap_or_default();
    let rounds = number_flag("--rounds", 1);
    let shapes = [Shape { hosts: 1, pages: count }, Shape { hosts, pages: count / hosts }];
    for shape in shapes {
        let web = Web::start()?;
        println!("{} pages on {} host(s), {rounds} round(s)", shape.pages * shape.hosts, shape.hosts);
        println!(
            "  {:<34} {:>9} {:>8} {:>12} {:>9} {:>11} {:>11}",
            "", "pages/s", "of wget2", "CPU ms/page", "peak MiB", "archive MB", "written MB"
        );
        let mut peers = peers(&shape, web.port)?;
        peers.retain(|peer| peer.name.contains(&only));
        let mut runs: Vec<Vec<Seen>> = peers.iter().map(|_| Vec::new()).collect();
        for _ in 0..rounds {
            for (peer, runs) in peers.iter().zip(&mut runs) {
                pages::reset(&web, &shape)?;
                match peer.run() {
                    Ok(run) => runs.push(Seen { pages: pages::seen(&web)?, run }),
                    Err(error) => println!("  {:<34} {error:#}", peer.name),
                }
            }
        }
        let measured = || peers.iter().map(|peer| peer.name.as_str()).zip(&runs);
        let yardstick = measured().find(|(name, _)| name.starts_with("wget2")).map(|(_, runs)| rate(runs));
        measured().for_each(|(name, runs)| report(name, runs, yardstick, &shape));
    }
    Ok(())
}

/// A run, and how many pages the web saw of it.
struct Seen {
    run: Run,
    pages: u64,
}

fn of(runs: &[Seen], figure: impl Fn(&Seen) -> f64) -> f64 {
    median(&runs.iter().map(figure).collect::<Vec<_>>())
}

#[allow(clippy::cast_precision_loss, reason = "a rate")]
fn rate(runs: &[Seen]) -> f64 {
    of(runs, |seen| seen.pages as f64 / seen.run.seconds)
}

#[allow(clippy::cast_precision_loss, reason = "told, not counted with")]
fn report(name: &str, runs: &[Seen], yardstick: Option<f64>, shape: &Shape) {
    let Some(fewest) = runs.iter().map(|seen| seen.pages).min() else { return };
    let all = shape.hosts * shape.pages;
    let short = if fewest < all { format!("  ONLY {fewest} OF {all} PAGES") } else { String::new() };
    let ratio = yardstick.map_or(String::new(), |other| format!("{:.2}", rate(runs) / other));
    let cpu = of(runs, |seen| seen.run.cpu_seconds * 1000.0 / seen.pages.max(1) as f64);
    let peak = runs.iter().map(|seen| seen.run.peak_mib).max().unwrap_or(0);
    let archive = of(runs, |seen| seen.run.archive_bytes as f64 / 1e6);
    let written = of(runs, |seen| seen.run.written_bytes as f64 / 1e6);
    println!(
        "  {name:<34} {:>9.0} {ratio:>8} {cpu:>12.3} {peak:>9} {archive:>11.1} {written:>11.1}{short}",
        rate(runs)
    );
}
