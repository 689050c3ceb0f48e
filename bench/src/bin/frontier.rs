//! The frontier on the embedded store, at three sizes: does the cost per operation stay flat?
//!
//! Hosts are a hundredth of the URLs. At every size, once the tables of the fill are merged, it measures: discovered URLs
//! accepted per second (batches of 50 outlinks, half of them known), full cycles reserve → complete per second with 64
//! workers, memory, and the time to open the store again and be ready to reserve.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use anyhow::Result;
use frontier::ports::{AnswerFacts, CaptureKey, Clock, Fetch, Order, Outlink, Report};
use frontier::schema::Capture;
use frontier::{Completed, Frontier, Target};
use policy::catalog::Change;
use policy::model::{Collection, Limits, LinkKind, Politeness, Profile, RobotsPolicy, Seed, Settings};
use policy::scope::{Scope, Within};
use policy::time::{Span, Time};
use policy::url::CrawlUrl;
use skurd_bench::{Stopwatch, cpu_seconds, memory_mib, number_flag, scratch};
use store::{Options, Store};

const BATCH: u64 = 50;
const WORKERS: u64 = 64;
const URLS_PER_HOST: u64 = 100;

/// Virtual, so that politeness costs no time: it moves on with every reservation.
struct BenchClock(AtomicI64);

impl Clock for BenchClock {
    fn now(&self) -> Time {
        Time(self.0.load(Ordering::Relaxed))
    }
}

fn url(n: u64, hosts: u64) -> Result<CrawlUrl> {
    // Neighbours are on different hosts, as the links of a page are.
    let (host, page) = (n % hosts, n / hosts);
    Ok(CrawlUrl::from_normal(format!(
        "https://host{host:06}.example{:03}.org/section/page-{page:08}",
        host % 500
    ))?)
}

fn declared() -> Vec<Change> {
    let collection = Collection {
        name: "all".into(),
        active: true,
        user_agent: None,
        headers: Vec::new(),
        cookies: Vec::new(),
        warc_prefix: None,
        index: false,
    };
    let profile = Profile {
        name: "monthly".into(),
        active: true,
        collection: "all".into(),
        scope: Scope { within: Within::Any, ..Scope::default() },
        every: Span::days(30),
        length: None,
        ttl: None,
        robots: RobotsPolicy::Obey,
        limits: Limits::default(),
    };
    let seed = Seed {
        name: "start".into(),
        url: "https://start.example.org/".into(),
        active: true,
        profiles: vec!["monthly".into()],
    };
    let politeness = Politeness { factor: 0.0, min: Span(1), max: Span(1), parallel: 1 };
    vec![
        Change::PutSettings(Box::new(Settings { politeness, ..Settings::default() })),
        Change::PutCollection(collection),
        Change::PutProfile(Box::new(profile)),
        Change::PutSeed(seed),
    ]
}

struct Rig {
    frontier: Arc<Frontier>,
    clock: Arc<BenchClock>,
    hosts: u64,
}

impl Rig {
    async fn open(dir: &Path, hosts: u64, start: i64) -> Result<Rig> {
        let store = Store::open(dir, &Options::default())?;
        let clock = Arc::new(BenchClock(AtomicI64::new(start)));
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
            self.clock.0.store(next, Ordering::Relaxed);
        }
    }

    /// Harvests whose pages bring `links_of(k)`, 64 at a time; returns the harvests and the URLs they added.
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
        numbers.map(|n| Ok(Outlink { url: url(n, self.hosts)?, kind: LinkKind::Link })).collect()
    }
}

/// Waits until the store has merged what the fill left behind: a frontier of this size grows over weeks, not in a minute.
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

/// Fills a new store with `urls` URLs by harvesting pages that link to them, and measures at that size.
async fn measure(urls: u64) -> Result<[f64; 2]> {
    let dir = scratch()?;
    let hosts = (urls / URLS_PER_HOST).max(1);
    let rig = Arc::new(Rig::open(dir.path(), hosts, 1_767_571_200_000).await?);
    rig.frontier.declare(&declared()).await?;
    rig.frontier.start(&Target::Collection("all".into())).await?;

    let next = AtomicU64::new(0);
    let fresh = |count: u64| next.fetch_add(count, Ordering::Relaxed);
    // The first page must bring enough hosts for all workers.
    rig.harvest(1, |_| rig.links(fresh(2_000)..2_000)).await?;
    let watch = Stopwatch::start();
    let pages = urls.saturating_sub(2_000) / 200;
    rig.harvest(pages, |_| {
        let first = fresh(200);
        rig.links(first..first + 200)
    })
    .await?;
    let filled = watch.elapsed();
    settle().await;

    // Batches of 50 links, half of them known.
    let pages = 20_000.min(urls / 10);
    let known = next.load(Ordering::Relaxed);
    let watch = Stopwatch::start();
    let mut rng = fastrand::Rng::with_seed(1);
    let old: Vec<u64> = (0..pages * BATCH / 2).map(|_| rng.u64(0..known)).collect();
    let (_, added) = rig
        .harvest(pages, |page| {
            let first = fresh(BATCH / 2);
            let at = usize::try_from(page * BATCH / 2)?;
            let known = old[at..at + usize::try_from(BATCH / 2)?].iter().copied();
            rig.links((first..first + BATCH / 2).chain(known))
        })
        .await?;
    let discovered = watch.per_second(pages * BATCH);
    anyhow::ensure!(added == pages * BATCH / 2, "{added} URLs were added");

    // Full cycles without links.
    let cycles = 50_000.min(urls / 4);
    let watch = Stopwatch::start();
    rig.harvest(cycles, |_| Ok(Vec::new())).await?;
    let cycled = watch.per_second(cycles);

    let (now, peak) = memory_mib();
    let clock = rig.clock.now().0;
    let figures = rig.frontier.store().figures();
    drop(rig);
    let watch = Stopwatch::start();
    let rig = Rig::open(dir.path(), hosts, clock).await?;
    rig.orders(1).await?;
    let reopened = watch.elapsed();
    println!(
        "{urls:>9} URLs, {hosts:>6} hosts: filled in {:.0} s; {discovered:.0} discovered URLs/s; {cycled:.0} cycles/s; \
         memory {now} MiB (peak {peak}); reopened in {:.2} s; {} conflicts in {} commits",
        filled.as_secs_f64(),
        reopened.as_secs_f64(),
        figures.conflicts,
        figures.commits,
    );
    Ok([discovered, cycled])
}

fn main() -> Result<()> {
    let largest = number_flag("--urls", 10_000_000);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build()?;
    let mut first: Option<[f64; 2]> = None;
    // One size alone, to look at it closely.
    let only = number_flag("--only", 0);
    let sizes = if only > 0 { vec![only] } else { vec![100_000, 1_000_000, 10_000_000] };
    for urls in sizes.into_iter().filter(|urls| *urls <= largest) {
        let rates = runtime.block_on(measure(urls))?;
        let base = *first.get_or_insert(rates);
        println!(
            "          cost against the smallest: discovery {:.2}, cycles {:.2}",
            base[0] / rates[0],
            base[1] / rates[1]
        );
    }
    Ok(())
}
