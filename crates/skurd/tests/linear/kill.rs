//! Killed and resumed (L10, L11): nothing is lost, nothing is doubled, in all three strategies.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;
use testkit::world::World;

use crate::walker::{Walked, Walker, ids, page};

const IDS: u64 = 1500;
const KILLS: usize = 4;
const ARGS: [&str; 7] = ["http://a.test/{id}", "--min", "1", "--delay", "0", "--parallel", "6"];

fn early(id: u64) -> bool {
    !id.is_multiple_of(3) && !(400..430).contains(&id)
}

/// What appears later.
fn late(id: u64) -> bool {
    early(id) || id.is_multiple_of(9)
}

fn world() -> (World, Arc<AtomicBool>) {
    let is_late = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&is_late);
    let exists = move |id| if flag.load(Ordering::Relaxed) { late(id) } else { early(id) };
    (World::new(crate::SKURD, move |ask| page(ask, &exists)), is_late)
}

/// Runs, kills it after some more requests, again and again, and lets the last run come to its end.
fn killed(world: &World, args: &[&str], requests: usize) -> Walked {
    for kill in 1..=KILLS {
        let run = world.start_linear(args);
        world.web().wait_for(world.web().count() + requests * kill / KILLS);
        run.kill();
    }
    Walked::of(&world.linear(&[args, &["--json"]].concat()))
}

/// How often each id was archived, by status.
fn archived(world: &World) -> BTreeMap<(u64, u64), usize> {
    let mut found = BTreeMap::new();
    for (id, capture) in world.archived() {
        *found.entry((id, capture["status"].as_u64().unwrap())).or_default() += 1;
    }
    found
}

fn expected(exists: impl Fn(u64) -> bool, of: impl Iterator<Item = u64>) -> BTreeMap<(u64, u64), usize> {
    of.map(|id| ((id, if exists(id) { 200 } else { 404 }), 1)).collect()
}

#[test]
fn l10_l11_killed_and_continued_is_the_same_as_never_stopped() {
    let (world, _) = world();
    let max = IDS.to_string();
    let walked = killed(&world, &[&ARGS[..], &["--max", &max]].concat(), 300);
    let walk = walked.only();
    let (content, holes): (BTreeSet<u64>, BTreeSet<u64>) = (1..=IDS).partition(|id| early(*id));
    assert_eq!((ids(&walk["content"]), ids(&walk["holes"])), (content, holes));
    assert_eq!((&walk["remaining"], &walk["stopped"]), (&json!([]), &json!("bound")));
    assert_eq!(archived(&world), expected(early, 1..=IDS));
    world.check();
    let again = world.walk(&[&ARGS[..3], &["--max", &max]].concat());
    assert_eq!(
        (again.fetches.len(), &again.only()["stopped"]),
        (0, &json!("bound")),
        "nothing is left to do"
    );
}

#[test]
fn l11_killed_and_resumed_at_its_holes() {
    let (world, is_late) = world();
    let max = IDS.to_string();
    let args = [&ARGS[..], &["--max", &max]].concat();
    assert_eq!(world.linear(&args).code, Some(0));
    is_late.store(true, Ordering::Relaxed);
    let walked = killed(&world, &[&args[..], &["--resume", "holes"]].concat(), 100);
    let walk = walked.only();
    let (content, holes): (BTreeSet<u64>, BTreeSet<u64>) = (1..=IDS).partition(|id| late(*id));
    assert_eq!((ids(&walk["content"]), ids(&walk["holes"])), (content, holes));
    let mut all = expected(early, 1..=IDS);
    for (key, times) in expected(late, (1..=IDS).filter(|id| !early(*id))) {
        *all.entry(key).or_default() += times;
    }
    assert_eq!(archived(&world), all, "every hole once more, and nothing else");
    world.check();
}

