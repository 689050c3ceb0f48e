//! Ids as positions: the n-th number of a walk's arithmetic progression.
//!
//! All arithmetic of a walk is on positions, so that a step never matters again and neighbours are
//! neighbours. `id = position × step + residue`; the start fixes the residue. The pivot parts the
//! legs: ascending positions are the pivot and above, descending ones below it. A walk down pivots
//! above its start.

use std::ops::{Range, RangeInclusive};

use super::Leg;
use super::problem::ID_MAX;
use super::settings::{Direction, WalkSettings};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Course {
    pub(super) step: u64,
    pub(super) residue: u64,
    pub(super) pivot: u64,
    /// Positions within the bounds and on the walk's way.
    pub(super) scope: Range<u64>,
    /// Whether only a margin ends the way up.
    pub(super) open_above: bool,
}

impl Course {
    pub(super) fn new(settings: &WalkSettings) -> Course {
        let step = settings.step();
        let residue = settings.start() % step;
        let start = settings.start() / step;
        let floor = settings.min().saturating_sub(residue).div_ceil(step);
        let ceiling = end_of(settings.max().unwrap_or(ID_MAX), step, residue);
        let (pivot, scope) = match settings.direction() {
            Direction::Up => (start, start..ceiling),
            Direction::Down => (start + 1, floor..start + 1),
            Direction::Both => (start, floor..ceiling),
        };
        let open_above = settings.direction() != Direction::Down && settings.max().is_none();
        Course { step, residue, pivot, scope, open_above }
    }

    /// One past the last position there can be.
    pub(super) fn end(&self) -> u64 {
        end_of(ID_MAX, self.step, self.residue)
    }

    /// Only for positions before [`Course::end`].
    pub(super) fn id(&self, position: u64) -> u64 {
        position * self.step + self.residue
    }

    /// None for an id between the steps.
    pub(super) fn position(&self, id: u64) -> Option<u64> {
        let above = id.checked_sub(self.residue)?;
        above.is_multiple_of(self.step).then_some(above / self.step)
    }

    /// The positions of the ids in this range, as far as there are any.
    pub(super) fn positions(&self, from: u64, to: u64) -> Range<u64> {
        from.saturating_sub(self.residue).div_ceil(self.step)..end_of(to.min(ID_MAX), self.step, self.residue)
    }

    /// First and last id of positions that are not none.
    pub(super) fn ids(&self, positions: &Range<u64>) -> RangeInclusive<u64> {
        self.id(positions.start)..=self.id(positions.end - 1)
    }

    pub(super) fn leg_of(&self, position: u64) -> Leg {
        if position < self.pivot { Leg::Down } else { Leg::Up }
    }

    /// The part of these positions that the leg walks.
    pub(super) fn part(&self, leg: Leg, positions: &Range<u64>) -> Range<u64> {
        match leg {
            Leg::Up => positions.start.max(self.pivot)..positions.end.max(self.pivot),
            Leg::Down => positions.start.min(self.pivot)..positions.end.min(self.pivot),
        }
    }
}

/// One past the position of the last id up to this one.
fn end_of(id: u64, step: u64, residue: u64) -> u64 {
    id.checked_sub(residue).map_or(0, |above| above / step + 1)
}

/// What both have in common, empty where they have nothing.
pub(super) fn common(one: &Range<u64>, other: &Range<u64>) -> Range<u64> {
    let start = one.start.max(other.start);
    start..one.end.min(other.end).max(start)
}
