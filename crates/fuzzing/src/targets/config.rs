//! The config file (I3): it ends in problems that are in the file, or in a model that can be
//! written and read back.

use crate::{Seeds, Target};
use policy::catalog::Catalog;

use declare::{ConfigError, example, parse};
use plan::webfile;

pub const CONFIG: Target = Target {
    name: "config",
    run: config,
    seeds,
    words: &[
        "settings:",
        "collections:",
        "profiles:",
        "seeds:",
        "host_groups:",
        "hosts:",
        "walks:",
        "name: ",
        "every: ",
        "extends: ",
        "collection: ",
        "url: ",
        "- ",
        "  ",
        ": ",
        "{",
        "}",
        "[",
        "]",
        "&a ",
        "*a",
        "!!str ",
        "|\n",
        ">-\n",
        "'",
        "\"",
        "#",
        "---\n",
        "none",
        "~",
        "yes",
        "no",
        "1d",
        "1w2d",
        "1GiB",
        "{id}",
        "{id:08}",
        "regex: '",
        "https://",
        "\t",
        "<<: *a",
        "? ",
        "%YAML 1.2\n",
    ],
    runs: 1000,
};

fn seeds(seeds: &mut Seeds) {
    seeds.add(example());
    seeds.each(&[
        include_str!("../../../../examples/news.yaml"),
        include_str!("../../../../examples/walks.yaml"),
        include_str!("../../../../examples/spec2-example1-web.yaml"),
        "collections: [{name: c}]\nprofiles: [{name: p, collection: c, every: &d 1d, ttl: *d}]\nseeds: [{url: https://a.no/, profiles: [p]}]",
        "{\"collections\": [{\"name\": \"c\", \"headers\": {\"A\": \"b\"}, \"cookies\": [{\"host\": \"a.no\", \"name\": \"n\", \"value\": \"v\"}]}]}",
        "settings: {session_ids: [sid], contact: 'https://a.test/', on_time: 0s, politeness: {min: 0s, max: 1m, factor: 0.5}}\nhosts: [{host: b.no, politeness: {max: 5s}}]",
        "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: [*c, *c]",
    ]);
}

fn config(input: &[u8]) {
    match parse("c", input) {
        Err(error) => explained(&error, input),
        Ok(declared) => {
            let _ = declared.warnings();
            let text = declared.to_json().to_string();
            let again = parse("again", text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{text}"));
            assert_eq!(again, declared, "what was written reads back as something else");
            let mut catalog = Catalog::new();
            for change in declared.into_changes() {
                catalog.apply(change).unwrap_or_else(|error| panic!("what was checked is refused: {error}"));
            }
        }
    }
    if let Err(error) = webfile::read("w", input, &policy::url::UrlRules::default()) {
        explained(&error, input);
    }
}

/// Each problem has a place in the file, is told on one line, and says what would be right.
fn explained(error: &ConfigError, input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    // What YAML takes for a line end.
    let lines: Vec<&str> = text.split('\n').collect();
    let breaks = text.matches(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']).count();
    assert!(!error.problems.is_empty() && error.problems.is_sorted());
    for problem in &error.problems {
        let (line, column) = (problem.at.line as usize, problem.at.column as usize);
        assert!(line >= 1 && line <= breaks + 2, "line {line} of {}: {problem:?}", lines.len());
        assert!(column >= 1 && column <= text.chars().count() + 2, "column {column}: {problem:?}");
        assert!(!problem.what.contains('\n') && !problem.hint.contains('\n'), "{problem:?}");
        assert!(!problem.what.is_empty() && !problem.hint.is_empty(), "{problem:?}");
    }
}
