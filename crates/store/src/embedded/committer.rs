//! The one thread that writes.
//!
//! The life of a group: take what waits in the queue (up to a bound) → refuse what lost a race →
//! one batch, one sync → a new published state → answers. The write order in the journal is the
//! order of sequence numbers, so a later transaction on disk implies all earlier ones.
//!
//! A failed write or sync leaves the disk in a state nobody knows (the kernel may drop the pages it
//! could not write), so the group's commits are undetermined, and from then on every commit is
//! refused: the next start finds the last good state. A disk that is merely full is noticed before
//! writing and refuses just that commit.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use fjall::{Database, Keyspace, PersistMode};
use parking_lot::RwLock;
use tokio::sync::{OwnedSemaphorePermit, oneshot};

use super::journal::Marks;
use super::{Options, Published, describe};
use crate::error::{Error, Result};
use crate::recent::RecentWrites;
use crate::stats::Stats;
use crate::txn::{Durability, Write, WriteSet};

const GROUP_BYTES_MAX: usize = 16 << 20;
/// Relaxed commits are synced when the writer falls idle for this long, when the first of them is
/// this old, or after this much.
const IDLE_MIN: Duration = Duration::from_millis(100);
/// The longest pause between two looks of an idle writer at what merging has made of the tables.
const IDLE_MAX: Duration = Duration::from_secs(60);
const RELAXED_BYTES_MAX: usize = 32 << 20;

pub(super) struct Request {
    pub(super) job: Job,
    pub(super) reply: oneshot::Sender<Result<()>>,
    pub(super) _place: OwnedSemaphorePermit,
}

pub(super) enum Job {
    Commit { start: u64, set: WriteSet },
    Sync,
}

pub(super) struct Committer {
    db: Database,
    rows: Keyspace,
    marks: Marks,
    newest: Arc<RwLock<Arc<Published>>>,
    /// Published states some transaction may still hold, oldest first.
    held: VecDeque<(u64, Weak<Published>)>,
    recent: RecentWrites,
    seq: u64,
    unsynced_bytes: usize,
    /// When the first commit was written that is not synced.
    unsynced_since: Option<Instant>,
    /// Written since the engine last began a new write buffer.
    buffered_bytes: u64,
    write_buffer_bytes: u64,
    failed: Option<String>,
    dir: PathBuf,
    disk_reserve_bytes: u64,
    stats: Arc<Stats>,
}

/// The transactions of one group that passed the conflict check, ready to be written.
struct Group {
    batch: fjall::OwnedWriteBatch,
    bytes: usize,
    durability: Durability,
    waiting_for_sync: bool,
    waiting: Vec<Request>,
}

impl Committer {
    pub(super) fn new(
        db: Database,
        rows: Keyspace,
        marks: Marks,
        newest: Arc<RwLock<Arc<Published>>>,
        dir: &Path,
        options: &Options,
        stats: Arc<Stats>,
    ) -> Committer {
        let first = Arc::downgrade(&newest.read());
        Committer {
            db,
            rows,
            marks,
            newest,
            held: VecDeque::from([(0, first)]),
            recent: RecentWrites::new(options.recent_writes_max),
            seq: 0,
            unsynced_bytes: 0,
            unsynced_since: None,
            buffered_bytes: 0,
            write_buffer_bytes: options.write_buffer_bytes,
            failed: None,
            dir: dir.to_owned(),
            disk_reserve_bytes: options.disk_reserve_bytes,
            stats,
        }
    }

