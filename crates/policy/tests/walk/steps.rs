//! L4–L7 and L9 step by step, with the pictures of the seed.

use policy::time::{Span, Time};
use policy::walk::{Leg, Outcome, Step, Walk, Why};

use crate::world::{Web, first_attempts, ranges, rows, run, some, walk};

fn fetch(walk: &mut Walk, leg: Leg, now: i64) -> Option<(u64, u32)> {
    match walk.next(leg, Time(now)) {
        Step::Fetch { id, attempt } => Some((id, attempt)),
        Step::Wait(_) | Step::Ended(_) => None,
    }
}

/// Everything the leg gives now.
fn all(walk: &mut Walk, leg: Leg, now: i64) -> Vec<u64> {
    std::iter::from_fn(|| fetch(walk, leg, now)).map(|(id, _)| id).collect()
}

#[test]
fn l4_the_picture_of_the_margin() {
    let web = Web::new(1, "o o o x o o o x x o x o o x x x x x");
    let mut walk = walk("min 1 max 20 margin 3");
    let (fetched, why) = run(&mut walk, &web);
    assert_eq!(fetched.len(), 16);
    assert_eq!(first_attempts(&fetched), (1..=16).collect::<Vec<_>>());
    assert_eq!(why, Why::Margin);
    assert_eq!(walk.split(99).content, ranges("1-3 5-7 10 12-13"));
    assert_eq!(walk.split(99).holes, ranges("4 8-9 11 14-16"));
    assert_eq!(walk.split(99).remaining, ranges("17-20"));
}

#[test]
fn l4_the_two_directions_differ() {
    let table = "
        settings                       | web from 1         | last id
        min 1 max 9 margin 2           | o o x o x x o o o  | 6
        min 1 max 9 margin 2 dir down  | o o x o x x o o o  | 5
        min 1 max 9 margin 1           | o o x o x x o o o  | 3
        min 1 max 9 margin 1 dir down  | o o x o x x o o o  | 6
        min 1 max 9 margin 3 dir down  | o o x o x x o o o  | 1
        min 1 max 9 margin 2           | x x o o o o o o o  | 2
        min 1 max 9 margin 2           | x o f x o o o o o  | 4";
    for row in rows(table) {
        let (fetched, _) = run(&mut walk(row[0]), &Web::new(1, row[1]));
        assert_eq!(fetched.last().unwrap().0.to_string(), row[2], "{row:?}");
    }
}

#[test]
fn l5_the_picture_of_the_attempts() {
    let web = Web::new(1, "o o o o 3 o o o o o 2 3 o o 2 o o x x x");
    for cooldown in [0, 3, 1000] {
        let mut walk = walk(&format!("min 1 margin 3 attempts 3 cooldown {cooldown}"));
        let (fetched, why) = run(&mut walk, &web);
        assert_eq!(first_attempts(&fetched), (1..=20).collect::<Vec<_>>());
        let of = |wanted: u32| {
            let mut ids: Vec<u64> =
                fetched.iter().filter(|(_, attempt)| *attempt == wanted).map(|(id, _)| *id).collect();
            ids.sort_unstable();
            ids
        };
        assert_eq!(of(2), [5, 11, 12, 15, 18, 19, 20]);
        assert_eq!(of(3), [5, 12, 18, 19, 20]);
        assert_eq!(fetched.len(), 20 + 7 + 5);
        assert_eq!(why, Why::Margin);
        assert_eq!((walk.split(9).content, walk.split(9).holes), (ranges("1-17"), ranges("18-20")));
    }
}

#[test]
fn l5_due_ones_go_first_and_those_with_most_attempts_before_others() {
    let mut walk = walk("min 1 max 100 attempts 3 cooldown 10");
    let miss = |walk: &mut Walk, id, at| assert!(walk.result(id, Outcome::Absent, Time(at)));
    assert_eq!(fetch(&mut walk, Leg::Up, 0), Some((1, 1)));
    miss(&mut walk, 1, 0);
    assert_eq!(fetch(&mut walk, Leg::Up, 9), Some((2, 1)), "not before the cool-down");
    assert_eq!(fetch(&mut walk, Leg::Up, 10), Some((1, 2)), "before a new id");
    miss(&mut walk, 1, 10);
    miss(&mut walk, 2, 10);
    assert_eq!(fetch(&mut walk, Leg::Up, 19), Some((3, 1)));
    assert_eq!(fetch(&mut walk, Leg::Up, 20), Some((1, 3)), "most attempts first");
    assert_eq!(fetch(&mut walk, Leg::Up, 20), Some((2, 2)));
    miss(&mut walk, 1, 21);
    assert_eq!(fetch(&mut walk, Leg::Up, 99), Some((4, 1)), "three attempts in all");
}

