//! Where queues begin: of every [shard](crate::shard) the host queue of each [lane](crate::lane),
//! and the leases by when they end.
//!
//! An LSM store keeps a tombstone for every entry popped from the head of a queue, and a scan from
//! the table's start walks over all of them; and to ask 256 heads whether something is due costs
//! more than what is due. So of every queue a **head** is kept in memory: nothing stands before it.
//! Who looks for what is due scans only the shards whose heads are, from there.
//!
//! A head must never lie behind an entry that exists, and a scan does not see the entries of
//! transactions that are committed after its snapshot. So whoever may put entries registers as a
//! [`Writer`] until its commit is over, and a scan moves a head no further than the earliest entry
//! of any writer that was there at any moment of the scan. A new process knows no heads and begins
//! at the beginning, and a running one does so now and then. One scan of a queue at a time.

use std::collections::{BTreeMap, HashMap};

use parking_lot::{Mutex, MutexGuard};
use policy::time::Time;

use crate::lane::Lane;
use crate::memo::{Memo, UrlHash};
use crate::shard::{SHARDS, Shard};

/// A key of a queue, behind its shard. The whole of it: many hosts may stand at the same moment.
pub(crate) type Place = (Time, String);

/// Scans of a shard between two that start from the beginning.
const SCANS_FROM_HEAD: u32 = 10_000;

/// What has a head in every shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Queue {
    Hosts(Lane),
    /// Names do not matter in it.
    Leases,
}

impl Queue {
    const ALL: [Queue; 3] = [Queue::Hosts(Lane::Live), Queue::Hosts(Lane::Silent), Queue::Leases];

    fn index(self) -> usize {
        match self {
            Queue::Hosts(Lane::Live) => 0,
            Queue::Hosts(Lane::Silent) => 1,
            Queue::Leases => 2,
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Cursor {
    queues: [Mutex<State>; 3],
}

#[derive(Debug)]
struct State {
    /// By shard.
    heads: Vec<Head>,
    /// The earliest entries of each writer whose transaction is not over.
    writers: HashMap<u64, Entries>,
    writers_ever: u64,
    /// The earliest entries of the writers that ended since the last scan began.
    ended_meanwhile: Entries,
}

type Entries = BTreeMap<Shard, Place>;

#[derive(Clone, Debug, Default)]
struct Head {
    /// None: nobody has looked.
    at: Option<Place>,
    scans: u32,
}

impl Default for State {
    fn default() -> State {
        let heads = vec![Head::default(); SHARDS];
        State { heads, writers: HashMap::new(), writers_ever: 0, ended_meanwhile: Entries::new() }
    }
}

/// A shard to be scanned, and from where; none: from its beginning.
pub(crate) type Due = (Shard, Option<Place>);

/// Behind everything that stands in a queue.
pub(crate) fn the_end() -> Place {
    (Time(i64::MAX), String::new())
}

/// Somebody whose transaction may put entries, until it is committed or given up.
#[derive(Debug)]
pub(crate) struct Writer<'a> {
    cursor: &'a Cursor,
    number: u64,
    memo: &'a Memo,
    /// Before any snapshot of the transaction was taken.
    begun: u64,
    changed: Mutex<Vec<UrlHash>>,
}

impl Cursor {
    pub(crate) fn writer<'a>(&'a self, memo: &'a Memo) -> Writer<'a> {
        // One number for all queues: the first is asked for it, and held until all know it.
        let mut first = self.queues[0].lock();
        first.writers_ever += 1;
        let number = first.writers_ever;
        first.writers.insert(number, Entries::new());
        for queue in &self.queues[1..] {
            queue.lock().writers.insert(number, Entries::new());
        }
        drop(first);
        Writer { cursor: self, number, memo, begun: memo.now(), changed: Mutex::default() }
    }

    fn of(&self, queue: Queue) -> MutexGuard<'_, State> {
        self.queues[queue.index()].lock()
    }

    /// A scan begins, of these shards. To be called before its snapshot is taken.
    pub(crate) fn scan(&self, queue: Queue, now: Time, works_on: impl Fn(Shard) -> bool) -> Vec<Due> {
        let mut state = self.of(queue);
        state.ended_meanwhile.clear();
        let mut due = Vec::new();
        for shard in 0..=Shard::MAX {
            let head = &mut state.heads[usize::from(shard)];
            if works_on(shard) && head.at.as_ref().is_none_or(|(at, _)| *at <= now) {
                head.scans += 1;
                if head.scans >= SCANS_FROM_HEAD {
                    *head = Head::default();
                }
                due.push((shard, head.at.clone()));
            }
        }
        due
    }

    /// Somebody else may have put entries: nothing is known of the shard.
    pub(crate) fn forget(&self, shard: Shard) {
        for queue in Queue::ALL {
            self.of(queue).heads[usize::from(shard)] = Head::default();
        }
    }

    /// The scan's transaction was committed, and in what it leaves there is nothing before `first`.
    pub(crate) fn scanned(&self, queue: Queue, shard: Shard, first: Place) {
        let state = &mut *self.of(queue);
        let unseen = state.writers.values().chain([&state.ended_meanwhile]);
        let unseen = unseen.filter_map(|entries| entries.get(&shard)).min();
        let first = unseen.filter(|entry| **entry < first).cloned().unwrap_or(first);
        state.heads[usize::from(shard)].at = Some(first);
    }

    /// When something may be found in one of these shards, at the earliest.
    pub(crate) fn next(&self, queue: Queue, works_on: impl Fn(Shard) -> bool) -> Option<Time> {
        let state = self.of(queue);
        let shards = (0..=Shard::MAX).filter(|shard| works_on(*shard));
        let heads = shards.map(|shard| state.heads[usize::from(shard)].at.as_ref());
        let next = heads.map(|at| at.map_or(Time(i64::MIN), |(at, _)| *at)).min();
        next.filter(|at| at.0 < i64::MAX)
    }
}

impl Writer<'_> {
    /// An entry at this place is part of the transaction.
    pub(crate) fn entry_at(&self, queue: Queue, shard: Shard, place: Place) {
        let state = &mut *self.cursor.of(queue);
        let head = &mut state.heads[usize::from(shard)].at;
        if head.as_ref().is_some_and(|at| *at > place) {
            *head = Some(place.clone());
        }
        put_earlier(state.writers.entry(self.number).or_default(), shard, place);
    }

