//! Captures: their records as they lie in the archive, and their content, harmless (I4, A8).

use std::io::Write;

use serde_json::Value;
use testkit::web::Answer;
use testkit::world::{Served, World};

const CONFIG: &str = "
settings: {politeness: {factor: 0, min: 0s, max: 0s}}
collections: [{name: c}]
profiles: [{name: p, collection: c, every: 1d}]
seeds: [{url: 'http://a.test/', profiles: [p]}]
";

const PAGE: &str =
    "<title>å</title><script>alert(1)</script><img src='/i'><a href='/chunked'>c</a><a href='/zipped'>z</a>";

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

fn site() -> World {
    let world = World::new(crate::SKURD, |ask| {
        match ask.path.as_str() {
        "/robots.txt" => Answer::text(""),
        "/" => Answer::html(PAGE),
        "/i" => Answer::of(200, &[("Content-Type", "image/png")], b"\x89PNG<script>"),
        "/chunked" => Answer::raw(&b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"[..]),
        "/zipped" => Answer::of(200, &[("Content-Type", "application/json"), ("Content-Encoding", "gzip")], gzip(b"{\"a\": 1}")),
        _ => Answer::not_found(),
    }
    });
    world.write("c.yaml", CONFIG);
    world
}

fn capture(served: &Served, url: &str) -> Value {
    served.until("it is archived", |served| {
        !served.json(&format!("captures?url={url}"))["items"].as_array().unwrap().is_empty()
    });
    served.json(&format!("captures?url={url}"))["items"][0].clone()
}

#[test]
fn i4_content_comes_decoded_and_harmless() {
    let world = site();
    let served = Served::start(&world);
    for (url, body, kind) in [
        ("http://a.test/", PAGE.as_bytes(), "text/plain; charset=utf-8"),
        ("http://a.test/i", b"\x89PNG<script>", "application/octet-stream"),
        ("http://a.test/chunked", b"hello world", "text/plain; charset=utf-8"),
        ("http://a.test/zipped", b"{\"a\": 1}", "text/plain; charset=utf-8"),
    ] {
        let found = capture(&served, url);
        let id = found["id"].as_str().unwrap();
        assert_eq!(served.json(&format!("captures/{id}")), found);
        let answer = served.get(&format!("/api/v1/captures/{id}/content"));
        assert_eq!((answer.status, answer.body.as_slice()), (200, body), "{url}");
        assert_eq!(answer.header("content-type"), Some(kind), "{url}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert!(answer.header("content-security-policy").unwrap().starts_with("sandbox"), "{url}");
        let is_file =
            answer.header("content-disposition").is_some_and(|value| value.starts_with("attachment"));
        assert_eq!(is_file, kind == "application/octet-stream", "{url}");
    }
    // What begins alike, whatever its scheme.
    let found = served.json("captures?prefix=https://www.a.test/c");
    let urls: Vec<&str> =
        found["items"].as_array().unwrap().iter().map(|item| item["url"].as_str().unwrap()).collect();
    assert_eq!(urls, ["http://a.test/chunked"]);
}

#[test]
fn i4_a_record_is_a_sound_file_of_its_own() {
    for warc in ["gzip", "zstd"] {
        let world = site();
        let served = Served::with(&world, &["c.yaml", "--warc", warc], None);
        let found = capture(&served, "http://a.test/zipped");
        let answer = served.get(&format!("/api/v1/captures/{}/record", found["id"].as_str().unwrap()));
        assert_eq!((answer.status, answer.header("content-type")), (200, Some("application/warc")));
        assert_eq!(answer.body.len() as u64, found["length"].as_u64().unwrap());
        let file = world.dir.path().join("one.warc.gz");
        std::fs::write(&file, &answer.body).unwrap();
        let told = world.good(&["warc", "check", "one.warc.gz"]);
        assert!(told.contains("sound, 1 records (1 response)"), "{warc}: {told}");
        // Also once its file is complete, and not when it is gone.
        assert!(served.stop().success());
        let served = Served::with(&world, &["c.yaml", "--warc", warc], None);
        let path = format!("/api/v1/captures/{}/record", found["id"].as_str().unwrap());
        assert_eq!(served.get(&path).body, answer.body);
        std::fs::remove_file(world.data().join("warc").join(found["file"].as_str().unwrap())).unwrap();
        assert_eq!(served.get(&path).status, 410);
    }
}
