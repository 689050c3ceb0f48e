//! A11, B11, B12: pages that are made to break a browser, or whoever drives it, end in their time in
//! one of the ways of B12, and take nobody with them.

use std::time::Duration;

use testkit::web::{Answer, Ask, Step};
use testkit::world::World;

use crate::{config, has_browser, page_info, record};

const COLLECTION: &str = "  - name: web\n    engine: browser\n    browser:\n      screenshot: full\n      when_unchanged: skip\n      limits: {quiet: 300ms, load: 6s, behave: 2s, collect: 8s, total: 20s, requests: 60}\n";
/// Whatever a page does, its time is over after that; the machine may be busy.
const TOTAL_MS_MAX: u64 = 60_000;
/// Of the harvester alone.
const PEAK_KIB_MAX: u64 = 1_500_000;

/// A page that is seen to its end, whatever it is up to.
const SEEN: &[&str] = &["ok", "slow-load", "never-idle"];
/// One that may take its own process down, or keep it busy for longer than is waited for.
const ANY: &[&str] = &["ok", "slow-load", "never-idle", "hung", "crashed"];

/// Host, what it shows, how it may end, and what its final DOM has.
const PAGES: &[(&str, &str, &[&str], Option<&str>)] = &[
    (
        "nodes",
        "<script>for (let i = 0; i < 1e6; i++) document.body.append(document.createElement('p'))</script>",
        ANY,
        None,
    ),
    (
        "deep",
        "<script>let e = document.body; for (let i = 0; i < 20000; i++) { const n = document.createElement('b'); e.append(n); e = n }</script>",
        ANY,
        None,
    ),
    (
        "nested",
        "<p>outer<script>let d = document; for (let i = 0; i < 80; i++) { const f = d.createElement('iframe'); d.body.append(f); d = f.contentDocument }</script>",
        SEEN,
        Some("<p>outer"),
    ),
    (
        "frames",
        "<p>outer<script>for (let i = 0; i < 120; i++) { const f = document.createElement('iframe'); f.src = `http://f${i}.frames.test/`; document.body.append(f) }</script>",
        ANY,
        Some("<p>outer"),
    ),
    ("requests", "<script>for (let i = 0; i < 1e5; i++) fetch('/n' + i).catch(() => {})</script>", ANY, None),
    (
        "data",
        "<script>const u = 'data:text/html,' + 'x'.repeat(4e7); new Image().src = u; window.open(u); location = u; document.body.append(Object.assign(document.createElement('iframe'), {src: u}))</script>",
        ANY,
        None,
    ),
    (
        "loop",
        "<img src=/loop><script>fetch('/loop?f').catch(() => {})</script><iframe src=/loop?i></iframe>",
        SEEN,
        None,
    ),
    (
        "headers",
        "<img src=/long-header><script>fetch('/h', {headers: {'X-Long': 'x'.repeat(3e5)}}).catch(() => {}); fetch('/' + 'u'.repeat(2e5)).catch(() => {})</script>",
        SEEN,
        None,
    ),
    (
        "blobs",
        "<script>for (let i = 0; i < 50; i++) Object.assign(document.createElement('a'), {download: i + '.bin', href: URL.createObjectURL(new Blob([new Uint8Array(1e6)]))}).click()</script>",
        SEEN,
        None,
    ),
    ("write", "<script>setInterval(() => document.write('<p>' + 'x'.repeat(1000)), 0)</script>", ANY, None),
    (
        "popups",
        "<script>for (let i = 0; i < 200; i++) window.open('/w' + i, '_blank'); window.open('http://popups.test/' + 'x'.repeat(1e6))</script>",
        ANY,
        None,
    ),
    (
        "close",
        "<p>stays<script>window.close(); self.open('', '_self').close()</script>",
        SEEN,
        Some("<p>stays"),
    ),
    (
        "states",
        "<script>setInterval(() => { for (let i = 0; i < 500; i++) history.pushState(i, '', '/s' + Math.random()) }, 0)</script>",
        ANY,
        None,
    ),
    (
        "away",
        "<p>stays<script>let n = 0; setInterval(() => { location.href = '/away' + n++ }, 3)</script>",
        SEEN,
        Some("<p>stays"),
    ),
    ("reload", "<p>stays<script>setInterval(() => location.reload(), 40)</script>", ANY, None),
    (
        "texts",
        "<script>document.title = 'a\\0b\\ud800c'; document.body.append('left \\udfff right \\0 \\ud83d\\ude00'); alert('\\ud800'); document.cookie = 'odd=\\ud800'</script>",
        SEEN,
        Some("left \u{fffd} right"),
    ),
    (
        "clobbered",
        "<p>kept<img name=querySelectorAll><img name=title><img name=documentElement><img name=doctype><img name=URL><img name=contentType><img name=scrollingElement><form><input name=shadowRoot></form><div><template shadowrootmode=open><a href=/in-shadow>s</a></template></div>",
        SEEN,
        Some("/in-shadow"),
    ),
    ("title", "<script>document.title = 'x'.repeat(2 ** 28)</script>", ANY, None),
    (
        "escapes",
        "<p>begun<script>document.body.append(document.createComment('\\u0001'.repeat(34e6)))</script>",
        ANY,
        None,
    ),
    ("alerts", "<script>alert('x'.repeat(2 ** 27)); confirm('\\udc00'); prompt('\\0')</script>", SEEN, None),
    (
        "cookies",
        "<script>for (let i = 0; i < 400; i++) document.cookie = 'c' + i + '=' + 'v'.repeat(4000) + '; max-age=9999'</script>",
        SEEN,
        None,
    ),
    (
        "wide",
        "<meta name=viewport content='width=2147483647, initial-scale=1e-9'><div style='width:2147483647px;height:2147483647px;background:linear-gradient(red,blue)'></div>",
        ANY,
        None,
    ),
    ("drip", "<p>drips<img src=/drip>", SEEN, Some("<p>drips")),
    (
        "workers",
        "<script>for (let i = 0; i < 100; i++) new Worker(URL.createObjectURL(new Blob(['for(;;);'])))</script>",
        ANY,
        None,
    ),
    (
        "socket",
        "<script>for (let i = 0; i < 300; i++) new WebSocket('ws://socket.test/none')</script>",
        ANY,
        None,
    ),
    (
        "after",
        "<script>addEventListener('pagehide', () => { navigator.sendBeacon('/after'); fetch('/after', {keepalive: true}) }); setInterval(() => fetch('/tick', {keepalive: true}).catch(() => {}), 30)</script>",
        SEEN,
        None,
    ),
    ("good", "<title>good</title><p>good<a href=/y>y</a>", SEEN, Some("<p>good")),
];

