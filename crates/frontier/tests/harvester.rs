//! The main loop over the ports, on paused time.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use frontier::ports::{
    AnswerFacts, Archive, CaptureKey, Clock, Fetch, Fetcher, FileEnd, Kept, Order, Outlink, Report,
};
use frontier::schema::CAPTURES;
use frontier::{
    ArchiveFile, Capture, End, ErrorKind, Frontier, Harvested, Harvester, IDLE_MAX, RunError, State, Tally,
    Target, Witness,
};
use parking_lot::Mutex;
use policy::model::{Limits, LinkKind, Politeness, Profile, Settings};
use policy::scope::{Scope, Within};
use policy::time::{Span, Time};
use policy::url::CrawlUrl;
use store::{Faults, Store};
use testkit::catalog::{collection, profile, put, seed};
use testkit::clock::{START, VirtualClock};
use tokio::sync::watch;

const PAGES: usize = 40;

/// Page N links to the next ten; some pages make the fetcher panic.
struct Web {
    clock: Arc<VirtualClock>,
    asked: Mutex<Vec<(Time, Time, String)>>,
    panics_at: Option<usize>,
    /// A page that takes its time, once.
    slow_once_at: Mutex<Option<(usize, Slow)>>,
    delay: Duration,
}

#[derive(Clone, Copy, PartialEq)]
enum Slow {
    /// So long, and then it is there.
    Answers(Duration),
    /// And never ends.
    Hangs,
    /// There is no answer, and its commit comes late.
    Nothing,
}

fn page(n: usize) -> CrawlUrl {
    CrawlUrl::from_normal(format!("https://host{}.test/{n}", n % 4)).unwrap()
}

fn number(order: &Order) -> usize {
    order.url.path()[1..].parse().unwrap()
}

impl Fetcher for Web {
    type Exchange = String;

    async fn fetch(&self, order: &Order) -> (Report, Option<String>) {
        let began = self.clock.now();
        tokio::time::sleep(self.delay).await;
        let n = number(order);
        assert!(self.panics_at != Some(n), "a page that breaks the fetcher");
        let slow = self.slow_once_at.lock().take_if(|(at, _)| *at == n);
        match slow {
            Some((_, Slow::Answers(time))) => tokio::time::sleep(time).await,
            Some((_, Slow::Hangs)) => std::future::pending().await,
            Some((_, Slow::Nothing)) => {
                return (Report::bare(self.clock.now(), Fetch::NoAnswer(ErrorKind::Timeout)), None);
            }
            None => {}
        }
        self.asked.lock().push((began, self.clock.now(), order.host.clone()));
        let facts = AnswerFacts { status: 200, ..AnswerFacts::default() };
        let mut report = Report::bare(self.clock.now(), Fetch::Answer(facts));
        report.response_time = Span(u64::try_from(self.delay.as_millis()).unwrap());
        report.outlinks =
            (n + 1..=n + 10).filter(|n| *n < PAGES).map(|n| Outlink::new(page(n), LinkKind::Link)).collect();
        (report, Some(order.url.as_str().to_owned()))
    }
}

/// A file of URLs, one after the other; what is not committed is cut off by `abandon`.
#[derive(Default)]
struct Shelf {
    rows: Mutex<Vec<String>>,
    batch_from: Mutex<usize>,
    /// A batch was kept, and neither settled nor abandoned.
    in_hand: Mutex<bool>,
    full_after: Option<usize>,
    /// No more rows than this are ever synced.
    syncs_up_to: Option<usize>,
    unsynced: Mutex<bool>,
    /// Lets the leases of one batch run out while it is being archived.
    dawdles: Mutex<Option<Duration>>,
    /// Only of one in which there is nothing to archive.
    dawdles_over_nothing: bool,
}