#[test]
fn l5_among_equals_the_first_along_the_way() {
    let web = Web::new(0, "xxxxx");
    for (direction, expected) in [("up", [0, 1, 2, 3, 4]), ("down", [4, 3, 2, 1, 0])] {
        let mut walk = walk(&format!("min 0 max 4 dir {direction} attempts 2 cooldown 1000"));
        let (fetched, _) = run(&mut walk, &web);
        assert_eq!(fetched[5..].iter().map(|(id, _)| *id).collect::<Vec<_>>(), expected);
    }
}

#[test]
fn l5_the_due_time_is_rounded_up_by_little() {
    let table = "
        cooldown | missed at | not yet | due
        0        | 7         | 6       | 7
        10       | 7         | 16      | 17
        6400     | 1         | 6401    | 6500
        86400000 | 1         | 86400001 | 86460000";
    for row in rows(table) {
        let n = |at: usize| row[at].parse::<i64>().unwrap();
        let mut walk = walk(&format!("min 1 max 1 attempts 2 cooldown {}", row[0]));
        assert_eq!(fetch(&mut walk, Leg::Up, 0), Some((1, 1)));
        walk.result(1, Outcome::Failed, Time(n(1)));
        assert_eq!(walk.next(Leg::Up, Time(n(2))), Step::Wait(Some(Time(n(3)))), "{row:?}");
        assert_eq!(fetch(&mut walk, Leg::Up, n(3)), Some((1, 2)), "{row:?}");
    }
}

#[test]
fn l5_retry_failed_leaves_the_absent_alone() {
    let web = Web::new(1, "x f o f x");
    let table = "
        retry  | fetches
        all    | 1 2 3 4 5 1 2 4 5
        failed | 1 2 3 4 5 2 4";
    for row in rows(table) {
        let mut walk = walk(&format!("min 1 max 5 attempts 2 cooldown 1000 retry {}", row[0]));
        let (fetched, _) = run(&mut walk, &web);
        let ids: Vec<String> = fetched.iter().map(|(id, _)| id.to_string()).collect();
        assert_eq!(ids.join(" "), row[1]);
    }
}

#[test]
fn l6_a_walk_at_its_margin_waits_and_goes_on_after_a_late_success() {
    let web = Web::new(1, "o x 2 x x o x x x");
    let mut walk = walk("min 1 margin 3 attempts 2 cooldown 1000");
    some(&mut walk, &web, 4);
    assert_eq!(walk.heads()[0].misses, 3);
    assert_eq!(walk.next(Leg::Up, Time(0)), Step::Wait(Some(Time(1005))), "in quanta of 15");
    assert_eq!(fetch(&mut walk, Leg::Up, 1005), Some((2, 2)));
    assert_eq!(fetch(&mut walk, Leg::Up, 1005), Some((3, 2)));
    assert_eq!(fetch(&mut walk, Leg::Up, 1005), Some((4, 2)));
    assert_eq!(walk.next(Leg::Up, Time(1005)), Step::Wait(None), "the answers decide");
    walk.result(3, Outcome::Exists, Time(1006));
    assert_eq!(walk.heads()[0].misses, 1, "what lies after 3");
    assert_eq!(all(&mut walk, Leg::Up, 1006), [5, 6]);
    walk.result(2, Outcome::Exists, Time(1007));
    assert_eq!(walk.heads()[0].misses, 3, "what is behind does not count");
    for id in 4..=6 {
        walk.result(id, web.answer(id, 9), Time(1008));
    }
    let (_, why) = run(&mut walk, &web);
    assert_eq!((walk.covered(), why), (Some(1..=9), Why::Margin));
}

