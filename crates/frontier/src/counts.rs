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
//! | `DEMAND` | host, profile, stripe | queued URLs, by the profile whose frequency they are under (none: nobody wants them), with the frequency where it is the URL's own (F41) |
//! | `OPEN` | level, moment, profile, every, domain (and stripe) | queued URLs whose oldest open promise lies in that moment |
//! | `CONTRACT` | level, hour, profile, domain, stripe | promises that were settled, by the hour they fell due |
//! | `TRAFFIC`, `HOURS` | hour, domain, stripe; hour, stripe | what went over the wire |
//! | `TOTALS` | stripe | the same of all time |
//! | `SPENT`, `CHARGED`, `REFUSED` | holder of a budget, …, stripe | see [`crate::budgets`] |
//! | `RUN_URLS`, `RUN_TRAFFIC` | run, collection, stripe | see [`crate::runs`] |
//! | `LATEST` | time, lease | the last few harvests by name |
//!
//! Level 0 has all domains together, for figures that are looked at every second; level 1 has each
//! by itself.
//!
//! Stripes keep transactions that commit at the same time from writing the same rows. Where nodes
//! share the store, each has one of its own. Of rows that can come to nothing, the stripe is drawn
//! from the URL, so that it is the same on the way in and out and an empty row can go. That of an
//! open promise is the shard of its host, behind the name of the domain, and only where nodes share
//! the store: all that is promised for one minute would be one row, and every commit of every node
//! would want it ([`striped`]).
//!
//! Of the last harvests a process deletes those that are none any more, and remembers which there
//! are ([`Recent`]): looked for anew, they would lie before all that were ever deleted. No two
//! transactions delete the same; so where there are nodes, each deletes only those it has put.
//!
//! **Moments.** An open promise may lie anywhere, and a row for each would be the queue once more.
//! So they are taken together by the minute (by the second for frequencies below an hour, exactly
//! below a minute) and count as fallen due when that is over: at most so much is what is open
//! behind the time. What is settled is counted exactly.

use std::collections::{BTreeMap, BTreeSet};

use parking_lot::Mutex;
use policy::budget::{Holder, Spent};
use policy::contract::{Owed, begin_of};
use policy::model::Record;
use policy::time::{Span, Time};
use policy::url::CrawlUrl;
use serde::Serialize;
use serde::de::DeserializeOwned;
use store::key::Key;
use store::table::Table;
use store::{Order as ScanOrder, Result, Store, Tx};

use crate::budgets::id_of;
use crate::complete::{Harvest, Summary};
use crate::ports::{Fetch, Order, Report};
use crate::schema::{
    CHARGED, CONTRACT, Charged, DEMAND, ErrorKind, Exhausted, HOURS, LATEST, Latest, OPEN, Promises, REFUSED,
    RUN_TRAFFIC, RUN_URLS, Refused, RunTraffic, RunUrls, SPENT, TOTALS, TRAFFIC, Totals, Traffic, URL_COUNTS,
    USED_UP, UrlCounts, UrlState,
};
use crate::shard::{Shard, shard_of};
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

/// A row of [`LATEST`]: time and lease.
pub(crate) type LatestKey = (i64, u64);

/// The rows of [`LATEST`] that a process deletes when they are none of the last any more: among
/// nodes those it has put, elsewhere all there are. None: not looked for yet.
#[derive(Debug, Default)]
pub(crate) struct Recent(Mutex<Option<BTreeSet<LatestKey>>>);

