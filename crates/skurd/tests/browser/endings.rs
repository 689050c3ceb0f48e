//! How pages end (B12).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use rustix::process::Signal;
use testkit::web::{Answer, Ask, Then};
use testkit::world::World;
use tokio::time::Instant;

use crate::processes::{self, Processes};
use crate::{config, config_with, harvest, has_browser, page_info, times};

const COLLECTION: &str = "  - name: web\n    engine: browser\n    browser:\n      when_unchanged: skip\n      limits: {quiet: 300ms, load: 3s, behave: 3s, total: 20s, requests: 30}\n";

fn site(ask: &Ask) -> Answer {
    match (ask.host.as_str(), ask.path.as_str()) {
        ("hung.test", "/") => Answer::html("<script>for(;;);</script>"),
        ("dialogs.test", "/") => Answer::html("<script>for(let i = 0; i < 50; i++) alert(i)</script>"),
        ("slow.test", "/") => Answer::html("<a href=/x>x</a><img src=/never.png>"),
        // For the page; it is harvested afterwards.
        ("slow.test", "/never.png") if ask.nth == 0 => {
            Answer::of(200, &[], "x").after(Duration::from_secs(30))
        }
        ("busy.test", "/") => Answer::html("<script>setInterval(() => fetch('/tick'), 100)</script>"),
        ("many.test", "/") => Answer::html("<script>for (let i = 0; i < 200; i++) fetch('/n' + i)</script>"),
        ("file.test", "/") => {
            Answer::of(200, &[("Content-Type", "text/html"), ("Content-Disposition", "attachment")], "x")
        }
        ("pdf.test", "/") => Answer::of(200, &[("Content-Type", "application/pdf")], "%PDF-1.4"),
        // Neither inline nor an attachment: browsers save what is neither.
        ("saved.test", "/") => Answer::of(
            200,
            &[("Content-Type", "text/html"), ("Content-Disposition", "file")],
            "<a href=/y>y</a>",
        ),
        // Two lengths are one too many for a browser.
        ("lengths.test", "/") => Answer::bytes(
            200,
            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 16\r\nContent-Length: 17\r\n\r\n<a href=/y>y</a>",
            Then::Close,
        ),
        ("gone.test", "/") => Answer::of(404, &[("Content-Type", "text/html")], "<img src=/i.png>"),
        ("good.test", "/") => Answer::html("<title>good</title><a href=/y>y</a>"),
        (_, "/robots.txt") => Answer::not_found(),
        _ => Answer::text("leaf"),
    }
}

#[test]
fn b3_b11_b12_pages_end_in_their_ways_and_stand_beside_each_other() {
    if !has_browser() {
        return;
    }
    let world = World::new(crate::SKURD, site);
    let hosts =
        ["hung", "dialogs", "slow", "busy", "many", "saved", "lengths", "file", "pdf", "gone", "good"];
    let urls: Vec<String> = hosts.iter().map(|host| format!("http://{host}.test/")).collect();
    let seeds: Vec<(&str, &str)> = urls.iter().map(|url| ("web", url.as_str())).collect();
    harvest(&world, &config(COLLECTION, &seeds));
    for (host, ending) in [
        ("hung", "hung"),
        ("dialogs", "hung"),
        ("slow", "slow-load"),
        ("busy", "never-idle"),
        ("saved", "download"),
        ("lengths", "refused"),
        ("good", "ok"),
    ] {
        let url = format!("http://{host}.test/");
        let info = page_info(&world, &url);
        assert_eq!(info["ending"], ending, "{host}: {info:#}");
        // The first three of B12 are captures of what was seen; of the others the document's stands.
        let is_capture = ["ok", "slow-load", "never-idle"].contains(&ending);
        assert_eq!(world.captures_of(&format!("urn:dom:{url}")).len(), usize::from(is_capture), "{host}");
        assert_eq!(world.captures_of(&format!("urn:view:{url}")).len(), usize::from(is_capture), "{host}");
        // B21.
        assert_eq!(world.why(&url)["rendering"]["ending"], ending, "{host}");
    }
    for host in ["saved", "lengths", "good", "slow"] {
        let leaf = if host == "slow" { "x" } else { "y" };
        assert_eq!(times(&world, &format!("GET {host}.test/{leaf}")), 1, "{host}: its document has a link");
    }
    let many = page_info(&world, "http://many.test/");
    assert_eq!(many["truncated"], "more than 30 requests", "{many:#}");
    let asked = world
        .web()
        .seen()
        .iter()
        .filter(|seen| seen.ask.path.starts_with("/n") && seen.ask.host == "many.test")
        .count();
    assert!(asked <= 30, "{asked}");
    // B3: what is no whole page opens no tab, and is captured all the same.
    for host in ["file", "pdf", "gone"] {
        let url = format!("http://{host}.test/");
        assert_eq!(world.captures_of(&url).len(), 1, "{host}");
        assert!(world.captures_of(&format!("urn:pageinfo:{url}")).is_empty(), "{host}");
    }
    // Every document is captured, however its page ended.
    for url in &urls {
        assert_eq!(world.captures_of(url).len(), 1, "{url}");
    }
    world.check();
}

