//! Collections that are harvested with a browser (B1–B21), seen from outside: by the web's own log,
//! by the archive, and by what people are told.
//!
//! A browser is Debian's `chromium-headless-shell` or `chromium`. Without one these tests say so and
//! pass, unless `SKURD_BROWSER_TESTS` is set: then a missing browser is a failure.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod endings;
mod page;

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

/// Collections and seeds, with what is quick for tests.
fn config(collections: &str, seeds: &[(&str, &str)]) -> String {
    let mut text = format!(
        "settings:\n  contact: test@example.org\n  browser: {{sandbox: no, tabs: 2}}\n  politeness: {{min: 0s, max: 0s, factor: 0}}\ncollections:\n{collections}\nprofiles:\n"
    );
    let mut names: Vec<&str> = seeds.iter().map(|(collection, _)| *collection).collect();
    names.sort_unstable();
    names.dedup();
    for name in &names {
        text += &format!(
            "  - {{name: {name}, collection: {name}, every: 1d, length: 1, scope: {{within: host, max_depth: 1}}}}\n"
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
    let last = captures.last().unwrap_or_else(|| panic!("no capture of {name}"));
    let file = world.data().join("warc").join(last["file"].as_str().unwrap());
    let (offset, length) = (last["offset"].as_u64().unwrap(), last["length"].as_u64().unwrap());
    let file = std::fs::File::open(file).unwrap();
    let mut record = net::warc::StoredRecord::open(file, offset, length).unwrap();
    let mut block = Vec::new();
    std::io::Read::read_to_end(&mut record, &mut block).unwrap();
    block
}

fn page_info(world: &World, url: &str) -> Value {
    serde_json::from_slice(&record(world, &format!("urn:pageinfo:{url}"))).unwrap()
}