    pub(super) fn run(mut self, jobs: &Receiver<Request>) {
        let mut idle = IDLE_MIN;
        loop {
            match jobs.recv_timeout(idle) {
                Ok(first) => {
                    self.group(first, jobs);
                    idle = IDLE_MIN;
                }
                Err(RecvTimeoutError::Timeout) => {
                    self.rest();
                    idle = (idle * 2).min(IDLE_MAX);
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        if self.failed.is_none() {
            let _ = self.sync(PersistMode::SyncAll);
        }
    }

    /// Nobody wants anything: what is not synced yet is, and readers get the same state in its
    /// newest shape. A published state keeps the tables as they were, unmerged and partly in
    /// memory, however long ago that was.
    fn rest(&mut self) {
        if self.failed.is_some() {
            return;
        }
        if self.unsynced_bytes > 0 {
            // A failure is kept, and told to the next who commits.
            let _ = self.sync(PersistMode::SyncData);
        }
        self.publish();
    }

    fn group(&mut self, first: Request, jobs: &Receiver<Request>) {
        let mut group = Group {
            batch: self.db.batch(),
            bytes: 0,
            durability: Durability::Relaxed,
            waiting_for_sync: false,
            waiting: Vec::new(),
        };
        let mut next = Some(first);
        while let Some(request) = next {
            self.admit(request, &mut group);
            next = if group.bytes < GROUP_BYTES_MAX { jobs.try_recv().ok() } else { None };
        }
        if group.waiting.is_empty() {
            return;
        }
        let waiting = std::mem::take(&mut group.waiting);
        let outcome = self.write(group);
        for request in waiting {
            // A caller that has gone away needs no answer.
            let _ = request.reply.send(outcome.as_ref().map_err(Failure::answer).copied());
        }
    }

    /// Adds a request to the group, or answers it at once if it cannot be part of it.
    fn admit(&mut self, mut request: Request, group: &mut Group) {
        if let Err(refused) = self.ready(group.bytes) {
            let _ = request.reply.send(Err(refused));
            return;
        }
        match &mut request.job {
            Job::Sync => {
                group.durability = Durability::Synced;
                group.waiting_for_sync = true;
            }
            Job::Commit { start, set } => {
                if let Some(key_hash) = self.recent.conflict(*start, &set.hashes) {
                    let _ = request.reply.send(Err(Error::Conflict { key_hash }));
                    return;
                }
                self.seq += 1;
                self.recent.record(self.seq, &set.hashes);
                if set.durability == Durability::Synced {
                    group.durability = Durability::Synced;
                }
                for (key, write) in std::mem::take(&mut set.writes) {
                    group.bytes += key.len();
                    match write {
                        Write::Put(value) => {
                            group.bytes += value.len();
                            group.batch.insert(&self.rows, key, value);
                        }
                        Write::Delete => group.batch.remove(&self.rows, key),
                        Write::Lock => {}
                    }
                }
            }
        }
        group.waiting.push(request);
    }

    fn ready(&self, group_bytes: usize) -> Result<()> {
        if let Some(problem) = &self.failed {
            return Err(Error::lasting(problem.clone()));
        }
        let disk = rustix::fs::statvfs(&self.dir).map_err(|e| {
            Error::lasting(format!("cannot tell the free space of {}: {e}", self.dir.display()))
        })?;
        let free = disk.f_bavail.saturating_mul(disk.f_frsize);
        if free < self.disk_reserve_bytes.saturating_add(group_bytes as u64) {
            return Err(Error::lasting(format!(
                "the disk of {} is full ({} MiB free, {} MiB are kept in reserve)",
                self.dir.display(),
                free >> 20,
                self.disk_reserve_bytes >> 20,
            )));
        }
        Ok(())
    }

    fn write(&mut self, group: Group) -> Result<(), Failure> {
        let synced = group.durability == Durability::Synced;
        Stats::add(&self.stats.groups);
        if group.batch.is_empty() {
            // Locks only, or a wish to sync. Locks count as commits: transactions that begin from now on come
            // after them.
            if group.waiting_for_sync {
                self.sync(PersistMode::SyncData)?;
            }
            self.publish();
            return Ok(());
        }
        self.buffered_bytes += group.bytes as u64;
        let mode = if synced { PersistMode::SyncData } else { PersistMode::Buffer };
        self.marks.writing(self.db.seqno());
        group.batch.durability(Some(mode)).commit().map_err(|e| self.fail(&e))?;
        if synced {
            self.is_synced();
        } else {
            self.unsynced_bytes += group.bytes;
            if self.unsynced_bytes >= RELAXED_BYTES_MAX || self.unsynced_age() >= IDLE_MIN {
                self.sync(PersistMode::SyncData)?;
            }
        }
        if self.buffered_bytes >= self.write_buffer_bytes {
            // The engine's one worker would do so only between two merges, and the buffer grow until then.
            self.rows.rotate_memtable().map_err(|e| self.fail(&e))?;
            self.buffered_bytes = 0;
        }
        self.publish();
        Ok(())
    }

    fn publish(&mut self) {
        let published = Published { seq: self.seq, view: self.db.snapshot(), rows: self.rows.clone() };
        let published = Arc::new(published);
        self.stats.committed.store(self.seq, Ordering::Relaxed);
        self.held.push_back((self.seq, Arc::downgrade(&published)));
        // The last holder of the old state may be here: drop it outside the lock that every begin takes.
        let old = std::mem::replace(&mut *self.newest.write(), published);
        drop(old);
        while self.held.front().is_some_and(|(_, state)| state.strong_count() == 0) {
            self.held.pop_front();
        }
        let oldest = self.held.front().map_or(self.seq, |(seq, _)| *seq);
        self.recent.prune(oldest);
    }

    fn sync(&mut self, mode: PersistMode) -> Result<(), Failure> {
        self.db.persist(mode).map_err(|e| self.fail(&e))?;
        self.is_synced();
        Ok(())
    }

    fn is_synced(&mut self) {
        self.marks.synced();
        Stats::add(&self.stats.syncs);
        self.stats.durable.store(self.seq, Ordering::Relaxed);
        self.unsynced_bytes = 0;
        self.unsynced_since = None;
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "how long a real disk lags behind is a matter of real time"
    )]
    fn unsynced_age(&mut self) -> Duration {
        self.unsynced_since.get_or_insert_with(Instant::now).elapsed()
    }

    fn fail(&mut self, error: &fjall::Error) -> Failure {
        let problem = format!("writing to {} failed: {}", self.dir.display(), describe(error));
        self.failed = Some(problem.clone());
        // Poisoned: a background write had failed before, and this one was not begun.
        let begun = !matches!(error, fjall::Error::Poisoned);
        Failure { problem, begun }
    }
}

struct Failure {
    problem: String,
    /// Some of it may be on disk.
    begun: bool,
}

impl Failure {
    fn answer(&self) -> Error {
        if self.begun {
            Error::Undetermined(self.problem.clone())
        } else {
            Error::lasting(self.problem.clone())
        }
    }
}
