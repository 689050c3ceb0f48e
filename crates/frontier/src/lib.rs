//! What Skurd remembers of the web and does next: the queue, the hosts, and the harvest as one
//! transaction.
//!
//! The life of a URL: a page or a person names it ([`links`]) → it waits in its host's queue until
//! it is due → its host is [reserved](Frontier::reserve) and it is evaluated → somebody fetches it
//! → [`Frontier::complete`] commits everything that follows from that in one transaction, and it
//! waits again, or is done, or blacklisted, or gone. What is decided at each step is [`policy`]'s
//! business; this crate reads, asks, and writes.
//!
//! The store behind it gives snapshot isolation and no more. What must not happen between two
//! transactions is kept from happening by a row that both write or lock: the host's row for its
//! slots, `ARRIVALS` for its place (see [`hosts`]), and the URL's own row for everything about the
//! URL.

mod again;
mod blacklist;
mod budgets;
mod check;
mod clock;
mod complete;
mod contract;
mod counts;
mod cursor;
mod declared;
mod feed;
mod format1;
mod format2;
mod guests;
mod harvester;
mod hosts;
mod hours;
mod lane;
mod lease;
mod line;
mod links;
mod look;
mod memo;
mod nodes;
mod patterns;
mod pause;
mod payloads;
pub mod ports;
pub mod ranges;
mod recount;
mod report;
mod reserve;
mod rest;
mod robots;
mod runs;
#[cfg(not(feature = "tables"))]
#[allow(unreachable_pub, dead_code, reason = "with the feature they are public")]
mod schema;
#[cfg(feature = "tables")]
pub mod schema;
mod shard;
mod shelf;
mod size;
mod start;
mod stats;
mod sweep;
mod transaction;
mod traps;
mod upgrade;
mod visits;
mod walks;
mod why;

/// A future in a box is compiled here, once, and not anew in every crate that awaits it.
pub(crate) use async_recursion::async_recursion as boxed;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU8, Ordering};

use policy::catalog::{Catalog, Change};
use policy::time::Time;
use store::{Result, Store, Tx};
use tokio::sync::{Mutex, OwnedMutexGuard};

pub use again::Unanswered;
pub use blacklist::BlacklistRow;
pub use budgets::{BudgetRow, Ending, PlaceRow};
pub use check::{Finding, Ledger};
pub use clock::StoreClock;
pub use complete::{Completed, CompletedAll, Harvest, Summary};
pub use contract::{Contract, ContractRow};
pub use declared::DeclareError;
pub use feed::INDEX_ACROSS;
pub use guests::Guests;
pub use harvester::{End, Harvested, Harvester, IDLE_MAX, RunError, Tally, Witness, waiting_max};
pub use lane::{Lane, Room};
pub use links::LinkTrace;
pub use look::{CaptureId, HostRow, QueueRow, State};
pub use nodes::{Claim, JoinError, NODE_LEASE};
pub use pause::Pause;
pub use payloads::{Content, PAYLOAD_AGE_MAX};
pub use report::{DomainRow, FeasibilityRow};
pub use reserve::Reserved;
pub use rest::Rest;
pub use robots::server_of;
pub use runs::{RunCounts, RunSight};
pub use schema::{
    ArchiveFile, Capture, ErrorKind, Exhausted, Host, Latest, NodeFigures, NodeRow, Payload, Promises,
    Refers, RunOf, RunRow, RunTraffic, RunUrls, ShardRow, Slots, Traffic, UrlCounts, UrlState, WalkRun,
};
pub use shelf::Adoption;
pub use start::{Started, Target};
pub use stats::{is_content, is_not_found};
pub use sweep::Swept;
pub use traps::{TRAPS_MAX, Trap, TrapKey};
pub use upgrade::UPGRADES;
pub use visits::{Visit, Visiting};
pub use walks::{WalkError, WalkSight};
pub use why::{Explanation, HostSituation, Situation};

use self::traps::Traps;
use clock::Watch;
use counts::{Counted, Recent};
use cursor::{Cursor, Writer};
use declared::Declared;
use feed::Indexes;
use hosts::STRIPES;
use memo::Memo;
use nodes::Share;
use pause::Pauses;
use ports::Clock;
use rest::Resting;
use transaction::{Traces, Transaction};
use walks::Walks;

