//! Asking robots.txt is a request too (A15): whom it goes to, when, and who waits for it.

use std::time::Duration;

use testkit::web::{Answer, Ask};
use testkit::world::World;

use crate::polite::assert_polite;

fn page(ask: &Ask) -> Answer {
    match ask.path.as_str() {
        "/robots.txt" => Answer::not_found(),
        _ => Answer::html("a page"),
    }
}

/// More hosts than workers ask for a delay of minutes; the others go on at once.
#[test]
fn a15_a_crawl_delay_holds_no_worker() {
    let world = World::new(crate::SKURD, |ask| match (ask.host.as_str(), ask.path.as_str()) {
        ("live.test", "/") => {
            Answer::html((0..10).map(|n| format!("<a href='/{n}'>{n}</a>")).collect::<String>())
        }
        ("live.test", _) => page(ask),
        (_, "/robots.txt") => Answer::text("User-agent: *\nCrawl-delay: 600\n"),
        _ => page(ask),
    });
    let mut seeds: Vec<String> = (0..8).map(|n| format!("http://slow{n}.test/")).collect();
    seeds.push("http://live.test/".to_owned());
    let seeds: Vec<&str> = seeds.iter().map(String::as_str).collect();
    let options = ["--delay", "10ms", "--workers", "2", "--max-urls", "11"];
    let told = world.crawl(&[&seeds[..], &options[..]].concat());
    assert_eq!(told.code, Some(0), "{}", told.err);
    let live = world.web().seen().into_iter().filter(|seen| seen.ask.host == "live.test").count();
    assert_eq!(live, 12, "robots.txt and all pages");
    for n in 0..8 {
        assert_eq!(world.web().times(&format!("http://slow{n}.test/robots.txt")), 1);
        assert_eq!(world.web().times(&format!("http://slow{n}.test/")), 0, "its delay has not passed");
        assert_eq!(world.captures_of(&format!("http://slow{n}.test/robots.txt")).len(), 1);
    }
    world.check();
}

/// Twenty hosts send us to one, each to another place of it: it is asked as politely as anybody.
#[test]
fn a15_redirects_of_robots_keep_the_delay_of_the_host_they_lead_to() {
    let delay = Duration::from_millis(150);
    let world = World::new(crate::SKURD, |ask| match (ask.host.as_str(), ask.path.as_str()) {
        ("victim.test", path) if path.starts_with("/rules") => {
            Answer::text("User-agent: *\nDisallow: /no\n").after(Duration::from_millis(30))
        }
        ("victim.test", _) => page(ask),
        (host, "/robots.txt") => Answer::redirect(&format!("http://victim.test/rules?of={host}")),
        (_, "/") => Answer::html("<a href='/no'>no</a><a href='/yes'>yes</a>"),
        _ => page(ask),
    });
    let mut seeds: Vec<String> = (0..20).map(|n| format!("http://h{n}.test/")).collect();
    seeds.push("http://victim.test/".to_owned());
    let seeds: Vec<&str> = seeds.iter().map(String::as_str).collect();
    let told = world.crawl(&[&seeds[..], &["--delay", "150ms", "--workers", "8"]].concat());
    assert_eq!(told.code, Some(0), "{}", told.err);
    let seen = world.web().seen();
    assert_eq!(seen.iter().filter(|seen| seen.ask.host == "victim.test").count(), 22);
    assert_polite(&seen, "victim.test", 1, delay);
    for n in 0..20 {
        let host = format!("h{n}.test");
        assert_polite(&seen, &host, 1, delay);
        assert_eq!(world.web().times(&format!("http://{host}/robots.txt")), 1);
        assert_eq!(world.web().times(&format!("http://{host}/yes")), 1);
        assert_eq!(world.web().times(&format!("http://{host}/no")), 0);
        let rules = format!("http://victim.test/rules?of={host}");
        assert_eq!((world.web().times(&rules), world.captures_of(&rules).len()), (1, 1));
    }
    world.check();
}

