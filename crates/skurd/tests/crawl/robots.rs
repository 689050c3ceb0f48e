//! robots.txt, from the file on the server to the explanation of the verdict.

use serde_json::Value;

use crate::reply::Reply;
use crate::web::Ask;
use crate::world::World;

const RULES: &str = "User-agent: *\nDisallow: /private\nAllow: /private/but\n\nUser-agent: friend\nDisallow: /enemies\n\n\
                     Sitemap: http://rules.test/map.xml\n";
const PAGE: &str = "<a href='/private/x'>x</a> <a href='/private/but'>but</a> <a href='/enemies'>e</a> <a href='/open'>o</a>";
const MAP: &str = "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc>http://rules.test/only-in-map</loc></url></urlset>";

fn site(ask: &Ask) -> Reply {
    match (ask.host.as_str(), ask.path.as_str()) {
        ("rules.test", "/robots.txt") => Reply::text(RULES),
        ("rules.test", "/map.xml") => Reply::of(200, &[("Content-Type", "application/xml")], MAP),
        ("down.test", "/robots.txt") => Reply::of(503, &[], "down"),
        ("cut.test", "/robots.txt") => Reply::raw("HTTP/1.1 200 O"),
        (_, "/robots.txt") => Reply::not_found(),
        (_, "/") => Reply::html(PAGE),
        _ => Reply::html("a page"),
    }
}

const SEEDS: [&str; 4] = ["http://rules.test/", "http://down.test/", "http://cut.test/", "http://none.test/"];

fn asked(world: &World, host: &str) -> Vec<String> {
    let seen = world.web.seen().into_iter().filter(|seen| seen.ask.host == host);
    let mut paths: Vec<String> = seen.map(|seen| seen.ask.path).collect();
    paths.sort();
    paths
}

const ALL: [&str; 6] = ["/", "/enemies", "/open", "/private/but", "/private/x", "/robots.txt"];

#[test]
fn a3_what_robots_deny_is_not_asked_for_and_explained() {
    let world = World::new(site);
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
    let world = World::new(site);
    world.crawl_json(&[&SEEDS[..], &["--delay", "0s", "--robots", "ignore"]].concat());
    for host in ["rules.test", "down.test", "cut.test", "none.test"] {
        assert_eq!(asked(&world, host), ALL[..5], "{host}");
    }
}

#[test]
fn a3_robots_are_obeyed_as_another_agent() {
    let world = World::new(site);
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
    let world = World::new(site);
    let seed = format!("http://localhost:{}/open", world.web.port);
    world.crawl_json(&[&seed]);
    let all = world.json(&["captures"]);
    let dns: Vec<_> = all.iter().filter(|capture| capture["url"] == "dns:localhost").collect();
    assert_eq!(dns.len(), 1, "{all:?}");
    assert_eq!(dns[0]["mime"], "text/dns");
    world.check();
}