impl Archive<String> for Shelf {
    async fn keep(&self, batch: &[(&Order, &String)]) -> Result<Kept, String> {
        let now = batch.is_empty() || !self.dawdles_over_nothing;
        let dawdles = self.dawdles.lock().take_if(|_| now);
        if let Some(time) = dawdles {
            tokio::time::sleep(time).await;
        }
        let mut rows = self.rows.lock();
        *self.batch_from.lock() = rows.len();
        assert!(!std::mem::replace(&mut *self.in_hand.lock(), true), "one batch at a time");
        let mut captures = Vec::new();
        for (order, url) in batch {
            if self.full_after.is_some_and(|max| rows.len() >= max) {
                *self.in_hand.lock() = false;
                return Err("the disk is full".to_owned());
            }
            let capture = Capture {
                url: (*url).clone(),
                file: "shelf".into(),
                offset: rows.len() as u64,
                length: 1,
                status: 200,
                mime: Some("text/html".into()),
                digest: String::new(),
                revisit: false,
                ..Capture::default()
            };
            captures.push(vec![(CaptureKey { surt: (*url).clone(), time: order.due }, capture)]);
            rows.push((*url).clone());
        }
        *self.unsynced.lock() = true;
        let row = ArchiveFile { end: rows.len() as u64, ..ArchiveFile::default() };
        Ok(Kept { captures, files: vec![FileEnd { file: "shelf".into(), row }] })
    }

    async fn synced(&self) -> Result<(), String> {
        tokio::time::sleep(Duration::from_millis(5)).await;
        if self.syncs_up_to.is_some_and(|max| self.rows.lock().len() > max) {
            self.abandon().await?;
            return Err("the disk does not sync".to_owned());
        }
        *self.unsynced.lock() = false;
        Ok(())
    }

    fn settled(&self) {
        assert!(std::mem::take(&mut *self.in_hand.lock()), "A13: only what was kept is settled, and once");
    }

    async fn abandon(&self) -> Result<(), String> {
        assert!(std::mem::take(&mut *self.in_hand.lock()), "A13: what is settled is not taken back");
        let from = *self.batch_from.lock();
        self.rows.lock().truncate(from);
        *self.unsynced.lock() = false;
        Ok(())
    }
}

#[derive(Default)]
struct Ears(Mutex<Vec<String>>);

impl Witness for Ears {
    fn harvested(&self, harvested: &Harvested<'_>) {
        self.0.lock().push(harvested.order.url.as_str().to_owned());
    }

    fn turn(&self, _: usize) {}
}

struct Rig {
    harvester: Arc<Harvester<Web, Shelf, Ears>>,
    store: Store,
}

struct Setup {
    politeness: Politeness,
    lease: Span,
    panics_at: Option<usize>,
    slow_once_at: Option<(usize, Slow)>,
    shelf: Shelf,
    end: End,
    store: Store,
    delay: Duration,
    total_timeout: Span,
}

impl Default for Setup {
    fn default() -> Setup {
        Setup {
            politeness: Politeness {
                factor: 0.0,
                min: Span(100),
                max: Span(100),
                parallel: 1,
                ..Politeness::default()
            },
            lease: Span::minutes(30),
            panics_at: None,
            slow_once_at: None,
            total_timeout: Span::minutes(20),
            shelf: Shelf::default(),
            end: End { idle_for: Some(Span::seconds(10)), ..End::default() },
            store: Store::in_memory(1),
            delay: Duration::from_millis(30),
        }
    }
}

impl Setup {
    async fn rig(self) -> Rig {
        let clock = Arc::new(VirtualClock::at(START));
        let frontier = Frontier::new(self.store.clone(), Arc::clone(&clock) as Arc<dyn Clock>, 7);
        let scope = Scope { within: Within::Any, ..Scope::default() };
        let limits =
            Limits { backoff_base: Span::minutes(5), total_timeout: self.total_timeout, ..Limits::default() };
        let settings = Settings { politeness: self.politeness, lease: self.lease, ..Settings::default() };
        let changes = [
            put(settings),
            put(collection("all")),
            put(Profile { scope, length: Some(1), limits, ..profile("once", "all") }),
            put(seed("start", page(0).as_str(), &["once"])),
        ];
        frontier.declare(&changes).await.unwrap();
        frontier.recover().await.unwrap();
        let (rows, _) = frontier.urls(None, None, 1).await.unwrap();
        if rows.is_empty() {
            frontier.start(&Target::Collection("all".into())).await.unwrap();
        }
        let asked = Mutex::default();
        let harvester = Harvester {
            frontier: Arc::new(frontier),
            fetcher: Arc::new(Web {
                clock,
                asked,
                panics_at: self.panics_at,
                slow_once_at: Mutex::new(self.slow_once_at),
                delay: self.delay,
            }),
            archive: Arc::new(self.shelf),
            witness: Arc::new(Ears::default()),
            workers: 16,
            idle_max: IDLE_MAX,
            end: self.end,
        };
        Rig { harvester: Arc::new(harvester), store: self.store }
    }
}

