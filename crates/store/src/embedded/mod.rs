//! The engine on one machine: fjall underneath, with conflict detection and group commit of our
//! own.
//!
//! All writing goes through one thread (see [`committer`]): it checks each waiting transaction
//! against the recent writes, puts all that pass into one fjall batch, syncs once, and only then
//! shows the result to new snapshots. So nothing can be read that a power cut could take back,
//! commits share the disk's slowest operation, and a commit waits at most for the group before its
//! own. Reading needs no lock: a transaction holds the snapshot that was newest when it began.

mod check;
mod committer;
mod directory;
mod journal;

use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;

use fjall::config::{PartitioningPolicy, PinningPolicy};
use fjall::{Database, Keyspace, KeyspaceCreateOptions, Readable};
use parking_lot::RwLock;
use tokio::sync::{Semaphore, oneshot};

pub(crate) use check::check;
pub use check::{CheckReport, TableSize};
use committer::{Committer, Job, Request};
pub(crate) use directory::{Missing, lock_directory, write_format};
use journal::{Marks, WhenDamaged};

use crate::engine::Found;
use crate::error::{Damage, Error, OpenError, Result};
use crate::limits::SCAN_BYTES_MAX;
use crate::notice::Notice;
use crate::stats::Stats;
use crate::table::KeyRange;
use crate::txn::{Bytes, Order, WriteSet};
use crate::upgrade::Step;

/// Transactions waiting for the committer; more wait outside, in order.
const COMMITS_QUEUED_MAX: usize = 4096;

/// How a data directory is opened.
#[derive(Clone, Debug)]
pub struct Options {
    /// Memory for blocks read from disk.
    pub cache_bytes: u64,
    /// Memory for rows not yet written out as tables.
    pub write_buffer_bytes: u64,
    /// Commits are refused while less than this is free on the disk, so that what is running can
    /// end well.
    pub disk_reserve_bytes: u64,
    /// Keys remembered for conflict detection; transactions that outlive them are refused.
    pub recent_writes_max: usize,
    /// A damaged journal is no reason to refuse: what does not read is set aside, with all that
    /// comes after it, and the store is what it was before. For those who know how to bring
    /// back what is lost.
    pub set_damage_aside: bool,
    /// What stores of older formats go through, by the owners of the tables; none: left to somebody
    /// who knows.
    pub upgrades: Option<&'static [Step]>,
    /// Is told what a person should know of the opening.
    pub notice: fn(&Notice),
}

impl Default for Options {
    fn default() -> Options {
        Options {
            cache_bytes: 56 << 20,
            write_buffer_bytes: 12 << 20,
            disk_reserve_bytes: 64 << 20,
            recent_writes_max: 1 << 19,
            set_damage_aside: false,
            upgrades: None,
            notice: |_| {},
        }
    }
}

impl Options {
    /// For loading very much at once: larger tables are merged less often.
    pub fn bulk() -> Options {
        Options { write_buffer_bytes: 32 << 20, ..Options::default() }
    }
}

#[derive(Clone)]
pub(crate) struct Embedded {
    inner: Arc<Inner>,
}

struct Inner {
    queue: Option<SyncSender<Request>>,
    places: Arc<Semaphore>,
    committer: Option<JoinHandle<()>>,
    newest: Arc<RwLock<Arc<Published>>>,
    /// Last, so that the directory is free for the next opener only when everything above is
    /// closed.
    _lock: File,
}

/// A state of the store that new transactions begin on.
struct Published {
    seq: u64,
    view: fjall::Snapshot,
    rows: Keyspace,
}

fn open_engine(dir: &Path, options: &Options) -> fjall::Result<(Database, Keyspace)> {
    let db = Database::builder(dir)
        .cache_size(options.cache_bytes)
        // With more, the first of them keeps a core busy with handing on requests to merge while the others
        // merge.
        .worker_threads(1)
        .manual_journal_persist(true)
        .open()?;
    let rows = db.keyspace("rows", || {
        KeyspaceCreateOptions::default()
            .manual_journal_persist(true)
            // The committer sees to it that buffers do not grow beyond theirs.
            .max_memtable_size(u64::MAX)
            // Index and filter of a large table are megabytes. Neither stays in the cache beside the data,
            // and a look-up that has to read them costs a hundred times one that has not, so they
            // are kept: about thirty bytes for a block, ten bits for a row.
            .index_block_partitioning_policy(PartitioningPolicy::all(false))
            .index_block_pinning_policy(PinningPolicy::all(true))
            .filter_block_partitioning_policy(PartitioningPolicy::all(false))
            .filter_block_pinning_policy(PinningPolicy::all(true))
    })?;
    Ok((db, rows))
}

