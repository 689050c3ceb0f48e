//! A clock that was ahead and went back (F40).
//!
//! While a clock is wrong, times are stored that lie as far ahead as it was: hosts that may not be
//! asked for a year, URLs that are not due. Two things tell that it has gone back. Within a process
//! it is seen to: each transaction looks at it. Over a restart a **mark** in the store says how
//! late it has ever been: it is written before anything is that a later moment went into, but for
//! [`MARK_EVERY`].
//!
//! Then everything that carries a time is gone through once, a page at a time and beside the
//! harvest ([`Frontier::settle_clock`]): leases first, then groups and hosts, which is what a
//! harvest stands still by, then the URLs. What is found too far ahead is put where it belongs (see
//! [`policy::clock`]). Who dies on the way begins anew, for the mark goes back only at the end. As
//! long as the clock behaves, all this costs two comparisons a transaction and one small write
//! every ten seconds.
//!
//! A clock may also be wrong the other way: a machine without a battery begins in 1970. Nothing is
//! moved there, of course: what shows a time before [`CLOCKS_BEGIN`] is not believed to have come
//! back to the present.
//!
//! What comes home after the clock went back, and was fetched before, is dated by the commit (see
//! [`crate::complete`]).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use parking_lot::Mutex;
use policy::clock::WentBack;
use policy::schedule::{RETRY_AFTER_MAX, politeness_delay};
use policy::standing::Subject;
use policy::time::{Span, Time};
use store::table::KeyRange;
use store::{Durability, Order as ScanOrder, Result, Tx};

use crate::Frontier;
use crate::hosts::Unit;
use crate::ports::Clock;
use crate::schema::{
    BLACKLIST, BLACKLIST_ENDS, COUNTERS, GROUPS, HOSTS, LATEST, LEASES, Lease, PAUSES, Slots, URLS, UrlState,
};
use crate::transaction::{Arrivals, Transaction, stored_url};

const MARK: &str = "clock";
/// How far the clock may run ahead of the mark.
const MARK_EVERY: Span = Span::seconds(10);
/// 2026-01-01: who shows less is wrong.
const CLOCKS_BEGIN: Time = Time(1_767_225_600_000);
/// Clocks are set right by less than this all the time.
const NO_MATTER: Span = Span::seconds(1);
/// Rows looked at in one transaction.
const PAGE: usize = 200;

/// The clock of a node among several: it shows the store's time as it was last heard, and goes on
/// from there by itself (M10).
pub struct StoreClock {
    own: Arc<dyn Clock>,
    /// The store's time less the own.
    ahead: AtomicI64,
}

impl StoreClock {
    pub fn new(own: Arc<dyn Clock>) -> StoreClock {
        StoreClock { own, ahead: AtomicI64::new(0) }
    }
}

impl std::fmt::Debug for StoreClock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StoreClock").field("ahead", &self.ahead).finish_non_exhaustive()
    }
}

impl Clock for StoreClock {
    fn now(&self) -> Time {
        Time(self.own.now().0.saturating_add(self.ahead.load(Ordering::Acquire)))
    }

    fn follow(&self, store: Time) {
        self.ahead.store(store.0.saturating_sub(self.own.now().0), Ordering::Release);
    }
}

/// What this process has seen of the clock.
#[derive(Debug)]
pub(crate) struct Watch {
    /// The latest moment, since the clock last went back.
    seen: AtomicI64,
    /// What the mark says; before everything: it was not read yet.
    marked: AtomicI64,
    /// Whether there is something to put right.
    behind: AtomicBool,
    settling: Mutex<Option<Settling>>,
}

/// How far the putting right has come.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Settling {
    by: Span,
    stage: Stage,
    rest: Option<KeyRange>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Leases,
    Groups,
    Hosts,
    Urls,
    /// The little things, and the mark.
    Rest,
}

