//! Going on with a stored walk (L11).
//!
//! A walk that was interrupted continues exactly where it was: the same runs of misses, the
//! re-attempts it still owes, and the ids that were in flight once more. One that had ended at a
//! margin begins a new run of misses there, and its holes stay holes. With `holes` or `both` a new
//! pass begins: every hole has all its attempts before it again, the first at once. A pass that was
//! interrupted goes on instead of beginning anew, so that killed and resumed is the same as never
//! stopped.
//!
//! Stored rows may be older than the settings. Bounds, margin, attempts and rules may have changed;
//! template, step and start may not, since then the positions would be other ids.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::Leg;
use super::course::common;
use super::ids::{CorruptRow, Kind, Piece, StretchRow};
use super::owed::due_after;
use super::problem::Problem;
use super::rows::HeadRow;
use super::settings::{Direction, WalkSettings};
use super::state::{Task, Walk, Why};
use crate::time::Time;

/// What a run does with a walk that was there before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Resume {
    /// The remaining bound only.
    #[default]
    Continue,
    /// The holes only.
    Holes,
    Both,
}

/// Why a stored walk does not go on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error(transparent)]
    Settings(#[from] Problem),
    #[error(transparent)]
    Corrupt(#[from] CorruptRow),
}

impl Walk {
    /// A stored walk that goes on.
    pub fn resume(
        settings: WalkSettings,
        head: HeadRow,
        stretches: impl IntoIterator<Item = (u64, StretchRow)>,
        how: Resume,
    ) -> Result<Walk, Refusal> {
        let before = head.clone();
        let fresh_pass = how != Resume::Continue && !head.pass_open;
        let pass = head.pass.saturating_add(fresh_pass.into());
        let mut walk = Walk::load(settings, head, stretches, pass)?;
        walk.pass_open = how != Resume::Continue;
        if fresh_pass {
            walk.settled = walk.course.pivot..walk.course.pivot;
        }
        walk.task = Task::Holes;
        if how != Resume::Holes {
            walk.resume_heads(how);
        }
        for leg in walk.legs() {
            walk.find_todo(*leg);
        }
        walk.head_dirty = walk.head_row() != before;
        Ok(walk)
    }

    /// A stored walk to be looked at; it has nothing to do.
    pub fn look(
        settings: WalkSettings,
        head: HeadRow,
        stretches: impl IntoIterator<Item = (u64, StretchRow)>,
    ) -> Result<Walk, Refusal> {
        let pass = head.pass;
        Walk::load(settings, head, stretches, pass)
    }

    fn load(
        settings: WalkSettings,
        head: HeadRow,
        stretches: impl IntoIterator<Item = (u64, StretchRow)>,
        pass: u32,
    ) -> Result<Walk, Refusal> {
        let mut walk = Walk::new(settings);
        walk.check_same_ids(&head)?;
        head.check()?;
        if head.covered.end > walk.course.end() {
            return Err(CorruptRow("its head is beyond the last id").into());
        }
        for (index, row) in stretches {
            walk.ids.load(index, &row, &head.covered, pass)?;
        }
        (walk.covered, walk.reached, walk.settled) = (head.covered, head.reached, head.settled);
        (walk.pass, walk.pass_open, walk.ends) = (pass, head.pass_open, head.ends);
        (walk.task, walk.head_dirty) = (Task::Look, false);
        Ok(walk)
    }

    fn check_same_ids(&self, head: &HeadRow) -> Result<(), Problem> {
        let changed = |field, was: String| {
            let what = format!("this walk was begun with {was}; it takes the same, or another walk");
            Err(Problem::new(field, what))
        };
        if head.template != self.settings.template().as_str() {
            return changed("template", format!("`{}`", head.template));
        }
        if head.step != self.course.step {
            return changed("step", head.step.to_string());
        }
        if (head.residue, head.pivot) == (self.course.residue, self.course.pivot) {
            return Ok(());
        }
        let start = match self.settings.direction() {
            Direction::Down => head.pivot.saturating_sub(1),
            Direction::Up | Direction::Both => head.pivot,
        };
        changed("from", start.saturating_mul(head.step).saturating_add(head.residue).to_string())
    }

    /// The heads go on. Where a run of misses had ended one, a new run begins.
    fn resume_heads(&mut self, how: Resume) {
        self.task = Task::Heads;
        let Some(ends) = self.ends.take() else { return };
        if ends.up == Why::Margin {
            self.reached.end = self.covered.end;
        }
        if ends.down == Why::Margin {
            self.reached.start = self.covered.start;
        }
        if how == Resume::Continue {
            self.settled = self.covered.clone();
        }
    }

    /// What the leg owes and what it lost, from what is known of the ids behind its head.
    fn find_todo(&mut self, leg: Leg) {
        let within = common(&self.covered, &self.course.scope);
        let mut todo = std::mem::take(self.todo(leg));
        for piece in self.ids.pieces(self.course.part(leg, &within)) {
            match piece.state.kind() {
                Kind::Content => {}
                Kind::Unknown if self.task == Task::Heads => todo.lost.insert(piece.positions),
                Kind::Unknown => {}
                Kind::Hole if self.owes(piece.state) => {
                    for positions in outside(&piece.positions, &self.settled) {
                        let attempts = piece.state.attempts();
                        match self.due(&piece, attempts) {
                            Some(due) => todo.owed.wait(due, attempts, positions),
                            None => todo.owed.ready(attempts, positions),
                        }
                    }
                }
                Kind::Hole => {}
            }
        }
        *self.todo(leg) = todo;
    }

    /// When a hole may be tried again, counted from the last attempt near it; none for at once.
    fn due(&self, piece: &Piece, attempts: u16) -> Option<Time> {
        let last = self.ids.last_attempt(piece.positions.start).filter(|_| attempts > 0)?;
        Some(due_after(last, self.settings.cooldown()))
    }
}

/// The parts before and after what is left out.
fn outside(positions: &Range<u64>, left_out: &Range<u64>) -> impl Iterator<Item = Range<u64>> {
    let before = positions.start..positions.end.min(left_out.start);
    let after = positions.start.max(left_out.end)..positions.end;
    let parts = if left_out.is_empty() { [positions.clone(), 0..0] } else { [before, after] };
    parts.into_iter().filter(|part| !part.is_empty())
}
