//! Whether an answer means that the id exists (L3).
//!
//! By default 200 with a body does; 404 and 410 say that it does not, and so does every other
//! answer that brings no content. Answers that speak of the moment rather than of the id (5xx, 429,
//! 408, 425, 401, 403) are failures, and so is no answer. A walk may say otherwise for statuses and
//! for where redirects lead, and may look into the body for what a page that is not there says
//! under a 200.

use serde::{Deserialize, Serialize};

use super::expression::Expression;
use super::problem::Problem;
use super::status::{StatusRange, overlap};

/// Most statuses, or patterns, that one list may have.
pub const EXISTENCE_LIST_MAX: usize = 64;

/// What an attempt said about an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    Exists,
    Absent,
    Failed,
}

/// What was seen of an answer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen<'a> {
    /// None when there was no answer, or robots denied the asking.
    pub status: Option<u16>,
    /// Where a redirect leads.
    pub location: Option<&'a str>,
    pub body_is_empty: bool,
    /// The decoded body or the part of it that is looked at; only wanted with
    /// [`Existence::needs_body`].
    pub body: Option<&'a [u8]>,
}

/// The rules as declared. Empty lists leave the defaults.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ExistenceDraft {
    /// Statuses that mean the id exists, with a body or without.
    pub exists: Vec<StatusRange>,
    pub absent: Vec<StatusRange>,
    pub failed: Vec<StatusRange>,
    /// A redirect whose target matches one of these means the id exists.
    pub redirect_exists: Vec<Expression>,
    pub redirect_absent: Vec<Expression>,
    /// All of these must be in the body of an id that exists.
    pub body_has: Vec<Expression>,
    /// None of these may be in the body of an id that exists.
    pub body_lacks: Vec<Expression>,
}

/// Rules that do not contradict each other.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "ExistenceDraft", into = "ExistenceDraft")]
pub struct Existence(ExistenceDraft);

impl Existence {
    pub fn new(draft: ExistenceDraft) -> Result<Existence, Problem> {
        let statuses = [("exists", &draft.exists), ("absent", &draft.absent), ("failed", &draft.failed)];
        for (field, list) in statuses {
            check_length(field, list.len())?;
        }
        for (index, (field, list)) in statuses.iter().enumerate() {
            for (other, others) in &statuses[..index] {
                if let Some(status) = overlap(list, others) {
                    let what = format!("status {status} is in `{other}` too; it takes statuses of its own");
                    return Err(Problem::new(field, what));
                }
            }
        }
        check_length("redirect_exists", draft.redirect_exists.len())?;
        check_length("redirect_absent", draft.redirect_absent.len())?;
        check_length("body_has", draft.body_has.len())?;
        check_length("body_lacks", draft.body_lacks.len())?;
        Ok(Existence(draft))
    }

    pub fn draft(&self) -> &ExistenceDraft {
        &self.0
    }

    /// Whether [`Existence::judge`] wants the body, and not only whether there is one.
    pub fn needs_body(&self) -> bool {
        !self.0.body_has.is_empty() || !self.0.body_lacks.is_empty()
    }

    pub fn judge(&self, seen: &Seen<'_>) -> Outcome {
        let Some(status) = seen.status else { return Outcome::Failed };
        if let Some(target) = seen.location.filter(|_| (300..400).contains(&status))
            && let Some(outcome) = self.of_redirect(target)
        {
            return outcome;
        }
        match self.of_status(status, seen.body_is_empty) {
            Outcome::Exists if !self.body_agrees(seen.body.unwrap_or_default()) => Outcome::Absent,
            outcome => outcome,
        }
    }

    fn of_redirect(&self, target: &str) -> Option<Outcome> {
        let leads_to = |list: &[Expression]| list.iter().any(|pattern| pattern.is_in(target.as_bytes()));
        if leads_to(&self.0.redirect_absent) {
            return Some(Outcome::Absent);
        }
        leads_to(&self.0.redirect_exists).then_some(Outcome::Exists)
    }

    fn of_status(&self, status: u16, body_is_empty: bool) -> Outcome {
        let listed = |list: &[StatusRange]| list.iter().any(|range| range.contains(status));
        if listed(&self.0.exists) {
            Outcome::Exists
        } else if listed(&self.0.absent) {
            Outcome::Absent
        } else if listed(&self.0.failed) {
            Outcome::Failed
        } else {
            by_default(status, body_is_empty)
        }
    }

    fn body_agrees(&self, body: &[u8]) -> bool {
        self.0.body_has.iter().all(|pattern| pattern.is_in(body))
            && !self.0.body_lacks.iter().any(|pattern| pattern.is_in(body))
    }
}

fn by_default(status: u16, body_is_empty: bool) -> Outcome {
    match status {
        200 if !body_is_empty => Outcome::Exists,
        401 | 403 | 408 | 425 | 429 | 500.. => Outcome::Failed,
        _ => Outcome::Absent,
    }
}

fn check_length(field: &'static str, length: usize) -> Result<(), Problem> {
    if length <= EXISTENCE_LIST_MAX {
        return Ok(());
    }
    Err(Problem::new(field, format!("{length} entries are too many; it takes at most {EXISTENCE_LIST_MAX}")))
}

impl TryFrom<ExistenceDraft> for Existence {
    type Error = Problem;

    fn try_from(draft: ExistenceDraft) -> Result<Existence, Problem> {
        Existence::new(draft)
    }
}

impl From<Existence> for ExistenceDraft {
    fn from(existence: Existence) -> ExistenceDraft {
        existence.0
    }
}
