//! Pauses: everything, a collection, a host or a walk is left alone until somebody resumes it, also
//! by the next process.
//!
//! Nothing new is given out for what is paused; what is in flight comes home. `PAUSES` is small and
//! read whole; a counter says when to read it again, as with what is [declared](crate::declared).
//! What is paused must not stand in the way of the rest, nor be looked at over and over: a paused
//! host goes to a later place as if it backed off, and a URL of a paused collection is postponed as
//! that of one that is switched off is (F11). Resuming brings both back at once; a URL that is
//! brought back too early is put right by its schedule (F15).

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::RwLock;
use policy::model::Record;
use policy::time::{Span, Time};
use policy::url::CrawlUrl;
use store::table::KeyRange;
use store::{Error, Order, Result, Tx};

use crate::Frontier;
use crate::schema::{COUNTERS, HOSTS, Host, PAUSES, URLS, UrlState};
use crate::transaction::{Arrivals, Transaction, stored_url};

const VERSION: &str = "pauses";
/// More pauses than this are no pauses but a configuration.
pub(crate) const PAUSES_MAX: usize = 10_000;
/// When a paused host is looked at again, should nobody resume it before.
pub(crate) const LOOK_AGAIN: Span = Span::minutes(1);
/// URLs brought back in one transaction.
const BATCH: usize = 200;

/// What can be left alone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Pause {
    Everything,
    Collection(String),
    /// By the name under which its URLs are queued: without `www.`.
    Host(String),
    Walk(String),
}

impl Pause {
    fn key(&self) -> (u8, &str) {
        match self {
            Pause::Everything => (0, ""),
            Pause::Collection(name) => (1, name),
            Pause::Host(host) => (2, host),
            Pause::Walk(name) => (3, name),
        }
    }

    fn of_key((kind, name): (u8, String)) -> Result<Pause> {
        match kind {
            0 => Ok(Pause::Everything),
            1 => Ok(Pause::Collection(name)),
            2 => Ok(Pause::Host(name)),
            3 => Ok(Pause::Walk(name)),
            kind => Err(Error::Corrupt(format!("a pause of kind {kind}"))),
        }
    }
}

/// The pauses there are, in memory.
#[derive(Debug, Default)]
pub(crate) struct Pauses {
    now: RwLock<BTreeMap<Pause, Time>>,
    version: AtomicU64,
}

impl Pauses {
    /// Brings memory up to what this transaction's snapshot says.
    pub(crate) async fn catch_up(&self, tx: &Tx) -> Result<()> {
        let version = COUNTERS.get(tx, (VERSION,)).await?.unwrap_or(0);
        if version <= self.version.load(Ordering::Acquire) {
            return Ok(());
        }
        let page = PAUSES.scan(tx, &PAUSES.range(()), PAUSES_MAX, Order::Forward).await?;
        let read = page.rows.into_iter().map(|(key, since)| Ok((Pause::of_key(key)?, since)));
        let read = read.collect::<Result<BTreeMap<_, _>>>()?;
        let mut now = self.now.write();
        if version > self.version.load(Ordering::Acquire) {
            *now = read;
            self.version.store(version, Ordering::Release);
        }
        Ok(())
    }

    pub(crate) fn everything(&self) -> bool {
        self.has(&Pause::Everything)
    }

    fn has(&self, pause: &Pause) -> bool {
        let now = self.now.read();
        !now.is_empty() && now.contains_key(pause)
    }

    fn has_some(&self) -> bool {
        !self.now.read().is_empty()
    }
}

impl Frontier {
    /// From now on nothing of it is given out; false if it is paused already.
    #[crate::boxed]
    pub async fn pause(&self, what: &Pause) -> Result<bool> {
        // No reservation is under way that does not know of it yet.
        let _no_reservation = self.reserving.lock().await;
        let pause = self.store.transact_idempotent(|tx| async move {
            let since = self.clock.now();
            if PAUSES.lock(&tx, what.key()).await?.is_some() {
                return Ok(false);
            }
            let there = PAUSES.scan(&tx, &PAUSES.range(()), PAUSES_MAX, Order::Forward).await?.rows.len();
            if there >= PAUSES_MAX {
                return Err(Error::TooLarge { what: "a list of pauses", size: there + 1, max: PAUSES_MAX });
            }
            PAUSES.put(&tx, what.key(), &since)?;
            changed(&tx).await?;
            Ok(true)
        });
        let paused = pause.await?;
        self.pauses.catch_up(&self.store.begin().await?).await?;
        Ok(paused)
    }

