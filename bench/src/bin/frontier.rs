//! The frontier on the embedded store, at three sizes: does the cost per operation stay flat?
//!
//! Hosts are a hundredth of the URLs. Each size is filled once, in a process of its own, and left
//! alone until its tables are merged. Then all sizes are measured in turns, several rounds, each
//! time in a new process on the same store (the smaller ones on a copy, so that they stay small),
//! since the speed of a machine wanders by more than what is to be shown. A measurement is: the
//! time to open the store and be ready to reserve; discovered URLs accepted per second (batches of
//! 50 outlinks, half of them known), once with known links as pages have them (few targets are
//! linked to often, most rarely: Zipf) and once drawn evenly from all, the worst case; full cycles
//! reserve → complete per second with 64 workers; memory. The medians count. Sizes are 100,000 and
//! tenfold up to `--urls`. A filled store is measured too: what its tables take on disk for each
//! URL, once they are merged (its journals, of a fixed size, are told apart).

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context, Result};
use frontier::ports::{AnswerFacts, CaptureKey, Clock, Fetch, Order, Outlink, Report};
use frontier::{Capture, Completed, Frontier, Target};
use policy::catalog::Change;
use policy::model::{LinkKind, Politeness, Profile, Settings};
use policy::scope::{Scope, Within};
use policy::time::{Span, Time};
use policy::url::CrawlUrl;
use skurd_bench::{Stopwatch, cpu_seconds, memory_mib, number_flag, scratch, text_flag};
use store::{Options, Store};
use testkit::catalog::{collection, profile, put, seed};
use testkit::clock::ManualClock;

const BATCH: u64 = 50;
const WORKERS: u64 = 64;
const URLS_PER_HOST: u64 = 100;
/// What is measured, the same at every size: long enough that rows are written out as tables, and
/// merged, a few times.
const PAGES: u64 = 5_000;
const CYCLES: u64 = 20_000;

fn url(n: u64, hosts: u64) -> Result<CrawlUrl> {
    // Neighbours are on different hosts, as the links of a page are.
    let (host, page) = (n % hosts, n / hosts);
    Ok(CrawlUrl::from_normal(format!(
        "https://host{host:06}.example{:03}.org/section/page-{page:08}",
        host % 500
    ))?)
}

fn declared() -> Vec<Change> {
    let profile = Profile {
        scope: Scope { within: Within::Any, ..Scope::default() },
        every: Span::days(30),
        ..profile("monthly", "all")
    };
    let politeness =
        Politeness { factor: 0.0, min: Span(1), max: Span(1), parallel: 1, ..Politeness::default() };
    vec![
        put(Settings { politeness, ..Settings::default() }),
        put(collection("all")),
        put(profile),
        put(seed("start", "https://start.example.org/", &["monthly"])),
    ]
}

struct Rig {
    frontier: Arc<Frontier>,
    /// Virtual, so that politeness costs no time: it moves on with every reservation.
    clock: Arc<ManualClock>,
    hosts: u64,
}

impl Rig {
    async fn open(dir: &Path, hosts: u64, start: i64) -> Result<Rig> {
        let store = Store::open(dir, &Options::default())?;
        let clock = Arc::new(ManualClock::at(Time(start)));
        let frontier = Arc::new(Frontier::new(store, Arc::clone(&clock) as Arc<dyn Clock>, 1));
        frontier.recover().await?;
        Ok(Rig { frontier, clock, hosts })
    }

    fn report(&self, links: Vec<Outlink>) -> Report {
        let facts = AnswerFacts { status: 200, digest: Some("sha1:0".into()), ..AnswerFacts::default() };
        let mut report = Report::bare(self.clock.now(), Fetch::Answer(facts));
        report.outlinks = links;
        report
    }

    async fn finish(&self, order: &Order, links: Vec<Outlink>) -> Result<u64> {
        let report = self.report(links);
        let capture = Capture {
            url: order.url.as_str().into(),
            file: "bench-00001.warc.gz".into(),
            offset: order.lease,
            length: 1000,
            status: 200,
            mime: Some("text/html".into()),
            digest: "sha1:0".into(),
            revisit: false,
            ..Capture::default()
        };
        let key = CaptureKey { surt: order.url.as_str().into(), time: report.at };
        match self.frontier.complete(order, &report, &[(key, capture)]).await? {
            Completed::Done(summary) => Ok(summary.added),
            Completed::LeaseLost => anyhow::bail!("a lease was lost"),
        }
    }

