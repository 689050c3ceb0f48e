//! A walk as it is shown: its split into content, holes and remaining bound (L11), its map and
//! heads (L12).
//!
//! With a step, a range of ids means its first, its last and those between them in steps.

use std::ops::{Range, RangeInclusive};

use super::course::common;
use super::ids::Kind;
use super::state::{Walk, Why};
use super::{ID_MAX, Leg};

/// Most cells a map can have.
pub const CELLS_MAX: usize = 10_000;

/// L11: what a walk has found, missed and has yet to try.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Split {
    pub content: Vec<RangeInclusive<u64>>,
    pub holes: Vec<RangeInclusive<u64>>,
    pub remaining: Vec<RangeInclusive<u64>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    pub content: u64,
    pub holes: u64,
    /// None where no bound ends the way up.
    pub remaining: Option<u64>,
}

/// One cell of the map: how many of the ids from the first to the last are what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    pub from: u64,
    pub to: u64,
    pub content: u64,
    pub holes: u64,
    pub unknown: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    pub leg: Leg,
    /// The last id that was issued; none before the first.
    pub at: Option<u64>,
    /// Ids at the head in a row that are not known to exist, those in flight included.
    pub misses: u64,
    /// None while the leg has something to do.
    pub ended: Option<Why>,
}

impl Walk {
    /// The ranges of one kind in order from this id on, as the walk's ids go. Unknown are those
    /// that remain within the bounds; where no bound ends the way up, the last range goes to
    /// the highest id there can be.
    pub fn ranges(&self, kind: Kind, from: u64) -> impl Iterator<Item = RangeInclusive<u64>> + '_ {
        let all = if kind == Kind::Unknown { &self.course.scope } else { &self.covered };
        let range = common(all, &self.course.positions(from, ID_MAX));
        let of_kind = self.ids.kinds(range).filter(move |(_, found)| *found == kind);
        of_kind.map(|(positions, _)| self.course.ids(&positions))
    }

    /// Each set with at most so many ranges.
    pub fn split(&self, ranges_max: usize) -> Split {
        let ranges = |kind| self.ranges(kind, 0).take(ranges_max).collect();
        Split { content: ranges(Kind::Content), holes: ranges(Kind::Hole), remaining: ranges(Kind::Unknown) }
    }

    pub fn counts(&self) -> Counts {
        let remaining = (!self.course.open_above).then(|| self.remaining());
        Counts { content: self.ids.content(), holes: self.ids.holes(), remaining }
    }

    /// The map from one id to another in at most so many cells of about the same width.
    pub fn cells(&self, from: u64, to: u64, cells_max: usize) -> Vec<Cell> {
        let range = common(&self.course.positions(from, to), &(0..self.course.end()));
        let cells = length(&range).min(cells_max.min(CELLS_MAX) as u64);
        let edge = |index: u64| range.start + scaled(length(&range), index, cells);
        let mut map: Vec<Cell> =
            (0..cells).map(|index| self.empty(&(edge(index)..edge(index + 1)))).collect();
        let mut index = 0;
        for (mut positions, kind) in self.ids.kinds(range.clone()).take_while(|_| cells > 0) {
            while !positions.is_empty() {
                let end = edge(index as u64 + 1).min(positions.end);
                map[index].add(kind, end - positions.start);
                positions.start = end;
                index += usize::from(end == edge(index as u64 + 1));
            }
        }
        map
    }

    /// First and last id that were ever issued.
    pub fn covered(&self) -> Option<RangeInclusive<u64>> {
        (!self.covered.is_empty()).then(|| self.course.ids(&self.covered))
    }

    pub fn heads(&self) -> Vec<Head> {
        self.legs().iter().map(|leg| self.head(*leg)).collect()
    }

    fn head(&self, leg: Leg) -> Head {
        let walked = self.course.part(leg, &self.covered);
        let at = match leg {
            Leg::Up => walked.end.saturating_sub(1),
            Leg::Down => walked.start,
        };
        let ended = self.is_idle(leg).then(|| self.why(leg));
        let at = (!walked.is_empty()).then(|| self.course.id(at));
        Head { leg, at, misses: self.misses(leg), ended }
    }

    fn remaining(&self) -> u64 {
        let scope = &self.course.scope;
        let walked = common(&self.covered, scope);
        let lost = if walked == self.covered {
            length(&self.covered) - self.ids.content() - self.ids.holes()
        } else {
            let unknown = self.ids.kinds(walked.clone()).filter(|(_, kind)| *kind == Kind::Unknown);
            unknown.map(|(positions, _)| length(&positions)).sum()
        };
        length(scope) - length(&walked) + lost
    }

    fn empty(&self, positions: &Range<u64>) -> Cell {
        let ids = self.course.ids(positions);
        Cell { from: *ids.start(), to: *ids.end(), content: 0, holes: 0, unknown: 0 }
    }
}

impl Cell {
    fn add(&mut self, kind: Kind, ids: u64) {
        match kind {
            Kind::Content => self.content += ids,
            Kind::Hole => self.holes += ids,
            Kind::Unknown => self.unknown += ids,
        }
    }
}

fn length(range: &Range<u64>) -> u64 {
    range.end.saturating_sub(range.start)
}

/// `length × part ÷ parts` without overflow.
fn scaled(length: u64, part: u64, parts: u64) -> u64 {
    u64::try_from(u128::from(length) * u128::from(part) / u128::from(parts.max(1))).unwrap_or(length)
}
