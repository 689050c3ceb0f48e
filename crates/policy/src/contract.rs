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
//! - A URL that waits for its first harvest while nobody wants it (everything inactive, or outside
//!   all windows) begins to wait anew when that ends.
//! - Profiles with a moment or windows (F38) promise what their rhythm gives, so only times within
//!   their windows; the next promise is the next of those. Among several profiles it is the
//!   earliest due time that counts, and whoever has it makes the promise. How late a harvest is, is
//!   told by the clock, windows or not: who wanted it at night and got it the next night got it late.
//! - With an adaptive frequency (F41), the next promise after a missed one is as far away as the
//!   frequency was when it was made.

use serde::{Deserialize, Serialize};

use crate::catalog::Catalog;
use crate::model::{LastFetch, Position, Profile, Record};
use crate::rhythm::Rhythm;
use crate::rule::Rule;
use crate::standing::{Past, Subject, has_cycles_left};
use crate::time::{Span, Time};

/// Promises of one URL with a moment or windows that are gone through one by one; those of an even
/// longer outage are not told.
const MISSED_TIMED_MAX: usize = 10_000;

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
    /// It is the URL's own (F41).
    pub adaptive: bool,
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
    /// Those of a rhythm that is not even (F38), each by itself.
    pub missed_at: Vec<Time>,
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
        self.first.is_none() && self.kept.is_none() && self.missed_count() == 0
    }
}

impl Settled {
    pub fn missed_count(&self) -> u64 {
        self.missed.count + self.missed_at.len() as u64
    }
}

/// What fell due from a promise on and was followed by the next.
struct Fallen {
    missed: Missed,
    missed_at: Vec<Time>,
    /// The one that is open then.
    open: Time,
}

impl Fallen {
    fn up_to(catalog: &Catalog, promise: Time, terms: &Terms, at: Time) -> Fallen {
        let rhythm = catalog.rhythm(terms);
        if rhythm.is_plain() {
            let missed = Missed::up_to(promise, terms.every, at);
            return Fallen { missed, missed_at: Vec::new(), open: missed.next(promise) };
        }
        let (missed_at, open) = missed_in(&rhythm, promise, at);
        Fallen { missed: Missed::default(), missed_at, open }
    }

    fn settled(self, terms: &Terms) -> Settled {
        let Fallen { missed, missed_at, .. } = self;
        Settled { profiles: terms.profiles.clone(), missed, missed_at, ..Settled::default() }
    }
}

/// Those from `promise` on whose next one has fallen due by `at`, and the one after them.
pub fn missed_in(rhythm: &Rhythm<'_>, promise: Time, at: Time) -> (Vec<Time>, Time) {
    let (mut missed, mut open) = (Vec::new(), promise);
    while missed.len() < MISSED_TIMED_MAX {
        let next = rhythm.after(open);
        if next > at || next <= open {
            break;
        }
        missed.push(open);
        open = next;
    }
    (missed, open)
}

impl Owed {
    /// An answer came. What is owed from then on is the schedule's business: see [`promised`].
    pub fn answered(self, catalog: &Catalog, terms: Option<&Terms>, at: Time) -> Settled {
        let profiles = terms.map(|terms| terms.profiles.clone()).unwrap_or_default();
        match (self, terms) {
            (Owed::First(since), _) => {
                Settled { profiles, first: Some(at.since(since)), ..Settled::default() }
            }
            (Owed::Promise(promise), Some(terms)) if promise <= at => {
                let fallen = Fallen::up_to(catalog, promise, terms, at);
                let kept = Some(Kept { promise: fallen.open, late: at.since(fallen.open) });
                Settled { kept, ..fallen.settled(terms) }
            }
            _ => Settled::default(),
        }
    }

    /// A try came to nothing: what was missed by then, and the promise that is open now.
    pub fn failed(self, catalog: &Catalog, terms: Option<&Terms>, at: Time) -> (Settled, Owed) {
        let (Owed::Promise(promise), Some(terms)) = (self, terms) else { return (Settled::default(), self) };
        let fallen = Fallen::up_to(catalog, promise, terms, at);
        let open = fallen.open;
        (fallen.settled(terms), Owed::Promise(open))
    }