impl Rig {
    async fn run(&self) -> Result<Tally, RunError> {
        let (_stop, stopped) = watch::channel(false);
        self.harvester.run(stopped).await
    }

    async fn states(&self) -> BTreeMap<String, State> {
        let (rows, rest) = self.harvester.frontier.urls(None, None, 1000).await.unwrap();
        assert!(rest.is_none());
        rows.into_iter().map(|row| (row.url, row.state)).collect()
    }

    fn shelf(&self) -> Vec<String> {
        self.harvester.archive.rows.lock().clone()
    }

    async fn is_sound(&self) {
        let findings = self.harvester.frontier.audit().await.unwrap();
        assert!(findings.findings.is_empty(), "{:?}", findings.findings);
        let shelf = self.shelf();
        let heard = self.harvester.witness.0.lock().clone();
        assert_eq!(shelf, heard, "what is archived is what was committed, in that order");
        assert_eq!(shelf.iter().collect::<BTreeSet<_>>().len(), shelf.len(), "nothing twice");
        let (captures, _) = self.harvester.frontier.captures("all", None, 1000).await.unwrap();
        let places: BTreeSet<u64> = captures.iter().map(|(_, _, capture)| capture.offset).collect();
        assert_eq!(places, (0..shelf.len() as u64).collect(), "captures table = archive");
        let end = self.harvester.frontier.archive_file("shelf").await.unwrap();
        assert_eq!(end.map_or(0, |row| row.end), shelf.len() as u64);
    }
}

#[tokio::test(start_paused = true)]
async fn f5_f7_every_page_is_harvested_once_and_politely() {
    let rig = Setup::default().rig().await;
    let tally = rig.run().await.unwrap();
    assert_eq!((tally.harvests, tally.captures, tally.added), (40, 40, 39));
    rig.is_sound().await;
    assert!(rig.states().await.values().all(|state| *state == State::Done));
    let mut by_host: BTreeMap<String, Vec<(Time, Time)>> = BTreeMap::new();
    for (began, ended, host) in rig.harvester.fetcher.asked.lock().iter() {
        by_host.entry(host.clone()).or_default().push((*began, *ended));
    }
    for (host, mut times) in by_host {
        times.sort();
        for pair in times.windows(2) {
            assert!(pair[1].0.since(pair[0].1) >= Span(100), "{host} was asked again too early: {pair:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn f8_a_host_takes_as_many_at_once_as_it_may_and_no_more() {
    let politeness =
        Politeness { factor: 0.0, min: Span(0), max: Span(0), parallel: 3, ..Politeness::default() };
    let rig = Setup { politeness, ..Setup::default() }.rig().await;
    rig.run().await.unwrap();
    rig.is_sound().await;
    let asked = rig.harvester.fetcher.asked.lock();
    let most = asked
        .iter()
        .map(|(began, _, host)| asked.iter().filter(|(b, e, h)| h == host && b <= began && began < e).count())
        .max();
    assert_eq!(most, Some(3));
}

/// Writers of other nodes win every race for a while, whatever is tried again.
#[tokio::test(start_paused = true)]
async fn m10_a_node_that_loses_every_race_for_a_while_goes_on_afterwards() {
    let rig = Setup::default().rig().await;
    rig.store.inject(Faults { conflict: 1.0, ..Faults::default() }).unwrap();
    let meanwhile = async {
        tokio::time::sleep(Duration::from_secs(5)).await;
        assert!(rig.store.figures().gave_up > 0, "it has lost");
        assert!(rig.harvester.fetcher.asked.lock().is_empty());
        rig.store.inject(Faults::default()).unwrap();
    };
    let (ran, ()) = tokio::join!(rig.run(), meanwhile);
    assert_eq!(ran.unwrap().harvests, 40);
    rig.is_sound().await;
}

/// Takes back what is past its lease, as another process on the same store would.
fn sweeper(rig: &Rig) -> tokio::task::JoinHandle<()> {
    let frontier = Arc::clone(&rig.harvester.frontier);
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(Duration::from_secs(10)).await;
            frontier.sweep().await.unwrap();
        }
    })
}

#[tokio::test(start_paused = true)]
async fn f6_harvests_that_lose_their_lease_while_archived_leave_no_trace() {
    let shelf = Shelf { dawdles: Mutex::new(Some(Duration::from_secs(90))), ..Shelf::default() };
    let rig = Setup { lease: Span::minutes(1), shelf, ..Setup::default() }.rig().await;
    let sweeper = sweeper(&rig);
    let tally = rig.run().await.unwrap();
    sweeper.abort();
    assert!(tally.leases_lost > 0, "{tally:?}");
    assert_eq!(tally.harvests, 40);
    rig.is_sound().await;
}

