//! Politeness, as the server sees it.

use std::time::Duration;

use testkit::web::{Answer, Ask, Seen};
use testkit::world::World;
use tokio::time::Instant;

/// Times are kept in milliseconds: a pause may seem shorter by what was rounded off.
const ROUNDED: Duration = Duration::from_millis(1);

/// F8: a request occupies its host until its end and the delay after it, and a host is occupied
/// `parallel` times at most.
#[track_caller]
pub(crate) fn assert_polite(seen: &[Seen], host: &str, parallel: usize, delay: Duration) {
    let mut own: Vec<&Seen> = seen.iter().filter(|seen| seen.ask.host == host).collect();
    own.sort_by_key(|seen| seen.begin);
    assert!(!own.is_empty(), "{host} was never asked");
    let first = own[0].begin;
    let told = |seen: &&Seen| {
        let ms = |at: Instant| (at - first).as_millis();
        format!("{} {}..{:?}", seen.ask.path, ms(seen.begin), seen.end.map(ms))
    };
    for (index, next) in own.iter().enumerate() {
        let occupies = |before: &&&Seen| before.end.is_none_or(|end| end + delay > next.begin + ROUNDED);
        let occupied = own[..index].iter().filter(occupies).count();
        assert!(
            occupied < parallel,
            "{host}: {} came while {occupied} occupied it:\n{}",
            told(next),
            own.iter().map(told).collect::<Vec<_>>().join("\n")
        );
    }
}

fn numbered(ask: &Ask, pages: usize) -> Answer {
    let links: String = (0..pages).map(|n| format!("<a href='/{n}'>{n}</a> ")).collect();
    match ask.path.as_str() {
        "/" => Answer::html(links),
        path if path[1..].parse().is_ok_and(|n: usize| n < pages) => Answer::html(format!("page {path}")),
        _ => Answer::not_found(),
    }
}

#[test]
fn f8_never_more_than_parallel_and_never_sooner_than_the_delay() {
    // Answers take longer than the delay, or one would be over before the next begins.
    let world = World::new(crate::SKURD, |ask| numbered(ask, 8).after(Duration::from_millis(250)));
    let told = world.crawl(&["http://a.test/", "http://b.test/", "--delay", "100ms", "--parallel", "2"]);
    assert_eq!(told.code, Some(0), "{}", told.err);
    let seen = world.web().seen();
    for host in ["a.test", "b.test"] {
        let own: Vec<&Seen> = seen.iter().filter(|seen| seen.ask.host == host).collect();
        assert_eq!(own.len(), 10);
        assert_polite(&seen, host, 2, Duration::from_millis(100));
        let beside = own.windows(2).filter(|pair| pair[0].end.is_some_and(|end| end > pair[1].begin)).count();
        assert!(beside > 0, "nothing was asked at the same time, but it may");
    }
}

/// robots.txt is a request like any other, also if it denies, or is somewhere else.
#[test]
fn f8_a3_requests_for_robots_keep_the_delay() {
    let world = World::new(crate::SKURD, |ask| match (ask.host.as_str(), ask.path.as_str()) {
        // As long as the delay: nobody must count the delay from the begin.
        ("denied.test", "/robots.txt") => {
            Answer::text("User-agent: *\nDisallow: /$\n").after(Duration::from_millis(200))
        }
        ("moved.test", "/robots.txt") => Answer::redirect("/elsewhere.txt"),
        (_, "/elsewhere.txt") => Answer::text("User-agent: *\nDisallow: /never\n"),
        _ => numbered(ask, 3),
    });
    let seeds = ["http://denied.test/", "http://denied.test/1", "http://moved.test/", "http://plain.test/"];
    let told = world.crawl(&[&seeds[..], &["--delay", "200ms"]].concat());
    assert_eq!(told.code, Some(0), "{}", told.err);
    let seen = world.web().seen();
    assert_eq!(world.web().times("http://denied.test/"), 0);
    assert_eq!(world.web().times("http://denied.test/1"), 1);
    for host in ["plain.test", "denied.test", "moved.test"] {
        assert_polite(&seen, host, 1, Duration::from_millis(200));
    }
}

#[test]
fn f8_f6_the_delay_is_kept_over_a_kill_and_a_restart() {
    let world = World::new(crate::SKURD, |ask| numbered(ask, 4).after(Duration::from_millis(100)));
    let args = ["http://a.test/", "http://b.test/", "--delay", "600ms"];
    // In the middle of robots.txt, of the first page behind it, and of a later one.
    for more in [1, 3, 4] {
        let run = world.start(&args);
        world.web().wait_for(world.web().count() + more);
        run.kill();
    }
    let told = world.crawl(&args);
    assert_eq!(told.code, Some(0), "{}", told.err);
    let seen = world.web().seen();
    for host in ["a.test", "b.test"] {
        assert_polite(&seen, host, 1, Duration::from_millis(600));
    }
    assert_eq!(world.captures().len(), 10);
}

#[test]
fn f8_what_the_host_asks_for_is_kept() {
    let world = World::new(crate::SKURD, |ask| match (ask.host.as_str(), ask.path.as_str(), ask.nth) {
        ("slow.test", "/robots.txt", _) => Answer::text("User-agent: *\nCrawl-delay: 1\n"),
        ("busy.test", "/1", 0) => Answer::of(503, &[("Retry-After", "2")], "not now"),
        _ => numbered(ask, 3),
    });
    let config = "
settings: {politeness: {factor: 0, min: 10ms, max: 10ms}}
collections: [{name: c}]
profiles: [{name: p, collection: c, every: 1d, length: 1, limits: {backoff_base: 10ms}}]
seeds: [{url: 'http://slow.test/', profiles: [p]}, {url: 'http://busy.test/', profiles: [p]}]
";
    world.write("c.yaml", config);
    let told = world.crawl(&["c.yaml", "--until-done"]);
    assert_eq!(told.code, Some(0), "{}", told.err);
    let seen = world.web().seen();
    assert_polite(&seen, "slow.test", 1, Duration::from_secs(1));
    let busy: Vec<&Seen> = seen.iter().filter(|seen| seen.ask.host == "busy.test").collect();
    assert_polite(&seen, "busy.test", 1, Duration::from_millis(10));
    let refused = busy.iter().position(|seen| seen.ask.path == "/1").unwrap();
    let next = busy.get(refused + 1).expect("a request after the 503");
    let pause = next.begin - busy[refused].end.unwrap();
    assert!(pause + ROUNDED >= Duration::from_secs(2), "{pause:?}");
    assert_eq!(world.web().times("http://busy.test/1"), 2);
    assert_eq!(world.captures_of("http://busy.test/1").len(), 2);
}
