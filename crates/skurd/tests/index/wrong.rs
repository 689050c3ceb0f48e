//! Wrong input: told with its place, and nothing half loaded.

use std::process::Command;

use serde_json::json;
use testkit::world::World;

use crate::{dump, load, verify};

#[test]
fn x12_broken_lines_are_told_with_their_number_and_left_out() {
    let world = World::empty(crate::SKURD);
    let text = concat!(
        r#"{"op":"put","url":"http://a.no/","links":[{"url":"http://b.no/","anchor":"b"}]}"#,
        "\n{\"op\":\"put\",\"url\":\"http://half.no/\",\"links\":[{\"url\":\"http://b.no/\"},{\"anchor\":\"x\"}]}\n",
        r#"{"op":"put","url":"ftp://b.no/","links":[]}"#,
        "\nnonsense\n",
        r#"{"op":"delete","url":"http://a.no/"}"#,
        "\n",
        r#"{"op":"put","url":"http://c.no/","links":[]}"#,
    );
    world.write("pages.jsonl", text);
    let told = world.skurd(&["index", "load", "pages.jsonl"]);
    assert_eq!(told.code, Some(0), "{told:?}");
    let expected = "pages.jsonl:2: skipped: missing field `url` at column 82\n\
        pages.jsonl:3: skipped: the URL `ftp://b.no/` of the page: not http or https\n\
        pages.jsonl:4: skipped: expected ident at column 2\n";
    assert_eq!(told.err, expected);
    assert!(told.out.contains("broken    3 lines or records left out, 0 places damaged\n"), "{}", told.out);
    assert!(!dump(&world).contains("half") && !dump(&world).contains("no.b"));
    verify(&world);
    let events = world.json(&["index", "load", "pages.jsonl"]);
    assert_eq!((&events[0]["event"], &events[0]["line"]), (&json!("skipped"), &json!(2)));
    assert_eq!(events.last().unwrap()["broken"], 3);
}

#[test]
fn i7_a_load_of_nothing_fails() {
    let world = World::empty(crate::SKURD);
    world.write("empty.jsonl", "");
    world.write("broken.jsonl", "nonsense\n{}\n");
    world.write("good.jsonl", r#"{"op":"put","url":"http://a.no/","links":[]}"#);
    for (files, code, words) in [
        (&["empty.jsonl"][..], 1, "nothing was loaded from empty.jsonl: there is no page in it"),
        (&["broken.jsonl"], 1, "nothing was loaded from broken.jsonl: 2 lines or records were left out"),
        (&["empty.jsonl", "broken.jsonl"], 1, "nothing was loaded from empty.jsonl, broken.jsonl: "),
        (&["good.jsonl", "broken.jsonl"], 0, ""),
        (&["good.jsonl"], 0, ""),
    ] {
        let told = world.skurd(&[&["index", "load"], files].concat());
        assert_eq!(told.code, Some(code), "{files:?}: {told:?}");
        assert!(told.err.contains(words), "{files:?}: {told:?}");
    }
}

#[test]
fn x12_what_is_unknown_is_told_with_a_hint() {
    let world = World::empty(crate::SKURD);
    world.write("pages.txt", "<html>\x1b[2J");
    let table: [(&[&str], i32, &str); 13] = [
        (&["index", "top"], 1, "cannot open ./skurd-data: No such file or directory"),
        (&["index", "load", "nowhere.jsonl"], 1, "cannot read nowhere.jsonl: No such file"),
        (
            &["index", "load", "pages.txt"],
            1,
            "pages.txt cannot be loaded: it begins with `<html>\\u{1b}[2J`\nhint: WARC",
        ),
        (&["index", "load", "."], 1, "cannot read .: Is a directory"),
        (&["index", "load"], 2, "<FILE>..."),
        (
            &["index", "page", "http://a.no/x"],
            1,
            "`http://a.no/x` is neither loaded nor linked to\nhint: `skurd index domain a.no`",
        ),
        (&["index", "page", "a.no"], 1, "hint: write `https://a.no`"),
        (&["index", "page", "mailto:x@a.no"], 1, "is no URL of the index: not http or https"),
        (
            &["index", "domain", "b.com"],
            1,
            "nothing is known of the domain `b.com`\nhint: `skurd index top --domains`",
        ),
        (&["index", "domain", "http://a.no/"], 1, "is not a domain\nhint: write it like `example.com`"),
        (&["index", "top", "--after", "xyz"], 1, "--after is not from this list\nhint: "),
        (&["index", "top", "--collection", "news"], 1, "there is no link index `news`\nhint: there are: web"),
        (&["index", "page", "http://a.no/", "--since", "2024"], 2, "--inlinks"),
    ];
    for (at, (args, code, expected)) in table.into_iter().enumerate() {
        let told = world.skurd(args);
        assert!(told.code == Some(code) && told.err.contains(expected), "{args:?}: {told:?}");
        assert!(told.out.is_empty() && told.err.starts_with("error: "), "{args:?}: {told:?}");
        if at == 4 {
            load(&world, "pages.jsonl", r#"{"op":"put","url":"http://a.no/","links":[]}"#);
        }
    }
}

#[test]
fn x12_a_damaged_row_is_found_and_repaired() {
    let world = World::empty(crate::SKURD);
    load(&world, "pages.jsonl", include_str!("data/sample.jsonl"));
    world.work(testkit::world::now(), async |frontier, _| {
        let store = frontier.store();
        let tx = store.begin().await.unwrap();
        let number = index::schema::INDEXES.get(&tx, ("web",)).await.unwrap().unwrap().number;
        let wrong = index::schema::Count { incount: 7, loaded: false };
        index::schema::COUNTS.put(&tx, (number, "com.c"), &wrong.into()).unwrap();
        index::schema::DOMAINS.delete(&tx, (number, "com.d")).unwrap();
        store.commit(&tx).await.unwrap();
    });
    let told = world.skurd(&["index", "verify"]);
    assert!(told.code == Some(1) && told.out.contains("wrong: index counts com.c"), "{told:?}");
    assert!(told.out.contains("missing: index domains com.d"), "{told:?}");
    assert_eq!(told.err, "error: 2 rows of the index not as the pages say\nhint: --repair makes it so\n");
    assert_eq!(world.json(&["index", "verify", "--repair"]).last().unwrap()["repaired"], 2);
    verify(&world);
    assert_eq!(dump(&world), include_str!("data/sample.tsv"));
}

#[test]
fn i2_a_reader_that_stops_early_is_no_failure() {
    let world = World::empty(crate::SKURD);
    load(&world, "pages.jsonl", include_str!("data/sample.jsonl"));
    for command in ["dump", "top --json", "stats"] {
        let script = format!("set -o pipefail; '{}' index {command} | true", env!("CARGO_BIN_EXE_skurd"));
        let output =
            Command::new("bash").current_dir(world.dir.path()).args(["-c", &script]).output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    }
}

#[test]
fn i1_every_command_has_examples() {
    let world = World::empty(crate::SKURD);
    for command in ["load", "top", "domain", "page", "missing", "dump", "verify", "stats"] {
        let help = world.good(&["index", command, "--help"]);
        assert!(help.contains(&format!("Examples:\n  skurd index {command}")), "{help}");
    }
}