/// The frontier of one store. Share it by reference or `Arc`.
pub struct Frontier {
    store: Store,
    clock: Arc<dyn Clock>,
    declared: Declared,
    share: Share,
    watch: Watch,
    pauses: Pauses,
    cursor: Cursor,
    memo: Memo,
    walks: Walks,
    indexes: Indexes,
    /// Workers of one process would all want the head of the host queue: one takes for all who
    /// wait.
    reserving: Mutex<()>,
    /// Harvests of one unit that finish together commit one after the other, instead of
    /// conflicting.
    units: parking_lot::Mutex<HashMap<String, Arc<Mutex<()>>>>,
    rng: parking_lot::Mutex<fastrand::Rng>,
    /// One looks for leases that have run out.
    sweeping: Mutex<()>,
    /// When the next blacklisting ends, or before: so that whoever sleeps wakes up for it.
    next_end: AtomicI64,
    /// Nothing is given out while any of these is on: a bit for each [`Brake`].
    held_back: AtomicU8,
    resting: Resting,
    recent: Recent,
    traps: Traps,
    tracing: AtomicBool,
    traces: Traces,
}

impl std::fmt::Debug for Frontier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Frontier").field("store", &self.store).finish_non_exhaustive()
    }
}

/// Who can hold a harvest back for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Brake {
    /// The link index is behind with what was harvested.
    Index,
    /// There is no room for what would be harvested.
    Disk,
}

impl Frontier {
    /// Leases and stripes are drawn from `seed`: two processes on one store need different ones.
    pub fn new(store: Store, clock: Arc<dyn Clock>, seed: u64) -> Frontier {
        Frontier {
            share: Share::of(&store),
            store,
            clock,
            declared: Declared::default(),
            watch: Watch::default(),
            pauses: Pauses::default(),
            cursor: Cursor::default(),
            memo: Memo::new(),
            walks: Walks::default(),
            indexes: Indexes::default(),
            reserving: Mutex::new(()),
            units: parking_lot::Mutex::default(),
            rng: parking_lot::Mutex::new(fastrand::Rng::with_seed(seed)),
            sweeping: Mutex::new(()),
            next_end: AtomicI64::new(i64::MAX),
            held_back: AtomicU8::new(0),
            resting: Resting::default(),
            recent: Recent::default(),
            traps: Traps::default(),
            tracing: AtomicBool::new(false),
            traces: Traces::default(),
        }
    }

    pub fn store(&self) -> &Store {
        &self.store
    }

    pub fn now(&self) -> Time {
        self.clock.now()
    }

    /// Runs `look` on what is declared now.
    pub async fn with_catalog<T>(&self, look: impl FnOnce(&Catalog) -> T) -> Result<T> {
        let tx = self.store.begin().await?;
        self.declared.catch_up(&tx).await?;
        Ok(look(&self.declared.catalog.read()))
    }

    /// Runs `look` on what was declared when the last transaction began: for the harvests that it
    /// brought forth.
    pub fn peek_catalog<T>(&self, look: impl FnOnce(&Catalog) -> T) -> T {
        look(&self.declared.catalog.read())
    }

    /// Declares, changes and deletes things, each batch at once; in effect from the next evaluation
    /// on.
    #[crate::boxed]
    pub async fn declare(&self, changes: &[Change]) -> Result<(), DeclareError> {
        self.declare_after(None, changes).await.map(|_| ())
    }

    /// Runs `look` on what is declared now, and says which version that is: for whoever changes what
    /// they saw by [`Frontier::declare_since`].
    pub async fn with_catalog_since<T>(&self, look: impl FnOnce(&Catalog) -> T) -> Result<(u64, T)> {
        let tx = self.store.begin().await?;
        self.declared.catch_up(&tx).await?;
        // First: what is seen may be newer, and is then refused without need.
        let since = self.declared.version();
        Ok((since, look(&self.declared.catalog.read())))
    }

    /// Declares changes of what was seen; false if somebody has changed it since, through whichever node
    /// (M3), and nothing is declared.
    #[crate::boxed]
    pub async fn declare_since(&self, since: u64, changes: &[Change]) -> Result<bool, DeclareError> {
        self.declare_after(Some(since), changes).await
    }

