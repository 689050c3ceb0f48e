//! Walks through the API: looked at, resumed, switched, paused (I4, L11, L12).

use std::time::Duration;

use serde_json::{Value, json};
use testkit::web::Answer;
use testkit::world::{Served, World};

use crate::site::told;

const CONFIG: &str = "
settings: {politeness: {factor: 0, min: 0s, max: 0s, parallel: 1}}
collections: [{name: c}]
profiles: [{name: p, collection: c, every: 1d}]
walks:
  - {template: 'http://a.test/{id}', profile: p, min: 1, max: 40}
  - {template: 'http://b.test/{id}', name: margin, profile: p, min: 1, margin: 3}
  - {template: 'http://c.test/{id}', name: off, profile: p, active: false, min: 1, max: 5}
";

/// `http://a.test/{id}` in a path.
const A: &str = "walks/http%3A%2F%2Fa.test%2F%7Bid%7D";

/// Multiples of three are missing when they are first asked for; on b.test all from 5 on are.
fn world() -> World {
    let world = World::new(crate::SKURD, |ask| {
        let id = ask.path[1..].parse::<u64>();
        match (ask.host.as_str(), id) {
            ("slow.test", Ok(_)) => Answer::html("at last").after(Duration::from_secs(30)),
            ("b.test", Ok(id)) if id >= 5 => Answer::not_found(),
            (_, Ok(id)) if id % 3 > 0 || ask.nth > 0 => Answer::html(format!("this is {id}")),
            _ => Answer::not_found(),
        }
    });
    world.write("c.yaml", CONFIG);
    world
}

fn served(world: &World) -> Served {
    let served = Served::start(world);
    for path in [A, "walks/margin"] {
        ended(&served, path);
    }
    served
}

fn ended(served: &Served, path: &str) -> Value {
    served.until("it has ended", |served| served.json(path)["state"] == "ended");
    served.json(path)
}

/// How often anything but robots.txt was asked of a host.
fn asked(world: &World, host: &str) -> usize {
    world.web().seen().iter().filter(|seen| seen.ask.host == host && seen.ask.path != "/robots.txt").count()
}

#[test]
fn l12_i4_walks_are_listed_with_where_they_stand() {
    let world = world();
    let served = served(&world);
    let walks = served.items("walks?limit=1");
    let of = |field: &str| walks.iter().map(|walk| walk[field].clone()).collect::<Vec<_>>();
    assert_eq!(of("name"), ["http://a.test/{id}", "margin", "off"]);
    assert_eq!(of("state"), ["ended", "ended", "not-begun"]);
    assert_eq!(of("stopped"), ["bound", "margin", "interrupted"]);
    assert_eq!(of("active"), [true, true, false]);
    assert_eq!(of("template"), ["http://a.test/{id}", "http://b.test/{id}", "http://c.test/{id}"]);
    assert_eq!(walks[0]["counts"], json!({ "content": 27, "holes": 13, "remaining": 0 }));
    assert_eq!(walks[1]["counts"], json!({ "content": 3, "holes": 4, "remaining": null }));
    let head = json!({ "leg": "up", "at": 7, "misses": 3, "stopped": "margin" });
    assert_eq!((&walks[1]["heads"], &walks[1]["requests"]), (&json!([head]), &json!(7)));
    assert_eq!((&walks[1]["settings"]["margin"], &walks[1]["profile"]), (&json!(3), &json!("p")));
    assert_eq!((&walks[1]["paused"], &walks[2]["last"]), (&json!([]), &Value::Null));
}