fn site(ask: &Ask) -> Answer {
    let name = ask.host.trim_end_matches(".test");
    match (name, ask.path.as_str()) {
        (_, "/robots.txt") => Answer::not_found(),
        (_, "/loop") => Answer::redirect(&format!("/loop?{}", ask.number)),
        (_, "/long-header") => Answer::of(200, &[("X-Long", &"y".repeat(3 << 20))], "x"),
        (_, "/drip") => {
            let mut answer =
                Answer::raw("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 100000\r\n\r\n");
            answer.steps.push(Step::Repeat {
                bytes: vec![0],
                pause: Duration::from_millis(200),
                times: None,
            });
            answer
        }
        (_, "/") => {
            let page = PAGES.iter().find(|(host, ..)| *host == name);
            let html = page.map_or("<p>a frame", |(_, html, ..)| html);
            // There is a body to write to.
            Answer::html(format!("<!doctype html><body>{html}"))
        }
        _ => Answer::text("x"),
    }
}

#[test]
fn a11_b11_b12_hostile_pages_end_in_their_time_and_take_nobody_with_them() {
    if !has_browser() {
        return;
    }
    let only = std::env::var("SKURD_BROWSER_HOSTILE").ok();
    let pages: Vec<_> =
        PAGES.iter().filter(|(name, ..)| only.as_ref().is_none_or(|only| only.contains(name))).collect();
    let world = World::new(crate::SKURD, site);
    let urls: Vec<String> = pages.iter().map(|(name, ..)| format!("http://{name}.test/")).collect();
    let seeds: Vec<(&str, &str)> = urls.iter().map(|url| ("web", url.as_str())).collect();
    world.write("c.yaml", &config(COLLECTION, &seeds).replace("max_depth: 1", "max_depth: 0"));
    let told = world.crawl(&["c.yaml", "--until-done"]);
    assert_eq!(told.code, Some(0), "{}", told.err);
    assert!(!told.err.contains("panicked"), "{}", told.err);
    let mut wrong = Vec::new();
    for ((name, _, endings, kept), url) in pages.iter().zip(&urls) {
        if world.captures_of(&format!("urn:pageinfo:{url}")).is_empty() {
            wrong.push(format!("{name}: nothing is known of it"));
            continue;
        }
        let info = page_info(&world, url);
        let (ending, total) = (info["ending"].as_str().unwrap(), info["phases"]["total"].as_u64().unwrap());
        eprintln!(
            "{name}: {ending} after {total} ms, {} requests, notes {}",
            info["requests"].as_array().unwrap().len(),
            info["notes"]
        );
        if !endings.contains(&ending) || total > TOTAL_MS_MAX {
            wrong.push(format!("{name}: {ending} after {total} ms: {}", info["notes"]));
            continue;
        }
        if let Some(kept) = kept.filter(|_| SEEN.contains(&ending)) {
            let dom = format!("urn:dom:{url}");
            let found = !world.captures_of(&dom).is_empty()
                && String::from_utf8(record(&world, &dom)).unwrap().contains(kept);
            if !found {
                wrong.push(format!("{name}: {kept:?} is not in its DOM: {}", info["notes"]));
            }
        }
        let requests =
            world.web().seen().iter().filter(|seen| seen.ask.host == format!("{name}.test")).count();
        // Where others would go is harvested in its own time.
        if ["requests", "loop"].contains(name) && requests > 65 {
            wrong.push(format!("{name}: {requests} requests"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(world.web().times("http://after.test/after"), 0, "asked for when the page was over");
    assert!(told.peak_kib < PEAK_KIB_MAX, "{} KiB", told.peak_kib);
    eprintln!("{} KiB at most", told.peak_kib);
    world.check();
}
