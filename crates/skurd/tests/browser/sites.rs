//! Pages that others test their harvesters with, and the links of a page by its own account (B17).
//!
//! brozzler's and Heritrix' pages lie beside the repository in `../shared/data`; where they do not,
//! the test says so.

use std::path::{Path, PathBuf};

use testkit::web::{Answer, Ask};
use testkit::world::World;

use crate::{config, has_browser, page_info, record, times};

const COLLECTIONS: &str = "  - {name: brozzler, engine: browser, browser: {limits: {quiet: 300ms, load: 30s}}}
  - {name: patient, engine: browser, browser: {limits: {quiet: 2s, load: 30s}}}
  - {name: heritrix, engine: browser, browser: {behaviours: {click: 'a[href^=\"javascript:\"]'}, limits: {quiet: 300ms, load: 30s}}}
";

/// Collection, page, and what must be asked for because of it: below the page's directory, or from
/// the root.
const PAGES: &[(&str, &str, &[&str])] = &[
    ("brozzler", "site2/login.html", &[]),
    ("brozzler", "site3/page.html", &["brozzler.svg"]),
    ("brozzler", "site4/alert.html", &[]),
    ("brozzler", "site4/confirm.html", &[]),
    ("brozzler", "site4/print.html", &[]),
    ("brozzler", "site4/prompt.html", &[]),
    ("brozzler", "site5/destination/index.html", &["page2.html"]),
    ("brozzler", "site6/index.html", &["small.webm", "small.mp4", "small.mpd"]),
    ("brozzler", "site7/index.html", &["foo.html"]),
    ("brozzler", "site8/index.html", &["baz/zuh", "fdjisapofdjisap"]),
    ("brozzler", "site9/index.html", &["redirect.html", "destination.html"]),
    ("brozzler", "site11/form1.html", &[]),
    ("brozzler", "site11/form2.html", &[]),
    ("brozzler", "site11/form-no-login.html", &[]),
    ("brozzler", "site12/blank_page.html", &[]),
    // It waits for a second before it asks, and then three for the answer.
    ("patient", "site12/with_request.html", &["/sleep-3s"]),
    ("heritrix", "BackgroundImageExtraction/index.html", &["example-background-image.jpeg"]),
    ("heritrix", "BadURIsStopPageParsing/index.html", &["one.html", "two.html", "three.html"]),
    ("heritrix", "Charset/index.html", &["utf8.jsp"]),
    ("heritrix", "Frames/index.html", &["topframe.html", "leftframe.html", "rightframe.html"]),
    ("heritrix", "MaxLinkHops/index.html", &["2.html"]),
    ("heritrix", "Refresh/refresh.html", &["refresh2.html"]),
    ("heritrix", "RobotsExclusion/index.html", &["included.html"]),
    ("heritrix", "SimpleDocumentTypes/index.html", &["html.html", "txt.txt", "binaries/pdf.pdf"]),
    (
        "heritrix",
        "SimpleJavascriptExtraction/index.html",
        &["jscriptOpenWindow.html", "jscriptOpenWindowArg.html"],
    ),
    ("heritrix", "SpacesInHrefPath/index.html", &["spaces%20in%20path.html"]),
    (
        "heritrix",
        "TrickyRelativeURIs/index.html",
        &["reluptricky.html", "/test8/anothersub/reluptarget.html"],
    ),
];

fn shared() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data"))
}

/// A file of a site as it lies there, below its directory.
fn file(dir: &Path, path: &str) -> Option<Answer> {
    let name = path.trim_start_matches('/').replace("%20", " ");
    let inside = !name.split('/').any(|part| part == "..");
    let bytes = std::fs::read(dir.join(&name)).ok().filter(|_| inside)?;
    let kind = match name.rsplit('.').next() {
        Some("html") => "text/html",
        Some("jpeg") => "image/jpeg",
        _ => "text/plain",
    };
    Some(Answer::of(200, &[("Content-Type", kind)], bytes))
}

fn served(ask: &Ask, dir: &Path) -> Answer {
    let dir = match ask.host.as_str() {
        "heritrix.test" => dir.join("site-heritrix-selftest"),
        _ => dir.join("site-brozzler"),
    };
    match ask.path.as_str() {
        "/site9/redirect.html" => Answer::redirect("/site9/destination.html"),
        "/sleep-3s" => Answer::text("slept").after(std::time::Duration::from_secs(3)),
        path => file(&dir, path).unwrap_or_else(Answer::not_found),
    }
}

