//! Who asked for what, and when: what a check of politeness needs.
//!
//! A request begins when it has been read and ends just before the last bytes of its answer are
//! written. So what is measured is never longer, and pauses are never shorter, than they were for
//! the other side, however busy the machine is: rules that hold on the wire hold here.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use tokio::time::Instant;

use super::Ask;

/// Of each part of a request that is one of the latest; longer headers are left out, a longer path
/// is cut.
const ASK_BYTES_MAX: usize = 1024;

/// A request as it was seen.
#[derive(Clone, Debug)]
pub struct Seen {
    pub ask: Ask,
    pub begin: Instant,
    /// When its last bytes were about to be sent, or the asker was gone.
    pub end: Option<Instant>,
    /// Of its answer.
    pub status: u16,
    /// The answer was sent to its last byte.
    pub whole: bool,
}

/// How much of what it was asked a web remembers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// And counts how often each URL was asked for.
    Everything,
    /// So many requests, the oldest go first; long ones are shortened.
    Latest(usize),
    Nothing,
}

#[derive(Debug)]
pub(super) struct Log {
    keep: Keep,
    seen: Mutex<Requests>,
    more: Condvar,
    asked: Mutex<HashMap<String, usize>>,
}

#[derive(Debug, Default)]
struct Requests {
    latest: VecDeque<Seen>,
    /// Requests that came before those.
    forgotten: usize,
}

impl Requests {
    fn count(&self) -> usize {
        self.forgotten + self.latest.len()
    }
}

impl Log {
    pub(super) fn new(keep: Keep) -> Log {
        Log { keep, seen: Mutex::default(), more: Condvar::new(), asked: Mutex::default() }
    }

    /// Notes a request that has come, and says in it which one it is.
    pub(super) fn begin(&self, ask: &mut Ask) {
        if self.keep == Keep::Nothing {
            return;
        }
        if self.keep == Keep::Everything {
            let mut asked = self.asked.lock();
            let times = asked.entry(ask.url()).or_default();
            ask.nth = *times;
            *times += 1;
        }
        let mut requests = self.seen.lock();
        ask.number = requests.count();
        let mut ask = ask.clone();
        if let Keep::Latest(most) = self.keep {
            ask.shorten(ASK_BYTES_MAX);
            if requests.latest.len() >= most {
                requests.latest.pop_front();
                requests.forgotten += 1;
            }
        }
        requests.latest.push_back(Seen { ask, begin: Instant::now(), end: None, status: 0, whole: false });
        self.more.notify_all();
    }

    /// Its answer is all but sent.
    pub(super) fn end(&self, ask: &Ask, status: u16) {
        let now = Instant::now();
        self.with(ask, |seen| {
            seen.end.get_or_insert(now);
            seen.status = status;
        });
    }

    /// Its answer is sent, whole or not.
    pub(super) fn over(&self, ask: &Ask, status: u16, whole: bool) {
        self.end(ask, status);
        self.with(ask, |seen| seen.whole = whole);
    }

    fn with(&self, ask: &Ask, note: impl FnOnce(&mut Seen)) {
        if self.keep == Keep::Nothing {
            return;
        }
        let mut requests = self.seen.lock();
        let at = ask.number.checked_sub(requests.forgotten);
        if let Some(seen) = at.and_then(|at| requests.latest.get_mut(at)) {
            note(seen);
        }
    }

    pub(super) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().latest.iter().cloned().collect()
    }

    pub(super) fn count(&self) -> usize {
        self.seen.lock().count()
    }

    pub(super) fn times(&self, url: &str) -> usize {
        self.asked.lock().get(url).copied().unwrap_or(0)
    }

    pub(super) fn wait_for(&self, count: usize, within: Duration) -> bool {
        let deadline = Instant::now() + within;
        let mut requests = self.seen.lock();
        while requests.count() < count {
            if self.more.wait_until(&mut requests, deadline.into_std()).timed_out() {
                return false;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_is_bounded_and_in_order() {
        const MOST: usize = 1000;
        let log = Log::new(Keep::Latest(MOST));
        let path = "æ".repeat(4000);
        let mut before: Option<Ask> = None;
        for _ in 0..MOST + 5 {
            let headers = vec![("cookie".to_owned(), path.clone())];
            let mut ask = Ask { host: "a.test".to_owned(), path: path.clone(), headers, ..Ask::default() };
            log.begin(&mut ask);
            // Each ends after the one that came just after it.
            match before.take() {
                Some(before) => {
                    log.over(&ask, 200, true);
                    log.over(&before, 404, false);
                }
                None => before = Some(ask),
            }
        }
        let seen = log.seen();
        assert_eq!((seen.len(), log.count()), (MOST, MOST + 5));
        assert!(seen.is_sorted_by_key(|seen| seen.begin));
        let numbers: Vec<usize> = seen.iter().map(|seen| seen.ask.number).collect();
        assert_eq!(numbers, (5..MOST + 5).collect::<Vec<_>>());
        for seen in &seen[..MOST - 1] {
            let odd = seen.ask.number % 2 == 1;
            assert_eq!((seen.status, seen.whole), if odd { (200, true) } else { (404, false) });
            assert!(seen.end.is_some() && seen.ask.path.len() == ASK_BYTES_MAX);
            assert!(seen.ask.headers.is_empty());
        }
        assert_eq!(seen[MOST - 1].end, None, "the last one goes on");
    }
}
