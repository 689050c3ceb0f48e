//! L8: who fetches next.

use policy::time::Time;
use policy::walk::{Leg, Outcome, Turn, Turns, Walk};

use crate::world::{Web, rows, run_all, walk};

/// The first walk's fetches as `A` (up) and `a` (down), the second's as `B` and `b`, and so on.
fn letters(fetched: &[(usize, Leg, u64, u32)]) -> String {
    let letter = |(walk, leg): (usize, Leg)| {
        let letter = b'a' + u8::try_from(walk).unwrap();
        char::from(if leg == Leg::Up { letter.to_ascii_uppercase() } else { letter })
    };
    let all: Vec<String> = fetched.iter().map(|(walk, leg, ..)| letter((*walk, *leg)).to_string()).collect();
    all.join(" ")
}

fn walks(list: &str) -> Vec<Walk> {
    list.split(';').map(walk).collect()
}

#[test]
fn l8_the_order_of_fetches() {
    let table = "
        walks                                                       | order
        min 1 max 3; max 6 min 1 dir down rate 2                    | A b b A b b A b b
        min 1 max 4 rate 1; min 1 max 9 rate 2                      | A B B A B B A B B A B B B
        min 1 max 4 from 3; min 1 max 4 from 3                      | A a B b A a B b
        min 1 max 6 from 4 rate 2; min 1 max 3                      | A A a a B A a B B
        min 1 max 2; min 1 max 5; min 1 max 3                       | A B C A B C B C B B
        min 1 max 9 margin 2; min 1 max 4                           | A B A B B B
        min 1 max 2 rate 5; min 1 max 2                             | A A B B";
    for row in rows(table) {
        let fetched = run_all(&mut walks(row[0]), &Web::default());
        assert_eq!(letters(&fetched), row[1], "{}", row[0]);
    }
}

#[test]
fn l8_a_walk_in_its_cool_down_is_skipped_at_once() {
    let fetched = run_all(&mut walks("min 1 margin 1 attempts 2 cooldown 3; min 1 max 6"), &Web::default());
    assert_eq!(letters(&fetched), "A B B B A B B B");
}

/// The ids of so many turns, none of which is answered.
fn take(turns: &mut Turns, walks: &mut [Walk], count: usize) -> Vec<Turn> {
    (0..count).map(|_| turns.next(walks, Time(0), |_| false)).collect()
}

fn place(turn: &Turn) -> Option<(usize, u64)> {
    match turn {
        Turn::Fetch { walk, id, .. } => Some((*walk, *id)),
        Turn::Wait(_) | Turn::Ended => None,
    }
}

#[test]
fn l8_a_leg_whose_window_is_full_is_skipped() {
    let mut walks = walks("min 1 margin 2; min 1 max 4");
    let taken = take(&mut Turns::default(), &mut walks, 7);
    let places: Vec<_> = taken.iter().map(place).collect();
    let fetches = [(0, 1), (1, 1), (0, 2), (1, 2), (1, 3), (1, 4)].map(Some);
    assert_eq!(places[..6], fetches);
    assert_eq!(taken[6], Turn::Wait(None));
}

#[test]
fn l8_waiting_uses_up_no_turn() {
    let mut walks = walks("min 1 margin 1 rate 2; min 1 margin 1");
    let mut turns = Turns::default();
    assert_eq!(place(&take(&mut turns, &mut walks, 1)[0]), Some((0, 1)));
    assert_eq!(place(&take(&mut turns, &mut walks, 1)[0]), Some((1, 1)), "the first waits for its answer");
    let before = turns.clone();
    assert_eq!(take(&mut turns, &mut walks, 3), [Turn::Wait(None); 3]);
    assert_eq!(turns, before);
}

#[test]
fn l8_what_is_undone_in_reverse_has_not_happened() {
    let mut walks = walks("min 1 max 9 from 4 margin 3 rate 2; min 1 max 2 rate 3; min 1 max 50");
    let mut turns = Turns::default();
    take(&mut turns, &mut walks, 4);
    walks[0].result(4, Outcome::Exists, Time(0));
    let (walks_before, turns_before) = (walks.clone(), turns.clone());
    let taken = take(&mut turns, &mut walks, 20);
    for keep in (0..20).rev() {
        turns.undo(&mut walks, &taken[keep]);
        let (mut walks_then, mut turns_then) = (walks_before.clone(), turns_before.clone());
        let expected = take(&mut turns_then, &mut walks_then, keep);
        assert_eq!(expected, taken[..keep]);
        assert_eq!((&walks, &turns), (&walks_then, &turns_then));
    }
}

#[test]
fn l8_a_paused_walk_is_skipped_until_it_goes_on() {
    let mut walks = walks("min 1 max 2; min 1 max 2");
    let mut turns = Turns::default();
    let mut next = |walks: &mut [Walk], paused: usize| {
        let turn = turns.next(walks, Time(0), |walk| walk == paused);
        if let Some((walk, id)) = place(&turn) {
            walks[walk].result(id, Outcome::Exists, Time(0));
        }
        turn
    };
    assert_eq!(place(&next(&mut walks, 0)), Some((1, 1)));
    assert_eq!(place(&next(&mut walks, 0)), Some((1, 2)));
    assert_eq!(next(&mut walks, 0), Turn::Wait(None), "the paused one has not ended");
    assert_eq!(place(&next(&mut walks, 9)), Some((0, 1)));
    assert_eq!(place(&next(&mut walks, 9)), Some((0, 2)));
    assert_eq!(next(&mut walks, 0), Turn::Ended, "a walk that has ended may be paused");
    assert_eq!(Turns::default().next::<Walk>(&mut [], Time(0), |_| false), Turn::Ended);
}

#[test]
fn l8_walks_may_come_and_go_between_turns() {
    let mut turns = Turns::default();
    let mut many = walks("min 1 max 9; min 1 max 9; min 1 max 9");
    take(&mut turns, &mut many, 2);
    many.truncate(1);
    assert_eq!(place(&take(&mut turns, &mut many, 1)[0]), Some((0, 2)));
}
