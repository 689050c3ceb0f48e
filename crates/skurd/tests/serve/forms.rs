//! The command line and the API say the same, whether a server has the data directory or nobody
//! (I2, I4).

use serde_json::Value;
use testkit::world::{Served, json_lines};

use crate::site::world;

#[test]
fn i4_commands_and_api_say_the_same() {
    let world = world(7);
    let served = Served::start(&world);
    served.until("all is harvested", |served| {
        let queue = served.items("queue");
        queue.len() >= 3 * 8
            && queue.iter().all(|item| !item["last_fetch"].is_null() || item["state"] != "queued")
            && queue.iter().all(|item| item["state"] != "in-flight")
    });
    let body = serde_json::json!({ "url": "http://a.test/2", "reason": "to have one" });
    assert_eq!(served.post("blacklist", &body).status, 200);
    // So that nothing moves between two looks.
    let pause = served.post("pause", &serde_json::json!({ "what": "everything" }));
    assert_eq!(pause.status, 200);
    let table = [
        ("queue?limit=5", &["queue"][..]),
        ("queue?host=a.test&limit=3", &["queue", "--host", "a.test"]),
        ("queue?collection=law&state=queued", &["queue", "--collection", "law", "--state", "queued"]),
        ("hosts?limit=1", &["hosts"]),
        ("blacklist", &["blacklist"]),
        ("captures?limit=7", &["captures"]),
        ("captures?url=http://b.test/", &["captures", "http://b.test/"]),
        ("captures?collection=law&limit=2", &["captures", "--collection", "law"]),
        ("why?url=http://a.test/1", &["why", "http://a.test/1"]),
        ("reports/contract", &["report", "contract"]),
        ("reports/contract?by=domain&since=1d", &["report", "contract", "--by", "domain", "--since", "1d"]),
        ("reports/domains", &["report", "domains"]),
        ("reports/errors", &["report", "errors"]),
        ("reports/feasibility", &["report", "feasibility"]),
        ("collections", &["collection", "list"]),
        ("profiles", &["profile", "list"]),
        ("seeds?limit=1", &["seed", "list"]),
        ("host-groups", &["host-group", "list"]),
    ];
    let mut told = Vec::new();
    for (path, command) in table {
        let api = served.items(path);
        assert!(!api.is_empty() || path.starts_with("host-groups"), "{path}");
        let json = world.good(&[command, &["--json"]].concat());
        assert_eq!(json_lines(&json), api, "{path}");
        told.push((command, json, world.good(command)));
    }
    let first = &served.items("queue")[0];
    let fields: Vec<&str> = first.as_object().unwrap().keys().map(String::as_str).collect();
    let mut expected = vec![
        "collection",
        "url",
        "host",
        "seed",
        "depth",
        "hops",
        "due",
        "last_fetch",
        "errors",
        "not_found",
        "cycles",
        "state",
    ];
    expected.sort_unstable();
    assert_eq!(fields, expected);
    assert!(served.stop().success());
    for (command, json, text) in told {
        if command[0] == "why" {
            // How long ago things were goes on.
            continue;
        }
        assert_eq!(world.good(&[command, &["--json"]].concat()), json, "{command:?}");
        assert_eq!(world.good(command), text, "{command:?}");
    }
}

#[test]
fn i4_plots_are_those_of_the_commands() {
    let world = world(3);
    let served = Served::start(&world);
    served.until("something is harvested", |served| served.json("status")["figures"]["harvests"] != 0);
    for report in ["contract", "domains", "errors", "feasibility"] {
        let answer = served.get(&format!("/api/v1/reports/{report}?format=svg"));
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert_eq!(answer.header("content-type"), Some("image/svg+xml"));
        assert!(answer.text().starts_with("<svg"), "{:.60}", answer.text());
        world.good(&["report", report, "--plot", "out.svg"]);
        assert!(std::fs::read_to_string(world.dir.path().join("out.svg")).unwrap().starts_with("<svg"));
    }
}

#[test]
fn i4_a_config_is_checked_and_simulated() {
    let world = world(3);
    let served = Served::start(&world);
    let check = |text: &str| {
        let answer = served.request("POST", "/api/v1/config/check").body("application/yaml", text).send();
        assert_eq!(answer.status, 200);
        answer.json()
    };
    let good = check(crate::site::CONFIG);
    assert_eq!((&good["good"], &good["declares"]["seeds"]), (&Value::from(true), &Value::from(2)));
    let bad =
        check("collections: [{name: c, activ: yes}]\nprofiles: [{name: p, collection: d, every: 1d}]\n");
    assert_eq!(bad["good"], false);
    let lines: Vec<&Value> =
        bad["problems"].as_array().unwrap().iter().map(|problem| &problem["line"]).collect();
    assert_eq!(lines, [1, 2]);
    let body = |svg: bool| serde_json::json!({ "config": crate::site::CONFIG, "for": "14d", "urls": 50, "svg": svg });
    let answer = served.post("simulate", &body(false));
    assert_eq!(answer.status, 200, "{}", answer.text());
    let lines = json_lines(&answer.text());
    let end = lines.last().unwrap();
    assert_eq!(end["event"], "end");
    assert!(end["harvests"].as_u64().unwrap() > 50);
    // The very same as on the command line.
    let command = ["simulate", "c.yaml", "--for", "14d", "--urls", "50", "--json"];
    let summaries: Vec<Value> =
        json_lines(&world.good(&command)).into_iter().filter(|line| line["event"] != "harvest").collect();
    assert_eq!(lines, summaries);
    assert!(served.post("simulate", &body(true)).text().starts_with("<svg"));
}