#[tokio::test(start_paused = true)]
async fn f6_f7_a_lost_lease_with_nothing_to_archive_leaves_the_batch_before_alone() {
    let dawdles = Mutex::new(Some(Duration::from_secs(90)));
    let shelf = Shelf { dawdles, dawdles_over_nothing: true, ..Shelf::default() };
    let slow_once_at = Some((20, Slow::Nothing));
    let rig = Setup { lease: Span::minutes(1), slow_once_at, shelf, ..Setup::default() }.rig().await;
    let sweeper = sweeper(&rig);
    let tally = rig.run().await.unwrap();
    sweeper.abort();
    assert!(tally.leases_lost > 0, "{tally:?}");
    assert_eq!(tally.harvests, 40);
    rig.is_sound().await;
}

/// The page keeps its worker for many leases, and is captured once, whoever sweeps.
#[tokio::test(start_paused = true)]
async fn f6_an_answer_that_takes_longer_than_a_lease_is_captured_once() {
    for (lease, takes) in [(Span::minutes(1), 90), (Span::minutes(30), 7200), (Span::seconds(1), 1000)] {
        let rig = Setup {
            lease,
            slow_once_at: Some((7, Slow::Answers(Duration::from_secs(takes)))),
            total_timeout: Span::hours(2),
            ..Setup::default()
        };
        let rig = rig.rig().await;
        let sweeper = sweeper(&rig);
        let tally = rig.run().await.unwrap();
        sweeper.abort();
        assert_eq!((tally.harvests, tally.captures, tally.leases_lost), (40, 40, 0), "{lease} {takes} s");
        rig.is_sound().await;
        let asked = rig.harvester.fetcher.asked.lock();
        assert_eq!(asked.len(), 40, "nothing was asked for twice");
    }
}

/// All workers at once, and all on one host and one group: the rows of many slots are renewed
/// together.
#[tokio::test(start_paused = true)]
async fn f6_many_leases_are_renewed_together() {
    let politeness =
        Politeness { factor: 0.0, min: Span(0), max: Span(0), parallel: 16, ..Politeness::default() };
    let rig =
        Setup { politeness, lease: Span::seconds(30), delay: Duration::from_secs(100), ..Setup::default() };
    let rig = rig.rig().await;
    let sweeper = sweeper(&rig);
    let tally = rig.run().await.unwrap();
    sweeper.abort();
    assert_eq!((tally.harvests, tally.captures, tally.leases_lost), (40, 40, 0));
    rig.is_sound().await;
}

/// F6: renewed for as long as its fetch keeps within its own limits, and no longer.
#[tokio::test(start_paused = true)]
async fn f6_a_fetch_beyond_its_limits_is_given_up_as_an_error_of_its_page() {
    let rig = Setup {
        lease: Span::minutes(1),
        slow_once_at: Some((39, Slow::Hangs)),
        total_timeout: Span::minutes(3),
        ..Setup::default()
    };
    let rig = rig.rig().await;
    let began = tokio::time::Instant::now();
    let tally = rig.run().await.unwrap();
    assert_eq!((tally.harvests, tally.captures, tally.leases_lost), (40, 39, 0));
    let took = began.elapsed();
    assert!(took > Duration::from_secs(360) && took < Duration::from_secs(3600), "{took:?}");
    let (rows, _) = rig.harvester.frontier.urls(None, None, 1000).await.unwrap();
    let given_up = rows.into_iter().find(|row| row.url == page(39).as_str()).unwrap();
    assert_eq!(given_up.state, State::Queued, "it comes again");
    let record = given_up.record.unwrap();
    assert_eq!(record.errors, 1);
    assert!(record.problem.unwrap().contains("longer than the limits"));
}

#[tokio::test(start_paused = true)]
async fn a11_a_page_that_breaks_the_fetcher_is_an_error_of_that_page() {
    // Long enough for its host to come back from its first backoff, not for its second.
    let end = End { idle_for: Some(Span::minutes(6)), ..End::default() };
    let rig = Setup { panics_at: Some(5), end, ..Setup::default() }.rig().await;
    let tally = rig.run().await.unwrap();
    assert_eq!((tally.harvests, tally.captures), (41, 39));
    let states = rig.states().await;
    assert_eq!(states[page(5).as_str()], State::Queued, "it comes again");
    assert_eq!(states.values().filter(|state| **state == State::Done).count(), 39);
}

