//! Harvested again: what stayed the same is stored once and referred to.

use std::fs::File;

use net::warc::{Reader, RecordHead};

use crate::reply::Reply;
use crate::world::World;

const SAME: &str = "<p>always the same</p>";
const SAME_DIGEST: &str = "sha1:FRZQAM5N2IZ5OIB2HLNXL7SUCDS2NBLM";
const CONFIG: &str = "
settings: {politeness: {factor: 0, min: 0s, max: 0s}}
collections: [{name: c}]
profiles: [{name: p, collection: c, every: 1s, length: 3}]
seeds:
  - {url: 'http://same.test/', profiles: [p]}
  - {url: 'http://etag.test/', profiles: [p]}
  - {url: 'http://date.test/', profiles: [p]}
  - {url: 'http://new.test/', profiles: [p]}
";
const DATE: &str = "Tue, 02 Jan 2024 03:04:05 GMT";

fn heads(world: &World) -> Vec<RecordHead> {
    let mut heads = Vec::new();
    for file in world.warc_files() {
        let mut reader = Reader::new(File::open(file).unwrap()).unwrap();
        while let Some(head) = reader.next().unwrap() {
            heads.push(head);
        }
    }
    heads
}

#[test]
fn a4_a8_what_did_not_change_is_a_revisit() {
    let world = World::new(|ask| match (ask.host.as_str(), ask.path.as_str()) {
        ("same.test", "/") => Reply::html(SAME),
        ("etag.test", "/") if ask.header("if-none-match") == Some("\"v1\"") => {
            Reply::of(304, &[("ETag", "\"v1\"")], "")
        }
        ("etag.test", "/") => Reply::of(200, &[("ETag", "\"v1\"")], SAME),
        ("date.test", "/") if ask.header("if-modified-since") == Some(DATE) => Reply::of(304, &[], ""),
        ("date.test", "/") => Reply::of(200, &[("Last-Modified", DATE)], SAME),
        ("new.test", "/") => Reply::html(format!("edition {}", ask.nth)),
        _ => Reply::not_found(),
    });
    world.write("c.yaml", CONFIG);
    world.crawl_json(&["c.yaml", "--until-done"]);
    world.check();

    for (host, revisits, sent_if) in [
        ("same.test", [false, true, true], None),
        ("etag.test", [false, true, true], Some("if-none-match")),
        ("date.test", [false, true, true], Some("if-modified-since")),
        ("new.test", [false, false, false], None),
    ] {
        let url = format!("http://{host}/");
        let captures = world.captures_of(&url);
        let found: Vec<_> = captures.iter().map(|capture| capture["revisit"].as_bool().unwrap()).collect();
        assert_eq!(found, revisits, "{url}");
        let mut digests: Vec<_> =
            captures.iter().map(|capture| capture["digest"].as_str().unwrap()).collect();
        digests.dedup();
        match host {
            "new.test" => assert_eq!(digests.len(), 3, "{digests:?}"),
            _ => assert_eq!(digests, [SAME_DIGEST], "{url}"),
        }
        let conditions: Vec<bool> = world
            .web
            .seen()
            .iter()
            .filter(|seen| seen.ask.url() == url)
            .map(|seen| sent_if.is_some_and(|name| seen.ask.header(name).is_some()))
            .collect();
        assert_eq!(conditions, [false, sent_if.is_some(), sent_if.is_some()], "{url}");
    }

    let heads = heads(&world);
    for revisit in heads.iter().filter(|head| head.kind() == "revisit") {
        let get = |name: &str| revisit.get(name).unwrap_or_else(|| panic!("no {name}: {revisit:?}"));
        let url = revisit.target_uri().unwrap();
        assert_eq!(get("WARC-Refers-To-Target-URI"), url);
        let original = heads
            .iter()
            .find(|head| head.kind() == "response" && head.target_uri().as_deref() == Some(&url))
            .unwrap();
        assert_eq!(Some(get("WARC-Refers-To-Date")), original.get("WARC-Date"));
        let profile = if url.contains("same") { "/identical-payload-digest" } else { "/server-not-modified" };
        assert!(get("WARC-Profile").ends_with(profile), "{url}: {}", get("WARC-Profile"));
    }
    assert_eq!(heads.iter().filter(|head| head.kind() == "revisit").count(), 6);
}
