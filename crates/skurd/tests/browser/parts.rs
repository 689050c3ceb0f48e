//! A web of pages with parts, and the check that each page is there with everything that belongs to
//! it, or not at all (B18): in the store, in the files, in the jar.
//!
//! The reference is the web's own log: every answer carries its number, and what is in the files is
//! read without any of the code under test.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::Value;
use testkit::web::{Answer, Ask};
use testkit::world::World;

use crate::config;

const PAGES_PER_HOST: usize = 5;
const NUMBER: &str = "X-Answer";
/// What belongs to a page: its document, what it loads, and what was seen of it.
const PARTS: [&str; 4] = [".a", ".b", ".c?__wb_method=POST&x=1", ".png"];
const SEEN: [&str; 4] = ["urn:pageinfo:", "urn:dom:", "urn:view:", "urn:thumbnail:"];

/// Each page loads its parts one after the other, writes a link and sets a cookie by script, and has
/// all of that before it counts as loaded, however slow the machine is.
pub(crate) fn site(ask: &Ask) -> Answer {
    let number = ask.number.to_string();
    let answer =
        |kind: &str, body: String| Answer::of(200, &[("Content-Type", kind), (NUMBER, &number)], body);
    let path = ask.path.as_str();
    let name = path.trim_start_matches('/');
    match path {
        "/robots.txt" => Answer::not_found(),
        "/" => {
            let links = (0..PAGES_PER_HOST).map(|page| format!("<a href=/p{page}>p</a>"));
            answer("text/html", links.collect())
        }
        _ if path.contains('.') => {
            let pause = 10 + ask.number as u64 * 37 % 90;
            answer("text/plain", format!("{path} {number}")).after(Duration::from_millis(pause))
        }
        _ => answer(
            "text/html",
            format!(
                "<title>{number}</title><img src={path}.png><script>\
                 document.cookie = '{name}=1; max-age=86400';\
                 const ask = (method, url, body) => {{ const x = new XMLHttpRequest(); x.open(method, url, false);\
                 if (body) x.setRequestHeader('Content-Type', 'application/x-www-form-urlencoded'); x.send(body) }};\
                 ask('GET', '{path}.a'); ask('GET', '{path}.b'); ask('POST', '{path}.c', 'x=1');\
                 document.write('<a href=http://out.test{path}>made</a>')</script>"
            ),
        ),
    }
}

/// A world of such pages.
pub(crate) struct Pages {
    pub(crate) world: World,
    hosts: usize,
    /// Cookies of each host that are in the jar by now, by what was committed.
    set: BTreeMap<String, BTreeSet<String>>,
}

impl Pages {
    /// Declared, and not yet harvested.
    pub(crate) fn new(world: World, hosts: usize) -> Pages {
        let collection = "  - {name: web, engine: browser, browser: {fresh: 0s, limits: {quiet: 200ms}}}\n";
        let urls: Vec<String> = (0..hosts).map(|host| format!("http://h{host}.test/")).collect();
        let seeds: Vec<(&str, &str)> = urls.iter().map(|url| ("web", url.as_str())).collect();
        world.write("c.yaml", &config(collection, &seeds));
        Pages { world, hosts, set: BTreeMap::new() }
    }

    /// The jar is as it was committed: the first document that a host was asked for in this life came
    /// with the cookies of the pages that were there before.
    pub(crate) fn cookies_sent(&self, before: usize) {
        let mut asked = BTreeSet::new();
        for seen in self.world.web().seen().iter().skip(before) {
            let ask = &seen.ask;
            let is_document = ask.path == "/" || (ask.path.starts_with("/p") && !ask.path.contains('.'));
            if !is_document || !asked.insert(ask.host.clone()) {
                continue;
            }
            let sent = ask.header("cookie").unwrap_or_default();
            let sent: BTreeSet<String> =
                sent.split("; ").filter_map(|pair| Some(pair.split_once('=')?.0.to_owned())).collect();
            let expected = self.set.get(&ask.host).cloned().unwrap_or_default();
            assert_eq!(sent, expected, "{} {}", ask.host, ask.path);
        }
    }

