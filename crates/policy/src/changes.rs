//! How often a URL changes, as far as its harvests tell, and the frequency that gives it (F41).
//!
//! What is kept of a URL is small: for how long it was watched, and how many changes that brought, both
//! fading with each harvest, so that the last few weigh most. A harvest tells only *whether* there was
//! a change since the one before; where there was, there may have been several, and as many are counted
//! as a process that changes at random at the rate seen so far has on average where it has at least one.
//!
//! The **rate** is changes over time, both with a little of what is taken for granted before anything
//! was seen: that the URL changes as often as the middle of its range would suit. The **frequency**
//! follows the rate, though not wholly ([`ESTIMATOR`]): harvests that go to what changes all the time keep
//! nothing fresh for long, and those same harvests do for what changes now and then. It goes in steps of
//! about √2 from one end of the range to the other, so that it does not move with every harvest, and
//! what is promised for one moment stays a few rows (F31).
//!
//! Chosen by measurement, against fixed frequencies, against the rule of Nutch, and against other
//! constants: `bench/RESULTS.md`, *Adaptive frequency*.

use serde::{Deserialize, Serialize};

use crate::model::Profile;
use crate::time::Span;

/// The constants of the estimate.
#[derive(Clone, Copy, Debug)]
pub struct Estimator {
    /// The expected number of changes between two harvests that the frequency aims at.
    pub wanted: f64,
    /// What of the past counts on at each harvest.
    pub remembered: f64,
    /// As many harvests weigh as much as what is taken for granted.
    pub granted: f64,
    /// How far the frequency follows the rate, away from the middle: 1 is wholly, 0 not at all.
    pub follows: f64,
}

/// What is used.
pub const ESTIMATOR: Estimator = Estimator { wanted: 0.7, remembered: 0.9, granted: 0.5, follows: 0.8 };

/// Changes in one interval that are counted at most.
const AT_ONCE_MAX: f64 = 4.0;
/// Parts of a change.
const PARTS: f64 = 256.0;

/// What was observed of a URL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changes {
    /// Harvests that could tell whether it had changed; all of them.
    pub harvests: u32,
    /// Of those, at how many it had.
    pub changed: u32,
    /// Changes by estimate, in parts of 256, fading.
    weight: u32,
    /// Seconds, fading.
    watched: u32,
}

/// The two ends of an adaptive frequency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    pub fast: Span,
    pub slow: Span,
}

impl Estimator {
    /// A harvest this long after the one before found it changed, or not.
    pub fn after(&self, seen: Changes, span: Span, changed: bool) -> Changes {
        let seconds = seconds(span);
        let (weight, watched) = (f64::from(seen.weight) / PARTS, f64::from(seen.watched));
        let found =
            if changed { at_least_one((weight + 1.0) / (watched + 0.5 * seconds) * seconds) } else { 0.0 };
        Changes {
            harvests: seen.harvests.saturating_add(1),
            changed: seen.changed.saturating_add(u32::from(changed)),
            weight: whole((weight * self.remembered + found) * PARTS),
            watched: whole(watched * self.remembered + seconds),
        }
    }

    /// The frequency that suits it.
    pub fn every(&self, seen: &Changes, range: Range) -> Span {
        range.nearest(self.wanted / self.rate(seen, range), self.follows)
    }

    /// Changes a second.
    fn rate(&self, seen: &Changes, range: Range) -> f64 {
        let granted = (self.granted * self.wanted, self.granted * seconds(range.middle()));
        (f64::from(seen.weight) / PARTS + granted.0) / (f64::from(seen.watched) + granted.1)
    }
}

impl Changes {
    /// A harvest this long after the one before found it changed, or not.
    #[must_use]
    pub fn after(self, span: Span, changed: bool) -> Changes {
        ESTIMATOR.after(self, span, changed)
    }

    /// The frequency that suits it.
    pub fn every(&self, range: Range) -> Span {
        ESTIMATOR.every(self, range)
    }

    /// Changes a day, by estimate.
    pub fn per_day(&self, range: Range) -> f64 {
        ESTIMATOR.rate(self, range) * seconds(Span::days(1))
    }

    /// How much of the estimate was observed and not taken for granted: from 0 to 1.
    pub fn confidence(&self) -> f64 {
        let Estimator { remembered, granted, .. } = ESTIMATOR;
        // The sum of what the harvests weigh by now.
        let weigh = (1.0 - remembered.powf(f64::from(self.harvests))) / (1.0 - remembered);
        weigh / (weigh + granted)
    }
}

impl Range {
    /// A new URL begins here: the geometric mean of the two ends.
    pub fn middle(self) -> Span {
        self.step(self.steps() / 2)
    }

    /// An even number, so that the middle is one of them.
    fn steps(self) -> u32 {
        let octaves = (seconds(self.slow) / seconds(self.fast)).log2();
        2 * whole(octaves).max(1)
    }

    fn step(self, number: u32) -> Span {
        let share = f64::from(number) / f64::from(self.steps());
        let ratio = seconds(self.slow) / seconds(self.fast);
        match number {
            0 => self.fast,
            number if number >= self.steps() => self.slow,
            _ => Span(u64::from(whole(seconds(self.fast) * ratio.powf(share)).max(1)) * 1000),
        }
    }

    fn nearest(self, wanted: f64, follows: f64) -> Span {
        let ratio = (seconds(self.slow) / seconds(self.fast)).ln();
        let share = if ratio > 0.0 { (wanted / seconds(self.fast)).ln() / ratio } else { 0.0 };
        let share = 0.5 + follows * (share - 0.5);
        self.step(whole(share.clamp(0.0, 1.0) * f64::from(self.steps())))
    }
}

impl Profile {
    /// F41; none where its frequency is fixed.
    pub fn range(&self) -> Option<Range> {
        self.slowest.filter(|slow| *slow > self.every).map(|slow| Range { fast: self.every, slow })
    }

    /// The frequency in force for a URL whose changes are these.
    pub fn frequency(&self, changes: &Changes) -> Span {
        self.range().map_or(self.every, |range| changes.every(range))
    }
}

/// How many changes there were on average where so many are expected and there was at least one.
fn at_least_one(expected: f64) -> f64 {
    let expected = expected.clamp(1e-6, AT_ONCE_MAX);
    expected / (1.0 - (-expected).exp())
}

#[allow(clippy::cast_precision_loss, reason = "exact up to 300,000 years")]
fn seconds(span: Span) -> f64 {
    (span.0 as f64 / 1000.0).max(0.001)
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
fn whole(number: f64) -> u32 {
    number.round() as u32
}
