//! `skurd` and `skurd store check` as a person meets them.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use store::{Options, Store};
use tempfile::TempDir;

fn skurd(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_skurd")).args(args).output().unwrap()
}

fn check(dir: &Path) -> Output {
    skurd(&["store", "check", dir.to_str().unwrap()])
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// The one line on standard error.
fn complaint(output: &Output) -> String {
    let text = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(text.lines().count(), 1, "{text}");
    text.trim_end().to_owned()
}

fn filled() -> TempDir {
    let dir = TempDir::new().unwrap();
    let store = Store::open(dir.path(), &Options::default()).unwrap();
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
        let tx = store.begin().await.unwrap();
        for n in 0..10u8 {
            tx.put([n % 2 + 1, n], *b"value").unwrap();
        }
        store.commit(&tx).await.unwrap();
    });
    dir
}

#[test]
fn i1_help_and_version() {
    assert_eq!(out(&skurd(&["--version"])), format!("skurd {}\n", env!("CARGO_PKG_VERSION")));
    let help = skurd(&["--help"]);
    assert!(help.status.success() && out(&help).lines().count() <= 40, "help fits on one screen");
    let check = out(&skurd(&["store", "check", "--help"]));
    assert!(check.contains("Examples:\n  skurd store check"), "{check}");
}

#[test]
fn i1_exit_codes_are_0_done_1_failed_2_usage() {
    let dir = filled();
    let path = dir.path().to_str().unwrap();
    for (code, args) in [
        (0, vec!["store", "check", path]),
        (1, vec!["store", "check", "/no/such/directory"]),
        (2, vec!["store", "check"]),
        (2, vec!["stroe"]),
        (2, vec!["store", "check", path, "--jsn"]),
    ] {
        assert_eq!(skurd(&args).status.code(), Some(code), "{args:?}");
    }
}

#[test]
fn a_sound_store_is_counted() {
    let dir = filled();
    let report = out(&check(dir.path()));
    assert!(report.ends_with("is sound: 10 rows in 2 tables\n"), "{report}");
    let json = out(&skurd(&["store", "check", dir.path().to_str().unwrap(), "--json"]));
    assert_eq!(json.lines().next(), Some(r#"{"bytes":35,"rows":5,"table":1}"#));
    assert_eq!(json.lines().count(), 2);
}

#[test]
fn bad_directories_are_told_in_one_line() {
    let empty = TempDir::new().unwrap();
    assert!(complaint(&check(empty.path())).ends_with("holds no store (there is no FORMAT file)"));
    assert!(complaint(&check(Path::new("/dev/null"))).ends_with("/dev/null is not a directory"));
    let nowhere = complaint(&check(&empty.path().join("nowhere")));
    assert!(nowhere.contains("cannot open") && nowhere.contains("No such file"), "{nowhere}");

    let newer = filled();
    fs::write(newer.path().join("FORMAT"), "skurd-store 99\n").unwrap();
    assert!(complaint(&check(newer.path())).contains("has format 99, and this program knows formats up to"));

    let used = filled();
    let store = Store::open(used.path(), &Options::default()).unwrap();
    let complained = complaint(&check(used.path()));
    assert!(complained.ends_with(&format!("is in use by process {}", std::process::id())), "{complained}");
    drop(store);
    assert!(check(used.path()).status.success());
}

#[test]
fn a_reader_that_stops_early_is_no_failure() {
    let dir = filled();
    let script = format!("'{}' store check '{}' | true", env!("CARGO_BIN_EXE_skurd"), dir.path().display());
    let output = Command::new("bash").args(["-c", &format!("set -o pipefail; {script}")]).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}

/// A byte of what was safely on disk is another.
fn damaged() -> TempDir {
    let dir = filled();
    let journal = dir.path().join("store/0.jnl");
    let mut bytes = fs::read(&journal).unwrap();
    bytes[30] ^= 1;
    fs::write(&journal, bytes).unwrap();
    dir
}

#[test]
fn i7_damage_is_told_in_words_with_what_can_be_done() {
    let dir = damaged();
    let path = dir.path().to_str().unwrap();
    let before = fs::read(dir.path().join("store/0.jnl")).unwrap();
    for args in [
        vec!["store", "check", path],
        vec!["queue", "--data", path],
        vec!["why", "http://a.test/", "--data", path],
    ] {
        let told = skurd(&args);
        let text = String::from_utf8(told.stderr).unwrap();
        assert_eq!(told.status.code(), Some(1), "{text}");
        let (error, hint) = text.split_once("\nhint: ").unwrap_or_else(|| panic!("{text}"));
        assert!(
            error.contains("is damaged: ") && error.contains("0.jnl does not read from byte 0 on"),
            "{error}"
        );
        assert!(error.ends_with("nothing was changed") && !text.contains("ChecksumMismatch"), "{text}");
        for way in ["put back a copy", &format!("`skurd store repair {path}`"), "`skurd archive adopt"] {
            assert!(hint.contains(way), "{hint}");
        }
    }
    assert!(fs::read(dir.path().join("store/0.jnl")).unwrap() == before, "it was touched");
}

#[test]
fn i7_a_damaged_store_is_repaired_on_request_and_nothing_is_destroyed() {
    let dir = damaged();
    let path = dir.path().to_str().unwrap();
    let before = fs::read(dir.path().join("store/0.jnl")).unwrap();
    let told = skurd(&["store", "repair", path]);
    let text = String::from_utf8(told.stderr.clone()).unwrap();
    assert!(
        told.status.success() && text.contains("is kept in") && text.contains("0.jnl.damaged-1"),
        "{text}"
    );
    assert!(out(&told).ends_with("reads: 0 rows in 0 tables\n"), "{}", out(&told));
    let kept = fs::read(dir.path().join("store/0.jnl.damaged-1")).unwrap();
    assert!(before.starts_with(&kept) && before[kept.len()..].iter().all(|byte| *byte == 0));
    assert!(check(dir.path()).status.success());
}

#[test]
fn i7_damaged_tables_are_told_in_words() {
    let dir = TempDir::new().unwrap();
    let options = Options { write_buffer_bytes: 1 << 20, ..Options::default() };
    let store = Store::open(dir.path(), &options).unwrap();
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
        for n in 0..60u8 {
            let tx = store.begin().await.unwrap();
            for m in 0..100u8 {
                let noise: Vec<u8> = (0..500u32)
                    .map(|at| (at * 31 + u32::from(n) * 7 + u32::from(m)).to_le_bytes()[0])
                    .collect();
                tx.put([0x70, n, m], noise).unwrap();
            }
            store.commit(&tx).await.unwrap();
        }
    });
    drop(store);
    let mut damaged = 0;
    for entry in fs::read_dir(dir.path().join("store/keyspaces/1/tables")).unwrap() {
        let path = entry.unwrap().path();
        let mut bytes = fs::read(&path).unwrap();
        let third = bytes.len() / 3;
        bytes[third] ^= 0x55;
        fs::write(&path, bytes).unwrap();
        damaged += 1;
    }
    assert!(damaged > 0, "no table was written");
    let told = check(dir.path());
    let text = String::from_utf8(told.stderr).unwrap();
    assert_eq!(told.status.code(), Some(1), "{text}");
    assert!(text.contains("of its tables") && text.contains("\nhint: "), "{text}");
    assert!(!text.contains("ChecksumMismatch") && !text.contains("Storage("), "{text}");
}
