//! The sample of page 4, and the edges of its rules, through files of lines.

use serde_json::json;
use testkit::world::World;

use crate::{dump, load, verify};

const SAMPLE: &str = include_str!("data/sample.jsonl");
const SAMPLE_DUMP: &str = include_str!("data/sample.tsv");

#[test]
fn x14_the_sample_comes_out() {
    let world = World::empty(crate::SKURD);
    let summary = load(&world, "pages.jsonl", SAMPLE);
    let counts =
        ["pages", "deleted", "changed", "links", "broken", "damaged"].map(|key| summary[key].clone());
    assert_eq!(counts, [3, 0, 3, 5, 0, 0].map(|n| json!(n)));
    assert_eq!(dump(&world), SAMPLE_DUMP);
    verify(&world);
}

#[test]
fn x2_loading_the_same_file_again_changes_nothing() {
    let world = World::empty(crate::SKURD);
    load(&world, "pages.jsonl", SAMPLE);
    let again = load(&world, "pages.jsonl", SAMPLE);
    assert_eq!((&again["pages"], &again["changed"]), (&json!(3), &json!(0)));
    assert_eq!(dump(&world), SAMPLE_DUMP);
    let lines: Vec<&str> = SAMPLE.lines().collect();
    load(&world, "back.jsonl", &[lines[2], lines[0], lines[1], lines[2]].join("\n"));
    assert_eq!(dump(&world), SAMPLE_DUMP);
}

fn put(url: &str, links: &[(&str, &str)]) -> String {
    let links: Vec<_> = links.iter().map(|(url, anchor)| json!({ "url": url, "anchor": anchor })).collect();
    format!("{}\n", json!({ "op": "put", "url": url, "links": links }))
}

fn delete(url: &str) -> String {
    format!("{}\n", json!({ "op": "delete", "url": url }))
}

/// Lines of files that are loaded one after the other, and the lines of the dump about pages.
#[test]
fn x1_x7_edges_come_out_of_files_as_the_rules_say() {
    let cases: [(&str, Vec<String>, &[&str]); 9] = [
        (
            "a link to itself counts, and is one with its fragments",
            vec![put("http://a.no/", &[("http://a.no/#x", "me"), ("http://a.no", "again")])],
            &["p:no.a inlinks no.a me", "p:no.a page incount 1", "p:no.a page score 2"],
        ),
        (
            "an anchor that changed is an update",
            vec![
                put("http://a.no/", &[("http://b.no/", "old")]),
                put("http://a.no/", &[("http://b.no/", "new")]),
            ],
            &[
                "p:no.a page score 1",
                "p:no.b inlinks no.a new",
                "p:no.b page incount 1",
                "p:no.b page score 1",
            ],
        ),
        ("a page without links is loaded", vec![put("http://a.no/", &[])], &["p:no.a page score 1"]),
        (
            "a page that lost its links still is",
            vec![put("http://a.no/", &[("http://b.no/", "b")]), put("http://a.no/", &[])],
            &["p:no.a page score 1"],
        ),
        (
            "deleted twice, deleted and never loaded: nothing is left",
            vec![
                put("http://a.no/", &[("http://b.no/", "b")]) + &delete("http://a.no/"),
                delete("http://a.no/") + &delete("http://never.no/"),
            ],
            &[],
        ),
        (
            "a deleted page that is linked to keeps its row",
            vec![
                put("http://a.no/", &[("http://b.no/", "b")]) + &put("http://b.no/", &[]),
                delete("http://b.no/"),
            ],
            &["p:no.a page score 1", "p:no.b inlinks no.a b", "p:no.b page incount 1", "p:no.b page score 1"],
        ),
        (
            "tabs, line ends and controls in anchors are written out",
            vec![put("http://a.no/", &[("http://b.no/", "a\tb\r\nc\\d\u{1}")])],
            &[
                "p:no.a page score 1",
                "p:no.b inlinks no.a a\\tb\\r\\nc\\\\d\\x01",
                "p:no.b page incount 1",
                "p:no.b page score 1",
            ],
        ),
        (
            "https, odd ports and IP hosts",
            vec![put(
                "https://www.a.no/p?q",
                &[("http://a.no:8080/", "h"), ("http://10.0.0.1/", "i"), ("http://[::1]/x", "6")],
            )],
            &[
                "p:10.0.0.1 inlinks no.a.www:443/p?q i",
                "p:10.0.0.1 page incount 1",
                "p:10.0.0.1 page score 1",
                "p:[::1]/x inlinks no.a.www:443/p?q 6",
                "p:[::1]/x page incount 1",
                "p:[::1]/x page score 1",
                "p:no.a.www:443/p?q page score 1",
                "p:no.a:8080 inlinks no.a.www:443/p?q h",
                "p:no.a:8080 page incount 1",
                "p:no.a:8080 page score 1",
            ],
        ),
        (
            "a private suffix has domains below it",
            vec![put("http://x.github.io/", &[]) + &put("http://github.io/", &[])],
            &["p:io.github page score 1", "p:io.github.x page score 1"],
        ),
    ];
    for (what, files, expected) in cases {
        let world = World::empty(crate::SKURD);
        for file in &files {
            load(&world, "pages.jsonl", file);
        }
        let text = dump(&world);
        let pages: Vec<String> = text
            .lines()
            .filter(|line| line.starts_with("p:") && !line.contains("\tpage\tcur\t"))
            .map(|line| line.replace('\t', " "))
            .collect();
        assert_eq!(pages, expected, "{what}: {text}");
        verify(&world);
    }
}

#[test]
fn x1_links_that_are_none_are_counted_by_reason() {
    let world = World::empty(crate::SKURD);
    let long = format!("http://b.no/{}", "x".repeat(3000));
    let links = [
        ("mailto:a@b.no", ""),
        ("ftp://b.no/", ""),
        ("http://u:p@b.no/", ""),
        ("b.no", ""),
        (&*long, ""),
        ("http://b.no/", ""),
    ];
    let summary = load(&world, "pages.jsonl", &put("http://a.no/", &links));
    let expected = json!({ "not_http": 2, "user_info": 1, "unparsable": 1, "too_long": 1, "over_limit": 0, "unusable": 0 });
    assert_eq!((&summary["skipped"], &summary["links"]), (&expected, &json!(1)));
}

#[test]
fn x13_each_collection_has_an_index_of_its_own() {
    let world = World::empty(crate::SKURD);
    load(&world, "pages.jsonl", SAMPLE);
    world.write("other.jsonl", &put("http://o.no/", &[]));
    world.good(&["index", "load", "other.jsonl", "--collection", "other"]);
    assert_eq!(world.good(&["index", "dump", "--collection", "web"]), SAMPLE_DUMP);
    let other = world.good(&["index", "dump", "--collection", "other"]);
    assert!(other.starts_with("d:no.o\tdomain\tpagecount\t1\n") && !other.contains("com.c"), "{other}");
    let told = world.skurd(&["index", "dump"]);
    assert!(
        told.code == Some(1) && told.err.contains("hint: say which with --collection: other, web\n"),
        "{told:?}"
    );
    let told = world.skurd(&["index", "dump", "--collection", "wbe"]);
    assert!(told.code == Some(1) && told.err.contains("did you mean `web`?"), "{told:?}");
    let told = world.skurd(&["index", "dump", "--all"]);
    assert!(
        told.code == Some(1) && told.err.contains("there is no index across all collections"),
        "{told:?}"
    );
    let stats = world.json(&["index", "stats"]);
    assert_eq!(stats.iter().map(|row| row["links"].clone()).collect::<Vec<_>>(), [json!(0), json!(5)]);
}
