//! The engine for tests and simulation: in memory, deterministic, with faults on request.
//!
//! Every key holds its versions by commit sequence; a snapshot is a sequence. It gives exactly
//! snapshot isolation, so write skew happens here as it would on TiKV, and code that silently
//! relies on more fails in tests.
//!
//! Faults are drawn from a seeded generator: the same seed and the same calls give the same faults.
//! A **crash** ends every open transaction (its commit is refused) and keeps everything committed.
//! A **power cut** is a crash that also takes back some of the last relaxed commits, in their
//! order, and never one that was synced. And somebody may put back an older **copy**.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use parking_lot::Mutex;

use crate::engine::Found;
use crate::error::{Error, Result};
use crate::limits::TXN_BYTES_MAX;
use crate::recent::RecentWrites;
use crate::stats::{Operations, Progress};
use crate::table::KeyRange;
use crate::txn::{Bytes, Durability, Order, Write, WriteSet};

/// How often things go wrong, as shares of all commits (or, for `unavailable`, of all begins and
/// commits).
#[derive(Clone, Copy, Debug, Default)]
pub struct Faults {
    pub conflict: f64,
    /// The answer gets lost; half of these commits happened.
    pub undetermined: f64,
    pub unavailable: f64,
    /// How often an operation lets other tasks run first, so that transactions interleave.
    pub pause: f64,
    /// How long an operation takes as if over a network, in microseconds from and to; a commit is
    /// two of them.
    pub round_trip_us: (u64, u64),
}

#[derive(Clone)]
pub(crate) struct Mem {
    state: Arc<Mutex<State>>,
    operations: Arc<Operations>,
    txn_bytes_max: Arc<AtomicUsize>,
}

struct State {
    rows: BTreeMap<Bytes, Vec<Version>>,
    seq: u64,
    /// Counts crashes: a snapshot from before the last one is dead.
    epoch: u64,
    open: BTreeMap<u64, usize>,
    recent: RecentWrites,
    /// Keys with a version that a newer one replaced at this sequence.
    garbage: VecDeque<(u64, Bytes)>,
    /// What the relaxed commits since the last synced one replaced: the oldest first, only the last
    /// few.
    unsynced: VecDeque<Vec<(Bytes, Option<Bytes>)>>,
    faults: Faults,
    rng: fastrand::Rng,
    /// What it shows as its own time, if it has one.
    clock: Option<StoreTime>,
    watcher: Option<Watcher>,
}

/// Told of each commit, in their order: the keys it writes, and what they hold from then on.
pub(crate) type Watcher = Arc<dyn Fn(&[(Bytes, Option<Bytes>)]) + Send + Sync>;

/// Milliseconds since 1970.
pub(crate) type StoreTime = Arc<dyn Fn() -> i64 + Send + Sync>;

/// Everything a store held at a moment.
#[derive(Clone)]
pub struct StoreCopy(BTreeMap<Bytes, Bytes>);

impl std::fmt::Debug for StoreCopy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StoreCopy").field("rows", &self.0.len()).finish()
    }
}

struct Version {
    seq: u64,
    value: Option<Bytes>,
}

/// Open snapshots are bounded by the tests that hold them, not by memory: nothing is forgotten
/// early here.
const RECENT_ENTRIES_MAX: usize = usize::MAX;
/// Relaxed commits that a power cut may take back: those of about a tenth of a second.
const UNSYNCED_MAX: usize = 16;

impl Mem {
    pub(crate) fn new(seed: u64) -> Mem {
        let state = State {
            rows: BTreeMap::new(),
            seq: 0,
            epoch: 0,
            open: BTreeMap::new(),
            recent: RecentWrites::new(RECENT_ENTRIES_MAX),
            garbage: VecDeque::new(),
            unsynced: VecDeque::new(),
            faults: Faults::default(),
            rng: fastrand::Rng::with_seed(seed),
            clock: None,
            watcher: None,
        };
        Mem {
            state: Arc::new(Mutex::new(state)),
            operations: Arc::default(),
            txn_bytes_max: Arc::new(AtomicUsize::new(TXN_BYTES_MAX)),
        }
    }

    pub(crate) fn txn_bytes_max(&self) -> usize {
        self.txn_bytes_max.load(Relaxed)
    }

    pub(crate) fn set_txn_bytes_max(&self, bytes: usize) {
        self.txn_bytes_max.store(bytes, Relaxed);
    }

