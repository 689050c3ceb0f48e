//! What a harvest costs on a cluster (M11): calls over the network, and conflicts.
//!
//! Some nodes, each with a store, a frontier and a main loop of its own as `skurd` has them, share a
//! cluster; the web answers at once, with two new links a page, and the archive keeps nothing, so
//! that the store is all they wait for. They do it with few workers and with many: more workers make
//! larger batches. From that follows what a harvest pays for itself and what its batch shares: the
//! round trips are `own` for each harvest and `shared` for each transaction, as the least squares
//! over all runs have it. A begin is one round trip, and so is a read, be it of many rows; a commit
//! is two.
//!
//! `--pd HOST:PORT` (or `SKURD_TEST_PD`) is the placement driver, `--nodes`, `--hosts`, `--seconds`
//! the size. Everything is below a prefix of its own, and left there.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use frontier::ports::{
    AnswerFacts, Archive, CaptureKey, Clock, Fetch, Fetcher, Kept, Order, Outlink, Report,
};
use frontier::{Capture, End, Frontier, Harvested, Harvester, IDLE_MAX, StoreClock, Target, Witness};
use policy::catalog::Change;
use policy::model::{LinkKind, Politeness, Profile, Settings};
use policy::time::{Span, Time};
use policy::url::CrawlUrl;
use skurd_bench::{Stopwatch, number_flag, text_flag};
use store::{Options, Store};
use testkit::catalog::{collection, profile, put, seed};
use tokio::sync::watch;

const WORKERS: [usize; 4] = [4, 16, 64, 128];
/// Until the shards are divided, and every host has answered once.
const SETTLE: Duration = Duration::from_secs(8);

/// The placement driver's time is what counts; between two looks at it, this one's seconds.
struct Running(Stopwatch);

impl Clock for Running {
    fn now(&self) -> Time {
        Time(i64::try_from(self.0.elapsed().as_millis()).unwrap_or(i64::MAX))
    }
}

/// Pages 0, 1, 2, … of each host; page n links to 2n+1 and 2n+2.
fn url(host: &str, page: u64) -> Option<CrawlUrl> {
    CrawlUrl::from_normal(format!("http://{host}/{page}")).ok()
}

struct Web;

impl Fetcher for Web {
    type Exchange = String;

    async fn fetch(&self, order: &Order) -> (Report, Option<String>) {
        let page: u64 = order.url.as_str().rsplit('/').next().and_then(|page| page.parse().ok()).unwrap_or(0);
        let facts = AnswerFacts { status: 200, digest: Some("sha1:0".into()), ..AnswerFacts::default() };
        let mut report = Report::bare(order.due, Fetch::Answer(facts));
        let next = [2 * page + 1, 2 * page + 2].into_iter().filter_map(|page| url(&order.host, page));
        report.outlinks = next.map(|url| Outlink::new(url, LinkKind::Link)).collect();
        (report, Some(order.url.as_str().to_owned()))
    }
}

/// Says that it keeps them.
struct Nowhere(AtomicU64);

impl Archive<String> for Nowhere {
    async fn keep(&self, batch: &[(&Order, &String)]) -> Result<Kept, String> {
        let captures = batch.iter().map(|(order, url)| {
            let capture = Capture {
                url: (*url).clone(),
                file: "nowhere.warc.gz".to_owned(),
                offset: self.0.fetch_add(1, Ordering::Relaxed),
                length: 1,
                status: 200,
                mime: Some("text/html".to_owned()),
                digest: "sha1:0".to_owned(),
                revisit: false,
                ..Capture::default()
            };
            vec![(CaptureKey { surt: (*url).clone(), time: order.due }, capture)]
        });
        Ok(Kept { captures: captures.collect(), files: Vec::new() })
    }

    async fn abandon(&self) -> Result<(), String> {
        Ok(())
    }
}

#[derive(Default)]
struct Heard(AtomicU64);

impl Witness for Heard {
    fn harvested(&self, _: &Harvested<'_>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn turn(&self, _: usize) {}
}

fn declared(hosts: u64) -> Vec<Change> {
    let politeness =
        Politeness { factor: 0.0, min: Span(1), max: Span(1), parallel: 1, ..Politeness::default() };
    let mut changes = vec![
        put(Settings { politeness, ..Settings::default() }),
        put(collection("all")),
        put(Profile { length: Some(1), ..profile("once", "all") }),
    ];
    let seeds = (0..hosts).map(|n| put(seed(&format!("s{n}"), &format!("http://h{n}.test/0"), &["once"])));
    changes.extend(seeds);
    changes
}

fn open(address: &str) -> Result<Store> {
    let address = address.parse().map_err(|why| anyhow::anyhow!("{address}: {why}"))?;
    Ok(Store::open_cluster(&address, &Options::default())?)
}

fn frontier(store: &Store) -> Arc<Frontier> {
    let clock = StoreClock::new(Arc::new(Running(Stopwatch::start())));
    Arc::new(Frontier::new(store.clone(), Arc::new(clock), fastrand::u64(..)))
}

/// What was counted while a number of workers was at it.
#[derive(Clone, Copy, Default)]
struct Counts {
    harvests: f64,
    begins: f64,
    reads: f64,
    commits: f64,
    conflicts: f64,
}

impl Counts {
    #[allow(clippy::cast_precision_loss, reason = "counts of seconds")]
    fn of(stores: &[Store], heard: &Heard) -> Counts {
        let mut all = Counts { harvests: heard.0.load(Ordering::Relaxed) as f64, ..Counts::default() };
        for store in stores {
            let trips = store.round_trips();
            all.begins += trips.begins as f64;
            all.reads += (trips.gets + trips.multi_gets + trips.scans) as f64;
            all.commits += trips.commits as f64;
            all.conflicts += store.figures().conflicts as f64;
        }
        all
    }