#[test]
fn b3_b9_b14_b17_the_pages_of_brozzler_and_heritrix_are_rendered() {
    if !has_browser() {
        return;
    }
    let dir = shared();
    if !dir.join("site-brozzler").is_dir() || !dir.join("site-heritrix-selftest").is_dir() {
        eprintln!("no ../shared/data: the pages of brozzler and Heritrix are not rendered");
        return;
    }
    let world = World::new(crate::SKURD, move |ask| served(ask, &dir));
    let url = |collection: &str, path: &str| format!("http://{collection}.test/{path}");
    let urls: Vec<String> = PAGES.iter().map(|(collection, path, _)| url(collection, path)).collect();
    let seeds: Vec<(&str, &str)> =
        PAGES.iter().zip(&urls).map(|((collection, ..), url)| (*collection, url.as_str())).collect();
    world.write("c.yaml", &config(COLLECTIONS, &seeds));
    // They name hosts of others, which are nobody else's here either.
    let address = world.web().address();
    let [com, gov] = ["com", "gov"].map(|top| format!("*.{top}={address}"));
    world.crawl_json(&["c.yaml", "--until-done", "--resolve", &com, "--resolve", &gov]);
    for ((collection, path, expected), url) in PAGES.iter().zip(&urls) {
        let info = page_info(&world, url);
        assert_eq!(info["ending"], "ok", "{url}: {info:#}");
        let below = &path[..=path.rfind('/').unwrap()];
        for one in *expected {
            let path = one.strip_prefix('/').map_or(format!("{below}{one}"), str::to_owned);
            assert!(times(&world, &format!("GET {collection}.test/{path}")) > 0, "{url}: {path}: {info:#}");
        }
    }
    for (page, dialogs) in [("alert", 1), ("confirm", 1), ("prompt", 1), ("print", 0)] {
        let info = page_info(&world, &format!("http://brozzler.test/site4/{page}.html"));
        assert_eq!(info["dialogs"], dialogs, "{page}");
    }
    // Nobody logged in, or sent anything.
    let seen = world.web().seen();
    let sent: Vec<String> = seen
        .iter()
        .filter(|seen| seen.ask.method != "GET" || seen.ask.path.contains("login-action"))
        .map(|seen| format!("{} {}", seen.ask.method, seen.ask.url()))
        .collect();
    assert!(sent.is_empty(), "{sent:?}");
    let patient = page_info(&world, "http://patient.test/site12/with_request.html");
    assert_eq!(crate::find_request(&patient, "http://patient.test/sleep-3s")["status"], 200);
    world.check();
}

/// Makes, changes and takes away links in many ways, and then tells which there are.
const LINKS: &str = r##"<!DOCTYPE html><base href="http://links.test/base/"><title>links</title>
<a href=first>1</a><a id=gone href=gone>gone</a><a id=changed href=before>2</a>
<map name=m><area href="/area?a=1&amp;b=2"></map><a>none</a>
<a href="mailto:a@b.test">m</a><a href="javascript:void 0">j</a>
<template><a href=in-template>t</a></template><noscript><a href=in-noscript>n</a></noscript>
<div id=app></div>
<script>
  gone.remove(); changed.href = 'after'; changed.textContent = 'changed';
  app.innerHTML = '<p><a href="../up/./x/../y">up</a><a href="//links.test/twice">a</a><a href="/twice">b</a></p>';
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.innerHTML = '<a href="/in-svg"><text y=20>svg</text></a>'; app.append(svg);
  setTimeout(() => {
    const late = document.createElement('a'); late.href = 'late?\u00e5=\u00f8#part'; late.textContent = 'late'; app.append(late);
    const urls = [...document.links].filter(a => a.protocol === 'http:').map(a => a.href.split('#')[0]);
    fetch('/told', {method: 'POST', body: JSON.stringify([...new Set(urls)].sort())});
  }, 300);
</script>"##;

#[test]
fn b17_the_links_found_are_those_of_the_final_dom() {
    if !has_browser() {
        return;
    }
    let world = World::new(crate::SKURD, |ask: &Ask| match ask.path.as_str() {
        "/robots.txt" => Answer::not_found(),
        "/" => Answer::html(LINKS),
        _ => Answer::text("a leaf"),
    });
    let collection = "  - {name: web, engine: browser, browser: {limits: {quiet: 700ms}}}\n";
    crate::harvest(&world, &config(collection, &[("web", "http://links.test/")]));
    let told = world.web().seen().into_iter().find(|seen| seen.ask.path == "/told").unwrap().ask.body;
    let told: Vec<String> = serde_json::from_slice(&told).unwrap();
    assert_eq!(told.len(), 6, "{told:?}");
    let dom = String::from_utf8(record(&world, "urn:dom:http://links.test/")).unwrap();
    assert!(dom.contains("late?") && !dom.contains("id=\"gone\""), "{dom}");
    let with = |more: &[&str]| -> Vec<String> {
        let more = more.iter().map(|path| format!("http://links.test/{path}"));
        let mut all: Vec<String> = told.iter().cloned().chain(more).collect();
        all.sort();
        all
    };

    // The index has them, and what a browser with other settings would show of the same document;
    // `document.links` has no links of SVG.
    let dump = world.good(&["index", "dump", "--collection", "web"]);
    let line = dump.lines().find_map(|line| line.strip_prefix("p:test.links\tpage\tcur\t"));
    let page: serde_json::Value = serde_json::from_str(line.unwrap()).unwrap();
    let indexed = page["outlinks"].as_array().unwrap().iter().map(|uri| uri.as_str().unwrap());
    let indexed: Vec<String> = indexed.map(|uri| uri.replace("test.links/", "http://links.test/")).collect();
    let shown = ["base/in-noscript", "base/in-template", "in-svg"];
    assert_eq!(indexed, with(&shown));
    // Each was harvested, and those that the document had before its script ran, and no other.
    let seen = world.web().seen();
    let mut asked: Vec<String> =
        seen.iter().filter(|seen| seen.ask.method == "GET").map(|seen| seen.ask.url()).collect();
    asked.retain(|url| !url.ends_with("/robots.txt") && url != "http://links.test/");
    asked.sort();
    assert_eq!(asked, with(&[&shown[..], &["base/before", "base/gone"]].concat()));
    world.check();
}