#[test]
fn b20_without_a_browser_its_collections_wait_and_the_others_go_on() {
    let world = World::new(crate::SKURD, |ask: &Ask| match ask.path.as_str() {
        "/robots.txt" => Answer::not_found(),
        _ => Answer::html("a page"),
    });
    let collections = "  - {name: plain}\n  - {name: web, engine: browser}\n";
    let config = config(collections, &[("plain", "http://a.test/"), ("web", "http://b.test/")]);
    world.write("c.yaml", &config.replace("{sandbox: no, tabs: 2}", "{path: /no/such/browser}"));
    let told = world.crawl(&["c.yaml", "--for", "3s"]);
    assert!(told.err.contains("there is no program at /no/such/browser"), "{}", told.err);
    assert!(told.err.contains("hint: correct `browser.path`"), "{}", told.err);
    let asked: Vec<String> = world.web().seen().iter().map(|seen| seen.ask.host.clone()).collect();
    assert!(asked.contains(&"a.test".to_owned()), "{asked:?}");
    assert!(!asked.contains(&"b.test".to_owned()), "{asked:?}");
    assert_eq!(world.captures_of("http://a.test/").len(), 1);
    assert!(world.captures_of("http://b.test/").is_empty());
}

#[test]
fn b12_b13_a_page_that_crashes_twice_is_left_alone_until_it_changes() {
    if !has_browser() {
        return;
    }
    let found = Arc::new(Processes::default());
    let known = Arc::clone(&found);
    let world = World::new(crate::SKURD, move |ask: &Ask| match ask.path.as_str() {
        "/robots.txt" => Answer::not_found(),
        "/" if ask.nth < 3 => Answer::html("<p>one</p><a href=/leaf>leaf</a><script>fetch('/die')</script>"),
        "/" => Answer::html("<p>two</p><script>fetch('/live')</script>"),
        "/die" => {
            known.renderers().into_iter().for_each(|id| processes::send(Signal::KILL, id));
            Answer::text("dead")
        }
        _ => Answer::text("leaf"),
    });
    found.of(&world);
    // Nothing from the archive: each time it is asked for what kills it.
    let collection = "  - {name: web, engine: browser, browser: {fresh: 0s, limits: {quiet: 300ms}}}\n";
    let url = "http://crash.test/";
    harvest(&world, &config_with(collection, "every: 1s, length: 4", &[("web", url)]));
    // Rendered twice, then no more; changed, it is rendered again.
    assert_eq!(world.captures_of(url).len(), 4);
    assert_eq!(times(&world, "GET crash.test/die"), 2);
    assert_eq!(times(&world, "GET crash.test/live"), 1);
    let infos = world.captures_of("urn:pageinfo:http://crash.test/");
    let endings: Vec<_> = infos.iter().map(|info| crate::info_at(&world, info)["ending"].clone()).collect();
    assert_eq!(endings, ["crashed", "crashed", "ok"]);
    assert_eq!(world.captures_of("urn:dom:http://crash.test/").len(), 1);
    assert!(times(&world, "GET crash.test/leaf") > 0, "the capture over HTTP stands, and its links");
    world.check();
}

/// A page whose process does not even hear that it should end.
#[test]
fn b12_a_process_that_stays_hung_is_killed_and_the_browser_goes_on() {
    if !has_browser() {
        return;
    }
    let found = Arc::new(Processes::default());
    let stopped = Arc::new(Mutex::new(Vec::new()));
    let (browser, still_there) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(u32::MAX)));
    let site = {
        let (found, stopped) = (Arc::clone(&found), Arc::clone(&stopped));
        let (browser, still_there) = (Arc::clone(&browser), Arc::clone(&still_there));
        move |ask: &Ask| match ask.path.as_str() {
            "/robots.txt" => Answer::not_found(),
            "/" => Answer::html("<a href=/next>next</a><script>fetch('/stop')</script>"),
            "/stop" => {
                browser.store(found.browser().unwrap_or_default(), Ordering::SeqCst);
                let mut stopped = stopped.lock();
                stopped.extend(found.renderers());
                stopped.iter().for_each(|id| processes::send(Signal::STOP, *id));
                Answer::text("stopped")
            }
            "/next" => Answer::html("<script>fetch('/look')</script>"),
            "/look" => {
                let same = found.browser() == Some(browser.load(Ordering::SeqCst));
                let left = stopped.lock().iter().filter(|id| processes::is_there(**id)).count();
                let count = u32::try_from(left).unwrap() + if same { 0 } else { 100 };
                still_there.store(count, Ordering::SeqCst);
                Answer::text("looked")
            }
            _ => Answer::not_found(),
        }
    };
    let world = World::new(crate::SKURD, site);
    found.of(&world);
    let collection = "  - {name: web, engine: browser, browser: {limits: {quiet: 300ms, load: 2s}}}\n";
    harvest(&world, &config(collection, &[("web", "http://stopped.test/")]));
    let info = page_info(&world, "http://stopped.test/");
    assert_eq!(info["ending"], "hung", "{info:#}");
    let next = page_info(&world, "http://stopped.test/next");
    assert_eq!(next["ending"], "ok", "{next:#}");
    // The same browser; of what was stopped only its own first tab, which is nobody's page.
    let left = still_there.load(Ordering::SeqCst);
    assert!(left <= 1 && stopped.lock().len() >= 2, "{left} of {stopped:?}");
    world.check();
}

