//! Configs and lists of seeds through the server that has the directory: they do and say the same
//! as without it (I1, I4).

use serde_json::{Value, json};
use testkit::world::{Served, World, json_lines};

use crate::site::{CONFIG, told, world};

const LARGE: usize = 16 << 20;

/// Two worlds in which the same is declared: a server has the first.
fn both() -> (World, Served, World) {
    let (with, without) = (world(3), world(3));
    let served = Served::start(&with);
    without.good(&["config", "apply", "c.yaml"]);
    (with, served, without)
}

fn post(served: &Served, query: &str, body: &[u8]) -> testkit::world::Response {
    served.request("POST", &format!("/api/v1/config{query}")).body("application/yaml", body).send()
}

#[test]
fn i4_config_apply_says_the_same_with_and_without_a_server() {
    let (with, served, without) = both();
    let other = CONFIG.replace("every: 7d", "every: 14d").replace("name: a, ", "");
    let walk = "walks: [{template: 'http://w.test/{id}', name: w, profile: daily, min: 1, max: 3}]\n";
    for world in [&with, &without] {
        world.write(
            "other.yaml",
            &format!("{other}hosts: [{{host: slow.test, politeness: {{min: 10s}}}}]\n{walk}"),
        );
        world.write(
            "bad.yaml",
            "collections: [{nam: x}]\nprofiles: [{name: p, collection: c, every: soon}]\n",
        );
        world.write("odd.yaml", "a: [\n");
    }
    let table: &[&[&str]] = &[
        &["config", "apply", "c.yaml"],
        &["config", "apply", "other.yaml"],
        &["config", "apply", "other.yaml", "--json"],
        &["config", "apply", "bad.yaml", "--prune"],
        &["config", "apply", "odd.yaml"],
        &["config", "apply", "none.yaml"],
        &["config", "apply", "c.yaml", "--prune", "--json"],
        &["config", "apply", "c.yaml", "--prune"],
    ];
    for command in table {
        assert_eq!(told(&with, command), told(&without, command), "{command:?}");
        for kind in ["collection", "profile", "seed", "host-group"] {
            let list = [kind, "list", "--json"];
            assert_eq!(told(&with, &list), told(&without, &list), "{command:?}");
        }
    }
    assert!(told(&with, table[0]).1.ends_with("everything was as c.yaml says\n"));
    assert_eq!(served.get("/api/v1/walks/w").status, 404, "pruned");
}

#[test]
fn i4_import_says_the_same_with_and_without_a_server() {
    let (with, served, without) = both();
    let many: String = (0..2345).map(|n| format!("http://s{n}.test/{}\n", "x".repeat(n % 700))).collect();
    for world in [&with, &without] {
        world.write("few.txt", "http://a.test/\nhttp://new.test/\nno url\n");
        world.write("many.txt", &many);
        world.write("none.txt", "# nothing\n");
    }
    let into = ["--data", "skurd-data", "--profile"];
    let table: &[(&str, &[&str])] = &[
        ("few.txt", &["daily"]),
        ("few.txt", &["weekly", "--profile", "daily", "--json"]),
        ("few.txt", &["dayly"]),
        ("many.txt", &["weekly"]),
        ("many.txt", &["weekly", "--json"]),
        ("none.txt", &["daily"]),
    ];
    for (file, profile) in table {
        let command = [&["import", "urls", file], &into[..], profile].concat();
        assert_eq!(told(&with, &command), told(&without, &command), "{command:?}");
        assert_eq!(with.json(&["seed", "list"]), without.json(&["seed", "list"]), "{command:?}");
    }
    assert_eq!(served.json("seeds/http%3A%2F%2Fnew.test%2F")["profiles"], json!(["daily", "weekly"]));
    let (.., err) = told(&with, &[&["import", "urls", "few.txt"], &into[..], &["dayly"]].concat());
    assert!(err.contains("there is no profile `dayly`\nhint: did you mean `daily`?"), "{err}");
}

