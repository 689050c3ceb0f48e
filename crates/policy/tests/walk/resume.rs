//! L11: going on with a walk that was stopped, killed or finished.

use policy::time::Time;
use policy::walk::{Resume, Step, Walk, Why};

use crate::world::{Stored, Web, again, ranges, rows, run, settings, some, walk};

/// `1 2 3`, with the attempt where it is not the first: `4/2`.
fn spelled(fetched: &[(u64, u32)]) -> String {
    let one =
        |(id, attempt): &(u64, u32)| if *attempt == 1 { id.to_string() } else { format!("{id}/{attempt}") };
    fetched.iter().map(one).collect::<Vec<_>>().join(" ")
}

fn how(text: &str) -> Resume {
    serde_json::from_str(&format!("\"{text}\"")).unwrap()
}

#[test]
fn l11_the_picture_of_the_split() {
    let web = Web::new(1, "o o o x x o o x o o o o x o o x");
    let mut walk = walk("min 1 max 40");
    some(&mut walk, &web, 10);
    let split = again(&mut walk, settings("min 1 max 40"), Resume::Continue).split(99);
    assert_eq!(split.content, ranges("1-3 6-7 9-10"));
    assert_eq!(split.holes, ranges("4-5 8"));
    assert_eq!(split.remaining, ranges("11-40"));
}

#[test]
fn l11_the_three_strategies() {
    let first = "min 1 max 12 margin 3 attempts 2 cooldown 1000";
    // It ends at its margin, 1–8 fetched; later 4, 7 and 10 are there.
    let (before, later) = (Web::new(1, "o o o x o x x x x x x x"), Web::new(1, "o o o o o x 2 x x o x x"));
    let table = "
        how      | fetches                          | content    | holes     | remaining | why
        continue | 9 10 11 12 9/2 11/2 12/2         | 1-3 5 10   | 4 6-9 11-12 |         | Bound
        holes    | 4 6 7 8 6/2 7/2 8/2              | 1-5 7      | 6 8       | 9-12      | Margin
        both     | 4 6 7 8 9 10 11 12 6/2 7/2 8/2 9/2 11/2 12/2 | 1-5 7 10 | 6 8-9 11-12 | | Bound";
    for row in rows(table) {
        let mut walk = walk(first);
        assert_eq!(run(&mut walk, &before).1, Why::Margin);
        assert_eq!(walk.covered(), Some(1..=8));
        let mut walk = again(&mut walk, settings(first), how(row[0]));
        let (fetched, why) = run(&mut walk, &later);
        assert_eq!(spelled(&fetched), row[1], "{}", row[0]);
        let split = walk.split(99);
        let expected = (ranges(row[2]), ranges(row[3]), ranges(row[4]));
        assert_eq!((split.content, split.holes, split.remaining), expected, "{}", row[0]);
        assert_eq!(format!("{why:?}"), row[5]);
    }
}

#[test]
fn l11_an_interrupted_walk_is_as_if_it_had_not_been() {
    let web = Web::new(1, "o x o x x 2 x x x o o o");
    let first = "min 1 max 12 margin 3 attempts 2 cooldown 1000";
    let mut walk = walk(first);
    some(&mut walk, &web, 5);
    assert_eq!(walk.next(walk.legs()[0], Time(0)), Step::Fetch { id: 6, attempt: 1 });
    let mut walk = again(&mut walk, settings(first), Resume::Continue);
    assert_eq!(walk.heads()[0].misses, 3, "the same run, with 6 lost in it");
    let (fetched, why) = run(&mut walk, &web);
    assert_eq!(spelled(&fetched), "6 2/2 4/2 5/2 6/2 7 8 9 7/2 8/2 9/2");
    assert_eq!((walk.covered(), why), (Some(1..=9), Why::Margin));
}

#[test]
fn l11_holes_of_an_interrupted_walk_leave_the_heads_alone() {
    let web = Web::new(1, "o x o x");
    let first = "min 1 max 12 margin 3";
    let mut walk = walk(first);
    some(&mut walk, &web, 4);
    walk.next(walk.legs()[0], Time(0));
    let mut walk = again(&mut walk, settings(first), Resume::Holes);
    let (fetched, why) = run(&mut walk, &Web::new(1, "o o o x"));
    assert_eq!((spelled(&fetched).as_str(), why), ("2 4", Why::Interrupted));
    assert_eq!(walk.split(9).remaining, ranges("5-12"), "the lost one too");
    let mut walk = again(&mut walk, settings(first), Resume::Continue);
    assert_eq!(spelled(&run(&mut walk, &web).0), "5 6", "the run goes on, and the holes stay holes");
}