    pub(crate) fn set_faults(&self, faults: Faults) {
        self.state.lock().faults = faults;
    }

    pub(crate) fn set_clock(&self, clock: StoreTime) {
        self.state.lock().clock = Some(clock);
    }

    pub(crate) fn set_watcher(&self, watcher: Watcher) {
        self.state.lock().watcher = Some(watcher);
    }

    pub(crate) async fn maybe_pause(&self) {
        let pauses = {
            let mut state = self.state.lock();
            let share = state.faults.pause;
            state.draw(share)
        };
        if pauses {
            tokio::task::yield_now().await;
        }
    }

    /// As long as so many round trips take, if they take any time. Timers go by the millisecond: what
    /// is over is rounded up or down by chance, so that on average it takes as long as it should.
    pub(crate) async fn travel(&self, round_trips: u64) {
        let ms = {
            let mut state = self.state.lock();
            let (from, to) = match state.faults.round_trip_us {
                (_, 0) => return,
                (from, to) => (from, to.max(from)),
            };
            let us = state.rng.u64(from..=to) * round_trips;
            (us + state.rng.u64(0..1000)) / 1000
        };
        tokio::time::sleep(Duration::from_millis(ms)).await;
    }

    pub(crate) fn operations(&self) -> &Operations {
        &self.operations
    }

    pub(crate) fn crash(&self) {
        self.state.lock().epoch += 1;
    }

    /// Returns how many commits it took back.
    pub(crate) fn power_cut(&self) -> usize {
        let mut state = self.state.lock();
        state.epoch += 1;
        let unsynced = state.unsynced.len();
        let lost = state.rng.usize(0..=unsynced);
        for _ in 0..lost {
            let Some(replaced) = state.unsynced.pop_back() else { break };
            state.write(replaced);
        }
        // What came through it is on disk.
        state.unsynced.clear();
        lost
    }

    /// Nothing committed so far can be taken back by a power cut any more.
    pub(crate) fn sync(&self) {
        self.state.lock().unsynced.clear();
    }

    pub(crate) fn progress(&self) -> Progress {
        let state = self.state.lock();
        Progress { committed: state.seq, durable: state.seq - state.unsynced.len() as u64 }
    }

    pub(crate) fn copy(&self) -> StoreCopy {
        let state = self.state.lock();
        let newest = |versions: &Vec<Version>| versions.last().and_then(|version| version.value.clone());
        StoreCopy(state.rows.iter().filter_map(|(key, rows)| Some((key.clone(), newest(rows)?))).collect())
    }

    pub(crate) fn put_back(&self, copy: &StoreCopy) {
        let mut state = self.state.lock();
        state.epoch += 1;
        state.unsynced.clear();
        let gone = state.rows.keys().filter(|key| !copy.0.contains_key(*key)).map(|key| (key.clone(), None));
        let rows = copy.0.iter().map(|(key, value)| (key.clone(), Some(value.clone())));
        let all: Vec<_> = gone.chain(rows).collect();
        state.write(all);
    }

    pub(crate) fn snapshot(&self) -> Result<MemSnapshot> {
        let mut state = self.state.lock();
        state.maybe_unavailable()?;
        let (seq, epoch) = (state.seq, state.epoch);
        *state.open.entry(seq).or_default() += 1;
        let time = state.clock.as_ref().map(|clock| clock());
        Ok(MemSnapshot { mem: self.clone(), seq, epoch, time })
    }

    pub(crate) fn commit(&self, snapshot: &MemSnapshot, set: WriteSet) -> Result<()> {
        let mut state = self.state.lock();
        state.check_alive(snapshot)?;
        state.maybe_unavailable()?;
        if let Some(key_hash) = state.recent.conflict(snapshot.seq, &set.hashes) {
            return Err(Error::Conflict { key_hash });
        }
        let faults = state.faults;
        if state.draw(faults.conflict) {
            return Err(Error::Conflict { key_hash: set.hashes.first().copied().unwrap_or(0) });
        }
        let answer_lost = state.draw(faults.undetermined);
        if answer_lost && state.rng.bool() {
            return Err(Error::Undetermined("injected: it did not happen".into()));
        }
        state.apply(set);
        if answer_lost { Err(Error::Undetermined("injected: it did happen".into())) } else { Ok(()) }
    }
}

