//! Counters (I7, F31–F33): every transaction counts what it changes, and what is shown is read from
//! them, never from the queue.
//!
//! While a transaction works, its [`Transaction`] notes in [`Counted`] what changes;
//! [`Transaction::close`], the last thing before the commit, adds the sums to the rows, so that a
//! row is read and written once however many harvests are in the transaction. What is counted of
//! URLs is a function of their state alone ([`Counted::url`]): out with what the old state stood
//! for, in with the new one. So it can be worked out anew from the tables, which the audit does
//! ([`crate::check`]), and which gives a store that never had counters its first ones
//! ([`crate::upgrade`]).
//!
//! | table | key | counts |
//! |---|---|---|
//! | `URL_COUNTS` | collection, stripe | URLs by state, captures |
//! | `DEMAND` | host, profile, stripe | queued URLs, by the profile whose frequency they are under (none: nobody wants them) |
//! | `OPEN` | level, moment, profile, every, domain | queued URLs whose oldest open promise lies in that moment |
//! | `CONTRACT` | level, hour, profile, domain, stripe | promises that were settled, by the hour they fell due |
//! | `TRAFFIC`, `HOURS` | hour, domain, stripe; hour, stripe | what went over the wire |
//! | `TOTALS` | stripe | the same of all time |
//! | `LATEST` | time, lease | the last few harvests by name |
//!
//! Level 0 has all domains together, for figures that are looked at every second; level 1 has each
//! by itself.
//!
//! Stripes keep transactions that commit at the same time from writing the same rows. Of rows that
//! can come to nothing, the stripe is drawn from the URL, so that it is the same on the way in and
//! out and an empty row can go.
//!
//! **Moments.** An open promise may lie anywhere, and a row for each would be the queue once more.
//! So they are taken together by the minute (by the second for frequencies below an hour, exactly
//! below a minute) and count as fallen due when that is over: at most so much is what is open
//! behind the time. What is settled is counted exactly.

use std::collections::BTreeMap;

use policy::contract::{Owed, begin_of};
use policy::model::Record;
use policy::time::{Span, Time};
use policy::url::CrawlUrl;
use serde::Serialize;
use serde::de::DeserializeOwned;
use store::key::Key;
use store::table::Table;
use store::{Order as ScanOrder, Result, Tx};

use crate::complete::Summary;
use crate::ports::{Fetch, Order, Report};
use crate::schema::{
    CONTRACT, DEMAND, ErrorKind, HOURS, LATEST, Latest, OPEN, Promises, TOTALS, TRAFFIC, Totals, Traffic,
    URL_COUNTS, UrlCounts, UrlState,
};
use crate::stats::{BUCKET, bucket};
use crate::transaction::Transaction;

/// Rows per key: enough that harvests of one domain seldom meet, few enough that rows do not
/// outnumber harvests.
pub(crate) const STRIPES: u32 = 8;
/// Hours that the missed promises of one try are spread over; of a longer outage, neighbouring
/// hours are told together.
const MISSED_HOURS_MAX: u64 = 24;

pub(crate) const ALL_DOMAINS: u8 = 0;
pub(crate) const BY_DOMAIN: u8 = 1;

/// Harvests that are kept by name.
pub(crate) const LATEST_KEPT: usize = 32;

/// Whose queued URLs nobody wants at present.
pub(crate) const NOBODY: &str = "";

/// What a transaction changes of the counters.
#[derive(Debug, Default)]
pub(crate) struct Counted {
    pub(crate) urls: BTreeMap<String, UrlCounts>,
    /// By host, profile and stripe.
    pub(crate) demand: BTreeMap<(String, String, u32), i64>,
    /// By level, moment, profile, every and domain.
    pub(crate) open: BTreeMap<(u8, i64, String, u64, String), i64>,
    /// By hour, profile and domain.
    contract: BTreeMap<(i64, String, String), Promises>,
    /// By hour and domain.
    traffic: BTreeMap<(i64, String), Traffic>,
    hours: BTreeMap<i64, Traffic>,
    /// By time and lease.
    latest: BTreeMap<(i64, u64), Latest>,
}

/// The width of the moments in which open promises of this frequency are counted together.
pub(crate) fn moment_width(every: Span) -> Span {
    match every {
        every if every >= Span::hours(1) => Span::minutes(1),
        every if every >= Span::minutes(1) => Span::seconds(1),
        _ => Span(1),
    }
}

impl Counted {
    /// So many more URLs in this state.
    pub(crate) fn url(&mut self, collection: &str, url: &CrawlUrl, state: &UrlState, sign: i64) {
        match state {
            UrlState::Queued(record) => self.queued(collection, url, record, sign),
            UrlState::Done { .. } => self.collection(collection).done += sign,
            UrlState::Blacklisted(_) => self.collection(collection).blacklisted += sign,
        }
    }