    /// Orders for as many workers, letting virtual time pass until there are some.
    async fn orders(&self, wanted: usize) -> Result<Vec<Order>> {
        loop {
            let reserved = self.frontier.reserve(wanted).await?;
            if !reserved.orders.is_empty() {
                return Ok(reserved.orders);
            }
            let next =
                reserved.next.map_or(self.clock.now().0 + 1, |next| next.0.max(self.clock.now().0 + 1));
            self.clock.set(Time(next));
        }
    }

    /// Harvests whose pages bring `links_of(k)`, 64 at a time; returns the harvests and the URLs
    /// they added.
    async fn harvest(
        self: &Arc<Self>,
        harvests: u64,
        links_of: impl Fn(u64) -> Result<Vec<Outlink>>,
    ) -> Result<(u64, u64)> {
        let mut working = tokio::task::JoinSet::new();
        let (mut begun, mut added) = (0, 0);
        while begun < harvests || !working.is_empty() {
            let free = WORKERS - working.len() as u64;
            let wanted = free.min(harvests - begun);
            if wanted > WORKERS / 2 || (wanted > 0 && begun + wanted == harvests) {
                let wanted = usize::try_from(wanted)?;
                for order in self.orders(wanted).await? {
                    let links = links_of(begun)?;
                    begun += 1;
                    let rig = Arc::clone(self);
                    working.spawn(async move { rig.finish(&order, links).await });
                }
            }
            while let Some(done) = working.try_join_next() {
                added += done??;
            }
            if let Some(done) = working.join_next().await {
                added += done??;
            }
        }
        Ok((begun, added))
    }

    fn links(&self, numbers: impl Iterator<Item = u64>) -> Result<Vec<Outlink>> {
        numbers.map(|n| Ok(Outlink::new(url(n, self.hosts)?, LinkKind::Link))).collect()
    }
}

/// Waits until the store has merged what the fill left behind: a frontier of this size grows over
/// weeks, not in a minute.
async fn settle() {
    let mut before = cpu_seconds();
    for _ in 0..180 {
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        let now = cpu_seconds();
        if now - before < 0.1 {
            return;
        }
        before = now;
    }
}

/// Known URLs as links name them.
#[derive(Clone, Copy)]
enum Known {
    /// The n-th of all URLs is linked to with a weight of 1/n.
    Zipf,
    Evenly,
}

impl Known {
    fn draw(self, rng: &mut fastrand::Rng, known: u64) -> u64 {
        match self {
            Known::Evenly => rng.u64(0..known),
            #[allow(clippy::cast_possible_truncation, reason = "below `known`")]
            Known::Zipf => {
                let rank = (known as f64).powf(rng.f64()) as u64;
                // The popular ones are on all hosts.
                rank.wrapping_mul(0x9E37_79B1) % known
            }
        }
    }
}

/// What one process tells the one that started it.
#[derive(Clone, Debug, Default, PartialEq)]
struct Figures {
    next: u64,
    clock: u64,
    reopened_ms: f64,
    zipf: f64,
    evenly: f64,
    cycles: f64,
    memory: f64,
    peak: f64,
}

impl Figures {
    fn write(&self) -> String {
        let Figures { next, clock, reopened_ms, zipf, evenly, cycles, memory, peak } = self;
        format!("{next} {clock} {reopened_ms} {zipf} {evenly} {cycles} {memory} {peak}")
    }

    fn read(text: &str) -> Result<Figures> {
        let numbers: Vec<f64> = text.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
        let whole: Vec<u64> = text.split_whitespace().take(2).map(str::parse).collect::<Result<_, _>>()?;
        let ([next, clock], [_, _, reopened_ms, zipf, evenly, cycles, memory, peak]) =
            (whole.as_slice(), numbers.as_slice())
        else {
            anyhow::bail!("a measurement said {text:?}");
        };
        Ok(Figures {
            next: *next,
            clock: *clock,
            reopened_ms: *reopened_ms,
            zipf: *zipf,
            evenly: *evenly,
            cycles: *cycles,
            memory: *memory,
            peak: *peak,
        })
    }
}

const START: u64 = 1_767_571_200_000;

