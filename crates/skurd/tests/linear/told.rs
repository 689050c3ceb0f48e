//! What is told: events to the letter, the map, `linear show` (L12).

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::walker::{Walker, existing};

fn keys(value: &Value) -> BTreeSet<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn l12_events_have_their_exact_forms() {
    let world = existing(|id| id != 3);
    let walked = world.walk(&["http://a.test/{id}", "--min", "1", "--max", "5", "--margin", "9"]);
    let fetch = &walked.fetches[2];
    let fields = [
        "event", "walk", "id", "attempt", "outcome", "url", "status", "error", "problem", "time", "bytes",
        "digest", "file", "offset",
    ];
    assert_eq!(keys(fetch), BTreeSet::from(fields));
    assert_eq!((&fetch["event"], &fetch["walk"]), (&json!("fetch"), &json!("http://a.test/{id}")));
    assert_eq!(
        (&fetch["id"], &fetch["attempt"], &fetch["outcome"]),
        (&json!(3), &json!(1), &json!("absent"))
    );
    assert_eq!((&fetch["url"], &fetch["status"]), (&json!("http://a.test/3"), &json!(404)));
    assert!(
        fetch["time"].as_str().unwrap().ends_with('Z')
            && fetch["digest"].as_str().unwrap().starts_with("sha1:")
    );
    let walk = walked.only();
    let fields = [
        "event",
        "walk",
        "content",
        "holes",
        "remaining",
        "stopped",
        "template",
        "step",
        "counts",
        "heads",
        "requests",
        "requests_per_second",
        "seconds_left",
    ];
    assert_eq!(keys(walk), BTreeSet::from(fields));
    assert_eq!((&walk["content"], &walk["holes"]), (&json!([[1, 2], [4, 5]]), &json!([[3, 3]])));
    assert_eq!(
        (&walk["remaining"], &walk["stopped"], &walk["requests"]),
        (&json!([]), &json!("bound"), &json!(5))
    );
    assert_eq!(walk["counts"], json!({ "content": 4, "holes": 1, "remaining": 0 }));
    assert_eq!(walk["heads"], json!([{ "leg": "up", "at": 5, "misses": 0, "stopped": "bound" }]));
}

#[test]
fn l12_the_map_shows_what_is_there_and_where_the_heads_stand() {
    let world = existing(|id| id != 6 && id < 12);
    let args =
        ["http://a.test/{id}", "--from", "8", "--min", "4", "--max", "30", "--margin", "3", "--delay", "0"];
    let told = world.linear(&args);
    assert_eq!(told.code, Some(0), "{}", told.err);
    let lines: Vec<&str> = told.out.lines().collect();
    assert!(lines[0].starts_with("http://a.test/{id}: 7 found, 4 missing, 16 to go"), "{}", told.out);
    assert!(lines[0].ends_with("stopped: margin"), "{}", told.out);
    assert_eq!(lines[1..3], ["  4 ooxoooooxxx···· 18", "    <         >"]);
    assert!(lines[3].starts_with("11 requests in ") && lines[3].contains("captures in "), "{}", told.out);

    let shown = world.good(&["linear", "show", "http://a.test/{id}"]);
    for line in [
        "  both ways from 8, ids 4 to 30, margin 3",
        "  4 ooxoooooxxx···· 18",
        "  7 found, 4 missing, 16 to go; margin",
        "  head up at 14, 3 ids in a row not known to exist; margin",
        "  head down at 4, 0 ids in a row not known to exist; bound",
        "  holes 6, 12–14",
    ] {
        assert!(shown.lines().any(|told| told == line), "{line}\n{shown}");
    }
    let stretches: Vec<&str> = shown.lines().skip_while(|line| !line.is_empty()).skip(1).collect();
    assert_eq!(stretches.len(), 16, "{shown}");
    assert_eq!(
        stretches[0].split_whitespace().collect::<Vec<_>>(),
        ["from", "to", "found", "missing", "unknown"]
    );

    let table = world.good(&["linear", "show"]);
    let row: Vec<&str> = table.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!(row[..5], ["http://a.test/{id}", "7", "4", "16", "11"]);
    assert_eq!(row.last(), Some(&"margin"));

    let json = world.json(&["linear", "show", "http://a.test/{id}"]);
    assert_eq!(json[0]["content"], json!([[4, 5], [7, 11]]));
    assert_eq!((&json[0]["map"], &json[0]["stopped"]), (&json!("4 ooxoooooxxx···· 18"), &json!("margin")));
    assert_eq!(json[0]["settings"]["margin"], 3);
}

#[test]
fn l12_a_bounded_walk_has_its_whole_map() {
    let world = existing(|id| id <= 300);
    let told = world.linear(&[
        "http://a.test/{id}",
        "--min",
        "1",
        "--max",
        "640",
        "--delay",
        "0",
        "--parallel",
        "8",
    ]);
    let map = format!("  1 {}{} 640", "o".repeat(30), "x".repeat(34));
    assert_eq!(told.out.lines().nth(1), Some(map.as_str()), "{}", told.out);
    assert!(!told.out.contains('\x1b') && !told.err.contains('\x1b'), "colours are for terminals");
}

#[test]
fn l12_show_says_what_there_is() {
    let world = existing(|_| true);
    world.write("c.yaml", "collections: [{name: c}]\n");
    world.good(&["config", "apply", "c.yaml"]);
    let none = world.skurd(&["linear", "show"]);
    assert_eq!((none.code, none.out.as_str()), (Some(0), ""));
    assert!(none.err.contains("there are no walks"), "{}", none.err);
    world.walk(&["http://a.test/{id}", "--min", "1", "--max", "2"]);
    let near = world.skurd(&["linear", "show", "http://a.test/{ix}"]);
    assert_eq!(near.code, Some(1));
    assert!(
        near.err.contains("there is no walk `http://a.test/{ix}`\nhint: did you mean `http://a.test/{id}`?"),
        "{}",
        near.err
    );
}
