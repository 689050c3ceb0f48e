//! A clock that was ahead and went back (F40): what becomes of what was written by it.
//!
//! Stored times are of two kinds. What *has been* (a fetch, a link) cannot lie ahead of the
//! present. What *is to come* (a due time, the end of a delay) lies no further ahead than its kind
//! allows: a frequency, a delay, a backoff. Where one does, it was written while the clock was
//! ahead, and it is moved back by as much as the clock was: so a host is left in peace for as long
//! as it would have been, and a URL comes when it would have come. Where the clock was ahead by
//! less than what is allowed, nobody can tell the two apart: then it is moved all the same, since
//! what comes a little early is better than what stands still.
//!
//! A person may have put a URL further ahead than its schedule ever does. When a clock goes back,
//! that is taken for the clock's doing.

use crate::contract::Owed;
use crate::model::{BlacklistEntry, LastFetch, Record};
use crate::standing::Subject;
use crate::time::{Span, Time};

/// The clock shows `now`, and was ahead of that by so much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WentBack {
    pub now: Time,
    pub by: Span,
}

impl WentBack {
    /// Something that has been.
    pub fn past(&self, at: Time) -> Time {
        if at > self.now { at.minus(self.by).min(self.now) } else { at }
    }

    /// Something that is to come, in `longest` at most.
    pub fn ahead(&self, at: Time, longest: Span) -> Time {
        let latest = self.now.plus(longest);
        let was_before = at <= latest && self.by > longest;
        if at <= self.now || was_before { at } else { self.moved(at, latest) }
    }

    fn moved(&self, at: Time, latest: Time) -> Time {
        at.minus(self.by).max(self.now).min(latest)
    }

    /// The record of a URL, by the present schedule of its profiles.
    pub fn record(&self, subject: Subject<'_>, record: &Record) -> Record {
        let settings = subject.catalog.settings();
        let terms = subject.terms_of(record);
        let last = record.last.map(|last| {
            let at = self.past(last.at);
            LastFetch { at, due: self.past(last.due).min(at) }
        });
        let rhythm = terms.as_ref().map(|terms| subject.catalog.rhythm(terms));
        let scheduled = rhythm.zip(last).map(|(rhythm, last)| rhythm.next_due(last));
        let retry = (record.errors > 0).then(|| self.now.plus(subject.catalog.longest_backoff()));
        let recheck = self.now.plus(settings.recheck);
        let latest = [scheduled, retry].into_iter().flatten().fold(recheck, Time::max);
        let latest = rhythm.map_or(latest, |rhythm| rhythm.hours.opening(latest));
        let touched = match record.last {
            Some(last) => last.at > self.now,
            None => record.linked > self.now,
        };
        let frozen = record.due > latest || (touched && record.due > self.now);
        let owed = match record.owed {
            Owed::First(since) => Owed::First(self.past(since)),
            Owed::Promise(at) => match &rhythm {
                Some(rhythm) if at > rhythm.after(self.now) => {
                    Owed::Promise(self.moved(at, rhythm.after(self.now)))
                }
                _ => record.owed,
            },
            Owed::Nothing => Owed::Nothing,
        };
        Record {
            due: if frozen { self.moved(record.due, latest) } else { record.due },
            linked: self.past(record.linked),
            last,
            owed,
            ..record.clone()
        }
    }

    /// A blacklisting lasts as long as it was to last.
    pub fn blacklisted(&self, entry: &BlacklistEntry) -> BlacklistEntry {
        let since = self.past(entry.since);
        let until = match entry.until {
            Some(until) if since != entry.since => Some(since.plus(until.since(entry.since))),
            until => until,
        };
        BlacklistEntry { since, until, ..entry.clone() }
    }
}
