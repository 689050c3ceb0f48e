//! How much a page may ask for, and how fast (B8, B10, B11).

use std::time::Duration;

use serde_json::Value;
use testkit::web::{Answer, Ask, Seen};
use testkit::world::World;

use crate::{config, find_request, harvest, has_browser, page_info, times, why};

fn picture() -> Answer {
    Answer::of(200, &[("Content-Type", "image/png")], testkit::coding::png(8, &[0x55; 192]))
}

/// The most of these that were under way at once.
fn most_at_once(seen: &[&Seen]) -> usize {
    let at_once = |one: &&Seen| {
        let overlaps =
            |other: &&&Seen| other.begin <= one.begin && other.end.is_none_or(|end| end > one.begin);
        seen.iter().filter(overlaps).count()
    };
    seen.iter().map(at_once).max().unwrap_or(0)
}

#[test]
fn b8_pictures_of_one_host_are_asked_for_four_at_once_and_twenty_a_second_over_all_tabs() {
    if !has_browser() {
        return;
    }
    let site = |ask: &Ask| match (ask.host.as_str(), ask.path.as_str()) {
        (_, "/robots.txt") => Answer::not_found(),
        ("one.test" | "two.test", "/") => {
            let tag = |n: u32| format!("<img src=http://pictures.test/{}/{n}.png>", ask.host);
            Answer::html((0..100).map(tag).collect::<String>())
        }
        // Asks one after the other, whatever it gets.
        ("tired.test", "/") => Answer::html(
            "<script>(async () => { for (let n = 0; n < 6; n++) await fetch('http://busy.test/' + n, {mode: 'no-cors'}); })()</script>",
        ),
        ("busy.test", _) => Answer::of(503, &[("Retry-After", "3600")], "not now"),
        _ => picture().after(Duration::from_millis(150)),
    };
    let world = World::new(crate::SKURD, site);
    let collection =
        "  - {name: web, engine: browser, browser: {limits: {quiet: 500ms, load: 90s, total: 120s}}}\n";
    let urls = ["http://one.test/", "http://two.test/", "http://tired.test/"];
    harvest(&world, &config(collection, &urls.map(|url| ("web", url))));
    let seen = world.web().seen();
    let pictures: Vec<&Seen> = seen
        .iter()
        .filter(|seen| seen.ask.host == "pictures.test" && seen.ask.path != "/robots.txt")
        .collect();
    assert_eq!(pictures.len(), 200);
    assert!(pictures.iter().all(|seen| seen.ask.nth == 0), "each once");
    // As many as may, and never more.
    assert_eq!(most_at_once(&pictures), 4);
    // Twenty in the first second, and as many in each one after it; what the log calls a second may
    // be shorter than that by what the way to it took.
    for (first, last) in pictures.iter().zip(&pictures[100..]) {
        let took = last.begin.duration_since(first.begin);
        assert!(took > Duration::from_millis(3500), "a hundred and one in {took:?}");
    }
    for url in &urls[..2] {
        let info = page_info(&world, url);
        assert_eq!((&info["ending"], &info["truncated"]), (&Value::from("ok"), &Value::Null), "{info:#}");
    }
    // Who said when to come back was left alone from then on.
    let info = page_info(&world, urls[2]);
    let asked = seen.iter().filter(|seen| seen.ask.host == "busy.test" && seen.ask.path != "/robots.txt");
    assert_eq!(asked.count(), 1, "{info:#}");
    for n in 1..6 {
        let request = find_request(&info, &format!("http://busy.test/{n}"));
        assert_eq!(request["from"], "refused", "{request:#}");
        assert_eq!(request["reason"], "its host asked to be left alone for now");
    }
    world.check();
}

#[test]
fn b10_what_was_captured_a_moment_ago_is_served_from_the_archive() {
    if !has_browser() {
        return;
    }
    let site = |ask: &Ask| match ask.path.as_str() {
        "/robots.txt" => Answer::not_found(),
        "/" => Answer::html("<a href=/two>two</a><a href=/three>three</a><img src=/shared.png>"),
        "/two" => Answer::html("<img src=/shared.png><script>fetch('/shared.png?other')</script>"),
        // Another visitor, as far as a server can tell, and for a moment.
        "/three" => Answer::html(
            "<script>document.cookie = 'a=1'; const one = new Image(); one.onload = () => { document.cookie = 'a=; max-age=0'; }; one.src = '/shared.png';</script>",
        ),
        _ => picture(),
    };
    let world = World::new(crate::SKURD, site);
    let collections = "  - {name: fresh, engine: browser, browser: {limits: {quiet: 300ms}}}\n  - {name: stale, engine: browser, browser: {fresh: 0s, limits: {quiet: 300ms}}}\n";
    let seeds = [("fresh", "http://fresh.test/"), ("stale", "http://stale.test/")];
    harvest(&world, &config(collections, &seeds));
    // Once, once with a query, and once with a cookie.
    assert_eq!(times(&world, "GET fresh.test/shared.png"), 3);
    let info = page_info(&world, "http://fresh.test/two");
    let shared = find_request(&info, "http://fresh.test/shared.png");
    assert_eq!(
        (&shared["from"], &shared["status"]),
        (&Value::from("archive"), &Value::from(200)),
        "{info:#}"
    );
    assert_eq!(find_request(&info, "http://fresh.test/shared.png?other")["from"], "web");
    let third = page_info(&world, "http://fresh.test/three");
    assert_eq!(find_request(&third, "http://fresh.test/shared.png")["from"], "web", "{third:#}");
    // B21.
    assert_eq!(why(&world, "fresh", "http://fresh.test/two")["rendering"]["from_archive"], 1);

    // Where nothing is fresh it is asked for by each page, and kept once.
    assert_eq!(times(&world, "GET stale.test/shared.png"), 4);
    let captures = world.captures_of("http://stale.test/shared.png");
    let revisits: Vec<bool> = captures.iter().map(|one| one["revisit"].as_bool().unwrap()).collect();
    assert_eq!(revisits, [false, true, true], "{captures:#?}");
    let captures = world.captures_of("http://fresh.test/shared.png");
    let revisits: Vec<bool> = captures.iter().map(|one| one["revisit"].as_bool().unwrap()).collect();
    assert_eq!(revisits, [false, true], "{captures:#?}");
    world.check();
}

