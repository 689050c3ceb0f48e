//! Budgets (F36) and patterns on the blacklist (F39) from the command line.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use policy::time::{Span, Time};
use serde_json::{Value, json};
use testkit::web::Answer;
use testkit::world::{World, now, page};

const SKURD: &str = env!("CARGO_BIN_EXE_skurd");

const CONFIG: &str = "
settings: {politeness: {min: 0s, max: 0s}}
collections: [{name: news}]
profiles: [{name: daily, collection: news, every: 1d}]
seeds: [{url: 'https://vg.no/', name: vg, profiles: [daily], budget: {max_harvests: 2, max_urls: 4}}]
";

const LINKS: [&str; 4] = ["https://vg.no/a/1", "https://vg.no/a/2", "https://vg.no/b/3", "https://vg.no/b/4"];

/// Everything that is given out by then is harvested, each page with these links; says what it was.
fn harvest(world: &World, at: Time) -> Vec<String> {
    let mut seen = Vec::new();
    world.work(at, async |frontier, _| {
        while let Some(order) = frontier.reserve(1).await.unwrap().orders.pop() {
            frontier.complete(&order, &page(at, 200, &LINKS), &[]).await.unwrap();
            seen.push(order.url.as_str().to_owned());
        }
    });
    seen
}

fn verdict(world: &World, url: &str) -> (String, String) {
    let why = &world.json(&["why", url])[0]["verdict"];
    (why["rule"].as_str().unwrap().to_owned(), why["text"].as_str().unwrap().to_owned())
}

#[test]
fn f36_what_a_budget_keeps_back_is_told_and_comes_back() {
    let world = World::declared(SKURD, CONFIG);
    world.good(&["start"]);
    let at = now().plus(Span::minutes(1));
    assert_eq!(harvest(&world, at).len(), 2);
    let rows = world.json(&["report", "budgets"]);
    let of = |limit: &str| rows.iter().find(|row| row["limit"] == limit).unwrap();
    let harvests = of("max_harvests");
    assert_eq!((&harvests["used"], &harvests["max"], &harvests["held"]), (&json!(2), &json!(2), &json!(2)));
    assert_eq!(harvests["places"][0]["examples"].as_array().unwrap().len(), 1);
    let urls = of("max_urls");
    assert_eq!((&urls["used"], &urls["verdict"]), (&json!(4), &json!("USED UP")));
    assert_eq!(urls["places"][0]["examples"], json!([LINKS[3]]));
    let table = world.good(&["report", "budgets"]);
    assert!(table.contains("vg.no/b") && table.contains("2 of 2 used up"), "{table}");
    let (rule, text) = verdict(&world, LINKS[2]);
    assert!(rule == "F36" && text.contains("2 harvests of 2 harvests"), "{text}");
    let (rule, text) = verdict(&world, LINKS[3]);
    assert!(rule == "F36" && text.contains("4 known URLs of 4"), "{text}");
    // Raised from the command line.
    world.good(&[
        "seed",
        "add",
        "https://vg.no/",
        "--name",
        "vg",
        "--profile",
        "daily",
        "--max-harvests",
        "3",
        "--replace",
    ]);
    assert_eq!(harvest(&world, at.plus(Span::minutes(1))).len(), 1);
    world.good(&["seed", "add", "https://vg.no/", "--name", "vg", "--profile", "daily", "--replace"]);
    let left = harvest(&world, at.plus(Span::minutes(2)));
    assert_eq!(left.len(), 2, "what waited, and what was linked again: {left:?}");
    assert!(world.json(&["report", "budgets"]).is_empty());
}

#[test]
fn f36_a_crawl_that_ends_by_its_budget_says_so() {
    let world = World::new(SKURD, |ask| match ask.path[1..].parse::<usize>() {
        Ok(number) => Answer::html(format!("<a href='/{}'>next</a>", number + 1)),
        Err(_) => Answer::not_found(),
    });
    world.write("c.yaml", &CONFIG.replace("https://vg.no/", "http://a.test/1").replace(", max_urls: 4", ""));
    let events = world.crawl_json(&["c.yaml", "--until-done"]);
    let of = |event: &str| events.iter().filter(|row| row["event"] == event).collect::<Vec<_>>();
    assert_eq!(of("harvest").len(), 2);
    let ended = of("budget");
    assert_eq!(ended.len(), 1, "{events:?}");
    let told =
        json!([ended[0]["holder"], ended[0]["name"], ended[0]["limit"], ended[0]["run"], ended[0]["used"]]);
    assert_eq!(told, json!(["seed", "vg", "max_harvests", 1, 2]));
    assert_eq!(of("summary")[0]["budgets"].as_array().unwrap().len(), 1);
    world.write(
        "c.yaml",
        &CONFIG
            .replace("https://vg.no/", "http://a.test/1")
            .replace("max_harvests: 2, max_urls: 4", "max_harvests: 5"),
    );
    let told = world.crawl(&["c.yaml", "--until-done"]);
    assert!(told.err.contains("run 1 has used up the budget of seed `vg`: 5 harvests"), "{}", told.err);
    assert_eq!(world.captures().len(), 5);
}

#[test]
fn f39_patterns_are_added_listed_explained_and_lifted() {
    let world = World::declared(SKURD, &CONFIG.replace(", budget: {max_harvests: 2, max_urls: 4}", ""));
    world.good(&["start"]);
    let told = world.good(&[
        "blacklist",
        "add",
        "--prefix",
        "vg.no/a",
        "--regex",
        "b/4$",
        "--reason",
        "a trap",
        "--until",
        "2999-01-31",
    ]);
    assert!(told.starts_with("prefix:vg.no/a is blacklisted until 2999-01-31T00:00:00"), "{told}");
    let at = now().plus(Span::minutes(1));
    assert_eq!(harvest(&world, at), ["https://vg.no/", LINKS[2]]);
    let patterns = world.json(&["blacklist", "list", "--patterns"]);
    let names: Vec<&Value> = patterns.iter().map(|row| &row["pattern"]).collect();
    assert_eq!(names, [&json!("prefix:vg.no/a"), &json!("regex:b/4$")]);
    let (rule, text) = verdict(&world, LINKS[0]);
    assert!(rule == "F39" && text.contains("prefix:vg.no/a") && text.contains("a trap"), "{text}");
    // What is known.
    world.good(&["blacklist", "add", "--host", "www.vg.no", "--reason", "all of it", "--collection", "news"]);
    assert_eq!(verdict(&world, LINKS[2]).0, "F39");
    assert!(harvest(&world, at.plus(Span::days(2))).is_empty());
    assert_eq!(world.json(&["blacklist", "list"]).len(), 2);
    let told = world.good(&["blacklist", "lift", "--host", "www.vg.no", "--collection", "news"]);
    assert_eq!(told, "host:vg.no is lifted: 2 URLs back in the queue\n");
    assert!(!harvest(&world, at.plus(Span::days(3))).is_empty());
    for wrong in [
        vec!["blacklist", "lift", "--host", "no.such"],
        vec!["blacklist", "add", "--regex", "(", "--reason", "x"],
        vec!["blacklist", "add", "--host", "a b", "--reason", "x"],
        vec!["blacklist", "add", "--host", "a.no", "--reason", "x", "--until", "1999-01-01"],
        vec!["blacklist", "add", "--host", "a.no", "--reason", "x", "--collection", "nwes"],
        vec!["blacklist", "add", "--reason", "x"],
    ] {
        assert_ne!(world.skurd(&wrong).code, Some(0), "{wrong:?}");
    }
}