    /// What is known of this URL is changed by the transaction.
    pub(crate) fn changes(&self, collection: &str, url: &str) {
        let url = self.memo.url(collection, url);
        self.memo.changed(url);
        self.changed.lock().push(url);
    }

    /// Whether a link was seen lately in this context and changed nothing.
    pub(crate) fn knows(&self, url: UrlHash, context: u64, page: Option<u32>) -> bool {
        self.memo.knows(url, context, page)
    }

    /// A link was seen in this context and changed nothing.
    pub(crate) fn remember(&self, url: UrlHash, context: u64, via: Option<u32>) {
        self.memo.remember(url, context, via, self.begun);
    }

    pub(crate) fn memo(&self) -> &Memo {
        self.memo
    }
}

impl Drop for Writer<'_> {
    fn drop(&mut self) {
        for queue in Queue::ALL {
            let mut state = self.cursor.of(queue);
            for (shard, place) in state.writers.remove(&self.number).unwrap_or_default() {
                put_earlier(&mut state.ended_meanwhile, shard, place);
            }
        }
        // Who looked meanwhile may have seen the state before.
        for url in self.changed.get_mut().drain(..) {
            self.memo.changed(url);
        }
    }
}

fn put_earlier(entries: &mut Entries, shard: Shard, place: Place) {
    match entries.get_mut(&shard) {
        Some(before) if *before <= place => {}
        Some(before) => *before = place,
        None => {
            entries.insert(shard, place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIVE: Queue = Queue::Hosts(Lane::Live);

    fn place(time: i64) -> Place {
        (Time(time), "host".to_owned())
    }

    fn head(cursor: &Cursor, shard: Shard) -> Option<Place> {
        let due = cursor.scan(LIVE, Time(i64::MAX), |own| own == shard);
        due.into_iter().next().unwrap().1
    }

    #[test]
    fn moves_no_further_than_the_entries_a_scan_may_have_missed() {
        let (cursor, memo) = (Cursor::default(), Memo::new());
        assert_eq!(head(&cursor, 3), None);
        cursor.scanned(LIVE, 3, place(100));
        let before = cursor.writer(&memo);
        before.entry_at(LIVE, 3, place(150));
        assert_eq!(head(&cursor, 3), Some(place(100)));
        cursor.scanned(LIVE, 3, place(200));
        assert_eq!(head(&cursor, 3), Some(place(150)), "not committed when the scan looked");
        drop(before);
        cursor.scanned(LIVE, 3, place(200));
        assert_eq!(head(&cursor, 3), Some(place(150)), "committed while the scan looked");
        cursor.scanned(LIVE, 3, place(200));
        assert_eq!(head(&cursor, 3), Some(place(200)));
        let early = (Time(200), "earlier name".to_owned());
        cursor.writer(&memo).entry_at(LIVE, 3, early.clone());
        assert_eq!(head(&cursor, 3), Some(early), "an early entry moves it back at once");
        assert_eq!(head(&cursor, 4), None, "each shard has its own");
    }

    #[test]
    fn only_shards_whose_time_has_come_are_scanned() {
        let cursor = Cursor::default();
        assert_eq!(cursor.scan(LIVE, Time(0), |_| true).len(), SHARDS, "nothing is known yet");
        for shard in 0..=Shard::MAX {
            cursor.scanned(LIVE, shard, if shard == 7 { place(50) } else { the_end() });
        }
        assert_eq!(cursor.next(LIVE, |_| true), Some(Time(50)));
        assert_eq!(cursor.next(LIVE, |shard| shard != 7), None);
        assert_eq!(cursor.scan(LIVE, Time(49), |_| true), []);
        assert_eq!(cursor.scan(LIVE, Time(50), |_| true), [(7, Some(place(50)))]);
    }

    #[test]
    fn starts_from_the_beginning_now_and_then() {
        let cursor = Cursor::default();
        cursor.scanned(LIVE, 0, place(100));
        assert!((0..SCANS_FROM_HEAD).any(|_| head(&cursor, 0).is_none()));
    }
}
