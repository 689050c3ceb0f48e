//! What the observers of one handle know of each other: who works on which shard, and how much
//! waits there.
//!
//! Nothing here is needed to be right. It keeps workers of this process from doing the same work
//! twice, and tells which shard is worth a batch.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use tokio::sync::Notify;

use super::{Queue, SHARDS};

pub(crate) struct Board {
    pub(super) index: u32,
    pub(super) handle: u64,
    /// Higher than the count of any note sent or seen.
    pub(super) clock: AtomicU64,
    desks: Vec<Vec<Desk>>,
    /// Notes consumed since the floor of each queue was raised.
    pub(super) gone: [AtomicU64; Queue::ALL.len()],
    /// A worker got up from a desk.
    pub(super) left: Notify,
    counters: Counters,
}

/// The place where one shard is worked on.
#[derive(Debug, Default)]
pub(super) struct Desk {
    busy: AtomicBool,
    /// No note is below this number.
    pub(super) start: AtomicU64,
    /// Weight of the notes this handle sent here and has not seen consumed.
    backlog: AtomicU64,
}

#[derive(Debug, Default)]
struct Counters {
    batches: AtomicU64,
    notes: AtomicU64,
    pages: AtomicU64,
    updates: AtomicU64,
    reruns: AtomicU64,
}

/// What the observers of a handle have done since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Metrics {
    /// Transactions that consumed notes.
    pub batches: u64,
    pub notes: u64,
    /// Pages compared with what they were.
    pub pages: u64,
    /// Links that came, went or changed their text.
    pub updates: u64,
    /// Runs that were lost to another writer and done again.
    pub conflicts: u64,
}

/// One batch, for the counters.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Done {
    pub(crate) notes: usize,
    pub(crate) weight: usize,
    pub(crate) pages: usize,
    pub(crate) updates: usize,
}

impl std::fmt::Debug for Board {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Board").field("index", &self.index).field("metrics", &self.metrics()).finish()
    }
}

impl Board {
    pub(crate) fn new(index: u32, handle: u64) -> Board {
        let desks = Queue::ALL.map(|_| (0..SHARDS).map(|_| Desk::default()).collect());
        Board {
            index,
            handle,
            clock: AtomicU64::new(0),
            desks: desks.into(),
            gone: Default::default(),
            left: Notify::new(),
            counters: Counters::default(),
        }
    }

    pub(super) fn desk(&self, queue: Queue, shard: u32) -> &Desk {
        &self.desks[usize::from(queue.id())][shard as usize]
    }

    /// Takes the desk of a shard, if it is free.
    pub(super) fn sit(&self, queue: Queue, shard: u32) -> Option<Seat<'_>> {
        let desk = self.desk(queue.at(), shard);
        let free = desk.busy.compare_exchange(false, true, Relaxed, Relaxed).is_ok();
        free.then_some(Seat { board: self, desk })
    }

    pub(super) fn anybody_busy(&self) -> bool {
        self.desks.iter().flatten().any(|desk| desk.busy.load(Relaxed))
    }

    pub(super) fn backlog(&self, queue: Queue, shard: u32) -> u64 {
        self.desk(queue, shard).backlog.load(Relaxed)
    }

    pub(super) fn sent(&self, queue: Queue, shard: u32, weight: usize) {
        self.desk(queue, shard).backlog.fetch_add(weight as u64, Relaxed);
    }

    pub(super) fn consumed(&self, queue: Queue, shard: u32, done: Done) {
        let backlog = &self.desk(queue, shard).backlog;
        // Others' notes may be among them, and an empty shard is empty whatever was counted.
        let gone = if done.notes == 0 { u64::MAX } else { done.weight as u64 };
        let _ = backlog.fetch_update(Relaxed, Relaxed, |waiting| Some(waiting.saturating_sub(gone)));
        if done.notes > 0 {
            self.counters.batches.fetch_add(1, Relaxed);
            self.counters.notes.fetch_add(done.notes as u64, Relaxed);
            self.counters.pages.fetch_add(done.pages as u64, Relaxed);
            self.counters.updates.fetch_add(done.updates as u64, Relaxed);
        }
    }

    pub(super) fn ran_again(&self, times: u64) {
        self.counters.reruns.fetch_add(times, Relaxed);
    }

    pub(crate) fn metrics(&self) -> Metrics {
        Metrics {
            batches: self.counters.batches.load(Relaxed),
            notes: self.counters.notes.load(Relaxed),
            pages: self.counters.pages.load(Relaxed),
            updates: self.counters.updates.load(Relaxed),
            conflicts: self.counters.reruns.load(Relaxed),
        }
    }
}

/// A desk taken; free again when this goes.
pub(super) struct Seat<'a> {
    board: &'a Board,
    desk: &'a Desk,
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        self.desk.busy.store(false, Relaxed);
        self.board.left.notify_waiters();
    }
}
