//! How the frontier meets the world: a clock, a fetcher and an archive, and the words they share.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use policy::browser::Rendering;
use policy::cookies;
use policy::evaluate::Plan;
use policy::model::{Politeness, Position};
pub use policy::outlink::Outlink;
use policy::time::{Span, Time};
use policy::trap::text::{Sketch, Text};
use policy::url::CrawlUrl;
use policy::walk;

use crate::lane::Lane;
use crate::nodes::Claim;
use crate::schema::{ArchiveFile, Capture, ErrorKind};

pub trait Clock: Send + Sync {
    fn now(&self) -> Time;

    /// The store shows this now: a clock of one node among several goes by it from then on (M10).
    fn follow(&self, _store: Time) {}
}

/// Fetches one URL politely reserved for it. Never fails: whatever happens is part of the report.
pub trait Fetcher: Send + Sync {
    /// The recorded bytes, for the archive.
    type Exchange: Send;

    fn fetch(&self, order: &Order) -> impl Future<Output = (Report, Option<Self::Exchange>)> + Send;
}

/// Keeps what was fetched. One batch at a time: it is kept, and then either stays or is abandoned.
pub trait Archive<Exchange>: Send + Sync {
    /// Writes the exchanges to files, and says where. A batch may be empty; it is the last one all
    /// the same.
    fn keep(&self, batch: &[(&Order, &Exchange)]) -> impl Future<Output = Result<Kept, String>> + Send;

    /// The last batch is on disk, synced: only then may its harvests be committed (F7). One that
    /// cannot be is taken back.
    fn synced(&self) -> impl Future<Output = Result<(), String>> + Send {
        std::future::ready(Ok(()))
    }

    /// The last batch was committed: whatever becomes of it now, it is not to be taken back.
    fn settled(&self) {}

    /// The last batch was not committed, or not all of it, and is to leave no trace.
    fn abandon(&self) -> impl Future<Output = Result<(), String>> + Send;
}

/// Where a batch is archived.
#[derive(Clone, Debug, Default)]
pub struct Kept {
    /// Of each exchange, in their order.
    pub captures: Vec<Vec<(CaptureKey, Capture)>>,
    /// The files that were written to.
    pub files: Vec<FileEnd>,
}

/// A file of the archive, as it is once the batch is committed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEnd {
    pub file: String,
    pub row: ArchiveFile,
}

/// One URL to fetch, on a host that is reserved for it.
#[derive(Clone, Debug)]
pub struct Order {
    pub lease: u64,
    /// The politeness unit: the host, or its group.
    pub unit: String,
    pub host: String,
    pub collection: String,
    pub url: CrawlUrl,
    pub seed: String,
    /// The start it belongs to (F4).
    pub run: u64,
    /// The due time this harvest has.
    pub due: Time,
    /// None: it was never fetched, as far as its record goes back.
    pub last_fetch: Option<Time>,
    /// Whether its host answered last time.
    pub lane: Lane,
    pub held: Held,
    /// The shard it is an order of, where several nodes divide them.
    pub claim: Option<Claim>,
    /// F38: no request of it begins then or later: the windows of its host or its profiles close.
    pub closes: Option<Time>,
    pub plan: Plan,
    /// Where the URL stands relative to its seed.
    pub position: Position,
    /// Of the unit: also between two requests of one order.
    pub politeness: Politeness,
    /// For conditional requests.
    pub etag: Option<String>,
    pub last_modified: Option<String>,
    pub digest: Option<String>,
    /// The rows of cookies that the host reads in this collection, those that there are, by name.
    pub cookies: Vec<(String, cookies::Row)>,
    /// The walk that wants it, instead of the queue.
    pub walk: Option<Box<WalkOrder>>,
}

/// How long an order may rest between its requests, in all.
pub const REST_MAX: Span = Span::minutes(10);
/// What reading and packing an answer may take beside the time on the wire.
const READING_MAX: Span = Span::minutes(10);

/// Until when an order is held. Who works on it has one copy and who renews its lease another, and
/// both see the same.
#[derive(Clone, Debug)]
pub struct Held(Arc<AtomicI64>);

impl Held {
    pub fn until(until: Time) -> Held {
        Held(Arc::new(AtomicI64::new(until.0)))
    }

    /// When its lease ends, unless it is renewed.
    pub fn ends(&self) -> Time {
        Time(self.0.load(Ordering::Acquire))
    }

    pub(crate) fn renew(&self, until: Time) {
        self.0.store(until.0, Ordering::Release);
    }
}

impl Order {
    /// M5: whether its lease still holds. To be asked right before a request: a process that was
    /// stopped meanwhile must not send what another may be sending by now.
    pub fn is_held(&self, now: Time) -> bool {
        now < self.held.ends()
    }

    /// F38: whether its windows have closed since it was given out; to be asked right before a
    /// request, too.
    pub fn is_closed(&self, now: Time) -> bool {
        self.closes.is_some_and(|closes| closes <= now)
    }