    fn collection(&mut self, name: &str) -> &mut UrlCounts {
        self.urls.entry(name.to_owned()).or_default()
    }

    fn queued(&mut self, collection: &str, url: &CrawlUrl, record: &Record, sign: i64) {
        let counts = self.collection(collection);
        counts.queued += sign;
        counts.unharvested += sign * i64::from(matches!(record.owed, Owed::First(_)));
        let first = record.terms.as_ref().and_then(|terms| terms.profiles.first());
        let profile = first.map_or(NOBODY, String::as_str);
        *self.demand.entry((url.site().to_owned(), profile.to_owned(), stripe_of(url))).or_default() += sign;
        let (Owed::Promise(at), Some(terms)) = (record.owed, &record.terms) else { return };
        let moment = begin_of(at, moment_width(terms.every)).0;
        for profile in &terms.profiles {
            for (level, domain) in [(ALL_DOMAINS, ""), (BY_DOMAIN, url.domain())] {
                let key = (level, moment, profile.clone(), terms.every.0, domain.to_owned());
                *self.open.entry(key).or_default() += sign;
            }
        }
    }

    /// A harvest was committed.
    pub(crate) fn harvest(&mut self, order: &Order, report: &Report, summary: &Summary, on_time: Span) {
        let domain = order.url.domain();
        let key = (bucket(report.at).0, domain.to_owned());
        self.traffic.entry(key).or_default().add(order, report, summary);
        self.latest.insert((report.at.0, order.lease), latest(order, report));
        if self.latest.len() > LATEST_KEPT {
            self.latest.pop_first();
        }
        let settled = &summary.settled;
        for profile in &settled.profiles {
            if let Some(waited) = settled.first {
                self.promises(report.at, profile, domain).first_after(waited);
            }
            if let Some(kept) = settled.kept {
                self.promises(kept.promise, profile, domain).keep(kept.late, on_time);
            }
            for (hour, count) in settled.missed.spread(BUCKET, MISSED_HOURS_MAX) {
                self.promises(hour, profile, domain).missed += count;
            }
        }
    }

    fn promises(&mut self, at: Time, profile: &str, domain: &str) -> &mut Promises {
        self.contract.entry((bucket(at).0, profile.to_owned(), domain.to_owned())).or_default()
    }

    pub(crate) fn captured(&mut self, collection: &str, captures: usize) {
        if captures > 0 {
            self.collection(collection).captures += i64::try_from(captures).unwrap_or(i64::MAX);
        }
    }

    /// What a row of `TRAFFIC` stands for in the sums.
    pub(crate) fn had(&mut self, hour: i64, traffic: &Traffic) {
        self.hours.entry(hour).or_default().merge(traffic);
    }

    /// The rows that everything is added to.
    fn keys(&self, stripe: u32) -> Vec<Vec<u8>> {
        let mut keys = vec![TOTALS.key((stripe,))];
        keys.extend(self.urls.keys().map(|collection| URL_COUNTS.key((collection, stripe))));
        keys.extend(self.demand.keys().map(|key| DEMAND.key(key.as_key())));
        keys.extend(self.open.keys().map(|key| OPEN.key(key.as_key())));
        for (hour, profile, domain) in self.contract.keys() {
            keys.push(CONTRACT.key((BY_DOMAIN, *hour, profile, domain, stripe)));
            keys.push(CONTRACT.key((ALL_DOMAINS, *hour, profile, "", stripe)));
        }
        for (hour, domain) in self.traffic.keys() {
            keys.push(TRAFFIC.key((*hour, domain, stripe)));
            keys.push(HOURS.key((*hour, stripe)));
        }
        keys
    }

    /// Adds everything to the rows.
    pub(crate) async fn write(self, tx: &Tx, stripe: u32) -> Result<()> {
        let stripe = stripe % STRIPES;
        tx.read_ahead(self.keys(stripe)).await?;
        for (collection, counts) in self.urls {
            add(tx, &URL_COUNTS, (collection, stripe), &counts).await?;
        }
        for (key, count) in self.demand {
            add(tx, &DEMAND, key, &count).await?;
        }
        for (key, count) in self.open {
            add(tx, &OPEN, key, &count).await?;
        }
        let mut totals = Totals::default();
        let mut together: BTreeMap<(i64, String), Promises> = BTreeMap::new();
        for ((hour, profile, domain), promises) in self.contract {
            totals.promises.merge(&promises);
            together.entry((hour, profile.clone())).or_default().merge(&promises);
            add(tx, &CONTRACT, (BY_DOMAIN, hour, profile, domain, stripe), &promises).await?;
        }
        for ((hour, profile), promises) in together {
            add(tx, &CONTRACT, (ALL_DOMAINS, hour, profile, String::new(), stripe), &promises).await?;
        }
        let mut hours = self.hours;
        for ((hour, domain), traffic) in self.traffic {
            hours.entry(hour).or_default().merge(&traffic);
            add(tx, &TRAFFIC, (hour, domain, stripe), &traffic).await?;
        }
        for (hour, traffic) in hours {
            totals.traffic.merge(&traffic);
            add(tx, &HOURS, (hour, stripe), &traffic).await?;
        }
        add(tx, &TOTALS, (stripe,), &totals).await?;
        keep_latest(tx, self.latest).await
    }
}