    /// All of each page, or nothing, in the store and in the files.
    pub(crate) fn check(&mut self) {
        // It may have been killed before there was anything.
        if !self.world.data().exists() {
            return;
        }
        let captures = self.world.json(&["captures"]);
        let mut by_url: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
        for capture in &captures {
            by_url.entry(capture["url"].as_str().unwrap()).or_default().push(capture);
        }
        let log = self.world.web().seen();
        for (host, page) in self.pages() {
            let url = format!("http://{host}/p{page}");
            let belongs = PARTS.map(|part| format!("{url}{part}")).into_iter();
            let belongs = belongs.chain(SEEN.map(|seen| format!("{seen}{url}")));
            let found = |url: &str| by_url.get(url).map_or(0, Vec::len);
            let times = found(&url);
            assert!(times <= 1, "{url} was captured {times} times");
            for part in belongs.clone() {
                assert_eq!(found(&part), times, "{part}");
            }
            if times == 0 {
                continue;
            }
            self.set.entry(host).or_default().insert(format!("p{page}"));
            let read = |url: &str| Record::read(&self.world, by_url[url][0]);
            let info: Value = serde_json::from_str(&read(&format!("urn:pageinfo:{url}")).block).unwrap();
            let document = read(&url);
            let number = document.number();
            assert_eq!(info["title"], number.to_string(), "the document that was rendered is another one");
            assert_eq!(log[number].ask.url(), url);
            let page_id = info["page"].as_str().unwrap();
            for part in PARTS {
                let record = read(&format!("{url}{part}"));
                let number = record.number();
                assert_eq!(record.field("WARC-Page-ID"), Some(page_id), "{url}{part}");
                let asked = &log[number].ask;
                assert_eq!(asked.url(), format!("{url}{}", part.split('?').next().unwrap()));
                assert!(record.block.ends_with(&format!("{} {number}", asked.path)), "{}", record.block);
                let id = record.field("WARC-Record-ID").unwrap();
                let listed = info["requests"].as_array().unwrap();
                assert!(listed.iter().any(|request| request["record"] == id), "{url}{part}: {info:#}");
            }
            let dom = read(&format!("urn:dom:{url}")).block;
            assert!(dom.contains(&format!("<a href=\"http://out.test/p{page}\">")), "{dom}");
        }
    }

    fn pages(&self) -> Vec<(String, usize)> {
        let pages = |host| (0..PAGES_PER_HOST).map(move |page| (format!("h{host}.test"), page));
        (0..self.hosts).flat_map(pages).collect()
    }

    /// Everything is there at the end, and everybody says the same.
    pub(crate) fn end(&mut self) {
        self.check();
        let pages = self.pages();
        let all: usize = self.set.values().map(BTreeSet::len).sum();
        assert_eq!(all, pages.len());
        self.world.check();
        for (host, page) in &pages {
            let url = format!("http://{host}/p{page}");
            let why = self.world.why(&url);
            assert_eq!(why["rendering"]["ending"], "ok", "{why:#}");
            let shown = self.world.json(&["index", "page", &url, "--collection", "web", "--outlinks"]);
            let out = format!("http://out.test/p{page}");
            assert!(serde_json::to_string(&shown).unwrap().contains(&out), "{url}: {shown:#?}");
        }
        self.world.good(&["index", "verify", "--collection", "web"]);
        let (requests, captures) = (self.world.web().count(), self.world.captures().len());
        eprintln!("{requests} requests, {captures} captures of {} pages", pages.len());
    }
}

/// A record, read without any of the code under test.
struct Record {
    head: String,
    block: String,
}

impl Record {
    fn read(world: &World, capture: &Value) -> Record {
        let dir = world.data().join("warc");
        let name = capture["file"].as_str().unwrap();
        // A file that nobody came to close has another name yet.
        let path = [name.to_owned(), format!("{name}.open")].map(|name| dir.join(name));
        let path = path.iter().find(|path| path.exists()).unwrap_or_else(|| panic!("{name}"));
        let bytes = std::fs::read(path).unwrap();
        let place = |key: &str| usize::try_from(capture[key].as_u64().unwrap()).unwrap();
        let (offset, length) = (place("offset"), place("length"));
        let members = testkit::gzip::whole(name, &bytes[offset..offset + length]);
        assert_eq!(members.len(), 1, "{capture}");
        let text = String::from_utf8_lossy(&members[0].bytes).into_owned();
        let (head, block) = text.split_once("\r\n\r\n").unwrap();
        let block = block.strip_suffix("\r\n\r\n").unwrap();
        Record { head: head.to_owned(), block: block.to_owned() }
    }

    fn field(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }

    /// Which answer of the web it is.
    fn number(&self) -> usize {
        let line = self.block.lines().find_map(|line| line.strip_prefix(NUMBER)?.strip_prefix(": "));
        line.unwrap_or_else(|| panic!("{}", self.block)).trim().parse().unwrap()
    }
}
