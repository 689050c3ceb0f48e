//! One harvest, one transaction (F7): everything a fetch changes, all of it or none.
//!
//! The record and its place in the queue, the outlinks, cookies, captures, statistics, what the
//! link index is told and the release of the host commit together. First of all the slot must still
//! be held under the order's lease: if the sweeper took it back, the commit is refused and nothing
//! is counted (F6). An undetermined commit is simply run again: where it had happened, the slot is
//! gone, but its captures are there; and where there was nothing to capture, nobody but us can have
//! freed a slot whose lease still runs.
//!
//! A page may name more than a transaction holds. Harvests that are too large together are refused
//! together, and their caller splits them; one that is too large alone keeps as many of its links
//! as fit, and its record says so (A12, see [`crate::size`]).
//!
//! Harvests that finish together share a transaction, and with it the look at their hosts and the
//! way to the disk. It is still all of each or none of it, and if one of them lost its lease, none
//! of any: its bytes stand between those of the others in the archive, which has to write them anew
//! without it.
//!
//! The commit is on its way to the disk when it is acknowledged, behind the archived bytes, which
//! are on it. A killed process loses nothing. A power cut may take back the last moments, in the
//! order of their commits: those URLs are harvested again, and what the archive has of them is
//! taken into the captures at the next start ([`crate::shelf`]).

use std::collections::{BTreeMap, BTreeSet};
use std::pin::Pin;
use std::sync::atomic::Ordering;

use policy::contract::Settled;
use policy::evaluate::{Access, Dns, Robots, access};
use policy::hint::Trust;
use policy::model::{BlacklistEntry, BlacklistReason, Record};
use policy::outcome::{Answer, Fetched, HostEffect, NoAnswer, Outcome, Placement, Response, outcome};
use policy::robots::RETRY;
use policy::schedule::{RETRY_AFTER_MAX, politeness_delay};
use policy::time::{Span, Time};
use policy::trap::Suspicion;
use policy::trap::text::Moved;
use store::{Durability, Error, Result};

use crate::budgets::done;
use crate::hosts::Unit;
use crate::links::Page;
use crate::patterns::pattern_id;
use crate::ports::{CaptureKey, Fetch, FileEnd, Order, Report};
use crate::robots::server_of;
use crate::schema::{
    ArchiveFile, BARRED_URLS, BLACKLIST, BLACKLIST_ENDS, CAPTURES, COOKIES, Capture, DENIED, ErrorKind,
    FILES, GROUPS, HOSTS, Host, LATEST, QUEUE, RENDERINGS, SENSES, SHARD_OWNERS, URLS, UrlState, surt_in_key,
};
use crate::size::Followed;
use crate::transaction::{Arrivals, Transaction};
use crate::{Frontier, payloads};

/// Links of a page that are read ahead: the rest are read as they come.
const LINKS_AHEAD_MAX: usize = 256;
/// URLs of a host's queue that are read ahead, beside those in flight.
const QUEUE_AHEAD: usize = 3;

/// A finished order.
#[derive(Clone, Copy, Debug)]
pub struct Harvest<'a> {
    pub order: &'a Order,
    pub report: &'a Report,
    /// Where it is archived, on disk already.
    pub captures: &'a [(CaptureKey, Capture)],
}

/// What a commit waits for, while all that goes into it is worked out: that what it says of the
/// archive is true after a power cut, too.
pub(crate) type OnDisk<'a> = Pin<Box<dyn Future<Output = Result<(), String>> + Send + 'a>>;

/// The rows of hosts that a transaction works on, written when it is done with them.
type OpenHosts = BTreeMap<String, Host>;

/// What became of a finished order.
#[derive(Clone, Debug, PartialEq)]
pub enum Completed {
    /// Committed.
    Done(Summary),
    /// The lease had run out: somebody else has the URL, and nothing of this harvest counts.
    LeaseLost,
}

/// What became of several.
#[derive(Clone, Debug, PartialEq)]
pub enum CompletedAll {
    /// All are committed.
    Done(Vec<Summary>),
    /// None is, since these had lost their leases.
    LeasesLost(Vec<usize>),
}