#[test]
fn l7_each_leg_has_its_own_end() {
    let web = Web::new(40, "o x x o o o o o x o o x x o");
    let mut walk = walk("min 0 max 99 from 45 margin 2");
    let (fetched, why) = run(&mut walk, &web);
    assert_eq!(walk.covered(), Some(41..=52));
    assert_eq!(why, Why::Margin);
    let firsts: Vec<u64> = fetched.iter().map(|(id, _)| *id).take(4).collect();
    assert_eq!(firsts, [45, 44, 46, 43], "interleaved, the way up first");
    let heads: Vec<_> = walk.heads().iter().map(|head| (head.leg, head.at, head.misses)).collect();
    assert_eq!(heads, [(Leg::Up, Some(52), 2), (Leg::Down, Some(41), 2)]);
}

#[test]
fn l9_as_many_in_flight_as_are_fetched_in_any_case() {
    let mut walk = walk("min 1 max 100 margin 4");
    assert_eq!(all(&mut walk, Leg::Up, 0), [1, 2, 3, 4]);
    assert_eq!(walk.next(Leg::Up, Time(0)), Step::Wait(None));
    walk.result(4, Outcome::Absent, Time(1));
    assert_eq!(all(&mut walk, Leg::Up, 1), [0; 0], "a miss frees nothing");
    walk.result(2, Outcome::Exists, Time(1));
    assert_eq!(all(&mut walk, Leg::Up, 1), [5, 6], "3 in flight and 4 missed: two more");
    walk.result(1, Outcome::Exists, Time(1));
    assert_eq!(all(&mut walk, Leg::Up, 1), [0; 0], "behind the last that exists");
    walk.result(6, Outcome::Exists, Time(1));
    assert_eq!(all(&mut walk, Leg::Up, 1), [7, 8, 9, 10]);
    assert_eq!(walk.in_flight(), 6);
}

#[test]
fn l9_without_a_margin_up_to_the_bound() {
    let mut walk = walk("min 1 max 5");
    assert_eq!(all(&mut walk, Leg::Up, 0), [1, 2, 3, 4, 5]);
    assert_eq!(walk.next(Leg::Up, Time(0)), Step::Wait(None));
    (1..=5).for_each(|id| assert!(walk.result(id, Outcome::Exists, Time(1))));
    assert_eq!(walk.next(Leg::Up, Time(1)), Step::Ended(Why::Bound));
    assert_eq!(walk.next(Leg::Down, Time(1)), Step::Ended(Why::Bound), "there is no such leg");
}

#[test]
fn l9_an_id_given_back_is_issued_again_before_new_ones() {
    let mut walk = walk("min 1 max 9 margin 4");
    assert_eq!(all(&mut walk, Leg::Up, 0), [1, 2, 3, 4]);
    assert!(walk.give_back(2));
    assert!(!walk.give_back(2) && !walk.give_back(77), "only what is in flight");
    walk.result(1, Outcome::Exists, Time(0));
    assert_eq!(all(&mut walk, Leg::Up, 0), [2, 5], "a lost id counts as in flight");
    let before = walk.clone();
    assert!(fetch(&mut walk, Leg::Up, 0).is_none());
    walk.give_back(5);
    assert_eq!(all(&mut walk, Leg::Up, 0), [5]);
    assert_eq!(walk, before);
}

#[test]
fn l5_an_id_given_back_keeps_its_attempts() {
    let mut walk = walk("min 1 max 9 attempts 2 cooldown 10");
    let web = Web::default();
    some(&mut walk, &web, 1);
    assert_eq!(fetch(&mut walk, Leg::Up, 10), Some((1, 2)));
    assert!(walk.give_back(1));
    assert_eq!(fetch(&mut walk, Leg::Up, 10), Some((1, 2)));
}

#[test]
fn a_result_that_nobody_waits_for_changes_nothing() {
    let mut walk = walk("min 1 max 9 step 2");
    let before = walk.clone();
    for id in [0, 1, 2, 3, u64::MAX] {
        assert!(!walk.result(id, Outcome::Exists, Time(0)));
    }
    assert_eq!(walk, before);
    assert_eq!(fetch(&mut walk, Leg::Up, 0), Some((1, 1)));
    assert!(!walk.result(2, Outcome::Exists, Time(0).plus(Span(1))));
}
