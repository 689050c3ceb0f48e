//! The engines behind one set of operations, chosen at opening and never seen above this module.
//!
//! An engine gives snapshots, reads them, and commits a write set against the snapshot it was made
//! on. TiKV fits the same five operations (start timestamp, get, batch-get, scan, prewrite +
//! commit), which is why they are async and batched and why no iterator outlives a call. The
//! embedded engine answers reads on the calling thread: they take microseconds from cache, less
//! than handing them to another thread would.

use crate::embedded::{Embedded, EmbeddedSnapshot};
use crate::error::Result;
use crate::mem::{Mem, MemSnapshot};
use crate::table::KeyRange;
use crate::txn::{Bytes, Order, WriteSet};

#[derive(Clone)]
pub(crate) enum Engine {
    Mem(Mem),
    Embedded(Embedded),
}

pub(crate) enum Snapshot {
    Mem(MemSnapshot),
    Embedded(EmbeddedSnapshot),
}

/// Rows of a range, as many as were asked for or fitted.
pub(crate) struct Found {
    pub(crate) items: Vec<(Bytes, Bytes)>,
    /// The range holds no more.
    pub(crate) complete: bool,
}

impl Engine {
    pub(crate) async fn snapshot(&self) -> Result<Snapshot> {
        match self {
            Engine::Mem(mem) => mem.snapshot().map(Snapshot::Mem),
            Engine::Embedded(embedded) => Ok(Snapshot::Embedded(embedded.snapshot())),
        }
    }

    /// The in-memory engine never waits by itself; on request it lets others run between
    /// operations.
    async fn maybe_pause(&self) {
        if let Engine::Mem(mem) = self {
            mem.maybe_pause().await;
        }
    }

    pub(crate) async fn get(&self, snapshot: &Snapshot, key: &[u8]) -> Result<Option<Bytes>> {
        self.maybe_pause().await;
        match snapshot {
            Snapshot::Mem(snapshot) => snapshot.get(key),
            Snapshot::Embedded(snapshot) => snapshot.get(key),
        }
    }

    pub(crate) async fn multi_get(&self, snapshot: &Snapshot, keys: &[&[u8]]) -> Result<Vec<Option<Bytes>>> {
        self.maybe_pause().await;
        keys.iter()
            .map(|key| match snapshot {
                Snapshot::Mem(snapshot) => snapshot.get(key),
                Snapshot::Embedded(snapshot) => snapshot.get(key),
            })
            .collect()
    }

    pub(crate) async fn scan(
        &self,
        snapshot: &Snapshot,
        range: &KeyRange,
        limit: usize,
        order: Order,
    ) -> Result<Found> {
        self.maybe_pause().await;
        match snapshot {
            Snapshot::Mem(snapshot) => snapshot.scan(range, limit, order),
            Snapshot::Embedded(snapshot) => snapshot.scan(range, limit, order),
        }
    }

    pub(crate) async fn commit(&self, snapshot: &Snapshot, set: WriteSet) -> Result<()> {
        self.maybe_pause().await;
        match (self, snapshot) {
            (Engine::Mem(mem), Snapshot::Mem(snapshot)) => mem.commit(snapshot, set),
            (Engine::Embedded(embedded), Snapshot::Embedded(snapshot)) => {
                embedded.commit(snapshot, set).await
            }
            _ => unreachable!("a snapshot is only ever used with the engine that made it"),
        }
    }
}
