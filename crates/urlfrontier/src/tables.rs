//! The tables of the URL frontier: numbers 0x80 to 0x8F, and nobody else's.
//!
//! Names are looked up once and stand for numbers from then on: a crawl and a queue get a new one
//! each time they come into being. So what is deleted is gone with the one row that has its name,
//! however much it held, and its rows are swept up afterwards ([`crate::remove`]).
//!
//! | table | key | holds |
//! |---|---|---|
//! | `CRAWLS` | crawl | its number |
//! | `QUEUES` | crawl, key | the queue: number, when its first URL is due, delay, block, limit |
//! | `READY` | crawl, when, key | each queue that has something to give, by when it may |
//! | `URLS` | queue, URL | state and metadata |
//! | `PLACES` | queue, due, URL | what waits |
//! | `LEASES` | crawl, queue, until, URL | what was handed out |
//! | `COUNTS` | queue, stripe | its URLs |
//! | `CRAWL_COUNTS` | crawl, stripe | its queues and URLs |
//! | `SETTINGS` | – | whether it is active, the delay of all queues |
//! | `REMOVED` | crawl, queue (0: all of it) | what is still to be swept up |
//! | `BLOCKS` | crawl, until (seconds), key | the queues that are, or were last, blocked |
//!
//! **Gates.** Whoever adds to a queue writes or locks the counters of its own stripe, and whoever
//! concludes that there is nothing before some moment (or nothing at all) locks those of all
//! stripes. So these two conflict, and two who only add do not.

use serde::{Deserialize, Serialize};
use store::key::Key;
use store::table::{Raw, Table};
use store::{Bytes, Error, Result, Tx};

pub(crate) const CRAWLS: Table<(String,), u64> = Table::new(0x80, "url_frontier_crawls");
pub(crate) const QUEUES: Table<(u64, String), Queue> = Table::new(0x81, "url_frontier_queues");
pub(crate) const READY: Table<(u64, i64, String), ()> = Table::new(0x82, "url_frontier_ready");
pub(crate) const URLS: Table<(u64, String), Raw> = Table::new(0x83, "url_frontier_urls");
pub(crate) const PLACES: Table<(u64, i64, String), ()> = Table::new(0x84, "url_frontier_places");
pub(crate) const LEASES: Table<(u64, u64, i64, String), ()> = Table::new(0x85, "url_frontier_leases");
pub(crate) const COUNTS: Table<(u64, u32), Counts> = Table::new(0x86, "url_frontier_counts");
pub(crate) const CRAWL_COUNTS: Table<(u64, u32), CrawlCounts> = Table::new(0x87, "url_frontier_crawl_counts");
pub(crate) const SETTINGS: Table<(u8,), Settings> = Table::new(0x88, "url_frontier_settings");
pub(crate) const REMOVED: Table<(u64, u64), ()> = Table::new(0x89, "url_frontier_removed");
pub(crate) const BLOCKS: Table<(u64, u64, String), ()> = Table::new(0x8A, "url_frontier_blocks");

/// All of them: number, name, version.
#[cfg(test)]
pub(crate) const TABLES: &[(u8, &str, u8)] = &[
    CRAWLS.facts(),
    QUEUES.facts(),
    READY.facts(),
    URLS.facts(),
    PLACES.facts(),
    LEASES.facts(),
    COUNTS.facts(),
    CRAWL_COUNTS.facts(),
    SETTINGS.facts(),
    REMOVED.facts(),
    BLOCKS.facts(),
];

/// The one row of [`SETTINGS`].
pub(crate) const ONLY: (u8,) = (0,);
/// In [`REMOVED`]: the crawl itself.
pub(crate) const WHOLE_CRAWL: u64 = 0;
/// Writers at the same time that do not get into each other's way: one a node.
pub(crate) const STRIPES: u32 = 8;