    /// It goes on at once; false if it is not paused.
    #[crate::boxed]
    pub async fn resume(&self, what: &Pause) -> Result<bool> {
        let resume = self.store.transact_idempotent(|tx| async move {
            if PAUSES.lock(&tx, what.key()).await?.is_none() {
                return Ok(false);
            }
            PAUSES.delete(&tx, what.key())?;
            changed(&tx).await?;
            Ok(true)
        });
        let resumed = resume.await?;
        self.pauses.catch_up(&self.store.begin().await?).await?;
        self.walks.release();
        match what {
            Pause::Host(host) if resumed => self.wake_host(host).await?,
            Pause::Collection(name) if resumed => self.wake_collection(name).await?,
            _ => {}
        }
        Ok(resumed)
    }

    /// What is paused, and since when.
    #[crate::boxed]
    pub async fn paused(&self) -> Result<Vec<(Pause, Time)>> {
        self.pauses.catch_up(&self.store.begin().await?).await?;
        Ok(self.pauses.now.read().iter().map(|(pause, since)| (pause.clone(), *since)).collect())
    }

    async fn wake_host(&self, name: &str) -> Result<()> {
        let stripe = self.draw();
        let writer = &self.writer();
        let wake = self.store.transact_idempotent(|tx| async move {
            let transaction = self.transaction(&tx, writer, stripe).await?;
            let Some(mut host) = HOSTS.lock(&tx, (name,)).await? else { return Ok(()) };
            host.backoff_until = None;
            transaction.settle_host(name, &mut host).await
        });
        wake.await
    }

    /// Reads all URLs of the collection, once.
    async fn wake_collection(&self, name: &str) -> Result<()> {
        let mut rest = Some(URLS.range((name,)));
        while let Some(range) = rest {
            let range = &range;
            let stripe = self.draw();
            let writer = &self.writer();
            let wake = self.store.transact_idempotent(|tx| async move {
                let transaction = self.transaction(&tx, writer, stripe).await?;
                transaction.wake_urls(range).await
            });
            rest = wake.await?;
        }
        Ok(())
    }
}

/// Tells everybody to read the pauses anew.
pub(crate) async fn changed(tx: &Tx) -> Result<()> {
    let version = COUNTERS.lock(tx, (VERSION,)).await?.unwrap_or(0);
    COUNTERS.put(tx, (VERSION,), &(version + 1))
}

impl Transaction<'_> {
    /// When a walk that is paused, or whose collection or host is, is looked at again.
    pub(crate) fn paused_until(&self, walk: &str, collection: &str, host: &str) -> Option<Time> {
        let paused = self.pauses.has_some()
            && (self.pauses.has(&Pause::Walk(walk.to_owned()))
                || self.pauses.has(&Pause::Collection(collection.to_owned()))
                || self.pauses.has(&Pause::Host(host.to_owned())));
        paused.then(|| self.now.plus(LOOK_AGAIN))
    }

    pub(crate) fn is_paused_host(&self, name: &str) -> bool {
        self.pauses.has_some() && self.pauses.has(&Pause::Host(name.to_owned()))
    }

    /// Puts a paused host out of the way.
    pub(crate) async fn set_aside(&self, name: &str, host: &mut Host) -> Result<()> {
        let later = self.now.plus(LOOK_AGAIN);
        host.backoff_until = Some(host.backoff_until.map_or(later, |until| until.max(later)));
        self.settle_host(name, host).await
    }

    /// Puts a URL of a paused collection out of the way; false if its collection is not paused.
    pub(crate) fn postpone_paused(
        &self,
        collection: &str,
        url: &CrawlUrl,
        record: &Record,
        arrivals: &mut Arrivals,
    ) -> Result<bool> {
        if !self.pauses.has_some() || !self.pauses.has(&Pause::Collection(collection.to_owned())) {
            return Ok(false);
        }
        let recheck = self.catalog().settings().recheck;
        let later = Record { due: self.now.plus(recheck), ..record.clone() };
        self.requeue(collection, url, record, later, arrivals)?;
        Ok(true)
    }

    /// Makes due what a pause may have postponed; returns what is left of the range.
    async fn wake_urls(&self, range: &KeyRange) -> Result<Option<KeyRange>> {
        let page = URLS.scan(self.tx, range, BATCH, Order::Forward).await?;
        let latest = self.now.plus(self.catalog().settings().recheck);
        let mut arrivals = Arrivals::new();
        for ((collection, url), state) in page.rows {
            let UrlState::Queued(record) = state else { continue };
            // What waits for another try after an error keeps waiting.
            if record.due > self.now && record.due <= latest && record.errors == 0 {
                let now = Record { due: self.now, ..record.clone() };
                self.requeue(&collection, &stored_url(&url)?, &record, now, &mut arrivals)?;
            }
        }
        self.arrive_all(&arrivals).await?;
        self.close().await?;
        Ok(page.rest)
    }
}