impl Recent {
    /// Hands out those that are none of the last any more, once these harvests are there too: each
    /// to one transaction, which deletes it and is [told](Recent::settle) of afterwards. `own`:
    /// other nodes have theirs.
    pub(crate) async fn outdated(
        &self,
        store: &Store,
        harvests: &[Harvest<'_>],
        own: bool,
    ) -> Result<Vec<LatestKey>> {
        if self.0.lock().is_none() {
            let there = if own { BTreeSet::new() } else { all_latest(&store.begin().await?).await? };
            self.0.lock().get_or_insert_default().extend(there);
        }
        let mut rows = self.0.lock();
        let rows = rows.get_or_insert_default();
        let over = (rows.len() + last_of(harvests).len()).saturating_sub(LATEST_KEPT);
        Ok((0..over).map_while(|_| rows.pop_first()).collect())
    }

    /// These harvests were committed, and those rows deleted; or nothing was.
    pub(crate) fn settle(&self, committed: bool, harvests: &[Harvest<'_>], gone: &[LatestKey]) {
        if let Some(rows) = &mut *self.0.lock() {
            match committed {
                true => rows.extend(last_of(harvests)),
                false => rows.extend(gone),
            }
        }
    }

    /// What lies behind that is gone.
    pub(crate) fn cut(&self, last: Time) {
        if let Some(rows) = &mut *self.0.lock() {
            rows.retain(|(at, _)| *at <= last.0);
        }
    }

    /// It is looked for anew next time.
    pub(crate) fn forget(&self) {
        *self.0.lock() = None;
    }
}

/// Those of a transaction that get rows.
fn last_of(harvests: &[Harvest<'_>]) -> BTreeSet<LatestKey> {
    let counted = harvests.iter().filter(|harvest| harvest.report.result.is_harvest());
    let keys: BTreeSet<LatestKey> =
        counted.map(|harvest| (harvest.report.at.0, harvest.order.lease)).collect();
    keys.into_iter().rev().take(LATEST_KEPT).collect()
}

/// Also what a process has left that was killed: those are the eldest, and go first.
async fn all_latest(tx: &Tx) -> Result<BTreeSet<LatestKey>> {
    let mut all = BTreeSet::new();
    let mut rest = Some(LATEST.range(()));
    while let Some(range) = rest {
        let page = LATEST.scan(tx, &range, LATEST_KEPT * 8, ScanOrder::Forward).await?;
        all.extend(page.rows.into_iter().map(|(key, _)| key));
        rest = page.rest;
    }
    Ok(all)
}

/// Whose rows a transaction writes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stripe {
    /// One of a few: nobody else is there.
    Drawn(u32),
    /// That of a node.
    Node(u32),
}

/// What a transaction changes of the counters.
#[derive(Debug, Default)]
pub(crate) struct Counted {
    /// Nodes share the store.
    shared: bool,
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
    /// By run and collection.
    pub(crate) run_urls: BTreeMap<(u64, String), RunUrls>,
    run_traffic: BTreeMap<(u64, String), RunTraffic>,
    /// F36, by holder: URLs.
    pub(crate) charged: BTreeMap<u64, Charged>,
    /// By holder and run.
    pub(crate) spent: BTreeMap<(u64, u64), Spent>,
    /// By holder, host and place.
    pub(crate) refused: BTreeMap<(u64, String, u8), Refused>,
    /// By holder, run and limit.
    pub(crate) used_up: BTreeMap<(u64, u64, u8), Exhausted>,
}

/// The width of the moments in which open promises of this frequency are counted together.
pub(crate) fn moment_width(every: Span) -> Span {
    match every {
        every if every >= Span::hours(1) => Span::minutes(1),
        every if every >= Span::minutes(1) => Span::seconds(1),
        _ => Span(1),
    }
}

/// A profile and a frequency of its range as they stand in the key of a demand. No name has a line break
/// in it.
fn adapted(profile: &str, every: Span) -> String {
    format!("{profile}\n{}", every.0)
}

/// The profile of a demand, and the frequency where it is the URLs' own.
pub(crate) fn demanded(profile: &str) -> (&str, Option<Span>) {
    match profile.split_once('\n') {
        Some((profile, every)) => (profile, every.parse().ok().map(Span)),
        None => (profile, None),
    }
}

/// A domain as it stands in the key of an open promise, of a host in this shard. No domain has a
/// space in it.
fn striped(domain: &str, shard: Shard) -> String {
    format!("{domain} {shard:02x}")
}

/// The domain of an open promise, by its key.
pub(crate) fn unstriped(domain: &str) -> &str {
    domain.split_once(' ').map_or(domain, |(domain, _)| domain)
}

impl Counted {
    pub(crate) fn on(shared: bool) -> Counted {
        Counted { shared, ..Counted::default() }
    }

    /// What of it is counted by run.
    pub(crate) fn only_of_runs(self) -> Counted {
        Counted { run_urls: self.run_urls, ..Counted::default() }
    }

    /// So many more URLs in this state.
    pub(crate) fn url(&mut self, collection: &str, url: &CrawlUrl, state: &UrlState, sign: i64) {
        match state {
            UrlState::Queued(record) => self.queued(collection, url, record, sign),
            UrlState::Done { run, known_to } => {
                self.collection(collection).done += sign;
                self.run(*run, collection).done += sign;
                self.known(known_to, sign);
            }
            UrlState::Blacklisted(record) => {
                self.collection(collection).blacklisted += sign;
                self.run(record.run, collection).blacklisted += sign;
                self.known(&record.charges.known_to, sign);
            }
        }
    }

    fn run(&mut self, run: u64, collection: &str) -> &mut RunUrls {
        self.run_urls.entry((run, collection.to_owned())).or_default()
    }

    fn known(&mut self, known_to: &[Holder], sign: i64) {
        for holder in known_to {
            self.charged.entry(id_of(holder)).or_default().known += sign;
        }
    }

    fn collection(&mut self, name: &str) -> &mut UrlCounts {
        self.urls.entry(name.to_owned()).or_default()
    }

    fn queued(&mut self, collection: &str, url: &CrawlUrl, record: &Record, sign: i64) {
        let counts = self.collection(collection);
        counts.queued += sign;
        counts.unharvested += sign * i64::from(matches!(record.owed, Owed::First(_)));
        let of_run = self.run(record.run, collection);
        of_run.queued += sign;
        of_run.waiting += sign * i64::from(record.cycles == 0);
        self.known(&record.charges.known_to, sign);
        if let Some(holder) = &record.charges.held_by {
            self.charged.entry(id_of(holder)).or_default().held += sign;
        }
        let first = record.terms.as_ref().and_then(|terms| terms.profiles.first());
        let profile = match (&record.terms, first) {
            (Some(terms), Some(first)) if terms.adaptive => adapted(first, terms.every),
            (_, first) => first.map_or(NOBODY, String::as_str).to_owned(),
        };
        *self.demand.entry((url.site().to_owned(), profile, stripe_of(url))).or_default() += sign;
        let (Owed::Promise(at), Some(terms)) = (record.owed, &record.terms) else { return };
        let moment = begin_of(at, moment_width(terms.every)).0;
        for profile in &terms.profiles {
            for (level, domain) in [(ALL_DOMAINS, ""), (BY_DOMAIN, url.domain())] {
                let domain = match self.shared {
                    true => striped(domain, shard_of(url.site())),
                    false => domain.to_owned(),
                };
                let key = (level, moment, profile.clone(), terms.every.0, domain);
                *self.open.entry(key).or_default() += sign;
            }
        }
    }

    /// A harvest was committed, of this run if it was of one.
    pub(crate) fn harvest(
        &mut self,
        order: &Order,
        report: &Report,
        summary: &Summary,
        on_time: Span,
        run: Option<u64>,
    ) {
        if let Some(run) = run.filter(|_| report.result.is_harvest()) {
            let own = self.run_traffic.entry((run, order.collection.clone())).or_default();
            own.traffic.add(order, report, summary);
            own.first.get_or_insert(report.at);
            own.first = own.first.min(Some(report.at));
            own.last = own.last.max(Some(report.at));
        }
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
            for at in &settled.missed_at {
                self.promises(*at, profile, domain).missed += 1;
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
        keys.extend(self.run_urls.keys().map(|(run, collection)| RUN_URLS.key((*run, collection, stripe))));
        let traffic = self.run_traffic.keys();
        keys.extend(traffic.map(|(run, collection)| RUN_TRAFFIC.key((*run, collection, stripe))));
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
        keys.extend(self.charged.keys().map(|holder| CHARGED.key((*holder, stripe))));
        keys.extend(self.spent.keys().map(|(holder, run)| SPENT.key((*holder, *run, stripe))));
        keys
    }

    /// Adds everything to the rows.
    pub(crate) async fn write(self, tx: &Tx, of: Stripe) -> Result<()> {
        let stripe = match of {
            Stripe::Drawn(drawn) => drawn % STRIPES,
            Stripe::Node(own) => own,
        };
        tx.read_ahead(self.keys(stripe)).await?;
        for (collection, counts) in self.urls {
            add(tx, &URL_COUNTS, (collection, stripe), &counts).await?;
        }
        for ((run, collection), urls) in self.run_urls {
            add(tx, &RUN_URLS, (run, collection, stripe), &urls).await?;
        }
        for ((run, collection), traffic) in self.run_traffic {
            add(tx, &RUN_TRAFFIC, (run, collection, stripe), &traffic).await?;
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
        for (holder, charged) in self.charged {
            add(tx, &CHARGED, (holder, stripe), &charged).await?;
        }
        for ((holder, run), spent) in self.spent {
            add(tx, &SPENT, (holder, run, stripe), &spent).await?;
        }
        for ((holder, host, place), refused) in self.refused {
            add(tx, &REFUSED, (holder, host, place, stripe), &refused).await?;
        }
        for (key, first) in self.used_up {
            if USED_UP.get(tx, key).await?.is_none() {
                USED_UP.put(tx, key, &first)?;
            }
        }
        self.latest.iter().try_for_each(|(key, row)| LATEST.put(tx, *key, row))
    }
}

fn latest(order: &Order, report: &Report) -> Latest {
    let (status, error) = match &report.result {
        Fetch::Answer(facts) => (Some(facts.status), None),
        Fetch::NoAnswer(kind) => (None, Some(*kind)),
        Fetch::DnsFailed => (None, Some(ErrorKind::Dns)),
        Fetch::RobotsDenied { .. } => (None, Some(ErrorKind::Robots)),
        Fetch::Deferred { .. } | Fetch::HostAsked => (None, None),
    };
    let (collection, url) = (order.collection.clone(), order.url.as_str().to_owned());
    Latest { collection, url, status, error, bytes: report.bytes }
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
    RunUrls: RunUrls::merge,
    RunTraffic: RunTraffic::merge,
    Promises: Promises::merge,
    Traffic: Traffic::merge,
    Totals: Totals::merge,
    Charged: Charged::merge,
    Spent: Spent::merge,
    Refused: Refused::merge
}

/// Drawn from the URL alone, and the same in every process.
fn stripe_of(url: &CrawlUrl) -> u32 {
    scattered(url.as_str()) % STRIPES
}

/// FNV-1a.
pub(crate) fn scattered(text: &str) -> u32 {
    let step = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    text.bytes().fold(0x811C_9DC5, step)
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
        let counted = |record: &Record| (record.owed, record.run, record.cycles == 0);
        if counted(old) != counted(record) || (&old.terms, &old.charges) != (&record.terms, &record.charges) {
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
        let stripe = self.share.stripe().map_or(Stripe::Drawn(self.stripe), Stripe::Node);
        counted.write(self.tx, stripe).await
    }
}
