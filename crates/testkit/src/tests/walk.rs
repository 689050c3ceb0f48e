//! The town link by link, without a network: what a harvest by the demo's config would find.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::Read;

use policy::model::{Position, Profile};
use policy::url::{CrawlUrl, UrlRules, normalise};

use super::*;
use crate::town::{self, Memory};
use crate::web::{Answer, Ask, Step};

/// URLs that are linked although nothing is there, as a web has them.
const BROKEN_ON_PURPOSE: [&str; 2] = ["http://tregt.test/arkivskap/a", "http://verksted.test/finnes-ikke"];

struct Walk {
    /// With the status of its answer.
    seen: BTreeMap<String, u16>,
    /// Links from one host to another.
    links: BTreeMap<String, BTreeSet<String>>,
}

/// Everything that seeds of a collection have in scope, each with its own profile; links to other
/// hosts are left to those.
fn walk(collection: &str, cookies: &str) -> Walk {
    let declared = declare::parse("demo.yaml", crate::config().as_bytes()).unwrap();
    let memory = Memory::default();
    let mut walk = Walk { seen: BTreeMap::new(), links: BTreeMap::new() };
    for seed in &declared.seeds {
        let url = normalise(&seed.url, None, &UrlRules::default()).unwrap();
        let profile = declared.profiles.iter().find(|profile| seed.profiles.contains(&profile.name)).unwrap();
        if profile.collection == collection {
            walk.around(&url, profile, cookies, &memory);
        }
    }
    walk
}

impl Walk {
    fn around(&mut self, seed: &CrawlUrl, profile: &Profile, cookies: &str, memory: &Memory) {
        let mut queue = VecDeque::from([(seed.clone(), Position::default())]);
        let mut queued = BTreeSet::from([seed.to_string()]);
        while let Some((url, position)) = queue.pop_front() {
            let answer = town::answer(&ask_for(&url, cookies), memory);
            self.seen.insert(url.to_string(), answer.status);
            for (link, requisite) in links_of(&answer) {
                let Ok(link) = normalise(&link, Some(&url), &UrlRules::default()) else { continue };
                if link.host() != url.host() {
                    self.links.entry(link.host().to_owned()).or_default().insert(url.to_string());
                }
                let depth = position.depth + u32::from(!requisite);
                let there =
                    Position { depth, requisite, hops: u32::from(link.domain() != seed.domain()), chain: 0 };
                if profile.scope.check(seed, &link, &there).in_scope && queued.insert(link.to_string()) {
                    queue.push_back((link, there));
                }
            }
            assert!(self.seen.len() < 1000, "the walk does not end: {url}");
        }
    }
}

fn ask_for(url: &CrawlUrl, cookies: &str) -> Ask {
    let target = url.as_str().splitn(4, '/').nth(3).unwrap();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let headers = vec![("cookie".to_owned(), cookies.to_owned())];
    let host = url.host().to_owned();
    Ask {
        host,
        path: format!("/{path}"),
        query: query.to_owned(),
        headers,
        keep_alive: true,
        ..Ask::default()
    }
}

/// Links and whether they are requisites; found by their spelling, which is enough for pages of our
/// own.
fn links_of(answer: &Answer) -> Vec<(String, bool)> {
    let bytes: Vec<u8> = answer
        .steps
        .iter()
        .filter_map(|step| if let Step::Send(bytes) = step { Some(bytes.as_slice()) } else { None })
        .collect::<Vec<&[u8]>>()
        .concat();
    let text = text_of(&bytes);
    let marks = [
        ("\r\nLocation: ", '\r', false),
        ("rel=\"stylesheet\" href=\"", '"', true),
        ("src=\"", '"', true),
        ("url(/", ')', true),
        ("<a href=\"", '"', false),
        ("content=\"0; url=", '"', false),
        ("type=\"application/rss+xml\" href=\"", '"', false),
        ("<loc>", '<', false),
        ("<link>", '<', false),
        ("\r\nLink: <", '>', false),
    ];
    let found = marks.iter().flat_map(|(mark, end, requisite)| {
        text.split(mark).skip(1).map(move |rest| {
            let url = rest.split(*end).next().unwrap();
            (if *mark == "url(/" { format!("/{url}") } else { url.to_owned() }, *requisite)
        })
    });
    found.collect()
}

