//! How pages end (B12), and that nothing of a page is half there (B18).

use std::time::Duration;

use testkit::web::{Answer, Ask};
use testkit::world::World;

use crate::{config, harvest, has_browser, page_info};

const COLLECTION: &str = "  - name: web\n    engine: browser\n    browser:\n      when_unchanged: skip\n      limits: {quiet: 300ms, load: 3s, behave: 3s, total: 20s, requests: 30}\n";

fn site(ask: &Ask) -> Answer {
    match (ask.host.as_str(), ask.path.as_str()) {
        ("hung.test", "/") => Answer::html("<script>for(;;);</script>"),
        ("dialogs.test", "/") => Answer::html("<script>for(let i = 0; i < 50; i++) alert(i)</script>"),
        ("slow.test", "/") => Answer::html("<a href=/x>x</a><img src=/never.png>"),
        ("slow.test", "/never.png") => Answer::of(200, &[], "x").after(Duration::from_secs(30)),
        ("busy.test", "/") => Answer::html("<script>setInterval(() => fetch('/tick'), 100)</script>"),
        ("many.test", "/") => Answer::html("<script>for (let i = 0; i < 200; i++) fetch('/n' + i)</script>"),
        ("file.test", "/") => {
            Answer::of(200, &[("Content-Type", "text/html"), ("Content-Disposition", "attachment")], "x")
        }
        ("pdf.test", "/") => Answer::of(200, &[("Content-Type", "application/pdf")], "%PDF-1.4"),
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
    let hosts = ["hung", "dialogs", "slow", "busy", "many", "file", "pdf", "gone", "good"];
    let urls: Vec<String> = hosts.iter().map(|host| format!("http://{host}.test/")).collect();
    let seeds: Vec<(&str, &str)> = urls.iter().map(|url| ("web", url.as_str())).collect();
    harvest(&world, &config(COLLECTION, &seeds));
    for (host, ending) in
        [("hung", "hung"), ("dialogs", "hung"), ("slow", "slow-load"), ("busy", "never-idle"), ("good", "ok")]
    {
        let info = page_info(&world, &format!("http://{host}.test/"));
        assert_eq!(info["ending"], ending, "{host}: {info:#}");
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
fn b12_b18_browser_and_harvester_are_killed_in_mid_page_and_nothing_is_half_there() {
    if !has_browser() {
        return;
    }
    let site = |ask: &Ask| match ask.path.as_str() {
        "/robots.txt" => Answer::not_found(),
        "/" => Answer::html((0..8).map(|n| format!("<a href=/p{n}>p</a>")).collect::<String>()),
        path if path.starts_with("/p") => Answer::html(format!(
            "<script>fetch('{path}.a').then(() => fetch('{path}.b')).then(() => fetch('{path}.c'))</script>"
        )),
        _ => Answer::text("part").after(Duration::from_millis(60)),
    };
    let site = move |ask: &Ask| {
        if ask.path.contains('.') && ask.path != "/robots.txt" {
            return Answer::text("part").after(Duration::from_millis(60));
        }
        site(ask)
    };
    let world = World::new(crate::SKURD, site);
    let collection = "  - {name: web, engine: browser, browser: {fresh: 0s, limits: {quiet: 200ms}}}\n";
    world.write("c.yaml", &config(collection, &[("web", "http://kill.test/")]));
    let mut random = fastrand::Rng::with_seed(7);
    for kill in 0..6 {
        let run = world.start(&["c.yaml", "--until-done"]);
        // At any moment: no line says so.
        run.line(Duration::from_millis(random.u64(1500..4500)), |_| None::<()>);
        if kill % 2 == 0 {
            run.put_down();
        } else {
            kill_browser(run.id());
            run.line(Duration::from_millis(500), |_| None::<()>);
            run.put_down();
        }
    }
    let told = world.crawl(&["c.yaml", "--until-done"]);
    assert_eq!(told.code, Some(0), "{}", told.err);
    world.check();
    // All of a page, or nothing: as many of each part as of the page.
    for page in 0..8 {
        let pages = world.captures_of(&format!("http://kill.test/p{page}"));
        assert!(!pages.is_empty(), "/p{page}");
        let rendered = world.captures_of(&format!("urn:pageinfo:http://kill.test/p{page}")).len();
        assert_eq!(rendered, pages.len(), "/p{page}");
        for part in ["a", "b", "c"] {
            let parts = world.captures_of(&format!("http://kill.test/p{page}.{part}"));
            assert_eq!(parts.len(), pages.len(), "/p{page}.{part}");
        }
    }
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

/// Ends the browser that this process started.
fn kill_browser(parent: u32) {
    let children =
        std::fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).unwrap_or_default();
    let threads = std::fs::read_dir(format!("/proc/{parent}/task")).into_iter().flatten().flatten();
    let all = threads.map(|task| std::fs::read_to_string(task.path().join("children")).unwrap_or_default());
    for child in all.chain([children]).collect::<String>().split_whitespace() {
        let _ = std::process::Command::new("kill").args(["-9", child]).status();
    }
}
