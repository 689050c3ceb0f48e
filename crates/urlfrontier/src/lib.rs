//! The frontier of other crawlers (page 9 of the specification): URLs that a client puts, gets and
//! judges by itself, kept in tables of their own in the same store.
//!
//! | file | is |
//! |---|---|
//! | `tables` | the rows, and what keeps concurrent transactions apart |
//! | `item` | what a client brings, and its limits |
//! | `put`, `get` | the two ways of a URL: in or back, and out under a lease |
//! | `queues` | what is said of queues and crawls: delays, blocks, limits, deletion |
//! | `remove` | sweeping up what was deleted |
//! | `neighbours` | hosts that somebody else asks too |
//! | `counts`, `figures` | counts and lists; what this process did lately |
//! | `check` | what must hold between the tables |
//! | `grpc` | the service (feature `grpc`) |
//!
//! Within a process, transactions take turns: nothing they do is worth running again, and items that
//! wait meanwhile share the next commit. Between processes the transactions themselves decide.

mod check;
mod counts;
mod figures;
mod get;
#[cfg(test)]
mod golden_rows;
#[cfg(feature = "grpc")]
pub mod grpc;
mod item;
mod neighbours;
mod put;
mod queues;
mod remove;
mod tables;

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, OnceLock};

pub use check::check;
pub use counts::{
    CrawlFigures, CrawlPage, Filter, IN_PROCESS_MAX, List, Listed, QueueFigures, QueuePage, Stats,
};
pub use figures::{Done, Figures, Rates};
use foldhash::fast::RandomState;
pub use get::{Handed, URLS_MAX, Wanted};
pub use item::{
    CRAWL_BYTES_MAX, DEFAULT_CRAWL, Item, KEY_BYTES_MAX, METADATA_BYTES_MAX, Malformed, News, URL_BYTES_MAX,
    crawl_of, key_of,
};
pub use neighbours::{Meeting, Neighbours, Pending};
use parking_lot::Mutex;
pub use put::Ack;
use store::{Result, Store, Tx};

/// Milliseconds since 1970.
pub type Clock = Arc<dyn Fn() -> i64 + Send + Sync>;

/// The URL frontier in a store.
pub struct UrlFrontier {
    store: Store,
    clock: Clock,
    stripe: u32,
    /// No other process writes.
    alone: bool,
    /// One transaction at a time.
    turn: tokio::sync::Mutex<()>,
    /// Draws the numbers of crawls and queues.
    rng: Mutex<fastrand::Rng>,
    /// Before this, nothing of a crawl stands in [`tables::READY`]; what was popped there would be
    /// passed over each time. Only where no other process writes.
    heads: Mutex<HashMap<u64, i64, RandomState>>,
    /// Whose turn it is where any crawl will do.
    next_crawl: AtomicUsize,
    neighbours: Option<Arc<dyn Neighbours>>,
    /// Of this process.
    pub figures: Figures,
    /// Where this process serves it, if it does.
    pub served_at: OnceLock<SocketAddr>,
}

impl std::fmt::Debug for UrlFrontier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UrlFrontier").field("stripe", &self.stripe).finish_non_exhaustive()
    }
}

impl UrlFrontier {
    /// Among others on the same store, with a number that they had better not have; without one,
    /// alone. The seed is that of the numbers that crawls and queues get.
    pub fn new(store: Store, clock: Clock, number: Option<u32>, seed: u64) -> UrlFrontier {
        UrlFrontier {
            store,
            clock,
            stripe: number.unwrap_or_default() % tables::STRIPES,
            alone: number.is_none(),
            turn: tokio::sync::Mutex::default(),
            rng: Mutex::new(fastrand::Rng::with_seed(seed)),
            heads: Mutex::default(),
            next_crawl: AtomicUsize::default(),
            neighbours: None,
            figures: Figures::default(),
            served_at: OnceLock::new(),
        }
    }

    /// Hosts are shared with these, as far as they say so.
    pub fn among(mut self, neighbours: Arc<dyn Neighbours>) -> UrlFrontier {
        self.neighbours = Some(neighbours);
        self
    }

    fn now(&self, tx: &Tx) -> i64 {
        tx.time().unwrap_or_else(|| (self.clock)())
    }

    /// A number that nothing has.
    fn draw(&self) -> u64 {
        self.rng.lock().u64(1..)
    }

    /// Where the ready queues of a crawl begin.
    fn head(&self, crawl: u64) -> i64 {
        if !self.alone {
            return i64::MIN;
        }
        self.heads.lock().get(&crawl).copied().unwrap_or(i64::MIN)
    }

    /// A queue is ready at this moment, perhaps before all others.
    fn lower_head(&self, crawl: u64, when: i64) {
        if let Some(head) = self.heads.lock().get_mut(&crawl) {
            *head = when.min(*head);
        }
    }

    /// Begins a read on the newest state.
    async fn look(&self) -> Result<Tx> {
        self.store.begin().await
    }
}