impl State {
    fn draw(&mut self, share: f64) -> bool {
        share > 0.0 && self.rng.f64() < share
    }

    fn maybe_unavailable(&mut self) -> Result<()> {
        if self.draw(self.faults.unavailable) { Err(Error::transient("injected")) } else { Ok(()) }
    }

    fn check_alive(&self, snapshot: &MemSnapshot) -> Result<()> {
        if snapshot.epoch == self.epoch { Ok(()) } else { Err(Error::lasting("the store crashed meanwhile")) }
    }

    fn apply(&mut self, set: WriteSet) {
        self.recent.record(self.seq + 1, &set.hashes);
        let writes = set.writes.into_iter().filter_map(|(key, write)| match write {
            Write::Put(value) => Some((key, Some(value))),
            Write::Delete => Some((key, None)),
            Write::Lock => None,
        });
        let writes: Vec<_> = writes.collect();
        match set.durability {
            Durability::Synced => self.unsynced.clear(),
            Durability::Relaxed => self.remember(&writes),
        }
        if let Some(watcher) = &self.watcher {
            watcher(&writes);
        }
        self.write(writes);
    }

    /// What the next power cut may bring back.
    fn remember(&mut self, writes: &[(Bytes, Option<Bytes>)]) {
        let newest = |key: &Bytes| self.rows.get(key)?.last()?.value.clone();
        let replaced = writes.iter().map(|(key, _)| (key.clone(), newest(key))).collect();
        self.unsynced.push_back(replaced);
        if self.unsynced.len() > UNSYNCED_MAX {
            self.unsynced.pop_front();
        }
    }

    fn write(&mut self, writes: Vec<(Bytes, Option<Bytes>)>) {
        self.seq += 1;
        let seq = self.seq;
        for (key, value) in writes {
            let versions = self.rows.entry(key.clone()).or_default();
            versions.push(Version { seq, value });
            self.garbage.push_back((seq, key));
        }
        self.collect_garbage();
    }

    /// Drops versions that no open snapshot can see.
    fn collect_garbage(&mut self) {
        let oldest = self.open.keys().next().copied().unwrap_or(self.seq);
        self.recent.prune(oldest);
        while let Some((seq, _)) = self.garbage.front()
            && *seq <= oldest
        {
            let Some((_, key)) = self.garbage.pop_front() else { break };
            let Some(versions) = self.rows.get_mut(&key) else { continue };
            let visible = versions.iter().rposition(|version| version.seq <= oldest).unwrap_or(0);
            versions.drain(..visible);
            if let [Version { value: None, seq }] = versions.as_slice()
                && *seq <= oldest
            {
                self.rows.remove(&key);
            }
        }
    }
}

pub(crate) struct MemSnapshot {
    mem: Mem,
    seq: u64,
    epoch: u64,
    time: Option<i64>,
}

impl MemSnapshot {
    pub(crate) fn time(&self) -> Option<i64> {
        self.time
    }

    pub(crate) fn get(&self, key: &[u8]) -> Result<Option<Bytes>> {
        let state = self.mem.state.lock();
        state.check_alive(self)?;
        Ok(state.rows.get(key).and_then(|versions| self.visible(versions)).cloned())
    }

    pub(crate) fn scan(&self, range: &KeyRange, limit: usize, order: Order) -> Result<Found> {
        let state = self.mem.state.lock();
        state.check_alive(self)?;
        let rows = state.rows.range::<[u8], _>(range.bounds());
        let seen = |(key, versions): (&Bytes, &Vec<Version>)| {
            self.visible(versions).map(|value| (key.clone(), value.clone()))
        };
        let items: Vec<_> = match order {
            Order::Forward => rows.filter_map(seen).take(limit).collect(),
            Order::Backward => rows.rev().filter_map(seen).take(limit).collect(),
        };
        let complete = items.len() < limit;
        Ok(Found { items, complete })
    }

    fn visible<'a>(&self, versions: &'a [Version]) -> Option<&'a Bytes> {
        versions.iter().rev().find(|version| version.seq <= self.seq)?.value.as_ref()
    }
}

impl Drop for MemSnapshot {
    fn drop(&mut self) {
        let mut state = self.mem.state.lock();
        if let Some(count) = state.open.get_mut(&self.seq) {
            *count -= 1;
            if *count == 0 {
                state.open.remove(&self.seq);
            }
        }
    }
}