impl Embedded {
    /// The engine of a data directory, and the format its rows have.
    pub(crate) fn open(
        dir: &Path,
        options: &Options,
        missing: Missing,
        stats: Arc<Stats>,
    ) -> Result<(Embedded, u8), OpenError> {
        let prepared = directory::prepare(dir, missing)?;
        let failed = |e: fjall::Error| OpenError::Engine { dir: dir.to_owned(), problem: describe(&e) };
        prepared.make_engine_dir(|draft| open_engine(draft, options).map(drop).map_err(failed))?;
        let damaged = if options.set_damage_aside { WhenDamaged::SetAside } else { WhenDamaged::Refuse };
        journal::prepare(dir, &prepared.engine_dir, damaged, options.notice)?;
        let (db, rows) = open_engine(&prepared.engine_dir, options).map_err(failed)?;
        let mut marks = Marks::open(&prepared.engine_dir);
        if marks.seqno_min() > 0 && db.seqno() <= marks.seqno_min() {
            // Some journal is gone that was not written out.
            if damaged == WhenDamaged::Refuse {
                return Err(OpenError::Damaged { dir: dir.to_owned(), damage: Damage::JournalMissing });
            }
            marks.begin_anew();
        }
        let (lock, format) = prepared.seal()?;

        let newest = Arc::new(Published { seq: 0, view: db.snapshot(), rows: rows.clone() });
        let newest = Arc::new(RwLock::new(newest));
        let committer = Committer::new(db, rows, marks, Arc::clone(&newest), dir, options, stats);
        let (queue, jobs) = sync_channel(COMMITS_QUEUED_MAX);
        let committer = std::thread::Builder::new()
            .name("store-committer".into())
            .spawn(move || committer.run(&jobs))
            .map_err(|source| OpenError::Io { action: "start a thread for", path: dir.to_owned(), source })?;
        let places = Arc::new(Semaphore::new(COMMITS_QUEUED_MAX));
        let inner = Inner { queue: Some(queue), places, committer: Some(committer), newest, _lock: lock };
        Ok((Embedded { inner: Arc::new(inner) }, format))
    }

    pub(crate) fn snapshot(&self) -> EmbeddedSnapshot {
        EmbeddedSnapshot { published: Arc::clone(&self.inner.newest.read()) }
    }

    pub(crate) async fn commit(&self, snapshot: &EmbeddedSnapshot, set: WriteSet) -> Result<()> {
        self.ask(Job::Commit { start: snapshot.published.seq, set }).await
    }

    pub(crate) async fn sync(&self) -> Result<()> {
        self.ask(Job::Sync).await
    }

    async fn ask(&self, job: Job) -> Result<()> {
        let stopped = || Error::lasting("it has been closed");
        let place = Arc::clone(&self.inner.places).acquire_owned().await.map_err(|_| stopped())?;
        let (reply, answer) = oneshot::channel();
        let queue = self.inner.queue.as_ref().ok_or_else(stopped)?;
        match queue.try_send(Request { job, reply, _place: place }) {
            Ok(()) => {}
            // Places are as many as the queue holds, so it is never full.
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => return Err(stopped()),
        }
        answer.await.unwrap_or_else(|_| Err(Error::Undetermined("the committer ended meanwhile".into())))
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        drop(self.queue.take());
        if let Some(committer) = self.committer.take() {
            // A panic there has been reported by its own message, and every waiting commit as undetermined.
            let _ = committer.join();
        }
    }
}

pub(crate) struct EmbeddedSnapshot {
    published: Arc<Published>,
}

impl EmbeddedSnapshot {
    pub(crate) fn get(&self, key: &[u8]) -> Result<Option<Bytes>> {
        self.published.view.get(&self.published.rows, key).map_err(|e| read_failed(&e))
    }

    pub(crate) fn scan(&self, range: &KeyRange, limit: usize, order: Order) -> Result<Found> {
        let Published { view, rows, .. } = &*self.published;
        let mut found = view.range(rows, range.from.as_slice()..range.to.as_slice());
        let mut items = Vec::new();
        let mut bytes = 0;
        while items.len() < limit && bytes < SCAN_BYTES_MAX {
            let next = match order {
                Order::Forward => found.next(),
                Order::Backward => found.next_back(),
            };
            let Some(row) = next else { return Ok(Found { items, complete: true }) };
            let (key, value) = row.into_inner().map_err(|e| read_failed(&e))?;
            bytes += key.len() + value.len();
            items.push((key, value));
        }
        Ok(Found { items, complete: false })
    }
}

fn read_failed(error: &fjall::Error) -> Error {
    match error {
        fjall::Error::Io(e) | fjall::Error::Storage(fjall::LsmError::Io(e)) => {
            Error::lasting(format!("reading failed: {e}"))
        }
        other => Error::Corrupt(describe(other)),
    }
}

/// What is wrong, for somebody who knows the store and not its engine.
fn describe(error: &fjall::Error) -> String {
    match error {
        fjall::Error::Io(e) | fjall::Error::Storage(fjall::LsmError::Io(e)) => e.to_string(),
        fjall::Error::Poisoned => {
            "an earlier write failed (is the disk full?); start again to go on from the last good state"
                .into()
        }
        fjall::Error::Locked => "another process has it open".into(),
        fjall::Error::InvalidVersion(_) => "its files are of another version of the storage engine".into(),
        fjall::Error::JournalRecovery(_) | fjall::Error::InvalidTag(_) | fjall::Error::InvalidTrailer => {
            "its journal does not read".into()
        }
        fjall::Error::Storage(fjall::LsmError::ChecksumMismatch { .. }) => {
            "a block of one of its tables is not what was written".into()
        }
        fjall::Error::Storage(fjall::LsmError::Decompress(_)) | fjall::Error::Decompress(_) => {
            "a block of one of its tables cannot be unpacked".into()
        }
        fjall::Error::Storage(_) => "one of its tables does not read".into(),
        _ => "its files do not fit together".into(),
    }
}
