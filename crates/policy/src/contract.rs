//! The frequency contract (F31): what a profile's frequency promises of a URL, and what became of
//! it.
//!
//! The life of a promise: whenever the schedule of a URL is worked out (F21), the due time that
//! comes out is a **promise** of the profiles whose frequency is in force ([`Terms`]). The first
//! *answered* harvest at or after it, whatever its status, **keeps** it, on time or late; how late
//! is counted from the promise, whatever retries there were. One `every` after it the next one
//! falls due, and then it is **missed**: a URL that nobody answers for misses one after the other.
//! The first answer to a newly found URL keeps no promise, since none was made: how long it waited
//! is counted by itself.
//!
//! A record carries what is [`Owed`] and the [`Terms`] under which; with every try it is settled
//! how far that has come, so that nothing depends on an answer ever coming. Decided where the
//! specification leaves it open:
//!
//! - Of several profiles, those with the shortest `every` set the due time, so the promise is
//!   theirs; each of them makes it.
//! - A promise is counted in the hour in which it falls due, a first harvest in the hour of its
//!   answer.
//! - A harvest before the promise (a start, a person) neither keeps nor breaks it: the schedule
//!   goes on from that harvest, and what it now promises takes the old one's place.
//! - A promise stands only while an active profile makes it. Where evaluation finds the seed, the
//!   collection or all profiles inactive, or the frequency slower than it was, what was not settled
//!   yet is withdrawn and counts as nothing; the next working out of the schedule makes a new one.
//!   A URL that leaves the queue (done, removed, denied by robots, blacklisted by a person) takes
//!   its promise along.
//! - Blacklisting for errors is giving up: a promise that has fallen due by then is missed. From
//!   then on none is made, until it comes back.
//! - A pause withdraws nothing: the profile still makes its promises, and nobody keeps them.
//! - A URL that waits for its first harvest while nobody wants it (everything inactive) begins to
//!   wait anew when that ends.

use serde::{Deserialize, Serialize};

use crate::model::Record;
use crate::rule::Rule;
use crate::schedule::next_due;
use crate::standing::{Subject, has_cycles_left};
use crate::time::{Span, Time};

/// What the contract waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Owed {
    /// Nobody promised anything, or it was withdrawn.
    #[default]
    Nothing,
    /// The first answer, since then.
    First(Time),
    /// The oldest promise that is neither kept nor missed.
    Promise(Time),
}

/// The frequency in force, and whose it is. Never without a profile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terms {
    pub every: Span,
    pub profiles: Vec<String>,
}

/// What a try settled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settled {
    /// On whose behalf.
    pub profiles: Vec<String>,
    /// How long a new URL waited for its first answer.
    pub first: Option<Span>,
    pub kept: Option<Kept>,
    pub missed: Missed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    pub promise: Time,
    pub late: Span,
}

/// Promises in a row that nobody kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Missed {
    pub first: Time,
    pub every: Span,
    pub count: u64,
}

impl Settled {
    pub fn is_nothing(&self) -> bool {
        self.first.is_none() && self.kept.is_none() && self.missed.count == 0
    }
}

impl Owed {
    /// An answer came. What is owed from then on is the schedule's business: see [`promised`].
    pub fn answered(self, terms: Option<&Terms>, at: Time) -> Settled {
        let profiles = terms.map(|terms| terms.profiles.clone()).unwrap_or_default();
        match (self, terms) {
            (Owed::First(since), _) => {
                Settled { profiles, first: Some(at.since(since)), ..Settled::default() }
            }
            (Owed::Promise(promise), Some(terms)) if promise <= at => {
                let missed = Missed::up_to(promise, terms.every, at);
                let promise = missed.next(promise);
                let kept = Some(Kept { promise, late: at.since(promise) });
                Settled { profiles, kept, missed, ..Settled::default() }
            }
            _ => Settled::default(),
        }
    }

    /// A try came to nothing: what was missed by then, and the promise that is open now.
    pub fn failed(self, terms: Option<&Terms>, at: Time) -> (Settled, Owed) {
        let (Owed::Promise(promise), Some(terms)) = (self, terms) else { return (Settled::default(), self) };
        let missed = Missed::up_to(promise, terms.every, at);
        let settled = Settled { profiles: terms.profiles.clone(), missed, ..Settled::default() };
        (settled, Owed::Promise(missed.next(promise)))
    }

    /// The URL is given up: an open promise that has fallen due is missed, too.
    pub fn given_up(self, terms: Option<&Terms>, at: Time) -> (Settled, Owed) {
        let (mut settled, owed) = self.failed(terms, at);
        match (owed, terms) {
            (Owed::Promise(promise), Some(terms)) if promise <= at => {
                let first = if settled.missed.count == 0 { promise } else { settled.missed.first };
                settled.missed = Missed { first, every: terms.every, count: settled.missed.count + 1 };
                (settled, Owed::Nothing)
            }
            (Owed::First(_), _) => (settled, owed),
            _ => (settled, Owed::Nothing),
        }
    }

