//! Whether a URL whose time has come is harvested (F9–F17).
//!
//! Between the day a URL was queued and the moment it is due, seeds, profiles and collections come
//! and go. So nothing that was decided then is believed now: the rules are gone through in the
//! specification's order, the first that stops decides, and what was looked at is kept as
//! [`Step`]s. Two stops lose the URL (it is removed, or remembered as done); all others only put it
//! back.
//!
//! Inactive profiles protect here as everywhere: a URL is done, or past its ttl, only when that
//! holds for every in-scope profile, and while an inactive one still has cycles to give, the URL
//! waits (F14).
//!
//! Windows (F38) are looked at last: what is to be removed goes at any hour. A URL is harvested on
//! behalf of those profiles whose windows are open.

mod plan;
mod step;

use crate::catalog::{Catalog, SeedEntry};
use crate::hint::Hint;
use crate::model::{BlacklistEntry, BlacklistReason, Position, Profile, Record, RobotsPolicy};
use crate::owner::Via;
use crate::rule::Rule;
use crate::schedule::next_due;
use crate::standing::{Past, Standing, Subject, has_cycles_left};
use crate::time::Time;
use crate::url::CrawlUrl;

pub use plan::Plan;
pub(crate) use plan::more_patient;
pub use step::{Finding, State, Step};

/// Rules looked at in a usual evaluation.
const STEPS_USUAL: usize = 12;

#[derive(Clone, Debug)]
pub struct Evaluation<'a> {
    pub verdict: Verdict,
    /// The rule that decided; F34 for a harvest, which is due to nothing but scope.
    pub rule: Rule,
    pub steps: Vec<Step<'a>>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    Harvest(Box<Plan>),
    /// Out of the queue, forgotten.
    Remove,
    /// Out of the queue, remembered as done in this run.
    Done,
    /// Back in the queue.
    Postpone {
        until: Time,
    },
    /// F39: out of the queue, with its record.
    Blacklist(BlacklistEntry),
}

/// Judges a URL that is due. `blacklist` is its entry, if it has one; an entry past its end has no
/// effect.
pub fn evaluate<'a>(
    catalog: &'a Catalog,
    collection: &'a str,
    url: &'a CrawlUrl,
    record: &'a Record,
    blacklist: Option<&'a BlacklistEntry>,
    now: Time,
) -> Evaluation<'a> {
    let subject = Subject { catalog, collection, url };
    let mut judge = Judge { subject, record, now, steps: Vec::with_capacity(STEPS_USUAL) };
    let (rule, verdict) = judge.all(blacklist).unwrap_or_else(|stop| stop);
    Evaluation { verdict, rule, steps: judge.steps }
}

type Decision = (Rule, Verdict);

struct Judge<'a> {
    subject: Subject<'a>,
    record: &'a Record,
    now: Time,
    steps: Vec<Step<'a>>,
}

impl<'a> Judge<'a> {
    /// All rules in order; the error is the decision of the one that stopped.
    fn all(&mut self, blacklist: Option<&'a BlacklistEntry>) -> Result<Decision, Decision> {
        let entry = self.declared()?;
        let standing = self.scope(entry)?;
        self.claimed();
        self.schedule(&standing)?;
        self.blacklist(blacklist)?;
        self.barred()?;
        self.ttl(entry, &standing)?;
        self.length(&standing)?;
        let plan = self.open(entry, &standing)?;
        Ok((Rule::F34, Verdict::Harvest(Box::new(plan))))
    }

    /// F9–F12.
    fn declared(&mut self) -> Result<&'a SeedEntry, Decision> {
        let (key, name) = (self.record.seed.as_str(), self.subject.collection);
        let seed = self.subject.catalog.seed(key);
        self.note(Rule::F9, Finding::Seed(key, existence(seed.is_some())));
        let entry = seed.ok_or((Rule::F9, Verdict::Remove))?;

        let collection = self.subject.catalog.collection(name);
        self.note(Rule::F10, Finding::Collection(name, existence(collection.is_some())));
        let collection = collection.ok_or((Rule::F10, Verdict::Remove))?;

