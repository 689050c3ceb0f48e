//! Whose turn it is (L8): the legs of any number of walks, interleaved by their rates.
//!
//! A round goes through the walks in order, each walk's ascending leg before its descending one. In
//! its turn a leg makes as many fetches as its walk's rate; one that has nothing to do now is
//! skipped at once.

use std::borrow::BorrowMut;

use super::Leg;
use super::state::{Step, Walk};
use crate::time::Time;

/// Whose turn it is, and how much of it has been used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cursor {
    walk: usize,
    leg: usize,
    fetches: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// `before` is what [`Turns::undo`] goes back to.
    Fetch { walk: usize, leg: Leg, id: u64, attempt: u32, before: Cursor },
    /// Nothing before this time; without one, nothing before a result comes in or a pause is over.
    Wait(Option<Time>),
    /// All walks have ended.
    Ended,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Turns {
    cursor: Cursor,
}

impl Turns {
    /// Takes the next id of the walk whose turn it is. Walks that `paused` names by their place are
    /// skipped.
    pub fn next<W: BorrowMut<Walk>>(
        &mut self,
        walks: &mut [W],
        now: Time,
        paused: impl Fn(usize) -> bool,
    ) -> Turn {
        let legs: usize = walks.iter().map(|walk| walk.borrow().legs().len()).sum();
        let before = self.cursor;
        let mut waits = None;
        for _ in 0..legs {
            let Some((walk, leg)) = self.leg_in_turn(walks) else { break };
            let state = walks[walk].borrow_mut();
            let step = if paused(walk) { pause(state) } else { state.next(leg, now) };
            match step {
                Step::Fetch { id, attempt } => {
                    self.count(state.settings().rate());
                    return Turn::Fetch { walk, leg, id, attempt, before };
                }
                Step::Wait(until) => waits = Some(sooner(waits.flatten(), until)),
                Step::Ended(_) => {}
            }
            self.skip();
        }
        // Waiting uses up nobody's turn.
        self.cursor = before;
        waits.map_or(Turn::Ended, Turn::Wait)
    }

    /// Undoes the last [`Turn::Fetch`] that is not undone yet: neither walk nor turn has happened.
    pub fn undo<W: BorrowMut<Walk>>(&mut self, walks: &mut [W], turn: &Turn) {
        let Turn::Fetch { walk, id, before, .. } = turn else { return };
        if let Some(walk) = walks.get_mut(*walk) {
            walk.borrow_mut().give_back(*id);
            self.cursor = *before;
        }
    }

    fn leg_in_turn<W: BorrowMut<Walk>>(&mut self, walks: &[W]) -> Option<(usize, Leg)> {
        let legs = |walk: usize| walks.get(walk).map(|walk| walk.borrow().legs());
        if let Some(leg) = legs(self.cursor.walk).and_then(|legs| legs.get(self.cursor.leg)) {
            return Some((self.cursor.walk, *leg));
        }
        let next = if self.cursor.walk + 1 < walks.len() { self.cursor.walk + 1 } else { 0 };
        self.cursor = Cursor { walk: next, leg: 0, fetches: 0 };
        legs(next)?.first().map(|leg| (next, *leg))
    }

    fn count(&mut self, rate: u32) {
        self.cursor.fetches += 1;
        if self.cursor.fetches >= rate {
            self.skip();
        }
    }

    fn skip(&mut self) {
        self.cursor.leg += 1;
        self.cursor.fetches = 0;
    }
}

/// A paused walk waits, unless it has ended.
fn pause(walk: &Walk) -> Step {
    walk.ended().map_or(Step::Wait(None), Step::Ended)
}

fn sooner(one: Option<Time>, other: Option<Time>) -> Option<Time> {
    one.into_iter().chain(other).min()
}
