//! A walk while it runs: what is issued next, and what a result changes.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::Leg;
use super::course::Course;
use super::existence::Outcome;
use super::ids::{Ids, State};
use super::owed::{Owed, due_after};
use super::settings::{Direction, Retry, WalkSettings};
use super::spans::Spans;
use crate::time::Time;

/// What a leg does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Fetch this id, for the n-th time; it is in flight from now on.
    Fetch {
        id: u64,
        attempt: u32,
    },
    /// Nothing before this time; without one, nothing before a result comes in.
    Wait(Option<Time>),
    Ended(Why),
}

/// In the order in which the legs' reasons are the walk's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Why {
    /// Every id within the bounds was tried.
    Bound,
    /// L4: the last ids at the head are not known to exist.
    Margin,
    /// Only holes were asked for, and a head stands where an earlier run was interrupted.
    Interrupted,
}

/// Which ids this run may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Task {
    /// None: the walk is only looked at.
    Look,
    /// Only what is owed.
    Holes,
    /// What is owed, what was lost, and new ids at the heads.
    Heads,
}

/// Why each leg's head came to its end; a leg that is not walked is at its bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Ends {
    pub(super) up: Why,
    pub(super) down: Why,
}

/// What a leg has to do apart from its head.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Todo {
    pub(super) owed: Owed,
    /// Positions behind the head that were issued and never answered.
    pub(super) lost: Spans,
    pub(super) in_flight: u64,
}

/// What an issued position was before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    New,
    Lost,
    /// A hole with so many attempts.
    Owed(u16),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Walk {
    pub(super) settings: WalkSettings,
    pub(super) course: Course,
    pub(super) ids: Ids,
    /// Positions from the lower head to the upper one: all that were ever issued.
    pub(super) covered: Range<u64>,
    /// Outside of these, up to the heads, nothing is known to exist: the runs of misses.
    pub(super) reached: Range<u64>,
    /// Positions whose holes are left alone in this run.
    pub(super) settled: Range<u64>,
    /// How often all holes were given fresh attempts.
    pub(super) pass: u32,
    /// Whether holes of this pass may still wait for their first attempt.
    pub(super) pass_open: bool,
    pub(super) ends: Option<Ends>,
    pub(super) task: Task,
    pub(super) up: Todo,
    pub(super) down: Todo,
    pub(super) in_flight: BTreeMap<u64, Origin>,
    pub(super) dirty: BTreeSet<u64>,
    pub(super) head_dirty: bool,
}

impl Walk {
    /// A walk that stands before its first id.
    pub fn new(settings: WalkSettings) -> Walk {
        let course = Course::new(&settings);
        let nothing = course.pivot..course.pivot;
        Walk {
            settings,
            ids: Ids::default(),
            covered: nothing.clone(),
            reached: nothing.clone(),
            settled: nothing,
            course,
            pass: 0,
            pass_open: false,
            ends: None,
            task: Task::Heads,
            up: Todo::default(),
            down: Todo::default(),
            in_flight: BTreeMap::new(),
            dirty: BTreeSet::new(),
            head_dirty: true,
        }
    }

    pub fn settings(&self) -> &WalkSettings {
        &self.settings
    }