/// Fills a new store with `urls` URLs by harvesting pages that link to them.
async fn fill(dir: &Path, urls: u64) -> Result<Figures> {
    let hosts = (urls / URLS_PER_HOST).max(1);
    let rig = Arc::new(Rig::open(dir, hosts, START.cast_signed()).await?);
    rig.frontier.declare(&declared()).await?;
    rig.frontier.start(&Target::Collection("all".into())).await?;
    let next = AtomicU64::new(0);
    let fresh = |count: u64| next.fetch_add(count, Ordering::Relaxed);
    // The first page must bring enough hosts for all workers.
    rig.harvest(1, |_| rig.links(fresh(2_000)..2_000)).await?;
    let pages = urls.saturating_sub(2_000) / 200;
    rig.harvest(pages, |_| {
        let first = fresh(200);
        rig.links(first..first + 200)
    })
    .await?;
    settle().await;
    let (memory, peak) = memory_mib();
    Ok(Figures {
        next: next.load(Ordering::Relaxed),
        clock: rig.clock.now().0.cast_unsigned(),
        memory: memory as f64,
        peak: peak as f64,
        ..Figures::default()
    })
}

/// One measurement of a filled store.
async fn measure(dir: &Path, urls: u64, next: u64, clock: u64) -> Result<Figures> {
    let hosts = (urls / URLS_PER_HOST).max(1);
    let watch = Stopwatch::start();
    let rig = Arc::new(Rig::open(dir, hosts, clock.cast_signed()).await?);
    for order in rig.orders(1).await? {
        rig.finish(&order, Vec::new()).await?;
    }
    let reopened_ms = watch.elapsed().as_secs_f64() * 1000.0;
    let next = AtomicU64::new(next);
    // What a process knows after its first minute.
    rig.discover(&next, PAGES / 2, Known::Zipf).await?;
    let zipf = rig.discover(&next, PAGES, Known::Zipf).await?;
    let evenly = rig.discover(&next, PAGES, Known::Evenly).await?;
    let watch = Stopwatch::start();
    rig.harvest(CYCLES, |_| Ok(Vec::new())).await?;
    let cycles = watch.per_second(CYCLES);
    let (memory, peak) = memory_mib();
    Ok(Figures {
        next: next.load(Ordering::Relaxed),
        clock: rig.clock.now().0.cast_unsigned(),
        reopened_ms,
        zipf,
        evenly,
        cycles,
        memory: memory as f64,
        peak: peak as f64,
    })
}

impl Rig {
    /// Batches of 50 links, half of them known; returns links per second.
    async fn discover(self: &Arc<Self>, next: &AtomicU64, pages: u64, known: Known) -> Result<f64> {
        let (half, all) = (BATCH / 2, next.load(Ordering::Relaxed));
        let mut rng = fastrand::Rng::with_seed(all);
        let old: Vec<u64> = (0..pages * half).map(|_| known.draw(&mut rng, all)).collect();
        let watch = Stopwatch::start();
        let (_, added) = self
            .harvest(pages, |page| {
                let first = next.fetch_add(half, Ordering::Relaxed);
                let at = usize::try_from(page * half)?;
                let known = old[at..at + usize::try_from(half)?].iter().copied();
                self.links((first..first + half).chain(known))
            })
            .await?;
        anyhow::ensure!(added == pages * half, "{added} URLs were added");
        Ok(watch.per_second(pages * BATCH))
    }
}

/// A size that is filled.
struct Filled {
    urls: u64,
    dir: PathBuf,
    fill: Figures,
    last: Figures,
    rounds: Vec<Figures>,
    bytes: OnDisk,
}

/// What a filled store takes.
struct OnDisk {
    tables: u64,
    journals: u64,
}

impl OnDisk {
    fn of(dir: &Path) -> Result<OnDisk> {
        let mut sum = OnDisk { tables: 0, journals: 0 };
        for entry in std::fs::read_dir(dir)? {
            let entry = entry?;
            let path = entry.path();
            if entry.file_type()?.is_dir() {
                let inside = OnDisk::of(&path)?;
                sum.tables += inside.tables;
                sum.journals += inside.journals;
            } else if path.extension().is_some_and(|ending| ending == "jnl") {
                sum.journals += entry.metadata()?.len();
            } else {
                sum.tables += entry.metadata()?.len();
            }
        }
        Ok(sum)
    }
}

/// Stores up to this size are measured on a copy.
const COPIED_MAX: u64 = 1_000_000;

