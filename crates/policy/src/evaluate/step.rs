//! What an evaluation looked at, rule by rule, as data that prints as sentences.

use std::fmt;

use crate::blacklist::Barred;
use crate::changes::{Changes, Range};
use crate::model::BlacklistReason;
use crate::rule::Rule;
use crate::standing::ProfileVerdict;
use crate::time::Time;

/// One rule looked at. The last step of an evaluation is the one that decided, unless it says to
/// harvest.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    pub rule: Rule,
    pub finding: Finding<'a>,
}

#[derive(Clone, Copy, Debug)]
pub enum Finding<'a> {
    Seed(&'a str, State),
    Collection(&'a str, State),
    Profile(ProfileVerdict<'a>),
    /// How many of the seed's profiles with the collection have it in scope.
    InScope {
        in_scope: u32,
        of: u32,
    },
    ActiveProfile,
    NoActiveProfile,
    ClaimedByNobody,
    NeverFetched,
    Retrying {
        errors: u32,
    },
    /// No profile with cycles left asks for a harvest.
    NoSchedule,
    NextDue(Time),
    NotBlacklisted,
    Blacklisted {
        reason: &'a BlacklistReason,
        until: Option<Time>,
    },
    Barred(&'a Barred),
    NeverExpires,
    Expires(Time),
    CyclesLeft {
        had: u32,
    },
    CyclesUsedUp {
        had: u32,
    },
    /// Within the windows of a profile; they never close if there is no end.
    Open {
        until: Option<Time>,
    },
    Closed {
        until: Time,
    },
    /// A page of its host says that it has changed since its last harvest; none: not believed so far that
    /// it would be due earlier.
    Claimed {
        said: Time,
        belief: u8,
        due: Option<Time>,
    },
    /// An adaptive frequency.
    Changes {
        profile: &'a str,
        range: Range,
        seen: Changes,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Missing,
    Exists,
    Inactive,
    Active,
}

impl fmt::Display for Step<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.rule, self.finding)
    }
}

impl fmt::Display for Finding<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Finding::Seed(key, state) => write!(f, "seed `{key}` {state}"),
            Finding::Collection(name, state) => write!(f, "collection `{name}` {state}"),
            Finding::Profile(verdict) => verdict.fmt(f),
            Finding::InScope { in_scope, of } => write!(f, "in scope of {in_scope} of {of} profiles"),
            Finding::ActiveProfile => f.write_str("one of them is active"),
            Finding::NoActiveProfile => f.write_str("none of those with cycles left is active"),
            Finding::ClaimedByNobody => f.write_str(
                "the page that named it belongs to another seed now, and no other page has named it: \
                     it goes after its next harvest",
            ),
            Finding::NeverFetched => f.write_str("never fetched, so due"),
            Finding::Retrying { errors } => write!(f, "retried after {errors} error(s), so due"),
            Finding::NoSchedule => f.write_str("no profile with cycles left asks for it"),
            Finding::NextDue(next) => write!(f, "by its schedule due at {next}"),
            Finding::NotBlacklisted => f.write_str("not blacklisted"),
            Finding::Blacklisted { reason, until: None } => write!(f, "blacklisted ({reason})"),
            Finding::Blacklisted { reason, until: Some(until) } => {
                write!(f, "blacklisted ({reason}) until {until}")
            }
            Finding::Barred(barred) => barred.fmt(f),
            Finding::NeverExpires => f.write_str("does not expire by ttl"),
            Finding::Expires(at) => write!(f, "its ttl ends at {at} unless a page links to it"),
            Finding::CyclesLeft { had } => write!(f, "{had} cycle(s) in this run, more to come"),
            Finding::Open { until: None } => f.write_str("one of its profiles may have it at any time"),
            Finding::Open { until: Some(until) } => {
                write!(f, "within the windows of its profiles, until {until}")
            }
            Finding::Closed { until } => {
                write!(f, "outside the windows of its profiles; the next opens at {until}")
            }
            Finding::Changes { profile, range, seen } => write!(
                f,
                "profile `{profile}` adapts between {} and {}: changed at {} of {} harvests, by estimate {:.3} \
                 times a day (confidence {:.0} %), so every {}",
                range.fast,
                range.slow,
                seen.changed,
                seen.harvests,
                seen.per_day(*range),
                100.0 * seen.confidence(),
                seen.every(*range),
            ),
            Finding::Claimed { said, belief, due } => {
                write!(f, "a page of its host says that it changed at {said}, since its last harvest; ")?;
                match due {
                    Some(due) => write!(f, "believed at {belief} %, so due at {due}"),
                    None => write!(f, "believed at {belief} %, which has it due no earlier"),
                }
            }
            Finding::CyclesUsedUp { had } => write!(f, "{had} cycle(s) in this run, which is all"),
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            State::Missing => "does not exist",
            State::Exists => "exists",
            State::Inactive => "is switched off",
            State::Active => "is active",
        })
    }
}

impl fmt::Display for BlacklistReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BlacklistReason::Robots => f.write_str("robots"),
            BlacklistReason::NotFound => f.write_str("not found too often"),
            BlacklistReason::Errors => f.write_str("too many errors"),
            BlacklistReason::Pattern(name) => write!(f, "pattern {name}"),
            BlacklistReason::Operator(note) => write!(f, "operator: {note}"),
        }
    }
}
