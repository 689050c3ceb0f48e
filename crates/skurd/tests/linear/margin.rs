//! Margins and re-attempts: the worked cases of the specification, whatever the parallelism.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::json;
use testkit::web::Answer;
use testkit::world::World;

use crate::walker::{Walker, existing, number};

/// `o o o x o o o x x o x o o x x x x x`, from 1 on.
const WORKED: &str = "oooxoooxxoxooxxxxx";

fn worked(id: u64) -> bool {
    id.checked_sub(1).and_then(|at| WORKED.as_bytes().get(usize::try_from(at).unwrap())) == Some(&b'o')
}

#[test]
fn l4_l9_margin_three_stops_after_sixteen_ids() {
    for parallel in ["1", "8"] {
        let world = existing(worked);
        let walked =
            world.walk(&["http://a.test/{id}", "--min", "1", "--margin", "3", "--parallel", parallel]);
        let walk = walked.only();
        assert_eq!(walked.fetches.len(), 16, "{parallel}");
        assert_eq!(walk["content"], json!([[1, 3], [5, 7], [10, 10], [12, 13]]));
        assert_eq!(walk["holes"], json!([[4, 4], [8, 9], [11, 11], [14, 16]]));
        assert_eq!(walk["remaining"], json!([[17, i64::MAX]]));
        assert_eq!(walk["stopped"], "margin");
        let mut asked: Vec<u64> = world.asked().iter().map(|url| number(url)).collect();
        asked.sort_unstable();
        assert_eq!(asked, (1..=16).collect::<Vec<u64>>());
    }
}

#[test]
fn l2_l4_the_other_way_it_stops_elsewhere_and_a_bound_is_hard() {
    let world = existing(worked);
    let walked = world.walk(&["http://a.test/{id}", "--max", "18", "--direction", "down", "--margin", "3"]);
    assert_eq!((walked.fetches.len(), &walked.only()["holes"]), (3, &json!([[16, 18]])));
    assert_eq!(walked.only()["remaining"], json!([[0, 15]]));

    let walked = world.walk(&["http://b.test/{id}", "--min", "1", "--max", "10", "--margin", "3"]);
    assert_eq!((walked.fetches.len(), &walked.only()["stopped"]), (10, &json!("bound")));
}

/// 503 at first, there the second or third time.
fn flaky(late: BTreeMap<u64, usize>) -> World {
    World::new(crate::SKURD, move |ask| {
        if ask.path == "/robots.txt" {
            return Answer::not_found();
        }
        let id = number(&ask.path);
        match late.get(&id).copied().unwrap_or(if id <= 20 { 0 } else { usize::MAX }) {
            after if ask.nth < after && id <= 20 => Answer::of(503, &[], "busy"),
            after if ask.nth < after => Answer::not_found(),
            _ => Answer::html("here"),
        }
    })
}

#[test]
fn l5_flaky_ids_are_tried_again_after_their_cool_down() {
    let late = BTreeMap::from([(3, 1), (7, 2), (8, 2), (15, 3)]);
    for parallel in ["1", "4"] {
        let world = flaky(late.clone());
        let walked = world.walk(&[
            "http://a.test/{id}",
            "--min",
            "1",
            "--max",
            "20",
            "--attempts",
            "3",
            "--cooldown",
            "300ms",
            "--parallel",
            parallel,
        ]);
        let walk = walked.only();
        assert_eq!(
            (&walk["holes"], &walk["counts"]["content"]),
            (&json!([[15, 15]]), &json!(19)),
            "{parallel}"
        );
        let attempts = |id: u64| -> Vec<(u64, String)> {
            let of_id = walked.fetches.iter().filter(|fetch| fetch["id"] == id);
            of_id
                .map(|fetch| {
                    (fetch["attempt"].as_u64().unwrap(), fetch["outcome"].as_str().unwrap().to_owned())
                })
                .collect()
        };
        let words = |words: &[&str]| -> Vec<(u64, String)> {
            (1..).zip(words).map(|(n, word)| (n, (*word).to_owned())).collect()
        };
        assert_eq!(attempts(3), words(&["failed", "exists"]));
        assert_eq!(attempts(7), words(&["failed", "failed", "exists"]));
        assert_eq!(attempts(15), words(&["failed", "failed", "failed"]));
        assert_eq!(attempts(1), words(&["exists"]));
        let seen: Vec<_> = world.web().seen().into_iter().filter(|seen| seen.ask.path == "/7").collect();
        for pair in seen.windows(2) {
            assert!(pair[1].begin - pair[0].begin >= Duration::from_millis(300));
        }
    }
}

#[test]
fn l6_a_late_success_lets_the_walk_go_on() {
    // It stands at its margin after 21 to 23; then 22 is there, and so is 25.
    let late = BTreeMap::from([(22, 1), (25, 0)]);
    let shared =
        ["http://a.test/{id}", "--min", "20", "--margin", "3", "--attempts", "2", "--cooldown", "100ms"];
    let world = flaky(late.clone());
    let walked = world.walk(&[&shared[..], &["--parallel", "4"]].concat());
    let walk = walked.only();
    assert_eq!(walk["content"], json!([[20, 20], [22, 22], [25, 25]]));
    assert_eq!(
        (&walk["holes"], &walk["stopped"]),
        (&json!([[21, 21], [23, 24], [26, 28]]), &json!("margin"))
    );

    let world = flaky(late);
    let walked = world.walk(&[&shared[..], &["--retry", "failed"]].concat());
    assert_eq!(
        (walked.fetches.len(), &walked.only()["content"]),
        (4, &json!([[20, 20]])),
        "a 404 is no failure"
    );
}
