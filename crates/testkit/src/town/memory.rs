//! What the web remembers while it runs.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Counts by names that stand in the code, so there are only so many.
#[derive(Debug)]
pub(crate) struct Memory {
    began: Instant,
    counts: Mutex<BTreeMap<&'static str, u64>>,
}

impl Default for Memory {
    fn default() -> Memory {
        Memory { began: Instant::now(), counts: Mutex::default() }
    }
}

impl Memory {
    pub(crate) fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// How many times this was counted, now included.
    pub(super) fn count(&self, what: &'static str) -> u64 {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(what).or_default();
        *count += 1;
        *count
    }

    /// The same without counting.
    pub(super) fn counted(&self, what: &'static str) -> u64 {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).get(what).copied().unwrap_or_default()
    }
}
