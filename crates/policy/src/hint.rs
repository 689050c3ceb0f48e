//! What pages say of when others changed, and how far that is believed (F41).
//!
//! A sitemap names a `lastmod` beside a URL, a feed a date beside an entry. Such a date is a **claim**
//! where it is later than the last harvest of its URL, or where it has moved on since it was last read and
//! may be: the URL has changed since. Only dates that a host's own pages name for its URLs are read, so that
//! nobody has a say in how often another host is asked.
//!
//! The next harvest with content settles the claim: it had changed, or not. What a host's claims came to is
//! its [`Trust`]: few numbers that fade, with some doubt beside them, so that nobody is believed who has not
//! proved true, and nobody for good. As far as a claim is **believed** the URL is due earlier: the time between
//! two harvests goes from the frequency in force towards the fast end of the range, in the ratio of the
//! belief, on the scale on which the range has its middle. So belief 0 changes nothing, and 1 has the URL
//! at the fast end. Nothing is ever due later for a date: who says that nothing changed saves no harvest.
//!
//! What is promised (F31) stays what it is: a harvest that comes before it was promised owes nobody anything.

use serde::{Deserialize, Serialize};

use crate::changes::Range;
use crate::model::{LastFetch, Profile, Record};
use crate::outlink::Action;
use crate::rhythm::Rhythm;
use crate::standing::{Past, Subject};
use crate::time::{Span, Time};

/// What of the past counts on at each claim that is settled.
const REMEMBERED: f64 = 0.95;
/// As many claims weigh as much as what is doubted before anything was seen.
const DOUBT: f64 = 2.0;
/// Parts of a claim.
const PARTS: f64 = 256.0;

/// A date as a page names it: a moment, or all of a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Said {
    pub from: Time,
    pub until: Time,
}

/// What is remembered of the dates that are named for a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hint {
    /// The latest of them.
    pub said: Time,
    /// It has changed since its last harvest.
    pub claim: Option<Claim>,
}

/// A claim that no harvest has settled yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// Of a hundred: how far it was believed when it was read.
    pub belief: u8,
    /// When the URL is due for it.
    pub due: Time,
}

/// What came of the claims of a host's pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trust {
    /// Claims that a harvest has settled; all of them.
    pub settled: u32,
    /// Of those, how many were true.
    pub proved: u32,
    /// Of claims, in parts of 256, fading.
    weight: u16,
    /// Of those that were true.
    true_weight: u16,
}

impl Said {
    pub fn at(at: Time) -> Said {
        Said { from: at, until: at }
    }
}

impl Trust {
    /// A harvest found it true, or not.
    #[must_use]
    pub fn after(self, proved: bool) -> Trust {
        let fade =
            |weight: u16, new: bool| parts(f64::from(weight) * REMEMBERED + f64::from(u8::from(new)) * PARTS);
        Trust {
            settled: self.settled.saturating_add(1),
            proved: self.proved.saturating_add(u32::from(proved)),
            weight: fade(self.weight, true),
            true_weight: fade(self.true_weight, proved),
        }
    }

    /// How far its next claim is believed: from 0 to below 1.
    pub fn belief(&self) -> f64 {
        f64::from(self.true_weight) / (f64::from(self.weight) + DOUBT * PARTS)
    }

    /// The same, of a hundred.
    pub fn percent(&self) -> u8 {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 100")]
        let percent = (100.0 * self.belief()).round() as u8;
        percent.min(100)
    }
}

impl Hint {
    /// What is remembered once this was read; `last`: when the URL was last harvested, if it was. None: no
    /// more than before. What is said of the future says nothing (F40).
    pub fn read(before: Option<Hint>, said: Said, last: Option<Time>, now: Time) -> Option<Read> {
        let before = before.filter(|hint| hint.said <= now);
        if said.from > now || before.is_some_and(|hint| hint.said >= said.from) {
            return None;
        }
        // Of a day only, that it lies behind the last harvest is not sure; that it moved on is a sign.
        let claims = |last: Time| said.from > last || (before.is_some() && said.until > last);
        Some(Read { said: said.from, claims: last.is_some_and(claims) })
    }
}

