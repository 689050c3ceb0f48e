//! WebIndex's own test data: its expected tables, and five real pages.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod common;

use std::collections::BTreeMap;

use common::{Model, assert_same, dump, load, new_index, page, uri};
use index::{PageBuilder, Repair, Uri};
use serde_json::Value;

fn data(name: &str) -> Option<String> {
    let path = format!("{}/../../../shared/data/webindex/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).ok();
    if text.is_none() {
        eprintln!("skipped: {name} of WebIndex is not there");
    }
    text
}

/// `com.a>.www>s>/x` as X1 spells it.
fn x1(webindex: &str) -> String {
    let parts: Vec<&str> = webindex.splitn(4, '>').collect();
    let host: String = format!("{}{}", parts[0], parts[1]);
    let port = if parts[2] == "s" { ":443" } else { "" };
    let path = if parts[3] == "/" { "" } else { parts[3] };
    format!("{host}{port}{path}")
}

#[tokio::test]
async fn x14_the_first_set_of_webindex() {
    let Some(expected) = data("accumulo-data.txt") else { return };
    let index = new_index().await;
    let a = page(&[("http://b.com/1", "b1"), ("http://b.com/3", "b3"), ("http://c.com/1", "c1")]);
    let b = page(&[("http://b.com/2", "b2"), ("http://b.com/3", "b3"), ("http://c.com/1", "c1")]);
    load(&index, "http://a.com/1", Some(&a), 1).await;
    load(&index, "http://b.com/", Some(&b), 1).await;
    index.to_rest().await.unwrap();
    let found = dump(&index).await;
    let mut cells = 0;
    for line in expected.lines() {
        let fields: Vec<&str> = line.split('|').collect();
        let row = |row: &str| x1(row.strip_prefix("p:").unwrap());
        let cell = match fields.as_slice() {
            [domain, "domain", "pagecount", count] => format!("{domain}\tdomain\tpagecount\t{count}\n"),
            [page, "inlinks", source, anchor] => {
                format!("p:{}\tinlinks\t{}\t{anchor}\n", row(page), x1(source))
            }
            // Zero is left out here.
            [_, "page", "incount", "0"] => continue,
            [page, "page", "incount", count] => format!("p:{}\tpage\tincount\t{count}\n", row(page)),
            [_, "page", "cur", _] | [_, "rank" | "", ..] => continue,
            other => panic!("{other:?}"),
        };
        assert!(found.contains(&cell), "{cell} is not in\n{found}");
        cells += 1;
    }
    assert_eq!(cells, 3 + 6 + 4);
}

#[tokio::test]
async fn x14_five_real_pages() {
    let Some(text) = data("5-pages.txt") else { return };
    let index = new_index().await;
    let mut model = Model::default();
    for line in text.lines() {
        let json: Value = serde_json::from_str(line).unwrap();
        let url = json["url"].as_str().unwrap();
        let mut builder = PageBuilder::default();
        let mut links = BTreeMap::new();
        for link in json["outboundLinks"].as_array().unwrap() {
            let (target, anchor) = (link["url"].as_str().unwrap(), link["anchorText"].as_str().unwrap());
            builder.link(target, anchor);
            links.entry(uri(target).as_str().to_owned()).or_insert_with(|| anchor.to_owned());
        }
        let (page, skipped) = builder.finish();
        assert_eq!((page.len(), skipped.total()), (links.len(), 0));
        assert_eq!(json["numOutbound"].as_u64().unwrap(), page.len() as u64);
        load(&index, url, Some(&page), 1).await;
        let known: Uri = uri(url);
        assert_eq!(known.as_str(), x1(json["uri"].as_str().unwrap()));
        model.pages.insert(known.as_str().to_owned(), links);
    }
    index.to_rest().await.unwrap();
    assert_same(&dump(&index).await, &model.dump(), "five pages");
    assert_eq!(index.verify(Repair::Report).await.unwrap().first, []);
}
