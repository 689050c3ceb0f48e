//! What a harvest has done so far, counted as it commits.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use frontier::ports::Fetch;
use frontier::{Ending, ErrorKind, Frontier, Harvested, NodeRow, UrlCounts};
use parking_lot::Mutex;
use policy::time::{Span, Time};
use policy::walk::Outcome;

/// Hosts told apart; beyond it their number is a lower bound.
const HOSTS_MAX: usize = 100_000;
/// Hosts without an answer that are named.
const UNANSWERED_MAX: usize = 100;
/// Ends of budgets that are told.
const ENDINGS_MAX: usize = 1000;
/// Between two looks at the counters of the store, and between two at the promises.
const LOOK_EVERY: Duration = Duration::from_secs(1);
const CONTRACT_EVERY: u32 = 10;
/// Promises of this long are told in one figure.
const CONTRACT_OVER: Span = Span::days(1);

#[derive(Debug, Default)]
pub struct Figures {
    counts: Mutex<Counts>,
}

/// What the counters of the store say: over restarts, and after whatever happened.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Standing {
    /// URLs that wait, also those in flight.
    pub queued: u64,
    /// Of all time.
    pub harvests: u64,
    pub bytes: u64,
    pub captures: u64,
    /// F31, of the last day: share on time, none where nothing fell due; and what was missed.
    pub on_time: Option<f64>,
    pub missed: u64,
    /// Promises that can only be kept late.
    pub overdue: u64,
    /// M9: other nodes at work, and the requests that they have under way.
    pub others: usize,
    pub in_flight_elsewhere: usize,
    /// A16, of all time.
    pub saved_bytes: u64,
}

#[derive(Clone, Debug, Default)]
pub struct Counts {
    pub harvests: u64,
    pub pages: u64,
    pub unchanged: u64,
    pub bytes: u64,
    pub captures: u64,
    pub added: u64,
    pub statuses: BTreeMap<u16, u64>,
    pub errors: BTreeMap<&'static str, u64>,
    pub hosts: HashSet<String>,
    pub files: BTreeMap<String, u64>,
    pub standing: Standing,
    pub in_flight: usize,
    /// Ids of walks that were found to exist, and attempts at others.
    pub found: u64,
    pub missed: u64,
    /// Hosts that gave no answer, and why the last time.
    pub unanswered: BTreeMap<String, String>,
    /// F36: runs that came to the end of a budget since this process began.
    pub endings: Vec<Ending>,
    since: Option<Time>,
    stopped: bool,
    /// Nothing is asked for, since nobody said who asks.
    pub waits_for_contact: bool,
    /// Of the data directory, once somebody has looked.
    pub disk: Option<Disk>,
}

/// A disk, as it was a moment ago.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Disk {
    /// Bytes.
    pub free: u64,
    /// What is to stay free.
    pub floor: Option<u64>,
    /// The harvest is held back until there is room.
    pub is_full: bool,
}

impl Figures {
    /// Reads the counters of the store, and with `promises` also what was promised.
    #[crate::boxed]
    pub async fn look(&self, frontier: &Frontier, promises: bool) -> store::Result<()> {
        let urls = frontier.url_counts().await?;
        let totals = frontier.totals().await?;
        let sum =
            |pick: fn(&UrlCounts) -> i64| u64::try_from(urls.values().map(pick).sum::<i64>()).unwrap_or(0);
        let contract = match promises {
            true => Some(frontier.contract_sum(frontier.now().minus(CONTRACT_OVER)).await?),
            false => None,
        };
        let (others, in_flight_elsewhere) = elsewhere(frontier).await?;
        let since = *self.counts.lock().since.get_or_insert_with(|| frontier.now());
        let ended = frontier.budget_endings(since).await?;
        for ending in ended {
            let mut counts = self.counts.lock();
            if counts.endings.len() < ENDINGS_MAX && !counts.endings.contains(&ending) {
                counts.endings.push(ending);
            }
        }
        let standing = &mut self.counts.lock().standing;
        (standing.others, standing.in_flight_elsewhere) = (others, in_flight_elsewhere);
        standing.queued = sum(|counts| counts.queued);
        standing.captures = sum(|counts| counts.captures);
        standing.harvests = totals.traffic.requests;
        standing.bytes = totals.traffic.bytes;
        standing.saved_bytes = totals.traffic.saved_bytes;
        if let Some(contract) = contract {
            standing.on_time = contract.share_on_time();
            standing.missed = contract.promises.missed;
            standing.overdue = contract.overdue;
        }
        Ok(())
    }

    /// Looks once a second; ends only with an error.
    #[crate::boxed]
    pub async fn keep_current(&self, frontier: &Frontier) -> store::Error {
        let mut looks = 0u32;
        loop {
            if let Err(error) = self.look(frontier, looks.is_multiple_of(CONTRACT_EVERY)).await {
                return error;
            }
            looks = looks.wrapping_add(1);
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    pub(crate) fn wait_for_contact(&self, waits: bool) {
        self.counts.lock().waits_for_contact = waits;
    }

    pub(crate) fn see_disk(&self, disk: Disk) {
        self.counts.lock().disk = Some(disk);
    }

    pub fn now(&self) -> Counts {
        self.counts.lock().clone()
    }

    /// Looks at them where they are: the names in them are many.
    pub fn look_at<T>(&self, look: impl FnOnce(&Counts) -> T) -> T {
        look(&self.counts.lock())
    }

    pub fn add(&self, harvested: &Harvested<'_>) {
        self.add_aside(harvested);
        let mut counts = self.counts.lock();
        let Harvested { order, report, .. } = harvested;
        counts.harvests += 1;
        match (&order.walk, report.existence) {
            (None, _) => {}
            (Some(_), Some(Outcome::Exists)) => counts.found += 1,
            (Some(_), _) => counts.missed += 1,
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
    }

    /// What was archived on the way to a URL.
    pub fn add_aside(&self, harvested: &Harvested<'_>) {
        let mut counts = self.counts.lock();
        let Harvested { captures, summary, .. } = harvested;
        counts.captures += captures.len() as u64;
        counts.added += summary.added;
        if let Some((_, capture)) = captures.first() {
            *counts.files.entry(capture.file.clone()).or_default() += captures.len() as u64;
        }
    }

    pub fn in_flight(&self, number: usize) {
        self.counts.lock().in_flight = number;
    }

    pub fn stop(&self) {
        self.counts.lock().stopped = true;
    }

    pub fn was_stopped(&self) -> bool {
        self.counts.lock().stopped
    }
}

/// Why there was no answer, in a word.
pub fn error_word(result: &Fetch) -> &'static str {
    match result {
        Fetch::Answer(_) => "none",
        Fetch::DnsFailed => ErrorKind::Dns.as_str(),
        Fetch::RobotsDenied { .. } => ErrorKind::Robots.as_str(),
        Fetch::HostAsked | Fetch::Deferred { .. } => "put off",
        Fetch::NoAnswer(kind) => kind.as_str(),
    }
}

/// Other nodes at work, and the requests that they have under way.
async fn elsewhere(frontier: &Frontier) -> store::Result<(usize, usize)> {
    let (here, now) = (frontier.node(), frontier.now());
    let nodes = frontier.nodes().await?;
    let others = nodes.iter().filter(|(name, row)| *name != here && row.until > now);
    let in_flight = |row: &NodeRow| usize::try_from(row.figures.in_flight).unwrap_or(0);
    Ok(others.fold((0, 0), |(nodes, requests), (_, row)| (nodes + 1, requests + in_flight(row))))
}
