//! Where the heads stand, and whether they may go on (L2, L4, L6, L9).

use super::Leg;
use super::state::{Task, Walk};

impl Walk {
    /// Moves the head by one; the position it comes to.
    pub(super) fn go_on(&mut self, leg: Leg) -> u64 {
        self.head_dirty = true;
        match leg {
            Leg::Up => {
                self.covered.end += 1;
                self.covered.end - 1
            }
            Leg::Down => {
                self.covered.start -= 1;
                self.covered.start
            }
        }
    }

    pub(super) fn may_go_on(&self, leg: Leg) -> bool {
        self.task == Task::Heads && !self.at_bound(leg) && !self.at_margin(leg)
    }

    pub(super) fn at_bound(&self, leg: Leg) -> bool {
        match leg {
            Leg::Up => self.covered.end >= self.course.scope.end,
            Leg::Down => self.covered.start <= self.course.scope.start,
        }
    }

    fn at_margin(&self, leg: Leg) -> bool {
        self.settings.margin().is_some_and(|margin| self.misses(leg) >= margin.into())
    }

    /// L4: ids at the head in a row that are not known to exist.
    pub(super) fn misses(&self, leg: Leg) -> u64 {
        match leg {
            Leg::Up => self.covered.end - self.reached.end,
            Leg::Down => self.reached.start - self.covered.start,
        }
    }

    /// L6: something exists here, so the run of misses is at most what lies after it.
    pub(super) fn reach(&mut self, position: u64) {
        match self.course.leg_of(position) {
            Leg::Up => self.reached.end = self.reached.end.max(position + 1),
            Leg::Down => self.reached.start = self.reached.start.min(position),
        }
    }

    /// Takes the head back over this position, if it is the last one there.
    pub(super) fn retract(&mut self, leg: Leg, position: u64) -> bool {
        let last = match leg {
            Leg::Up => self.covered.end - 1 == position,
            Leg::Down => self.covered.start == position,
        };
        if last {
            self.head_dirty = true;
            match leg {
                Leg::Up => self.covered.end -= 1,
                Leg::Down => self.covered.start += 1,
            }
        }
        last
    }
}
