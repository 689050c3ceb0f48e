//! What a harvest makes of its own URL (F18–F21), in the fourteen variants of F30.
//!
//! A harvest comes back with an answer or without one. The counts move (F19), a good answer uses up
//! a cycle (F20), and the URL goes back into the queue, or out of it: as done, as blacklisted, or
//! for good when it turns out to be out of scope by now. Decided where the specification leaves it
//! open:
//!
//! - An answered 5xx or 429 is captured like any answer, counts as an error and uses up no cycle: a
//!   profile with `length: 1` wants the page, not the server's excuse.
//! - [`LastFetch::due`] is the *slot* of the regular schedule. An error leaves it where it is while
//!   retries come and go, so that the first answer after them continues the old schedule. The
//!   normal time of F21 is the slot after it.
//! - A name that does not resolve is no fetch (F17): neither the last fetch nor the due time moves,
//!   which keeps the URLs of the host in order; only the error counts, and too many of them
//!   blacklist here too.
//! - Variant 4 (no answer at first contact) backs off the host, variant 13 only where the server
//!   could not be reached at all: a single page that hangs must not keep its host from harvest.
//! - A URL that no page claims any more (O10) had its last harvest with this answer. Its links are
//!   still seen: it takes back what it claimed itself.
//! - Without an answer nobody looks at scope or robots: the next evaluation does.

mod count;
mod variant;

use std::fmt;

use crate::catalog::Catalog;
use crate::contract::{Owed, Settled, promised};
use crate::evaluate::more_patient;
use crate::model::{BlacklistEntry, LastFetch, Limits, Record};
use crate::rule::Rule;
use crate::schedule::{after_error, backoff, next_due};
use crate::standing::{Past, Standing, Subject};
use crate::time::{Span, Time};
use crate::trap::text::{Moved, Sketch};
use crate::url::CrawlUrl;

use count::{counted, moved, proved};
use variant::{Hindrance, Seen, hindrance};

