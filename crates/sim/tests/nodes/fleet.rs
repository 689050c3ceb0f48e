//! Nodes that live, die, stop and go on.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use frontier::ports::{Archive, CaptureKey, Clock, FileEnd, Kept, Order};
use frontier::{
    ArchiveFile, Capture, End, Frontier, Harvested, Harvester, IDLE_MAX, RunError, StoreClock, Tally, Target,
    Witness,
};
use parking_lot::Mutex;
use policy::model::{DeclaredWalk, Politeness, Profile, Settings};
use policy::scope::{Scope, Within};
use policy::time::Span;
use policy::walk::{Draft, WalkSettings};
use sim::VirtualClock;
use store::{Faults, Store};
use testkit::catalog::{collection, profile, put, seed};
use testkit::clock::START;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::commits::Commits;
use crate::town::{Asker, Town, Web, url};

pub(crate) const DELAY: Span = Span::seconds(1);
pub(crate) const LEASE: Span = Span::seconds(30);
/// Longer than anything here takes: each page is harvested once.
pub(crate) const EVERY: Span = Span::days(1);
pub(crate) const WALK_HOST: &str = "walk.test";

fn walk_name(walk: usize) -> String {
    format!("walk {walk}")
}

/// Whose shard a walk belongs to: it takes turns with no other.
pub(crate) fn round_of(walk: usize) -> String {
    format!("walk {}", walk_name(walk))
}

/// The archive of one node: outlives its processes.
pub(crate) struct Shelf {
    file: String,
    rows: Mutex<Vec<String>>,
    batch_from: Mutex<usize>,
}

impl Archive<String> for Shelf {
    async fn keep(&self, batch: &[(&Order, &String)]) -> Result<Kept, String> {
        let mut rows = self.rows.lock();
        *self.batch_from.lock() = rows.len();
        let mut captures = Vec::new();
        for (_, url) in batch {
            let capture = Capture {
                url: (*url).clone(),
                file: self.file.clone(),
                offset: rows.len() as u64,
                length: 1,
                status: 200,
                mime: None,
                digest: String::new(),
                revisit: false,
                ..Capture::default()
            };
            let key = CaptureKey { surt: (*url).clone(), time: START };
            captures.push(vec![(key, capture)]);
            rows.push((*url).clone());
        }
        let row = ArchiveFile { end: rows.len() as u64, ..ArchiveFile::default() };
        Ok(Kept { captures, files: vec![FileEnd { file: self.file.clone(), row }] })
    }

    async fn abandon(&self) -> Result<(), String> {
        let from = *self.batch_from.lock();
        self.rows.lock().truncate(from);
        Ok(())
    }
}

#[derive(Default)]
pub(crate) struct Heard(pub(crate) Mutex<u64>);

impl Witness for Heard {
    fn harvested(&self, _: &Harvested<'_>) {
        *self.0.lock() += 1;
    }

    fn turn(&self, _: usize) {}
}

pub(crate) struct Node {
    /// As this process has it: what it queues for, others do not know of.
    pub(crate) store: Store,
    pub(crate) frontier: Arc<Frontier>,
    pub(crate) stopped: watch::Sender<bool>,
    pub(crate) run: JoinHandle<Result<Tally, RunError>>,
}

pub(crate) struct Fleet {
    pub(crate) store: Store,
    pub(crate) clock: Arc<VirtualClock>,
    pub(crate) web: Arc<Web>,
    /// Looks on, and is no node.
    pub(crate) observer: Frontier,
    pub(crate) nodes: BTreeMap<String, Node>,
    pub(crate) commits: Option<Arc<Mutex<Commits>>>,
    shelves: BTreeMap<String, (u64, Arc<Shelf>)>,
    pub(crate) heard: Arc<Heard>,
    pub(crate) rng: fastrand::Rng,
    pub(crate) workers: usize,
}