impl Stage {
    fn next(self) -> Option<Stage> {
        match self {
            Stage::Leases => Some(Stage::Groups),
            Stage::Groups => Some(Stage::Hosts),
            Stage::Hosts => Some(Stage::Urls),
            Stage::Urls => Some(Stage::Rest),
            Stage::Rest => None,
        }
    }
}

impl Default for Watch {
    fn default() -> Watch {
        Watch {
            seen: AtomicI64::new(i64::MIN),
            marked: AtomicI64::new(i64::MIN),
            behind: AtomicBool::new(false),
            settling: Mutex::default(),
        }
    }
}

impl Watch {
    /// The clock went back: from the beginning, also where something was under way already.
    fn went_back(&self, by: Span) {
        let mut settling = self.settling.lock();
        let by = settling.as_ref().map_or(by, |before| before.by.max(by));
        *settling = Some(Settling { by, stage: Stage::Leases, rest: None });
        self.behind.store(true, Ordering::Release);
    }

    /// A page is done, and so much of its stage is left. Says whether more is to be done.
    fn settled(&self, page: &Settling, rest: Option<KeyRange>) -> bool {
        let mut settling = self.settling.lock();
        // Unless it went back once more.
        if settling.as_ref() == Some(page) {
            let stage = if rest.is_some() { Some(page.stage) } else { page.stage.next() };
            *settling = stage.map(|stage| Settling { by: page.by, stage, rest });
        }
        self.behind.store(settling.is_some(), Ordering::Release);
        settling.is_some()
    }
}

impl Frontier {
    /// The time of a transaction: that of the store, where it has one that all nodes share (M10),
    /// or what the clock shows.
    pub(crate) async fn time_of(&self, tx: &Tx) -> Result<Time> {
        match tx.time() {
            Some(ms) => {
                self.clock.follow(Time(ms));
                Ok(Time(ms))
            }
            None => self.look_at_clock().await,
        }
    }

    /// What the clock shows, for a transaction that is about to write it down.
    async fn look_at_clock(&self) -> Result<Time> {
        let now = self.clock.now();
        let watch = &self.watch;
        let seen = watch.seen.fetch_max(now.0, Ordering::AcqRel);
        if seen > now.plus(NO_MATTER).0 && now >= CLOCKS_BEGIN {
            watch.seen.store(now.0, Ordering::Release);
            watch.went_back(Time(seen).since(now));
        }
        let marked = watch.marked.load(Ordering::Acquire);
        if marked == i64::MIN {
            self.read_mark(now).await?;
        }
        if now.0 > watch.marked.load(Ordering::Acquire).saturating_add(ms(MARK_EVERY)) {
            self.put_mark(|mark| mark.max(now)).await?;
        }
        Ok(now)
    }

    async fn read_mark(&self, now: Time) -> Result<()> {
        let tx = self.store.begin().await?;
        let mark = COUNTERS.get(&tx, (MARK,)).await?.map_or(Time(0), time);
        if mark > now.plus(NO_MATTER) && now >= CLOCKS_BEGIN {
            self.watch.went_back(mark.since(now));
        }
        self.watch.marked.store(mark.0, Ordering::Release);
        Ok(())
    }

    async fn put_mark(&self, change: impl Fn(Time) -> Time) -> Result<()> {
        let change = &change;
        let put = self.store.transact_idempotent(|tx| async move {
            tx.set_durability(Durability::Relaxed);
            let before = COUNTERS.lock(&tx, (MARK,)).await?.map_or(Time(0), time);
            let after = change(before);
            COUNTERS.put(&tx, (MARK,), &u64::try_from(after.0).unwrap_or(0))?;
            Ok(after)
        });
        self.watch.marked.store(put.await?.0, Ordering::Release);
        Ok(())
    }

