//! WARC and WAT files, whole and cut off.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::{Value, json};
use testkit::world::World;
use url::Url;

use crate::{dump, load, verify};

/// Test data of other projects, where it is at hand.
fn shared(path: &str) -> Option<PathBuf> {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data")).join(path);
    if path.exists() {
        return Some(path);
    }
    eprintln!("skipped: no {}", path.display());
    None
}

fn own(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../net/tests/data/warc")).join(name)
}

/// The links of a page in a WAT, worked out anew: absolute http(s) URLs without fragment.
fn links_of(html: &Value, page: &Url) -> BTreeSet<String> {
    let links = html["Links"].as_array().unwrap().iter();
    let hrefs = links.filter(|link| link["path"] == "A@/href").filter_map(|link| link["url"].as_str());
    let mut found = BTreeSet::new();
    for href in hrefs.filter(|href| !href.trim().is_empty() && !href.trim().starts_with('#')) {
        let Ok(mut url) = page.join(href) else { continue };
        url.set_fragment(None);
        if url.scheme().starts_with("http") && url.username().is_empty() {
            found.insert(url.to_string());
        }
    }
    found
}

#[test]
fn x12_wat_files_of_webindex_come_out_link_by_link() {
    for (file, pages) in [("wat-18.warc", 4), ("wat.warc", 1)] {
        let Some(path) = shared(&format!("webindex/{file}")) else { return };
        let world = World::empty(crate::SKURD);
        let summary = world.json(&["index", "load", path.to_str().unwrap()]).pop().unwrap();
        assert_eq!(
            (&summary["pages"], &summary["broken"], &summary["damaged"]),
            (&json!(pages), &json!(0), &json!(0))
        );
        let text = String::from_utf8(std::fs::read(&path).unwrap()).unwrap();
        let mut links = 0;
        for record in text.lines().filter(|line| line.starts_with("{\"Envelope\"")) {
            let envelope = serde_json::from_str::<Value>(record).unwrap()["Envelope"].take();
            let html = &envelope["Payload-Metadata"]["HTTP-Response-Metadata"]["HTML-Metadata"];
            if html.is_null() {
                continue;
            }
            let url = envelope["WARC-Header-Metadata"]["WARC-Target-URI"].as_str().unwrap();
            let expected = links_of(html, &Url::parse(url).unwrap());
            let found: BTreeSet<String> = world
                .json(&["index", "page", url, "--outlinks"])
                .iter()
                .map(|link| link["url"].as_str().unwrap().to_owned())
                .collect();
            assert_eq!(found, expected, "{url}");
            links += expected.len();
        }
        assert_eq!(summary["links"], links);
        verify(&world);
    }
}

#[test]
fn x12_five_pages_of_webindex_come_out_with_their_anchors() {
    let Some(path) = shared("webindex/5-pages.txt") else { return };
    let world = World::empty(crate::SKURD);
    let pages: Vec<Value> = std::fs::read_to_string(path)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let mut text = String::new();
    for page in &pages {
        let links: Vec<Value> = page["outboundLinks"]
            .as_array()
            .unwrap()
            .iter()
            .map(|link| json!({ "url": link["url"], "anchor": link["anchorText"], "uri": link["uri"] }))
            .collect();
        let line = json!({ "op": "put", "url": page["url"], "links": links, "time": page["crawlDate"], "title": page["title"] });
        text.push_str(&format!("{line}\n"));
    }
    let summary = load(&world, "five.jsonl", &text);
    assert_eq!((&summary["pages"], &summary["broken"]), (&json!(5), &json!(0)));
    for page in &pages {
        let outlinks = world.json(&["index", "page", page["url"].as_str().unwrap(), "--outlinks"]);
        for link in page["outboundLinks"].as_array().unwrap() {
            let url = Url::parse(link["url"].as_str().unwrap()).unwrap();
            let found = outlinks.iter().find(|found| found["url"] == url.as_str());
            assert!(found.is_some_and(|found| found["anchor"] == link["anchorText"]), "{link}: {found:?}");
        }
        assert_eq!(page["numOutbound"], outlinks.len());
    }
    verify(&world);
}

#[test]
fn x12_archives_of_our_own_and_of_others_are_loaded() {
    let mut dumps = BTreeSet::new();
    for name in [
        "skurd--skurd-test-20240229123456789-00000-host.example.warc",
        "skurd--skurd-test-20240229123456789-00000-host.example.warc.gz",
    ] {
        let world = World::empty(crate::SKURD);
        let summary = world.json(&["index", "load", own(name).to_str().unwrap()]).pop().unwrap();
        assert!(summary["pages"].as_u64().unwrap() > 0, "{summary}");
        verify(&world);
        dumps.insert(dump(&world));
    }
    assert_eq!(dumps.len(), 1, "plain or packed, it is the same");
    let world = World::empty(crate::SKURD);
    let summary =
        world.json(&["index", "load", own("warc-warcio--example.warc.gz").to_str().unwrap()]).pop().unwrap();
    assert_eq!((&summary["pages"], &summary["links"]), (&json!(1), &json!(1)), "the page and its revisit");
    let links = world.json(&["index", "page", "http://example.com/", "--outlinks"]);
    assert_eq!(
        links,
        [
            json!({ "url": "http://www.iana.org/domains/example", "uri": "org.iana.www/domains/example", "anchor": "More information..." })
        ]
    );
    let page = world.json(&["index", "page", "http://example.com/"]);
    assert_eq!(page[0]["first_seen"], "2017-03-06T04:02:06Z");
}

