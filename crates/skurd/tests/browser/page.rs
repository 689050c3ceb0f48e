//! What a browser finds on a page, and what is kept of it.

use std::net::TcpListener;
use std::time::Duration;

use serde_json::Value;
use testkit::web::{Answer, Ask};
use testkit::world::World;

use crate::{config, harvest, has_browser, page_info, record};

const COLLECTION: &str = "  - name: web\n    engine: browser\n    cookies: [{host: page.test, name: login, value: kari}]\n    browser:\n      language: nb-NO,nb,en\n      timezone: Europe/Oslo\n      viewport: {width: 800, height: 600}\n      color_scheme: dark\n      screenshot: full\n      limits: {quiet: 500ms, load: 15s}\n";

const PAGE: &str = r#"<!DOCTYPE html><html lang=nb><head><title>Made by script</title>
<link rel=stylesheet href=/style.css></head><body>
<a href=/static>as it came</a><div id=app></div>
<iframe src=http://frame.test/inner></iframe>
<img src=http://denied.test/pixel.png><div style="height:4000px"></div>
<img loading=lazy src=/lazy.png>
<form action=/form method=post><input name=q></form>
<script>
  alert('hello'); print();
  fetch('/data.json').then(r => r.json()).then(d => {
    const a = document.createElement('a'); a.href = d.link; a.textContent = 'made'; app.append(a);
    const host = document.createElement('div'); app.append(host);
    host.attachShadow({mode: 'open'}).innerHTML = '<a href=/in-shadow>s</a>';
    app.append(' ' + [navigator.language, innerWidth, matchMedia('(prefers-color-scheme: dark)').matches,
      Intl.DateTimeFormat().resolvedOptions().timeZone, document.cookie].join('|'));
  });
  fetch('/post', {method: 'POST', headers: {'Content-Type': 'application/x-www-form-urlencoded'}, body: 'a=1&b=x+y'});
  fetch('/put', {method: 'PUT', body: 'x'}).catch(() => {});
  document.cookie = 'seen=yes; max-age=3600';
  new EventSource('/events');
  window.open('/popup');
  fetch('http://[::1]:PORT/secret').catch(() => {});
  setTimeout(() => { location.href = '/moved'; }, 200);
</script></body></html>"#;

