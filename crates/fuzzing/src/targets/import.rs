//! Seed lists of others (I3): every seed is a URL that a config takes, and what is left out is told
//! with its line.

use crate::{Seeds, Target, first_line};

use declare::import::{Imported, heritrix, to_json_lines, to_yaml, urls, veidemann};
use declare::parse;

pub const IMPORT: Target = Target {
    name: "import",
    run: import,
    seeds,
    words: &[
        "https://",
        "+http://(no,vg,",
        "-",
        "#",
        "\"kind\": \"seed\"",
        "{",
        "}",
        "meta:",
        "name:",
        "<bean ",
        "<property ",
        "<value>",
        "</value>",
        "<![CDATA[",
        "]]>",
        "&amp;",
        "---\n",
        "entityRef",
        "label",
        "é",
        "\t",
    ],
    runs: 1500,
};

fn seeds(seeds: &mut Seeds) {
    seeds.each(&[
        "urls\nhttps://vg.no/\nvg.no\n# comment\nftp://x\nhttps://nrk.no/a b\n",
        "heritrix\nhttp://a.no/\n+http://(no,a,)/x\n-b.no\n\n# c\n",
        "heritrix\n<?xml version='1.0'?><beans><bean id='longerOverrides'><property name='properties'><props><prop key='seeds.textSource.value'>\nhttp://a.no/\n&#x62;.no\n</prop></props></property></bean><bean id='x' class='org.archive.spring.ConfigString'><property name='value'><value>http://c.no/</value></property></bean></beans>",
        "veidemann\nkind: seed\nmeta: {name: 'https://a.no/', label: [{key: a, value: b}]}\nseed: {entityRef: {id: e}, disabled: true}\n---\nkind: crawlEntity\nid: e\nmeta: {name: E}\n",
        "veidemann\n{\"kind\": \"seed\", \"meta\": {\"name\": \"https://a.no/\"}, \"seed\": {}}\n[1, 2]\n",
    ]);
}

fn import(input: &[u8]) {
    let (kind, file) = first_line(input);
    let read = match kind {
        b"heritrix" => heritrix(file),
        b"veidemann" => veidemann(file),
        _ => urls(file),
    };
    let imported = match read {
        Ok(imported) => imported,
        Err(error) => return assert!(!format!("{error:#}").contains('\n'), "{error:#}"),
    };
    let Imported { seeds, skipped, .. } = imported;
    assert!(
        skipped.iter().all(|(line, reason)| *line >= 1 && !reason.is_empty() && !reason.contains('\n')),
        "{skipped:?}"
    );
    let mut lines = Vec::new();
    to_json_lines(&mut lines, &seeds, &["p".to_owned()]).expect("memory");
    assert_eq!(lines.iter().filter(|byte| **byte == b'\n').count(), seeds.len());
    let mut config =
        b"collections: [{name: c}]\nprofiles: [{name: p, collection: c, every: 1d, scope: {within: any}}]\n"
            .to_vec();
    to_yaml(&mut config, &seeds, &["p".to_owned()]).expect("memory");
    // Where nothing was found, the section is empty, and that is told.
    if seeds.is_empty() {
        return;
    }
    let named = seeds.iter().any(|seed| seed.name.is_some());
    match parse("c", &config) {
        Ok(declared) => {
            let urls: Vec<&str> = declared.seeds.iter().map(|seed| seed.url.as_str()).collect();
            assert_eq!(urls, seeds.iter().map(|seed| seed.url.as_str()).collect::<Vec<_>>());
        }
        // Names are the list's own, and may be there twice or say nothing.
        Err(_) if named => {}
        Err(error) => panic!("what was imported is not taken: {error}\n{}", String::from_utf8_lossy(&config)),
    }
}
