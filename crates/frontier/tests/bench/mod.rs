//! A frontier on a clock that is moved by hand, and what is declared in most tests.

#![allow(dead_code, unreachable_pub, unused_imports, reason = "each test binary uses its own part of it")]

use std::sync::Arc;

use frontier::ports::{AnswerFacts, CaptureKey, Clock, Fetch, Order, Outlink, Report};
use frontier::schema::{LATEST, Latest};
use frontier::{Capture, Completed, Frontier, Situation, State, Target};
use policy::Rule;
use policy::catalog::Change;
use policy::model::{Limits, LinkKind, Profile};
use policy::time::Span;
use policy::url::CrawlUrl;
use store::contract::fresh;
use store::{Options, Store};
use testkit::catalog;

pub use testkit::catalog::{collection, put, seed};
pub use testkit::clock::{ManualClock, START};

pub struct Bench {
    pub frontier: Frontier,
    pub clock: Arc<ManualClock>,
    pub store: Store,
}

impl Bench {
    pub fn on(store: Store) -> Bench {
        let clock = Arc::new(ManualClock::default());
        let frontier = Frontier::new(store.clone(), Arc::clone(&clock) as Arc<dyn Clock>, 1);
        Bench { frontier, clock, store }
    }

    pub fn pass(&self, span: Span) {
        self.clock.advance(span);
    }

    pub async fn declare(&self, changes: impl IntoIterator<Item = Change>) {
        let changes: Vec<Change> = changes.into_iter().collect();
        self.frontier.declare(&changes).await.unwrap();
    }

    pub async fn start(&self, collection: &str) {
        self.frontier.start(&Target::Collection(collection.into())).await.unwrap();
    }

    pub async fn reserve(&self, wanted: usize) -> Vec<Order> {
        self.frontier.reserve(wanted).await.unwrap().orders
    }

    /// The one order there is.
    pub async fn next(&self) -> Order {
        let mut orders = self.reserve(10).await;
        assert_eq!(orders.len(), 1, "{:?}", orders.iter().map(|o| o.url.as_str()).collect::<Vec<_>>());
        orders.remove(0)
    }

    pub async fn answer(&self, order: &Order, status: u16, links: &[&str]) -> Completed {
        let facts = AnswerFacts { status, digest: Some("sha".into()), ..AnswerFacts::default() };
        let mut report = Report::bare(self.clock.now(), Fetch::Answer(facts));
        report.response_time = Span(100);
        report.outlinks = links.iter().map(|link| Outlink::new(url(link), LinkKind::Link)).collect();
        self.complete(order, &report).await
    }

    pub async fn fail(&self, order: &Order, result: Fetch) -> Completed {
        self.complete(order, &Report::bare(self.clock.now(), result)).await
    }

    pub async fn complete(&self, order: &Order, report: &Report) -> Completed {
        let key = CaptureKey { surt: order.url.as_str().into(), time: report.at };
        let capture = Capture {
            url: order.url.as_str().into(),
            file: "a.warc.gz".into(),
            offset: order.lease,
            length: 10,
            status: 200,
            mime: Some("text/html".into()),
            digest: "sha".into(),
            revisit: false,
            ..Capture::default()
        };
        let captures =
            if matches!(report.result, Fetch::Answer(_)) { vec![(key, capture)] } else { Vec::new() };
        let completed = self.frontier.complete(order, report, &captures).await.unwrap();
        self.sound().await;
        completed
    }

    /// Rows of the last harvests, as another process may have left them.
    pub async fn put_latest(&self, keys: impl Iterator<Item = (i64, u64)>) {
        let row = Latest {
            collection: "news".into(),
            url: "https://a.no/".into(),
            status: None,
            error: None,
            bytes: 0,
        };
        let tx = self.store.begin().await.unwrap();
        keys.for_each(|key| LATEST.put(&tx, key, &row).unwrap());
        self.store.commit(&tx).await.unwrap();
    }

    pub async fn sound(&self) {
        assert_eq!(self.frontier.audit().await.unwrap().findings, Vec::<String>::new());
    }

    pub async fn states(&self) -> Vec<(String, String, State)> {
        let (rows, rest) = self.frontier.urls(None, None, 1000).await.unwrap();
        assert!(rest.is_none());
        rows.into_iter().map(|row| (row.collection, row.url, row.state)).collect()
    }

    pub async fn why(&self, link: &str) -> (Situation, Rule) {
        let mut why = self.frontier.why(&url(link), Some("news")).await.unwrap();
        let why = why.remove(0);
        (why.situation, why.verdict.unwrap().0)
    }
}

pub fn url(text: &str) -> CrawlUrl {
    CrawlUrl::from_normal(text).unwrap()
}

/// Daily, and quick to give up.
pub fn profile(name: &str, collection: &str) -> Profile {
    Profile {
        limits: Limits { max_not_found: 1, blacklist_for: Some(Span::days(7)), ..Limits::default() },
        ..catalog::profile(name, collection)
    }
}

/// One collection, one daily profile, one seed.
pub fn basic() -> Vec<Change> {
    vec![put(collection("news")), put(profile("daily", "news")), put(seed("a", "https://a.no/", &["daily"]))]
}

/// Runs a scenario on the in-memory engine, or a cluster (`store::contract::fresh`), and on disk.
pub fn both<F, Fut>(scenario: F)
where
    F: Fn(Bench) -> Fut,
    Fut: Future<Output = ()>,
{
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(scenario(Bench::on(fresh(1))));
    let dir = tempfile::TempDir::new().unwrap();
    let options = Options { disk_reserve_bytes: 0, ..Options::default() };
    runtime.block_on(scenario(Bench::on(Store::open(dir.path(), &options).unwrap())));
}