#[test]
fn l11_i4_ranges_and_cells_are_bounded_and_can_be_narrowed() {
    let world = world();
    let served = served(&world);
    let whole = served.json(A);
    assert_eq!(whole["holes"].as_array().unwrap().len(), 13);
    assert_eq!(whole["more"], json!({ "content": null, "holes": null, "remaining": null }));
    assert_eq!(whole["map"], format!("1 {}o 40", "oox".repeat(13)));
    assert_eq!(whole["stretches"].as_array().unwrap().len(), 16);
    for kind in ["content", "holes", "remaining"] {
        let (mut all, mut from) = (Vec::new(), json!(0));
        while !from.is_null() {
            let page = served.json(&format!("{A}?ranges=4&from={from}"));
            all.extend(page[kind].as_array().unwrap().clone());
            let left = whole[kind].as_array().unwrap().len() - all.len();
            assert_eq!(page["more"][kind]["ranges"].as_u64().unwrap_or(0), left as u64);
            from = page["more"][kind]["from"].clone();
        }
        assert_eq!(json!(all), whole[kind], "{kind}");
    }
    let narrow = served.json(&format!("{A}?from=11&to=18&cells=2"));
    assert_eq!(narrow["content"], json!([[11, 11], [13, 14], [16, 17]]));
    assert_eq!(narrow["holes"], json!([[12, 12], [15, 15], [18, 18]]));
    let cell = |from, to| json!({ "from": from, "to": to, "content": 3 - (from / 15), "holes": 1 + from / 15, "unknown": 0 });
    assert_eq!(narrow["stretches"], json!([cell(11, 14), cell(15, 18)]));
    let none = served.json(&format!("{A}?ranges=0&cells=0"));
    assert_eq!((&none["content"], &none["stretches"]), (&json!([]), &json!([])));
    assert_eq!(none["more"]["content"], json!({ "from": 1, "ranges": 14 }));
    let margin = served.json("walks/margin");
    assert_eq!(margin["remaining"], json!([[8, 9_223_372_036_854_775_807_u64]]), "no bound ends it");
}

#[test]
fn l12_i4_show_says_the_same_with_and_without_a_server() {
    let world = world();
    let served = served(&world);
    let commands: Vec<Vec<&str>> = vec![
        vec!["linear", "show"],
        vec!["linear", "show", "--json"],
        vec!["linear", "show", "http://a.test/{id}"],
        vec!["linear", "show", "http://a.test/{id}", "--json"],
        vec!["linear", "show", "margin"],
        vec!["linear", "show", "off"],
        vec!["linear", "show", "of"],
        vec!["linear", "show", "nothing like it"],
    ];
    let through: Vec<_> = commands.iter().map(|args| told(&world, args)).collect();
    let lines = testkit::world::json_lines(&through[1].1);
    assert_eq!(lines.len(), 3);
    let api = served.json(A);
    for (field, value) in lines[0].as_object().unwrap() {
        match field.as_str() {
            "event" => assert_eq!(value, "walk"),
            "walk" => assert_eq!(*value, api["name"]),
            field => assert_eq!(*value, api[field], "{field}"),
        }
    }
    assert!(through[6].2.contains("there is no walk `of`\nhint: did you mean `off`?"), "{}", through[6].2);
    assert!(served.stop().success());
    for (args, through) in commands.iter().zip(through) {
        assert_eq!(told(&world, args), through, "{args:?}");
    }
}

#[test]
fn l11_i4_a_walk_is_resumed_as_asked_and_no_other_is() {
    let world = world();
    let served = served(&world);
    let (a, b) = (asked(&world, "a.test"), asked(&world, "b.test"));
    assert_eq!((a, b), (40, 7));
    let resumed = served.post(&format!("{A}/resume"), &json!({ "strategy": "holes" }));
    assert_eq!((resumed.status, &resumed.json()["requests"]), (200, &json!(0)), "{}", resumed.text());
    served.until("the holes are filled", |served| served.json(A)["counts"]["holes"] == 0);
    assert_eq!(ended(&served, A)["content"], json!([[1, 40]]));
    assert_eq!(asked(&world, "a.test"), 40 + 13, "only the holes");
    assert_eq!(asked(&world, "b.test"), b);
    let resumed = served.post("walks/margin/resume", &json!({}));
    assert_eq!(resumed.status, 200, "{}", resumed.text());
    served.until("a new run of misses", |served| served.json("walks/margin")["heads"][0]["at"] == 10);
    assert_eq!(ended(&served, "walks/margin")["stopped"], "margin");
    let resumed = served.post("walks/margin/resume", &json!({ "strategy": "both" }));
    assert_eq!(resumed.status, 200, "{}", resumed.text());
    served.until("and another", |served| served.json("walks/margin")["heads"][0]["at"] == 13);
    ended(&served, "walks/margin");
    assert_eq!(asked(&world, "b.test"), 13 + 7, "the holes once more");
}