fn latest(order: &Order, report: &Report) -> Latest {
    let (status, error) = match &report.result {
        Fetch::Answer(facts) => (Some(facts.status), None),
        Fetch::NoAnswer(kind) => (None, Some(*kind)),
        Fetch::DnsFailed => (None, Some(ErrorKind::Dns)),
        Fetch::RobotsDenied { .. } => (None, Some(ErrorKind::Robots)),
        Fetch::Deferred { .. } | Fetch::RobotsRead => (None, None),
    };
    let (collection, url) = (order.collection.clone(), order.url.as_str().to_owned());
    Latest { collection, url, status, error, bytes: report.bytes }
}

/// Puts them before those there are, of which only the last few stay.
async fn keep_latest(tx: &Tx, latest: BTreeMap<(i64, u64), Latest>) -> Result<()> {
    if latest.is_empty() {
        return Ok(());
    }
    for ((at, lease), row) in &latest {
        LATEST.put(tx, (*at, *lease), row)?;
    }
    let page = LATEST.scan(tx, &LATEST.range(()), LATEST_KEPT * 2, ScanOrder::Backward).await?;
    page.rows.iter().skip(LATEST_KEPT).try_for_each(|((at, lease), _)| LATEST.delete(tx, (*at, *lease)))
}

/// What rows of counters hold.
trait Sum: Default + PartialEq + Serialize + DeserializeOwned {
    fn plus(&mut self, other: &Self);
}

/// Adds to a row; one that comes to nothing goes.
async fn add<K: Key + 'static, V: Sum>(tx: &Tx, table: &Table<K, V>, key: K, delta: &V) -> Result<()> {
    let nothing = V::default();
    if *delta == nothing {
        return Ok(());
    }
    let mut sum = table.get(tx, key.as_key()).await?.unwrap_or_default();
    sum.plus(delta);
    if sum == nothing { table.delete(tx, key.as_key()) } else { table.put(tx, key.as_key(), &sum) }
}

macro_rules! sums {
    ($($row:ty: $plus:expr),*) => { $(impl Sum for $row {
        fn plus(&mut self, other: &$row) {
            let plus: fn(&mut $row, &$row) = $plus;
            plus(self, other);
        }
    })* };
}

sums! {
    i64: |sum, other| *sum += other,
    UrlCounts: UrlCounts::merge,
    Promises: Promises::merge,
    Traffic: Traffic::merge,
    Totals: Totals::merge
}

/// Drawn from the URL alone, and the same in every process: FNV-1a.
fn stripe_of(url: &CrawlUrl) -> u32 {
    let step = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    url.as_str().bytes().fold(0x811C_9DC5, step) % STRIPES
}

impl Transaction<'_> {
    /// A URL that was not queued is from now on.
    pub(crate) fn count_enqueue(
        &self,
        collection: &str,
        url: &CrawlUrl,
        old: Option<&UrlState>,
        record: &Record,
    ) {
        let mut counted = self.counted.lock();
        if let Some(old) = old {
            counted.url(collection, url, old, -1);
        }
        counted.queued(collection, url, record, 1);
    }

    /// A URL stays in the queue with another record.
    pub(crate) fn count_requeue(&self, collection: &str, url: &CrawlUrl, old: &Record, record: &Record) {
        if (old.owed, &old.terms) != (record.owed, &record.terms) {
            let mut counted = self.counted.lock();
            counted.queued(collection, url, old, -1);
            counted.queued(collection, url, record, 1);
        }
    }

    /// A queued URL is not any more.
    pub(crate) fn count_unqueue(
        &self,
        collection: &str,
        url: &CrawlUrl,
        old: &Record,
        state: Option<&UrlState>,
    ) {
        let mut counted = self.counted.lock();
        counted.queued(collection, url, old, -1);
        if let Some(state) = state {
            counted.url(collection, url, state, 1);
        }
    }

    /// Writes the counters: the last thing a transaction that changes anything does.
    pub(crate) async fn close(&self) -> Result<()> {
        let counted = std::mem::take(&mut *self.counted.lock());
        counted.write(self.tx, self.stripe).await
    }
}
