//! The engines behind one set of operations, chosen at opening and never seen above this module.
//!
//! An engine gives snapshots, reads them, and commits a write set against the snapshot it was made
//! on. They are five, so that TiKV fits them (start timestamp, get, batch-get, scan, prewrite +
//! commit), which is why they are async and batched and why no iterator outlives a call. The
//! embedded engine answers reads on the calling thread: they take microseconds from cache, less
//! than handing them to another thread would.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::embedded::{Embedded, EmbeddedSnapshot};
use crate::error::Result;
use crate::limits::TXN_BYTES_MAX;
use crate::mem::{Mem, MemSnapshot};
use crate::stats::Operations;
use crate::table::KeyRange;
#[cfg(feature = "tikv")]
use crate::tikv::{Tikv, TikvSnapshot};
use crate::txn::{Bytes, Order, WriteSet};

#[derive(Clone)]
pub(crate) enum Engine {
    Mem(Mem),
    Embedded(Embedded),
    #[cfg(feature = "tikv")]
    Tikv(Tikv),
}

pub(crate) enum Snapshot {
    Mem(MemSnapshot),
    Embedded(EmbeddedSnapshot),
    #[cfg(feature = "tikv")]
    Tikv(Box<TikvSnapshot>),
}

/// Rows of a range, as many as were asked for or fitted.
pub(crate) struct Found {
    pub(crate) items: Vec<(Bytes, Bytes)>,
    /// The range holds no more.
    pub(crate) complete: bool,
}

impl Snapshot {
    pub(crate) fn time(&self) -> Option<i64> {
        match self {
            Snapshot::Mem(snapshot) => snapshot.time(),
            Snapshot::Embedded(_) => None,
            #[cfg(feature = "tikv")]
            Snapshot::Tikv(snapshot) => snapshot.time(),
        }
    }
}

impl Engine {
    /// Whether reading many rows at once is much better than one after the other. In memory it makes no
    /// difference, but what is tested there is to be what runs elsewhere.
    pub(crate) fn reads_ahead(&self) -> bool {
        !matches!(self, Engine::Embedded(_))
    }

    /// Whether it is reached over a network, which may be down for a while.
    pub(crate) fn is_far(&self) -> bool {
        match self {
            Engine::Mem(_) | Engine::Embedded(_) => false,
            #[cfg(feature = "tikv")]
            Engine::Tikv(_) => true,
        }
    }

    /// Keys and values a transaction may write, together.
    pub(crate) fn txn_bytes_max(&self) -> usize {
        match self {
            Engine::Mem(mem) => mem.txn_bytes_max(),
            Engine::Embedded(_) => TXN_BYTES_MAX,
            #[cfg(feature = "tikv")]
            Engine::Tikv(_) => crate::tikv::TXN_BYTES_MAX,
        }
    }

    /// What a key takes of that beside its bytes.
    pub(crate) fn key_bytes(&self) -> usize {
        match self {
            Engine::Mem(_) | Engine::Embedded(_) => 0,
            #[cfg(feature = "tikv")]
            Engine::Tikv(_) => crate::tikv::KEY_BYTES,
        }
    }

    pub(crate) async fn snapshot(&self) -> Result<Snapshot> {
        if let Engine::Mem(mem) = self {
            mem.operations().begins.fetch_add(1, Relaxed);
            mem.travel(1).await;
        }
        match self {
            Engine::Mem(mem) => mem.snapshot().map(Snapshot::Mem),
            Engine::Embedded(embedded) => Ok(Snapshot::Embedded(embedded.snapshot())),
            #[cfg(feature = "tikv")]
            Engine::Tikv(tikv) => Ok(Snapshot::Tikv(Box::new(tikv.snapshot().await?))),
        }
    }

    /// The in-memory engine never waits by itself; on request it lets others run between
    /// operations, or time pass.
    async fn wait(&self, count: fn(&Operations) -> &AtomicU64, round_trips: u64) {
        if let Engine::Mem(mem) = self {
            count(mem.operations()).fetch_add(1, Relaxed);
            mem.travel(round_trips).await;
            mem.maybe_pause().await;
        }
    }

    pub(crate) async fn get(&self, snapshot: &Snapshot, key: &[u8]) -> Result<Option<Bytes>> {
        self.wait(|operations| &operations.gets, 1).await;
        match snapshot {
            Snapshot::Mem(snapshot) => snapshot.get(key),
            Snapshot::Embedded(snapshot) => snapshot.get(key),
            #[cfg(feature = "tikv")]
            Snapshot::Tikv(snapshot) => snapshot.get(key).await,
        }
    }

    pub(crate) async fn multi_get(&self, snapshot: &Snapshot, keys: &[&[u8]]) -> Result<Vec<Option<Bytes>>> {
        self.wait(|operations| &operations.multi_gets, 1).await;
        match snapshot {
            Snapshot::Mem(snapshot) => keys.iter().map(|key| snapshot.get(key)).collect(),
            Snapshot::Embedded(snapshot) => keys.iter().map(|key| snapshot.get(key)).collect(),
            #[cfg(feature = "tikv")]
            Snapshot::Tikv(snapshot) => snapshot.multi_get(keys).await,
        }
    }

    pub(crate) async fn scan(
        &self,
        snapshot: &Snapshot,
        range: &KeyRange,
        limit: usize,
        order: Order,
    ) -> Result<Found> {
        self.wait(|operations| &operations.scans, 1).await;
        match snapshot {
            Snapshot::Mem(snapshot) => snapshot.scan(range, limit, order),
            Snapshot::Embedded(snapshot) => snapshot.scan(range, limit, order),
            #[cfg(feature = "tikv")]
            Snapshot::Tikv(snapshot) => snapshot.scan(range, limit, order).await,
        }
    }

    pub(crate) async fn commit(&self, snapshot: &Snapshot, set: WriteSet) -> Result<()> {
        self.wait(|operations| &operations.commits, 2).await;
        match (self, snapshot) {
            (Engine::Mem(mem), Snapshot::Mem(snapshot)) => mem.commit(snapshot, set),
            (Engine::Embedded(embedded), Snapshot::Embedded(snapshot)) => {
                embedded.commit(snapshot, set).await
            }
            #[cfg(feature = "tikv")]
            (Engine::Tikv(tikv), Snapshot::Tikv(snapshot)) => tikv.commit(snapshot, set).await,
            _ => unreachable!("a snapshot is only ever used with the engine that made it"),
        }
    }
}