    /// Puts right a page of what a clock wrote that was ahead, if there is any. Says whether more
    /// is to be done.
    #[crate::boxed]
    pub async fn settle_clock(&self) -> Result<bool> {
        if !self.watch.behind.load(Ordering::Acquire) {
            return Ok(false);
        }
        let Some(settling) = self.watch.settling.lock().clone() else { return Ok(false) };
        if settling.stage == Stage::Leases && settling.rest.is_none() {
            self.walks.clock_went_back(self.now());
        }
        let stripe = self.draw();
        let (writer, at) = (&self.writer(), &settling);
        let page = self.store.transact_idempotent(|tx| async move {
            let transaction = self.transaction(&tx, writer, stripe).await?;
            transaction.settle_page(at).await
        });
        let more = self.watch.settled(at, page.await?);
        if !more {
            let now = self.clock.now();
            self.put_mark(|_| now).await?;
        }
        Ok(more)
    }
}

fn ms(span: Span) -> i64 {
    i64::try_from(span.0).unwrap_or(i64::MAX)
}

fn time(mark: u64) -> Time {
    Time(i64::try_from(mark).unwrap_or(i64::MAX))
}

impl Transaction<'_> {
    async fn settle_page(&self, at: &Settling) -> Result<Option<KeyRange>> {
        let back = WentBack { now: self.now, by: at.by };
        let rest = at.rest.clone();
        let rest = match at.stage {
            Stage::Leases => self.settle_leases(rest).await?,
            Stage::Groups => self.settle_groups(&back, rest).await?,
            Stage::Hosts => self.settle_hosts(&back, rest).await?,
            Stage::Urls => self.settle_urls(&back, rest).await?,
            Stage::Rest => self.settle_rest(&back).await?,
        };
        self.close().await?;
        Ok(rest)
    }

    /// No lease holds for longer than a lease does from now on.
    async fn settle_leases(&self, rest: Option<KeyRange>) -> Result<Option<KeyRange>> {
        let until = self.now.plus(self.catalog().settings().lease);
        let range = rest.unwrap_or_else(|| LEASES.range(()));
        let page = LEASES.scan(self.tx, &range, PAGE, ScanOrder::Forward).await?;
        for ((_, before, lease), Lease { unit, host: name, .. }) in page.rows {
            if Time(before) <= until {
                continue;
            }
            self.drop_lease(&unit, Time(before), lease)?;
            self.put_lease(&unit, &name, until, lease)?;
            if let Some(mut host) = HOSTS.lock(self.tx, (&name,)).await? {
                host.slots.renew(lease, until);
                HOSTS.put(self.tx, (&name,), &host)?;
            }
            if let Unit::Group(group) = Unit::parse(&unit)
                && let Some(mut row) = GROUPS.lock(self.tx, (&group,)).await?
            {
                row.slots.renew(lease, until);
                GROUPS.put(self.tx, (&group,), &row)?;
            }
        }
        Ok(page.rest)
    }

    async fn settle_groups(&self, back: &WentBack, rest: Option<KeyRange>) -> Result<Option<KeyRange>> {
        let range = rest.unwrap_or_else(|| GROUPS.range(()));
        let page = GROUPS.scan(self.tx, &range, PAGE, ScanOrder::Forward).await?;
        for ((name,), _) in page.rows {
            // A host of the page before may have written it.
            let Some(mut group) = GROUPS.lock(self.tx, (&name,)).await? else { continue };
            let politeness =
                self.catalog().group(&name).map(|group| group.politeness.clone()).unwrap_or_default();
            let delay = politeness_delay(group.slots.response_time, &politeness, None, None);
            group.slots.settle(back, delay);
            group.head = group.head.min(self.now);
            self.settle_group_row(&name, &mut group).await?;
        }
        Ok(page.rest)
    }

    async fn settle_hosts(&self, back: &WentBack, rest: Option<KeyRange>) -> Result<Option<KeyRange>> {
        let range = rest.unwrap_or_else(|| HOSTS.range(()));
        let page = HOSTS.scan(self.tx, &range, PAGE, ScanOrder::Forward).await?;
        let longest = self.catalog().longest_backoff().max(crate::pause::LOOK_AGAIN);
        for ((name,), before) in page.rows {
            let mut host = before.clone();
            let politeness = self.politeness(&name);
            let delay = politeness_delay(host.slots.response_time, &politeness, host.crawl_delay, None);
            host.slots.settle(back, delay);
            host.backoff_until = host.backoff_until.map(|until| back.ahead(until, longest));
            host.deferred_until = host.deferred_until.map(|until| back.ahead(until, RETRY_AFTER_MAX));
            if host != before || !politeness.windows.is_empty() {
                HOSTS.lock_unread(self.tx, (&name,))?;
                self.settle_host(&name, &mut host).await?;
            }
        }
        Ok(page.rest)
    }

    async fn settle_urls(&self, back: &WentBack, rest: Option<KeyRange>) -> Result<Option<KeyRange>> {
        let range = rest.unwrap_or_else(|| URLS.range(()));
        let page = URLS.scan(self.tx, &range, PAGE, ScanOrder::Forward).await?;
        let mut arrivals = Arrivals::new();
        for ((collection, text), state) in page.rows {
            let (UrlState::Queued(record) | UrlState::Blacklisted(record)) = &state else { continue };
            let url = stored_url(&text)?;
            let settled = {
                let catalog = self.catalog();
                back.record(Subject { catalog: &catalog, collection: &collection, url: &url }, record)
            };
            match state {
                UrlState::Queued(record) if settled != record => {
                    self.requeue(&collection, &url, &record, settled, &mut arrivals)?;
                }
                UrlState::Blacklisted(record) => {
                    if settled != record {
                        URLS.put(self.tx, (&collection, &text), &UrlState::Blacklisted(settled))?;
                    }
                    self.settle_blacklisting(back, &collection, &text).await?;
                }
                _ => {}
            }
        }
        self.arrive_all(&arrivals).await?;
        Ok(page.rest)
    }

    async fn settle_blacklisting(&self, back: &WentBack, collection: &str, url: &str) -> Result<()> {
        let Some(before) = BLACKLIST.get(self.tx, (collection, url)).await? else { return Ok(()) };
        let entry = back.blacklisted(&before);
        if entry == before {
            return Ok(());
        }
        BLACKLIST.put(self.tx, (collection, url), &entry)?;
        if let Some(until) = before.until {
            BLACKLIST_ENDS.delete(self.tx, (until.0, collection, url))?;
        }
        if let Some(until) = entry.until {
            BLACKLIST_ENDS.put(self.tx, (until.0, collection, url), &())?;
            self.next_end.fetch_min(until.0, Ordering::AcqRel);
        }
        Ok(())
    }

    /// Since when something is paused, and the last harvests, which would be the last for as long
    /// as the clock was ahead.
    async fn settle_rest(&self, back: &WentBack) -> Result<Option<KeyRange>> {
        let page =
            PAUSES.scan(self.tx, &PAUSES.range(()), crate::pause::PAUSES_MAX, ScanOrder::Forward).await?;
        let mut changed = false;
        for ((kind, name), since) in page.rows.iter().filter(|(_, since)| *since > self.now) {
            PAUSES.put(self.tx, (*kind, name), &back.past(*since))?;
            changed = true;
        }
        if changed {
            crate::pause::changed(self.tx).await?;
        }
        let range = LATEST.range_from((), (self.now.0.saturating_add(1),));
        for ((at, lease), _) in LATEST.scan(self.tx, &range, PAGE, ScanOrder::Forward).await?.rows {
            LATEST.delete(self.tx, (at, lease))?;
        }
        self.recent.cut(self.now);
        Ok(None)
    }
}

impl Slots {
    /// Rested for as long as it was to rest; `delay` is its usual one.
    fn settle(&mut self, back: &WentBack, delay: Span) {
        let usual = self.next_free.min(back.now.plus(delay));
        self.next_free = back.ahead(self.next_free, RETRY_AFTER_MAX.max(delay)).max(usual);
    }
}
