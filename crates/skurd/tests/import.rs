//! `skurd import` as a person meets it: seeds on standard output, what was left out on standard
//! error.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use std::fs;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

fn import(kind: &str, content: &str, more: &[&str]) -> Output {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("list"), content).unwrap();
    Command::new(env!("CARGO_BIN_EXE_skurd"))
        .current_dir(dir.path())
        .args([&["import", kind, "list"], more].concat())
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn i1_seeds_are_printed_as_config() {
    let output = import("urls", "vg.no # news\nx\n", &["--profile", "daily", "--profile", "2 days"]);
    assert_eq!(
        text(&output.stdout),
        "seeds:\n  # note: news\n  - url: https://vg.no/\n    profiles: [daily, \"2 days\"]\n"
    );
    assert_eq!(text(&output.stderr), "list:2: skipped: `x` is neither URL nor domain\n");
    assert!(output.status.success());
}

#[test]
fn i1_seeds_are_printed_as_json_lines() {
    let object = r#"{"kind":"seed","meta":{"name":"https://vg.no/"},"seed":{"disabled":true}}"#;
    let output = import("veidemann", object, &["--profile", "p", "--json"]);
    assert_eq!(
        text(&output.stdout),
        "{\"active\":false,\"labels\":{},\"name\":null,\"profiles\":[\"p\"],\"url\":\"https://vg.no/\"}\n"
    );
    let output = import("heritrix", "vg.no\n", &["--profile", "p", "--json"]);
    assert!(text(&output.stdout).contains("\"url\":\"http://vg.no/\""));
}

#[test]
fn i1_standard_input_is_read() {
    use std::io::Write;
    let mut child = Command::new(env!("CARGO_BIN_EXE_skurd"))
        .args(["import", "urls", "-", "--profile", "p"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"vg.no\n").unwrap();
    assert!(text(&child.wait_with_output().unwrap().stdout).contains("https://vg.no/"));
}

#[test]
fn i1_failures_are_told() {
    let profile = ["--profile", "p"];
    for (kind, content, code, expected) in [
        ("urls", "# nothing\n", 1, "error: list holds no seeds\n"),
        ("heritrix", "<a>", 1, "error: cannot import list: this XML ends in the middle of an element\n"),
        (
            "veidemann",
            "{",
            1,
            "error: cannot import list: this is not JSON: EOF while parsing an object at line 1 column 1\n",
        ),
    ] {
        let output = import(kind, content, &profile);
        assert_eq!((text(&output.stderr).as_str(), output.status.code()), (expected, Some(code)));
        assert!(output.stdout.is_empty());
    }
    assert_eq!(import("urls", "vg.no", &[]).status.code(), Some(2), "a profile is needed");
}

#[test]
fn i1_help_has_examples() {
    for kind in ["urls", "heritrix", "veidemann"] {
        let help = text(&import(kind, "", &["--help"]).stdout);
        assert!(help.contains("Examples:\n") && help.contains(&format!("skurd import {kind} ")), "{help}");
    }
}
