//! One step of a worker: choose a shard, do one batch of it.
//!
//! Far behind first: a shard of links that is worth a full batch comes before more pages, so that
//! nothing piles up between the observers. A fuller batch writes each count once and not several
//! times, so thin shards wait while there is other work, and ranks wait longest.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use policy::time::Time;
use store::{Durability, Result, Tx};

use super::board::Done;
use super::{Queue, SHARDS};
use crate::handle::Index;
use crate::inlinks::first_time;
use crate::load::read_note;

/// What makes a shard worth a batch.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Want {
    Full,
    Any,
}

/// Whether a worker is to look after a part of the notes, by its number.
pub(crate) type WorksOn = dyn Fn(u64) -> bool + Send + Sync;

impl Index {
    /// The number of a shard of a queue, among all of all indexes.
    fn share_of(&self, queue: Queue, shard: u32) -> u64 {
        (u64::from(self.number()) * Queue::ALL.len() as u64 + u64::from(queue.at().id())) * u64::from(SHARDS)
            + u64::from(shard)
    }

    /// Does one batch of whatever waits; false when there was nothing that nobody else is working
    /// on. `worker` tells where to look first, so that workers do not look at the same shards.
    #[crate::boxed]
    pub async fn step(&self, worker: usize) -> Result<bool> {
        let all: &WorksOn = &|_| true;
        Ok(self.step_full(worker, all).await?
            || self.step_pages(worker, all).await?
            || self.step_links(worker, all).await?
            || self.step_ranks(worker, all).await?)
    }

    /// Only what is worth a full batch.
    pub(super) async fn step_full(&self, worker: usize, own: &WorksOn) -> Result<bool> {
        Ok(self.step_in(Queue::Domains, Want::Full, worker, own).await?
            || self.step_in(Queue::Links, Want::Full, worker, own).await?
            || self.step_in(Queue::Ranks, Want::Full, worker, own).await?
            || self.step_in(Queue::Pages, Want::Full, worker, own).await?)
    }

    /// Pages, however few.
    pub(super) async fn step_pages(&self, worker: usize, own: &WorksOn) -> Result<bool> {
        self.step_in(Queue::Pages, Want::Any, worker, own).await
    }

    /// Their links, however few.
    pub(super) async fn step_links(&self, worker: usize, own: &WorksOn) -> Result<bool> {
        self.step_in(Queue::Links, Want::Any, worker, own).await
    }

    /// What follows from links for ranks and domains, however little.
    pub(super) async fn step_ranks(&self, worker: usize, own: &WorksOn) -> Result<bool> {
        Ok(self.step_in(Queue::Ranks, Want::Any, worker, own).await?
            || self.step_in(Queue::Domains, Want::Any, worker, own).await?)
    }

    async fn step_in(&self, queue: Queue, want: Want, worker: usize, own: &WorksOn) -> Result<bool> {
        let full = queue.full_weight() as u64;
        for n in 0..SHARDS {
            let shard = (n + u32::try_from(worker).unwrap_or(0)) % SHARDS;
            if !own(self.share_of(queue, shard)) {
                continue;
            }
            if want == Want::Full && self.board().backlog(queue, shard) < full {
                continue;
            }
            let Some(_seat) = self.board().sit(queue, shard) else { continue };
            if self.batch(queue, shard).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Consumes notes of a shard in one transaction; false if there were none.
    async fn batch(&self, queue: Queue, shard: u32) -> Result<bool> {
        let runs = AtomicU64::new(0);
        let done = self.store().transact_idempotent(|tx| {
            runs.fetch_add(1, Relaxed);
            self.observe(tx, queue, shard)
        });
        let done = done.await?;
        self.board().ran_again(runs.load(Relaxed).saturating_sub(1));
        self.board().consumed(queue, shard, done);
        self.board().maybe_raise_floor(self.store(), queue, done.notes).await?;
        Ok(done.notes > 0)
    }

    async fn observe(&self, tx: Tx, queue: Queue, shard: u32) -> Result<Done> {
        // Lost work is simply done again: its notes come back with it.
        tx.set_durability(Durability::Relaxed);
        let notes = self.board().take(&tx, queue, shard).await?;
        if notes.is_empty() {
            return Ok(Done::default());
        }
        let weight = notes.iter().map(|note| note.weight).sum();
        let done = Done { notes: notes.len(), weight, ..Done::default() };
        match queue {
            Queue::Pages => Ok(Done { pages: self.observe_pages(&tx, &notes).await?, ..done }),
            Queue::Links => Ok(Done { updates: self.observe_links(&tx, shard, &notes).await?, ..done }),
            Queue::Domains => self.observe_domains(&tx, shard, &notes).await.map(|()| done),
            Queue::Ranks => self.observe_ranks(&tx, shard, &notes).await.map(|()| done),
        }
    }

    /// Works until nothing waits, together with whoever else does.
    #[crate::boxed]
    pub async fn to_rest(&self) -> Result<()> {
        loop {
            let left = self.board().left.notified();
            tokio::pin!(left);
            left.as_mut().enable();
            if self.step(0).await? {
                continue;
            }
            if self.waiting(1).await? == 0 {
                return Ok(());
            }
            // Others are at it: what they leave behind may be more.
            if self.board().anybody_busy() {
                left.await;
            }
        }
    }

    /// How many notes wait, each shard counted up to `limit`: the measure for back-pressure.
    #[crate::boxed]
    pub async fn waiting(&self, limit: usize) -> Result<u64> {
        self.waiting_in(&self.store().begin().await?, limit).await
    }

    pub(crate) async fn waiting_in(&self, tx: &Tx, limit: usize) -> Result<u64> {
        let mut waiting = 0;
        for queue in Queue::ALL {
            for shard in 0..SHARDS {
                waiting += self.board().waiting(tx, queue, shard, limit).await?;
            }
        }
        Ok(waiting)
    }

    /// The time of the oldest load that is not worked in: how far the index lags behind. Loads of
    /// one shard count as old as its first.
    #[crate::boxed]
    pub async fn waiting_since(&self) -> Result<Option<Time>> {
        let tx = self.store().begin().await?;
        let mut oldest: Option<Time> = None;
        for queue in [Queue::Pages, Queue::Links] {
            for shard in 0..SHARDS {
                let Some(note) = self.board().first(&tx, queue, shard).await? else { continue };
                let at = match queue {
                    Queue::Pages => read_note(&mut note.reader())?.0,
                    Queue::Links | Queue::Domains | Queue::Ranks => first_time(&note)?,
                };
                oldest = Some(oldest.map_or(at, |oldest| oldest.min(at)));
            }
        }
        Ok(oldest)
    }

    pub fn metrics(&self) -> super::Metrics {
        self.board().metrics()
    }
}
