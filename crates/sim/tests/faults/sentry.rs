//! Stands between the harvester and the world, and keeps books of both: who is asked, when, and
//! what is committed.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash};
use std::sync::Arc;
use std::time::Duration;

use frontier::ports::{CaptureKey, Clock, Fetch, Fetcher, Order, Report};
use frontier::{Capture, Frontier, Harvested, Witness};
use parking_lot::Mutex;
use policy::time::{Span, Time};
use sim::{Answered, Checker, VirtualClock, WebFetcher};
use tokio::time::Instant;

/// How often fetches come to grief on our side.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FetchFaults {
    /// It takes that much longer.
    pub(crate) hang: f64,
    pub(crate) hang_for: Span,
    /// It never ends.
    pub(crate) lost: f64,
    /// It takes its task with it.
    pub(crate) panic: f64,
}

/// A batch is committed within that time: it takes none.
const HOME_MAX: Span = Span::seconds(10);

/// A request that reached the web.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) walk: Option<(String, u64)>,
}

pub(crate) type Captures = BTreeMap<(String, u64), (String, CaptureKey, Capture)>;

pub(crate) struct Sentry {
    clock: Arc<VirtualClock>,
    began: Instant,
    books: Mutex<Books>,
}

pub(crate) struct Books {
    pub(crate) checker: Checker,
    pub(crate) faults: FetchFaults,
    rng: fastrand::Rng,
    pub(crate) asked: Vec<Asked>,
    /// Of every request and commit, in their order: the same for the same storm only.
    pub(crate) fingerprint: DefaultHasher,
    pub(crate) under_way: usize,
    /// Captures whose commit was heard of, by file and offset.
    pub(crate) captures: Captures,
    /// Committed harvests that asked for something.
    pub(crate) committed: u64,
    /// By lease: fetches that are home and not committed yet, since when, and of what.
    pub(crate) home: BTreeMap<u64, (Time, String)>,
    /// By walk and id: committed attempts, and how many of them found something.
    pub(crate) walked: BTreeMap<(String, u64), u32>,
    pub(crate) found: BTreeMap<(String, u64), u32>,
    /// By collection, URL and time: answers that came home, each of which may be archived once.
    pub(crate) brought: BTreeMap<(String, String, Time), u32>,
    /// What is declared changed at that time, before or after what else happened then.
    pub(crate) changed: Option<Time>,
}

impl Sentry {
    pub(crate) fn new(clock: Arc<VirtualClock>, seed: u64) -> Sentry {
        let books = Books {
            checker: Checker::default(),
            faults: FetchFaults::default(),
            rng: fastrand::Rng::with_seed(seed),
            asked: Vec::new(),
            fingerprint: DefaultHasher::new(),
            under_way: 0,
            captures: Captures::new(),
            committed: 0,
            home: BTreeMap::new(),
            walked: BTreeMap::new(),
            found: BTreeMap::new(),
            brought: BTreeMap::new(),
            changed: None,
        };
        Sentry { clock, began: Instant::now(), books: Mutex::new(books) }
    }

    pub(crate) fn books<T>(&self, look: impl FnOnce(&mut Books) -> T) -> T {
        look(&mut self.books.lock())
    }

    /// F6: what a worker that lives brings home is committed. Not after the clock was set, or by a
    /// process that is gone.
    pub(crate) fn forget_home(&self) {
        self.books.lock().home.clear();
    }

    /// What is home for long, and was not committed.
    pub(crate) fn left_at_home(&self) -> Vec<String> {
        let now = self.world_time();
        let late = |(since, _): &&(Time, String)| since.plus(HOME_MAX) < now;
        let told = |(_, url): &(Time, String)| format!("F6: {url} was fetched and never committed");
        self.books.lock().home.values().filter(late).map(told).collect()
    }

    /// The time of the world, which no clock of ours sets.
    fn world_time(&self) -> Time {
        Time(i64::try_from(self.began.elapsed().as_millis()).unwrap())
    }

    fn begins(&self, frontier: &Frontier, order: &Order) {
        let (now, clock) = (self.world_time(), self.clock.now());
        let mut books = self.books.lock();
        let Books { checker, asked, changed, under_way, fingerprint, .. } = &mut *books;
        *under_way += 1;
        (now.0, order.url.as_str(), order.lease).hash(fingerprint);
        frontier.peek_catalog(|catalog| {
            checker.asked(catalog, order, now);
            if *changed != Some(clock) && order.walk.is_none() {
                checker.on_behalf_of_somebody(catalog, order);
                checker.not_too_often(catalog, order, clock);
            }
        });
        asked.push(Asked { walk: order.walk.as_ref().map(|own| (own.walk.clone(), own.id)) });
    }

