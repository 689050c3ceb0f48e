//! What becomes of a link (F22–F28), with the owner rules of page 2.
//!
//! A link is first given a *context*, the seed in whose scope it is judged, and with it a position
//! from that seed. In scope, it is added, or renews what is queued with that seed, or contests what
//! is queued with another; out of scope, it is passed over, and what is queued with the context
//! goes only if its own stored position no longer holds either. A start (F2) is a link without a
//! page: it differs in its context, and in that the URL is due now.
//!
//! Nearly all links of a page are known and change nothing. Those are told to [`Action::Keep`],
//! which allocates nothing and needs no write.

mod place;
mod renew;
mod start;

use std::fmt;

use crate::budget::Charges;
use crate::catalog::Catalog;
use crate::contract::{Owed, renewed as renewed_promise};
use crate::hint::Said;
use crate::model::{LinkKind, Position, Record};
use crate::owner::{Context, Origin, Via, owner};
use crate::rule::Rule;
use crate::schedule::next_due;
use crate::scope::ScopeVerdict;
use crate::standing::{Past, Standing, Subject};
use crate::time::Time;
use crate::url::CrawlUrl;

use place::{Place, place};
use renew::{better_position, cycles_in_run, renewed, taken_over, touched};

/// The page a link stands on, or the start that takes its place.
#[derive(Clone, Copy, Debug)]
pub struct Parent<'a> {
    pub origin: Origin<'a>,
    /// The page as those URLs remember it that belong to its seed because of it (O10).
    pub via: Via,
    /// Of the page, relative to its seed; a start has none and this is not looked at.
    pub position: Position,
    /// The page's run; of a start, the new one (F4).
    pub run: u64,
    pub collection: &'a str,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outlink {
    pub url: CrawlUrl,
    pub kind: LinkKind,
    /// When it changed, as the page says.
    pub said: Option<Said>,
}

impl Outlink {
    /// Of a page that says no more of it.
    pub fn new(url: CrawlUrl, kind: LinkKind) -> Outlink {
        Outlink { url, kind, said: None }
    }
}

/// What the store knows of the URL in this collection.
#[derive(Clone, Copy, Debug)]
pub enum Known<'a> {
    Absent,
    Queued(&'a Record),
    Done { run: u64 },
    Blacklisted,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    Add(Record),
    Update(Record),
    Remove,
    /// It is not for us.
    Ignore,
    /// It is queued, and nothing about it changes.
    Keep,
}

#[derive(Clone, Debug, PartialEq)]
pub struct LinkDecision<'a> {
    pub action: Action,
    /// F22–F28, or F39.
    pub rule: Rule,
    /// None where it does not matter: F28 decided, or the page claims nothing.
    pub context: Option<Context<'a>>,
    /// O6–O8 where the URL was contested, O10 where the page's own former claim gave way.
    pub owner: Option<Rule>,
    /// From the context's seed.
    pub position: Position,
    /// Of the first of the context's profiles that takes the URL, else of the last that does not.
    pub verdict: Option<ScopeVerdict>,
}

/// Decides one link. All verdicts behind it are at [`Subject::verdicts`] with the context and
/// position it names.
pub fn decide<'a>(
    catalog: &'a Catalog,
    parent: &Parent<'a>,
    link: &Outlink,
    known: Known<'_>,
    now: Time,
) -> LinkDecision<'a> {
    let queued = match known {
        Known::Blacklisted => return settled(),
        Known::Done { run } if run >= parent.run => return settled(),
        Known::Done { .. } | Known::Absent => None,
        Known::Queued(record) => Some(record),
    };
    // F39: what is queued is blacklisted when it is looked at; a start is somebody's wish.
    if queued.is_none()
        && !matches!(parent.origin, Origin::Start(_))
        && catalog.barring(parent.collection, &link.url, now).is_some()
    {
        return unjudged(Rule::F39, None, Action::Ignore);
    }
    let best = catalog.best_match(parent.collection, &link.url).map(String::as_str);
    let past = queued.map_or(Past::default(), |record| past(record, parent.run));
    let Some(place) = place(catalog, parent, link, best, &past) else {
        return taken_back(parent, queued, best);
    };
    let subject = Subject { catalog, collection: parent.collection, url: &link.url };
    let arrival = Arrival { subject, parent, place, best, now };
    let (rule, owner, mut action) = arrival.decide(queued);
    if let (Origin::Start(_), Rule::F23 | Rule::F24, Some(queued)) = (parent.origin, rule, queued) {
        action = start::due_now(action, queued, now);
    }
    LinkDecision {
        action,
        rule,
        context: Some(place.context),
        owner,
        position: place.position,
        verdict: place.standing.because,
    }
}