/// What one robots.txt says of a server, it says to all who are sent to it.
#[test]
fn a15_a_robots_txt_that_many_redirect_to_is_asked_for_once() {
    let world = World::new(crate::SKURD, |ask| match (ask.host.as_str(), ask.path.as_str()) {
        ("victim.test", "/robots.txt") => Answer::text("User-agent: *\nDisallow: /no\n"),
        (_, "/robots.txt") => Answer::redirect("http://victim.test/robots.txt"),
        (_, "/") => Answer::html("<a href='/no'>no</a><a href='/yes'>yes</a>"),
        _ => page(ask),
    });
    let seeds: Vec<String> = (0..12).map(|n| format!("http://h{n}.test/")).collect();
    let seeds: Vec<&str> = seeds.iter().map(String::as_str).collect();
    let told = world.crawl(&[&seeds[..], &["--delay", "20ms"]].concat());
    assert_eq!(told.code, Some(0), "{}", told.err);
    assert_eq!(world.web().times("http://victim.test/robots.txt"), 1);
    for n in 0..12 {
        assert_eq!(world.web().times(&format!("http://h{n}.test/yes")), 1);
        assert_eq!(world.web().times(&format!("http://h{n}.test/no")), 0);
    }
}

/// Redirects without end, and to nowhere, allow everything (RFC 9309), and are as polite.
#[test]
fn a15_redirects_in_a_circle_end() {
    let world = World::new(crate::SKURD, |ask| match ask.path.as_str() {
        "/robots.txt" if ask.query.is_empty() => Answer::redirect("/robots.txt?again"),
        "/robots.txt" => Answer::redirect(&format!("{}x", ask.target())),
        _ => page(ask),
    });
    let told = world.crawl(&["http://a.test/", "--delay", "50ms"]);
    assert_eq!(told.code, Some(0), "{}", told.err);
    let seen = world.web().seen();
    assert_eq!(seen.len(), 7, "robots.txt, five redirects, and the page");
    assert_polite(&seen, "a.test", 1, Duration::from_millis(50));
    assert_eq!(world.captures_of("http://a.test/").len(), 1);
}

#[test]
fn a15_every_collection_is_told_of_the_sitemaps() {
    let world = World::new(crate::SKURD, |ask| match ask.path.as_str() {
        "/robots.txt" => Answer::text("Sitemap: /map.xml\n"),
        "/map.xml" => Answer::of(
            200,
            &[("Content-Type", "application/xml")],
            "<urlset><url><loc>http://a.test/only-in-map</loc></url></urlset>",
        ),
        _ => page(ask),
    });
    let config = "
settings: {politeness: {factor: 0, min: 10ms, max: 10ms}}
collections: [{name: b}, {name: c}, {name: d}]
profiles:
  - {name: pb, collection: b, every: 1d, length: 1}
  - {name: pc, collection: c, every: 1d, length: 1}
  - {name: pd, collection: d, every: 1d, length: 1}
seeds: [{url: 'http://a.test/', profiles: [pb, pc, pd]}]
";
    world.write("c.yaml", config);
    let told = world.crawl(&["c.yaml", "--until-done"]);
    assert_eq!(told.code, Some(0), "{}", told.err);
    assert_eq!(world.web().times("http://a.test/robots.txt"), 1, "it is read once for all");
    assert_eq!(world.web().times("http://a.test/map.xml"), 3);
    assert_eq!(world.web().times("http://a.test/only-in-map"), 3);
    world.check();
}

/// Hosts that take connections and never say a word are waited for beside those that answer, as
/// many as may be at a time.
#[test]
fn a15_silent_hosts_take_nothing_from_those_that_answer() {
    const PAGES: usize = 41;
    // Workers, hosts that are silent, the one that is not, and how many of the silent ones are
    // waited for.
    for (workers, silent, live, waited_for) in [("64", 200, "z.test", 200), ("4", 100, "a.test", 32)] {
        let world = World::new(crate::SKURD, move |ask| match ask.path.as_str() {
            _ if ask.host != live => Answer::html("").after(Duration::from_secs(600)),
            "/0" => Answer::html((1..PAGES).map(|n| format!("<a href='/{n}'>{n}</a>")).collect::<String>()),
            _ => page(ask),
        });
        let mut seeds: Vec<String> = (0..silent).map(|n| format!("http://m{n:03}.test/")).collect();
        seeds.push(format!("http://{live}/0"));
        let seeds: Vec<&str> = seeds.iter().map(String::as_str).collect();
        let run = world.start(&[&seeds[..], &["--delay", "10ms", "--workers", workers]].concat());
        world.web().wait_for(1 + PAGES + waited_for);
        let seen = world.web().seen();
        let (live, silent): (Vec<_>, Vec<_>) = seen.iter().partition(|seen| seen.ask.host == live);
        assert_eq!(live.len(), 1 + PAGES, "robots.txt and all pages");
        assert_eq!(silent.len(), waited_for);
        assert!(silent.iter().all(|seen| seen.end.is_none()), "nobody had to give up on one for that");
        run.kill();
    }
}
