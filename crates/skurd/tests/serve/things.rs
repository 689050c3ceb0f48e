//! Declared things: what is put is there at once, and stale edits are refused (I4).

use serde_json::{Value, json};
use testkit::world::Served;

use crate::site::world;

#[test]
fn i4_things_come_and_go_and_stale_edits_are_refused() {
    let world = world(3);
    let served = Served::start(&world);
    let put = |path: &str, body: &Value, condition: Option<(&str, &str)>| {
        let request = served.request("PUT", &format!("/api/v1/{path}")).json(body);
        condition.map_or(request.clone(), |(name, value)| request.header(name, value)).send()
    };
    for (path, first, second) in [
        ("collections/c%2F1", json!({}), json!({"user_agent": "x/1"})),
        (
            "profiles/hourly",
            json!({"collection": "news", "every": "1h"}),
            json!({"collection": "law", "every": "2h"}),
        ),
        (
            "seeds/http%3A%2F%2Fc.test%2F",
            json!({"url": "http://c.test/", "profiles": ["daily"], "active": false}),
            json!({"url": "http://c.test/", "profiles": ["weekly"]}),
        ),
        ("host-groups/group:x", json!({"hosts": ["c.test"]}), json!({"hosts": ["c.test", "d.test"]})),
        ("settings", json!({"contact": "https://a.test/"}), json!({"contact": "https://b.test/"})),
    ] {
        let is_new = path != "settings";
        let added = put(path, &first, is_new.then_some(("If-None-Match", "*")));
        assert_eq!(added.status, if is_new { 201 } else { 200 }, "{path}: {}", added.text());
        let place = format!("/api/v1/{path}").replace(':', "%3A").replace('.', "%2E");
        assert_eq!(added.header("location"), is_new.then_some(place.as_str()));
        let tag = added.header("etag").unwrap().to_owned();
        let shown = served.get(&format!("/api/v1/{path}"));
        assert_eq!((shown.status, shown.header("etag")), (200, Some(tag.as_str())));
        assert_eq!(shown.json(), added.json());
        if is_new {
            assert_eq!(put(path, &first, Some(("If-None-Match", "*"))).status, 412, "{path}");
        }
        let again = put(path, &shown.json(), Some(("If-Match", &tag)));
        assert_eq!(
            (again.status, again.header("etag")),
            (200, Some(tag.as_str())),
            "what is shown can be put"
        );
        assert_eq!(put(path, &second, Some(("If-Match", &tag))).status, 200, "{path}");
        let stale = put(path, &first, Some(("If-Match", &tag)));
        assert_eq!(stale.status, 412, "{path}");
        assert!(stale.text().contains("is not what it was"), "{}", stale.text());
        assert_eq!(put(path, &second, None).status, 200, "who does not care need not say");
        if is_new {
            let delete = served.request("DELETE", &format!("/api/v1/{path}"));
            assert_eq!(delete.clone().header("If-Match", &tag).send().status, 412);
            let deleted = delete.send();
            assert_eq!(deleted.status, 200, "{}", deleted.text());
            assert_eq!(served.get(&format!("/api/v1/{path}")).status, 404);
        }
    }
}

#[test]
fn i4_lists_come_in_pages() {
    let world = world(3);
    let served = Served::start(&world);
    for number in 0..25 {
        let path = format!("/api/v1/collections/x{number:02}");
        assert_eq!(served.request("PUT", &path).json(&json!({})).send().status, 201);
    }
    let (mut names, mut cursor, mut pages) = (Vec::new(), String::new(), 0);
    loop {
        let page = served.json(&format!("collections?limit=10{cursor}"));
        names.extend(
            page["items"].as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap().to_owned()),
        );
        pages += 1;
        match page["next"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!((names.len(), pages), (27, 3));
    assert!(names.is_sorted());
}

#[test]
fn i4_a_switch_is_in_effect_at_once() {
    let world = world(3);
    let served = Served::start(&world);
    for path in ["seeds/a", "seeds/http%3A%2F%2Fa.test", "profiles/weekly", "collections/law"] {
        for (verb, active) in [("disable", false), ("enable", true)] {
            for changed in [true, false] {
                let answer = served.request("POST", &format!("/api/v1/{path}/{verb}")).send();
                assert_eq!(answer.status, 200, "{}", answer.text());
                assert_eq!(
                    (&answer.json()["active"], &answer.json()["changed"]),
                    (&json!(active), &json!(changed))
                );
            }
            assert_eq!(served.json(path)["active"], json!(active), "{path}");
        }
    }
}

#[test]
fn i4_a_part_of_a_thing_is_changed_and_the_rest_stays() {
    let world = world(3);
    let served = Served::start(&world);
    let patch = |path: &str, body: &Value, tag: Option<&str>| {
        let request = served.request("PATCH", &format!("/api/v1/{path}"));
        let request = tag.map_or(request.clone(), |tag| request.header("If-Match", tag));
        request.body("application/merge-patch+json", body.to_string()).send()
    };
    let whole = json!({ "collection": "news", "every": "1h", "length": 3, "scope": { "within": "host", "max_depth": 4 } });
    assert_eq!(served.request("PUT", "/api/v1/profiles/p").json(&whole).send().status, 201);
    let before = served.json("profiles/p");
    let changed = patch(
        "profiles/p",
        &json!({ "scope": { "max_depth": null, "schemes": ["https"] }, "every": "2h" }),
        None,
    );
    assert_eq!(changed.status, 200, "{}", changed.text());
    let mut expected = before;
    expected["every"] = json!("2h");
    expected["scope"]["max_depth"] = Value::Null;
    expected["scope"]["schemes"] = json!(["https"]);
    assert_eq!(served.json("profiles/p"), expected);
    let tag = changed.header("etag").unwrap();
    assert_eq!(patch("profiles/p", &json!({ "length": null }), Some(tag)).status, 200);
    assert_eq!(patch("profiles/p", &json!({ "length": 9 }), Some(tag)).status, 412);
    assert_eq!(served.json("profiles/p")["length"], Value::Null);
    let wrong = patch("profiles/p", &json!({ "every": "soon", "scope": { "within": "town" } }), None);
    assert_eq!(
        (wrong.status, wrong.json()["errors"].as_array().unwrap().len()),
        (422, 2),
        "{}",
        wrong.text()
    );
    assert_eq!(patch("profiles/none", &json!({}), None).status, 404);
    assert_eq!(patch("profiles/p", &json!([]), None).status, 422);
    // A seed is known by its URL, too.
    assert_eq!(patch("seeds/http%3A%2F%2Fa.test%2F", &json!({ "active": false }), None).status, 200);
    assert_eq!(served.json("seeds/a")["active"], false);
}
