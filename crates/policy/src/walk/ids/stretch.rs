//! One stretch of positions as runs of the same state.

use std::ops::Range;

use super::{Piece, STRETCH, State};
use crate::time::Time;

/// From this offset on, up to the next run or the end of the stretch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) start: u16,
    pub(super) state: State,
}

/// The first run starts at 0, and no two neighbours have the same state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stretch {
    runs: Vec<Run>,
    pub(super) last_attempt: Time,
}

impl Default for Stretch {
    fn default() -> Stretch {
        let runs = vec![Run { start: 0, state: State::Unknown }];
        Stretch { runs, last_attempt: Time(i64::MIN) }
    }
}

impl Stretch {
    pub(super) fn new(runs: Vec<Run>, last_attempt: Time) -> Stretch {
        Stretch { runs, last_attempt }
    }

    /// Sets one position; what it was before.
    pub(super) fn set(&mut self, offset: u16, state: State) -> State {
        let at = self.runs.partition_point(|run| run.start <= offset) - 1;
        let Range { start, end } = self.extent(at);
        let before = self.runs[at].state;
        if before == state {
            return before;
        }
        let joins_left = start == offset && at > 0 && self.runs[at - 1].state == state;
        let joins_right = offset + 1 == end && self.runs.get(at + 1).is_some_and(|next| next.state == state);
        let mut pieces = [None; 3];
        if start < offset {
            pieces[0] = Some(Run { start, state: before });
        }
        if !joins_left {
            pieces[1] = Some(Run { start: offset, state });
        }
        if offset + 1 < end {
            pieces[2] = Some(Run { start: offset + 1, state: before });
        }
        let replaced = if joins_right { at..at + 2 } else { at..at + 1 };
        self.runs.splice(replaced, pieces.into_iter().flatten());
        before
    }

    /// Holes as they are before the first attempt of a fresh pass.
    pub(super) fn forget_attempts(&mut self) {
        for run in &mut self.runs {
            run.state = match run.state {
                State::Absent(_) => State::Absent(0),
                State::Failed(_) => State::Failed(0),
                other => other,
            };
        }
        self.runs.dedup_by_key(|run| run.state);
    }

    /// Every run as positions, where the stretch begins at `begin`.
    pub(super) fn pieces(&self, begin: u64) -> impl Iterator<Item = Piece> + '_ {
        (0..self.runs.len()).map(move |at| {
            let Range { start, end } = self.extent(at);
            let positions = begin.saturating_add(start.into())..begin.saturating_add(end.into());
            Piece { positions, state: self.runs[at].state }
        })
    }

    fn extent(&self, at: usize) -> Range<u16> {
        let end = self.runs.get(at + 1).map_or(LENGTH, |next| next.start);
        self.runs[at].start..end
    }
}

#[expect(clippy::cast_possible_truncation, reason = "8192 fits")]
pub(super) const LENGTH: u16 = STRETCH as u16;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn l10_runs_say_what_was_set(steps in prop::collection::vec((0u16..40, 0u16..4), 0..200)) {
            let mut stretch = Stretch::default();
            let mut plain = vec![State::Unknown; LENGTH.into()];
            let states = [State::Unknown, State::Content, State::Absent(1), State::Failed(2)];
            for (offset, state) in steps {
                // Both ends of the stretch are where runs may go wrong.
                let offset = if offset < 20 { offset } else { LENGTH - 40 + offset };
                let state = states[usize::from(state)];
                let before = std::mem::replace(&mut plain[usize::from(offset)], state);
                prop_assert_eq!(stretch.set(offset, state), before);
                prop_assert!(stretch.runs.windows(2).all(|pair| pair[0].state != pair[1].state));
                prop_assert_eq!(stretch.runs[0].start, 0);
            }
            let said = stretch.pieces(0).flat_map(|piece| piece.positions.map(move |_| piece.state));
            prop_assert_eq!(said.collect::<Vec<_>>(), plain);
        }
    }
}
