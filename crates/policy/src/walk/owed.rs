//! The re-attempts a leg still owes (L5).
//!
//! A miss waits in a bucket by the time it is due, rounded up to a quantum so that misses of one
//! moment share ranges, and by the attempts it has had. When its time has come the bucket joins the
//! ready ones, and of those the ids with most attempts go first, so that they never pile up.

use std::collections::BTreeMap;
use std::ops::Range;

use super::Leg;
use super::spans::Spans;
use crate::time::{Span, Time};

/// Finest and coarsest rounding of a due time, in milliseconds.
const QUANTUM_MS: (u64, u64) = (1, 60_000);

/// Into how many parts a cool-down is divided.
const QUANTA_IN_COOLDOWN: u64 = 64;

type ByAttempts = BTreeMap<u16, Spans>;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Owed {
    waiting: BTreeMap<Time, ByAttempts>,
    ready: ByAttempts,
}

impl Owed {
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.ready.is_empty()
    }

    /// Positions that have had so many attempts and may be tried again at `due`.
    pub(super) fn wait(&mut self, due: Time, attempts: u16, positions: Range<u64>) {
        self.waiting.entry(due).or_default().entry(attempts).or_default().insert(positions);
    }

    /// Positions whose time has come already.
    pub(super) fn ready(&mut self, attempts: u16, positions: Range<u64>) {
        self.ready.entry(attempts).or_default().insert(positions);
    }

    /// The next position to be tried again now, with the attempts it has had.
    pub(super) fn take(&mut self, leg: Leg, now: Time) -> Option<(u64, u16)> {
        self.ripen(now);
        let mut most = self.ready.last_entry()?;
        let attempts = *most.key();
        let position = most.get_mut().take_first(leg);
        if most.get().is_empty() {
            most.remove();
        }
        position.map(|position| (position, attempts))
    }

    /// When the first of those that wait is due.
    pub(super) fn next_due(&self) -> Option<Time> {
        self.waiting.first_key_value().map(|(due, _)| *due)
    }

    /// F40: nothing waits beyond that.
    pub(super) fn wait_no_longer_than(&mut self, latest: Time) {
        let mut beyond = self.waiting.split_off(&latest);
        while let Some((_, bucket)) = beyond.pop_first() {
            let last = self.waiting.entry(latest).or_default();
            for (attempts, positions) in bucket {
                last.entry(attempts).or_default().insert_all(positions);
            }
        }
    }

    fn ripen(&mut self, now: Time) {
        while let Some(bucket) = self.waiting.first_entry().filter(|bucket| *bucket.key() <= now) {
            for (attempts, positions) in bucket.remove() {
                self.ready.entry(attempts).or_default().insert_all(positions);
            }
        }
    }
}

/// When a miss of this time may be tried again: never before the cool-down is over, at most a
/// quantum after.
pub(super) fn due_after(at: Time, cooldown: Span) -> Time {
    let due = at.plus(cooldown);
    let quantum = (cooldown.0 / QUANTA_IN_COOLDOWN).clamp(QUANTUM_MS.0, QUANTUM_MS.1);
    let quantum = i64::try_from(quantum).unwrap_or(i64::MAX);
    match due.0.rem_euclid(quantum) {
        0 => due,
        past => Time(due.0.saturating_add(quantum - past)),
    }
}
