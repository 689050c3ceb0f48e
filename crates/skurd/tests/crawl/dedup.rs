//! The same payload, stored once (A16).

use std::sync::atomic::{AtomicU32, Ordering};

use testkit::web::{Answer, Ask, Then};
use testkit::world::World;

use crate::again::heads;

const SAME: &str = "<p>always the same, wherever it is found</p><a href='leaf'>on</a>";

/// One collection whose URLs are on one host, so that one is committed before the next is asked.
fn config(dedup: &str, paths: &[&str], more: &str) -> String {
    let seeds: Vec<String> =
        paths.iter().map(|path| format!("{{url: 'http://a.test{path}', profiles: [p]}}")).collect();
    format!(
        "settings: {{politeness: {{factor: 0, min: 0s, max: 0s}}}}\n\
         collections: [{{name: c, dedup: {dedup}}}]\n\
         profiles: [{{name: p, collection: c, {more}, robots: ignore}}]\nseeds: [{}]\n",
        seeds.join(", ")
    )
}

fn chunked(head: &str, pieces: &[&str]) -> Answer {
    let body: String = pieces.iter().map(|piece| format!("{:x}\r\n{piece}\r\n", piece.len())).collect();
    let head = format!("HTTP/1.1 200 OK\r\n{head}\r\nTransfer-Encoding: chunked\r\n\r\n");
    Answer::bytes(200, format!("{head}{body}0\r\n\r\n"), Then::Stay)
}

fn site(ask: &Ask) -> Answer {
    match ask.path.as_str() {
        "/one/" | "/three/" => Answer::html(SAME),
        "/two/" => Answer::of(200, &[("Content-Type", "text/html"), ("X-Two", "2")], SAME),
        "/chunked/" => chunked("Content-Type: text/html", &[SAME]),
        "/pieces/" => chunked("Content-Type: text/html", &[&SAME[..7], &SAME[7..]]),
        "/gone/" => Answer::of(404, &[("Content-Type", "text/html")], SAME),
        "/empty" => Answer::of(200, &[], ""),
        "/void" => Answer::of(200, &[], ""),
        // Ends after what the others send whole.
        "/cut/" => Answer::raw(format!("HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n{SAME}")),
        path if path.ends_with("/leaf") => Answer::html(format!("leaf {path}")),
        _ => Answer::not_found(),
    }
}

/// Of each URL: what its record refers to, if it is a revisit.
fn references(world: &World) -> Vec<(String, Option<String>)> {
    let heads = heads(world);
    let answers = heads.iter().filter(|head| matches!(head.kind(), "response" | "revisit"));
    let mut found: Vec<(String, Option<String>)> = answers
        .map(|head| {
            let to = head.get("WARC-Refers-To-Target-URI").map(str::to_owned);
            assert_eq!(to.is_some(), head.kind() == "revisit");
            if let Some(to) = &to {
                // Exact: there is such a capture, whole, of that moment, with that payload.
                let is_it = |other: &&net::warc::RecordHead| {
                    other.kind() == "response"
                        && other.target_uri().as_ref() == Some(to)
                        && other.get("WARC-Date") == head.get("WARC-Refers-To-Date")
                        && other.get("WARC-Payload-Digest") == head.get("WARC-Payload-Digest")
                        && other.get("WARC-Truncated").is_none()
                };
                assert_eq!(heads.iter().filter(is_it).count(), 1, "{head:?}");
            }
            (path_of(&head.target_uri().unwrap()), to.as_deref().map(path_of))
        })
        .collect();
    found.sort();
    found
}

fn path_of(url: &str) -> String {
    url.trim_start_matches("http://a.test").to_owned()
}

fn refers(table: &[(&str, &str)]) -> Vec<(String, Option<String>)> {
    let row =
        |(url, to): &(&str, &str)| ((*url).to_owned(), Some((*to).to_owned()).filter(|to| !to.is_empty()));
    let mut rows: Vec<_> = table.iter().map(row).collect();
    rows.sort();
    rows
}

fn saved(world: &World) -> u64 {
    world.json(&["report", "domains"])[0]["saved_bytes"].as_u64().unwrap()
}