#[test]
fn b12_with_the_browser_all_pages_end_at_once_and_nobody_is_blamed() {
    if !has_browser() {
        return;
    }
    let found = Arc::new(Processes::default());
    let killed: Arc<Mutex<Vec<(u32, Instant)>>> = Arc::default();
    let (in_midway, is_done) = (AtomicBool::new(false), AtomicBool::new(false));
    let site = {
        let (found, killed) = (Arc::clone(&found), Arc::clone(&killed));
        move |ask: &Ask| {
            match (ask.host.as_str(), ask.path.as_str()) {
            (_, "/robots.txt") => Answer::not_found(),
            // Takes the browser down: at first when the other page is in mid-way, then when that is done.
            ("deadly.test", "/") => Answer::html(
                "<script>(async () => {
                   while (await (await fetch('/now')).text() !== 'now') await new Promise(go => setTimeout(go, 100));
                   fetch('/die');
                 })()</script>",
            ),
            ("deadly.test", "/now") => {
                let wanted = if killed.lock().is_empty() { &in_midway } else { &is_done };
                Answer::text(if wanted.load(Ordering::SeqCst) { "now" } else { "wait" })
            }
            ("deadly.test", "/die") => {
                // Who gets no answer may ask once more, of a browser that is dead already.
                let is_new = |browser: &u32| killed.lock().iter().all(|(dead, _)| dead != browser);
                if let Some(browser) = found.browser().filter(is_new).filter(|_| killed.lock().len() < 3) {
                    killed.lock().push((browser, Instant::now()));
                    processes::send(Signal::KILL, browser);
                }
                Answer::nothing()
            }
            ("bystander.test", "/") => Answer::html("<a href=/after>after</a><img src=/slow>"),
            ("bystander.test", "/slow") if ask.nth == 0 => {
                in_midway.store(true, Ordering::SeqCst);
                Answer::text("late").after(Duration::from_secs(60))
            }
            ("bystander.test", "/after") => {
                is_done.store(true, Ordering::SeqCst);
                Answer::text("leaf")
            }
            _ => Answer::text("leaf"),
        }
        }
    };
    let world = World::new(crate::SKURD, site);
    found.of(&world);
    let collection =
        "  - {name: web, engine: browser, browser: {limits: {quiet: 300ms, load: 60s, total: 90s}}}\n";
    let urls = ["http://bystander.test/", "http://deadly.test/"];
    harvest(&world, &config(collection, &urls.map(|url| ("web", url))));
    let killed = killed.lock().clone();
    assert_eq!(killed.len(), 3, "each a browser of its own");
    assert!(killed.windows(2).all(|two| two[0].0 != two[1].0), "{killed:?}");
    // With the third time in a row the answer over HTTP stands, and says why.
    let info = page_info(&world, urls[1]);
    assert_eq!(info["ending"], "browser-gone", "{info:#}");
    assert_eq!(world.captures_of(urls[1]).len(), 1);
    assert!(world.captures_of("urn:dom:http://deadly.test/").is_empty());
    // Who was there beside it comes again, long before its own time would have been over, and is well.
    let info = page_info(&world, urls[0]);
    assert_eq!(info["ending"], "ok", "{info:#}");
    assert_eq!(world.captures_of(urls[0]).len(), 1);
    let seen = world.web().seen();
    let pages: Vec<_> =
        seen.iter().filter(|seen| seen.ask.host == "bystander.test" && seen.ask.path == "/").collect();
    assert_eq!(pages.len(), 2);
    let again = pages[1].begin.duration_since(killed[0].1);
    assert!(again < Duration::from_secs(20), "it ended, and came again after {again:?}");
    for url in urls {
        let why = world.why(url);
        assert_eq!(why["errors"].as_u64().unwrap_or(0), 0, "{why:#}");
    }
    world.check();
}