/// Head and body as text, whatever the body is in.
fn text_of(answer: &[u8]) -> String {
    let Some(end) = answer.windows(4).position(|four| four == b"\r\n\r\n") else { return String::new() };
    let (head, body) = answer.split_at(end + 4);
    let mut unpacked = Vec::new();
    let body = match body {
        [0x1f, 0x8b, ..] if flate2::read::GzDecoder::new(body).read_to_end(&mut unpacked).is_ok() => {
            &unpacked
        }
        body => body,
    };
    let text = match body {
        [0xff, 0xfe, ..] => {
            let units: Vec<u16> =
                body.chunks_exact(2).map(|two| u16::from_le_bytes([two[0], two[1]])).collect();
            String::from_utf16_lossy(&units)
        }
        body => String::from_utf8(body.to_vec())
            .unwrap_or_else(|_| body.iter().map(|byte| char::from(*byte)).collect()),
    };
    String::from_utf8_lossy(head).into_owned() + &text
}

#[test]
fn the_town_is_small_whole_and_ends() {
    let walk = walk("open", "");
    assert!((200..=260).contains(&walk.seen.len()), "{} URLs", walk.seen.len());
    let broken = walk.seen.iter().filter(|(url, status)| {
        **status == 404 && !BROKEN_ON_PURPOSE.contains(&url.as_str()) || **status == 421
    });
    assert_eq!(broken.collect::<Vec<_>>(), Vec::<(&String, &u16)>::new());
    for host in HOSTS {
        assert!(walk.seen.keys().any(|url| url.starts_with(&format!("http://{host}/"))), "{host}");
    }
    for only_there in [
        "http://avis.test/kunngjoring/3",
        "http://bibliotek.test/sjelden/6",
        "http://bilder.avis.test/papir.svg",
        "http://arkiv.test/brev/l%C3%B8vetann",
        "http://arkiv.test/1902",
        "http://omvei.test/ferge/fremme",
        "http://omvei.test/skilt/nytt",
        "http://omvei.test/sti/videre",
        "http://felle.test/liste?side=4",
    ] {
        assert!(walk.seen.contains_key(only_there), "{only_there}");
    }
}

#[test]
fn a7_members_find_their_pages_and_never_the_way_out() {
    let (open, members) = (walk("open", ""), walk("members", "medlem=kari-aare; okt=aare-1"));
    let trip = "http://privat.test/medlem/tur/5";
    assert_eq!((open.seen.get(trip), members.seen.get(trip)), (None, Some(&200)));
    assert!(members.seen.values().all(|status| *status == 200), "{:?}", members.seen);
    assert!(!members.seen.contains_key("http://privat.test/logg-ut"));
}

#[test]
fn most_links_lead_to_the_library_and_the_newspaper() {
    let walk = walk("open", "");
    let mut linked: Vec<(usize, &str)> =
        walk.links.iter().map(|(host, pages)| (pages.len(), host.as_str())).collect();
    linked.sort_unstable();
    // Every page needs the style sheet of `bilder.avis.test`.
    let top: BTreeSet<&str> = linked.iter().rev().take(3).map(|(_, host)| *host).collect();
    assert_eq!(top, BTreeSet::from(["avis.test", "bibliotek.test", "bilder.avis.test"]), "{linked:?}");
    let least = linked.iter().map(|(pages, _)| *pages).min();
    assert!(least.is_some_and(|pages| pages >= 1) && linked.len() >= 10, "{linked:?}");
}

#[test]
fn a11_the_trap_has_no_end_of_its_own() {
    let memory = Memory::default();
    for start in ["http://felle.test/kalender/2026/11/13", "http://felle.test/liste?side=1"] {
        let mut url = normalise(start, None, &UrlRules::default()).unwrap();
        let mut seen = BTreeSet::new();
        for _ in 0..200 {
            let answer = town::answer(&ask_for(&url, ""), &memory);
            assert!(answer.status == 200 && seen.insert(url.to_string()), "{url}");
            let mut links = links_of(&answer).into_iter().map(|(link, _)| link);
            let further = links.rfind(|link| link.starts_with("/kalender/") || link.starts_with("/liste"));
            url = normalise(&further.unwrap(), Some(&url), &UrlRules::default()).unwrap();
        }
    }
    for steps in 1..50 {
        let ask = Ask {
            host: "felle.test".to_owned(),
            path: format!("/trapp/{}", "opp/".repeat(steps)),
            ..Ask::default()
        };
        let answer = town::answer(&ask, &memory);
        assert!(answer.status == 200 && links_of(&answer).contains(&("opp/".to_owned(), false)), "{steps}");
    }
}
