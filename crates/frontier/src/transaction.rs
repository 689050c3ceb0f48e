//! One transaction at work: the snapshot, the time, and what is declared.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicI64;

use policy::catalog::Catalog;
use policy::model::Record;
use policy::time::{Span, Time};
use policy::url::CrawlUrl;
use store::{Error, Result, Tx};

use crate::budgets::Purse;
use crate::counts::{Counted, Recent};
use crate::cursor::Writer;
use crate::declared::Declared;
use crate::links::LinkTrace;
use crate::nodes::Share;
use crate::pause::Pauses;
use crate::schema::{QUEUE, URLS, UrlState};
use crate::traps::{NewUrl, Traps};

/// As PD's clock goes.
const STORE_CLOCK_STEP: Span = Span(50);

pub(crate) struct Transaction<'a> {
    pub(crate) tx: &'a Tx,
    pub(crate) now: Time,
    pub(crate) declared: &'a Declared,
    pub(crate) share: &'a Share,
    /// As of the last reservation, pause or resumption.
    pub(crate) pauses: &'a Pauses,
    pub(crate) cursor: &'a Writer<'a>,
    /// When the next blacklisting ends.
    pub(crate) next_end: &'a AtomicI64,
    /// Which stripe of arrivals this transaction locks (see [`crate::hosts`]).
    pub(crate) stripe: u32,
    /// Where decided links are noted, if anybody wants to know.
    pub(crate) traces: Option<&'a Traces>,
    pub(crate) recent: &'a Recent,
    pub(crate) traps: &'a Traps,
    /// URLs that pages brought of their own host, which were not known: see [`crate::traps`].
    pub(crate) found: parking_lot::Mutex<Vec<NewUrl>>,
    /// What the counters have to be told at the end: see [`crate::counts`].
    pub(crate) counted: parking_lot::Mutex<Counted>,
    /// F36: what was used of budgets, as far as this transaction has asked.
    pub(crate) purse: parking_lot::Mutex<Purse>,
}

pub(crate) type Traces = parking_lot::Mutex<Vec<LinkTrace>>;

/// The hosts at which this transaction queued URLs, and the earliest of each.
pub(crate) type Arrivals = BTreeMap<String, Time>;

impl Transaction<'_> {
    /// What is declared; the guard must not be held over an await, and cannot.
    pub(crate) fn catalog(&self) -> parking_lot::RwLockReadGuard<'_, Catalog> {
        self.declared.catalog.read()
    }

    /// When a request begins or ends now that is followed by a delay: not before it really does. The
    /// clock of a store goes in steps, and may be behind by one.
    pub(crate) fn asked_at(&self, delay: Span) -> Time {
        match self.tx.time() {
            Some(_) if delay > Span::ZERO => self.now.plus(STORE_CLOCK_STEP),
            _ => self.now,
        }
    }

    pub(crate) async fn state(&self, collection: &str, url: &str) -> Result<Option<UrlState>> {
        URLS.get(self.tx, (collection, url)).await
    }

    /// Puts a URL that is not queued into the queue; `old` is what was known of it.
    pub(crate) fn enqueue(
        &self,
        collection: &str,
        url: &CrawlUrl,
        old: Option<&UrlState>,
        mut record: Record,
        arrivals: &mut Arrivals,
    ) -> Result<()> {
        self.charge(collection, url, &mut record);
        self.hold_back(collection, url, None, Some(&record))?;
        debug_assert!(!matches!(old, Some(UrlState::Queued(_))), "{url} is queued already");
        self.count_enqueue(collection, url, old, &record);
        let (due, state) = (record.due, UrlState::Queued(record));
        self.put_queued(collection, url, due, &state, arrivals)
    }

    fn put_queued(
        &self,
        collection: &str,
        url: &CrawlUrl,
        due: Time,
        state: &UrlState,
        arrivals: &mut Arrivals,
    ) -> Result<()> {
        self.cursor.changes(collection, url.as_str());
        QUEUE.put(self.tx, (url.site(), due.0, collection, url.as_str()), &())?;
        URLS.put(self.tx, (collection, url.as_str()), state)?;
        arrivals.entry(url.site().to_owned()).and_modify(|first| *first = due.min(*first)).or_insert(due);
        Ok(())
    }

    /// Replaces the record of a queued URL and moves it if its due time changed.
    pub(crate) fn requeue(
        &self,
        collection: &str,
        url: &CrawlUrl,
        old: &Record,
        mut record: Record,
        arrivals: &mut Arrivals,
    ) -> Result<()> {
        self.charge(collection, url, &mut record);
        self.hold_back(collection, url, Some(old), Some(&record))?;
        self.count_requeue(collection, url, old, &record);
        let (due, state) = (record.due, UrlState::Queued(record));
        if due == old.due {
            self.cursor.changes(collection, url.as_str());
            return URLS.put(self.tx, (collection, url.as_str()), &state);
        }
        QUEUE.delete(self.tx, (url.site(), old.due.0, collection, url.as_str()))?;
        self.put_queued(collection, url, due, &state, arrivals)
    }

    /// Takes a queued URL out of the queue; `state` is what remains of it, if anything.
    pub(crate) fn unqueue(
        &self,
        collection: &str,
        url: &CrawlUrl,
        old: &Record,
        state: Option<&UrlState>,
    ) -> Result<()> {
        self.hold_back(collection, url, Some(old), None)?;
        self.count_unqueue(collection, url, old, state);
        self.cursor.changes(collection, url.as_str());
        QUEUE.delete(self.tx, (url.site(), old.due.0, collection, url.as_str()))?;
        match state {
            Some(state) => URLS.put(self.tx, (collection, url.as_str()), state),
            None => URLS.delete(self.tx, (collection, url.as_str())),
        }
    }
}

/// A stored URL as a URL: it was one when it was stored.
pub(crate) fn stored_url(text: &str) -> Result<CrawlUrl> {
    CrawlUrl::from_normal(text).map_err(|e| Error::Corrupt(format!("stored URL {text:?}: {e}")))
}