impl Fleet {
    pub(crate) async fn new(seed_of_all: u64, town: Town, walks: usize) -> Fleet {
        let store = Store::in_memory(seed_of_all);
        let clock = Arc::new(VirtualClock::at(START));
        let time = Arc::clone(&clock);
        store.keep_time(move || time.now().0).unwrap();
        let observer = Frontier::new(store.clone(), Arc::clone(&clock) as Arc<dyn Clock>, seed_of_all);
        let scope = Scope { within: Within::Any, ..Scope::default() };
        let politeness =
            Politeness { factor: 0.0, min: DELAY, max: DELAY, parallel: 1, ..Politeness::default() };
        let mut changes = vec![
            put(Settings { politeness, lease: LEASE, ..Settings::default() }),
            put(collection("all")),
            // Again and again: so every harvest makes a promise for about the same time (F31).
            put(Profile { scope, every: EVERY, ..profile("pages", "all") }),
        ];
        // Every host is there from the start, so that all have something to do at once.
        changes.extend((0..town.hosts).map(|host| put(seed(&format!("s{host}"), &url(host, 0), &["pages"]))));
        for walk in 0..walks {
            let template = format!("https://{WALK_HOST}/{walk}/{{id}}");
            let draft = Draft { template, min: Some(1), margin: Some(3), ..Draft::default() };
            changes.push(put(DeclaredWalk {
                name: walk_name(walk),
                active: true,
                profile: "pages".into(),
                seed: None,
                round: None,
                place: 0,
                settings: WalkSettings::new(draft).unwrap(),
            }));
        }
        observer.declare(&changes).await.unwrap();
        observer.start(&Target::Collection("all".into())).await.unwrap();
        let web = Web {
            town,
            clock: Arc::clone(&clock),
            seen: Mutex::default(),
            takes_ms: (20, 400),
            rng: Mutex::new(fastrand::Rng::with_seed(seed_of_all ^ 1)),
        };
        Fleet {
            store,
            clock,
            web: Arc::new(web),
            observer,
            nodes: BTreeMap::new(),
            commits: None,
            shelves: BTreeMap::new(),
            heard: Arc::default(),
            rng: fastrand::Rng::with_seed(seed_of_all ^ 2),
            workers: 16,
        }
    }

    /// Every commit is looked at from now on.
    pub(crate) fn watch_commits(&mut self) {
        self.commits = Some(Commits::watch(&self.store));
    }

    pub(crate) fn far_away(&self, rough: f64) {
        let faults = Faults {
            conflict: 0.03 * rough,
            undetermined: 0.03 * rough,
            unavailable: 0.01 * rough,
            pause: 0.2,
            round_trip_us: (500, 2000),
        };
        self.store.inject(faults).unwrap();
    }

    /// Starts a node, or one that was there before anew.
    pub(crate) async fn start(&mut self, name: &str, end: End) {
        let skew = self.rng.i64(-10_000..=10_000);
        let own = Arc::new(VirtualClock::at(self.clock.now()));
        own.jump(skew);
        let clock = Arc::new(StoreClock::new(own as Arc<dyn Clock>));
        let store = self.store.elsewhere().unwrap();
        let frontier = Arc::new(Frontier::new(store.clone(), clock, self.rng.u64(..)));
        let fresh = || {
            let file = format!("{name}.warc");
            (
                name.bytes().map(u64::from).sum(),
                Shelf { file, rows: Mutex::default(), batch_from: Mutex::default() },
            )
        };
        let (home, shelf) = self.shelves.entry(name.to_owned()).or_insert_with(|| {
            let (home, shelf) = fresh();
            (home, Arc::new(shelf))
        });
        let (home, shelf) = (*home, Arc::clone(shelf));
        // As a process that starts does: it keeps what is committed of its file.
        while let Err(error) = async {
            frontier.join(name, home).await.map_err(|error| error.to_string())?;
            frontier.recover().await.map_err(|error| error.to_string())?;
            let file = frontier.archive_file(&shelf.file).await.map_err(|error| error.to_string())?;
            let end = file.map_or(0, |row| row.end);
            shelf.rows.lock().truncate(usize::try_from(end).unwrap());
            Ok::<(), String>(())
        }
        .await
        {
            assert!(error.contains("injected") || error.contains("unavailable"), "{error}");
        }
        let (stopped, is_stopped) = watch::channel(false);
        let asker = Asker {
            web: Arc::clone(&self.web),
            node: name.to_owned(),
            frontier: Arc::clone(&frontier),
            stopped: is_stopped.clone(),
        };
        let harvester = Harvester {
            frontier: Arc::clone(&frontier),
            fetcher: Arc::new(asker),
            archive: Arc::clone(&shelf),
            witness: Arc::clone(&self.heard),
            workers: self.workers,
            idle_max: IDLE_MAX,
            end,
        };
        let run = tokio::spawn(stoppable(is_stopped, async move {
            let (_stop, never) = watch::channel(false);
            harvester.run(never).await
        }));
        let node = Node { store, frontier, stopped, run };
        self.nodes.insert(name.to_owned(), node);
    }