    /// The URL is given up: an open promise that has fallen due is missed, too.
    pub fn given_up(self, catalog: &Catalog, terms: Option<&Terms>, at: Time) -> (Settled, Owed) {
        let (mut settled, owed) = self.failed(catalog, terms, at);
        match (owed, terms) {
            (Owed::Promise(promise), Some(terms)) if promise <= at && !catalog.rhythm(terms).is_plain() => {
                settled.missed_at.push(promise);
                (settled, Owed::Nothing)
            }
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

impl<'a> Subject<'a> {
    /// The active profiles with cycles left that have the URL in scope.
    pub(crate) fn live(self, seed: &str, position: Position, past: &Past) -> Vec<&'a Profile> {
        let cycles = past.cycles;
        let entry = self.catalog.seed(seed).filter(|entry| entry.seed.active);
        let collection = self.catalog.collection(self.collection).filter(|collection| collection.active);
        let Some((entry, _)) = entry.zip(collection) else { return Vec::new() };
        let in_scope = self.verdicts(entry, position).filter(|given| given.verdict.in_scope);
        in_scope.map(|given| given.profile).filter(|p| p.active && has_cycles_left(p, cycles)).collect()
    }

    /// The frequency in force for a URL of this seed, and whose it is; none where no active profile
    /// with cycles left asks for it. Of those that are plain the shortest counts; those with a
    /// moment or windows have it where they are due before.
    pub fn terms(
        self,
        seed: &str,
        position: Position,
        past: &Past,
        last: Option<LastFetch>,
    ) -> Option<Terms> {
        let live = self.live(seed, position, past);
        let plain = live.iter().filter(|profile| !profile.is_timed());
        let shortest = plain.map(|profile| profile.frequency(&past.changes)).min();
        let asked = |profile: &&Profile| {
            let every = profile.frequency(&past.changes);
            let in_force = profile.is_timed() || shortest == Some(every);
            let due = last.filter(|_| profile.is_timed() || live.len() > 1);
            let due = due.map(|last| Rhythm::in_force(profile, every).next_due(last));
            in_force.then_some((due, every))
        };
        let first = live.iter().filter_map(asked).min()?;
        let profiles = live.iter().filter(|profile| asked(profile) == Some(first));
        let adaptive = profiles.clone().any(|profile| profile.range().is_some());
        let profiles = profiles.map(|profile| profile.name.clone()).collect();
        Some(Terms { every: first.1, profiles, adaptive })
    }

    /// The same for a record.
    pub fn terms_of(self, record: &Record) -> Option<Terms> {
        self.terms(&record.seed, record.position, &Past::from(record), record.last)
    }

    /// F21: when a URL with this past is due after its last harvest; none where nobody asks for it.
    pub fn next_due(self, seed: &str, position: Position, past: &Past, last: LastFetch) -> Option<Time> {
        let terms = self.terms(seed, position, past, Some(last))?;
        Some(self.catalog.rhythm(&terms).next_due(last))
    }

    /// F38: this moment, or the first after it at which a profile that asks for the URL may have it.
    pub fn opening(self, seed: &str, position: Position, past: &Past, at: Time) -> Time {
        let live = self.live(seed, position, past);
        live.iter().map(|profile| profile.hours().opening(at)).min().unwrap_or(at)
    }

    /// The record of a URL that was put back in the queue: F15 promises the time it was put back
    /// to, the other rules nothing.
    pub fn postponed(self, record: &Record, rule: Rule, until: Time) -> Record {
        let mut record = Record { due: until, ..record.clone() };
        record.terms = if matches!(rule, Rule::F15 | Rule::F38) { self.terms_of(&record) } else { None };
        record.owed = match (rule, &record.terms) {
            (Rule::F15, Some(_)) => Owed::Promise(until),
            // A retry that waits for a window is a retry of what was promised.
            (Rule::F38, Some(_)) if matches!(record.owed, Owed::Promise(_)) => record.owed,
            _ => record.owed.withdrawn(until),
        };
        record
    }
}

/// What is owed after an answer: the next time of the regular schedule, whatever retries come
/// before it.
pub(crate) fn promised(catalog: &Catalog, record: &Record) -> Owed {
    match (&record.terms, record.last) {
        (Some(terms), Some(last)) => Owed::Promise(catalog.rhythm(terms).next_due(last)),
        _ => Owed::Nothing,
    }
}

/// What is owed to a URL that nobody kept account of before.
pub fn begun(catalog: &Catalog, record: &Record) -> Owed {
    match record.last {
        None => Owed::First(record.linked),
        Some(_) => promised(catalog, record),
    }
}

/// What is owed where a link changed seed, position or due time: the earlier of what was promised
/// and what the schedule promises now.
pub(crate) fn renewed(catalog: &Catalog, record: &Record) -> Owed {
    match (record.owed, promised(catalog, record)) {
        (Owed::Promise(old), Owed::Promise(new)) if record.errors == 0 => Owed::Promise(old.min(new)),
        (Owed::Promise(_), Owed::Nothing) if record.terms.is_none() => Owed::Nothing,
        (owed, _) => owed,
    }
}
