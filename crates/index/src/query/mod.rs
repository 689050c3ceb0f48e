//! Questions to an index (X12, X15).
//!
//! Every list is paged by key: a cursor says after which entry to go on, so a page costs the same
//! wherever it is and however much there is, and entries that come or go meanwhile move nothing
//! else. A cursor is opaque, and good for the query that gave it.

mod cursor;
mod links;
mod ranks;

use policy::time::Time;
use store::{Order, Tx};

pub(crate) use ranks::{Scope, Stream};

use crate::error::Error;
use crate::handle::Index;
use crate::observe::SHARDS;
use crate::schema::{COUNTS, Count, Counted, DOMAINS, HEADS, TOTALS, Tally, Totals};
use crate::uri::Uri;

/// Entries of one page, however many are asked for.
pub const LIMIT_MAX: usize = 1000;

/// Some entries of a list, and where to go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing<T> {
    pub items: Vec<T>,
    /// Pass it to the same query for what comes next; `None`: this was the last page.
    pub next: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    Incount,
    Score,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankedPage {
    pub uri: Uri,
    pub incount: u64,
    pub score: u64,
    pub loaded: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankedDomain {
    /// Spelt as URIs are: `com.example`.
    pub domain: String,
    pub pagecount: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inlink {
    pub source: Uri,
    pub anchor: String,
    pub first_seen: Time,
    /// When its page was last loaded with it.
    pub last_seen: Time,
}

/// A stretch of time; an end that is `None` is open. Both ends are part of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    pub from: Option<Time>,
    pub to: Option<Time>,
}

impl Seen {
    /// Whether something that was there from `first` to `last` was there at some moment of it.
    pub fn includes(&self, first: Time, last: Time) -> bool {
        self.to.is_none_or(|to| first <= to) && self.from.is_none_or(|from| last >= from)
    }
}

/// What is known of one URI.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageFacts {
    pub incount: u64,
    pub score: u64,
    /// Captured here; then the following are known.
    pub loaded: bool,
    pub outlinks: Option<u64>,
    pub first_seen: Option<Time>,
    pub last_seen: Option<Time>,
}

impl Index {
    /// Counts of one URI; `None` if it is neither loaded nor linked to.
    #[crate::boxed]
    pub async fn page(&self, uri: &Uri) -> Result<Option<PageFacts>, Error> {
        let tx = self.store().begin().await?;
        let key = (self.number(), uri.as_str());
        let count = COUNTS.get(&tx, key).await?.and_then(Counted::known);
        let head = HEADS.get(&tx, key).await?.filter(|head| head.cur.is_some());
        let Some(count) = count.or_else(|| head.as_ref().map(|_| Count { incount: 0, loaded: true })) else {
            return Ok(None);
        };
        Ok(Some(PageFacts {
            incount: count.incount,
            score: count.score(),
            loaded: count.loaded,
            outlinks: head.as_ref().and_then(|head| head.cur).map(|content| u64::from(content.links)),
            first_seen: head.as_ref().map(|head| head.first_seen),
            last_seen: head.as_ref().map(|head| head.last_seen),
        }))
    }

    /// How many URIs are known in a domain (X8); the domain is spelt as in [`Uri::domain`].
    #[crate::boxed]
    pub async fn domain(&self, domain: &str) -> Result<u64, Error> {
        let tx = self.store().begin().await?;
        let count = DOMAINS.get(&tx, (self.number(), domain)).await?.unwrap_or(0);
        Ok(u64::try_from(count).unwrap_or(0))
    }

    /// What the whole index holds.
    #[crate::boxed]
    pub async fn totals(&self) -> Result<Totals, Error> {
        Ok(self.tally(&self.store().begin().await?).await?.into())
    }

    pub(crate) async fn tally(&self, tx: &Tx) -> store::Result<Tally> {
        let shards = 2 * SHARDS as usize;
        let range = TOTALS.range((self.number(),));
        let rows = TOTALS.scan(tx, &range, shards, Order::Forward).await?.rows;
        let mut all = Tally::default();
        rows.into_iter().for_each(|(_, shard)| all += shard);
        Ok(all)
    }
}
