//! Observers: small transactions that wake when something they watch has changed.
//!
//! Whoever changes a cell leaves a **note** in the same transaction. Notes lie in four queues,
//! each in shards by the hash of what they are about. An observer takes the notes of one shard, as
//! many as weigh no more than a batch may, and consumes them in the transaction that does their
//! work. So work is done exactly once (X11): a crash before the commit leaves the notes, and of two
//! workers with the same notes one loses the race and finds them gone.
//!
//! Notes are weak: each has a number and a key of its own, so that any number of writers may notify
//! one row without a conflict, and many notes are worked in together (X10). Where order matters,
//! numbers tell it: who sends a page's links looks up the number they last went out under
//! ([`crate::schema::Head::sent`]) and takes a higher one, so updates of one link are found in
//! the order of their pages, whichever process sent them.
//!
//! **Where a queue begins.** The store keeps a tombstone for every note consumed, so a scan must
//! not start at the queue's first key. Each queue has a *floor*: no note at or below it is ever
//! added. Senders read the floor in their transaction and lock one of a few guard rows; who raises
//! the floor locks all of them. So either the sender's notes were committed before, or it runs
//! again and sees the new floor. A worker that found nothing up to the floor starts above it from
//! then on.
//!
//! [`Workers`] run observers as notes come; [`Index::to_rest`](crate::Index::to_rest) returns when
//! none waits.

mod board;
mod notes;
mod outbox;
mod step;
mod workers;

use std::hash::BuildHasher;

pub(crate) use board::Board;
pub use board::Metrics;
pub(crate) use notes::Note;
pub(crate) use outbox::Outbox;
pub use workers::Workers;

/// What a note is about, and with that who works it in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Queue {
    /// Pages that were loaded: page observer.
    Pages,
    /// Links that came or went: inlinks observer.
    Links,
    /// URIs that appeared in a domain or disappeared: domain observer.
    Domains,
    /// URIs whose ranks are behind their counts: rank observer.
    Ranks,
}

impl Queue {
    pub(crate) const ALL: [Queue; 4] = [Queue::Pages, Queue::Links, Queue::Domains, Queue::Ranks];

    /// Its number in keys.
    pub(crate) const fn id(self) -> u8 {
        match self {
            Queue::Pages => 0,
            Queue::Links => 1,
            Queue::Domains => 2,
            Queue::Ranks => 3,
        }
    }

    /// Whose desks its observer sits at: both observers of a URI write its count.
    pub(crate) const fn at(self) -> Queue {
        match self {
            Queue::Links | Queue::Ranks => Queue::Links,
            Queue::Pages | Queue::Domains => self,
        }
    }

    /// What one transaction takes on that holds so many bytes: those it will read or write,
    /// roughly; of ranks a fifth of them.
    pub(crate) fn batch_weight(self, txn_bytes_max: usize) -> usize {
        let worth_it: usize = match self {
            Queue::Pages => 4 << 20,
            Queue::Links => 16 << 20,
            Queue::Ranks => 2 << 20,
            Queue::Domains => 4 << 20,
        };
        let share = if self == Queue::Ranks { 20 } else { 4 };
        worth_it.min(txn_bytes_max / share)
    }

    /// What makes a shard worth a batch while there is other work.
    pub(crate) const fn full_weight(self) -> usize {
        match self {
            Queue::Pages => 1 << 20,
            Queue::Links => 12 << 20,
            Queue::Domains => 1 << 20,
            // The more often a URI is counted before it is moved, the better; but what waits holds
            // the harvest back, so it is not to be many notes.
            Queue::Ranks => 8 << 20,
        }
    }
}

/// Shards of a queue. Never to be changed: notes wait in the shard they were sent to, and totals in
/// theirs.
pub(crate) const SHARDS: u32 = 8;

/// Where notes about this go, the same in every process.
pub(crate) fn shard_of(name: &str) -> u32 {
    let hash = foldhash::quality::FixedState::default().hash_one(name);
    u32::try_from(hash % u64::from(SHARDS)).unwrap_or(0)
}
