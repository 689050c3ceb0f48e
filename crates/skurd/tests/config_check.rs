//! `skurd config` as a person meets it: everything that is wrong with a file is told, with place
//! and remedy.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use std::fs;
use std::process::{Command, Output};

use tempfile::TempDir;

fn skurd(dir: &TempDir, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_skurd")).current_dir(dir.path()).args(args).output().unwrap()
}

fn check(content: impl AsRef<[u8]>, more: &[&str]) -> Output {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("c.yaml"), content).unwrap();
    skurd(&dir, &[&["config", "check", "c.yaml"], more].concat())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// The problems of a file: `line:column: what` and below it `  hint: …`.
fn problems(content: impl AsRef<[u8]>) -> String {
    let output = check(content, &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty());
    let told = text(&output.stderr);
    let (head, problems) = told.split_once('\n').unwrap();
    assert!(head.starts_with("error: c.yaml has ") && head.contains(" problem"), "{head}");
    problems.lines().map(|line| line.trim_start_matches("c.yaml:")).collect::<Vec<&str>>().join("\n")
}

const BASE: &str = "collections: [{name: c}]\nprofiles: [{name: p, collection: c, every: 1d}]\n";

/// Cases are separated by `====`; the file is above `----`, what is told below.
fn run_cases(cases: &str) {
    let mut failed = String::new();
    for case in cases.split("====\n") {
        let (file, expected) = case.split_once("----\n").unwrap();
        let told = problems(file.replace("BASE\n", BASE));
        if told.trim_end() != expected.trim_end() {
            failed.push_str(&format!("{file}---- told\n{told}\n---- expected\n{expected}====\n"));
        }
    }
    assert!(failed.is_empty(), "{failed}");
}

#[test]
fn i3_single_values_are_explained() {
    run_cases(include_str!("config/values.txt"));
}

#[test]
fn i3_names_and_references_are_explained() {
    run_cases(include_str!("config/names.txt"));
}

#[test]
fn l14_walks_are_explained() {
    run_cases(include_str!("config/walks.txt"));
}

#[test]
fn f36_budgets_are_explained() {
    run_cases(include_str!("config/budgets.txt"));
}

#[test]
fn b2_settings_of_the_browser_are_explained() {
    run_cases(include_str!("config/browser.txt"));
}

#[test]
fn a16_a17_ways_and_deduplication_are_explained() {
    run_cases(include_str!("config/ways.txt"));
}

#[test]
fn b1_the_example_with_a_browser_is_good() {
    let output = check(include_str!("../../../examples/browser.yaml"), &[]);
    assert_eq!(text(&output.stderr), "");
    assert!(text(&output.stdout).contains(" is good: 2 collections, 2 profiles, 1 seed"));
}