#[test]
fn i4_a_wrong_config_is_told_as_by_config_check_and_changes_nothing() {
    let world = world(3);
    let served = Served::start(&world);
    let before = served.json("seeds");
    let many: String = (0..60).map(|n| format!("k{n}: 1\n")).collect();
    for (text, number) in [
        ("collections: [{nam: x}]\n\nprofiles: [{name: p, collection: c, every: soon}]\n", "the config has"),
        ("seeds:\n  - {url: 'gopher://x', profiles: [daily]}\n", "the config has 2 problems"),
        ("a: [\n", "the config has 1 problem"),
        (many.as_str(), "the config has 60 problems"),
    ] {
        world.write("bad.yaml", text);
        let answer = post(&served, "?prune=true", text.as_bytes());
        assert_eq!(answer.status, 422, "{}", answer.text());
        assert_eq!(answer.header("content-type"), Some("application/problem+json"));
        let problem = answer.json();
        assert!(problem["detail"].as_str().unwrap().starts_with(number), "{problem}");
        let checked = json_lines(&told(&world, &["config", "check", "bad.yaml", "--json"]).1);
        let expected: Vec<Value> = checked
            .iter()
            .map(|found| {
                let place = format!("line {}, column {}", found["line"], found["column"]);
                let detail = format!("{place}: {}", found["problem"].as_str().unwrap());
                json!({ "pointer": "", "detail": detail, "hint": found["hint"] })
            })
            .collect();
        assert!(!expected.is_empty());
        assert_eq!(problem["errors"], json!(expected));
        assert_eq!(served.json("seeds"), before, "nothing is changed");
    }
}

#[test]
fn i4_a_config_may_be_large_and_not_too_large() {
    let (with, served, without) = both();
    let padded = |bytes: usize| {
        let line = format!("# {}\n", "x".repeat(997));
        let comments = line.repeat(bytes / line.len() + 1);
        format!("{CONFIG}{}\n", comments[..bytes - CONFIG.len() - 1].trim_end())
    };
    let answer = post(&served, "", padded(3 << 20).as_bytes());
    assert_eq!((answer.status, &answer.json()["changed"]), (200, &json!(false)));
    let beyond = padded(LARGE + 4000);
    let answer = post(&served, "", beyond.as_bytes());
    assert_eq!((answer.status, &answer.json()["status"]), (413, &json!(413)), "{}", answer.text());
    assert!(answer.text().contains("larger than 16777216 bytes"), "{}", answer.text());
    let check = served.request("POST", "/api/v1/config/check").body("application/yaml", padded(2 << 20));
    assert_eq!(check.send().status, 413, "elsewhere bodies stay small");
    let wrong_kind = served.request("POST", "/api/v1/config").body("application/json", "{}").send();
    assert_eq!(wrong_kind.status, 415);
    assert_eq!(post(&served, "?prune=perhaps", b"").status, 400);
    for world in [&with, &without] {
        world.write("large.yaml", &beyond);
    }
    assert!(without.good(&["config", "apply", "large.yaml"]).contains("everything was as large.yaml says"));
    let (code, _, err) = told(&with, &["config", "apply", "large.yaml"]);
    assert_eq!(code, Some(1));
    assert!(err.contains("larger than 16777216 bytes") && err.contains("hint: "), "{err}");
}

#[test]
fn i4_many_seeds_are_read_strictly() {
    let world = world(3);
    let served = Served::start(&world);
    let before = served.json("seeds");
    for (body, status, words) in [
        (
            json!({ "profiles": ["daily"], "seeds": [{ "url": "gopher://a" }] }),
            422,
            "\"pointer\":\"/seeds/0/url\"",
        ),
        (json!({ "profiles": ["dayly"], "seeds": [] }), 422, "did you mean `daily`?"),
        (json!({ "profiles": [], "seeds": [{ "url": "http://x.test/" }] }), 422, "\"pointer\":\"/profiles\""),
        (json!({ "profiles": ["daily"] }), 422, "seeds"),
        (
            json!({ "profiles": ["daily"], "seeds": [{ "url": "http://x.test/", "activ": true }] }),
            422,
            "activ",
        ),
    ] {
        let answer = served.post("seeds", &body);
        assert_eq!(answer.status, status, "{body}: {}", answer.text());
        assert!(answer.text().contains(words), "{body}: {}", answer.text());
        assert_eq!(served.json("seeds"), before);
    }
}