    async fn declare_after(&self, since: Option<u64>, changes: &[Change]) -> Result<bool, DeclareError> {
        const BATCH: usize = 1000;
        let (rules, closed) = self
            .with_catalog(|catalog| (catalog.url_rules().clone(), hours::with_windows(catalog, changes)))
            .await?;
        let budgets = self.with_catalog(|catalog| budgets::Changed::of(catalog, changes)).await?;
        for change in changes {
            if let Change::PutSeed(seed) = change
                && let Err(refusal) = policy::url::normalise(&seed.url, None, &rules)
            {
                let (seed, url) = (seed.name.clone(), seed.url.clone());
                return Err(policy::catalog::CatalogError::SeedUrl { seed, url, refusal }.into());
            }
            if let Change::PutWalk(walk) = change {
                self.check_walk(walk).await?;
            }
        }
        for (number, batch) in changes.chunks(BATCH).enumerate() {
            // Those after the first are of what the first has made of it.
            let since = since.filter(|_| number == 0);
            let written = self.store.transact_idempotent(|tx| async move {
                match since {
                    Some(since) => declared::write_since(&tx, since, batch).await,
                    None => declared::write(&tx, batch).await.map(|()| true),
                }
            });
            if !written.await? {
                return Ok(false);
            }
        }
        self.with_catalog(|_| ()).await?;
        for host in &closed {
            self.look_at_host(host).await?;
        }
        self.budgets_changed(&budgets).await?;
        Ok(true)
    }

    async fn transaction<'a>(
        &'a self,
        tx: &'a Tx,
        cursor: &'a Writer<'a>,
        stripe: u64,
    ) -> Result<Transaction<'a>> {
        self.declared.catch_up(tx).await?;
        let stripe = u32::try_from(stripe % u64::from(STRIPES)).unwrap_or(0);
        let traces = self.tracing.load(Ordering::Relaxed).then_some(&self.traces);
        let now = self.time_of(tx).await?;
        let counted = parking_lot::Mutex::new(Counted::on(self.is_shared(tx)));
        let (declared, pauses, next_end) = (&self.declared, &self.pauses, &self.next_end);
        let (share, recent, traps) = (&self.share, &self.recent, &self.traps);
        let found = parking_lot::Mutex::default();
        Ok(Transaction {
            tx,
            now,
            declared,
            share,
            pauses,
            cursor,
            next_end,
            stripe,
            traces,
            recent,
            traps,
            found,
            counted,
            purse: parking_lot::Mutex::default(),
        })
    }

    /// Gives out no orders for as long as anybody holds it back.
    pub fn hold_back(&self, by: Brake, hold: bool) {
        let bit = 1 << by as u8;
        match hold {
            true => self.held_back.fetch_or(bit, Ordering::Relaxed),
            false => self.held_back.fetch_and(!bit, Ordering::Relaxed),
        };
    }

    /// From now on, every decided link is noted for [`Frontier::take_traces`]. For simulations:
    /// nothing bounds the notes, and a transaction that is run again notes its links again.
    pub fn trace_links(&self) {
        self.tracing.store(true, Ordering::Relaxed);
    }

    pub fn take_traces(&self) -> Vec<LinkTrace> {
        std::mem::take(&mut *self.traces.lock())
    }

    fn writer(&self) -> Writer<'_> {
        self.cursor.writer(&self.memo)
    }

    fn draw(&self) -> u64 {
        self.rng.lock().u64(..)
    }

    /// Waits until no other harvest of these units is being committed; in one order for all, so
    /// that nobody waits in a circle.
    async fn host_turns<'a>(&self, units: impl Iterator<Item = &'a str>) -> Vec<OwnedMutexGuard<()>> {
        let mut turns = Vec::new();
        for unit in units.collect::<BTreeSet<_>>() {
            let turn = {
                let mut units = self.units.lock();
                if units.len() > UNIT_TURNS_MAX {
                    units.retain(|_, turn| Arc::strong_count(turn) > 1);
                }
                Arc::clone(units.entry(unit.to_owned()).or_default())
            };
            turns.push(turn.lock_owned().await);
        }
        turns
    }
}

/// Turns kept for units nobody waits for.
const UNIT_TURNS_MAX: usize = 10_000;