/// No mistake for certain: the engine may be switched later. But hardly meant.
#[test]
fn b1_a_browser_that_is_not_used_is_warned_of() {
    let seeds = "seeds: [{url: https://a.no/, profiles: [p]}]\n";
    for (engine, warned) in [("", true), ("engine: http, ", true), ("engine: browser, ", false)] {
        let file = BASE.replace("name: c}", &format!("name: c, {engine}browser: {{dom: no}}}}")) + seeds;
        let output = check(&file, &[]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let told = "warning: c.yaml: collection `c` has `browser` settings that nothing uses: the engine is http\n  \
                    hint: give `engine: browser`, or leave the settings out\n";
        assert_eq!(text(&output.stderr), if warned { told } else { "" }, "{file}");
    }
}

#[test]
fn i3_broken_yaml_is_explained() {
    run_cases(include_str!("config/yaml.txt"));
}

#[test]
fn i3_what_is_no_text_is_told() {
    let table: [(&[u8], &str); 5] = [
        (b"", "1:1: the file is empty"),
        (b"# nothing\n\n", "1:1: the file is empty"),
        (b"\xef\xbb\xbf", "1:1: the file is empty"),
        (b"settings:\n  contact: \xe5\n", "2:12: this is not UTF-8"),
        (b"\xff\xfes\x00e\x00", "1:1: this is not UTF-8"),
    ];
    for (bytes, expected) in table {
        assert_eq!(problems(bytes).lines().next(), Some(expected));
    }
}

#[test]
fn i3_a_good_file_is_counted() {
    let file = format!("\u{feff}{BASE}seeds:\r\n- {{url: https://vg.no/, profiles: [p]}}\r\nhosts:\r\n");
    let output = check(&file, &[]);
    assert_eq!(
        text(&output.stdout),
        "c.yaml is good: 1 collection, 1 profile, 1 seed, 0 host groups, 0 hosts, 0 walks\n"
    );
    assert!(output.status.success() && output.stderr.is_empty());
    assert_eq!(
        text(&check(&file, &["--json"]).stdout),
        "{\"collections\":1,\"file\":\"c.yaml\",\"good\":true,\"host_groups\":0,\"hosts\":0,\"profiles\":1,\"seeds\":1,\"walks\":0,\"warnings\":[]}\n"
    );
}

/// No mistake for certain: seeds may be added later. But hardly meant.
#[test]
fn i3_a_file_that_harvests_nothing_is_good_with_a_warning() {
    let walk = "walks: [{template: 'https://a.no/{id}', profile: p, min: 1, max: 9}]\n";
    for (more, warned) in
        [("", true), (walk, false), ("seeds: [{url: https://a.no/, profiles: [p]}]\n", false)]
    {
        let file = format!("{BASE}{more}");
        let output = check(&file, &[]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let told = "warning: c.yaml: no seeds and no walks: nothing would be harvested\n  hint: declare where to start";
        assert_eq!(text(&output.stderr).starts_with(told), warned, "{}", text(&output.stderr));
        let json = text(&check(&file, &["--json"]).stdout);
        assert_eq!(json.contains("\"warnings\":[\"no seeds"), warned, "{json}");
    }
}

#[test]
fn i3_problems_can_be_had_as_json() {
    let output = check("setings: {}\n", &["--json"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        text(&output.stdout),
        "{\"column\":1,\"file\":\"c.yaml\",\"hint\":\"did you mean `settings`?\",\"line\":1,\
         \"problem\":\"unknown key `setings` in the config\"}\n"
    );
}

#[test]
fn i3_the_first_fifty_problems_are_told() {
    let seeds: String = (0..500).map(|n| format!("- {{url: 'x{n}', profiles: [p]}}\n")).collect();
    let told = problems(format!("{BASE}seeds:\n{seeds}"));
    assert_eq!(told.lines().count(), 101);
    assert!(told.ends_with("\n… and 450 more"), "{told}");
}

#[test]
fn i3_hostile_files_end_in_a_problem() {
    let table: [(&str, String, &str); 9] = [
        (
            "profiles",
            format!("{BASE}seeds: [{{url: https://a.no/, profiles: [{}]}}]\n", "p, ".repeat(101)),
            "profile `p` is here twice",
        ),
        ("flow depth", "[".repeat(100_000), ": nested more than 64 deep"),
        ("map depth", "{a: ".repeat(100_000), ": nested more than 64 deep"),
        (
            "block depth",
            (0..300).map(|n| format!("{}a:\n", " ".repeat(n))).collect(),
            "65:65: nested more than 64 deep",
        ),
        ("aliases", bomb(), "anchors and aliases make more of this file than is taken"),
        (
            "text aliases",
            format!("a: &a {}\nb: [{}1]\n", "x".repeat(1 << 20), "*a, ".repeat(100_000)),
            "anchors and aliases make more",
        ),
        ("own alias", "a: &a [*a]\n".to_owned(), "1:8: this alias stands inside its own anchor"),
        ("keys", (0..200_000).map(|n| format!("k{n}: 1\n")).collect(), "1:1: unknown key `k0` in the config"),
        ("regexes", regexes(), "more than 2000 regular expressions in one file"),
    ];
    for (what, file, expected) in table {
        let told = problems(file);
        assert!(told.lines().next().unwrap().contains(expected), "{what}: {}", &told[..told.len().min(300)]);
    }
}

/// What aliases are for: a list that many seeds share.
#[test]
fn i3_aliases_of_small_things_may_be_many() {
    let seeds: String =
        (0..100_000).map(|n| format!("- {{url: 'https://s{n}.no/', profiles: *p}}\n")).collect();
    let file = format!("{BASE}seeds:\n- {{url: https://a.no/, profiles: &p [p]}}\n{seeds}");
    let output = check(file, &[]);
    assert!(text(&output.stdout).contains(" 100001 seeds"), "{}", text(&output.stderr));
}

fn bomb() -> String {
    let level = |n: u8| {
        format!("{0}: &{0} [{1}]\n", char::from(b'b' + n), format!("*{}, ", char::from(b'a' + n)).repeat(9))
    };
    format!("a: &a [x, x, x, x, x]\n{}", (0..20).map(level).collect::<String>())
}

fn regexes() -> String {
    let list = "{regex: x}, ".repeat(2100);
    format!(
        "collections: [{{name: c}}]\nprofiles: [{{name: p, collection: c, every: 1d, scope: {{exclude: [{list}]}}}}]\n"
    )
}

#[test]
fn i3_a_file_that_is_too_large_or_not_there_is_told() {
    let dir = TempDir::new().unwrap();
    fs::File::create(dir.path().join("large")).unwrap().set_len(65 << 20).unwrap();
    for (file, expected) in [
        ("large", "error: large is larger than 64 MiB\n"),
        (
            "none",
            "error: cannot read none: No such file or directory (os error 2)\nhint: `skurd config example > none` writes one to begin with\n",
        ),
        (".", "error: cannot read .: Is a directory (os error 21)\n"),
        ("/dev/zero", "error: /dev/zero is larger than 64 MiB\n"),
    ] {
        let output = skurd(&dir, &["config", "check", file]);
        assert_eq!((text(&output.stderr).as_str(), output.status.code()), (expected, Some(1)));
    }
}

#[test]
fn i3_many_seeds_are_read() {
    let seeds: String = (0..200_000)
        .map(|n| format!("  - url: https://www.site{n}.example.no/path/\n    profiles: [p]\n"))
        .collect();
    let output = check(format!("{BASE}seeds:\n{seeds}"), &[]);
    assert!(text(&output.stdout).contains(" 200000 seeds"), "{}", text(&output.stderr));
}

#[test]
fn i3_schema_and_example_are_printed() {
    let dir = TempDir::new().unwrap();
    let schema = text(&skurd(&dir, &["config", "schema"]).stdout);
    assert!(schema.contains("\"$schema\": \"https://json-schema.org/draft/2020-12/schema\""), "{schema}");
    let example = skurd(&dir, &["config", "example"]).stdout;
    assert!(check(&example, &[]).status.success());
}

#[test]
fn i1_every_subcommand_has_examples_and_exit_codes_hold() {
    let dir = TempDir::new().unwrap();
    for command in [["config", "check"], ["config", "schema"], ["config", "example"]] {
        let help = text(&skurd(&dir, &[command[0], command[1], "--help"]).stdout);
        assert!(help.contains(&format!("Examples:\n  skurd {}", command.join(" "))), "{help}");
    }
    for (code, args) in [
        (0, vec!["config", "schema"]),
        (1, vec!["config", "check", "x"]),
        (2, vec!["config", "check"]),
        (2, vec!["config", "chek"]),
    ] {
        assert_eq!(skurd(&dir, &args).status.code(), Some(code), "{args:?}");
    }
}
