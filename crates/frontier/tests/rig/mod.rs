//! The real loop over a web that a test makes up, on paused time.

#![allow(dead_code, unreachable_pub, reason = "each test binary uses its own part of it")]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use frontier::ports::{
    AnswerFacts, Archive, CaptureKey, Clock, Fetch, Fetcher, FileEnd, Kept, Order, Outlink, Report,
};
use frontier::{
    ArchiveFile, Capture, End, Frontier, Harvested, Harvester, IDLE_MAX, QueueRow, Tally, Target, Witness,
};
use parking_lot::Mutex;
use policy::catalog::Change;
use policy::model::{Collection, Limits, LinkKind, Politeness, Profile, Settings};
use policy::scope::{Scope, Within};
use policy::time::{Span, Time};
use policy::url::CrawlUrl;
use store::Store;
use testkit::catalog::{collection, profile, put, seed};
use testkit::clock::{START, VirtualClock};
use tokio::sync::watch;

/// What the web has to say to an order, and after which time.
pub struct Reply {
    pub after: Duration,
    pub report: Report,
}

/// When a fetch began and ended, and of what.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Asked {
    pub began: Time,
    pub ended: Time,
    pub host: String,
    pub url: String,
}

type Answers = dyn Fn(&Order, Time) -> Reply + Send + Sync;

pub struct Web {
    pub clock: Arc<VirtualClock>,
    answers: Box<Answers>,
    /// The web's own log.
    pub log: Mutex<Vec<Asked>>,
}

impl Fetcher for Web {
    type Exchange = String;

    async fn fetch(&self, order: &Order) -> (Report, Option<String>) {
        let began = self.clock.now();
        let Reply { after, mut report } = (self.answers)(order, began);
        tokio::time::sleep(after).await;
        report.at = self.clock.now();
        let (host, url) = (order.host.clone(), order.url.as_str().to_owned());
        self.log.lock().push(Asked { began, ended: report.at, host, url: url.clone() });
        let exchange = matches!(report.result, Fetch::Answer(_)).then_some(url);
        (report, exchange)
    }
}

/// Answers at once.
pub fn answered(status: u16, links: impl IntoIterator<Item = String>) -> Reply {
    let facts = AnswerFacts { status, ..AnswerFacts::default() };
    let mut report = Report::bare(Time(0), Fetch::Answer(facts));
    report.response_time = Span(10);
    let link = |text: String| Outlink::new(CrawlUrl::from_normal(text).unwrap(), LinkKind::Link);
    report.outlinks = links.into_iter().map(link).collect();
    Reply { after: Duration::from_millis(10), report }
}

/// A file of URLs, one after the other; what is not committed is cut off by `abandon`.
#[derive(Default)]
pub struct Shelf {
    pub rows: Mutex<Vec<String>>,
    batch_from: Mutex<usize>,
}

impl Archive<String> for Shelf {
    async fn keep(&self, batch: &[(&Order, &String)]) -> Result<Kept, String> {
        let mut rows = self.rows.lock();
        *self.batch_from.lock() = rows.len();
        let mut captures = Vec::new();
        for (order, url) in batch {
            let capture = Capture {
                url: (*url).clone(),
                file: "shelf".into(),
                offset: rows.len() as u64,
                length: 1,
                status: 200,
                mime: None,
                digest: String::new(),
                revisit: false,
                ..Capture::default()
            };
            captures.push(vec![(CaptureKey { surt: (*url).clone(), time: order.due }, capture)]);
            rows.push((*url).clone());
        }
        let row = ArchiveFile { end: rows.len() as u64, ..ArchiveFile::default() };
        Ok(Kept { captures, files: vec![FileEnd { file: "shelf".into(), row }] })
    }

    async fn abandon(&self) -> Result<(), String> {
        let from = *self.batch_from.lock();
        self.rows.lock().truncate(from);
        Ok(())
    }
}

#[derive(Default)]
pub struct Ears(pub Mutex<Vec<String>>);

impl Witness for Ears {
    fn harvested(&self, harvested: &Harvested<'_>) {
        self.0.lock().push(harvested.order.url.as_str().to_owned());
    }

    fn turn(&self, _: usize) {}
}

pub type Loop = Harvester<Web, Shelf, Ears>;

/// What is declared: one collection `all`, one profile, and a seed for each URL.
pub struct World {
    pub settings: Settings,
    pub limits: Limits,
    pub every: Span,
    pub length: Option<u32>,
    pub index: bool,
    pub seeds: Vec<String>,
    pub workers: usize,
    pub end: End,
}

impl Default for World {
    fn default() -> World {
        let politeness =
            Politeness { factor: 0.0, min: Span(100), max: Span(100), parallel: 1, ..Politeness::default() };
        World {
            settings: Settings { politeness, ..Settings::default() },
            limits: Limits::default(),
            every: Span::days(1),
            length: Some(1),
            index: false,
            seeds: Vec::new(),
            workers: 16,
            end: End { idle_for: Some(Span::seconds(10)), ..End::default() },
        }
    }
}

impl World {
    fn declared(&self) -> Vec<Change> {
        let profile = Profile {
            scope: Scope { within: Within::Any, ..Scope::default() },
            every: self.every,
            length: self.length,
            limits: self.limits.clone(),
            ..profile("once", "all")
        };
        let mut changes = vec![
            put(self.settings.clone()),
            put(Collection { index: self.index, ..collection("all") }),
            put(profile),
        ];
        changes.extend(self.seeds.iter().map(|url| put(seed(url, url, &["once"]))));
        changes
    }

    /// A loop over this world and a web that answers so, everything started.
    pub async fn rig(self, answers: impl Fn(&Order, Time) -> Reply + Send + Sync + 'static) -> Arc<Loop> {
        let clock = Arc::new(VirtualClock::at(START));
        let frontier = Frontier::new(Store::in_memory(1), Arc::clone(&clock) as Arc<dyn Clock>, 7);
        frontier.declare(&self.declared()).await.unwrap();
        frontier.start(&Target::Collection("all".into())).await.unwrap();
        Arc::new(Harvester {
            frontier: Arc::new(frontier),
            fetcher: Arc::new(Web { clock, answers: Box::new(answers), log: Mutex::default() }),
            archive: Arc::new(Shelf::default()),
            witness: Arc::new(Ears::default()),
            workers: self.workers,
            idle_max: IDLE_MAX,
            end: self.end,
        })
    }
}

pub async fn run(rig: &Loop) -> Result<Tally, frontier::RunError> {
    let (_stop, stopped) = watch::channel(false);
    rig.run(stopped).await
}

/// All known URLs.
pub async fn rows(rig: &Loop) -> BTreeMap<String, QueueRow> {
    let (mut all, mut rest) = (BTreeMap::new(), None);
    loop {
        let (rows, next) = rig.frontier.urls(None, rest, 10_000).await.unwrap();
        all.extend(rows.into_iter().map(|row| (row.url.clone(), row)));
        if next.is_none() {
            return all;
        }
        rest = next;
    }
}

/// The tables agree with each other, and the archive with them.
pub async fn is_sound(rig: &Loop) {
    let findings = rig.frontier.audit().await.unwrap().findings;
    assert!(findings.is_empty(), "{findings:?}");
    let shelf = rig.archive.rows.lock().clone();
    let (captures, rest) = rig.frontier.captures("all", None, 10_000).await.unwrap();
    assert!(rest.is_none());
    let mut kept: Vec<_> = captures.into_iter().map(|(_, _, row)| (row.offset, row.url)).collect();
    kept.sort();
    assert_eq!(kept.into_iter().map(|(_, url)| url).collect::<Vec<_>>(), shelf);
}