/// Pages that run into each limit: collection, what it is limited to, page, how it ends, what is
/// said of it.
const LIMITED: [(&str, &str, &str, &str, &str); 6] = [
    ("load", "load: 2s", "<img src=/never>", "slow-load", "the time for the phase `load` was over"),
    (
        "behave",
        "behave: 1500ms",
        "<div style='height:9000px'></div><script>onscroll = () => { const more = document.createElement('div'); more.style.height = '9000px'; document.body.append(more); }</script>",
        "ok",
        "the time for the phase `behave` was over",
    ),
    (
        "total",
        "total: 8s, load: 8s, behave: 2s, collect: 8s",
        "<img src=/never>",
        "slow-load",
        "the time for the page was over",
    ),
    (
        "requests",
        "requests: 20",
        "<script>for (let n = 0; n < 100; n++) fetch('/small?' + n)</script>",
        "ok",
        "more than 20 requests",
    ),
    // Even with a single answer that is all too long.
    ("bytes", "bytes: 1MB", "<img src=/large>", "ok", "more than 1000000 bytes"),
    (
        "many",
        "bytes: 1MB",
        "<script>for (let n = 0; n < 4; n++) fetch('/slow?' + n)</script>",
        "ok",
        "more than 1000000 bytes",
    ),
];

#[test]
fn b11_beyond_each_limit_a_page_is_truncated_and_says_so() {
    if !has_browser() {
        return;
    }
    let site = |ask: &Ask| match ask.path.as_str() {
        "/robots.txt" => Answer::not_found(),
        "/" => {
            let name = ask.host.trim_end_matches(".test");
            let page = LIMITED.iter().find(|(limit, ..)| *limit == name).unwrap().2;
            Answer::html(format!("<!DOCTYPE html><title>{name}</title><a href=/leaf>leaf</a>{page}"))
        }
        // For the page; it is harvested afterwards.
        "/never" if ask.nth == 0 => Answer::text("late").after(Duration::from_secs(60)),
        "/large" => Answer::of(200, &[("Content-Type", "image/png")], vec![7; 5_000_000]),
        // Each for ever, and none of them above the limit by itself for long.
        "/slow" => Answer::raw("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
            .then_for_ever(vec![b'x'; 60_000], Duration::from_millis(20)),
        _ => Answer::text("small"),
    };
    let world = World::new(crate::SKURD, site);
    let collection = |(name, limits, ..): &(&str, &str, &str, &str, &str)| {
        format!("  - {{name: {name}, engine: browser, browser: {{limits: {{quiet: 300ms, {limits}}}}}}}\n")
    };
    let collections: String = LIMITED.iter().map(collection).collect();
    let urls: Vec<String> = LIMITED.iter().map(|(name, ..)| format!("http://{name}.test/")).collect();
    let seeds: Vec<(&str, &str)> =
        LIMITED.iter().zip(&urls).map(|((name, ..), url)| (*name, url.as_str())).collect();
    harvest(&world, &config(&collections, &seeds));
    for ((name, _, _, ending, truncated), url) in LIMITED.iter().zip(&urls) {
        let info = page_info(&world, url);
        assert_eq!(info["truncated"], *truncated, "{name}: {info:#}");
        assert_eq!(info["ending"], *ending, "{name}: {info:#}");
        // B21, and what was there by then is kept.
        assert_eq!(why(&world, name, url)["rendering"]["truncated"], *truncated, "{name}");
        assert_eq!(world.captures_of(&format!("urn:dom:{url}")).len(), 1, "{name}");
        assert_eq!(times(&world, &format!("GET {name}.test/leaf")), 1, "{name}");
        let bytes: u64 =
            info["requests"].as_array().unwrap().iter().filter_map(|one| one["bytes"].as_u64()).sum();
        // With what was under way when it was noticed.
        assert!(bytes < 1_500_000, "{name}: {bytes}");
    }
    let info = page_info(&world, "http://requests.test/");
    let asked = world.web().seen().iter().filter(|seen| seen.ask.path == "/small").count();
    assert_eq!(asked, 20, "{info:#}");
    let told = info["requests"].as_array().unwrap().iter().filter(|request| request["from"] == "web").count();
    assert_eq!(told, 20, "each of them is told of: {info:#}");
    world.check();
}