#[test]
fn a16_the_same_payload_is_stored_once_whatever_its_url() {
    let world = World::new(crate::SKURD, site);
    let paths = ["/one/", "/two/", "/three/", "/gone/", "/empty", "/void"];
    world.write("c.yaml", &config("payload", &paths, "every: 1d, length: 1"));
    world.crawl_json(&["c.yaml", "--until-done"]);
    world.check();
    let first = references(&world).into_iter().find(|(url, to)| {
        to.is_none() && url.len() > 4 && !url.contains("leaf") && !["/empty", "/void"].contains(&url.as_str())
    });
    let first = first.unwrap().0;
    let same = ["/one/", "/two/", "/three/", "/gone/"];
    let mut expected: Vec<(&str, &str)> =
        same.iter().map(|url| (*url, if *url == first { "" } else { first.as_str() })).collect();
    // Links are read from the body that came; nothing is the payload of what is empty.
    expected.extend([
        ("/one/leaf", ""),
        ("/two/leaf", ""),
        ("/three/leaf", ""),
        ("/empty", ""),
        ("/void", ""),
    ]);
    let mut found = references(&world);
    found.retain(|(url, _)| url != "/gone/leaf");
    assert_eq!(found, refers(&expected));
    assert_eq!(saved(&world), 3 * SAME.len() as u64);
    for url in same {
        let captures = world.captures_of(&format!("http://a.test{url}"));
        assert_eq!((captures.len(), captures[0]["revisit"].as_bool()), (1, Some(url != first)), "{url}");
        // What it refers to is named, with its moment.
        let original = &world.captures_of(&format!("http://a.test{first}"))[0];
        let refers = &captures[0]["refers_to"];
        match url == first {
            true => assert!(refers.is_null(), "{captures:?}"),
            false => assert_eq!((&refers["url"], &refers["time"]), (&original["url"], &original["time"])),
        }
    }
    let listed = world.good(&["captures"]);
    assert!(listed.contains(&format!("(as `http://a.test{first}` at ")), "{listed}");
    let text = world.good(&["report", "domains"]);
    assert!(text.contains("saved"), "{text}");
}

/// A connection that breaks where the body ends by chance: the same bytes, but nobody knew that they were
/// all. Neither a revisit nor a conditional request may build on it.
#[test]
fn a16_what_was_cut_is_never_referred_to() {
    for dedup in ["url", "payload"] {
        let asked = AtomicU32::new(0);
        let site = move |ask: &Ask| match ask.path.as_str() {
            "/turn/" if asked.fetch_add(1, Ordering::SeqCst) == 0 => {
                Answer::raw(format!("HTTP/1.1 200 OK\r\nContent-Length: 999\r\nETag: \"cut\"\r\n\r\n{SAME}"))
            }
            "/turn/" if ask.header("if-none-match").is_some() => Answer::of(304, &[], ""),
            "/turn/" => Answer::html(SAME),
            _ => Answer::not_found(),
        };
        let world = World::new(crate::SKURD, site);
        world.write("c.yaml", &config(dedup, &["/turn/"], "every: 1s, length: 3"));
        world.crawl_json(&["c.yaml", "--until-done"]);
        world.check();
        let mut found = references(&world);
        found.retain(|(url, _)| url == "/turn/");
        assert_eq!(found, refers(&[("/turn/", ""), ("/turn/", ""), ("/turn/", "/turn/")]), "{dedup}");
    }
}

#[test]
fn a16_by_default_each_url_keeps_its_own() {
    let world = World::new(crate::SKURD, site);
    world.write("c.yaml", &config("url", &["/one/", "/two/"], "every: 1s, length: 2"));
    world.crawl_json(&["c.yaml", "--until-done"]);
    let pages = [("/one/", ""), ("/one/", "/one/"), ("/two/", ""), ("/two/", "/two/")];
    let leaves =
        [("/one/leaf", ""), ("/one/leaf", "/one/leaf"), ("/two/leaf", ""), ("/two/leaf", "/two/leaf")];
    assert_eq!(references(&world), refers(&[pages, leaves].concat()));
}