/// A committed harvest in short.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// The variant of F30; none where robots kept it from being fetched.
    pub variant: Option<u8>,
    pub captured: bool,
    /// When the URL comes again, if it does.
    pub next_due: Option<Time>,
    /// URLs the outlinks added to the queue.
    pub added: u64,
    /// A12: links that did not fit.
    pub left_out: u64,
    /// What it settled of what was promised (F31).
    pub settled: Settled,
    /// F37: what is suspected of its host since it was harvested.
    pub suspected: Vec<Suspicion>,
    /// How far the text of its page moved, if it changed.
    pub moved: Option<Moved>,
}

impl Frontier {
    /// Commits a finished order with what was archived for it.
    #[crate::boxed]
    pub async fn complete(
        &self,
        order: &Order,
        report: &Report,
        captures: &[(CaptureKey, Capture)],
    ) -> Result<Completed> {
        let harvest = Harvest { order, report, captures };
        Ok(match self.complete_all(&[harvest], &[]).await? {
            CompletedAll::Done(mut summaries) => Completed::Done(summaries.pop().unwrap_or_default()),
            CompletedAll::LeasesLost(_) => Completed::LeaseLost,
        })
    }

    /// Commits finished orders together, and how far the files they are archived in are good.
    #[crate::boxed]
    pub async fn complete_all(&self, harvests: &[Harvest<'_>], files: &[FileEnd]) -> Result<CompletedAll> {
        self.complete_once(harvests, files, Box::pin(std::future::ready(Ok(())))).await
    }

    /// Commits them as soon as their files are on disk; none if those cannot be.
    #[crate::boxed]
    pub(crate) async fn complete_once<'a>(
        &'a self,
        harvests: &'a [Harvest<'a>],
        files: &'a [FileEnd],
        on_disk: OnDisk<'a>,
    ) -> Result<CompletedAll> {
        let Some(first) = harvests.first() else { return Ok(CompletedAll::Done(Vec::new())) };
        let _turns = self.host_turns(harvests.iter().map(|harvest| harvest.order.unit.as_str())).await;
        // What an earlier run of this call would have committed.
        let earlier = &parking_lot::Mutex::new(None);
        let walked = &parking_lot::Mutex::new(None);
        let found = &parking_lot::Mutex::new(Vec::new());
        let learned = &self.traps.unwritten(harvests);
        let feeds = &self.feeds(harvests).await?;
        let on_disk = &tokio::sync::Mutex::new(Some(on_disk));
        let shared = self.share.stripe().is_some();
        let outdated = &self.recent.outdated(&self.store, harvests, shared).await?;
        let writer = &self.writer();
        let complete = self.store.transact_idempotent(|tx| async move {
            tx.set_durability(Durability::Relaxed);
            let transaction = self.transaction(&tx, writer, first.order.lease).await?;
            let before = earlier.lock().clone();
            if let Some(summaries) = before
                && transaction.was_committed(harvests).await?
            {
                return Ok(CompletedAll::Done(summaries));
            }
            transaction.look_ahead(harvests).await?;
            let lost = transaction.lost(harvests).await?;
            if !lost.is_empty() {
                return Ok(CompletedAll::LeasesLost(lost));
            }
            // What a result means for its walk is worked out once, however often this runs.
            let steps =
                walked.lock().get_or_insert_with(|| self.walks.results(harvests, transaction.now)).clone();
            let summaries = transaction.complete_all(harvests, files).await?;
            transaction.write_steps(&steps).await?;
            learned
                .iter()
                .try_for_each(|(key, sense)| SENSES.put(&tx, (&key.host, &key.collection), sense))?;
            for feed in feeds {
                feed.load(&tx).await?;
            }
            transaction.close().await?;
            outdated.iter().try_for_each(|key| LATEST.delete(&tx, *key))?;
            if let Some(on_disk) = on_disk.lock().await.take() {
                on_disk.await.map_err(Error::lasting)?;
            }
            *found.lock() = std::mem::take(&mut *transaction.found.lock());
            *earlier.lock() = Some(summaries.clone());
            Ok(CompletedAll::Done(summaries))
        });
        let mut completed = complete.await;
        let committed = matches!(completed, Ok(CompletedAll::Done(_)));
        self.recent.settle(committed, harvests, outdated);
        if let Ok(CompletedAll::Done(summaries)) = &mut completed {
            let found = std::mem::take(&mut *found.lock());
            self.learn(harvests, found, summaries).await;
        }
        match &completed {
            Ok(CompletedAll::Done(_)) => {}
            Ok(CompletedAll::LeasesLost(lost)) => {
                self.walks.give_back(lost.iter().filter_map(|at| harvests.get(*at)));
            }
            Err(_) => {
                self.walks.forget();
                if !shared {
                    self.recent.forget();
                }
            }
        }
        completed
    }
}

