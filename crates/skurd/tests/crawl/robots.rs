//! robots.txt, from the file on the server to the explanation of the verdict.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::Value;
use testkit::web::{Answer, Ask};
use testkit::world::World;

const RULES: &str = "User-agent: *\nDisallow: /private\nAllow: /private/but\n\nUser-agent: friend\nDisallow: /enemies\n\n\
                     Sitemap: http://rules.test/map.xml\n";
const PAGE: &str = "<a href='/private/x'>x</a> <a href='/private/but'>but</a> <a href='/enemies'>e</a> <a href='/open'>o</a>";
const MAP: &str = "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc>http://rules.test/only-in-map</loc></url></urlset>";

fn site(ask: &Ask) -> Answer {
    match (ask.host.as_str(), ask.path.as_str()) {
        ("rules.test", "/robots.txt") => Answer::text(RULES),
        ("rules.test", "/map.xml") => Answer::of(200, &[("Content-Type", "application/xml")], MAP),
        ("down.test", "/robots.txt") => Answer::of(503, &[], "down"),
        ("cut.test", "/robots.txt") => Answer::raw("HTTP/1.1 200 O"),
        (_, "/robots.txt") => Answer::not_found(),
        (_, "/") => Answer::html(PAGE),
        _ => Answer::html("a page"),
    }
}

const SEEDS: [&str; 4] = ["http://rules.test/", "http://down.test/", "http://cut.test/", "http://none.test/"];

fn asked(world: &World, host: &str) -> Vec<String> {
    let seen = world.web().seen().into_iter().filter(|seen| seen.ask.host == host);
    let mut paths: Vec<String> = seen.map(|seen| seen.ask.path).collect();
    paths.sort();
    paths
}

const ALL: [&str; 6] = ["/", "/enemies", "/open", "/private/but", "/private/x", "/robots.txt"];

#[test]
fn a3_what_robots_deny_is_not_asked_for_and_explained() {
    let world = World::new(crate::SKURD, site);
    let events = world.crawl_json(&[&SEEDS[..], &["--delay", "0s"]].concat());
    let rules = asked(&world, "rules.test");
    let expected = ["/", "/enemies", "/map.xml", "/only-in-map", "/open", "/private/but", "/robots.txt"];
    assert_eq!(rules, expected);
    assert_eq!(asked(&world, "down.test"), ["/robots.txt"]);
    assert_eq!(asked(&world, "cut.test"), ["/robots.txt"]);
    assert_eq!(asked(&world, "none.test"), ALL);

    let event = |url: &str| -> &Value {
        events.iter().find(|event| event["event"] == "harvest" && event["url"] == url).expect(url)
    };
    let denied = event("http://rules.test/private/x");
    assert_eq!(denied["error"], "robots");
    assert!(denied["problem"].as_str().unwrap().contains("/private"), "{denied}");
    for url in ["http://down.test/", "http://cut.test/"] {
        assert_eq!(event(url)["error"], "robots", "{}", event(url));
    }
    for url in ["http://rules.test/private/x", "http://down.test/", "http://cut.test/"] {
        let why = world.why(url).to_string();
        assert!(why.contains("robots"), "{why}");
        assert!(world.captures_of(url).is_empty(), "{url}");
    }
    // What was read is archived too, whatever the answer.
    for (url, status) in [("http://rules.test", 200), ("http://down.test", 503), ("http://none.test", 404)] {
        let captures = world.captures_of(&format!("{url}/robots.txt"));
        let statuses: Vec<_> = captures.iter().map(|capture| capture["status"].as_u64().unwrap()).collect();
        assert_eq!(statuses, [status], "{url}");
    }
    world.check();
}

#[test]
fn a3_robots_are_ignored_on_request() {
    let world = World::new(crate::SKURD, site);
    world.crawl_json(&[&SEEDS[..], &["--delay", "0s", "--robots", "ignore"]].concat());
    for host in ["rules.test", "down.test", "cut.test", "none.test"] {
        assert_eq!(asked(&world, host), ALL[..5], "{host}");
    }
}

#[test]
fn a3_robots_are_obeyed_as_another_agent() {
    let world = World::new(crate::SKURD, site);
    world.write(
        "c.yaml",
        "
settings: {politeness: {factor: 0, min: 0s, max: 0s}}
collections: [{name: c}]
profiles: [{name: p, collection: c, every: 1d, length: 1, robots: {as: friend}}]
seeds: [{url: 'http://rules.test/', profiles: [p]}]
",
    );
    world.crawl_json(&["c.yaml", "--until-done"]);
    let rules = asked(&world, "rules.test");
    let expected = ["/", "/map.xml", "/only-in-map", "/open", "/private/but", "/private/x", "/robots.txt"];
    assert_eq!(rules, expected);
}

#[test]
fn a2_the_look_up_that_led_to_a_capture_is_archived() {
    let world = World::new(crate::SKURD, site);
    let seed = format!("http://localhost:{}/open", world.web().port());
    world.crawl_json(&[&seed]);
    let all = world.json(&["captures"]);
    let dns: Vec<_> = all.iter().filter(|capture| capture["url"] == "dns:localhost").collect();
    assert_eq!(dns.len(), 1, "{all:?}");
    assert_eq!(dns[0]["mime"], "text/dns");
    world.check();
}

