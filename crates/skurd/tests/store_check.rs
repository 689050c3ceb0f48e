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