/// What a date that was read is, beside what was known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Read {
    pub said: Time,
    /// It says that the URL has changed since its last harvest.
    pub claims: bool,
}

impl Range {
    /// The frequency of a claim that is believed so far (of a hundred), where the one in force is `every`.
    pub fn hastened(self, every: Span, belief: u8) -> Span {
        let share = f64::from(belief.min(100)) / 100.0;
        #[allow(clippy::cast_precision_loss, reason = "exact up to 300,000 years")]
        let seconds = |span: Span| (span.0 as f64 / 1000.0).max(0.001);
        let wanted = seconds(every) * (seconds(self.fast) / seconds(every)).powf(share);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
        let wanted = Span((wanted * 1000.0).round() as u64);
        wanted.max(self.fast).min(every)
    }
}

impl<'a> Subject<'a> {
    /// What a link that has a date beside it does to a URL, beyond what it does as a link. `action` is that.
    pub fn dated(
        self,
        action: Action,
        queued: Option<&Record>,
        said: Said,
        trust: &Trust,
        now: Time,
    ) -> Action {
        let record = match (&action, queued) {
            (Action::Add(record) | Action::Update(record), _) => record,
            (Action::Keep, Some(record)) => record,
            _ => return action,
        };
        let Some(read) = Hint::read(record.hint, said, record.last.map(|last| last.at), now) else {
            return action;
        };
        let claim = record.hint.and_then(|hint| hint.claim);
        let belief = trust.percent();
        let due =
            record.last.filter(|_| read.claims).and_then(|last| self.due_by_claim(record, last, belief, now));
        let claim = match (due, claim) {
            (Some(due), Some(old)) => Some(Claim { belief, due: due.min(old.due) }),
            (Some(due), None) => Some(Claim { belief, due }),
            (None, claim) => claim,
        };
        let mut record = Record { hint: Some(Hint { said: read.said, claim }), ..record.clone() };
        // A retry after an error keeps its time, as with any link.
        if let Some(claim) = claim.filter(|claim| record.errors == 0 && claim.belief > 0) {
            record.due = record.due.min(claim.due);
        }
        match action {
            Action::Add(_) => Action::Add(record),
            _ => Action::Update(record),
        }
    }

    /// When a claim that is believed so far has the URL due: none where its frequency is fixed.
    fn due_by_claim(self, record: &Record, last: LastFetch, belief: u8, now: Time) -> Option<Time> {
        let past = Past::from(record);
        let ranges = self.live(&record.seed, record.position, &past);
        let ranges = ranges.into_iter().filter_map(|profile| Some((profile, profile.range()?)));
        ranges.map(|(profile, range)| due_in(profile, range, record, last, belief, now)).min()
    }

    /// F15, F41: no later than that for what its host's pages say of it; none where they say nothing, or
    /// nothing that is believed.
    pub fn claimed_due(self, record: &Record) -> Option<Time> {
        let claim = record.hint?.claim.filter(|claim| claim.belief > 0)?;
        let last = record.last?;
        let live = self.live(&record.seed, record.position, &Past::from(record));
        let fast = live.into_iter().filter_map(|profile| Some(profile.range()?.fast)).min()?;
        Some(claim.due.max(last.at.plus(fast)))
    }
}

/// With a moment (F38) at its next one: a frequency that is hastened counts from there, too.
fn due_in(profile: &Profile, range: Range, record: &Record, last: LastFetch, belief: u8, now: Time) -> Time {
    let every = range.hastened(profile.frequency(&record.changes), belief);
    let rhythm = Rhythm::in_force(profile, every);
    let earliest = last.at.plus(every).max(now);
    match profile.at {
        Some(_) => rhythm.next_due(LastFetch { at: earliest.max(last.at), due: last.due }),
        None => profile.hours().opening(earliest),
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
fn parts(number: f64) -> u16 {
    number.round() as u16
}