        self.note(Rule::F11, Finding::Seed(key, activity(entry.seed.active)));
        if !entry.seed.active {
            return Err(self.postponed(Rule::F11));
        }
        self.note(Rule::F12, Finding::Collection(name, activity(collection.active)));
        if !collection.active {
            return Err(self.postponed(Rule::F12));
        }
        Ok(entry)
    }

    /// F13 and F14.
    fn scope(&mut self, entry: &'a SeedEntry) -> Result<Standing, Decision> {
        let mut standing = Standing::NONE;
        for verdict in self.subject.verdicts(entry, self.record.position) {
            standing.add(verdict, entry.seed.active, &Past::from(self.record));
            self.note(Rule::F34, Finding::Profile(verdict));
        }
        let (in_scope, of) = (standing.in_scope, standing.profiles);
        self.note(Rule::F13, Finding::InScope { in_scope, of });
        if !standing.is_in_scope() {
            return Err((Rule::F13, Verdict::Remove));
        }
        let waits = standing.every.is_none() && !standing.is_finished();
        self.note(Rule::F14, if waits { Finding::NoActiveProfile } else { Finding::ActiveProfile });
        if waits { Err(self.postponed(Rule::F14)) } else { Ok(standing) }
    }

    /// O10: it is harvested all the same, for the last time ([`crate::outcome`]).
    fn claimed(&mut self) {
        if self.record.via == Via::Nobody {
            self.note(Rule::O10, Finding::ClaimedByNobody);
        }
    }

    /// F15. A URL that waits for a retry after an error is off its schedule and not pushed back
    /// onto it.
    fn schedule(&mut self, standing: &Standing) -> Result<(), Decision> {
        let errors = self.record.errors;
        let (last, every) = match (self.record.last, standing.every) {
            (None, _) => return self.passes(Rule::F15, Finding::NeverFetched),
            (Some(_), _) if errors > 0 => return self.passes(Rule::F15, Finding::Retrying { errors }),
            (Some(_), None) => return self.passes(Rule::F15, Finding::NoSchedule),
            (Some(last), Some(every)) => (last, every),
        };
        self.changing();
        let Record { seed, position, .. } = self.record;
        let timed =
            standing.timed.then(|| self.subject.next_due(seed, *position, &Past::from(self.record), last));
        let until = timed.flatten().unwrap_or_else(|| next_due(last, every));
        self.note(Rule::F15, Finding::NextDue(until));
        let until = self.claimed_changed(until);
        if until > self.now { Err((Rule::F15, Verdict::Postpone { until })) } else { Ok(()) }
    }

    /// F16, blacklist.
    fn blacklist(&mut self, entry: Option<&'a BlacklistEntry>) -> Result<(), Decision> {
        let in_force = entry.filter(|entry| entry.until.is_none_or(|until| until > self.now));
        let Some(BlacklistEntry { reason, until, .. }) = in_force else {
            return self.passes(Rule::F16, Finding::NotBlacklisted);
        };
        self.note(Rule::F16, Finding::Blacklisted { reason, until: *until });
        Err((Rule::F16, Verdict::Remove))
    }

    /// F39.
    fn barred(&mut self) -> Result<(), Decision> {
        let Subject { catalog, collection, url } = self.subject;
        let Some(barred) = catalog.barring(collection, url, self.now) else { return Ok(()) };
        self.note(Rule::F39, Finding::Barred(barred));
        let reason = BlacklistReason::Pattern(barred.name());
        let entry = BlacklistEntry { reason, since: self.now, until: barred.until };
        Err((Rule::F39, Verdict::Blacklist(entry)))
    }

    /// F16, ttl. The seed's own URL is there because it was declared, not because a page links to
    /// it, so it does not expire.
    fn ttl(&mut self, entry: &SeedEntry, standing: &Standing) -> Result<(), Decision> {
        let Some(ttl) = standing.ttl.filter(|_| entry.url != *self.subject.url) else {
            return self.passes(Rule::F16, Finding::NeverExpires);
        };
        let ends = self.record.linked.plus(ttl);
        self.note(Rule::F16, Finding::Expires(ends));
        if ends < self.now { Err((Rule::F16, Verdict::Remove)) } else { Ok(()) }
    }

    /// F16, length.
    fn length(&mut self, standing: &Standing) -> Result<(), Decision> {
        let had = self.record.cycles;
        let finished = standing.is_finished();
        self.note(
            Rule::F16,
            if finished { Finding::CyclesUsedUp { had } } else { Finding::CyclesLeft { had } },
        );
        if finished { Err((Rule::F16, Verdict::Done)) } else { Ok(()) }
    }

    /// F41.
    fn changing(&mut self) {
        let Some(entry) = self.subject.catalog.seed(&self.record.seed) else { return };
        let mut all = self.subject.catalog.profiles_in(entry, self.subject.collection);
        if all.all(|profile| profile.slowest.is_none()) {
            return;
        }
        let adaptive: Vec<_> =
            self.live_profiles(entry).filter_map(|profile| Some((profile, profile.range()?))).collect();
        for (profile, range) in adaptive {
            self.note(
                Rule::F41,
                Finding::Changes { profile: &profile.name, range, seen: self.record.changes },
            );
        }
    }

    /// F41: what its host's pages say of it may have it due before.
    fn claimed_changed(&mut self, until: Time) -> Time {
        let Some(Hint { said, claim: Some(claim) }) = self.record.hint else { return until };
        let due = self.subject.claimed_due(self.record).filter(|due| *due < until);
        self.note(Rule::F41, Finding::Claimed { said, belief: claim.belief, due });
        due.unwrap_or(until)
    }

    /// F38: a harvest for those whose windows are open, or none before the next opens.
    fn open(&mut self, entry: &'a SeedEntry, standing: &Standing) -> Result<Plan, Decision> {
        if !standing.timed {
            return Plan::of(self.live_profiles(entry)).ok_or_else(|| self.postponed(Rule::F14));
        }
        let now = self.now;
        let plan = Plan::of(self.live_profiles(entry).filter(|profile| profile.hours().is_open(now)));
        let plan = plan.map(|mut plan| {
            let mine = self.live_profiles(entry).filter(|profile| plan.profiles.contains(&profile.name));
            plan.closes = mine.map(|profile| profile.hours().closing(now)).min_by_key(latest_first).flatten();
            plan
        });
        let opens = self.live_profiles(entry).map(|profile| profile.hours().opening(now)).min();
        match (plan, opens) {
            (Some(plan), _) => {
                self.note(Rule::F38, Finding::Open { until: plan.closes });
                Ok(plan)
            }
            (None, Some(until)) => {
                self.note(Rule::F38, Finding::Closed { until });
                Err((Rule::F38, Verdict::Postpone { until }))
            }
            (None, None) => Err(self.postponed(Rule::F14)),
        }
    }

    fn live_profiles(&self, entry: &'a SeedEntry) -> impl Iterator<Item = &'a Profile> {
        let cycles = self.record.cycles;
        let in_scope =
            self.subject.verdicts(entry, self.record.position).filter(|given| given.verdict.in_scope);
        in_scope.map(|given| given.profile).filter(move |p| p.active && has_cycles_left(p, cycles))
    }

    fn postponed(&self, rule: Rule) -> Decision {
        (rule, Verdict::Postpone { until: self.now.plus(self.subject.catalog.settings().recheck) })
    }

    fn passes(&mut self, rule: Rule, finding: Finding<'a>) -> Result<(), Decision> {
        self.note(rule, finding);
        Ok(())
    }

    fn note(&mut self, rule: Rule, finding: Finding<'a>) {
        self.steps.push(Step { rule, finding });
    }
}