/// F28.
fn settled<'a>() -> LinkDecision<'a> {
    unjudged(Rule::F28, None, Action::Ignore)
}

/// O10: a page that nobody claims takes back what it claimed. What came to its best match (O5)
/// stays there: it was never claimed for an owner of the page, and taking it back could bring the
/// page its claim again, and so on for ever.
fn taken_back<'a>(parent: &Parent<'_>, queued: Option<&Record>, best: Option<&str>) -> LinkDecision<'a> {
    let Some(record) = queued else { return unjudged(Rule::F27, None, Action::Ignore) };
    match record.via.page_fingerprint() {
        Some(page) if Some(page) == parent.via.page_fingerprint() && best != Some(&record.seed) => {
            unjudged(Rule::F26, Some(Rule::O10), unclaimed(record))
        }
        _ => unjudged(Rule::F26, None, Action::Ignore),
    }
}

fn unclaimed(record: &Record) -> Action {
    Action::Update(Record { via: Via::Nobody, ..record.clone() })
}

/// Without a context.
fn unjudged<'a>(rule: Rule, owner: Option<Rule>, action: Action) -> LinkDecision<'a> {
    LinkDecision { action, rule, context: None, owner, position: Position::default(), verdict: None }
}

/// A link with its context, at the queue.
struct Arrival<'l, 'a> {
    subject: Subject<'l>,
    parent: &'l Parent<'a>,
    place: Place<'a>,
    best: Option<&'a str>,
    now: Time,
}

fn past(record: &Record, run: u64) -> Past {
    Past { cycles: cycles_in_run(record, run), changes: record.changes }
}

impl Arrival<'_, '_> {
    fn decide(&self, queued: Option<&Record>) -> (Rule, Option<Rule>, Action) {
        let context = self.place.context.seed;
        match (self.place.standing.is_in_scope(), queued) {
            (true, None) => (Rule::F22, None, Action::Add(self.added())),
            (in_scope, Some(record)) if self.replaces(record) => self.replace(record, in_scope),
            (true, Some(record)) if record.seed == context => (Rule::F23, None, self.update(record)),
            (true, Some(record)) => self.contest(record),
            (false, Some(record)) if record.seed == context => (Rule::F25, None, self.doubt(record)),
            (false, Some(_)) => (Rule::F26, None, Action::Ignore),
            (false, None) => (Rule::F27, None, Action::Ignore),
        }
    }

    /// F22: every value zero, due now (or as soon as a window opens: F38); where only inactive profiles take it, evaluation will
    /// postpone it.
    fn added(&self) -> Record {
        let (seed, position, past) = (self.place.context.seed, self.place.position, Past::default());
        let due = match self.place.standing.timed {
            true => self.subject.opening(seed, position, &past, self.now),
            false => self.now,
        };
        Record {
            seed: seed.to_owned(),
            position,
            via: self.parent.via,
            due,
            run: self.parent.run,
            cycles: 0,
            linked: self.now,
            last: None,
            errors: 0,
            not_found: 0,
            digest: None,
            etag: None,
            last_modified: None,
            problem: None,
            owed: Owed::First(due),
            terms: self.subject.terms(seed, position, &past, None),
            changes: past.changes,
            charges: Charges::default(),
            sketch: None,
            hint: None,
            moved: None,
        }
    }

