//! Kill -9 at any moment: nothing is lost, nothing is harvested twice, and the archive is sound.

use std::collections::BTreeMap;

use testkit::random::Random;
use testkit::web::{Answer, Ask};
use testkit::world::World;

const HOSTS: usize = 8;
const PAGES_PER_HOST: usize = 360;
const KILLS: usize = 20;
/// Requests between a start and its kill: all of them together are about half of the pages, so that
/// no run comes to its end before.
const REQUESTS_MAX: usize = 160;

/// A tree with links across, and some that lead out of scope or nowhere new.
fn page(host: &str, number: usize) -> String {
    let mut html = format!("<title>{host} {number}</title><p>");
    let across = [number * 2 + 1, number * 2 + 2, (number * 37 + 11) % PAGES_PER_HOST, 0];
    for to in across.into_iter().filter(|to| *to < PAGES_PER_HOST) {
        html.push_str(&format!("<a href='/{to}'>{to}</a>\n"));
    }
    html.push_str("<a href='http://outside.test/'>out</a> <a href='#here'>here</a>");
    // Some are too large to be held in memory until they are archived.
    let filling = if number % 120 == 50 { 150_000 } else { number % 97 };
    html.push_str(&"filling ".repeat(filling));
    html
}

fn site(ask: &Ask) -> Answer {
    if ask.path == "/robots.txt" {
        return Answer::text("User-agent: *\nDisallow: /never\n");
    }
    match ask.path[1..].parse() {
        Ok(number) if number < PAGES_PER_HOST => Answer::html(page(&ask.host, number)),
        _ => Answer::not_found(),
    }
}

#[test]
fn f7_a8_kill_minus_nine_loses_nothing_and_doubles_nothing() {
    let world = World::new(crate::SKURD, site);
    let seeds: Vec<String> = (0..HOSTS).map(|host| format!("http://h{host}.test/0")).collect();
    let mut args: Vec<&str> = seeds.iter().map(String::as_str).collect();
    args.extend(["--delay", "0s", "--parallel", "4", "--until-done", "--workers", "24"]);

    let mut random = Random(7);
    let mut after = 0;
    for _ in 0..KILLS {
        let run = world.start(&args);
        // Some are killed before they ask anything, some with the first request, most in the
        // middle.
        let more = random.place(REQUESTS_MAX).saturating_sub(10);
        after += more;
        world.web().wait_for(after);
        run.kill();
        after = world.web().count();
    }
    let last = world.crawl(&args);
    assert_eq!(last.code, Some(0), "{}", last.err);

    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for capture in world.captures() {
        assert_eq!((capture["status"].as_u64(), capture["revisit"].as_bool()), (Some(200), Some(false)));
        *found.entry(capture["url"].as_str().unwrap().to_owned()).or_default() += 1;
    }
    for host in 0..HOSTS {
        for number in 0..PAGES_PER_HOST {
            let url = format!("http://h{host}.test/{number}");
            assert_eq!(found.remove(&url), Some(1), "{url}");
        }
    }
    assert!(found.is_empty(), "{found:?}");
    assert_eq!(world.web().times("http://outside.test/"), 0, "out of scope");
    let queue = world.json(&["queue"]);
    assert_eq!(queue.len(), HOSTS * PAGES_PER_HOST);
    assert_eq!(queue.iter().find(|row| row["state"] != "done"), None);
    world.check();
}
