//! What a harvest has done so far, counted as it commits.

use std::collections::{BTreeMap, HashSet};

use frontier::ports::Fetch;
use frontier::schema::ErrorKind;
use frontier::{Frontier, Harvested};
use parking_lot::Mutex;
use policy::time::Span;
use policy::walk::Outcome;

/// Hosts told apart; beyond it their number is a lower bound.
const HOSTS_MAX: usize = 100_000;
/// URLs counted at the start; beyond it the queue is told as "more than".
const QUEUE_COUNT_MAX: usize = 1_000_000;
const QUEUE_PAGE: usize = 10_000;
/// Hosts without an answer that are named.
const UNANSWERED_MAX: usize = 100;

#[derive(Debug, Default)]
pub(crate) struct Figures {
    counts: Mutex<Counts>,
    on_time: Span,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) harvests: u64,
    pub(crate) pages: u64,
    pub(crate) unchanged: u64,
    pub(crate) bytes: u64,
    pub(crate) captures: u64,
    pub(crate) on_time: u64,
    /// Harvests that fell due: all but those nobody could be asked about.
    pub(crate) timed: u64,
    pub(crate) added: u64,
    pub(crate) statuses: BTreeMap<u16, u64>,
    pub(crate) errors: BTreeMap<&'static str, u64>,
    pub(crate) hosts: HashSet<String>,
    pub(crate) files: BTreeMap<String, u64>,
    pub(crate) queued: i64,
    /// There were more at the start than were counted.
    pub(crate) queue_is_longer: bool,
    pub(crate) in_flight: usize,
    /// Ids of walks that were found to exist, and attempts at others.
    pub(crate) found: u64,
    pub(crate) missed: u64,
    /// Hosts that gave no answer, and why the last time.
    pub(crate) unanswered: BTreeMap<String, String>,
    stopped: bool,
}

/// The figures without the names behind them: cheap to take once a second.
#[derive(Clone, Debug, Default)]
pub(crate) struct Glance {
    pub(crate) harvests: u64,
    pub(crate) pages: u64,
    pub(crate) unchanged: u64,
    pub(crate) bytes: u64,
    pub(crate) captures: u64,
    pub(crate) on_time: u64,
    pub(crate) timed: u64,
    pub(crate) added: u64,
    pub(crate) statuses: BTreeMap<u16, u64>,
    pub(crate) errors: BTreeMap<&'static str, u64>,
    pub(crate) hosts: usize,
    pub(crate) queued: u64,
    pub(crate) queue_is_longer: bool,
    pub(crate) in_flight: usize,
}

impl Figures {
    pub(crate) fn new(frontier: &Frontier) -> Figures {
        let on_time = frontier.peek_catalog(|catalog| catalog.settings().on_time);
        Figures { counts: Mutex::default(), on_time }
    }

    /// How many URLs wait, up to a bound.
    pub(crate) async fn count_queue(&self, frontier: &Frontier) -> store::Result<()> {
        let (mut rest, mut all, mut queued) = (None, 0, 0);
        loop {
            let (rows, next) = frontier.urls(None, rest, QUEUE_PAGE).await?;
            all += rows.len();
            queued += rows.iter().filter(|row| row.state == frontier::State::Queued).count();
            rest = next;
            if rest.is_none() || all >= QUEUE_COUNT_MAX {
                break;
            }
        }
        let mut counts = self.counts.lock();
        counts.queued = i64::try_from(queued).unwrap_or(i64::MAX);
        counts.queue_is_longer = rest.is_some();
        Ok(())
    }

    pub(crate) fn now(&self) -> Counts {
        self.counts.lock().clone()
    }

    pub(crate) fn glance(&self) -> Glance {
        let counts = self.counts.lock();
        Glance {
            harvests: counts.harvests,
            pages: counts.pages,
            unchanged: counts.unchanged,
            bytes: counts.bytes,
            captures: counts.captures,
            on_time: counts.on_time,
            timed: counts.timed,
            added: counts.added,
            statuses: counts.statuses.clone(),
            errors: counts.errors.clone(),
            hosts: counts.hosts.len(),
            queued: counts.queued.max(0).unsigned_abs(),
            queue_is_longer: counts.queue_is_longer,
            in_flight: counts.in_flight,
        }
    }

