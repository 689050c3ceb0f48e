//! What a walk is told: a [`Draft`] as people write it becomes [`WalkSettings`] that hold together
//! (L1–L7, L14).
//!
//! Settings are stored and sent as drafts and checked again on the way in, so whoever holds
//! [`WalkSettings`] may rely on them: there is a first id, every leg has an end, and every id in
//! reach has a URL.

use serde::{Deserialize, Serialize};

use super::existence::Existence;
use super::problem::{ID_MAX, Problem, within_reach};
use super::template::Template;
use crate::time::Span;

/// Most attempts an id can get.
pub const ATTEMPTS_MAX: u32 = 1000;

/// How long a miss is left alone unless the walk says otherwise.
pub const COOLDOWN_DEFAULT: Span = Span::seconds(30);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    Up,
    Down,
    /// L7: from a known id to both sides.
    Both,
}

/// L5: which misses are tried again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Retry {
    /// Absent ids too: a 404 may be early.
    #[default]
    All,
    Failed,
}

/// A walk as declared. What is not given takes its default: direction `both` with a `from`,
/// otherwise `up`; step, attempts and rate 1; a cool-down of [`COOLDOWN_DEFAULT`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Draft {
    pub template: String,
    pub min: Option<u64>,
    pub max: Option<u64>,
    pub from: Option<u64>,
    pub direction: Option<Direction>,
    pub step: Option<u64>,
    pub margin: Option<u32>,
    pub attempts: Option<u32>,
    pub cooldown: Option<Span>,
    pub retry: Option<Retry>,
    pub rate: Option<u32>,
    pub exists: Existence,
}

/// Settings that hold together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Draft", into = "Draft")]
pub struct WalkSettings {
    template: Template,
    min: u64,
    max: Option<u64>,
    start: u64,
    draft: Draft,
}

impl WalkSettings {
    pub fn new(draft: Draft) -> Result<WalkSettings, Problem> {
        let template = Template::parse(&draft.template)?;
        check_counts(&draft)?;
        check_ids(&draft)?;
        let start = start(&draft)?;
        check_end(&draft)?;
        let min = draft.min.unwrap_or(if direction(&draft) == Direction::Up { start } else { 0 });
        let settings = WalkSettings { template, min, max: draft.max, start, draft };
        settings.template.check(start, settings.farthest())?;
        Ok(settings)
    }

    pub fn template(&self) -> &Template {
        &self.template
    }

    /// L1: the lowest id that may be fetched.
    pub fn min(&self) -> u64 {
        self.min
    }

    /// L1: the highest id that may be fetched; none where only the margin ends the way up.
    pub fn max(&self) -> Option<u64> {
        self.max
    }

    /// The id the walk begins with; both ways, the first of the ascending leg.
    pub fn start(&self) -> u64 {
        self.start
    }

    pub fn direction(&self) -> Direction {
        direction(&self.draft)
    }

    pub fn step(&self) -> u64 {
        self.draft.step.unwrap_or(1)
    }

    pub fn margin(&self) -> Option<u32> {
        self.draft.margin
    }

    pub fn attempts(&self) -> u32 {
        self.draft.attempts.unwrap_or(1)
    }

    pub fn cooldown(&self) -> Span {
        self.draft.cooldown.unwrap_or(COOLDOWN_DEFAULT)
    }

    pub fn retry(&self) -> Retry {
        self.draft.retry.unwrap_or_default()
    }

    /// L8: fetches of a leg in its turn.
    pub fn rate(&self) -> u32 {
        self.draft.rate.unwrap_or(1)
    }

    pub fn exists(&self) -> &Existence {
        &self.draft.exists
    }

    /// As declared: what another run may be told, with some of it changed.
    pub fn draft(&self) -> &Draft {
        &self.draft
    }

    /// The id in reach that is farthest from the start.
    fn farthest(&self) -> u64 {
        match self.direction() {
            Direction::Down => self.min,
            Direction::Up | Direction::Both => self.max.unwrap_or(ID_MAX),
        }
    }
}

impl TryFrom<Draft> for WalkSettings {
    type Error = Problem;

    fn try_from(draft: Draft) -> Result<WalkSettings, Problem> {
        WalkSettings::new(draft)
    }
}

impl From<WalkSettings> for Draft {
    fn from(settings: WalkSettings) -> Draft {
        settings.draft
    }
}

fn direction(draft: &Draft) -> Direction {
    draft.direction.unwrap_or(if draft.from.is_some() { Direction::Both } else { Direction::Up })
}

fn check_counts(draft: &Draft) -> Result<(), Problem> {
    let refuse = |field, what: &str| Err(Problem::new(field, what));
    if draft.step == Some(0) {
        return refuse("step", "0 goes nowhere; it takes 1 or more");
    }
    if draft.margin == Some(0) {
        return refuse("margin", "0 would stop before the first id; it takes 1 or more misses in a row");
    }
    match draft.attempts {
        Some(0) => refuse("attempts", "0 would fetch nothing; it takes from 1 to 1000 attempts an id"),
        Some(n) if n > ATTEMPTS_MAX => {
            refuse("attempts", &format!("{n} is too many; it takes from 1 to 1000 attempts an id"))
        }
        _ if draft.rate == Some(0) => {
            refuse("rate", "0 would never take a turn; it takes 1 or more fetches a turn")
        }
        _ => Ok(()),
    }
}

fn check_ids(draft: &Draft) -> Result<(), Problem> {
    for (field, id) in [("min", draft.min), ("max", draft.max), ("from", draft.from)] {
        id.map(|id| within_reach(field, id)).transpose()?;
    }
    if let (Some(min), Some(max)) = (draft.min, draft.max)
        && min > max
    {
        let what = format!("the lower bound {min} is above the upper bound {max}; it takes an id up to that");
        return Err(Problem::new("min", what));
    }
    let Some(from) = draft.from else { return Ok(()) };
    let (min, max) = (draft.min.unwrap_or(0), draft.max.unwrap_or(ID_MAX));
    if (min..=max).contains(&from) {
        return Ok(());
    }
    Err(Problem::new("from", format!("{from} is out of bounds; it takes an id from {min} to {max}")))
}

fn start(draft: &Draft) -> Result<u64, Problem> {
    let (first, field, what) = match direction(draft) {
        Direction::Up => {
            (draft.from.or(draft.min), "min", "a walk up needs an id to begin with; give `min` or `from`")
        }
        Direction::Down => {
            (draft.from.or(draft.max), "max", "a walk down needs an id to begin with; give `max` or `from`")
        }
        Direction::Both => {
            (draft.from, "from", "a walk both ways needs a known id to begin with; give `from`")
        }
    };
    first.ok_or_else(|| Problem::new(field, what))
}

/// The way down ends at 0 at the latest; the way up must be told.
fn check_end(draft: &Draft) -> Result<(), Problem> {
    if direction(draft) == Direction::Down || draft.max.is_some() || draft.margin.is_some() {
        return Ok(());
    }
    Err(Problem::new("max", "a walk up without an end would never stop; give `max`, or a `margin` of misses"))
}
