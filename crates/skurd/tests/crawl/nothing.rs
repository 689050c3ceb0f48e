//! A harvest that reached nobody fails, says for which host and why, and is tried again by the same
//! command (I7).

use testkit::web::Answer;
use testkit::world::{Told, World, json_lines};

/// Nobody listens there.
const GONE: [&str; 2] = ["--resolve", "gone.test=127.0.0.1:1"];

fn world() -> World {
    World::new(crate::SKURD, |ask| match (ask.host.as_str(), ask.path.as_str()) {
        ("denied.test", "/robots.txt") => Answer::text("User-agent: *\nDisallow: /\n"),
        (_, "/") => Answer::html("here"),
        _ => Answer::not_found(),
    })
}

fn harvests(told: &Told) -> usize {
    json_lines(&told.out).iter().filter(|event| event["event"] == "harvest").count()
}

#[test]
fn i7_a_harvest_that_reaches_nobody_fails_and_the_same_command_tries_again() {
    const CONFIG: &str = "
settings: {politeness: {factor: 0, min: 0s, max: 0s}}
collections: [{name: c}]
profiles: [{name: p, collection: c, every: 1d, length: 1}]
seeds: [{url: 'http://gone.test/', profiles: [p]}]
host_groups: [{name: 'group:g', hosts: [gone.test, other.test]}]
";
    for command in
        [&["http://gone.test/", "--delay", "0s", "--json"][..], &["c.yaml", "--until-done", "--json"]]
    {
        let world = world();
        world.write("c.yaml", CONFIG);
        for time in 1..=3 {
            let told = world.crawl(&[command, &GONE[..]].concat());
            assert_eq!(told.code, Some(1), "time {time}: {told:?}");
            assert_eq!(harvests(&told), 1, "time {time}: {told:?}");
            let why = "error: nothing was answered\n  gone.test: no connection to 127.0.0.1:1: ";
            assert!(told.err.contains(why), "time {time}: {told:?}");
            assert!(told.err.contains("\nhint: the same command tries again"), "time {time}: {told:?}");
            let summary = json_lines(&told.out).pop().unwrap();
            assert!(
                summary["unanswered"]["gone.test"].as_str().unwrap().starts_with("no connection"),
                "{summary}"
            );
        }
        assert_eq!(world.json(&["queue"])[0]["errors"], 3, "they are counted all the same");
        // It is back.
        let told = world.crawl(command);
        assert_eq!((told.code, harvests(&told)), (Some(0), 1), "{told:?}");
        assert_eq!(world.web().times("http://gone.test/"), 1);
        // And now there is nothing left to do, which is well.
        let told = world.crawl(command);
        assert_eq!((told.code, harvests(&told)), (Some(0), 0), "{told:?}");
        world.check();
    }
}

#[test]
fn i7_a_harvest_that_reaches_somebody_succeeds() {
    let world = world();
    let told =
        world.crawl(&[&["http://gone.test/", "http://here.test/", "--delay", "0s"], &GONE[..]].concat());
    assert_eq!(told.code, Some(0), "{told:?}");
    // An answer is an answer: what is not there is archived as that.
    let told = world.crawl(&["http://here.test/nothing", "--delay", "0s"]);
    assert_eq!(told.code, Some(0), "{told:?}");
}

#[test]
fn i7_what_robots_deny_is_nothing_and_what_is_blacklisted_is_told() {
    let world = world();
    let told = world.crawl(&["http://denied.test/", "--delay", "0s"]);
    assert_eq!(told.code, Some(1), "{told:?}");
    assert!(told.err.contains("denied.test: denied by robots.txt, line 2: Disallow: /"), "{told:?}");
    let told = world.crawl(&["http://denied.test/", "--delay", "0s"]);
    assert_eq!(told.code, Some(1), "{told:?}");
    let why = "http://denied.test/: denied by robots.txt, line 2: Disallow: /, and it is blacklisted\nhint: ";
    assert!(told.err.contains(why), "{told:?}");
}