    /// F23.
    fn update(&self, record: &Record) -> Action {
        let new = self.place.position;
        let position =
            better_position(record.position, new, |position| self.standing(record, position).claim);
        let standing = if position == new { self.place.standing } else { self.standing(record, position) };
        // A start is not said again: it stands, whatever becomes of the pages that claim the same.
        let stays = position == record.position && self.parent.via != Via::Start;
        let via = if stays { record.via } else { self.parent.via };
        let scheduled = self.scheduled(record, &record.seed, position, &standing);
        self.promising(renewed(record, (position, via), &standing, scheduled, self.parent.run, self.now))
    }

    /// What changed may change what is promised, too (F31).
    fn promising(&self, action: Action) -> Action {
        let Action::Update(mut record) = action else { return action };
        record.terms = self.subject.terms_of(&record);
        record.owed = renewed_promise(self.subject.catalog, &record);
        Action::Update(record)
    }

    /// F24: who wins takes its own position along; positions from different seeds are never
    /// compared.
    fn contest(&self, record: &Record) -> (Rule, Option<Rule>, Action) {
        let queued = self.standing(record, record.position);
        let context = self.place.context.seed;
        let owner = owner((context, self.place.standing.claim), (&record.seed, queued.claim), self.best);
        let action =
            if owner.seed == context { self.taken_over(record) } else { touched(record, &queued, self.now) };
        (Rule::F24, Some(owner.rule), self.promising(action))
    }

    fn taken_over(&self, record: &Record) -> Action {
        let Place { context, position, standing } = &self.place;
        let claim = (*position, self.parent.via);
        let scheduled = self.scheduled(record, context.seed, *position, standing);
        taken_over(record, context.seed, claim, standing, scheduled, self.parent.run, self.now)
    }

    /// O10: whether what this page says of the URL takes the place of the claim by which the URL
    /// has its owner. It does where that claim is the page's own, made for another seed or in
    /// another's scope; and where nobody claims the URL any more. Out of scope of the seed that
    /// has it, F25 decides.
    fn replaces(&self, record: &Record) -> bool {
        let Place { context, standing, .. } = &self.place;
        match (record.via, self.parent.via) {
            (Via::Nobody, _) => standing.is_in_scope(),
            (Via::Page { page: former, seed }, Via::Page { page, seed: now }) if former == page => {
                let same = record.seed == context.seed;
                if standing.is_in_scope() { seed != now || !same } else { seed != now && !same }
            }
            _ => false,
        }
    }

    /// O10, without a contest. A page that has no claim to make any more leaves the URL to whoever
    /// makes one.
    fn replace(&self, record: &Record, in_scope: bool) -> (Rule, Option<Rule>, Action) {
        let rule = match in_scope {
            true if record.seed == self.place.context.seed => Rule::F23,
            true => Rule::F24,
            false => Rule::F26,
        };
        let action = match in_scope {
            true => self.promising(self.taken_over(record)),
            false => unclaimed(record),
        };
        (rule, Some(Rule::O10), action)
    }

    /// F25.
    fn doubt(&self, record: &Record) -> Action {
        if self.standing(record, record.position).is_in_scope() { Action::Keep } else { Action::Remove }
    }

    /// How the URL stands with the seed it is queued with.
    fn standing(&self, record: &Record, position: Position) -> Standing {
        self.subject.standing_with(&record.seed, position, &past(record, self.parent.run))
    }

    /// When the schedule would have it, there and with that seed; none where nobody asks for it.
    fn scheduled(
        &self,
        record: &Record,
        seed: &str,
        position: Position,
        standing: &Standing,
    ) -> Option<Time> {
        let every = standing.every?;
        match record.last {
            None => Some(self.now),
            Some(last) if standing.timed => {
                self.subject.next_due(seed, position, &past(record, self.parent.run), last)
            }
            Some(last) => Some(next_due(last, every)),
        }
    }
}

impl fmt::Display for LinkDecision<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.rule, self.rule.says())?;
        if let Some(context) = self.context {
            write!(f, "; judged for seed `{}` ({}: {})", context.seed, context.rule, context.rule.says())?;
        }
        if let Some(verdict) = self.verdict {
            write!(f, "; {verdict}")?;
        }
        if let Some(rule) = self.owner {
            write!(f, "; {rule}: {}", rule.says())?;
        }
        Ok(())
    }
}