#[test]
fn l11_a_walk_that_ended_goes_on_with_wider_settings() {
    let web = Web::new(1, "o o x x o o o o x x x x o");
    let table = "
        first                  | then                               | how      | fetches      | why
        min 1 max 3            | min 1 max 3                        | continue |              | Bound
        min 1 max 3            | min 1 max 5                        | continue | 4 5          | Bound
        min 1 max 3            | min 1 max 5 attempts 4 cooldown 0  | continue | 4 4/2 4/3 4/4 5 | Bound
        min 1 max 3            | min 1 max 2                        | continue |              | Bound
        min 1 max 4            | min 1 max 3                        | holes    | 3            | Bound
        min 1 max 3 margin 2   | min 1 max 9 margin 2               | continue | 4            | Margin
        min 1 max 4 margin 2   | min 1 max 9 margin 2               | continue |              | Margin
        min 1 max 9 margin 2   | min 1 max 9 margin 2               | continue | 5 6 7 8 9    | Bound
        min 1 margin 2         | min 1 margin 4                     | continue | 5 6 7 8 9 10 11 12 | Margin
        min 1 margin 2         | min 1 margin 2                     | both     | 3 4 5 6 7 8 9 10 | Margin
        from 3 min 3 max 4     | from 3 min 1 max 4                 | continue | 2 1          | Bound
        from 3 max 4 dir up    | from 3 max 4                       | continue | 2 1 0        | Bound
        max 4 min 3 dir down   | max 4 min 1 dir down               | continue | 2 1          | Bound
        max 4 min 3 dir down   | from 5 min 3 max 6                 | continue | 5 6          | Bound";
    for row in rows(table) {
        let mut walk = walk(row[0]);
        run(&mut walk, &web);
        let mut walk = again(&mut walk, settings(row[1]), how(row[2]));
        let (fetched, why) = run(&mut walk, &web);
        assert_eq!((spelled(&fetched).as_str(), format!("{why:?}").as_str()), (row[3], row[4]), "{row:?}");
    }
}

#[test]
fn l11_template_step_and_start_stay_the_same() {
    let table = "
        first             | then                              | sentence
        min 1 max 9       | min 1 max 9 template http://b/{id} | template: this walk was begun with `https://a.test/{id}`; it takes the same, or another walk
        min 1 max 9       | min 1 max 9 step 2                | step: this walk was begun with 1; it takes the same, or another walk
        min 1 max 9       | min 2 max 9                       | from: this walk was begun with 1; it takes the same, or another walk
        min 1 max 9 step 2 | min 2 max 9 step 2               | from: this walk was begun with 1; it takes the same, or another walk
        max 9 dir down    | max 12 dir down                   | from: this walk was begun with 9; it takes the same, or another walk
        from 5 max 9      | from 6 max 9                      | from: this walk was begun with 5; it takes the same, or another walk";
    for row in rows(table) {
        let head = walk(row[0]).dirty().unwrap().head;
        for how in [Resume::Continue, Resume::Holes, Resume::Both] {
            let refusal = Walk::resume(settings(row[1]), head.clone(), [], how).unwrap_err();
            assert_eq!(refusal.to_string(), row[2]);
        }
    }
}

#[test]
fn l11_after_a_restart_no_cool_down_is_cut_short() {
    let first = "min 1 max 3 attempts 3 cooldown 1000";
    let mut walk = walk(first);
    let leg = walk.legs()[0];
    for (at, id) in [(0, 1), (500, 2), (900, 3)] {
        assert_eq!(walk.next(leg, Time(at)), Step::Fetch { id, attempt: 1 });
        walk.result(id, Web::default().answer(id, 1), Time(at));
    }
    let mut walk = again(&mut walk, settings(first), Resume::Continue);
    let Step::Wait(Some(until)) = walk.next(leg, Time(1000)) else { panic!("too early") };
    assert!((1900..1916).contains(&until.0), "{until:?}: counted from the last attempt near it");
    let again_at_once = again(&mut walk, settings(first), Resume::Holes).next(leg, Time(1000));
    assert_eq!(again_at_once, Step::Fetch { id: 1, attempt: 1 }, "fresh attempts begin at once");
}

#[test]
fn l11_a_pass_over_the_holes_that_was_killed_goes_on() {
    let first = "min 1 max 4 attempts 2 cooldown 1000";
    let (mut stored, mut walk) = (Stored::default(), walk(first));
    run(&mut walk, &Web::default());
    stored.write(&mut walk);
    let mut walk = stored.resume(settings(first), Resume::Holes);
    some(&mut walk, &Web::default(), 3);
    stored.write(&mut walk);
    let mut walk = stored.resume(settings(first), Resume::Holes);
    let (mut fetched, _) = run(&mut walk, &Web::default());
    fetched.sort_unstable_by_key(|(id, attempt)| (*attempt, *id));
    assert_eq!(spelled(&fetched), "4 1/2 2/2 3/2 4/2");
    stored.write(&mut walk);
    let (fetched, _) = run(&mut stored.resume(settings(first), Resume::Holes), &Web::default());
    assert_eq!(spelled(&fetched), "1 2 3 4 1/2 2/2 3/2 4/2", "a new one after it is over");
}

#[test]
fn l12_a_stored_walk_can_be_looked_at() {
    let mut walk = walk("min 1 max 9 margin 2");
    let leg = walk.legs()[0];
    some(&mut walk, &Web::new(1, "o o x"), 3);
    let changes = walk.dirty().unwrap();
    let mut seen = Walk::look(settings("min 1 max 9 margin 2"), changes.head, changes.stretches).unwrap();
    assert_eq!(seen.split(9), walk.split(9));
    assert_eq!(seen.next(leg, Time(0)), Step::Ended(Why::Interrupted));
    assert_eq!(seen.ended(), Some(Why::Interrupted));
    assert_eq!(seen.dirty(), None, "looking changes nothing");
}
