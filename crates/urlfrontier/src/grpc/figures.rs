//! What the service did since it began, and in the last minute.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use parking_lot::Mutex;

use crate::Ack;

/// Seconds that rates are of.
const WINDOW: usize = 60;

#[derive(Debug, Default)]
pub struct Figures {
    created: AtomicU64,
    skipped: AtomicU64,
    failed: AtomicU64,
    handed: AtomicU64,
    /// What had been put and handed out, second by second.
    samples: Mutex<VecDeque<(u64, u64)>>,
}

/// What the service did since the process began.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Done {
    pub ok: u64,
    pub skipped: u64,
    pub failed: u64,
    pub handed: u64,
    /// In the last minute.
    pub put_per_s: f64,
    pub handed_per_s: f64,
}

impl Figures {
    pub(super) fn put(&self, acks: &[Ack]) {
        let count = |of: Ack| acks.iter().filter(|ack| **ack == of).count() as u64;
        self.created.fetch_add(count(Ack::Ok), Relaxed);
        self.skipped.fetch_add(count(Ack::Skipped), Relaxed);
        self.failed.fetch_add(count(Ack::Fail), Relaxed);
    }

    pub(super) fn handed(&self, urls: usize) {
        self.handed.fetch_add(urls as u64, Relaxed);
    }

    fn now(&self) -> (u64, u64) {
        (self.created.load(Relaxed) + self.skipped.load(Relaxed), self.handed.load(Relaxed))
    }

    /// A second is over.
    pub(super) fn tick(&self) {
        let mut samples = self.samples.lock();
        samples.push_back(self.now());
        if samples.len() > WINDOW {
            samples.pop_front();
        }
    }

    pub fn done(&self) -> Done {
        let (put, handed) = self.now();
        let samples = self.samples.lock();
        let (put_then, handed_then) = samples.front().copied().unwrap_or((put, handed));
        let seconds = samples.len().max(1) as f64;
        Done {
            ok: self.created.load(Relaxed),
            skipped: self.skipped.load(Relaxed),
            failed: self.failed.load(Relaxed),
            handed,
            put_per_s: (put - put_then) as f64 / seconds,
            handed_per_s: (handed - handed_then) as f64 / seconds,
        }
    }
}