#[tokio::test(start_paused = true)]
async fn f7_a_full_archive_ends_the_run_and_the_next_one_goes_on() {
    let shelf = Shelf { full_after: Some(7), ..Shelf::default() };
    let first = Setup { shelf, ..Setup::default() }.rig().await;
    let error = first.run().await.unwrap_err();
    assert!(error.to_string().contains("the disk is full"), "{error}");
    // What the next start does with an archive that is longer than the store says.
    let committed = first.harvester.frontier.archive_file("shelf").await.unwrap().map_or(0, |row| row.end);
    let mut kept = first.shelf();
    kept.truncate(usize::try_from(committed).unwrap());
    let heard = first.harvester.witness.0.lock().clone();
    assert_eq!(kept, heard);

    let shelf = Shelf { rows: Mutex::new(kept.clone()), ..Shelf::default() };
    let second = Setup { shelf, store: first.store.clone(), ..Setup::default() }.rig().await;
    second.harvester.witness.0.lock().extend(kept);
    second.run().await.unwrap();
    assert_eq!(second.shelf().len(), PAGES);
    second.is_sound().await;
}

#[tokio::test(start_paused = true)]
async fn f7_a13_nothing_is_committed_before_its_records_are_on_disk() {
    for syncs_up_to in [None, Some(0), Some(7)] {
        let shelf = Shelf { syncs_up_to, ..Shelf::default() };
        let rig = Setup { shelf, ..Setup::default() }.rig().await;
        let (archive, captures) = (Arc::clone(&rig.harvester.archive), CAPTURES.id());
        let told = Arc::new(Mutex::new(0));
        let count = Arc::clone(&told);
        rig.store
            .watch(move |rows| {
                let kept = rows.iter().filter(|(key, _)| key.first() == Some(&captures)).count();
                assert!(kept == 0 || !*archive.unsynced.lock(), "{kept} captures nobody has synced");
                *count.lock() += kept;
            })
            .unwrap();
        match (rig.run().await, syncs_up_to) {
            (Ok(tally), None) => assert_eq!(tally.captures, PAGES as u64),
            (Err(RunError::Archive(reason)), Some(_)) => assert_eq!(reason, "the disk does not sync"),
            (ended, _) => panic!("{ended:?}"),
        }
        assert_eq!(*told.lock(), rig.shelf().len());
        rig.is_sound().await;
    }
}

#[tokio::test(start_paused = true)]
async fn i1_a_run_ends_after_as_many_harvests_as_asked_for() {
    let end = End { max_harvests: Some(11), ..End::default() };
    let rig = Setup { end, ..Setup::default() }.rig().await;
    assert_eq!(rig.run().await.unwrap().harvests, 11);
    rig.is_sound().await;
}

#[tokio::test(start_paused = true)]
async fn i1_a_stop_lets_what_is_in_flight_come_home() {
    let rig = Setup { end: End::default(), ..Setup::default() }.rig().await;
    let (stop, stopped) = watch::channel(false);
    let harvester = Arc::clone(&rig.harvester);
    let run = tokio::spawn(async move { harvester.run(stopped).await });
    tokio::time::sleep(Duration::from_millis(500)).await;
    stop.send(true).unwrap();
    let tally = run.await.unwrap().unwrap();
    assert!(tally.harvests > 3 && tally.harvests < 40, "{tally:?}");
    assert!(rig.states().await.values().all(|state| *state != State::InFlight));
    rig.is_sound().await;
}

#[tokio::test(start_paused = true)]
async fn i1_a_stop_does_not_wait_for_ever() {
    let delay = Duration::from_secs(600);
    let rig = Setup { end: End::default(), delay, ..Setup::default() }.rig().await;
    let (stop, stopped) = watch::channel(false);
    let harvester = Arc::clone(&rig.harvester);
    let began = tokio::time::Instant::now();
    let run = tokio::spawn(async move { harvester.run(stopped).await });
    tokio::time::sleep(Duration::from_secs(1)).await;
    stop.send(true).unwrap();
    run.await.unwrap().unwrap();
    assert!(began.elapsed() < Duration::from_secs(60));
    // The reservation is left to the next start.
    assert_eq!(rig.harvester.frontier.recover().await.unwrap(), 1);
}
