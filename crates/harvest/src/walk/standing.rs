//! Where a walk stands, as events and the API say it: the same fields in both.
//!
//! Fields are in the order of their names, as JSON lines of walks always had them.

use frontier::WalkRun;
use policy::walk::{Cell, Head, Leg, Walk, Why};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::words;

/// What is known of a walk in figures, and where its heads are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Standing {
    pub counts: WalkCounts,
    pub heads: Vec<WalkHead>,
    /// Of the present run, or the last.
    pub requests: u64,
    /// None before there were two.
    pub requests_per_second: Option<f64>,
    /// At this rate, where a bound is known.
    pub seconds_left: Option<u64>,
    pub step: u64,
    /// Of the walk as a whole: what is most in need of somebody goes first.
    pub stopped: Stopped,
    pub template: String,
}

/// How many ids are what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WalkCounts {
    pub content: u64,
    pub holes: u64,
    /// None where no bound ends the way up.
    pub remaining: Option<u64>,
}

/// Where one end of a walk stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WalkHead {
    /// The last id that was issued; none before the first.
    pub at: Option<u64>,
    pub leg: WalkLeg,
    /// Ids at the head in a row that are not known to exist.
    pub misses: u64,
    pub stopped: Stopped,
}

/// Which way it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum WalkLeg {
    Up,
    Down,
}

/// Why nothing more is fetched: the bound is reached, the margin is, or there is more to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Stopped {
    Bound,
    Margin,
    Interrupted,
}

/// A stretch of ids, and how many of them are what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WalkCell {
    pub content: u64,
    pub from: u64,
    pub holes: u64,
    /// Part of it too.
    pub to: u64,
    pub unknown: u64,
}

impl Standing {
    pub fn of(walk: &Walk, run: &WalkRun) -> Standing {
        let counts = walk.counts();
        Standing {
            counts: WalkCounts { content: counts.content, holes: counts.holes, remaining: counts.remaining },
            heads: walk.heads().iter().map(WalkHead::from).collect(),
            requests: run.requests,
            requests_per_second: words::rate(run),
            seconds_left: words::forecast(walk, run).map(|span| span.0 / 1000),
            step: walk.settings().step(),
            stopped: walk.ended().into(),
            template: walk.settings().template().as_str().to_owned(),
        }
    }
}

impl From<&Head> for WalkHead {
    fn from(head: &Head) -> WalkHead {
        WalkHead { at: head.at, leg: head.leg.into(), misses: head.misses, stopped: head.ended.into() }
    }
}

impl From<Leg> for WalkLeg {
    fn from(leg: Leg) -> WalkLeg {
        match leg {
            Leg::Up => WalkLeg::Up,
            Leg::Down => WalkLeg::Down,
        }
    }
}

impl WalkLeg {
    pub fn as_str(self) -> &'static str {
        match self {
            WalkLeg::Up => "up",
            WalkLeg::Down => "down",
        }
    }
}

impl From<Option<Why>> for Stopped {
    fn from(why: Option<Why>) -> Stopped {
        match why {
            Some(Why::Bound) => Stopped::Bound,
            Some(Why::Margin) => Stopped::Margin,
            Some(Why::Interrupted) | None => Stopped::Interrupted,
        }
    }
}

impl Stopped {
    pub fn as_str(self) -> &'static str {
        match self {
            Stopped::Bound => "bound",
            Stopped::Margin => "margin",
            Stopped::Interrupted => "interrupted",
        }
    }
}

impl From<&Cell> for WalkCell {
    fn from(cell: &Cell) -> WalkCell {
        let Cell { from, to, content, holes, unknown } = *cell;
        WalkCell { content, from, holes, to, unknown }
    }
}