#[test]
fn l11_i4_a_walk_whose_ids_are_in_flight_is_not_resumed() {
    let world = world();
    let slow = "  - {template: 'http://slow.test/{id}', name: slow, profile: p, min: 1, max: 9}\n";
    world.write("c.yaml", &format!("{CONFIG}{slow}"));
    let served = Served::start(&world);
    served.until("it is asked for", |_| asked(&world, "slow.test") == 1);
    let answer = served.post("walks/slow/resume", &json!({ "strategy": "both" }));
    assert_eq!(answer.status, 409, "{}", answer.text());
    assert!(answer.text().contains("pause it first"), "{}", answer.text());
    assert_eq!(asked(&world, "slow.test"), 1);
}

#[test]
fn i4_walks_are_switched_and_paused() {
    let world = world();
    let served = served(&world);
    let target = json!({ "what": "walk", "name": "off" });
    assert_eq!(served.post("pause", &target).status, 200);
    for (verb, active) in [("enable", true), ("disable", false), ("enable", true)] {
        for changed in [true, false] {
            let answer = served.request("POST", &format!("/api/v1/walks/off/{verb}")).send();
            assert_eq!(answer.status, 200, "{}", answer.text());
            assert_eq!(answer.json(), json!({ "name": "off", "active": active, "changed": changed }));
        }
        assert_eq!(served.json("walks/off")["active"], active);
    }
    assert_eq!(served.json("walks/off")["paused"], json!(["walk"]));
    let resumed = served.post("walks/off/resume", &json!({}));
    assert_eq!(resumed.status, 200, "{}", resumed.text());
    let at = served.json("history?step=second").as_array().unwrap().len();
    served.until("seconds have passed", |served| {
        served.json("history?step=second").as_array().unwrap().len() > at + 2
    });
    assert_eq!(asked(&world, "c.test"), 0);
    assert_eq!(served.post("resume", &target).status, 200);
    assert_eq!(ended(&served, "walks/off")["counts"], json!({ "content": 4, "holes": 1, "remaining": 0 }));
    assert_eq!(served.json("walks/off")["paused"], json!([]));
}

#[test]
fn i4_what_is_wrong_with_a_question_about_walks_is_told() {
    let world = world();
    let served = served(&world);
    let json_kind = "application/json";
    let a = format!("/api/v1/{A}");
    #[rustfmt::skip]
    let table: &[(&str, &str, &str, u16, &str)] = &[
        ("GET", "/api/v1/walks?limit=0", "", 400, "from 1 to 1000"),
        ("GET", "/api/v1/walks?cursor=!!", "", 400, "cursor"),
        ("GET", "/api/v1/walks?profile=p", "", 400, "profile"),
        ("GET", "/api/v1/walks/of", "", 404, "did you mean `off`?"),
        ("GET", "/api/v1/walks/x?ranges=10001", "", 400, "up to 10000"),
        ("GET", "/api/v1/walks/off?cells=1001", "", 400, "up to 1000"),
        ("GET", "/api/v1/walks/off?cells=-1", "", 400, "cells"),
        ("GET", "/api/v1/walks/off?from=5&to=4", "", 400, "the lower id"),
        ("GET", "/api/v1/walks/off?from=18446744073709551616", "", 400, "from"),
        ("POST", "/api/v1/walks/x/resume", "{}", 404, "there is no walk `x`"),
        ("POST", "/api/v1/walks/off/resume", "{\"strategy\": \"all\"}", 422, "\"pointer\":\"/strategy\""),
        ("POST", "/api/v1/walks/off/resume", "{\"how\": \"both\"}", 422, "how"),
        ("POST", "/api/v1/walks/x/enable", "", 404, "there is no walk `x`"),
        ("POST", "/api/v1/walks/x/disable", "", 404, "there is no walk `x`"),
        ("POST", "/api/v1/pause", "{\"what\": \"walk\", \"name\": \"of\"}", 404, "did you mean `off`?"),
    ];
    for (method, path, body, status, words) in table {
        let mut request = served.request(method, path);
        if !body.is_empty() {
            request = request.body(json_kind, body.as_bytes());
        }
        let answer = request.send();
        assert_eq!(answer.status, *status, "{method} {path}: {}", answer.text());
        assert!(answer.text().contains(words), "{method} {path}: {}", answer.text());
    }
    // An id that no walk can have is no error, there is just nothing.
    let beyond = served.get(&format!("{a}?from=18446744073709551615"));
    assert_eq!((beyond.status, &beyond.json()["content"]), (200, &json!([])), "{}", beyond.text());
}
