use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

#[derive(Default)]
pub(crate) struct Stats {
    pub(crate) commits: AtomicU64,
    pub(crate) conflicts: AtomicU64,
    pub(crate) undetermined: AtomicU64,
    pub(crate) unavailable: AtomicU64,
    pub(crate) gave_up: AtomicU64,
    pub(crate) groups: AtomicU64,
    pub(crate) syncs: AtomicU64,
    pub(crate) committed: AtomicU64,
    pub(crate) durable: AtomicU64,
}

/// Calls over the network, by kind.
#[derive(Debug, Default)]
pub(crate) struct Operations {
    pub(crate) begins: AtomicU64,
    pub(crate) gets: AtomicU64,
    pub(crate) multi_gets: AtomicU64,
    pub(crate) scans: AtomicU64,
    pub(crate) commits: AtomicU64,
}

/// Calls over the network since the store was opened, or what would be some; none of an embedded
/// store. A commit is several round trips of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RoundTrips {
    pub begins: u64,
    pub gets: u64,
    pub multi_gets: u64,
    pub scans: u64,
    pub commits: u64,
}

impl Operations {
    pub(crate) fn counted(&self) -> RoundTrips {
        RoundTrips {
            begins: self.begins.load(Relaxed),
            gets: self.gets.load(Relaxed),
            multi_gets: self.multi_gets.load(Relaxed),
            scans: self.scans.load(Relaxed),
            commits: self.commits.load(Relaxed),
        }
    }
}

/// How far the commits of a store have come, counted from its opening.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The last commit that readers see.
    pub committed: u64,
    /// The last commit that no power cut can take back. It lags behind while commits are relaxed.
    pub durable: u64,
}

/// What a store has done since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Transactions that wrote something and were committed.
    pub commits: u64,
    /// Runs that were lost to another writer, each followed by a retry or by giving up.
    pub conflicts: u64,
    pub undetermined: u64,
    pub unavailable: u64,
    /// `transact` calls that ended after the last allowed attempt.
    pub gave_up: u64,
    /// Batches in which the embedded engine wrote those commits, and how many of them it synced.
    pub groups: u64,
    pub syncs: u64,
}

impl Stats {
    pub(crate) fn add(counter: &AtomicU64) {
        counter.fetch_add(1, Relaxed);
    }

    pub(crate) fn progress(&self) -> Progress {
        Progress { committed: self.committed.load(Relaxed), durable: self.durable.load(Relaxed) }
    }

    pub(crate) fn figures(&self) -> Figures {
        Figures {
            commits: self.commits.load(Relaxed),
            conflicts: self.conflicts.load(Relaxed),
            undetermined: self.undetermined.load(Relaxed),
            unavailable: self.unavailable.load(Relaxed),
            gave_up: self.gave_up.load(Relaxed),
            groups: self.groups.load(Relaxed),
            syncs: self.syncs.load(Relaxed),
        }
    }
}