impl Transaction<'_> {
    /// After a commit nobody heard of: did it happen? Then the slots are gone, because we freed
    /// them and not because a lease ran out. (An order that was renewed says so.)
    async fn was_committed(&self, harvests: &[Harvest<'_>]) -> Result<bool> {
        for Harvest { order, captures, .. } in harvests {
            if let Some((key, capture)) = captures.first() {
                let key = (order.collection.as_str(), surt_in_key(&key.surt), key.time.0, capture.offset);
                let stored = CAPTURES.get(self.tx, key).await?;
                return Ok(stored.is_some_and(|stored| stored.is_same_record(capture)));
            }
        }
        let Some(Harvest { order, .. }) = harvests.first() else { return Ok(true) };
        Ok(self.slot_of(order).await?.is_none() && order.is_held(self.now))
    }

    /// M11: what the harvests will need, in a few round trips for all.
    async fn look_ahead(&self, harvests: &[Harvest<'_>]) -> Result<()> {
        if !self.tx.reads_ahead() {
            return Ok(());
        }
        let mut keys = Vec::new();
        for Harvest { order, report, .. } in harvests {
            keys.push(HOSTS.key((&order.host,)));
            keys.push(URLS.key((&order.collection, order.url.as_str())));
            keys.extend(report.payloads.iter().map(|own| payloads::row_of(&order.collection, own)));
            keys.extend(order.claim.map(|claim| SHARD_OWNERS.key((claim.shard,))));
            if let Unit::Group(group) = Unit::parse(&order.unit) {
                keys.push(GROUPS.key((&group,)));
            }
            let cookies = report.cookies.iter().map(|update| COOKIES.key((&order.collection, &update.row)));
            keys.extend(cookies);
            let links = report.links_within(order).iter().take(LINKS_AHEAD_MAX);
            keys.extend(links.map(|link| URLS.key((&order.collection, link.url.as_str()))));
        }
        self.tx.read_ahead(keys).await?;
        let mut queues = BTreeMap::new();
        for Harvest { order, .. } in harvests {
            let name = order.host.as_str();
            if let Some(host) = self.host(name).await? {
                let range = QUEUE.range_from((name,), (name, host.head.0));
                queues.insert(name, (range, host.slots.taken.len() + QUEUE_AHEAD));
            }
        }
        self.tx.scan_ahead(queues.into_values().collect()).await
    }

    /// Which of them have lost their leases, or the shards they were given out from. The row of a host is read once, however many of its
    /// slots are in it.
    async fn lost(&self, harvests: &[Harvest<'_>]) -> Result<Vec<usize>> {
        let mut lost = Vec::new();
        let claims = harvests.iter().filter_map(|harvest| harvest.order.claim).collect();
        let lost_claims = self.lost_claims(&claims).await?;
        let mut held: BTreeMap<&str, BTreeSet<u64>> = BTreeMap::new();
        for (at, Harvest { order, .. }) in harvests.iter().enumerate() {
            if !held.contains_key(order.host.as_str()) {
                let host = HOSTS.get(self.tx, (&order.host,)).await?.unwrap_or_default();
                held.insert(&order.host, host.slots.taken.iter().map(|slot| slot.lease).collect());
            }
            let has_slot = held.get(order.host.as_str()).is_some_and(|leases| leases.contains(&order.lease));
            if !has_slot || order.claim.is_some_and(|claim| lost_claims.contains(&claim)) {
                lost.push(at);
            }
        }
        Ok(lost)
    }

    async fn complete_all(&self, harvests: &[Harvest<'_>], files: &[FileEnd]) -> Result<Vec<Summary>> {
        let mut summaries = Vec::with_capacity(harvests.len());
        let mut open = OpenHosts::new();
        let mut arrivals = Arrivals::new();
        for harvest in harvests {
            let Harvest { order, report, .. } = *harvest;
            let mut host = match open.remove(&order.host) {
                Some(host) => host,
                None => HOSTS.lock(self.tx, (&order.host,)).await?.unwrap_or_default(),
            };
            if !self.release_slot(order, &mut host).await? {
                return Err(Error::Corrupt(format!("{} was given the same lease twice", order.url)));
            }
            let alone = harvests.len() == 1;
            summaries.push(self.complete(harvest, alone, &mut host, &mut arrivals).await?);
            self.free(order, report, &mut host).await?;
            open.insert(order.host.clone(), host);
        }
        self.settle_all(harvests, open, arrivals).await?;
        for FileEnd { file, row } in files {
            FILES.put(self.tx, (file,), &ArchiveFile { node: self.share.node(), ..row.clone() })?;
        }
        Ok(summaries)
    }

    /// The host's row, if the order's slot is in it.
    async fn slot_of(&self, order: &Order) -> Result<Option<Host>> {
        let host = HOSTS.get(self.tx, (&order.host,)).await?;
        Ok(host.filter(|host| host.slots.taken.iter().any(|slot| slot.lease == order.lease)))
    }

    /// Every host that URLs came to or slots were freed of goes to its place, once.
    async fn settle_all(
        &self,
        harvests: &[Harvest<'_>],
        mut open: OpenHosts,
        mut arrivals: Arrivals,
    ) -> Result<()> {
        for (name, host) in &mut open {
            if let Some(first) = arrivals.remove(name) {
                host.head = host.head.min(first);
            }
        }
        self.arrive_all(&arrivals).await?;
        for (name, mut host) in open {
            self.settle_host(&name, &mut host).await?;
        }
        // A group the host may have left, or be leaving, too.
        let groups: BTreeSet<&str> = harvests.iter().map(|harvest| harvest.order.unit.as_str()).collect();
        for unit in groups {
            if let Unit::Group(group) = Unit::parse(unit) {
                self.settle_group(&group, None).await?;
            }
        }
        Ok(())
    }

    /// `alone`: it has the transaction to itself.
    async fn complete(
        &self,
        harvest: &Harvest<'_>,
        alone: bool,
        host: &mut Host,
        arrivals: &mut Arrivals,
    ) -> Result<Summary> {
        let Harvest { order, report, captures } = *harvest;
        let state = match &order.walk {
            Some(_) => None,
            None => self.state(&order.collection, order.url.as_str()).await?,
        };
        let run = match &state {
            Some(UrlState::Queued(record)) => Some(record.run),
            _ => None,
        };
        let summary = match (&report.result, state) {
            (Fetch::HostAsked | Fetch::Deferred { .. }, state) => {
                return self.put_off(harvest, alone, state, host, arrivals).await;
            }
            _ if order.walk.is_some() => self.walked(harvest, alone, host, arrivals).await?,
            (Fetch::RobotsDenied { until }, Some(UrlState::Queued(record))) => {
                let record = Record { problem: report.problem_kept(), ..record };
                self.deny(order, &record, *until)?;
                Summary::default()
            }
            (_, Some(UrlState::Queued(record))) => {
                self.outcome(harvest, alone, record, host, arrivals).await?
            }
            // Removed or blacklisted by somebody while it was in flight: what was fetched is kept, nothing
            // else.
            _ => Summary { captured: !captures.is_empty(), ..Summary::default() },
        };
        self.put_captures(order, captures, summary.moved)?;
        self.put_payloads(harvest).await?;
        if let Some(rendering) = &report.rendering {
            RENDERINGS.put(self.tx, (&order.collection, order.url.as_str()), rendering)?;
        }
        self.update_cookies(order, report).await?;
        let on_time = self.catalog().settings().on_time;
        self.counted.lock().harvest(order, report, &summary, on_time, run);
        Ok(summary)
    }

    /// A15: the URL was not tried yet, and stays as it is. What was read on the way is archived,
    /// and the sitemaps that robots.txt names are links like others.
    async fn put_off(
        &self,
        harvest: &Harvest<'_>,
        alone: bool,
        state: Option<UrlState>,
        host: &mut Host,
        arrivals: &mut Arrivals,
    ) -> Result<Summary> {
        let Harvest { order, report, captures } = *harvest;
        host.deferred_until = match report.result {
            Fetch::Deferred { until } => {
                Some(until.min(self.now.plus(RETRY_AFTER_MAX))).filter(|until| *until > self.now)
            }
            _ => None,
        };
        self.put_captures(order, captures, None)?;
        let mut summary = Summary { captured: !captures.is_empty(), ..Summary::default() };
        if let Some(UrlState::Queued(record)) = state {
            summary.added = self.follow(order, report, &record, host.trust, alone, arrivals).await?.added;
            summary.next_due = Some(record.due);
        }
        Ok(summary)
    }

    /// `moved`: of the page's own.
    fn put_captures(
        &self,
        order: &Order,
        captures: &[(CaptureKey, Capture)],
        moved: Option<Moved>,
    ) -> Result<()> {
        for (key, capture) in captures {
            let key = (order.collection.as_str(), surt_in_key(&key.surt), key.time.0, capture.offset);
            match moved.filter(|_| !capture.revisit && capture.url == order.url.as_str()) {
                None => CAPTURES.put(self.tx, key, capture)?,
                moved => CAPTURES.put(self.tx, key, &Capture { moved, ..capture.clone() })?,
            }
        }
        self.counted.lock().captured(&order.collection, captures.len());
        Ok(())
    }

    /// On the rows as they are now, whatever the fetcher knew of them: others may have set cookies
    /// of the same host or domain meanwhile.
    async fn update_cookies(&self, order: &Order, report: &Report) -> Result<()> {
        let names: BTreeSet<&str> = report.cookies.iter().map(|update| update.row.as_str()).collect();
        for name in names {
            let key = (order.collection.as_str(), name);
            let mut row = COOKIES.get(self.tx, key).await?.unwrap_or_default();
            let mut changes = false;
            for update in report.cookies.iter().filter(|update| update.row == name) {
                changes |= row.apply(&update.change, self.now);
            }
            if changes {
                COOKIES.put(self.tx, key, &row)?;
            }
        }
        Ok(())
    }

    async fn outcome(
        &self,
        harvest: &Harvest<'_>,
        alone: bool,
        stored: Record,
        host: &mut Host,
        arrivals: &mut Arrivals,
    ) -> Result<Summary> {
        let Harvest { order, report, .. } = *harvest;
        let queued_now = (stored.due != order.due).then_some(stored.due);
        let before = Record { due: order.due, ..stored.clone() };
        let mut fetched = fetched(report, self.now);
        fetched.robots_denied_until = fetched.robots_denied_until.map(|until| self.next_reading(until));
        let mut outcome = {
            let catalog = self.catalog();
            let salt = order.lease;
            outcome(&catalog, &order.collection, &order.url, &before, &fetched, queued_now, salt, self.now)
        };
        outcome.record.problem = report.problem_kept();
        outcome.record.charges.held_by = None;
        self.spend(order, report, stored.run, &order.plan.profiles);
        // Before its own place: a page that links to itself must find itself as it was.
        self.place_own(order, &stored, &outcome, host, arrivals)?;
        match outcome.host {
            HostEffect::None if outcome.captured => {
                host.failures = 0;
                host.backoff_until = None;
            }
            HostEffect::None => {}
            HostEffect::Backoff { span } => {
                host.failures = host.failures.saturating_add(1);
                host.backoff_until = Some(self.now.plus(span));
            }
        }
        if let Some(proved) = outcome.proved {
            host.trust = host.trust.after(proved);
        }
        let mut followed = Followed::default();
        if outcome.follow_outlinks {
            followed = self.follow(order, report, &before, host.trust, alone, arrivals).await?;
        }
        let Followed { added, left_out } = followed;
        let next_due = match outcome.placement {
            Placement::Queue { due } => Some(due),
            _ => None,
        };
        Ok(Summary {
            variant: Some(outcome.variant),
            captured: outcome.captured,
            next_due,
            added,
            left_out,
            settled: outcome.settled,
            suspected: Vec::new(),
            moved: outcome.moved,
        })
    }

    async fn follow(
        &self,
        order: &Order,
        report: &Report,
        before: &Record,
        trust: Trust,
        alone: bool,
        arrivals: &mut Arrivals,
    ) -> Result<Followed> {
        let page = Page {
            seed: &before.seed,
            position: before.position,
            run: before.run,
            collection: &order.collection,
            own_url: Some(order.url.as_str()),
            claimed: before.via,
            dates: Some((&order.host, trust)),
        };
        let links = report.links_within(order);
        let followed = self.follow_fitting(&page, links, alone, arrivals).await?;
        if followed.left_out > 0 {
            self.note_left_out(order, followed.left_out, links.len()).await?;
        }
        Ok(followed)
    }

    fn place_own(
        &self,
        order: &Order,
        stored: &Record,
        outcome: &Outcome,
        host: &mut Host,
        arrivals: &mut Arrivals,
    ) -> Result<()> {
        let (collection, url) = (&order.collection, &order.url);
        match &outcome.placement {
            Placement::Queue { due } => {
                host.head = host.head.min(*due);
                self.requeue(collection, url, stored, outcome.record.clone(), arrivals)
            }
            Placement::Done => self.unqueue(collection, url, stored, Some(&done(&outcome.record))),
            Placement::Remove => self.unqueue(collection, url, stored, None),
            Placement::Blacklist(entry) => {
                self.blacklist(collection, url, stored, outcome.record.clone(), entry)
            }
        }
    }

    /// F17: robots deny it; it comes back when they are next read.
    fn deny(&self, order: &Order, record: &Record, until: Time) -> Result<()> {
        let Access::Blacklist { until } = access(Dns::Resolved, Robots::Denied { until }) else {
            return Ok(());
        };
        let until = Some(self.next_reading(until));
        let entry = BlacklistEntry { reason: BlacklistReason::Robots, since: self.now, until };
        self.blacklist(&order.collection, &order.url, record, record.clone(), &entry)
    }

    pub(crate) fn blacklist(
        &self,
        collection: &str,
        url: &policy::url::CrawlUrl,
        old: &Record,
        record: Record,
        entry: &BlacklistEntry,
    ) -> Result<()> {
        self.unqueue(collection, url, old, Some(&UrlState::Blacklisted(record)))?;
        BLACKLIST.put(self.tx, (collection, url.as_str()), entry)?;
        if let Some(until) = entry.until {
            BLACKLIST_ENDS.put(self.tx, (until.0, collection, url.as_str()), &())?;
            self.next_end.fetch_min(until.0, Ordering::AcqRel);
        }
        match &entry.reason {
            BlacklistReason::Robots => DENIED.put(self.tx, (server_of(url), collection, url.as_str()), &()),
            BlacklistReason::Pattern(name) => {
                BARRED_URLS.put(self.tx, (pattern_id(name), collection, url.as_str()), &())
            }
            _ => Ok(()),
        }
    }

    /// F40: robots.txt is not read any later than that, whatever the clock showed when it was read
    /// last.
    fn next_reading(&self, until: Time) -> Time {
        until.min(self.now.plus(self.catalog().settings().robots_cache.max(RETRY)))
    }

    /// Takes the order's slot out of its host and group; false if it is not there under this lease.
    async fn release_slot(&self, order: &Order, host: &mut Host) -> Result<bool> {
        let Some(at) = host.slots.taken.iter().position(|slot| slot.lease == order.lease) else {
            return Ok(false);
        };
        let slot = host.slots.taken.remove(at);
        host.head_age = host.head_age.saturating_add(1);
        self.drop_lease(&order.unit, slot.until, slot.lease)?;
        if let Unit::Group(name) = Unit::parse(&order.unit)
            && let Some(mut group) = GROUPS.lock(self.tx, (&name,)).await?
        {
            group.slots.taken.retain(|slot| slot.lease != order.lease);
            GROUPS.put(self.tx, (&name,), &group)?;
        }
        Ok(true)
    }

    /// F6: the host goes back, not before its delay.
    async fn free(&self, order: &Order, report: &Report, host: &mut Host) -> Result<()> {
        // What was read just now counts, also that there is none any more.
        if report.crawl_delay.is_some() || matches!(report.result, Fetch::HostAsked) {
            host.crawl_delay = report.crawl_delay;
        }
        let politeness = self.politeness(&order.host);
        let asked = match report.result {
            Fetch::DnsFailed | Fetch::Deferred { .. } => false,
            // Unless robots.txt was read for it just now, and here.
            Fetch::RobotsDenied { .. } | Fetch::HostAsked => report.response_time > Span::ZERO,
            Fetch::NoAnswer(_) | Fetch::Answer(_) => true,
        };
        let delay = politeness_delay(report.response_time, &politeness, host.crawl_delay, report.retry_after);
        // A name that does not resolve is no answer either, though nobody was asked.
        let answer = match report.result {
            Fetch::DnsFailed => Some(None),
            _ => asked.then_some(report.answered.then_some(report.response_time)),
        };
        if let Some(answer) = answer {
            host.slots.answered(answer);
        }
        if asked {
            host.slots.hold(self.asked_at(delay), delay);
        }
        if let Unit::Group(name) = Unit::parse(&order.unit)
            && let Some(mut group) = GROUPS.get(self.tx, (&name,)).await?
            && let Some(answer) = answer
        {
            group.slots.answered(answer);
            if asked {
                group.slots.hold(self.asked_at(delay), delay);
            }
            GROUPS.put(self.tx, (&name,), &group)?;
        }
        Ok(())
    }
}

/// F40: if it was fetched later than now, the clock has gone back since.
fn fetched(report: &Report, now: Time) -> Fetched {
    let (answer, robots_denied_until, dns_failed) = match &report.result {
        Fetch::DnsFailed => (Answer::NoAnswer(NoAnswer::Unreachable), None, true),
        Fetch::RobotsDenied { until } => (Answer::NoAnswer(NoAnswer::Broken), Some(*until), false),
        Fetch::HostAsked | Fetch::Deferred { .. } => (Answer::NoAnswer(NoAnswer::Broken), None, false),
        Fetch::NoAnswer(kind) => (Answer::NoAnswer(no_answer(*kind)), None, false),
        Fetch::Answer(facts) => {
            let response = Response {
                status: facts.status,
                digest: facts.digest.clone(),
                etag: facts.etag.clone(),
                last_modified: facts.last_modified.clone(),
                unchanged: facts.unchanged,
                sketch: facts.sketch,
            };
            (Answer::Response(response), facts.robots_denied_until, facts.dns_failed)
        }
    };
    Fetched { at: report.at.min(now), answer, robots_denied_until, dns_failed }
}

fn no_answer(kind: ErrorKind) -> NoAnswer {
    match kind {
        ErrorKind::Dns | ErrorKind::Connect => NoAnswer::Unreachable,
        ErrorKind::Timeout => NoAnswer::Timeout,
        ErrorKind::Broken | ErrorKind::Robots => NoAnswer::Broken,
    }
}