    /// How long a fetch that keeps within its own limits takes at most: its request, and asking for
    /// robots.txt again after it, for which it may have to rest.
    pub fn time_limit(&self) -> Span {
        let total = self.plan.limits.total_timeout;
        total.plus(total).plus(REST_MAX).plus(READING_MAX)
    }
}

/// One attempt at one id of a walk.
#[derive(Clone, Debug, PartialEq)]
pub struct WalkOrder {
    pub walk: String,
    pub id: u64,
    pub attempt: u32,
    /// L3: what an answer means.
    pub exists: walk::Existence,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CaptureKey {
    pub surt: String,
    pub time: Time,
}

/// How an order went.
#[derive(Clone, Debug)]
pub struct Report {
    pub at: Time,
    pub result: Fetch,
    pub response_time: Span,
    /// Whether the host said anything to what it was asked, be it robots.txt.
    pub answered: bool,
    pub bytes: u64,
    /// From robots.txt, where obeyed.
    pub crawl_delay: Option<Span>,
    /// From a 429 or 503.
    pub retry_after: Option<Span>,
    pub outlinks: Vec<Outlink>,
    /// What the answer changes of them.
    pub cookies: Vec<cookies::Update>,
    /// What went wrong, in a sentence; also of an answer that was cut off.
    pub problem: Option<String>,
    /// What the answer to a walk's order says of the id; without an answer it is failed.
    pub existence: Option<walk::Outcome>,
    /// What the link index is told; none: nothing new.
    pub page: Option<PageNow>,
    /// What its browser made of it; none: it has none, or was not asked.
    pub rendering: Option<Rendering>,
    /// A16: what it archived that others may refer to.
    pub payloads: Vec<StoredPayload>,
    /// Of bodies that came over the wire and are archived as references to others.
    pub saved_bytes: u64,
    /// What it said, where it was harvested for the first time (F37).
    pub text: Option<Text>,
}

/// A payload that is archived whole, in an answer of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredPayload {
    /// Of its capture.
    pub url: String,
    pub capture: String,
    /// Of the body without its chunks.
    pub digest: String,
    pub chunked: bool,
}

/// What an answer says of its page's links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PageNow {
    /// It was captured, with these.
    Links(index::Page),
    Gone,
}

#[derive(Clone, Debug)]
pub enum Fetch {
    /// The name does not resolve (F17).
    DnsFailed,
    /// Not fetched: robots.txt denies it until it is next read (F17).
    RobotsDenied {
        until: Time,
    },
    /// Not harvested yet, though its host was asked: for robots.txt first, which is a request too (A15),
    /// or for the page, with which the browser then went down (B12). The URL keeps its place, and is
    /// next when the delay of its host has passed.
    HostAsked,
    /// Not fetched yet: something it waits for is not to be had before then, and nobody was asked.
    /// The URL keeps its place.
    Deferred {
        until: Time,
    },
    NoAnswer(ErrorKind),
    Answer(AnswerFacts),
}

impl Fetch {
    /// Whether that was a try at the URL, for better or worse.
    pub fn is_harvest(&self) -> bool {
        !matches!(self, Fetch::HostAsked | Fetch::Deferred { .. })
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnswerFacts {
    pub status: u16,
    pub digest: Option<String>,
    pub etag: Option<String>,
    pub last_modified: Option<String>,
    /// A 304, or the digest of last time.
    pub unchanged: bool,
    /// F30: robots deny the URL by now, until they are next read. (What it redirects to is a URL of
    /// its own.)
    pub robots_denied_until: Option<Time>,
    /// F30: the name of its host does not resolve by now.
    pub dns_failed: bool,
    /// Of its text (F37).
    pub sketch: Option<Sketch>,
}

/// As much of a problem as a record keeps: what it says may be what a server said.
const PROBLEM_BYTES_MAX: usize = 500;

impl Report {
    /// What went wrong, as the record remembers it.
    pub(crate) fn problem_kept(&self) -> Option<String> {
        let problem = self.problem.as_deref()?;
        let kept = &problem[..problem.floor_char_boundary(PROBLEM_BYTES_MAX)];
        Some(if kept.len() < problem.len() { format!("{kept}…") } else { kept.to_owned() })
    }

    /// The links that are taken from the page.
    pub(crate) fn links_within(&self, order: &Order) -> &[Outlink] {
        let max = usize::try_from(order.plan.limits.max_outlinks).unwrap_or(usize::MAX);
        &self.outlinks[..self.outlinks.len().min(max)]
    }

    /// A report of nothing but its result.
    pub fn bare(at: Time, result: Fetch) -> Report {
        Report {
            at,
            answered: matches!(result, Fetch::Answer(_)),
            result,
            response_time: Span::ZERO,
            bytes: 0,
            crawl_delay: None,
            retry_after: None,
            outlinks: Vec::new(),
            cookies: Vec::new(),
            problem: None,
            existence: None,
            page: None,
            rendering: None,
            payloads: Vec::new(),
            saved_bytes: 0,
            text: None,
        }
    }
}
