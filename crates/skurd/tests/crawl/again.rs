//! Harvested again: what stayed the same is stored once and referred to.

use std::fs::File;
use std::os::unix::fs::FileExt;

use net::warc::{Reader, RecordHead};
use testkit::web::{Answer, Ask};
use testkit::world::World;

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

pub(crate) fn heads(world: &World) -> Vec<RecordHead> {
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
    let world = World::new(crate::SKURD, |ask| match (ask.host.as_str(), ask.path.as_str()) {
        ("same.test", "/") => Answer::html(SAME),
        ("etag.test", "/") if ask.header("if-none-match") == Some("\"v1\"") => {
            Answer::of(304, &[("ETag", "\"v1\"")], "")
        }
        ("etag.test", "/") => Answer::of(200, &[("ETag", "\"v1\"")], SAME),
        ("date.test", "/") if ask.header("if-modified-since") == Some(DATE) => Answer::of(304, &[], ""),
        ("date.test", "/") => Answer::of(200, &[("Last-Modified", DATE)], SAME),
        ("new.test", "/") => Answer::html(format!("edition {}", ask.nth)),
        _ => Answer::not_found(),
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
            .web()
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

const LINKING: &str = "
settings: {politeness: {factor: 0, min: 0s, max: 0s}}
collections: [{name: c}]
profiles: [{name: p, collection: c, every: 1s, scope: {exclude: [EXCLUDED]}, limits: {backoff_base: 1s}}]
seeds: [{url: 'http://etag.test/', profiles: [p]}]
";

/// Harvests so many URLs while these paths are out of scope.
fn harvest(world: &World, excluded: &str, urls: &str) {
    world.write("c.yaml", &LINKING.replace("EXCLUDED", excluded));
    world.crawl_json(&["c.yaml", "--max-urls", urls]);
}

/// A front page that links to `/a` and is not modified, whoever asks.
fn front(ask: &Ask) -> Answer {
    match (ask.path.as_str(), ask.header("if-none-match")) {
        ("/", Some("\"v1\"")) => Answer::of(304, &[], ""),
        ("/", _) => Answer::of(200, &[("ETag", "\"v1\""), ("Content-Type", "text/html")], "<a href=/a>a</a>"),
        ("/a", _) => Answer::html("a"),
        _ => Answer::not_found(),
    }
}

/// Of each request for the front page: whether it was conditional.
fn conditional(world: &World) -> Vec<bool> {
    let asked = world.web().seen().into_iter().filter(|seen| seen.ask.path == "/");
    asked.map(|seen| seen.ask.header("if-none-match").is_some()).collect()
}

#[test]
fn f35_a_page_that_was_not_modified_still_links() {
    let world = World::new(crate::SKURD, front);
    harvest(&world, "{prefix: 'http://etag.test/a'}", "1");
    assert_eq!(world.captures_of("http://etag.test/a").len(), 0);
    harvest(&world, "", "2");
    assert_eq!(conditional(&world), [false, true]);
    assert_eq!(world.captures_of("http://etag.test/a").len(), 1, "its last capture names it");
    world.check();
}

#[test]
fn f35_without_an_archive_nothing_is_asked_conditionally() {
    let world = World::new(crate::SKURD, front);
    world.write("c.yaml", &LINKING.replace("EXCLUDED", ""));
    world.crawl_json(&["c.yaml", "--max-urls", "5", "--warc", "none"]);
    let asked = conditional(&world);
    assert!(asked.len() > 1 && !asked.contains(&true), "{asked:?}");
}

#[test]
fn f35_a_capture_that_cannot_be_read_is_asked_for_as_a_whole() {
    let world = World::new(crate::SKURD, front);
    harvest(&world, "{prefix: 'http://etag.test/a'}", "1");
    let capture = world.captures_of("http://etag.test/").remove(0);
    let (offset, length) = (capture["offset"].as_u64().unwrap(), capture["length"].as_u64().unwrap());
    let file = world.data().join("warc").join(capture["file"].as_str().unwrap());
    let file = File::options().write(true).open(file).unwrap();
    file.write_all_at(&vec![0; usize::try_from(length).unwrap()], offset).unwrap();
    harvest(&world, "", "1");
    let problem = world.why("http://etag.test/").to_string();
    assert!(problem.contains("its last capture cannot be read"), "{problem}");
    harvest(&world, "", "2");
    assert_eq!(conditional(&world), [false, true, false]);
    assert_eq!(world.captures_of("http://etag.test/a").len(), 1);
}

/// What was not modified is the page, not the excuse that came in between.
#[test]
fn f35_a_revisit_refers_to_content() {
    let world = World::new(crate::SKURD, |ask| match ask.nth {
        1 => Answer::of(503, &[], "later"),
        _ => front(ask),
    });
    harvest(&world, "{prefix: 'http://etag.test/a'}", "3");
    let statuses: Vec<_> =
        world.captures_of("http://etag.test/").iter().map(|capture| capture["status"].clone()).collect();
    assert_eq!(statuses, [200, 503, 304]);
    let heads = heads(&world);
    let page =
        heads.iter().find(|head| head.kind() == "response" && !head.target_uri().unwrap().ends_with("txt"));
    let revisit = heads.iter().find(|head| head.kind() == "revisit").unwrap();
    assert_eq!(revisit.get("WARC-Refers-To-Date"), page.unwrap().get("WARC-Date"));
}
