//! Data directories of every earlier format open, are upgraded, and say what they said
//! (`tests/data/stores`).

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use serde_json::Value;
use store::upgrade::FORMAT;
use testkit::world::World;

const SKURD: &str = env!("CARGO_BIN_EXE_skurd");

/// What a store of an earlier format is not held to any more: command, field, and why.
const CHANGED: &[(&str, &str, &str)] = &[
    ("report contract", "overdue", "it grows with time"),
    ("report contract", "promised", "it grows with time"),
    ("report contract", "missed", "it grows with time"),
    ("report contract", "harvests", "promises are counted, not harvests"),
    ("report contract", "on_time", "of promises, which were not counted"),
    ("report contract", "share_on_time", "not 100 % of nothing"),
];

/// Further back than any of them was made.
const LONG_AGO: &str = "36500d";

/// Tables whose rows have other keys by now, and are in another: both numbers, and what was in them.
const MOVED: [(u64, u64, &str); 2] = [(0x13, 0x38, "the host queue"), (0x17, 0x39, "leases")];

/// Tables that are no more: number, and why.
const GONE: &[(u64, &str)] = &[(0x1C, "how late harvests were: promises are counted instead")];

fn stores() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/stores")
}

/// A world with the data directory of that name in it.
fn unpacked(name: &str) -> World {
    let world = World::empty(SKURD);
    unpack(&stores().join(name).join("data"), &world.data());
    // What is empty is not kept.
    File::create(world.data().join("store/lock")).unwrap();
    fs::create_dir_all(world.data().join("store/keyspaces/1/tables")).unwrap();
    world
}

fn unpack(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => unpack(&path, &to.join(path.file_name().unwrap())),
            false => {
                let mut file = File::create(to.join(path.file_stem().unwrap())).unwrap();
                zstd::stream::copy_decode(File::open(&path).unwrap(), &mut file).unwrap();
            }
        }
    }
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| Value::from(line))).collect()
}

/// Every field that was there is there with the same value; what has come since may be beside it.
fn assert_same(was: &Value, is: &Value, command: &str, place: &str) {
    match (was, is) {
        (Value::Object(was), Value::Object(is)) => {
            for (key, value) in was.iter().filter(|(key, _)| !is_changed(command, key)) {
                let now = is.get(key).unwrap_or_else(|| panic!("{command}: {place} has no {key} any more"));
                assert_same(value, now, command, &format!("{place} {key}"));
            }
        }
        // What an answer did not say used to be an empty text.
        (Value::String(was), Value::Null) if was.is_empty() => {}
        _ => assert_eq!(was, is, "{command}: {place}"),
    }
}

fn is_changed(command: &str, key: &str) -> bool {
    CHANGED.iter().any(|(of, field, _)| command.starts_with(of) && *field == key)
}

fn assert_says_what_it_said(name: &str) {
    let world = unpacked(name);
    let old = fs::read_to_string(world.data().join("FORMAT")).unwrap();
    let told = world.skurd(&["queue", "--limit", "1"]);
    assert_eq!(told.code, Some(0), "{name}: {told:?}");
    let old = old.trim().trim_start_matches("skurd-store ");
    let begun = format!("is of format {old} and is being upgraded to {FORMAT}");
    assert!(told.err.contains(&begun) && told.err.contains("is upgraded: "), "{name}: {}", told.err);
    assert_eq!(fs::read_to_string(world.data().join("FORMAT")).unwrap(), format!("skurd-store {FORMAT}\n"));

    let commands = fs::read_to_string(stores().join(name).join("commands.txt")).unwrap();
    for line in commands.lines() {
        let (file, command) = line.split_once('\t').unwrap();
        let was = lines(&fs::read_to_string(stores().join(name).join("expected").join(file)).unwrap());
        let mut args: Vec<&str> = command.split(' ').collect();
        if args[0] == "report" {
            // Stores grow older, and what they said was of the week before.
            args.extend(["--since", LONG_AGO]);
        }
        let told = world.skurd(&args);
        assert_eq!((told.code, told.err.as_str()), (Some(0), ""), "{name}: {command}");
        let is = lines(&told.out);
        assert_eq!(was.len(), is.len(), "{name}: {command}: {}", told.out);
        for (number, (was, is)) in was.iter().zip(&is).enumerate() {
            assert_same(was, is, command, &format!("{name}, line {}", number + 1));
        }
    }
    assert_holds_all_rows(&world, name);
}

/// Table by table, and nothing contradicts anything.
fn assert_holds_all_rows(world: &World, name: &str) {
    let was = lines(&fs::read_to_string(stores().join(name).join("expected/store-check.txt")).unwrap());
    let is = lines(&world.good(&["store", "check", "skurd-data", "--json"]));
    for table in was {
        if GONE.iter().any(|(number, _)| table["table"] == *number) {
            assert!(is.iter().all(|now| now["table"] != table["table"]), "{name}: {table} is left behind");
            continue;
        }
        let moved = MOVED.iter().find(|(before, ..)| table["table"] == *before);
        let number = moved.map_or(table["table"].clone(), |(_, now, _)| Value::from(*now));
        let now = is.iter().find(|now| now["table"] == number);
        let now = now.unwrap_or_else(|| panic!("{name}: {table} is gone"));
        assert_eq!(table["rows"], now["rows"], "{name}: {table}");
    }
}

#[test]
fn i9_a_store_of_format_1_says_what_it_said() {
    assert_says_what_it_said("format-1");
}

/// Rows of hosts and settings had fewer fields.
#[test]
fn i9_a_store_from_before_there_were_walks_says_what_it_said() {
    assert_says_what_it_said("format-1-before-walks");
}

/// Captures, limits and settings had others.
#[test]
fn i9_the_first_stores_say_what_they_said() {
    assert_says_what_it_said("format-1-first");
}

/// Collections and settings had no browser.
#[test]
fn i9_a_store_of_format_2_says_what_it_said() {
    assert_says_what_it_said("format-2");
}

/// B1: what was declared before is harvested as before, and what is declared now stands beside it.
#[test]
fn b1_collections_of_older_stores_are_harvested_without_a_browser() {
    for name in ["format-1", "format-2"] {
        let world = unpacked(name);
        // An upgrade is told once.
        assert_eq!(world.skurd(&["queue", "--limit", "1"]).code, Some(0), "{name}");
        for collection in world.json(&["collection", "list"]) {
            assert_eq!(
                (&collection["engine"], &collection["browser"]["dom"]),
                (&"http".into(), &true.into())
            );
        }
        world.good(&["collection", "add", "rendered", "--engine", "browser"]);
        let engines: Vec<Value> =
            world.json(&["collection", "list"]).iter().map(|own| own["engine"].clone()).collect();
        assert_eq!(engines, ["http", "http", "browser"], "{name}");
    }
}

#[test]
fn i9_every_store_that_is_kept_is_tested() {
    let mut names: Vec<String> = fs::read_dir(stores())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
        .collect();
    names.sort();
    let tested = ["format-1", "format-1-before-walks", "format-1-first", "format-2"];
    assert_eq!(names, tested, "a test of its own for each");
}