    /// kill -9.
    pub(crate) async fn kill(&mut self, name: &str) {
        if let Some(node) = self.nodes.remove(name) {
            node.run.abort();
            let _ = node.run.await;
        }
    }

    /// As one that is told to stop: it gives its shards away.
    pub(crate) async fn depart(&mut self, name: &str) {
        if let Some(node) = self.nodes.get(name) {
            node.run.abort();
            let _ = node.frontier.depart().await;
            self.kill(name).await;
        }
    }

    /// Runs of transactions that were lost to another writer, of the nodes that are there.
    pub(crate) fn conflicts(&self) -> u64 {
        self.nodes.values().map(|node| node.store.figures().conflicts).sum()
    }

    /// What must hold at any moment.
    pub(crate) async fn is_sound(&self) {
        self.store.inject(Faults::default()).unwrap();
        let ledger = self.observer.audit().await.unwrap();
        assert!(ledger.findings.is_empty(), "{:#?}", ledger.findings);
        let impolite = self.web.impolite(DELAY);
        assert!(impolite.is_empty(), "M5: {impolite:#?}");
        if let Some(commits) = &self.commits {
            let wrong = &commits.lock().wrong;
            assert!(wrong.is_empty(), "{wrong:#?}");
        }
    }

    /// What must hold at the end: everything was captured once, where the captures say.
    pub(crate) async fn is_complete(&self) {
        self.is_sound().await;
        let mut found: BTreeMap<String, u32> = BTreeMap::new();
        let mut rest = None;
        loop {
            let (rows, left) = self.observer.captures("all", rest, 1000).await.unwrap();
            for (_, _, capture) in rows {
                let (_, shelf) = &self.shelves[capture.file.trim_end_matches(".warc")];
                let rows = shelf.rows.lock();
                let there = usize::try_from(capture.offset).ok().and_then(|at| rows.get(at));
                assert_eq!(there, Some(&capture.url), "M8: what a capture names is in its file");
                *found.entry(capture.url).or_default() += 1;
            }
            match left {
                Some(left) => rest = Some(left),
                None => break,
            }
        }
        let twice: Vec<_> = found.iter().filter(|(_, count)| **count != 1).collect();
        let seen = self.web.seen.lock();
        let asked: Vec<_> =
            seen.iter().filter(|seen| twice.iter().any(|(url, _)| **url == seen.url)).collect();
        assert!(twice.is_empty(), "doubled: {twice:?}, asked for {asked:#?}");
        let lost: Vec<_> = self.web.town.urls().filter(|url| !found.contains_key(url)).collect();
        assert!(lost.is_empty(), "lost: {lost:?}");
    }

    /// Waits until all of them have ended by themselves.
    pub(crate) async fn ends(&mut self) {
        for (_, node) in std::mem::take(&mut self.nodes) {
            node.run.await.unwrap().unwrap();
            node.frontier.depart().await.unwrap();
        }
    }
}

/// A process that can be stopped and continued: while it is, nothing of it goes on.
async fn stoppable<T>(stopped: watch::Receiver<bool>, work: impl Future<Output = T>) -> T {
    let mut work = Box::pin(work);
    let mut thaw = stopped.clone();
    loop {
        let is_stopped = stopped.clone();
        let step = poll_fn(|context| match *is_stopped.borrow() {
            true => Poll::Ready(None),
            false => work.as_mut().poll(context).map(Some),
        });
        if let Some(value) = step.await {
            return value;
        }
        if thaw.wait_for(|stopped| !stopped).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