    /// Nobody wants it before `until`.
    fn withdrawn(self, until: Time) -> Owed {
        match self {
            Owed::First(_) => Owed::First(until),
            Owed::Promise(_) | Owed::Nothing => Owed::Nothing,
        }
    }

    /// It comes back to the queue.
    pub fn back(self, now: Time) -> Owed {
        self.withdrawn(now)
    }
}

impl Missed {
    /// Those from `promise` on whose next one has fallen due by `at`.
    pub fn up_to(promise: Time, every: Span, at: Time) -> Missed {
        let every = Span(every.0.max(1));
        Missed { first: promise, every, count: at.since(promise).0 / every.0 }
    }

    /// The one after them: `promise` itself, where none was missed.
    pub fn next(&self, promise: Time) -> Time {
        if self.count == 0 { promise } else { self.at(self.count) }
    }

    /// Those that fell due at `since` or after it.
    pub fn from(self, since: Time) -> Missed {
        let before = since.since(self.first).0.div_ceil(self.every.0.max(1)).min(self.count);
        Missed { first: self.at(before), count: self.count - before, ..self }
    }

    fn at(&self, number: u64) -> Time {
        self.first.plus(Span(self.every.0.saturating_mul(number)))
    }

    /// How many fell due in each stretch of `width`, by the beginning of the stretch. Where that
    /// would be more than `max` of them (a year that nobody ran it), neighbouring ones are told
    /// together, in the first.
    pub fn spread(&self, width: Span, max: u64) -> Vec<(Time, u64)> {
        if self.count == 0 {
            return Vec::new();
        }
        let (width, every) = (width.0.max(1), self.every.0.max(1));
        let whole = self.at(self.count - 1).since(self.first).0 / width + 2;
        let together = if self.count.min(whole) <= max { 1 } else { whole.div_ceil(max.max(1)) };
        let step = Span(width.saturating_mul(together));
        let mut spread = Vec::new();
        let mut number = 0;
        while number < self.count {
            let at = self.at(number);
            let end = begin_of(at, step).plus(step);
            let inside = end.since(at).0.div_ceil(every).max(1).min(self.count - number);
            spread.push((begin_of(at, Span(width)), inside));
            number += inside;
        }
        spread
    }
}

/// The beginning of the stretch of this width that a moment lies in; stretches are counted from the
/// epoch.
pub fn begin_of(at: Time, width: Span) -> Time {
    let width = i64::try_from(width.0.max(1)).unwrap_or(i64::MAX);
    Time(at.0.div_euclid(width).saturating_mul(width))
}

impl Subject<'_> {
    /// The frequency in force for a URL of this seed, and whose it is; none where no active profile
    /// with cycles left asks for it.
    pub fn terms(self, seed: &str, position: crate::model::Position, cycles: u32) -> Option<Terms> {
        let entry = self.catalog.seed(seed).filter(|entry| entry.seed.active)?;
        self.catalog.collection(self.collection).filter(|collection| collection.active)?;
        let live = || {
            let given = self.verdicts(entry, position).filter(|given| given.verdict.in_scope);
            given.map(|given| given.profile).filter(|p| p.active && has_cycles_left(p, cycles))
        };
        let every = live().map(|profile| profile.every).min()?;
        let profiles = live().filter(|profile| profile.every == every).map(|profile| profile.name.clone());
        Some(Terms { every, profiles: profiles.collect() })
    }

    /// The same for a record.
    pub fn terms_of(self, record: &Record) -> Option<Terms> {
        self.terms(&record.seed, record.position, record.cycles)
    }

    /// The record of a URL that was put back in the queue: F15 promises the time it was put back
    /// to, the other rules nothing.
    pub fn postponed(self, record: &Record, rule: Rule, until: Time) -> Record {
        let mut record = Record { due: until, ..record.clone() };
        record.terms = if rule == Rule::F15 { self.terms_of(&record) } else { None };
        record.owed = match (rule, &record.terms) {
            (Rule::F15, Some(_)) => Owed::Promise(until),
            _ => record.owed.withdrawn(until),
        };
        record
    }
}

/// What is owed after an answer: the next time of the regular schedule, whatever retries come
/// before it.
pub(crate) fn promised(record: &Record) -> Owed {
    match (&record.terms, record.last) {
        (Some(terms), Some(last)) => Owed::Promise(next_due(last, terms.every)),
        _ => Owed::Nothing,
    }
}

/// What is owed to a URL that nobody kept account of before.
pub fn begun(record: &Record) -> Owed {
    match record.last {
        None => Owed::First(record.linked),
        Some(_) => promised(record),
    }
}

/// What is owed where a link changed seed, position or due time: the earlier of what was promised
/// and what the schedule promises now.
pub(crate) fn renewed(record: &Record) -> Owed {
    match (record.owed, promised(record)) {
        (Owed::Promise(old), Owed::Promise(new)) if record.errors == 0 => Owed::Promise(old.min(new)),
        (Owed::Promise(_), Owed::Nothing) if record.terms.is_none() => Owed::Nothing,
        (owed, _) => owed,
    }
}
