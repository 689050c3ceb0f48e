//! Collections that are harvested with a browser (B1–B21), seen from outside: by the web's own log,
//! by the archive, and by what people are told.
//!
//! A browser is Debian's `chromium-headless-shell` or `chromium`. Without one these tests say so and
//! pass, unless `SKURD_BROWSER_TESTS` is set: then a missing browser is a failure.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod cookies;
mod disk;
mod endings;
mod guard;
mod hostile;
mod kills;
mod limits;
mod manners;
mod namespace;
mod page;
mod parts;
mod processes;
mod sites;
mod stranger;
mod wire;

use serde_json::Value;
use testkit::world::World;

const SKURD: &str = env!("CARGO_BIN_EXE_skurd");

/// Whether there is a browser to test with.
fn has_browser() -> bool {
    let program = policy::browser::BrowserProgram { sandbox: false, ..Default::default() };
    let found = harvest::wire::check_browser(&program).is_ok();
    let required = std::env::var_os("SKURD_BROWSER_TESTS").is_some();
    assert!(found || !required, "there is no browser, and SKURD_BROWSER_TESTS wants one");
    if !found {
        eprintln!("no browser: nothing to test");
    }
    found
}

/// Collections and seeds, with what is quick for tests; each seed and what it leads to once.
fn config(collections: &str, seeds: &[(&str, &str)]) -> String {
    config_with(collections, "every: 1d, length: 1", seeds)
}

/// The same, as often as is said.
fn config_with(collections: &str, how_often: &str, seeds: &[(&str, &str)]) -> String {
    let mut text = format!(
        "settings:\n  contact: test@example.org\n  browser: {{sandbox: no, tabs: 2}}\n  politeness: {{min: 0s, max: 0s, factor: 0}}\ncollections:\n{collections}\nprofiles:\n"
    );
    let mut names: Vec<&str> = seeds.iter().map(|(collection, _)| *collection).collect();
    names.sort_unstable();
    names.dedup();
    for name in &names {
        text += &format!(
            "  - {{name: {name}, collection: {name}, {how_often}, scope: {{within: host, max_depth: 1}}}}\n"
        );
    }
    text += "seeds:\n";
    for (number, (collection, url)) in seeds.iter().enumerate() {
        text += &format!("  - {{name: s{number}, url: '{url}', profiles: [{collection}]}}\n");
    }
    text
}

/// Harvests everything that is declared, to the end.
fn harvest(world: &World, config: &str) -> Vec<Value> {
    world.write("c.yaml", config);
    world.crawl_json(&["c.yaml", "--until-done"])
}

/// The block of the last record of this name.
fn record(world: &World, name: &str) -> Vec<u8> {
    let captures = world.captures_of(name);
    block_at(world, captures.last().unwrap_or_else(|| panic!("no capture of {name}")))
}

fn block_at(world: &World, capture: &Value) -> Vec<u8> {
    let file = world.data().join("warc").join(capture["file"].as_str().unwrap());
    let (offset, length) = (capture["offset"].as_u64().unwrap(), capture["length"].as_u64().unwrap());
    let file = std::fs::File::open(file).unwrap();
    let mut record = net::warc::StoredRecord::open(file, offset, length).unwrap();
    let mut block = Vec::new();
    std::io::Read::read_to_end(&mut record, &mut block).unwrap();
    block
}

/// What a capture of a page's information says.
fn info_at(world: &World, capture: &Value) -> Value {
    serde_json::from_slice(&block_at(world, capture)).unwrap()
}

fn page_info(world: &World, url: &str) -> Value {
    serde_json::from_slice(&record(world, &format!("urn:pageinfo:{url}"))).unwrap()
}

/// The requests of a page for a URL, as it tells them.
fn requests_of<'a>(info: &'a Value, url: &str) -> Vec<&'a Value> {
    info["requests"].as_array().unwrap().iter().filter(|request| request["url"] == url).collect()
}

fn find_request<'a>(info: &'a Value, url: &str) -> &'a Value {
    requests_of(info, url).first().copied().unwrap_or_else(|| panic!("no {url}: {info:#}"))
}

/// What is said of a URL in a collection.
fn why(world: &World, collection: &str, url: &str) -> Value {
    let mut all = world.json(&["why", url, "--collection", collection]);
    assert_eq!(all.len(), 1, "{url}");
    all.remove(0)
}

/// How often the web was asked that, `GET a.test/path` without its query, by its own log.
fn times(world: &World, what: &str) -> usize {
    let seen = world.web().seen();
    let asked = seen.iter().map(|seen| format!("{} {}{}", seen.ask.method, seen.ask.host, seen.ask.path));
    asked.filter(|asked| asked == what).count()
}
