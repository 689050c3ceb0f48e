//! Hostile pages out of the archive, in a real browser (R1, R8): what they need is shown, and nothing
//! of them reaches the web or the API.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::json;
use testkit::web::{Answer, Setup, Web};
use testkit::world::{Request, Served, World};

use crate::browser::Browser;

const CONFIG: &str = "
settings: {politeness: {factor: 0, min: 0s, max: 0s}}
collections: [{name: c}]
profiles: [{name: p, collection: c, every: 30d}]
seeds: [{url: 'http://evil.test/', profiles: [p]}]
";

/// A PNG of one pixel.
const PIXEL: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\0\0\0\rIDATx\x9cc\xf8\xcf\xc0\xf0\x1f\0\x05\0\x01\xff\x89\x99=\x1d\0\0\0\0IEND\xaeB`\x82";

/// Everything that could ask for something at `trap`, which stands for the live web and the API.
fn hostile(trap: &str) -> String {
    format!(
        "<!doctype html><html><head><title>evil</title>
        <meta http-equiv=refresh content='0; url={trap}/refresh'>
        <meta http-equiv=Content-Security-Policy content=\"default-src *\">
        <base target=_top>
        <link rel=stylesheet href=/s.css><link rel=preload as=image href='{trap}/preload'><link rel=prefetch href='{trap}/prefetch'>
        <link rel=dns-prefetch href='//trap.test'><link rel=manifest href='{trap}/manifest'>
        <script src='{trap}/script'></script>
        <script>document.cookie='skurd_session=tossed; path=/'; document.title='hacked'; new Image().src='{trap}/by-script';
          navigator.serviceWorker && navigator.serviceWorker.register('/sw.js'); top.location='{trap}/top'; fetch('{trap}/fetch')</script>
        <style>@import '{trap}/import'; @font-face {{ font-family: f; src: url('{trap}/font') }} #a {{ background: url({trap}/css); font-family: f }}
          #b {{ background: u\\72l({trap}/escaped); cursor: url({trap}/cursor), auto }}</style></head>
        <body onload=\"location='{trap}/onload'\" background='{trap}/background'>
        <h1 id=a onclick='x'>Shown</h1><p id=b style='list-style-image:url({trap}/inline)'>text</p>
        <img id=good src=/pixel.png><img src='{trap}/img' onerror=\"location='{trap}/onerror'\" srcset='{trap}/set 2x'>
        <a id=js href='javascript:location=\"{trap}/javascript\"'>js</a>
        <a id=data href='data:text/html,<script>location=\"{trap}/data\"</script>'>data</a>
        <a id=out href='{trap}/link' ping='{trap}/ping' target=_blank>out</a>
        <form id=f action='{trap}/post' method=post><input name=what value=everything><button id=send>send</button></form>
        <iframe src='{trap}/frame'></iframe><iframe id=own src=/frame></iframe>
        <iframe srcdoc=\"<script>parent.location='{trap}/parent'</script><img src='{trap}/srcdoc'>\"></iframe>
        <object data='{trap}/object'></object><embed src='{trap}/embed'><video src='{trap}/video' poster='{trap}/poster' autoplay></video>
        <svg><image href='{trap}/svg'/><use href='{trap}/use#x'/><script>location='{trap}/svg-script'</script>
          <foreignObject><img src='{trap}/foreign'></foreignObject></svg>
        <math href='{trap}/math'><mi>x</mi></math>
        <noscript><img src='{trap}/noscript'></noscript>
        <table background='{trap}/table'><td>x</table>
        <!--[if IE]><img src='{trap}/comment'><![endif]--><title><img src='{trap}/title'></title>
        <a{long} href='{trap}/long'>long</a>
        <math><mtext><table><mglyph><style><!--</style><img src='{trap}/mutation'>
        </body></html>",
        long = " x".repeat(300),
    )
}

fn world(trap: SocketAddr) -> World {
    let page = hostile(&format!("http://{trap}"));
    let world = World::new(crate::SKURD, move |ask| match ask.path.as_str() {
        "/robots.txt" => Answer::text(""),
        "/" => Answer::html(&page),
        "/s.css" => Answer::of(200, &[("Content-Type", "text/css")], "h1{color:rgb(1, 2, 3)}"),
        "/pixel.png" => Answer::of(200, &[("Content-Type", "image/png")], PIXEL),
        "/frame" => Answer::html(format!(
            "<p>framed<script>top.location='http://{trap}/framed'</script><a target=_top href=/x>x</a>"
        )),
        "/drawing.svg" => Answer::of(
            200,
            &[("Content-Type", "image/svg+xml")],
            format!(
                "<svg xmlns='http://www.w3.org/2000/svg' onload=\"location='http://{trap}/svg-onload'\"><script>location='http://{trap}/svg-own'</script><rect width='9' height='9'/></svg>"
            ),
        ),
        _ => Answer::not_found(),
    });
    world.write("c.yaml", CONFIG);
    world
}

#[test]
fn r8_a_hostile_page_reaches_neither_the_api_nor_the_web() {
    let trap = Web::start(([127, 0, 0, 1], 0).into(), Setup::default(), |_| Answer::text("trapped")).unwrap();
    let world = world(trap.address());
    world.crawl_json(&["c.yaml", "--until-done"]);
    let (asked, trapped) = (world.web().count(), trap.count());
    let served = Served::start(&world);
    let Some(browser) = Browser::open(served.address) else { return };

    // From the dashboard, as a person would.
    browser.go("/captures?prefix=http://evil.test/");
    let links = browser.run("return [...document.querySelectorAll('a.out')].map(a => a.href)");
    let links: Vec<&str> = links.as_array().unwrap().iter().map(|link| link.as_str().unwrap()).collect();
    let replay = format!("http://localhost:{}/~", served.replay.unwrap().port());
    assert!(!links.is_empty() && links.iter().all(|link| link.starts_with(&replay)), "{links:?}");
    let page = links.iter().find(|link| link.ends_with("/http://evil.test/")).unwrap();
    let at = |path: &str| page.replace("http://evil.test/", &format!("http://evil.test{path}"));

    browser.go_to(page);
    browser.until("it is shown", |browser| browser.has("#good"));
    browser.until("its picture is there", |browser| {
        browser.run("return document.querySelector('#good').naturalWidth === 1") == true
    });
    assert_eq!(
        browser.run("return getComputedStyle(document.querySelector('h1')).color"),
        "rgb(1, 2, 3)",
        "its style sheet is"
    );
    assert_eq!(browser.run("return document.title"), "evil");
    assert_eq!(browser.run("return origin"), "null", "it has no origin");
    assert_eq!(browser.run("return document.querySelectorAll('script, base, meta[http-equiv]').length"), 0);
    assert_eq!(browser.run("return document.compatMode"), "CSS1Compat");
    let stray = browser.run(
        "return [...document.querySelectorAll('*')].flatMap(e => ['href', 'src', 'action', 'data', 'poster', 'background'].map(n => e.getAttribute(n)))
          .filter(v => v && !v.startsWith('/~') && !v.startsWith('#') && !v.startsWith('data:image'))",
    );
    assert_eq!(stray, json!([]), "nothing leads out");
    // What a person might click.
    for link in ["#js", "#data", "#send", "#out"] {
        browser.go_to(page);
        browser.until("it is shown", |browser| browser.has("#good"));
        browser.try_click(link);
        settled();
        let place = browser.url();
        assert!(place.starts_with(&replay), "{link} leads to {place}");
    }
    for path in ["/frame", "/drawing.svg"] {
        browser.go_to(&at(path));
        settled();
        assert!(browser.url().starts_with(&replay), "{path}");
    }
    // And without what is rewritten: the policy alone holds.
    let raw = page.replacen("/http://evil", "id_/http://evil", 1);
    browser.go_to(&raw);
    browser.until("it is shown", |browser| browser.has("#good"));
    settled();
    assert!(browser.url().starts_with(&replay), "{}", browser.url());
    assert_eq!(browser.run("return document.title"), "evil");
    browser.try_click("#send");
    browser.try_click("#js");
    settled();
    assert!(browser.url().starts_with(&replay), "{}", browser.url());
    let new: Vec<String> = trap.seen()[trapped..].iter().map(|seen| seen.ask.path.clone()).collect();
    assert!(new.is_empty(), "it reached {new:?}");
    assert_eq!(world.web().count(), asked, "the live site was not asked");
    // Nobody tossed a cookie to the dashboard, and the API lives on as it was.
    browser.go("/");
    assert_eq!(browser.run("return document.cookie"), "");
    assert_eq!(served.json("pauses"), json!([]));
    assert_eq!(
        Request::new(served.address, "GET", "/api/v1/status").header("Origin", "null").send().status,
        403
    );
}

/// Time in which a page that could would go somewhere.
fn settled() {
    let (_nobody, nothing) = std::sync::mpsc::sync_channel::<()>(0);
    let _ = nothing.recv_timeout(Duration::from_millis(300));
}
