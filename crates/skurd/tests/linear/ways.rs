//! Twenty thousand ids with gaps, up, down and both ways.

use std::collections::BTreeSet;

use serde_json::json;

use crate::walker::{Walker, existing, ids, number};

const IDS: u64 = 20_000;

/// Single gaps, a long one, and both ends.
fn exists(id: u64) -> bool {
    id % 7 != 3 && !(5000..5120).contains(&id) && id != 1 && id != IDS
}

fn walk_all(args: &[&str], head: &serde_json::Value) {
    let world = existing(exists);
    let shared = ["http://a.test/doc/{id}", "--max", "20000", "--min", "1", "--parallel", "16"];
    let walked = world.walk(&[&shared[..], args].concat());
    let walk = walked.only();
    let (content, holes): (BTreeSet<u64>, BTreeSet<u64>) = (1..=IDS).partition(|id| exists(*id));
    assert_eq!(ids(&walk["content"]), content);
    assert_eq!(ids(&walk["holes"]), holes);
    assert_eq!((&walk["remaining"], &walk["stopped"]), (&json!([]), &json!("bound")));
    assert_eq!(&walk["heads"], head);
    let asked: Vec<u64> = world.asked().iter().map(|path| number(path)).collect();
    assert_eq!(asked.len(), usize::try_from(IDS).unwrap(), "each once");
    assert_eq!(asked.into_iter().collect::<BTreeSet<u64>>().len(), usize::try_from(IDS).unwrap());
    let archived: BTreeSet<u64> =
        world.archived().iter().filter(|(_, capture)| capture["status"] == 200).map(|(id, _)| *id).collect();
    assert_eq!(archived, content, "what exists is archived, and what is archived exists");
}

#[test]
fn l1_twenty_thousand_ids_up() {
    walk_all(&[], &json!([{ "leg": "up", "at": IDS, "misses": 1, "stopped": "bound" }]));
}

#[test]
fn l1_twenty_thousand_ids_down() {
    walk_all(&["--direction", "down"], &json!([{ "leg": "down", "at": 1, "misses": 1, "stopped": "bound" }]));
}

#[test]
fn l7_twenty_thousand_ids_both_ways() {
    let heads = json!([
        { "leg": "up", "at": IDS, "misses": 1, "stopped": "bound" },
        { "leg": "down", "at": 1, "misses": 1, "stopped": "bound" },
    ]);
    walk_all(&["--from", "12345"], &heads);
}

#[test]
fn l1_bounds_are_inclusive_and_steps_are_kept() {
    let world = existing(|id| id != 20);
    let walked = world.walk(&["http://a.test/{id}", "--min", "10", "--max", "31", "--step", "5"]);
    assert_eq!(world.asked(), ["a.test/10", "a.test/15", "a.test/20", "a.test/25", "a.test/30"]);
    let walk = walked.only();
    assert_eq!((&walk["content"], &walk["holes"]), (&json!([[10, 15], [25, 30]]), &json!([[20, 20]])));
    assert_eq!((&walk["step"], &walk["counts"]["content"]), (&json!(5), &json!(4)));

    let world = existing(|_| true);
    let walked = world.walk(&["http://a.test/d/{id:04}", "--max", "3", "--direction", "down"]);
    assert_eq!(world.asked(), ["a.test/d/0003", "a.test/d/0002", "a.test/d/0001", "a.test/d/0000"]);
    assert_eq!(walked.only()["content"], json!([[0, 3]]));
}

#[test]
fn l1_ids_go_up_to_the_highest_there_is() {
    let world = existing(|_| true);
    let max = i64::MAX.to_string();
    let min = (i64::MAX - 2).to_string();
    let walked = world.walk(&["http://a.test/{id}", "--min", &min, "--max", &max]);
    assert_eq!(walked.only()["content"], json!([[i64::MAX - 2, i64::MAX]]));
    assert_eq!(world.asked().last(), Some(&format!("a.test/{max}")));
}
