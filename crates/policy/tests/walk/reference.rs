//! A walker so patient that it is plainly right: it tries each id until it knows, and only then
//! takes the next.
//!
//! It fetches what a strictly sequential walk fetches: an id's last word does not depend on when it
//! is asked.

use std::collections::{BTreeMap, BTreeSet};

use policy::walk::{Direction, Outcome, Resume, Retry, WalkSettings, Why};

/// Ids that a leg without a bound is given at most; nothing exists so far out.
const FAR: u64 = 500;

#[derive(Clone, Debug, Default)]
pub(crate) struct Way {
    /// All ids it may come to, in order.
    ids: Vec<u64>,
    visited: usize,
    /// Where the present run of misses may begin at the earliest.
    run_from: usize,
    end: Option<Why>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Reference {
    pub(crate) ways: Vec<Way>,
    pub(crate) content: BTreeSet<u64>,
    pub(crate) holes: BTreeSet<u64>,
    /// How often each id is fetched in the present run.
    pub(crate) fetches: BTreeMap<u64, u32>,
}

type Answer<'a> = &'a dyn Fn(u64, u32) -> Outcome;

impl Reference {
    pub(crate) fn run(&mut self, settings: &WalkSettings, how: Resume, answer: Answer<'_>) {
        self.fetches.clear();
        let mut ways: Vec<Way> =
            ways(settings).into_iter().map(|ids| Way { ids, ..Way::default() }).collect();
        for (way, before) in ways.iter_mut().zip(&self.ways) {
            *way = Way { ids: std::mem::take(&mut way.ids), ..before.clone() };
        }
        if how != Resume::Continue {
            for id in std::mem::take(&mut self.holes) {
                self.visit(id, settings, answer);
            }
        }
        if how != Resume::Holes {
            ways.iter_mut().for_each(|way| self.go_on(way, settings, answer));
        }
        self.ways = ways;
    }

    pub(crate) fn ended(&self) -> Why {
        self.ways.iter().map(|way| way.end.unwrap_or(Why::Interrupted)).max().unwrap()
    }

    pub(crate) fn remaining(&self) -> BTreeSet<u64> {
        self.ways.iter().flat_map(|way| &way.ids[way.visited..]).copied().collect()
    }

    fn go_on(&mut self, way: &mut Way, settings: &WalkSettings, answer: Answer<'_>) {
        if way.end == Some(Why::Margin) {
            way.run_from = way.visited;
        }
        while way.visited < way.ids.len() {
            if settings.margin().is_some_and(|margin| self.misses(way) >= margin) {
                way.end = Some(Why::Margin);
                return;
            }
            self.visit(way.ids[way.visited], settings, answer);
            way.visited += 1;
        }
        way.end = Some(Why::Bound);
    }

    fn misses(&self, way: &Way) -> u32 {
        let run = way.ids[way.run_from..way.visited].iter().rev();
        run.take_while(|id| !self.content.contains(id)).count().try_into().unwrap()
    }

    fn visit(&mut self, id: u64, settings: &WalkSettings, answer: Answer<'_>) {
        for attempt in 1..=settings.attempts() {
            *self.fetches.entry(id).or_default() += 1;
            match answer(id, attempt) {
                Outcome::Exists => {
                    self.content.insert(id);
                    return;
                }
                Outcome::Absent if settings.retry() == Retry::Failed => break,
                Outcome::Absent | Outcome::Failed => {}
            }
        }
        self.holes.insert(id);
    }
}

/// The ids of the way up and of the way down, as far as there are such ways.
fn ways(settings: &WalkSettings) -> Vec<Vec<u64>> {
    let (start, step) = (settings.start(), settings.step());
    let max = settings.max().unwrap_or(start + FAR * step);
    let up = || (start..=max).step_by(usize::try_from(step).unwrap()).collect();
    let down = || {
        let below = std::iter::successors(Some(start), |id| id.checked_sub(step));
        below.take_while(|id| *id >= settings.min()).collect::<Vec<u64>>()
    };
    match settings.direction() {
        Direction::Up => vec![up()],
        Direction::Down => vec![down()],
        Direction::Both => vec![up(), down().split_off(1)],
    }
}