    pub(crate) fn add(&self, harvested: &Harvested<'_>) {
        let mut counts = self.counts.lock();
        let Harvested { order, report, captures, summary } = harvested;
        counts.harvests += 1;
        counts.captures += captures.len() as u64;
        counts.added += summary.added;
        counts.queued += i64::try_from(summary.added).unwrap_or(i64::MAX);
        // What a walk wants was never queued.
        match (&order.walk, report.existence) {
            (None, _) => counts.queued -= i64::from(summary.next_due.is_none()),
            (Some(_), Some(Outcome::Exists)) => counts.found += 1,
            (Some(_), _) => counts.missed += 1,
        }
        if let Some((_, capture)) = captures.first() {
            *counts.files.entry(capture.file.clone()).or_default() += captures.len() as u64;
        }
        if counts.hosts.len() < HOSTS_MAX && !counts.hosts.contains(&order.host) {
            counts.hosts.insert(order.host.clone());
        }
        counts.bytes += report.bytes;
        match &report.result {
            Fetch::Answer(facts) => {
                *counts.statuses.entry(facts.status).or_default() += 1;
                counts.pages += u64::from(matches!(facts.status, 200..=299 | 304));
                counts.unchanged += u64::from(facts.unchanged);
            }
            other => {
                *counts.errors.entry(error_word(other)).or_default() += 1;
                let why = report.problem.clone().unwrap_or_else(|| error_word(other).to_owned());
                if counts.unanswered.len() < UNANSWERED_MAX || counts.unanswered.contains_key(&order.host) {
                    counts.unanswered.insert(order.host.clone(), why);
                }
            }
        }
        if !matches!(report.result, Fetch::RobotsDenied { .. }) {
            counts.timed += 1;
            counts.on_time += u64::from(report.at.since(order.due) <= self.on_time);
        }
    }

    /// What was archived on the way to a URL.
    pub(crate) fn add_aside(&self, harvested: &Harvested<'_>) {
        let mut counts = self.counts.lock();
        let Harvested { captures, summary, .. } = harvested;
        counts.captures += captures.len() as u64;
        counts.added += summary.added;
        counts.queued += i64::try_from(summary.added).unwrap_or(i64::MAX);
        if let Some((_, capture)) = captures.first() {
            *counts.files.entry(capture.file.clone()).or_default() += captures.len() as u64;
        }
    }

    pub(crate) fn in_flight(&self, number: usize) {
        self.counts.lock().in_flight = number;
    }

    pub(crate) fn stop(&self) {
        self.counts.lock().stopped = true;
    }

    pub(crate) fn was_stopped(&self) -> bool {
        self.counts.lock().stopped
    }
}

impl Counts {
    #[allow(clippy::cast_precision_loss, reason = "a share, shown with one decimal")]
    pub(crate) fn on_time_share(&self) -> f64 {
        if self.timed == 0 { 1.0 } else { self.on_time as f64 / self.timed as f64 }
    }
}

/// Why there was no answer, in a word.
pub(crate) fn error_word(result: &Fetch) -> &'static str {
    match result {
        Fetch::Answer(_) => "none",
        Fetch::DnsFailed | Fetch::NoAnswer(ErrorKind::Dns) => "dns",
        Fetch::RobotsDenied { .. } | Fetch::NoAnswer(ErrorKind::Robots) => "robots",
        Fetch::RobotsRead | Fetch::Deferred { .. } => "put off",
        Fetch::NoAnswer(ErrorKind::Connect) => "connect",
        Fetch::NoAnswer(ErrorKind::Timeout) => "timeout",
        Fetch::NoAnswer(ErrorKind::Broken) => "broken",
    }
}
