//! Servers that mean harm, or do not know better: each ends in a reason, within its limits.

use std::io::Write;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;
use testkit::web::{Answer, Ask};
use testkit::world::{World, json_lines};

const NOW: Duration = Duration::ZERO;
const DRIP: Duration = Duration::from_millis(100);
const MEMORY_KIB_MAX: u64 = 300 << 10;

const CONFIG: &str = "
settings: {politeness: {factor: 0, min: 0s, max: 0s}}
collections: [{name: c}]
profiles:
  - name: p
    collection: c
    every: 1d
    length: 1
    scope: {within: any}
    limits:
      max_errors: 0
      max_not_found: 1
      max_bytes: 1MiB
      max_decoded_bytes: 4MiB
      max_header_bytes: 16KiB
      connect_timeout: 2s
      first_byte_timeout: 1s
      total_timeout: 2s
      max_outlinks: 100
  - {name: large, extends: p, limits: {max_bytes: 64MiB, max_decoded_bytes: 64MiB, total_timeout: 30s}}
  - {name: again, extends: p, length: 2}
";

fn bomb() -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    for _ in 0..64 {
        packed.write_all(&[b' '; 1 << 20]).unwrap();
    }
    packed.write_all(b"<a href='http://behind.test/bomb'>x</a>").unwrap();
    packed.finish().unwrap()
}

fn site(ask: &Ask) -> Answer {
    let ok = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n";
    let framed = |headers: &str, body: &str| Answer::raw(format!("{ok}{headers}\r\n{body}"));
    if ask.path == "/robots.txt" {
        return Answer::not_found();
    }
    match ask.host.as_str() {
        "headers.test" => Answer::raw(ok).then_for_ever(format!("X: {}\r\n", "y".repeat(1000)), NOW),
        "header.test" => Answer::raw(format!("{ok}X: ")).then_for_ever(vec![b'y'; 1000], NOW),
        "body.test" => framed("", "<a href='http://behind.test/body'>").then_for_ever(vec![b'x'; 8192], NOW),
        "chunks.test" => {
            framed("Transfer-Encoding: chunked\r\n", "").then_for_ever("3\r\nabc\r\n".repeat(99), NOW)
        }
        "drip.test" => framed("Content-Length: 100\r\n", "<p>").then_for_ever("x", DRIP),
        "drip-head.test" => Answer::raw(ok).then_for_ever("x", DRIP),
        "silent.test" => Answer::raw("").after(Duration::from_secs(60)),
        "gone.test" => Answer::raw(""),
        "bomb.test" => {
            Answer::of(200, &[("Content-Type", "text/html"), ("Content-Encoding", "gzip")], bomb())
        }
        "loop.test" if ask.path == "/a" => Answer::redirect("/b"),
        "loop.test" => Answer::redirect("/a"),
        "self.test" => Answer::redirect("/"),
        "private.test" => Answer::redirect("http://10.0.0.1/secret"),
        "meta.test" => Answer::redirect("http://169.254.169.254/latest/meta-data"),
        "v6.test" => Answer::redirect("http://[::1]/"),
        "header-nul.test" => {
            framed("X-\0Bad: y\r\nno colon here\r\n", "<a href='http://behind.test/nul'>x</a>")
        }
        "not-http.test" => Answer::raw("220 mail.example ESMTP\r\n"),
        "status.test" => Answer::raw("HTTP/1.1 99999 What\r\n\r\nbody"),
        "short.test" => framed("Content-Length: 1000\r\n", "only this"),
        "two-lengths.test" => framed("Content-Length: 4\r\nContent-Length: 9\r\n", "which one"),
        "minus.test" => framed("Content-Length: -5\r\n", "minus"),
        "huge-length.test" => framed("Content-Length: 99999999999999999999\r\n", "huge"),
        "bad-chunk.test" => framed("Transfer-Encoding: chunked\r\n", "zz\r\nabc\r\n"),
        "nul.test" => Answer::html("\0<a href='/\0x'>\0</a>\0".repeat(1000)),
        "links.test" => Answer::html(links()),
        "not-gzip.test" => {
            Answer::of(200, &[("Content-Type", "text/html"), ("Content-Encoding", "gzip")], "not packed")
        }
        "odd.test" => {
            let odd = b"\xff\xfe<\0a\0 \0h\0r\0e\0f\0=\0/\0\xd8\xd8>\0\xff";
            Answer::of(200, &[("Content-Type", "text/html; charset=utf-99")], odd)
        }
        _ => Answer::not_found(),
    }
}

/// Ten megabytes of them, each another one.
fn links() -> String {
    let mut html = String::new();
    for number in 0.. {
        if html.len() > 10 << 20 {
            break;
        }
        html.push_str(&format!("<a href='http://nowhere.invalid/{number}'>{number}</a>"));
    }
    html
}

