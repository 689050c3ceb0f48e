//! F31 worked out anew from the web's own log: what the answers that were archived kept of a
//! frequency that never changed.
//!
//! A URL is due when the answer that links to it is committed; from then on each of its answers
//! sets the next due time (F21), and it is never harvested before that. What is not known exactly
//! is carried along as the earliest and the latest it can be.

use std::time::Duration;

use tokio::time::Instant;

/// What can be told of a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Between {
    pub(crate) least: u64,
    pub(crate) most: u64,
}

impl Between {
    pub(crate) fn holds(self, number: u64) -> bool {
        (self.least..=self.most).contains(&number)
    }

    fn add(&mut self, least: u64, most: u64) {
        self.least += least;
        self.most += most;
    }
}

/// A moment, not before the first and not after the second.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment(pub(crate) Instant, pub(crate) Instant);

/// What should be reported.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Expected {
    pub(crate) first: u64,
    pub(crate) kept: u64,
    pub(crate) on_time: Between,
    pub(crate) missed: Between,
    pub(crate) promised: Between,
}

pub(crate) struct Terms {
    pub(crate) every: Duration,
    pub(crate) on_time: Duration,
}

impl Terms {
    /// One URL: the answer that first linked to it, if one did, or else when all began; and its own
    /// answers, as the harvester had them. It is reported at `now`.
    pub(crate) fn add(&self, found: Moment, answers: &[Moment], now: Moment, to: &mut Expected) {
        let Some(first) = answers.first() else { return };
        to.first += 1;
        to.kept += answers.len() as u64 - 1;
        let mut due = self.next(found, *first);
        for at in &answers[1..] {
            due = Moment(due.0, due.1.min(at.1));
            let missed = self.periods(due, *at);
            to.missed.add(missed.0, missed.1);
            // How late, counted from the promise that was kept.
            let (late, whole) = (self.lateness(due, *at), missed.0 == missed.1);
            let surely = whole && late.1 <= self.on_time;
            let perhaps = !whole || late.0 <= self.on_time;
            to.on_time.add(u64::from(surely), u64::from(perhaps));
            to.promised.add(missed.0 + 1, missed.1 + 1);
            due = self.next(due, *at);
        }
        let missed = self.periods(due, now);
        to.missed.add(missed.0, missed.1);
        to.promised.add(missed.0 + u64::from(due.1 <= now.0), missed.1 + u64::from(due.0 <= now.1));
    }

    /// F21: one period after the due time it had; where that is past, one after the answer.
    fn next(&self, due: Moment, at: Moment) -> Moment {
        let next = Moment(due.0 + self.every, due.1 + self.every);
        let from_answer = Moment(at.0 + self.every, at.1 + self.every);
        if next.0 > at.1 {
            next
        } else if next.1 <= at.0 {
            from_answer
        } else {
            Moment(at.0, next.1.max(from_answer.1))
        }
    }

    /// Whole periods from a moment to another.
    fn periods(&self, from: Moment, to: Moment) -> (u64, u64) {
        let count = |from: Instant, to: Instant| {
            u64::try_from(to.saturating_duration_since(from).as_millis() / self.every.as_millis()).unwrap()
        };
        (count(from.1, to.0), count(from.0, to.1))
    }

    fn lateness(&self, due: Moment, at: Moment) -> (Duration, Duration) {
        let rest = |from: Instant, to: Instant| {
            let whole = to.saturating_duration_since(from);
            Duration::from_millis((whole.as_millis() % self.every.as_millis()).try_into().unwrap())
        };
        (rest(due.1, at.0), rest(due.0, at.1))
    }
}