    fn since(self, before: Counts) -> Counts {
        Counts {
            harvests: self.harvests - before.harvests,
            begins: self.begins - before.begins,
            reads: self.reads - before.reads,
            commits: self.commits - before.commits,
            conflicts: self.conflicts - before.conflicts,
        }
    }

    fn round_trips(self) -> f64 {
        self.begins + self.reads + 2.0 * self.commits
    }
}

/// What each harvest pays for itself, and what a transaction costs whatever is in it.
fn shares(runs: &[Counts]) -> (f64, f64) {
    let sum = |of: fn(&Counts) -> f64| runs.iter().map(of).sum::<f64>();
    let (hh, bb, hb) =
        (sum(|c| c.harvests * c.harvests), sum(|c| c.begins * c.begins), sum(|c| c.harvests * c.begins));
    let (ht, bt) = (sum(|c| c.harvests * c.round_trips()), sum(|c| c.begins * c.round_trips()));
    let whole = hh * bb - hb * hb;
    ((ht * bb - bt * hb) / whole, (bt * hh - ht * hb) / whole)
}

async fn run(stores: &[Store], workers: usize, seconds: u64) -> Result<Counts> {
    let heard = Arc::new(Heard::default());
    let (stop, stopped) = watch::channel(false);
    let mut nodes = Vec::new();
    for (number, store) in (1u64..).zip(stores) {
        let frontier = frontier(store);
        frontier.join(&format!("node {number}"), number).await?;
        let harvester = Harvester {
            frontier: Arc::clone(&frontier),
            fetcher: Arc::new(Web),
            archive: Arc::new(Nowhere(AtomicU64::new(0))),
            witness: Arc::clone(&heard),
            workers,
            idle_max: IDLE_MAX,
            end: End::default(),
        };
        let stopped = stopped.clone();
        nodes.push((frontier, tokio::spawn(async move { harvester.run(stopped).await })));
    }
    tokio::time::sleep(SETTLE).await;
    let before = Counts::of(stores, &heard);
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    let counts = Counts::of(stores, &heard).since(before);
    stop.send(true)?;
    for (frontier, node) in nodes {
        node.await?.map_err(|error| anyhow::anyhow!("{error}"))?;
        frontier.depart().await?;
    }
    Ok(counts)
}

fn main() -> Result<()> {
    let pd = text_flag("--pd").or_else(|| std::env::var("SKURD_TEST_PD").ok());
    let pd = pd.context("--pd HOST:PORT names no placement driver")?;
    let (nodes, hosts, seconds) =
        (number_flag("--nodes", 3), number_flag("--hosts", 400), number_flag("--seconds", 15));
    let address = format!("tikv://{pd}/bench-{:016x}?gc=off", fastrand::u64(..));
    let stores = (0..nodes).map(|_| open(&address)).collect::<Result<Vec<_>>>()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    println!("{nodes} nodes, {hosts} hosts, {seconds} s each, on {address}");
    println!(
        "workers  harvests/s  harvests/transaction  begins  reads  commits  round trips  conflicts  (a harvest)"
    );
    let mut runs = Vec::new();
    runtime.block_on(async {
        let someone = frontier(stores.first().context("--nodes 0")?);
        someone.declare(&declared(hosts)).await?;
        someone.start(&Target::Collection("all".into())).await?;
        for workers in WORKERS {
            let counts = run(&stores, workers, seconds).await?;
            let each = |count: f64| count / counts.harvests;
            #[allow(clippy::cast_precision_loss, reason = "seconds")]
            let rate = counts.harvests / seconds as f64;
            println!(
                "{workers:>7}  {rate:>10.0}  {:>20.1}  {:>6.2}  {:>5.2}  {:>7.2}  {:>11.2}  {:>9.3}",
                counts.harvests / counts.begins,
                each(counts.begins),
                each(counts.reads),
                each(counts.commits),
                each(counts.round_trips()),
                each(counts.conflicts)
            );
            runs.push(counts);
        }
        anyhow::Ok(())
    })?;
    let (own, shared) = shares(&runs);
    println!(
        "round trips of a harvest's own: {own:.2} (M11: at most 4); of a transaction, shared: {shared:.2}"
    );
    Ok(())
}
