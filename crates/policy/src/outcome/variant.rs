//! The rows of F30: what was seen when the answer came in, and where that puts the URL.

use crate::model::{BlacklistEntry, BlacklistReason, Limits, Record};
use crate::outcome::{Ahead, Answer, Fetched, HostEffect, NoAnswer, Placement};
use crate::owner::Via;
use crate::rule::Rule;
use crate::standing::Standing;
use crate::time::Time;

/// The columns *oos*, *robots* and *dns* of F30; where several hold, the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hindrance {
    None,
    OutOfScope,
    Robots(Time),
    Dns,
}

pub(super) fn hindrance(standing: &Standing, fetched: &Fetched) -> Hindrance {
    let answered = matches!(fetched.answer, Answer::Response(_));
    match fetched.robots_denied_until {
        _ if answered && !standing.is_in_scope() => Hindrance::OutOfScope,
        Some(until) if answered => Hindrance::Robots(until),
        _ if fetched.dns_failed => Hindrance::Dns,
        _ => Hindrance::None,
    }
}

/// The columns of F30.
pub(super) struct Seen<'a> {
    pub(super) before: &'a Record,
    pub(super) fetched: &'a Fetched,
    pub(super) hindrance: Hindrance,
    pub(super) earlier: bool,
}

impl Seen<'_> {
    pub(super) fn answered(&self) -> bool {
        matches!(self.fetched.answer, Answer::Response(_))
    }

    /// The row of F30. The table has one row for an answer of a host whose name does not resolve by
    /// now, 9.
    pub(super) fn variant(&self) -> u8 {
        let first = self.before.last.is_none();
        match (self.answered(), self.hindrance) {
            (true, Hindrance::None) if first => 1,
            (true, Hindrance::OutOfScope) if first => 2,
            (true, Hindrance::Robots(_)) if first => 3,
            (true, Hindrance::None) if self.earlier => 6,
            (true, Hindrance::OutOfScope) if self.earlier => 7,
            (true, Hindrance::Robots(_)) if self.earlier => 8,
            (true, Hindrance::Dns) => 9,
            (true, Hindrance::None) => 10,
            (true, Hindrance::OutOfScope) => 11,
            (true, Hindrance::Robots(_)) => 12,
            (false, Hindrance::Dns) if first => 5,
            (false, Hindrance::Dns) => 14,
            (false, _) if first => 4,
            (false, _) => 13,
        }
    }

    pub(super) fn place(
        &self,
        record: &Record,
        standing: &Standing,
        limits: &Limits,
        ahead: &Ahead,
        now: Time,
    ) -> (Rule, Placement) {
        match self.hindrance {
            Hindrance::OutOfScope => return (Rule::F13, Placement::Remove),
            Hindrance::Robots(until) => {
                let entry =
                    BlacklistEntry { reason: BlacklistReason::Robots, since: now, until: Some(until) };
                return (Rule::F17, Placement::Blacklist(entry));
            }
            Hindrance::None | Hindrance::Dns => {}
        }
        if let Some(reason) = beyond_patience(record, limits) {
            let until = limits.blacklist_for.map(|span| now.plus(span));
            return (Rule::F21, Placement::Blacklist(BlacklistEntry { reason, since: now, until }));
        }
        if self.answered() && standing.is_finished() {
            return (Rule::F20, Placement::Done);
        }
        if self.answered() && record.via == Via::Nobody {
            return (Rule::O10, Placement::Remove);
        }
        match self.hindrance {
            Hindrance::Dns if self.answered() => {
                (Rule::F17, Placement::Queue { due: ahead.due.max(now.plus(ahead.backoff)) })
            }
            Hindrance::Dns => (Rule::F17, Placement::Queue { due: self.before.due }),
            _ => (Rule::F21, Placement::Queue { due: ahead.due }),
        }
    }

    pub(super) fn host_effect(&self, variant: u8, ahead: &Ahead) -> HostEffect {
        let unreachable = self.fetched.answer == Answer::NoAnswer(NoAnswer::Unreachable);
        match variant {
            4 | 5 | 9 | 14 => HostEffect::Backoff { span: ahead.backoff },
            13 if unreachable => HostEffect::Backoff { span: ahead.backoff },
            _ => HostEffect::None,
        }
    }
}

/// F21: "shall the URL be blacklisted?"
fn beyond_patience(record: &Record, limits: &Limits) -> Option<BlacklistReason> {
    if record.not_found > limits.max_not_found {
        Some(BlacklistReason::NotFound)
    } else if record.errors > limits.max_errors {
        Some(BlacklistReason::Errors)
    } else {
        None
    }
}
