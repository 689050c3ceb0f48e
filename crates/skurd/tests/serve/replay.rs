//! The archive as pages, on an origin of its own (R1–R3, R6), and as a CDX server.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use testkit::web::Answer;
use testkit::world::{Request, Response, Served, World};

const CONFIG: &str = "
settings: {politeness: {factor: 0, min: 0s, max: 0s}}
collections: [{name: c}, {name: empty}]
profiles: [{name: p, collection: c, every: 30d}]
seeds:
  - {url: 'http://a.test/', profiles: [p]}
  - {url: 'http://a.test/i.png', profiles: [p]}
  - {url: 'http://a.test/old', profiles: [p]}
";

const TOKEN: &str = "a-token-for-the-test-0123";

fn film() -> Vec<u8> {
    (0..100_000_u32).map(|n| u8::try_from(n % 251).unwrap()).collect()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

/// A site harvested twice; its first page has changed in between, and nothing else.
fn world() -> World {
    let version = Arc::new(AtomicU32::new(1));
    let own = Arc::clone(&version);
    let world = World::new(crate::SKURD, move |ask| {
        match ask.path.as_str() {
        "/robots.txt" => Answer::text(""),
        "/" => Answer::of(
            200,
            &[
                ("Content-Type", "text/html; charset=iso-8859-1"),
                ("Set-Cookie", "a=b"),
                ("Content-Security-Policy", "default-src *"),
                ("Strict-Transport-Security", "max-age=1"),
                ("Refresh", "0; url=http://live.test/"),
                ("Content-Language", "nb"),
            ],
            [
                format!("<title>t</title><link rel=stylesheet href=s.css><body><h1>Version {} bl", own.load(Ordering::Relaxed)).as_bytes(),
                b"\xE5b\xE6r</h1><script>alert(1)</script><a href=/old>old</a><img src=//a.test/i.png><a href=/film.mp4>f</a><a href=/zip>z</a>",
            ]
            .concat(),
        ),
        "/s.css" => Answer::of(200, &[("Content-Type", "text/css"), ("Content-Encoding", "gzip")], gzip(b"h1{background:url(i.png)}")),
        "/i.png" => Answer::of(200, &[("Content-Type", "image/png")], b"\x89PNG\r\n\x1a\n..."),
        "/film.mp4" => Answer::of(200, &[("Content-Type", "video/mp4")], film()),
        "/old" => Answer::of(301, &[("Location", "http://a.test/new?x"), ("Set-Cookie", "c=d")], "moved"),
        "/new" | "/new?x" => Answer::raw(&b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n<p>new<p>\r\n0\r\n\r\n"[..]),
        "/zip" => Answer::of(200, &[("Content-Type", "text/plain; charset=utf-8"), ("Content-Encoding", "gzip")], gzip("blåbær".as_bytes())),
        _ => Answer::not_found(),
    }
    });
    world.write("c.yaml", CONFIG);
    world.crawl_json(&["c.yaml", "--until-done"]);
    version.store(2, Ordering::Relaxed);
    world.crawl_json(&["c.yaml", "--until-done", "--again"]);
    world
}

fn get(served: &Served, path: &str) -> Response {
    served.replay("GET", path).send()
}

/// The times of the captures of a URL, as they stand in addresses.
fn stamps(served: &Served, url: &str) -> Vec<String> {
    let list = Request::new(served.replay.unwrap(), "GET", &format!("/c/timemap/json/{url}"))
        .header("Authorization", &format!("Bearer {TOKEN}"));
    let list = if list.clone().send().status == 200 {
        list
    } else {
        served.replay("GET", &format!("/c/timemap/json/{url}"))
    };
    let list = list.send().json();
    let addresses = list["mementos"]["list"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["uri"].as_str().unwrap().to_owned());
    addresses
        .map(|address| address.split_once("/c/").unwrap().1.split('/').next().unwrap().to_owned())
        .collect()
}

/// As an address says them, where no two share a second.
fn short(stamp: &str) -> &str {
    &stamp[..14]
}

#[test]
fn r2_a_page_is_shown_as_it_was() {
    let world = world();
    let served = Served::start(&world);
    let stamps = stamps(&served, "http://a.test/");
    let [first, second] = &stamps[..] else { panic!("{stamps:?}") };
    for (stamp, version, other) in
        [(first, "Version 1 blåbær", "later"), (second, "Version 2 blåbær", "earlier")]
    {
        // Shared seconds have addresses of their own.
        let moved = get(&served, &format!("/c/{stamp}/http://a.test/"));
        let address = match moved.status {
            302 => moved.header("location").unwrap().split_once("/c/").unwrap().1.to_owned(),
            _ => format!("{stamp}/http://a.test/"),
        };
        let shown = get(&served, &format!("/c/{address}"));
        assert_eq!(shown.status, 200, "{address}");
        assert_eq!(shown.header("content-type"), Some("text/html; charset=utf-8"));
        let text = shown.text();
        assert!(
            text.contains(version) && text.contains(other) && !text.contains("<script"),
            "{version} {other}: {}",
            &text[text.len().saturating_sub(700)..]
        );
        let at = address.split('/').next().unwrap();
        for part in [
            format!("<link rel=\"stylesheet\" href=\"/c/{at}if_/http://a.test/s.css\">"),
            format!("<a href=\"/c/{at}/http://a.test/old\">"),
            format!("<img src=\"/c/{at}if_/http://a.test/i.png\">"),
        ] {
            assert!(text.contains(&part), "{part}: {text}");
        }
        assert!(!text.contains("href=\"http://a.test"), "no way to the live web: {text}");
        // In a frame of another page, without the bar.
        let part = get(&served, &format!("/c/{stamp}if_/http://a.test/")).text();
        assert!(part.contains(version) && !part.contains("skurd-bar"), "{part}");
        let raw = get(&served, &format!("/c/{stamp}id_/http://a.test/"));
        assert!(
            raw.body.windows(3).any(|window| window == b"\xE5b\xE6")
                && raw.body.starts_with(b"<title>t</title><link rel=stylesheet")
        );
        assert_eq!(raw.header("content-type"), Some("text/html; charset=iso-8859-1"));
    }
    // Other spellings of time and address lead there.
    for (path, stamp) in [
        ("/c/2001/http://a.test/", first),
        ("/c/2999/http://a.test/", second),
        ("/c/http://a.test/", second),
        ("/c/http:/a.test", second),
        ("/c/2999/https://www.a.test/", second),
        ("/c/2999mp_/a.test", second),
    ] {
        let moved = get(&served, path);
        assert_eq!(moved.status, 302, "{path}");
        let location = moved.header("location").unwrap();
        assert!(
            location.contains(&format!("/c/{}", short(stamp))) && location.ends_with("/http://a.test/"),
            "{path}: {location}"
        );
    }
    let css = get(&served, &format!("/c/{second}if_/http://a.test/s.css"));
    assert_eq!(css.header("content-type"), Some("text/css; charset=utf-8"));
    assert!(css.text().ends_with("if_/http://a.test/i.png)}"), "{}", css.text());
    assert_eq!(get(&served, &format!("/c/{second}if_/http://a.test/zip")).text(), "blåbær");
    let raw = get(&served, &format!("/c/{second}id_/http://a.test/zip"));
    assert_eq!((raw.header("content-encoding"), &raw.body), (Some("gzip"), &gzip("blåbær".as_bytes())));
}

#[test]
fn r6_revisits_redirects_and_ranges_are_answered_from_captures() {
    let world = world();
    let served = Served::start(&world);
    // What has not changed is a revisit.
    let picture = served.json("captures?url=http://a.test/i.png&collection=c");
    assert_eq!(picture["items"][1]["revisit"], true);
    let second = stamps(&served, "http://a.test/i.png")[1].clone();
    let shown = get(&served, &format!("/c/{second}if_/http://a.test/i.png"));
    assert_eq!((shown.status, shown.header("content-type")), (200, Some("image/png")));
    assert_eq!(shown.body, b"\x89PNG\r\n\x1a\n...");
    let own = get(&served, &format!("/c/{second}if_/http://a.test/i.png"))
        .header("memento-datetime")
        .unwrap()
        .to_owned();
    assert!(own.ends_with(" GMT"));

    let moved = get(&served, &format!("/c/{second}if_/http://a.test/old"));
    assert_eq!(moved.status, 301, "as captured");
    let location = moved.header("location").unwrap();
    assert!(location.starts_with("/c/20") && location.ends_with("if_/http://a.test/new?x"), "{location}");
    assert_eq!(get(&served, location).text(), "<p>new<p>", "without chunks");

    let whole = film();
    let path = format!("/c/{second}if_/http://a.test/film.mp4");
    let shown = get(&served, &path);
    assert_eq!((shown.status, shown.header("accept-ranges")), (200, Some("bytes")));
    assert!(shown.body == whole);
    for (range, from, to) in [
        ("bytes=0-0", 0, 1),
        ("bytes=70000-70999", 70_000, 71_000),
        ("bytes=-10", 99_990, 100_000),
        ("bytes=99999-", 99_999, 100_000),
    ] {
        let part = served.replay("GET", &path).header("Range", range).send();
        assert_eq!((part.status, part.body.as_slice()), (206, &whole[from..to]), "{range}");
        assert_eq!(part.header("content-range"), Some(&*format!("bytes {from}-{}/100000", to - 1)));
    }
    let beyond = served.replay("GET", &path).header("Range", "bytes=100000-").send();
    assert_eq!((beyond.status, beyond.header("content-range")), (416, Some("bytes */100000")));
}

#[test]
fn r1_nothing_that_was_archived_speaks_to_the_browser() {
    let world = world();
    let served = Served::start(&world);
    let stamp = stamps(&served, "http://a.test/")[0].clone();
    for path in [
        format!("/c/{stamp}/http://a.test/"),
        format!("/c/{stamp}mp_/http://a.test/"),
        format!("/c/{stamp}if_/http://a.test/"),
        format!("/c/{stamp}id_/http://a.test/"),
        format!("/c/{stamp}if_/http://a.test/i.png"),
        format!("/c/{stamp}if_/http://a.test/old"),
        "/c/2001/http://b.test/".to_owned(),
        "/c/timegate/http://a.test/".to_owned(),
        "/c/timemap/link/http://a.test/".to_owned(),
        "/".to_owned(),
        "/nowhere".to_owned(),
        "/~nokey/c/2001/http://a.test/".to_owned(),
    ] {
        let answer = get(&served, &path);
        let policy = answer.header("content-security-policy").unwrap();
        assert!(
            policy.starts_with("sandbox; default-src 'none'; script-src 'none'")
                && !policy.contains("allow-"),
            "{path}: {policy}"
        );
        assert_eq!(
            answer
                .headers
                .iter()
                .filter(|(name, _)| name.eq_ignore_ascii_case("content-security-policy"))
                .count(),
            1
        );
        for gone in ["set-cookie", "strict-transport-security", "refresh", "access-control-allow-origin"] {
            assert_eq!(answer.header(gone), None, "{path}");
        }
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{path}");
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"), "{path}");
    }
    // It is only read, and only under names of this machine.
    for method in ["POST", "PUT", "DELETE", "OPTIONS"] {
        assert_eq!(served.replay(method, "/c/2001/http://a.test/").send().status, 405, "{method}");
    }
    let head = served.replay("HEAD", &format!("/c/{stamp}if_/http://a.test/")).send();
    assert_eq!((head.status, head.body.len()), (200, 0));
    for (host, status) in
        [("localhost:1", 200), ("127.0.0.1", 200), ("evil.test", 403), ("localhost.evil.test:80", 403)]
    {
        let asked =
            served.replay("GET", &format!("/c/{stamp}if_/http://a.test/")).header("Host", host).send();
        assert_eq!(asked.status, status, "{host}");
    }
    // What has no origin may ask the API nothing.
    for (origin, status) in [("null", 403), ("http://localhost:1", 200)] {
        for path in ["/api/v1/status", "/", "/cdx/c?url=http://a.test/"] {
            assert_eq!(
                served.request("GET", path).header("Origin", origin).send().status,
                status,
                "{origin} {path}"
            );
        }
    }
    let missing = get(&served, "/c/2001/http://b.test/x?y'%3Cb%3E");
    assert_eq!(missing.status, 404);
    let text = missing.text();
    assert!(
        text.contains("Not in the archive")
            && text.contains("http://b.test/x?y'%3Cb%3E")
            && !text.contains("href"),
        "{text}"
    );
    for path in
        ["/c/2001/urn:dom:http://a.test/", "/c/2001/file:///etc/passwd", "/c/2001/javascript:alert(1)"]
    {
        assert_eq!(get(&served, path).status, 400, "{path}");
    }
    for path in [
        "/d/2001/http://a.test/",
        "/empty/2001/http://a.test/",
        "/c/2001",
        "/c/20x/http://a.test/",
        "/../c",
        "/c",
    ] {
        assert_eq!(get(&served, path).status, 404, "{path}");
    }
    let asked = world.web().count();
    for path in ["/c/2001/http://a.test/never", "/c/2001if_/http://a.test/i.png", "/c/http://a.test/"] {
        get(&served, path);
    }
    assert_eq!(world.web().count(), asked, "the web is not asked");
}

#[test]
fn r1_with_a_token_links_of_the_dashboard_and_nothing_else_let_in() {
    let world = world();
    let served = Served::with(&world, &["c.yaml", "--listen", "0.0.0.0:0"], Some(TOKEN));
    let stamp = stamps(&served, "http://a.test/")[0].clone();
    let path = format!("/c/{stamp}if_/http://a.test/");
    assert_eq!(get(&served, &path).status, 401);
    assert_eq!(served.replay("GET", &path).header("Authorization", "Bearer wrong").send().status, 401);
    assert_eq!(served.replay("GET", &path).header("Cookie", "skurd_session=x").send().status, 401);
    let right = format!("Bearer {TOKEN}");
    assert_eq!(served.replay("GET", &path).header("Authorization", &right).send().status, 200);

    let page = served
        .request("GET", "/captures?prefix=http://a.test/")
        .header("Host", "archive.example.org")
        .send()
        .text();
    let replay = served.replay.unwrap();
    let start = format!("http://archive.example.org:{}/~", replay.port());
    let from = page.find(&start).expect("links lead to the other port");
    let link = page[from..].split('"').next().unwrap().replace("&amp;", "&");
    let path = link.strip_prefix(&format!("http://archive.example.org:{}", replay.port())).unwrap();
    let moved = get(&served, path);
    let shown = if moved.status == 302 {
        get(
            &served,
            moved
                .header("location")
                .unwrap()
                .split_once("/~")
                .map(|(_, rest)| format!("/~{rest}"))
                .unwrap()
                .as_str(),
        )
    } else {
        moved
    };
    assert_eq!(shown.status, 200, "{path}");
    let key = path.split('/').nth(1).unwrap();
    assert!(shown.text().contains(&format!("\"/{key}/c/")), "links go on with the key");
    // Fonts are let through to what has no origin, where somebody knows the key.
    let font = served.replay("GET", path).header("Origin", "null").send();
    assert_eq!(font.header("access-control-allow-origin"), Some("*"));
    assert_eq!(get(&served, &path.replace("/~", "/~x")).status, 403);
    assert!(!page.contains("href=\"http://a.test"), "no arrow leads to the live site");

    let off = World::new(crate::SKURD, |_| Answer::not_found());
    off.write("c.yaml", CONFIG);
    for args in [
        &["serve", "c.yaml", "--replay", "0.0.0.0:0"][..],
        &["serve", "c.yaml", "--replay", "off", "--replay-url", "https://r.test"],
        &["serve", "c.yaml", "--replay-url", "https://r.test/path"],
    ] {
        assert_eq!(off.skurd(args).code, Some(2), "{args:?}");
    }
    let served = Served::with(&off, &["c.yaml", "--replay", "off"], None);
    assert_eq!(served.replay, None);
}

#[test]
fn r3_memento_clients_find_their_way() {
    let world = world();
    let served = Served::start(&world);
    let origin = format!("http://{}", served.replay.unwrap());
    let stamps = stamps(&served, "http://a.test/");
    let gate = |date: Option<&str>| {
        let ask = served.replay("GET", "/c/timegate/http://a.test/");
        date.map_or(ask.clone(), |date| ask.header("Accept-Datetime", date)).send()
    };
    // RFC 7089, 4.2 and 4.5: before the first, after the last, and where none is said.
    for (date, stamp) in [
        (Some("Thu, 31 May 2007 20:35:00 GMT"), &stamps[0]),
        (Some("Thu, 31 May 2999 20:35:00 GMT"), &stamps[1]),
        (Some("Fri, 31 May 2999 20:35:00 GMT"), &stamps[1]),
        (None, &stamps[1]),
    ] {
        let answer = gate(date);
        if answer.status == 400 {
            continue;
        }
        assert_eq!((answer.status, answer.header("vary")), (302, Some("accept-datetime")), "{date:?}");
        assert_eq!(answer.header("memento-datetime"), None, "a gate is no memento");
        let location = answer.header("location").unwrap();
        assert!(
            location.starts_with(&format!("{origin}/c/{}", short(stamp)))
                && location.ends_with("/http://a.test/"),
            "{location}"
        );
        let link = answer.header("link").unwrap();
        assert!(
            link.contains("<http://a.test/>; rel=\"original\"")
                && link.contains("rel=\"timemap\"; type=\"application/link-format\""),
            "{link}"
        );

        let memento =
            Request::new(served.replay.unwrap(), "HEAD", location.strip_prefix(&origin).unwrap()).send();
        assert_eq!(memento.status, 200);
        assert!(memento.header("memento-datetime").unwrap().ends_with(" GMT"));
        let link = memento.header("link").unwrap();
        for rel in ["original", "timegate", "timemap"] {
            assert!(link.contains(&format!("rel=\"{rel}\"")), "{rel}: {link}");
        }
        assert!(link.contains("first") && link.contains("last"), "{link}");
    }
    assert_eq!(gate(Some("yesterday")).status, 400);
    assert_eq!(served.replay("GET", "/c/timegate/http://b.test/").send().status, 404);

    let map = get(&served, "/c/timemap/link/http://a.test/");
    assert_eq!((map.status, map.header("content-type")), (200, Some("application/link-format")));
    let text = map.text();
    assert_eq!(text.matches("memento\"; datetime=").count(), stamps.len(), "{text}");
    assert!(
        text.contains("rel=\"first memento\"")
            && text.contains("rel=\"last memento\"")
            && text.contains("; rel=\"self\""),
        "{text}"
    );
    // Every address in it is that of the capture.
    for address in text
        .split('<')
        .filter_map(|part| part.split_once('>'))
        .filter(|(_, rest)| rest.contains("memento\""))
        .map(|(address, _)| address)
    {
        let shown =
            Request::new(served.replay.unwrap(), "GET", address.strip_prefix(&origin).unwrap()).send();
        let date = shown.header("memento-datetime").unwrap_or_else(|| panic!("{address}: {}", shown.status));
        assert!(text.contains(date), "{date}");
    }
    let json = get(&served, "/c/timemap/json/http://a.test/").json();
    assert_eq!(json["mementos"]["list"].as_array().unwrap().len(), stamps.len());
    assert_eq!(json["original_uri"], "http://a.test/");
    assert_eq!(get(&served, "/c/timemap/link/http://b.test/").status, 404);
}

#[test]
fn r3_the_index_is_asked_as_a_cdx_server_is() {
    let world = world();
    let served = Served::start(&world);
    let ask = |query: &str| {
        let answer = served.get(&format!("/cdx/c?{query}"));
        assert_eq!(answer.status, 200, "{query}: {}", answer.text());
        answer.text().lines().map(str::to_owned).collect::<Vec<_>>()
    };
    // The same captures as the whole index has.
    let all = ask("url=a.test&matchType=host");
    let export = world_export(&served);
    let of_site: Vec<&str> = export.lines().filter(|line| line.starts_with("test,a)")).collect();
    assert_eq!(all.len(), of_site.len());
    for line in &all {
        let fields: Vec<&str> = line.split(' ').collect();
        assert_eq!(fields.len(), 11, "{line}");
        let (key, time, digest, length, offset, file) =
            (fields[0], fields[1], fields[5], fields[8], fields[9], fields[10]);
        let is_same = |other: &&&str| {
            other.starts_with(&format!("{key} {time} "))
                && [digest, &format!("\"{length}\""), &format!("\"{offset}\""), file]
                    .iter()
                    .all(|part| other.contains(part))
        };
        assert!(of_site.iter().any(|other| is_same(&other)), "{line}");
    }
    assert!(all.iter().any(|line| line.contains(" warc/revisit ")));
    assert!(all.is_sorted_by_key(|line| line.split(' ').take(2).collect::<Vec<_>>().join(" ")));
    assert_eq!(ask("url=http://a.test/*"), all);
    assert_eq!(ask("url=*.a.test"), all);
    assert_eq!(ask("url=http://a.test/&matchType=prefix&limit=2&output=json&fl=x"), all[..2]);
    let first = ask("url=http://a.test/");
    assert_eq!(first.len(), 2);
    let mut turned = ask("url=http://a.test/&sort=reverse");
    turned.reverse();
    assert_eq!(turned, first);
    assert_eq!(ask("url=http://a.test/&sort=closest&closest=2001&limit=1"), first[..1]);
    assert_eq!(
        ask("url=http://a.test/&sort=closest&closest=29990101000000"),
        [first[1].clone(), first[0].clone()]
    );
    assert_eq!(ask("url=http://a.test/&from=2999").len(), 0);
    assert_eq!(ask("url=http://a.test/&to=2001").len(), 0);
    assert_eq!(ask("url=http://never.test/").len(), 0);
    for (path, status) in [
        ("/cdx/c", 400),
        ("/cdx/c?url=", 400),
        ("/cdx/c?url=a.test&matchType=fuzzy", 400),
        ("/cdx/c?url=a.test&sort=odd", 400),
        ("/cdx/c?url=a.test&sort=closest", 400),
        ("/cdx/c?url=a.test&from=x", 400),
        ("/cdx/d?url=a.test", 404),
    ] {
        assert_eq!(served.get(path).status, status, "{path}");
    }
}

fn world_export(served: &Served) -> String {
    served.get("/api/v1/cdx?collection=c").text()
}
