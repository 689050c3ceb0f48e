//! `skurd index` as a person meets it: files in, answers out, whatever happens in between.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod files;
mod questions;
mod resume;
mod sample;
mod wrong;

use serde_json::Value;
use testkit::world::World;

const SKURD: &str = env!("CARGO_BIN_EXE_skurd");

/// Loads a text as a file; gives the summary.
fn load(world: &World, file: &str, text: &str) -> Value {
    world.write(file, text);
    let mut events = world.json(&["index", "load", file]);
    let summary = events.pop().unwrap();
    assert_eq!(summary["event"], "summary");
    summary
}

fn dump(world: &World) -> String {
    world.good(&["index", "dump"])
}

/// What a batch job over the pages would give is what is there.
fn verify(world: &World) {
    let told = world.good(&["index", "verify"]);
    assert!(told.starts_with("the index is what its "), "{told}");
}