/// How a harvest went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    pub at: Time,
    pub answer: Answer,
    /// Robots deny the URL, until they are next read; found when the answer is processed. What it
    /// redirects to is a URL of its own.
    pub robots_denied_until: Option<Time>,
    /// The name of the URL's host does not resolve: so that it was not asked, or by now, when the
    /// answer is processed.
    pub dns_failed: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    Response(Response),
    NoAnswer(NoAnswer),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Response {
    pub status: u16,
    /// Of a 304, that of what was not modified; none where that cannot be read any more (F35).
    pub digest: Option<String>,
    pub etag: Option<String>,
    pub last_modified: Option<String>,
    /// A 304, or the same digest as last time: archived as a revisit.
    pub unchanged: bool,
    pub sketch: Option<Sketch>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoAnswer {
    /// No connection, no TLS session: it concerns the host.
    Unreachable,
    /// Connected, but no complete response in time.
    Timeout,
    /// The connection broke, or what came was no HTTP.
    Broken,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Whether there is a capture to keep.
    pub captured: bool,
    /// The record as it is from now on; kept with the blacklist entry, too.
    pub record: Record,
    pub placement: Placement,
    pub host: HostEffect,
    pub follow_outlinks: bool,
    /// What decided the placement.
    pub rule: Rule,
    /// 1–14: the row of F30.
    pub variant: u8,
    /// F31: what this try settled of what was promised.
    pub settled: Settled,
    /// F41: what its host's pages claimed of it proved true, or not; none: nothing was claimed, or this
    /// harvest cannot tell.
    pub proved: Option<bool>,
    /// How far its text moved, where it changed and that can be told.
    pub moved: Option<Moved>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Placement {
    Queue { due: Time },
    Done,
    Blacklist(BlacklistEntry),
    Remove,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostEffect {
    None,
    Backoff { span: Span },
}

/// `before` is the record as it is in the store now, but with the due time this harvest had;
/// `queued_now` the due time another page gave it meanwhile, if one did; `salt` any number that
/// differs from URL to URL.
#[expect(
    clippy::too_many_arguments,
    reason = "what is known, what came back, and when: none goes with another"
)]
pub fn outcome(
    catalog: &Catalog,
    collection: &str,
    url: &CrawlUrl,
    before: &Record,
    fetched: &Fetched,
    queued_now: Option<Time>,
    salt: u64,
    now: Time,
) -> Outcome {
    let subject = Subject { catalog, collection, url };
    let record = counted(before, fetched);
    let standing = standing(subject, &record);
    let limits = patience(subject, &record);
    let ahead = Ahead::new(subject, &record, &standing, &limits, salt, now);
    let hindrance = hindrance(&standing, fetched);
    let seen =
        Seen { before, fetched, hindrance, earlier: queued_now.is_some_and(|queued| ahead.due < queued) };
    let variant = seen.variant();
    let (proved, moved) = (proved(before, fetched), moved(before, fetched));
    let (rule, placement) = seen.place(&record, &standing, &limits, &ahead, now);
    let (settled, record) = settled(subject, before, record, &placement, fetched);
    Outcome {
        captured: seen.answered(),
        host: seen.host_effect(variant, &ahead),
        follow_outlinks: seen.answered() && matches!(hindrance, Hindrance::None | Hindrance::Dns),
        record: placed(record, &placement),
        placement,
        rule,
        variant,
        settled,
        proved,
        moved,
    }
}

/// F31: what the try settled, and what is owed from now on.
fn settled(
    subject: Subject<'_>,
    before: &Record,
    record: Record,
    placement: &Placement,
    fetched: &Fetched,
) -> (Settled, Record) {
    let mut record = Record { terms: subject.terms_of(&record), ..record };
    let given_up = matches!(placement, Placement::Blacklist(_));
    let (settled, owed) = match &fetched.answer {
        Answer::Response(_) => {
            let terms = before.terms.clone().or_else(|| subject.terms_of(before));
            let stays = matches!(placement, Placement::Queue { .. });
            let owed = if stays { promised(subject.catalog, &record) } else { Owed::Nothing };
            (before.owed.answered(subject.catalog, terms.as_ref(), fetched.at), owed)
        }
        Answer::NoAnswer(_) if given_up => {
            before.owed.given_up(subject.catalog, before.terms.as_ref(), fetched.at)
        }
        Answer::NoAnswer(_) => before.owed.failed(subject.catalog, before.terms.as_ref(), fetched.at),
    };
    record.owed = match owed {
        Owed::Promise(_) if record.terms.is_none() => Owed::Nothing,
        owed => owed,
    };
    (settled, record)
}

/// In a collection that is gone, everything is out of scope.
fn standing(subject: Subject<'_>, record: &Record) -> Standing {
    if subject.catalog.collection(subject.collection).is_none() {
        return Standing::NONE;
    }
    subject.standing_with(&record.seed, record.position, &Past::from(record))
}

/// The most patient of the in-scope profiles: of the active ones where there are such.
fn patience(subject: Subject<'_>, record: &Record) -> Limits {
    let Some(entry) = subject.catalog.seed(&record.seed) else { return Limits::default() };
    let of = |wanted_active: bool| {
        let in_scope = subject.verdicts(entry, record.position).filter(|given| given.verdict.in_scope);
        let limits =
            in_scope.map(|given| given.profile).filter(|p| p.active == wanted_active).map(|p| &p.limits);
        limits.fold(None, |sum: Option<Limits>, next| {
            Some(sum.map_or_else(|| next.clone(), |sum| more_patient(&sum, next)))
        })
    };
    of(true).or_else(|| of(false)).unwrap_or_default()
}

/// F21: when it comes again, and how far an error throws it.
struct Ahead {
    due: Time,
    backoff: Span,
}

impl Ahead {
    fn new(
        subject: Subject<'_>,
        record: &Record,
        standing: &Standing,
        limits: &Limits,
        salt: u64,
        now: Time,
    ) -> Ahead {
        let (seed, position, past) = (&record.seed, record.position, Past::from(record));
        let last = record.last.unwrap_or(LastFetch { at: now, due: record.due });
        let normal = match standing.every {
            Some(_) if standing.timed => subject.next_due(seed, position, &past, last),
            every => every.map(|every| next_due(last, every)),
        };
        let normal = normal.unwrap_or_else(|| last.at.plus(subject.catalog.settings().recheck));
        let span = backoff(record.errors.max(1), limits.backoff_base, limits.backoff_cap, salt);
        let due = match record.errors {
            0 => normal,
            _ => after_error(now, span, normal, limits.backoff_cap),
        };
        let retried = record.errors > 0 && standing.timed;
        let due = if retried { subject.opening(seed, position, &past, due) } else { due };
        Ahead { due, backoff: span }
    }
}

fn placed(mut record: Record, placement: &Placement) -> Record {
    if let Placement::Queue { due } = placement {
        record.due = *due;
    }
    record
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let captured = if self.captured { "captured" } else { "no answer" };
        write!(f, "F30 variant {}: {captured}; {}: ", self.variant, self.rule)?;
        match &self.placement {
            Placement::Queue { due } => write!(f, "queued at {due}")?,
            Placement::Done => f.write_str("done for this run")?,
            Placement::Remove => f.write_str("removed")?,
            Placement::Blacklist(entry) => write!(f, "blacklisted ({})", entry.reason)?,
        }
        match self.host {
            HostEffect::None => Ok(()),
            HostEffect::Backoff { span } => write!(f, "; the host backs off for {span}"),
        }
    }
}