/// A16: a revisit has no content; its links are those of the record it refers to, wherever that lies.
#[test]
fn a16_revisits_have_the_links_of_the_records_they_refer_to() {
    let record = |kind: &str, url: &str, at: &str, more: &str, block: &str| {
        format!(
            "WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nWARC-Date: {at}\r\nWARC-Record-ID: <urn:x:1>\r\n{more}\
             Content-Type: application/http; msgtype=response\r\nContent-Length: {}\r\n\r\n{block}\r\n\r\n",
            block.len()
        )
    };
    let refers =
        |url: &str, at: &str| format!("WARC-Refers-To-Target-URI: {url}\r\nWARC-Refers-To-Date: {at}\r\n");
    let (day1, day2, day3) = ("2024-03-01T12:00:00Z", "2024-03-02T12:00:00Z", "2024-03-03T12:00:00Z");
    let page =
        |link: &str| format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<a href='{link}'>x</a>");
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n";
    let first = [
        // Before what it refers to, and in another file.
        record("revisit", "http://a.no/copy", day2, &refers("http://a.no/page", day1), head),
        // What it refers to is nowhere.
        record("revisit", "http://a.no/lost", day2, &refers("http://a.no/gone", day1), head),
        record("revisit", "http://a.no/mute", day2, "", head),
        // As it was at first, after it was something else.
        record("response", "http://a.no/back", day1, "", &page("/one")),
        record("response", "http://a.no/back", day2, "", &page("/two")),
        record("revisit", "http://a.no/back", day3, &refers("http://a.no/back", day1), ""),
    ];
    let second = [record("response", "http://a.no/page", day1, "", &page("/target"))];
    let world = World::empty(crate::SKURD);
    for (name, records) in [("first.warc", &first[..]), ("second.warc", &second[..])] {
        world.write(name, &records.concat());
    }
    let (one, two) = ("first.warc", "second.warc");
    let summary = world.json(&["index", "load", one, two]).pop().unwrap();
    let figure = |name: &str| summary[name].as_u64().unwrap();
    assert_eq!(
        ["pages", "revisits", "revisits_skipped", "broken", "damaged"].map(figure),
        [3, 4, 2, 0, 0],
        "{summary}"
    );
    for (url, link) in
        [("copy", "http://a.no/target"), ("page", "http://a.no/target"), ("back", "http://a.no/one")]
    {
        let links = world.json(&["index", "page", &format!("http://a.no/{url}"), "--outlinks"]);
        assert_eq!(links.iter().map(|link| &link["url"]).collect::<Vec<_>>(), [link], "{url}");
    }
    verify(&world);
    let world = World::empty(crate::SKURD);
    world.write(one, &first.concat());
    let told = world.good(&["index", "load", one]);
    assert!(
        told.contains("revisits  4; the records that 3 of them refer to are in none of these files: skipped"),
        "{told}"
    );
}

#[test]
fn x12_a_cut_archive_is_loaded_up_to_the_cut_and_told() {
    let world = World::empty(crate::SKURD);
    let page = |n: u32| {
        let html = format!("<a href='/{}'>next</a>", n + 1);
        let block = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n{html}",
            html.len()
        );
        format!(
            "WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.no/{n}\r\nWARC-Date: 2024-02-29T12:00:00Z\r\n\
             WARC-Record-ID: <urn:x:{n}>\r\nContent-Type: application/http\r\nContent-Length: {}\r\n\r\n{block}\r\n\r\n",
            block.len()
        )
    };
    let first: String = (0..3).map(page).collect();
    let whole = first.clone() + &page(3);
    world.write("cut.warc", &whole[..whole.len() - 12]);
    let told = world.skurd(&["index", "load", "cut.warc"]);
    assert_eq!(told.code, Some(1), "{told:?}");
    assert!(told.err.starts_with(&format!("cut.warc: skipped at byte {}: ", first.len())), "{}", told.err);
    assert!(
        told.err.ends_with("error: 1 place could not be read: what is before and after was loaded\n"),
        "{}",
        told.err
    );
    assert!(told.out.starts_with("loaded 3 pages with 3 links in "), "{}", told.out);
    verify(&world);
    let cut = dump(&world);
    let other = World::empty(crate::SKURD);
    load(&other, "first.warc", &first);
    assert_eq!(cut, dump(&other));
}