/// A queue, or what was said of one that has no URLs yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Queue {
    /// 0: nothing was ever put into it.
    pub(crate) id: u64,
    /// The earliest moment of its places and leases, exactly; none: it has neither. Milliseconds,
    /// as all moments.
    pub(crate) first: Option<i64>,
    /// Where it stands in [`READY`].
    pub(crate) ready: Option<i64>,
    /// When URLs were last taken from it.
    pub(crate) got: Option<i64>,
    /// Its own, or that of all.
    pub(crate) delay_s: Option<u32>,
    pub(crate) blocked_until_s: u64,
    /// It gives nothing once so many are completed; 0: no limit.
    pub(crate) limit: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Counts {
    pub(crate) active: i64,
    pub(crate) completed: i64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CrawlCounts {
    pub(crate) queues: i64,
    /// Those with URLs that are not completed.
    pub(crate) active_queues: i64,
    pub(crate) urls: Counts,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Settings {
    pub(crate) active: bool,
    pub(crate) delay_s: u32,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { active: true, delay_s: 1 }
    }
}

/// What is known of a URL but its metadata, which stand behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct State {
    pub(crate) created_s: u64,
    /// As the client said it; 0: completed.
    pub(crate) date_s: u64,
    /// Discovered URLs are due at a moment, not at a second.
    pub(crate) date_ms: u16,
    /// Until when it is handed out; 0: it is not.
    pub(crate) until: i64,
}

impl State {
    pub(crate) fn due(&self) -> i64 {
        millis(self.date_s).saturating_add(i64::from(self.date_ms))
    }

    pub(crate) fn is_completed(&self) -> bool {
        self.date_s == 0
    }

    /// As [`URLS`] holds it.
    pub(crate) fn with(&self, metadata: &[u8]) -> Result<Vec<u8>> {
        let head = Vec::with_capacity(24 + metadata.len());
        let mut bytes = postcard::to_extend(self, head)
            .map_err(|e| Error::Corrupt(format!("the state of a URL cannot be written: {e}")))?;
        bytes.extend_from_slice(metadata);
        Ok(bytes)
    }

    pub(crate) fn read(stored: &Bytes) -> Result<(State, &[u8])> {
        let content = URLS.raw(Some(stored))?;
        postcard::take_from_bytes(content)
            .map_err(|_| Error::Corrupt(format!("a value of table {} does not read", URLS.name())))
    }
}

/// As many milliseconds, or the end of time.
pub(crate) fn millis(seconds: u64) -> i64 {
    i64::try_from(seconds.saturating_mul(1000)).unwrap_or(i64::MAX)
}

/// Counters that are added up over stripes.
pub(crate) trait Sum: Copy + Default + PartialEq {
    fn plus(&mut self, other: &Self);
}

impl Sum for Counts {
    fn plus(&mut self, other: &Counts) {
        self.active += other.active;
        self.completed += other.completed;
    }
}

impl Sum for CrawlCounts {
    fn plus(&mut self, other: &CrawlCounts) {
        self.queues += other.queues;
        self.active_queues += other.active_queues;
        self.urls.plus(&other.urls);
    }
}

/// What all stripes of a counter come to.
pub(crate) async fn sum<V>(tx: &Tx, table: &Table<(u64, u32), V>, id: u64) -> Result<V>
where
    V: Sum + Serialize + serde::de::DeserializeOwned,
{
    let mut sum = V::default();
    let rows = table.scan(tx, &table.range((id,)), STRIPES as usize, store::Order::Forward).await?;
    rows.rows.iter().for_each(|(_, row)| sum.plus(row));
    Ok(sum)
}

/// Adds to one stripe, and locks it where there is nothing to add.
pub(crate) async fn add<V>(tx: &Tx, table: &Table<(u64, u32), V>, key: (u64, u32), delta: &V) -> Result<()>
where
    V: Sum + Serialize + serde::de::DeserializeOwned,
{
    if *delta == V::default() {
        return table.lock_unread(tx, key.as_key());
    }
    let mut sum = table.get(tx, key).await?.unwrap_or_default();
    sum.plus(delta);
    if sum == V::default() { table.delete(tx, key) } else { table.put(tx, key, &sum) }
}