    fn ends(&self, order: &Order, asked_somebody: bool) {
        let now = self.world_time();
        let mut books = self.books.lock();
        books.under_way -= 1;
        if asked_somebody { books.checker.ended(order, now) } else { books.checker.lost(order) }
    }

    /// A walk counts its attempts: what happens to one is the web's business only, but for time.
    fn mishap(&self, order: &Order) -> Mishap {
        let Books { rng, faults, .. } = &mut *self.books.lock();
        let mut drawn = |share: f64| rng.f64() < share;
        let (hangs, lost, panics) = (drawn(faults.hang), drawn(faults.lost), drawn(faults.panic));
        match order.walk {
            None if panics => Mishap::Panic,
            None if lost => Mishap::Lost,
            _ if hangs => Mishap::Hang(faults.hang_for),
            _ => Mishap::None,
        }
    }
}

enum Mishap {
    None,
    Hang(Span),
    Lost,
    Panic,
}

pub(crate) fn asked_nobody(report: &Report) -> bool {
    matches!(report.result, Fetch::DnsFailed | Fetch::RobotsDenied { .. })
}

/// Its request ends when it is dropped, at the latest.
struct Request<'a> {
    sentry: &'a Sentry,
    order: &'a Order,
    asked_somebody: bool,
}

impl Drop for Request<'_> {
    fn drop(&mut self) {
        self.sentry.ends(self.order, self.asked_somebody);
    }
}

/// A fetcher that is watched.
pub(crate) struct Watched {
    pub(crate) inner: WebFetcher,
    pub(crate) frontier: Arc<Frontier>,
    pub(crate) sentry: Arc<Sentry>,
}

impl Fetcher for Watched {
    type Exchange = Answered;

    async fn fetch(&self, order: &Order) -> (Report, Option<Answered>) {
        self.sentry.begins(&self.frontier, order);
        let mut request = Request { sentry: &self.sentry, order, asked_somebody: true };
        let mishap = self.sentry.mishap(order);
        let fetched = self.inner.fetch(order).await;
        match mishap {
            Mishap::None => {}
            Mishap::Hang(span) => tokio::time::sleep(Duration::from_millis(span.0)).await,
            Mishap::Lost => std::future::pending().await,
            // Without the noise of a real one.
            Mishap::Panic => std::panic::resume_unwind(Box::new("a page that breaks the fetcher")),
        }
        request.asked_somebody = !asked_nobody(&fetched.0);
        let home = (self.sentry.world_time(), order.url.as_str().to_owned());
        self.sentry.books(|books| {
            books.home.insert(order.lease, home);
            if let Some(answered) = &fetched.1 {
                let key = (order.collection.clone(), order.url.as_str().to_owned(), answered.key.time);
                *books.brought.entry(key).or_default() += 1;
            }
        });
        fetched
    }
}

impl Witness for Sentry {
    fn harvested(&self, harvested: &Harvested<'_>) {
        let Harvested { order, report, captures, .. } = *harvested;
        let mut books = self.books.lock();
        (self.clock.now().0, order.url.as_str(), order.lease).hash(&mut books.fingerprint);
        books.home.remove(&order.lease);
        books.committed += u64::from(!asked_nobody(report));
        if let Some(own) = &order.walk {
            *books.walked.entry((own.walk.clone(), own.id)).or_default() += 1;
            let found = matches!(&report.result, Fetch::Answer(facts) if facts.status == 200);
            *books.found.entry((own.walk.clone(), own.id)).or_default() += u32::from(found);
        } else if !matches!(report.result, Fetch::RobotsDenied { .. }) {
            let answered =
                matches!(&report.result, Fetch::Answer(facts) if facts.status < 500 && facts.status != 429);
            books.checker.counted(order, answered, report.at);
        }
        for (key, capture) in captures {
            let place = (capture.file.clone(), capture.offset);
            let row = (order.collection.clone(), key.clone(), capture.clone());
            if let Some(other) = books.captures.insert(place, row) {
                let text =
                    format!("F7: {} and {} have the same place in the archive", other.2.url, capture.url);
                books.checker.complaints.push(text);
            }
        }
    }

    fn turn(&self, _: usize) {}
}