    /// The legs in the order of their turns (L7, L8).
    pub fn legs(&self) -> &'static [Leg] {
        match self.settings.direction() {
            Direction::Up => &[Leg::Up],
            Direction::Down => &[Leg::Down],
            Direction::Both => &[Leg::Up, Leg::Down],
        }
    }

    /// Takes the leg's next id, if there is one now (L5): a hole that is due, a lost one, a new one
    /// at its head.
    pub fn next(&mut self, leg: Leg, now: Time) -> Step {
        if !self.legs().contains(&leg) {
            return Step::Ended(Why::Bound);
        }
        if let Some((position, origin)) = self.take(leg, now) {
            self.in_flight.insert(position, origin);
            self.todo(leg).in_flight += 1;
            return Step::Fetch { id: self.course.id(position), attempt: u32::from(origin.attempts()) + 1 };
        }
        let todo = self.todo_of(leg);
        match todo.owed.next_due() {
            Some(due) => Step::Wait(Some(due)),
            None if todo.in_flight > 0 => Step::Wait(None),
            None => {
                self.close();
                Step::Ended(self.why(leg))
            }
        }
    }

    /// Takes in what an attempt said. False, and nothing changes, for an id that is not in flight.
    pub fn result(&mut self, id: u64, outcome: Outcome, now: Time) -> bool {
        let Some((position, origin)) = self.land(id) else { return false };
        let attempts = origin.attempts().saturating_add(1);
        let state = match outcome {
            Outcome::Exists => State::Content,
            Outcome::Absent => State::Absent(attempts),
            Outcome::Failed => State::Failed(attempts),
        };
        let stretch = self.ids.set(position, state, now);
        self.dirty.insert(stretch);
        self.head_dirty = true;
        if state == State::Content {
            self.reach(position);
        } else if self.owes(state) {
            let due = due_after(now, self.settings.cooldown());
            let leg = self.course.leg_of(position);
            self.todo(leg).owed.wait(due, attempts, position..position + 1);
        }
        true
    }

    /// How many ids are in flight.
    pub fn in_flight(&self) -> usize {
        self.in_flight.len()
    }

    /// Why the walk as a whole has ended; none while a leg has something to do. One margin is
    /// enough.
    pub fn ended(&self) -> Option<Why> {
        if self.legs().iter().any(|leg| !self.is_idle(*leg)) {
            return None;
        }
        self.legs().iter().map(|leg| self.why(*leg)).max()
    }

    fn take(&mut self, leg: Leg, now: Time) -> Option<(u64, Origin)> {
        let todo = self.todo(leg);
        if let Some((position, attempts)) = todo.owed.take(leg, now) {
            return Some((position, Origin::Owed(attempts)));
        }
        if let Some(position) = todo.lost.take_first(leg) {
            return Some((position, Origin::Lost));
        }
        self.may_go_on(leg).then(|| (self.go_on(leg), Origin::New))
    }

    /// The landed position and what it was before it was issued.
    pub(super) fn land(&mut self, id: u64) -> Option<(u64, Origin)> {
        let position = self.course.position(id)?;
        let origin = self.in_flight.remove(&position)?;
        let leg = self.course.leg_of(position);
        self.todo(leg).in_flight -= 1;
        Some((position, origin))
    }

    /// Whether an id of this state is to be tried again. A hole of a fresh pass is, whatever it
    /// was.
    pub(super) fn owes(&self, state: State) -> bool {
        let more = |attempts: u16| u32::from(attempts) < self.settings.attempts();
        match state {
            State::Unknown | State::Content => false,
            State::Absent(attempts) => attempts == 0 || self.settings.retry() == Retry::All && more(attempts),
            State::Failed(attempts) => more(attempts),
        }
    }

    pub(super) fn is_idle(&self, leg: Leg) -> bool {
        let todo = self.todo_of(leg);
        todo.in_flight == 0 && todo.owed.is_empty() && todo.lost.is_empty() && !self.may_go_on(leg)
    }

    /// Writes down that all legs have ended, once they have.
    fn close(&mut self) {
        if self.task == Task::Look || self.ended().is_none() {
            return;
        }
        let ends = match self.task {
            Task::Heads => Some(Ends { up: self.why(Leg::Up), down: self.why(Leg::Down) }),
            Task::Holes | Task::Look => self.ends,
        };
        self.head_dirty |= self.ends != ends || self.pass_open;
        self.ends = ends;
        self.pass_open = false;
    }

    pub(super) fn why(&self, leg: Leg) -> Why {
        match (self.task, self.ends) {
            _ if !self.legs().contains(&leg) => Why::Bound,
            (Task::Heads, _) if self.at_bound(leg) => Why::Bound,
            (Task::Heads, _) => Why::Margin,
            (_, Some(ends)) if leg == Leg::Up => ends.up,
            (_, Some(ends)) => ends.down,
            (_, None) => Why::Interrupted,
        }
    }

    /// F40: what waits for its cool-down waits no longer than one from now on, whatever the clock
    /// showed when it was last tried.
    pub fn clock_went_back(&mut self, now: Time) {
        let latest = due_after(now, self.settings.cooldown());
        for leg in [Leg::Up, Leg::Down] {
            self.todo(leg).owed.wait_no_longer_than(latest);
        }
    }

    pub(super) fn todo(&mut self, leg: Leg) -> &mut Todo {
        match leg {
            Leg::Up => &mut self.up,
            Leg::Down => &mut self.down,
        }
    }

    pub(super) fn todo_of(&self, leg: Leg) -> &Todo {
        match leg {
            Leg::Up => &self.up,
            Leg::Down => &self.down,
        }
    }
}

impl Origin {
    fn attempts(self) -> u16 {
        match self {
            Origin::New | Origin::Lost => 0,
            Origin::Owed(attempts) => attempts,
        }
    }
}
