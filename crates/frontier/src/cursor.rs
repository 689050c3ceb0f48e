//! Where the host queue begins, that of each [lane](crate::lane).
//!
//! An LSM store keeps a tombstone for every entry popped from the head of a queue, and a scan from
//! the table's start walks over all of them. So scans start here. The cursor must never lie behind
//! an entry that exists, and a scan does not see the entries of transactions that are committed
//! after its snapshot. So whoever may put entries registers as a [`Writer`] until its
//! commit is over, and a scan moves the cursor no further than the earliest entry of any writer
//! that was there at any moment of the scan. It lives in memory; a new process, and now and then a
//! running one (other processes put entries too), starts from the beginning. One scan at a time.

use std::collections::HashMap;

use parking_lot::Mutex;
use policy::time::Time;

use crate::lane::Lane;
use crate::memo::{Memo, UrlHash};

/// A key of the host queue. The whole of it: many hosts may stand at the same moment.
pub(crate) type Place = (Time, String);

/// Scans between two that start from the beginning.
const SCANS_FROM_CURSOR: u32 = 10_000;

#[derive(Debug, Default)]
pub(crate) struct Cursor {
    /// By lane.
    lanes: [Mutex<State>; 2],
}

#[derive(Debug, Default)]
struct State {
    at: Option<Place>,
    /// The earliest entry of each writer whose transaction is not over.
    writers: HashMap<u64, Option<Place>>,
    writers_ever: u64,
    /// The earliest entry of the writers that ended since the last scan began.
    ended_meanwhile: Option<Place>,
    scans: u32,
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
        let [live, silent] = &self.lanes;
        let mut state = live.lock();
        state.writers_ever += 1;
        let number = state.writers_ever;
        state.writers.insert(number, None);
        silent.lock().writers.insert(number, None);
        drop(state);
        Writer { cursor: self, number, memo, begun: memo.now(), changed: Mutex::default() }
    }

    fn of(&self, lane: Lane) -> parking_lot::MutexGuard<'_, State> {
        let [live, silent] = &self.lanes;
        match lane {
            Lane::Live => live.lock(),
            Lane::Silent => silent.lock(),
        }
    }

    /// A scan begins, at this place. To be called before its snapshot is taken.
    pub(crate) fn scan(&self, lane: Lane) -> Option<Place> {
        let mut state = self.of(lane);
        state.ended_meanwhile = None;
        state.scans += 1;
        if state.scans >= SCANS_FROM_CURSOR {
            state.scans = 0;
            state.at = None;
        }
        state.at.clone()
    }

    /// The scan's transaction was committed, and in what it saw there is nothing before `first`.
    pub(crate) fn scanned(&self, lane: Lane, first: Place) {
        let mut state = self.of(lane);
        let unseen = state.writers.values().chain([&state.ended_meanwhile]).flatten().min().cloned();
        state.at = Some(match unseen {
            Some(entry) if entry < first => entry,
            _ => first,
        });
    }
}

impl Writer<'_> {
    /// An entry at this place is part of the transaction.
    pub(crate) fn entry_at(&self, lane: Lane, time: Time, unit: &str) {
        let place = (time, unit.to_owned());
        let mut state = self.cursor.of(lane);
        state.at = state.at.take().map(|at| at.min(place.clone()));
        let entry = state.writers.entry(self.number).or_default();
        *entry = earlier(entry.take(), Some(place));
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
        for lane in Lane::ALL {
            let mut state = self.cursor.of(lane);
            let entry = state.writers.remove(&self.number).flatten();
            state.ended_meanwhile = earlier(state.ended_meanwhile.take(), entry);
        }
        // Who looked meanwhile may have seen the state before.
        for url in self.changed.get_mut().drain(..) {
            self.memo.changed(url);
        }
    }
}

fn earlier(a: Option<Place>, b: Option<Place>) -> Option<Place> {
    a.into_iter().chain(b).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(time: i64) -> Place {
        (Time(time), "host".to_owned())
    }

    #[test]
    fn moves_no_further_than_the_entries_a_scan_may_have_missed() {
        let (cursor, memo) = (Cursor::default(), Memo::new());
        assert_eq!(cursor.scan(Lane::Live), None);
        cursor.scanned(Lane::Live, place(100));
        let before = cursor.writer(&memo);
        before.entry_at(Lane::Live, Time(150), "host");
        assert_eq!(cursor.scan(Lane::Live), Some(place(100)));
        cursor.scanned(Lane::Live, place(200));
        assert_eq!(cursor.scan(Lane::Live), Some(place(150)), "not committed when the scan looked");
        drop(before);
        cursor.scanned(Lane::Live, place(200));
        assert_eq!(cursor.scan(Lane::Live), Some(place(150)), "committed while the scan looked");
        cursor.scanned(Lane::Live, place(200));
        assert_eq!(cursor.scan(Lane::Live), Some(place(200)));
        cursor.writer(&memo).entry_at(Lane::Live, Time(200), "earlier name");
        assert_eq!(
            cursor.scan(Lane::Live),
            Some((Time(200), "earlier name".to_owned())),
            "an early entry moves it back at once"
        );
    }

    #[test]
    fn starts_from_the_beginning_now_and_then() {
        let cursor = Cursor::default();
        cursor.scan(Lane::Live);
        cursor.scanned(Lane::Live, place(100));
        assert!((0..SCANS_FROM_CURSOR).any(|_| cursor.scan(Lane::Live).is_none()));
    }
}
