//! A walker so patient that it is plainly right: it tries each id until it knows, and only then
//! takes the next (L4, L6, L9).

use std::collections::BTreeSet;

use policy::walk::{Direction, WalkSettings};

/// Ids that a way without a bound is given at most; nothing exists so far out.
const FAR: u64 = 500;

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Walked {
    pub(crate) content: BTreeSet<u64>,
    pub(crate) holes: BTreeSet<u64>,
}

/// What a walk finds of these ids, if each is asked until it is known.
pub(crate) fn walk(settings: &WalkSettings, exists: &BTreeSet<u64>) -> Walked {
    let mut walked = Walked::default();
    for way in ways(settings) {
        let mut misses = 0;
        for id in way {
            if settings.margin().is_some_and(|margin| misses >= margin) {
                break;
            }
            if exists.contains(&id) {
                misses = 0;
                walked.content.insert(id);
            } else {
                misses += 1;
                walked.holes.insert(id);
            }
        }
    }
    walked
}

fn ways(settings: &WalkSettings) -> Vec<Vec<u64>> {
    let start = settings.start();
    let up = || (start..=settings.max().unwrap_or(start + FAR)).collect();
    let down = |from: u64| (settings.min()..=from).rev().collect();
    match settings.direction() {
        Direction::Up => vec![up()],
        Direction::Down => vec![down(start)],
        Direction::Both => vec![up(), down(start - 1)],
    }
}