/// What never closes before what closes last.
fn latest_first(closes: &Option<Time>) -> std::cmp::Reverse<Time> {
    std::cmp::Reverse(closes.unwrap_or(Time(i64::MAX)))
}

fn existence(exists: bool) -> State {
    if exists { State::Exists } else { State::Missing }
}

fn activity(active: bool) -> State {
    if active { State::Active } else { State::Inactive }
}

/// Whose robots.txt rules hold for a URL of this seed by now; none where no active profile has it
/// in scope.
pub fn robots_policy(subject: Subject<'_>, seed: &str, position: Position) -> Option<RobotsPolicy> {
    let entry = subject.catalog.seed(seed)?;
    let in_scope = subject.verdicts(entry, position).filter(|given| given.verdict.in_scope);
    Plan::of(in_scope.map(|given| given.profile).filter(|profile| profile.active)).map(|plan| plan.robots)
}

/// What the resolver said of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dns {
    Resolved,
    Failed,
}

/// What robots.txt, where it is obeyed, says of the URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Robots {
    Allowed,
    /// Until it is next read.
    Denied {
        until: Time,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Proceed,
    /// Error + 1; the URLs of the host keep their order. What becomes of the record says
    /// [`crate::outcome`].
    HostBacksOff,
    /// Out of the queue, with reason robots.
    Blacklist {
        until: Time,
    },
}

/// F17: a URL that F9–F16 let through, at the door of its host. Without an address nothing is known
/// of robots.
pub fn access(dns: Dns, robots: Robots) -> Access {
    match (dns, robots) {
        (Dns::Failed, _) => Access::HostBacksOff,
        (Dns::Resolved, Robots::Denied { until }) => Access::Blacklist { until },
        (Dns::Resolved, Robots::Allowed) => Access::Proceed,
    }
}
