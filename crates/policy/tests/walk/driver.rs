//! A crawler with everything that happens to one: many ids in flight, answers in any order and at
//! any time, leases lost, plans undone, kills between a result and its commit.

use std::collections::{BTreeMap, BTreeSet};

use policy::time::{Span, Time};
use policy::walk::{Leg, Outcome, Resume, Turn, Turns, Walk, WalkSettings};
use testkit::random::Random;

use crate::world::Stored;

/// How rough a run is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weather {
    pub(crate) parallel: usize,
    pub(crate) kills: u32,
    pub(crate) losses: bool,
    pub(crate) seed: u64,
}

pub(crate) struct Driver<'a> {
    settings: &'a WalkSettings,
    how: Resume,
    /// What the reference fetches in this run, and may be fetched.
    allowed: &'a BTreeMap<u64, u32>,
    answer: &'a dyn Fn(u64, u32) -> Outcome,
    weather: Weather,
    dice: Random,
    now: Time,
    walk: [Walk; 1],
    turns: Turns,
    flying: Vec<(u64, u32)>,
    stored: Stored,
    misses: Misses,
    /// Fetches of this run by id.
    pub(crate) fetches: BTreeMap<u64, u32>,
}

/// The last miss of every id, as committed and as known since: leg, attempts, time.
#[derive(Clone, Debug, Default)]
struct Misses {
    all: BTreeMap<u64, (Leg, u32, Time)>,
    committed: BTreeMap<u64, (Leg, u32, Time)>,
    /// Ids whose due time is the walk's own; after a restart it may be later.
    exact: BTreeSet<u64>,
}

impl<'a> Driver<'a> {
    pub(crate) fn new(
        settings: &'a WalkSettings,
        how: Resume,
        stored: Stored,
        allowed: &'a BTreeMap<u64, u32>,
        answer: &'a dyn Fn(u64, u32) -> Outcome,
        weather: Weather,
    ) -> Driver<'a> {
        let walk = [stored.resume(settings.clone(), how)];
        Driver {
            settings,
            how,
            allowed,
            answer,
            weather,
            dice: Random(weather.seed),
            now: Time(1_000_000),
            walk,
            turns: Turns::default(),
            flying: Vec::new(),
            stored,
            misses: Misses::default(),
            fetches: BTreeMap::new(),
        }
    }

    /// Until the walk has ended; the walk and what is stored of it.
    pub(crate) fn run(&mut self) -> (Walk, Stored) {
        for _ in 0..200_000 {
            let issue = self.flying.len() < self.weather.parallel && self.dice.chance(60);
            if issue && self.issue() {
                self.commit();
                return (self.walk[0].clone(), self.stored.clone());
            }
            self.happen();
        }
        panic!("the walk does not end: {:?}", self.walk[0].heads());
    }

    fn happen(&mut self) {
        match self.dice.below(100) {
            0..50 => self.land(),
            50..60 if self.weather.losses => self.lose(),
            60..75 => self.now = self.now.plus(Span(self.dice.below(40))),
            75..95 => self.commit(),
            95..97 => self.kill(),
            97.. => self.plan_and_undo(),
            _ => {}
        }
    }

    /// True when the walk has ended.
    fn issue(&mut self) -> bool {
        match self.turns.next(&mut self.walk, self.now, |_| false) {
            Turn::Fetch { leg, id, attempt, .. } => {
                self.check(leg, id, attempt);
                *self.fetches.entry(id).or_default() += 1;
                self.flying.push((id, attempt));
            }
            Turn::Wait(Some(until)) => {
                assert!(until > self.now, "it waits for what is due");
                if self.flying.is_empty() {
                    self.now = until;
                }
            }
            Turn::Wait(None) => assert!(!self.flying.is_empty(), "it waits for nothing"),
            Turn::Ended => {
                assert!(self.flying.is_empty(), "it ended with ids in flight");
                return true;
            }
        }
        false
    }

    fn check(&self, leg: Leg, id: u64, attempt: u32) {
        assert!(self.allowed.contains_key(&id), "L9: {id} is fetched, which a sequential walk would not");
        assert!(self.flying.iter().all(|(flying, _)| *flying != id), "{id} is in flight twice");
        assert!(attempt <= self.settings.attempts());
        let cooldown = self.settings.cooldown();
        if attempt > 1 {
            let (_, before, at) = self.misses.all[&id];
            assert_eq!(attempt, before + 1);
            assert!(self.now >= at.plus(cooldown), "L5: {id} is tried again too early");
        }
        let quantum = Span((cooldown.0 / 64).clamp(1, 60_000));
        for (other, (way, attempts, at)) in &self.misses.all {
            let waits = self.misses.exact.contains(other) && self.flying.iter().all(|(id, _)| id != other);
            let due = at.plus(cooldown).plus(quantum) <= self.now;
            if *way == leg && *other != id && waits && due {
                assert!(attempt > *attempts, "L5: {other} is due with {attempts} attempts, before {id}");
            }
        }
    }

    fn land(&mut self) {
        if self.flying.is_empty() {
            return;
        }
        let at = self.dice.place(self.flying.len());
        let (id, attempt) = self.flying.swap_remove(at);
        let outcome = (self.answer)(id, attempt);
        assert!(self.walk[0].result(id, outcome, self.now));
        assert!(!self.walk[0].result(id, outcome, self.now), "a result counts once");
        let again = outcome == Outcome::Failed
            || outcome == Outcome::Absent && self.settings.retry() == policy::walk::Retry::All;
        self.misses.exact.remove(&id);
        self.misses.all.remove(&id);
        if again && attempt < self.settings.attempts() {
            let down = id < self.settings.start() || self.walk[0].legs() == [Leg::Down];
            let leg = if down { Leg::Down } else { Leg::Up };
            self.misses.all.insert(id, (leg, attempt, self.now));
            self.misses.exact.insert(id);
        }
    }

    fn lose(&mut self) {
        if let Some((id, _)) = self.flying.pop() {
            assert!(self.walk[0].give_back(id));
            *self.fetches.get_mut(&id).unwrap() -= 1;
        }
    }

    fn commit(&mut self) {
        self.stored.write(&mut self.walk[0]);
        self.misses.committed = self.misses.all.clone();
    }

    fn kill(&mut self) {
        // Resuming a walk that has ended is another run.
        if self.weather.kills == 0 || self.walk[0].ended().is_some() {
            return;
        }
        self.weather.kills -= 1;
        self.walk = [self.stored.resume(self.settings.clone(), self.how)];
        self.turns = Turns::default();
        self.flying.clear();
        self.misses.all = self.misses.committed.clone();
        self.misses.exact.clear();
        if self.dice.chance(50) {
            self.commit();
        }
    }

    /// Takes several ids and gives them back, the last first: nothing has happened.
    fn plan_and_undo(&mut self) {
        let plan = |driver: &mut Driver<'_>| {
            let next = |driver: &mut Driver<'_>| driver.turns.next(&mut driver.walk, driver.now, |_| false);
            let turns: Vec<Turn> = (0..4).map(|_| next(driver)).collect();
            turns.iter().rev().for_each(|turn| driver.turns.undo(&mut driver.walk, turn));
            turns
        };
        let first = plan(self);
        let (walk, turns) = (self.walk.clone(), self.turns.clone());
        assert_eq!(plan(self), first, "an undone plan changes the next");
        assert_eq!((&self.walk, &self.turns), (&walk, &turns));
    }
}
