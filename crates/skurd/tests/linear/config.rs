//! Walks of a config file.

use serde_json::{Value, json};
use testkit::web::Answer;
use testkit::world::World;

use crate::walker::{Walker, number};

const CONFIG: &str = "
settings: {politeness: {factor: 0, min: 0s, max: 0s, parallel: 1}}
collections: [{name: c}]
profiles:
  - {name: p, collection: c, every: 1d, length: 1, scope: {within: host}}
seeds:
  - {url: 'http://links.test/', name: links, profiles: [p]}
walks:
  - {template: 'http://z.test/{id}', name: first, profile: p, round: both, min: 1, max: 3}
  - {template: 'http://a.test/{id}', profile: p, round: both, min: 1, max: 6, rate: 2}
  - {template: 'http://links.test/n/{id}', name: followed, profile: p, seed: links, min: 1, margin: 2}
";

fn world() -> World {
    World::new(crate::SKURD, |ask| match (ask.host.as_str(), ask.path.as_str()) {
        (_, "/robots.txt") => Answer::not_found(),
        ("links.test", "/") => Answer::html("a page without links"),
        ("links.test", path) if path.starts_with("/n/") => match number(path) {
            id @ 1..=4 => Answer::html(format!("<a href='/linked/{id}'>more</a>")),
            _ => Answer::not_found(),
        },
        (_, path) => Answer::html(path),
    })
}

#[test]
fn l8_walks_of_a_config_are_walked_beside_its_seeds() {
    let world = world();
    world.write("c.yaml", CONFIG);
    let events = world.crawl_json(&["c.yaml", "--until-done"]);
    let of_walk = |name: &str| -> Vec<u64> {
        let of_walk = events.iter().filter(|event| event["walk"] == name);
        of_walk.map(|event| event["id"].as_u64().unwrap()).collect()
    };
    assert_eq!((of_walk("first"), of_walk("followed")), (vec![1, 2, 3], (1..=6).collect()));
    let summary = events.last().unwrap();
    assert_eq!((&summary["found"], &summary["missed"]), (&json!(13), &json!(2)));
    let turns: Vec<String> =
        world.asked().into_iter().filter(|url| url.starts_with("z.") || url.starts_with("a.")).collect();
    let expected = ["z1", "a1", "a2", "z2", "a3", "a4", "z3", "a5", "a6"];
    assert_eq!(
        turns,
        expected.map(|turn| format!("{}.test/{}", &turn[..1], &turn[1..])),
        "in the order of the file"
    );
    for id in 1..=4 {
        assert_eq!(
            world.web().times(&format!("http://links.test/linked/{id}")),
            1,
            "links of content are followed"
        );
    }
    let shown = world.json(&["linear", "show", "followed"]);
    assert_eq!((&shown[0]["content"], &shown[0]["stopped"]), (&json!([[1, 4]]), &json!("margin")));
    assert_eq!(world.captures().iter().find(|capture| capture["collection"] != "c"), None);
    world.check();

    let before = world.web().count();
    world.crawl_json(&["c.yaml", "--until-done"]);
    assert_eq!(world.asked().len(), before - robots(&world), "what has ended stays so");
    world.write("c.yaml", &CONFIG.replace("max: 3}", "max: 5}"));
    let events = world.crawl_json(&["c.yaml", "--until-done"]);
    let more: Vec<&Value> =
        events.iter().filter(|event| event["walk"] == "first").map(|event| &event["id"]).collect();
    assert_eq!(more, [&json!(4), &json!(5)], "a wider bound is walked");
}

fn robots(world: &World) -> usize {
    world.web().seen().iter().filter(|seen| seen.ask.path == "/robots.txt").count()
}

#[test]
fn l14_a_config_walk_that_cannot_go_on_is_refused_before_anything_changes() {
    let world = world();
    world.write("c.yaml", CONFIG);
    world.crawl_json(&["c.yaml", "--until-done"]);
    world.write("d.yaml", &CONFIG.replace("min: 1, max: 3}", "min: 2, max: 3}"));
    for args in [&["crawl", "d.yaml", "--allow-net", "127.0.0.0/8"][..], &["config", "apply", "d.yaml"]] {
        let told = world.skurd(args);
        assert_eq!(told.code, Some(1), "{}", told.err);
        assert!(told.err.contains("walk \"first\": from: this walk was begun with 1"), "{}", told.err);
    }
    world.crawl_json(&["c.yaml", "--until-done"]);
}

#[test]
fn i3_prune_deletes_walks() {
    let world = world();
    world.write("c.yaml", CONFIG);
    let count = |out: &str| {
        out.lines()
            .find(|line| line.starts_with("walk"))
            .unwrap()
            .split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(count(&world.good(&["config", "apply", "c.yaml"])), ["walk", "3", "0", "0", "0"]);
    assert_eq!(count(&world.good(&["config", "apply", "c.yaml"])), ["walk", "0", "0", "3", "0"]);
    let without: String =
        CONFIG.lines().filter(|line| !line.contains("followed")).map(|line| format!("{line}\n")).collect();
    world.write("c.yaml", &without);
    assert_eq!(count(&world.good(&["config", "apply", "c.yaml"])), ["walk", "0", "0", "2", "0"]);
    assert_eq!(count(&world.good(&["config", "apply", "c.yaml", "--prune"])), ["walk", "0", "0", "2", "1"]);
    assert_eq!(world.json(&["linear", "show"]).len(), 2);
}

#[test]
fn i3_the_example_is_good() {
    let world = world();
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/walks.yaml");
    let told = world.good(&["config", "check", example]);
    assert!(
        told.ends_with("is good: 2 collections, 2 profiles, 1 seed, 0 host groups, 0 hosts, 2 walks\n"),
        "{told}"
    );
}