fn site(ask: &Ask, port: u16) -> Answer {
    let image = || Answer::of(200, &[("Content-Type", "image/png")], testkit::coding::png(8, &[0x55; 64]));
    match (ask.host.as_str(), ask.path.as_str()) {
        ("denied.test", "/robots.txt") => Answer::text("User-agent: *\nDisallow: /"),
        (_, "/robots.txt") => Answer::not_found(),
        ("page.test", "/") => {
            let body = testkit::coding::gzip(PAGE.replace("PORT", &port.to_string()).as_bytes());
            let headers = [
                ("Content-Type", "text/html"),
                ("Content-Encoding", "gzip"),
                ("X-Twice", "1"),
                ("X-Twice", "2"),
                ("Set-Cookie", "session=s1; Max-Age=3600"),
            ];
            Answer::of(200, &headers, body)
        }
        ("page.test", "/style.css") => {
            Answer::of(200, &[("Content-Type", "text/css")], "body { color: red }")
        }
        ("page.test", "/data.json") => {
            Answer::of(200, &[("Content-Type", "application/json")], r#"{"link": "/by-script"}"#)
        }
        ("page.test", "/post") => Answer::text("posted"),
        ("page.test", "/lazy.png") | ("denied.test", "/pixel.png") => image(),
        ("page.test", "/events") => {
            Answer::raw("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n")
                .then_for_ever("data: 2\n\n", Duration::from_millis(100))
        }
        ("frame.test", "/inner") => Answer::html("<a href=http://page.test/in-frame>f</a>"),
        ("page.test", _) => Answer::text("a leaf"),
        _ => Answer::not_found(),
    }
}

fn asked(world: &World) -> Vec<String> {
    let mut all: Vec<String> = world
        .web()
        .seen()
        .iter()
        .map(|seen| format!("{} {}{}", seen.ask.method, seen.ask.host, seen.ask.path))
        .collect();
    all.sort();
    all
}

#[test]
fn b3_b5_b9_b14_b16_b17_a_page_is_harvested_as_a_browser_sees_it() {
    if !has_browser() {
        return;
    }
    // Whoever gets past the guard is heard here, and nowhere else.
    let secret = TcpListener::bind("[::1]:0").unwrap();
    secret.set_nonblocking(true).unwrap();
    let port = secret.local_addr().unwrap().port();
    let world = World::new(crate::SKURD, move |ask| site(ask, port));
    harvest(&world, &config(COLLECTION, &[("web", "http://page.test/")]));
    let asked = asked(&world);
    let times = |what: &str| asked.iter().filter(|one| *one == what).count();
    let info = page_info(&world, "http://page.test/");

    // B3: the document once. B17: what the page leads to was harvested, each once; what it needed
    // was loaded with it, and not asked for again.
    for one in [
        "GET page.test/",
        "GET page.test/static",
        "GET page.test/by-script",
        "GET page.test/in-shadow",
        "GET page.test/in-frame",
        "GET page.test/popup",
        "GET page.test/moved",
        "GET page.test/style.css",
        "GET page.test/data.json",
        "GET page.test/lazy.png",
        "GET page.test/events",
        "GET frame.test/inner",
        "POST page.test/post",
        "GET denied.test/robots.txt",
    ] {
        assert_eq!(times(one), 1, "{one}: {asked:#?}\n{info:#}");
    }
    // B5, B9, B4: refused and noted. Forms stay untouched.
    for none in
        ["PUT page.test/put", "GET denied.test/pixel.png", "POST page.test/form", "GET page.test/form"]
    {
        assert_eq!(times(none), 0, "{none}");
    }
    assert!(secret.accept().is_err(), "a connection that the guard should have refused");
    let request = |url: &str| -> &Value {
        let requests = info["requests"].as_array().unwrap();
        requests.iter().find(|request| request["url"] == url).unwrap_or_else(|| panic!("{url}: {info:#}"))
    };
    assert_eq!(info["ending"], "ok", "{info:#}");
    assert_eq!(info["title"], "Made by script");
    assert_eq!(info["dialogs"], 1);
    assert_eq!(info["redirects"], serde_json::json!(["http://page.test/moved"]));
    assert_eq!(request("http://page.test/put")["from"], "refused");
    assert_eq!(request("http://denied.test/pixel.png")["from"], "refused");
    assert!(request("http://denied.test/pixel.png")["reason"].as_str().unwrap().contains("Disallow"));
    // Its robots.txt could not be asked for, let alone itself.
    assert_eq!(request(&format!("http://[::1]:{port}/secret"))["from"], "refused");
    assert_eq!(request("http://page.test/data.json")["status"], 200);
    assert!(request("http://page.test/style.css")["record"].as_str().unwrap().starts_with("<urn:uuid:"));

    // B5: as on the wire; a POST is known by what was sent.
    let document = String::from_utf8_lossy(&record(&world, "http://page.test/")).into_owned();
    assert!(document.contains("X-Twice: 1\r\nX-Twice: 2\r\n"), "{document}");
    let captures = world.captures();
    let urls: Vec<&str> = captures.iter().map(|capture| capture["url"].as_str().unwrap()).collect();
    assert!(urls.contains(&"http://page.test/post?__wb_method=POST&a=1&b=x%20y"), "{urls:#?}");

    // B16, B2: what was seen, and by whom.
    let dom = String::from_utf8(record(&world, "urn:dom:http://page.test/")).unwrap();
    assert!(dom.starts_with("<!DOCTYPE html>"), "{dom}");
    assert!(dom.contains("shadowrootmode"), "{dom}");
    assert!(dom.contains("nb-NO|800|true|Europe/Oslo|"), "{dom}");
    for cookie in ["login=kari", "session=s1", "seen=yes"] {
        assert!(dom.contains(cookie), "{cookie}: {dom}");
    }
    for picture in ["urn:view:http://page.test/", "urn:thumbnail:http://page.test/"] {
        let picture = record(&world, picture);
        assert!(picture.starts_with(&[0xff, 0xd8, 0xff]) && picture.len() > 1000);
    }
    // B15: what the script set was sent with what was harvested afterwards.
    let later = world.web().seen().into_iter().find(|seen| seen.ask.path == "/by-script").unwrap();
    let cookies = later.ask.header("cookie").unwrap_or_default().to_owned();
    assert!(cookies.contains("seen=yes") && cookies.contains("login=kari"), "{cookies}");
    // A1 in B2.
    let agent = later.ask.header("user-agent").unwrap().to_owned();
    assert!(
        agent.contains("Chrome/") && agent.contains("skurd") && agent.contains("test@example.org"),
        "{agent}"
    );
    world.check();
}

#[test]
fn b1_b15_the_same_page_in_two_collections_is_two_pages() {
    if !has_browser() {
        return;
    }
    let site = |ask: &Ask| match ask.path.as_str() {
        "/" => {
            Answer::html("<script>document.write(document.cookie + ' ' + innerWidth)</script><img src=/i>")
        }
        "/i" => Answer::of(200, &[("Content-Type", "image/gif")], ask.header("cookie").unwrap_or("none")),
        _ => Answer::not_found(),
    };
    let world = World::new(crate::SKURD, site);
    let collections = "  - {name: plain}\n  - {name: wide, engine: browser, browser: {limits: {quiet: 300ms}}}\n  - name: small\n    engine: browser\n    cookies: [{host: a.test, name: login, value: kari}]\n    browser: {viewport: {width: 400, height: 700}, device: {touch: yes, scale: 2}, limits: {quiet: 300ms}}\n";
    let url = "http://a.test/";
    harvest(&world, &config(collections, &[("plain", url), ("wide", url), ("small", url)]));
    let all = world.json(&["captures", "urn:dom:http://a.test/"]);
    assert_eq!(all.len(), 2, "{all:#?}");
    let dom = |collection: &str| {
        let captures = world.json(&["captures", "urn:dom:http://a.test/", "--collection", collection]);
        let file = world.data().join("warc").join(captures[0]["file"].as_str().unwrap());
        let offset = captures[0]["offset"].as_u64().unwrap();
        let length = captures[0]["length"].as_u64().unwrap();
        let mut record =
            net::warc::StoredRecord::open(std::fs::File::open(file).unwrap(), offset, length).unwrap();
        let mut text = String::new();
        std::io::Read::read_to_string(&mut record, &mut text).unwrap();
        text
    };
    assert!(dom("wide").contains("1280"), "{}", dom("wide"));
    assert!(!dom("wide").contains("login"), "{}", dom("wide"));
    assert!(dom("small").contains("login=kari"), "{}", dom("small"));
    world.check();
}
