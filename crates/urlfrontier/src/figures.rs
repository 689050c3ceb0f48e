//! What this process put and handed out since it began, and in the last minute, crawl by crawl.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use foldhash::fast::RandomState;
use parking_lot::Mutex;

/// Seconds that rates are of.
const WINDOW: usize = 60;
/// Crawls with rates of their own; those that were quiet for a minute make room.
const CRAWLS_MAX: usize = 1000;

#[derive(Debug, Default)]
pub struct Figures {
    ok: AtomicU64,
    skipped: AtomicU64,
    failed: AtomicU64,
    handed: AtomicU64,
    crawls: Mutex<HashMap<String, Lately, RandomState>>,
}

/// What was done in a crawl, second by second: URLs put, whether they were new or known, and
/// URLs handed out.
#[derive(Debug, Default)]
struct Lately {
    done: (u64, u64),
    samples: VecDeque<(u64, u64)>,
}

/// URLs a second, in the last minute.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rates {
    pub put_per_s: f64,
    pub handed_per_s: f64,
}

/// Items and URLs since the process began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Done {
    pub ok: u64,
    pub skipped: u64,
    pub failed: u64,
    pub handed: u64,
}

impl Lately {
    fn rates(&self) -> Rates {
        let then = self.samples.front().copied().unwrap_or_default();
        let seconds = self.samples.len().clamp(1, WINDOW) as f64;
        Rates {
            put_per_s: (self.done.0 - then.0) as f64 / seconds,
            handed_per_s: (self.done.1 - then.1) as f64 / seconds,
        }
    }

    fn is_quiet(&self) -> bool {
        self.samples.len() >= WINDOW && self.samples.front() == Some(&self.done)
    }
}

impl Figures {
    fn count(&self, crawl: &str, put: u64, handed: u64) {
        let mut crawls = self.crawls.lock();
        if !crawls.contains_key(crawl) {
            if crawls.len() >= CRAWLS_MAX {
                return;
            }
            // What it did before it was seen is nothing.
            let samples = VecDeque::from([(0, 0)]);
            crawls.insert(crawl.to_owned(), Lately { samples, ..Lately::default() });
        }
        if let Some(Lately { done, .. }) = crawls.get_mut(crawl) {
            *done = (done.0 + put, done.1 + handed);
        }
    }

    /// Items of a crawl were acknowledged.
    pub(crate) fn put(&self, crawl: &str, ok: u64, skipped: u64) {
        self.ok.fetch_add(ok, Relaxed);
        self.skipped.fetch_add(skipped, Relaxed);
        self.count(crawl, ok + skipped, 0);
    }

    /// Items that were malformed, or could not be put.
    pub fn failed(&self, items: u64) {
        self.failed.fetch_add(items, Relaxed);
    }

    pub(crate) fn handed(&self, crawl: &str, urls: u64) {
        self.handed.fetch_add(urls, Relaxed);
        self.count(crawl, 0, urls);
    }

    /// A second is over.
    pub fn tick(&self) {
        let mut crawls = self.crawls.lock();
        for lately in crawls.values_mut() {
            lately.samples.push_back(lately.done);
            if lately.samples.len() > WINDOW {
                lately.samples.pop_front();
            }
        }
        crawls.retain(|_, lately| !lately.is_quiet());
    }

    /// Of a crawl; of one that nothing is done in, none.
    pub fn rates(&self, crawl: &str) -> Rates {
        self.crawls.lock().get(crawl).map(Lately::rates).unwrap_or_default()
    }

    pub fn done(&self) -> Done {
        Done {
            ok: self.ok.load(Relaxed),
            skipped: self.skipped.load(Relaxed),
            failed: self.failed.load(Relaxed),
            handed: self.handed.load(Relaxed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn g10_rates_are_of_the_last_minute_and_of_few_crawls() {
        let figures = Figures::default();
        figures.put("a", 300, 300);
        figures.handed("a", 60);
        figures.tick();
        assert_eq!(figures.rates("a"), Rates { put_per_s: 300.0, handed_per_s: 30.0 });
        assert_eq!(figures.rates("b"), Rates::default());
        (0..58).for_each(|_| figures.tick());
        assert_eq!(figures.rates("a"), Rates { put_per_s: 10.0, handed_per_s: 1.0 });
        figures.tick();
        assert_eq!(figures.rates("a"), Rates::default(), "a minute ago");
        assert_eq!(figures.done(), Done { ok: 300, skipped: 300, failed: 0, handed: 60 });
        (0..CRAWLS_MAX + 10).for_each(|n| figures.put(&n.to_string(), 1, 0));
        assert_eq!(figures.crawls.lock().len(), CRAWLS_MAX);
        (0..WINDOW).for_each(|_| figures.tick());
        assert_eq!(figures.crawls.lock().len(), 0, "the quiet ones make room");
        assert_eq!(figures.done().ok, 300 + CRAWLS_MAX as u64 + 10);
    }
}