#[test]
fn a16_what_was_cut_off_is_never_referred_to() {
    let world = World::new(crate::SKURD, site);
    world.write("c.yaml", &config("payload", &["/cut/"], "every: 1d, length: 1"));
    world.crawl_json(&["c.yaml", "--until-done"]);
    world.write("c.yaml", &config("payload", &["/cut/", "/one/"], "every: 1d, length: 1"));
    world.crawl_json(&["c.yaml", "--until-done"]);
    world.write("c.yaml", &config("payload", &["/cut/", "/one/", "/two/"], "every: 1d, length: 1"));
    world.crawl_json(&["c.yaml", "--until-done"]);
    let mut found = references(&world);
    found.retain(|(url, _)| !url.contains("leaf"));
    found.dedup();
    let own =
        |url: &str| found.iter().filter(|(own, _)| own == url).map(|(_, to)| to.clone()).collect::<Vec<_>>();
    assert_eq!(
        (own("/one/")[0].clone(), own("/two/")[0].clone()),
        (None, Some("/one/".to_owned())),
        "{found:?}"
    );
    assert!(own("/cut/").contains(&None), "{found:?}");
}

/// Each framing serves those that say of themselves that they have it, so that replay finds what the
/// head of the revisit says.
#[test]
fn a16_chunks_make_no_other_payload_but_are_not_mixed_with_none() {
    let world = World::new(crate::SKURD, site);
    for paths in [&["/one/"][..], &["/one/", "/chunked/"], &["/one/", "/chunked/", "/pieces/"]] {
        world.write("c.yaml", &config("payload", paths, "every: 1d, length: 1, scope: {max_depth: 0}"));
        world.crawl_json(&["c.yaml", "--until-done"]);
    }
    let mut found = references(&world);
    found.retain(|(url, _)| !url.starts_with("/one/"));
    found.dedup();
    assert!(found.contains(&("/chunked/".to_owned(), None)), "{found:?}");
    assert!(found.contains(&("/pieces/".to_owned(), Some("/chunked/".to_owned()))), "{found:?}");
    world.check();
}

/// F35 over A16: the payload lies under another URL, where it is of a type that has no links.
#[test]
fn f35_a16_a_page_that_was_not_modified_links_as_the_payload_it_refers_to() {
    let world = World::new(crate::SKURD, |ask| match (ask.path.as_str(), ask.header("if-none-match")) {
        ("/picture/" | "/page/", Some("\"v1\"")) => Answer::of(304, &[], ""),
        ("/picture/", _) => Answer::of(200, &[("ETag", "\"v1\""), ("Content-Type", "image/png")], SAME),
        ("/page/", _) => Answer::of(200, &[("ETag", "\"v1\""), ("Content-Type", "text/html")], SAME),
        _ => site(ask),
    });
    let scope = "every: 1s, limits: {backoff_base: 1s}, scope: {exclude: [EXCLUDED]}";
    let excluded = scope.replace("EXCLUDED", "{regex: leaf}");
    world.write("c.yaml", &config("payload", &["/picture/"], &excluded));
    world.crawl_json(&["c.yaml", "--max-urls", "1"]);
    world.write("c.yaml", &config("payload", &["/picture/", "/page/"], &excluded));
    world.crawl_json(&["c.yaml", "--max-urls", "3"]);
    let page = world.captures_of("http://a.test/page/");
    assert_eq!((page[0]["status"].as_u64(), page[0]["revisit"].as_bool()), (Some(200), Some(true)));
    assert_eq!(world.captures_of("http://a.test/page/leaf").len(), 0);
    world.write("c.yaml", &config("payload", &["/picture/", "/page/"], &scope.replace("EXCLUDED", "")));
    world.crawl_json(&["c.yaml", "--max-urls", "6"]);
    let conditional = world.web().seen().into_iter().filter(|seen| seen.ask.path == "/page/").skip(1);
    assert!(conditional.clone().count() > 0);
    for seen in conditional {
        assert_eq!(seen.ask.header("if-none-match"), Some("\"v1\""));
    }
    assert!(!world.captures_of("http://a.test/page/leaf").is_empty(), "its own head says that it is a page");
    assert_eq!(world.captures_of("http://a.test/picture/leaf").len(), 0);
    let mut revisits = references(&world).into_iter().filter(|(url, _)| url == "/page/");
    assert!(revisits.all(|(_, to)| to.as_deref() == Some("/picture/")));
    world.check();
}