/// The host, its status or the kind of error, and what the problem says.
const CASES: [(&str, u16, &str, &str); 26] = [
    ("headers", 0, "broken", "header"),
    ("header", 0, "broken", "header"),
    ("body", 200, "", "more bytes than the limit"),
    ("chunks", 200, "", "more bytes than the limit"),
    ("drip", 200, "", "more time than the limit"),
    ("drip-head", 0, "timeout", ""),
    ("silent", 0, "timeout", ""),
    ("gone", 0, "broken", ""),
    ("bomb", 200, "", "more than 4194304 bytes when unpacked"),
    ("loop", 302, "", ""),
    ("self", 302, "", ""),
    ("private", 302, "", ""),
    ("meta", 302, "", ""),
    ("v6", 302, "", ""),
    ("header-nul", 200, "", ""),
    ("not-http", 0, "broken", ""),
    ("status", 0, "broken", ""),
    ("short", 200, "", "ended the connection too early"),
    // A length that cannot be is none: such an answer ends with its connection.
    ("two-lengths", 200, "", ""),
    ("minus", 200, "", ""),
    ("huge-length", 200, "", ""),
    ("bad-chunk", 200, "", ""),
    ("nul", 200, "", ""),
    ("links", 200, "", ""),
    ("not-gzip", 200, "", "says gzip but is not"),
    ("odd", 200, "", ""),
];

#[test]
fn a5_a6_a11_hostile_servers_end_in_a_reason() {
    let world = World::new(crate::SKURD, site);
    let mut config = CONFIG.to_owned() + "seeds:\n";
    for (host, ..) in CASES {
        let profile = match host {
            "links" => "large",
            "bomb" => "again",
            _ => "p",
        };
        config.push_str(&format!("  - {{url: 'http://{host}.test/', profiles: [{profile}]}}\n"));
    }
    world.write("c.yaml", &config);
    let resolve = ["--resolve", "nowhere.invalid=10.0.0.2"];
    let told = world.crawl(&[&["c.yaml", "--until-done", "--json"], &resolve[..]].concat());
    assert_eq!(told.code, Some(0), "{}", told.err);
    assert!(!told.err.contains("panicked"), "{}", told.err);
    assert!((1..MEMORY_KIB_MAX).contains(&told.peak_kib), "{} KiB of memory", told.peak_kib);
    let events = json_lines(&told.out);
    let event = |url: &str| -> &Value {
        events.iter().find(|event| event["event"] == "harvest" && event["url"] == url).expect(url)
    };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut wrong = Vec::new();
    for (host, status, error, problem) in CASES {
        let event = event(&format!("http://{host}.test/"));
        let captures = world.captures_of(&format!("http://{host}.test/")).len();
        let right = event["status"].as_u64().unwrap_or(0) == u64::from(status)
            && text(&event["error"]) == error
            && text(&event["problem"]).contains(problem)
            && (status > 0 || !text(&event["problem"]).is_empty())
            && captures == usize::from(status > 0);
        if !right {
            wrong.push(format!("{host}, {captures} captures: {event}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));

    // A6: what a redirect leads to is refused before anybody is asked, so there is no waiting for
    // it either.
    for url in
        ["http://10.0.0.1/secret", "http://169.254.169.254/latest/meta-data", "http://nowhere.invalid/0"]
    {
        let event = event(url);
        assert_eq!(event["error"], "connect", "{event}");
        assert!(
            text(&event["problem"]).contains("10.0.0.0/8") || text(&event["problem"]).contains("allow"),
            "{event}"
        );
        assert!(world.captures_of(url).is_empty(), "{url}");
    }
    // A5: what is behind the limits is not read, what is before them is.
    assert_eq!(world.web().times("http://behind.test/body"), 1);
    assert_eq!(world.web().times("http://behind.test/bomb"), 0);
    assert_eq!(event("http://links.test/")["links"], 100);
    assert_eq!(world.web().times("http://loop.test/a"), 1);
    assert_eq!(world.web().times("http://self.test/"), 1);
    // A5: the limit that was hit is told where people ask.
    let why = world.why("http://bomb.test/");
    assert!(text(&why["problem"]).contains("more than 4194304 bytes when unpacked"), "{why}");
    for url in ["http://headers.test/", "http://silent.test/", "http://10.0.0.1/secret"] {
        let why = world.why(url);
        assert_eq!(why["situation"], "blacklisted", "{why}");
        assert!(why["blacklist"]["reason"].is_string(), "{why}");
    }
    assert_eq!(
        truncations(&world),
        [("body", "length"), ("chunks", "length"), ("drip", "time"), ("short", "disconnect")]
    );
    world.check();
}

/// The hosts of truncated responses and why they are.
fn truncations(world: &World) -> Vec<(&'static str, &'static str)> {
    let mut found = Vec::new();
    for file in world.warc_files() {
        let mut reader = net::warc::Reader::new(std::fs::File::open(file).unwrap()).unwrap();
        while let Some(head) = reader.next().unwrap() {
            let (Some(why), "response") = (head.get("WARC-Truncated"), head.kind()) else { continue };
            let url = head.target_uri().unwrap();
            let host = CASES.iter().find(|case| url == format!("http://{}.test/", case.0)).expect(&url).0;
            let reasons = ["length", "time", "disconnect", "unspecified"];
            found.push((host, *reasons.iter().find(|reason| **reason == why).expect(why)));
        }
    }
    found.sort_unstable();
    found
}

/// A5: no path of redirects is so long that it never ends, also where links may be followed for
/// ever.
#[test]
fn a5_redirects_in_a_row_are_bounded() {
    let world = World::new(crate::SKURD, |ask| match ask.path[1..].parse::<u64>() {
        Ok(number) => Answer::redirect(&format!("/{}", number + 1)),
        Err(_) => Answer::not_found(),
    });
    let told = world.crawl(&["http://chain.test/0", "--delay", "0s", "--for", "10s"]);
    assert_eq!(told.code, Some(0), "{}", told.err);
    let asked = world.web().count();
    assert!((6..100).contains(&asked), "{asked} requests");
}
