//! Where the host queue begins.
//!
//! An LSM store keeps a tombstone for every entry popped from the head of a queue, and a scan from the table's start walks over all
//! of them. So scans start here. The cursor never lies behind an entry that exists: whoever puts one moves it back *before*
//! committing, and a scan moves it forward only if nobody moved it back meanwhile. It lives in memory; a new
//! process, and now and then a running one (other processes put entries too), starts from the beginning.

use parking_lot::Mutex;
use policy::time::Time;

/// Scans between two that start from the beginning.
const SCANS_FROM_CURSOR: u32 = 10_000;

#[derive(Debug, Default)]
pub(crate) struct Cursor {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    at: Option<Time>,
    moved_back: u64,
    scans: u32,
}

/// A scan that began at `from`.
pub(crate) struct Scan {
    pub(crate) from: Option<Time>,
    moved_back: u64,
}

impl Cursor {
    /// An entry at this time is about to be committed.
    pub(crate) fn entry_at(&self, time: Time) {
        let mut state = self.state.lock();
        if state.at.is_some_and(|at| time < at) {
            state.at = Some(time);
        }
        state.moved_back += 1;
    }

    pub(crate) fn scan(&self) -> Scan {
        let mut state = self.state.lock();
        state.scans += 1;
        if state.scans >= SCANS_FROM_CURSOR {
            state.scans = 0;
            state.at = None;
        }
        Scan { from: state.at, moved_back: state.moved_back }
    }

    /// The scan's transaction was committed, and there is nothing before `first`.
    pub(crate) fn scanned(&self, scan: &Scan, first: Time) {
        let mut state = self.state.lock();
        if state.moved_back == scan.moved_back {
            state.at = Some(first);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_forward_only_if_nobody_put_an_entry_meanwhile() {
        let cursor = Cursor::default();
        let scan = cursor.scan();
        assert_eq!(scan.from, None);
        cursor.scanned(&scan, Time(100));
        let scan = cursor.scan();
        assert_eq!(scan.from, Some(Time(100)));
        cursor.entry_at(Time(50));
        cursor.scanned(&scan, Time(200));
        assert_eq!(cursor.scan().from, Some(Time(50)));
    }

    #[test]
    fn starts_from_the_beginning_now_and_then() {
        let cursor = Cursor::default();
        cursor.scanned(&cursor.scan(), Time(100));
        assert!((0..SCANS_FROM_CURSOR).any(|_| cursor.scan().from.is_none()));
    }
}