/// The answer takes longer than robots.txt is cached, and by then it denies the page: it is
/// captured and blacklisted. The one worker there is does something else while the delay before
/// that reading runs.
#[test]
fn f30_a15_robots_that_changed_in_flight_are_read_again_and_hold_no_worker() {
    let denies = Arc::new(AtomicBool::new(false));
    let read_again = AtomicBool::new(false);
    let world = World::new(crate::SKURD, move |ask| match (ask.host.as_str(), ask.path.as_str()) {
        ("slow.test", "/robots.txt") if denies.load(Ordering::SeqCst) => {
            read_again.store(true, Ordering::SeqCst);
            Answer::text("User-agent: *\nDisallow: /\n")
        }
        ("slow.test", "/") => {
            denies.store(true, Ordering::SeqCst);
            Answer::html("<a href='/next'>next</a>").after(Duration::from_millis(3200))
        }
        (_, "/robots.txt") => Answer::not_found(),
        // One page leads to the next until it was read: the harvest ends then, well before what it
        // said runs out of the cache and the page is back.
        ("live.test", path) if !read_again.load(Ordering::SeqCst) => {
            let next = path.trim_start_matches('/').parse::<u32>().map_or(0, |n| n + 1);
            Answer::html(format!("<a href='/{next}'>next</a>"))
        }
        _ => Answer::html("a page"),
    });
    world.write(
        "c.yaml",
        "
settings: {robots_cache: 3s, politeness: {factor: 0, min: 2s, max: 2s}}
collections: [{name: c}]
profiles: [{name: p, collection: c, every: 1d, length: 1}]
seeds: [{url: 'http://slow.test/', profiles: [p]}, {url: 'http://live.test/', profiles: [p]}]
hosts: [{host: live.test, politeness: {factor: 0, min: 100ms, max: 100ms}}]
",
    );
    world.crawl_json(&["c.yaml", "--until-done", "--workers", "1"]);
    let seen = world.web().seen();
    let slow: Vec<_> = seen.iter().filter(|seen| seen.ask.host == "slow.test").collect();
    let page = slow.iter().position(|seen| seen.ask.path == "/").unwrap();
    let (answered, again) = (slow[page].end.unwrap(), slow[page + 1]);
    assert_eq!(again.ask.path, "/robots.txt", "read anew, and nothing else");
    assert!(again.begin >= answered + Duration::from_secs(2), "after the delay");
    let meanwhile = seen.iter().filter(|seen| seen.ask.host == "live.test");
    let meanwhile = meanwhile.filter(|seen| seen.begin > answered && seen.begin < again.begin).count();
    assert!(meanwhile >= 5, "{meanwhile} requests while it rested");
    assert_eq!(world.web().times("http://slow.test/"), 1);
    assert_eq!(world.web().times("http://slow.test/next"), 0);
    assert_eq!(world.captures_of("http://slow.test/").len(), 1);
    let why = world.why("http://slow.test/").to_string();
    assert!(why.contains("robots"), "{why}");
    world.check();
}

/// Another process reads robots.txt anew for whatever URL comes first: what it denied before is
/// harvested at once.
#[test]
fn f17_what_robots_denied_is_back_when_the_next_process_reads_that_they_allow_it() {
    let allows = Arc::new(AtomicBool::new(false));
    let now_allows = Arc::clone(&allows);
    let world = World::new(crate::SKURD, move |ask| match ask.path.as_str() {
        "/robots.txt" if allows.load(Ordering::SeqCst) => Answer::not_found(),
        "/robots.txt" => Answer::text("User-agent: *\nDisallow: /private\n"),
        "/" => Answer::html("<a href='/private'>p</a>"),
        _ => Answer::html("a page"),
    });
    world.write(
        "c.yaml",
        "
settings: {politeness: {factor: 0, min: 0s, max: 0s}}
collections: [{name: c}]
profiles: [{name: p, collection: c, every: 1d}]
seeds: [{url: 'http://a.test/', profiles: [p]}]
",
    );
    world.crawl_json(&["c.yaml", "--until-done"]);
    let denied = world.json(&["blacklist"]);
    assert_eq!((denied.len(), &denied[0]["url"]), (1, &Value::from("http://a.test/private")), "{denied:?}");
    now_allows.store(true, Ordering::SeqCst);
    // F2: what was harvested a moment ago is harvested now.
    world.good(&["start", "--seed", "http://a.test/"]);
    world.crawl_json(&["c.yaml", "--until-done"]);
    assert_eq!(world.web().times("http://a.test/"), 2, "F2");
    assert_eq!(world.web().times("http://a.test/robots.txt"), 2);
    assert_eq!(world.web().times("http://a.test/private"), 1);
    assert!(world.json(&["blacklist"]).is_empty());
    world.check();
}