#[test]
fn l11_killed_and_resumed_at_both() {
    let (world, is_late) = world();
    let half = (IDS / 2).to_string();
    let max = IDS.to_string();
    assert_eq!(world.linear(&[&ARGS[..], &["--max", &half]].concat()).code, Some(0));
    is_late.store(true, Ordering::Relaxed);
    let args = [&ARGS[..], &["--max", &max, "--resume", "both"]].concat();
    let walked = killed(&world, &args, 200);
    let walk = walked.only();
    let (content, holes): (BTreeSet<u64>, BTreeSet<u64>) = (1..=IDS).partition(|id| late(*id));
    assert_eq!((ids(&walk["content"]), ids(&walk["holes"])), (content, holes));
    let mut all = expected(early, 1..=IDS / 2);
    let anew = (1..=IDS).filter(|id| *id > IDS / 2 || !early(*id));
    for (key, times) in expected(late, anew) {
        *all.entry(key).or_default() += times;
    }
    assert_eq!(archived(&world), all);
    world.check();
}

#[test]
fn l11_a_stopped_walk_is_split_and_each_strategy_takes_its_part() {
    let (world, is_late) = world();
    let slow = ["http://a.test/{id}", "--min", "1", "--max", "60", "--delay", "10ms"];
    let run = world.start_linear(&[&slow[..], &["--json"]].concat());
    world.web().wait_for(20);
    run.interrupt();
    let stopped = Walked::of(&run.end());
    let walk = stopped.only();
    assert_eq!(walk["stopped"], "interrupted");
    let [content, holes, remaining] = ["content", "holes", "remaining"].map(|field| ids(&walk[field]));
    assert_eq!(&(1..=60).collect::<BTreeSet<u64>>() - &remaining, &content | &holes);
    assert_eq!(remaining, (content.len() as u64 + holes.len() as u64 + 1..=60).collect());

    is_late.store(true, Ordering::Relaxed);
    let fetched = |args: &[&str]| -> (BTreeSet<u64>, serde_json::Value) {
        let walked = world.walk(&[&slow[..5], args].concat());
        let ids = walked.fetches.iter().map(|fetch| fetch["id"].as_u64().unwrap()).collect();
        (ids, walked.only()["stopped"].clone())
    };
    assert_eq!(fetched(&["--resume", "holes"]), (holes, json!("interrupted")));
    assert_eq!(fetched(&[]), (remaining, json!("bound")));
    assert_eq!(fetched(&[]), (BTreeSet::new(), json!("bound")));
    let left: BTreeSet<u64> = (1..=60).filter(|id| !late(*id)).collect();
    assert_eq!(fetched(&["--resume", "both"]), (left, json!("bound")));
}

#[test]
fn l11_continue_goes_beyond_the_margin_it_had_ended_at() {
    let (world, _) = world();
    let args = ["http://a.test/{id}", "--min", "395", "--margin", "10"];
    let first = world.walk(&args);
    assert_eq!(
        (&first.only()["stopped"], &first.only()["holes"]),
        (&json!("margin"), &json!([[396, 396], [399, 408]]))
    );
    let second = world.walk(&args);
    assert_eq!((second.fetches.len(), &second.only()["holes"]), (10, &json!([[396, 396], [399, 418]])));
    let new = world.walk(&["http://b.test/{id}", "--min", "1", "--max", "3", "--resume", "holes"]);
    assert_eq!((new.fetches.len(), &new.only()["remaining"]), (0, &json!([[1, 3]])), "it has no holes");
}

#[test]
fn l11_the_time_is_up() {
    let (world, _) = world();
    let walked = world.walk(&["http://a.test/{id}", "--min", "1", "--max", "900000000", "--for", "1s"]);
    assert_eq!(walked.only()["stopped"], "interrupted");
    assert_eq!(walked.fetches.len(), world.asked().len(), "what was under way came home");
    let held = walked.only()["counts"]["content"].as_u64().unwrap()
        + walked.only()["counts"]["holes"].as_u64().unwrap();
    assert_eq!(held, walked.fetches.len() as u64);
}