impl Filled {
    fn round(&mut self) -> Result<()> {
        if self.urls > COPIED_MAX {
            let figures = child("measure", &self.dir, self.urls, &self.last)?;
            self.last = figures.clone();
            self.rounds.push(figures);
            return Ok(());
        }
        let copy = tempfile::TempDir::new_in(self.dir.parent().unwrap_or(&self.dir))?;
        copy_dir(&self.dir, copy.path())?;
        self.rounds.push(child("measure", copy.path(), self.urls, &self.fill)?);
        Ok(())
    }

    fn median(&self, of: impl Fn(&Figures) -> f64) -> f64 {
        let mut all: Vec<f64> = self.rounds.iter().map(of).collect();
        all.sort_by(f64::total_cmp);
        all.get(all.len() / 2).copied().unwrap_or(f64::NAN)
    }

    fn most(&self, of: impl Fn(&Figures) -> f64) -> f64 {
        self.rounds.iter().map(of).fold(0.0, f64::max)
    }
}

fn copy_dir(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_dir(&entry.path(), &target)?;
        } else {
            std::fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// Runs this binary for one step.
fn child(step: &str, dir: &Path, urls: u64, before: &Figures) -> Result<Figures> {
    let output = std::process::Command::new(std::env::current_exe()?)
        .args(["--step", step, "--store"])
        .arg(dir)
        .args(["--only", &urls.to_string()])
        .args(["--next", &before.next.to_string(), "--clock", &before.clock.to_string()])
        .stderr(std::process::Stdio::inherit())
        .output()?;
    anyhow::ensure!(output.status.success(), "{step} of {urls} URLs failed");
    Figures::read(&String::from_utf8_lossy(&output.stdout))
}

fn step(step: &str) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build()?;
    let dir = PathBuf::from(text_flag("--store").context("--store")?);
    let urls = number_flag("--only", 0);
    let figures = match step {
        "fill" => runtime.block_on(fill(&dir, urls))?,
        _ => runtime.block_on(measure(&dir, urls, number_flag("--next", 0), number_flag("--clock", 0)))?,
    };
    println!("{}", figures.write());
    Ok(())
}

fn main() -> Result<()> {
    if let Some(name) = text_flag("--step") {
        return step(&name);
    }
    let largest = number_flag("--urls", 10_000_000);
    // One size alone, to look at it closely.
    let only = number_flag("--only", 0);
    let tenfold = std::iter::successors(Some(100_000), |urls| Some(urls * 10));
    let sizes: Vec<u64> =
        if only > 0 { vec![only] } else { tenfold.take_while(|urls| *urls <= largest).collect() };
    let scratch = scratch()?;
    let mut filled = Vec::new();
    for urls in sizes {
        let dir = scratch.path().join(urls.to_string());
        std::fs::create_dir(&dir)?;
        let watch = Stopwatch::start();
        let fill = child("fill", &dir, urls, &Figures::default())?;
        let bytes = OnDisk::of(&dir)?;
        println!(
            "{urls:>10} URLs filled and merged in {:.0} s, memory {} MiB (peak {}), {} bytes on disk for each, and {} MB of journals",
            watch.elapsed().as_secs_f64(),
            fill.memory,
            fill.peak,
            bytes.tables / urls,
            bytes.journals / 1_000_000,
        );
        filled.push(Filled { urls, dir, last: fill.clone(), fill, rounds: Vec::new(), bytes });
    }
    for _ in 0..number_flag("--rounds", 5) {
        filled.iter_mut().try_for_each(Filled::round)?;
    }
    print(&filled);
    Ok(())
}

fn print(filled: &[Filled]) {
    let Some(small) = filled.first() else { return };
    println!(
        "      URLs | discovered/s  cost | evenly drawn/s  cost | cycles/s  cost | memory, most | reopened in, longest | bytes a URL"
    );
    for size in filled {
        let rate = |of: fn(&Figures) -> f64| (size.median(of), small.median(of) / size.median(of));
        let (zipf, zipf_cost) = rate(|round| round.zipf);
        let (evenly, evenly_cost) = rate(|round| round.evenly);
        let (cycles, cycle_cost) = rate(|round| round.cycles);
        println!(
            "{:>10} | {zipf:>12.0} {zipf_cost:>5.2} | {evenly:>14.0} {evenly_cost:>5.2} | {cycles:>8.0} {cycle_cost:>5.2} | {:>8.0} MiB | {:.2} s | {}",
            size.urls,
            size.most(|round| round.peak),
            size.most(|round| round.reopened_ms) / 1000.0,
            size.bytes.tables / size.urls,
        );
    }
}
