//! Webs of ids drawn as text, and a walker that fetches one id after the other.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use policy::time::{Span, Time};
use policy::walk::{Draft, Leg, Outcome, Resume, Step, Turn, Turns, Walk, WalkSettings, Why};

/// The rows of a table below its header, split at `|`.
pub(crate) fn rows(table: &str) -> Vec<Vec<&str>> {
    let lines = table.lines().filter(|line| line.contains('|')).skip(1);
    lines.map(|line| line.split('|').map(str::trim).collect()).collect()
}

/// `min 1 max 9 from 3 dir up step 2 margin 3 attempts 2 cooldown 10 retry failed rate 2`; times in
/// milliseconds.
pub(crate) fn draft(text: &str) -> Draft {
    let mut draft = Draft { template: "https://a.test/{id}".into(), ..Draft::default() };
    let mut words = text.split_whitespace();
    while let Some(name) = words.next() {
        let value = words.next().unwrap();
        let json = format!("\"{value}\"");
        match name {
            "template" => draft.template = value.into(),
            "min" => draft.min = value.parse().ok(),
            "max" => draft.max = value.parse().ok(),
            "from" => draft.from = value.parse().ok(),
            "dir" => draft.direction = serde_json::from_str(&json).unwrap(),
            "step" => draft.step = value.parse().ok(),
            "margin" => draft.margin = value.parse().ok(),
            "attempts" => draft.attempts = value.parse().ok(),
            "cooldown" => draft.cooldown = value.parse().ok().map(Span),
            "retry" => draft.retry = serde_json::from_str(&json).unwrap(),
            "rate" => draft.rate = value.parse().ok(),
            other => panic!("{other}"),
        }
    }
    draft
}

pub(crate) fn settings(text: &str) -> WalkSettings {
    WalkSettings::new(draft(text)).unwrap()
}

pub(crate) fn walk(text: &str) -> Walk {
    Walk::new(settings(text))
}

/// What exists, and from which attempt on. `o` at once, `2` from the second attempt, `x` never; `f`
/// fails.
#[derive(Clone, Debug, Default)]
pub(crate) struct Web(BTreeMap<u64, char>);

impl Web {
    /// The first letter is the first id.
    pub(crate) fn new(first: u64, letters: &str) -> Web {
        let letters = letters.chars().filter(|letter| !letter.is_whitespace());
        Web((first..).zip(letters).collect())
    }

    pub(crate) fn answer(&self, id: u64, attempt: u32) -> Outcome {
        match self.0.get(&id).copied().unwrap_or('x') {
            'o' => Outcome::Exists,
            'f' => Outcome::Failed,
            digit if digit.to_digit(10).is_some_and(|from| attempt >= from) => Outcome::Exists,
            _ => Outcome::Absent,
        }
    }
}

/// Fetches one id after the other until all walks have ended; every fetch takes a millisecond.
pub(crate) fn run_all(walks: &mut [Walk], web: &Web) -> Vec<(usize, Leg, u64, u32)> {
    let mut turns = Turns::default();
    let mut now = Time(0);
    let mut fetched = Vec::new();
    for _ in 0..100_000 {
        match turns.next(walks, now, |_| false) {
            Turn::Fetch { walk, leg, id, attempt, .. } => {
                now = now.plus(Span(1));
                fetched.push((walk, leg, id, attempt));
                assert!(walks[walk].result(id, web.answer(id, attempt), now));
            }
            Turn::Wait(until) => now = now.max(until.expect("nothing is in flight")),
            Turn::Ended => return fetched,
        }
    }
    panic!("the walks do not end");
}

/// The ids of one walk in the order they were fetched, and why it ended.
pub(crate) fn run(walk: &mut Walk, web: &Web) -> (Vec<(u64, u32)>, Why) {
    let fetched = run_all(std::slice::from_mut(walk), web);
    (fetched.into_iter().map(|(_, _, id, attempt)| (id, attempt)).collect(), walk.ended().unwrap())
}

pub(crate) fn first_attempts(fetched: &[(u64, u32)]) -> Vec<u64> {
    fetched.iter().filter(|(_, attempt)| *attempt == 1).map(|(id, _)| *id).collect()
}

/// Fetches so many ids of the walk's first leg, without waiting.
pub(crate) fn some(walk: &mut Walk, web: &Web, count: usize) {
    let leg = walk.legs()[0];
    for _ in 0..count {
        let Step::Fetch { id, attempt } = walk.next(leg, Time(0)) else { panic!("it waits") };
        walk.result(id, web.answer(id, attempt), Time(0));
    }
}

/// What a store holds of a walk.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stored {
    head: Option<String>,
    stretches: BTreeMap<u64, String>,
}

impl Stored {
    pub(crate) fn write(&mut self, walk: &mut Walk) {
        let Some(changes) = walk.dirty() else { return };
        self.head = Some(serde_json::to_string(&changes.head).unwrap());
        for (number, row) in &changes.stretches {
            self.stretches.insert(*number, serde_json::to_string(row).unwrap());
        }
    }

    /// As it was stored, or new where nothing was.
    pub(crate) fn resume(&self, settings: WalkSettings, how: Resume) -> Walk {
        let Some(head) = &self.head else { return Walk::new(settings) };
        let head = serde_json::from_str(head).unwrap();
        let stretches =
            self.stretches.iter().map(|(number, row)| (*number, serde_json::from_str(row).unwrap()));
        Walk::resume(settings, head, stretches, how).unwrap()
    }
}

/// Stops the walk and goes on with other settings.
pub(crate) fn again(walk: &mut Walk, settings: WalkSettings, how: Resume) -> Walk {
    let mut stored = Stored::default();
    stored.write(walk);
    stored.resume(settings, how)
}

/// `1-3 5 7-9`.
pub(crate) fn ranges(text: &str) -> Vec<RangeInclusive<u64>> {
    let one = |word: &str| {
        let (from, to) = word.split_once('-').unwrap_or((word, word));
        from.parse().unwrap()..=to.parse().unwrap()
    };
    text.split_whitespace().map(one).collect()
}
