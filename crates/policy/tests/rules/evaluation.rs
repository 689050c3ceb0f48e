//! F9–F16: what stops a harvest, in which order, and what is said about it.

use policy::evaluate::{Evaluation, Plan, Verdict, evaluate};
use policy::model::{BlacklistEntry, BlacklistReason, LastFetch, Record, RobotsPolicy};
use policy::time::Span;

use crate::world::{day, extend, fetched_on, position, record, rows, span, url, world};

/// Daily and weekly together, `once` with a length, `dated` with a ttl, all with collection k.
const WORLD: &str = "
    collection k
    profile daily  k every=1d  within=host
    profile weekly k every=7d  within=domain
    profile once   k every=1d  length=1
    profile twice  k every=1d  length=2
    profile dated  k every=1d  ttl=5d
    profile older  k every=1d  ttl=9d
    seed vg http://vg.no/ daily,weekly
    seed p  http://p.no/  once
    seed q  http://q.no/  once,twice
    seed t  http://t.no/  dated
    seed u  http://u.no/  dated,older
    seed w  http://w.no/  dated,weekly";

fn show(evaluation: &Evaluation<'_>) -> String {
    let verdict = match &evaluation.verdict {
        Verdict::Harvest(plan) => format!("harvest {}", plan.profiles.join(",")),
        Verdict::Blacklist(entry) => format!("blacklist {}", entry.reason),
        Verdict::Remove => "remove".to_owned(),
        Verdict::Done => "done".to_owned(),
        Verdict::Postpone { until } => format!("until +{}", until.since(day(0))),
    };
    format!("{} {verdict}", evaluation.rule)
}

/// `last=-3 cycles=1 errors=2 linked=-9 d2 h1`: days count from day 0, which is now.
fn record_of(seed: &str, text: &str) -> Record {
    let mut made = record(seed);
    for word in text.split_whitespace() {
        match word.split_once('=') {
            Some(("last", n)) => made.last = fetched_on(seed, n.parse().unwrap()).last,
            Some(("cycles", n)) => made.cycles = n.parse().unwrap(),
            Some(("errors", n)) => made.errors = n.parse().unwrap(),
            Some(("linked", n)) => made.linked = day(n.parse().unwrap()),
            None => made.position = position(word),
            other => panic!("{other:?}"),
        }
    }
    made
}

#[test]
fn f9_to_f16_in_order() {
    let table = "
        rule | changed first                        | seed | url        | record              | verdict
        F9   | -seed vg                             | vg   | vg.no/a    |                     | F9 remove
        F9   | -seed vg; -collection k              | vg   | vg.no/a    |                     | F9 remove
        F10  | -collection k                        | vg   | vg.no/a    |                     | F10 remove
        F10  | -collection k; seed vg vg.no daily off | vg | vg.no/a    |                     | F10 remove
        F11  | seed vg vg.no daily off              | vg   | vg.no/a    |                     | F11 until +1h
        F11  | seed vg vg.no daily off              | vg   | cnn.com    | h1                  | F11 until +1h
        F11  | seed vg vg.no x off; collection k off | vg  | vg.no/a    |                     | F11 until +1h
        F12  | collection k off                     | vg   | vg.no/a    |                     | F12 until +1h
        F13  |                                      | vg   | cnn.com    | h1                  | F13 remove
        F13  | -profile daily; -profile weekly      | vg   | vg.no/a    |                     | F13 remove
        F13  | profile daily x; profile weekly x    | vg   | vg.no/a    |                     | F13 remove
        F13  | -profile daily                       | vg   | vg.no/a    |                     | F34 harvest weekly
        F14  | profile daily k off; profile weekly k off | vg | vg.no/a |                     | F14 until +1h
        F14  | profile weekly k off                 | vg   | tv.vg.no/a |                     | F14 until +1h
        F14  | profile weekly k every=7d off        | vg   | vg.no/a    |                     | F34 harvest daily
        F15  |                                      | vg   | vg.no/a    | last=-1             | F34 harvest daily,weekly
        F15  | profile daily k every=3d             | vg   | vg.no/a    | last=-1             | F15 until +2d
        F15  | profile daily k off                  | vg   | vg.no/a    | last=-1             | F15 until +6d
        F15  |                                      | vg   | tv.vg.no/a | last=-1             | F15 until +6d
        F15  | profile daily k every=3d             | vg   | vg.no/a    | last=-1 errors=1    | F34 harvest daily,weekly
        F15  | profile daily k every=3d             | vg   | vg.no/a    |                     | F34 harvest daily,weekly
        F16  |                                      | p    | p.no/a     | last=-1 cycles=1    | F16 done
        F16  |                                      | p    | p.no/a     | cycles=0            | F34 harvest once
        F16  |                                      | q    | q.no/a     | last=-1 cycles=1    | F34 harvest twice
        F16  |                                      | q    | q.no/a     | last=-1 cycles=2    | F16 done
        F16  | profile twice k length=2 off         | q    | q.no/a     | last=-1 cycles=1    | F14 until +1h
        F16  | profile twice k length=2 off         | q    | q.no/a     | last=-1 cycles=2    | F16 done
        F16  |                                      | t    | t.no/a     | linked=-5           | F34 harvest dated
        F16  |                                      | t    | t.no/a     | linked=-6           | F16 remove
        F16  |                                      | t    | t.no/      | linked=-6           | F34 harvest dated
        F16  |                                      | u    | u.no/a     | linked=-6           | F34 harvest dated,older
        F16  |                                      | u    | u.no/a     | linked=-10          | F16 remove
        F16  | profile older k ttl=9d off           | u    | u.no/a     | linked=-6           | F34 harvest dated
        F16  |                                      | w    | w.no/a     | linked=-99          | F34 harvest dated,weekly";
    for row in rows(table) {
        let mut catalog = world(WORLD);
        extend(&mut catalog, &row[1].replace(';', "\n"));
        let (target, record) = (url(row[3]), record_of(row[2], row[4]));
        let evaluation = evaluate(&catalog, "k", &target, &record, None, day(0));
        assert_eq!(show(&evaluation), row[5], "{row:?}");
    }
}

