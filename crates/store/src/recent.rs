//! Which keys were written lately, and when: the write-write conflict check of snapshot isolation.
//!
//! A commit at sequence *c* leaves (hash of key → c) here for each key it wrote or locked. A
//! transaction whose snapshot is older than that entry lost the race. Entries older than every open
//! snapshot can decide nothing any more and are forgotten. If open snapshots keep too much alive,
//! the oldest entries are forgotten all the same and their sequence becomes the *floor*: a
//! transaction from below it is refused, as if it conflicted, since nobody can tell. So memory is
//! bounded and no lost update ever slips through.
//!
//! Keys are kept as 64-bit hashes: two keys with one hash cost a needless retry, never a missed
//! conflict.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, BuildHasherDefault, Hasher};

/// Deterministic on purpose: the same history must conflict the same way in every replay.
pub(crate) fn key_hash(key: &[u8]) -> u64 {
    foldhash::quality::FixedState::default().hash_one(key)
}

#[derive(Default)]
struct Identity(u64);

impl Hasher for Identity {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, _: &[u8]) {
        debug_assert!(false, "only hashes are stored");
    }
    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

pub(crate) struct RecentWrites {
    last: HashMap<u64, u64, BuildHasherDefault<Identity>>,
    /// In order of commit.
    log: VecDeque<(u64, u64)>,
    floor: u64,
    entries_max: usize,
}

impl RecentWrites {
    pub(crate) fn new(entries_max: usize) -> RecentWrites {
        RecentWrites { last: HashMap::default(), log: VecDeque::new(), floor: 0, entries_max }
    }

    /// The first of these keys that somebody wrote after `start`.
    pub(crate) fn conflict(&self, start: u64, hashes: &[u64]) -> Option<u64> {
        if start < self.floor {
            return hashes.first().copied();
        }
        hashes.iter().copied().find(|hash| self.last.get(hash).is_some_and(|&seq| seq > start))
    }

    pub(crate) fn record(&mut self, seq: u64, hashes: &[u64]) {
        for &hash in hashes {
            self.last.insert(hash, seq);
            self.log.push_back((seq, hash));
        }
    }

    /// Forgets what no snapshot at or after `oldest_open` can conflict with, and what is over the
    /// bound.
    pub(crate) fn prune(&mut self, oldest_open: u64) {
        while let Some(&(seq, hash)) = self.log.front() {
            let over = self.log.len() > self.entries_max;
            if seq > oldest_open && !over {
                break;
            }
            if seq > oldest_open {
                self.floor = self.floor.max(seq);
            }
            self.log.pop_front();
            if self.last.get(&hash) == Some(&seq) {
                self.last.remove(&hash);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conflicts_only_with_later_writes() {
        let mut recent = RecentWrites::new(100);
        recent.record(5, &[1, 2]);
        assert_eq!(recent.conflict(4, &[3, 2]), Some(2));
        assert_eq!(recent.conflict(5, &[1, 2]), None);
        recent.prune(5);
        assert!(recent.last.is_empty() && recent.log.is_empty());
    }

    #[test]
    fn what_was_forgotten_for_lack_of_room_still_conflicts() {
        let mut recent = RecentWrites::new(2);
        recent.record(1, &[10]);
        recent.record(2, &[20]);
        recent.record(3, &[30]);
        recent.prune(0);
        assert_eq!(recent.log.len(), 2);
        assert_eq!(recent.conflict(0, &[99]), Some(99), "below the floor nobody can tell, so it is refused");
        assert_eq!(recent.conflict(1, &[99]), None);
    }
}