#[test]
fn f16_a_blacklisting_holds_until_its_end() {
    let catalog = world(WORLD);
    let (target, record) = (url("vg.no/a"), record("vg"));
    let table = "
        until | verdict
        -     | F16 remove
        1     | F16 remove
        0     | F34 harvest daily,weekly";
    for row in rows(table) {
        let until = row[0].parse().ok().map(day);
        let entry = BlacklistEntry { reason: BlacklistReason::Robots, since: day(-9), until };
        let evaluation = evaluate(&catalog, "k", &target, &record, Some(&entry), day(0));
        assert_eq!(show(&evaluation), row[1], "{row:?}");
    }
}

#[test]
fn f15_a_late_harvest_keeps_its_slot() {
    let catalog = world(WORLD);
    let target = url("vg.no/a");
    let due = day(-1);
    let late = Record { last: Some(LastFetch { at: due.plus(span("20h")), due }), ..record("vg") };
    let evaluation = evaluate(&catalog, "k", &target, &late, None, day(0));
    assert_eq!(show(&evaluation), "F34 harvest daily,weekly", "a day after the slot, not after the fetch");
}

#[test]
fn every_step_is_told() {
    let catalog = world(WORLD);
    let (target, record) = (url("tv.vg.no/a"), fetched_on("vg", -8));
    let evaluation = evaluate(&catalog, "k", &target, &record, None, day(0));
    let told: Vec<String> = evaluation.steps.iter().map(ToString::to_string).collect();
    let expected = [
        "F9: seed `vg` exists",
        "F10: collection `k` exists",
        "F11: seed `vg` is active",
        "F12: collection `k` is active",
        "F34: profile `daily` (active): out of scope: outside the seed's host",
        "F34: profile `weekly` (active): in scope: within the seed's domain",
        "F13: in scope of 1 of 2 profiles",
        "F14: one of them is active",
        "F15: by its schedule due at 2024-10-03T00:00:00Z",
        "F16: not blacklisted",
        "F16: does not expire by ttl",
        "F16: 0 cycle(s) in this run, more to come",
    ];
    assert_eq!(told, expected);

    let gone = evaluate(&catalog, "k2", &target, &record, None, day(0));
    assert_eq!(gone.steps.last().unwrap().to_string(), "F10: collection `k2` does not exist");
}

#[test]
fn a_harvest_serves_the_most_demanding_of_its_profiles() {
    let catalog = world(
        "collection k
         profile a k every=7d length=3 errors=2 not_found=9 blacklist=5d
         profile b k every=1d length=5 errors=7 not_found=1 robots=as:other
         profile c k every=9d robots=ignore off
         seed vg vg.no a,b,c",
    );
    let target = url("vg.no/x");
    let record = record("vg");
    let Verdict::Harvest(plan) = evaluate(&catalog, "k", &target, &record, None, day(0)).verdict else {
        panic!("not harvested");
    };
    let Plan { profiles, every, length, robots, limits, .. } = *plan;
    assert_eq!((profiles, every, length), (vec!["a".to_owned(), "b".to_owned()], Span::days(1), Some(5)));
    assert_eq!(robots, RobotsPolicy::ObeyAs("other".to_owned()));
    assert_eq!((limits.max_errors, limits.max_not_found), (7, 9));
    assert_eq!(limits.blacklist_for, Some(Span::days(5)), "for ever is less patient");
}
