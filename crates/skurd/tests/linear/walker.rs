//! Walks begun and looked at as a script does it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use testkit::web::{Answer, Ask};
use testkit::world::{Run, Told, World, json_lines};

/// What a run told in JSON.
pub(crate) struct Walked {
    pub(crate) fetches: Vec<Value>,
    /// By name.
    pub(crate) walks: BTreeMap<String, Value>,
}

impl Walked {
    pub(crate) fn of(told: &Told) -> Walked {
        assert_eq!(told.code, Some(0), "{}", told.err);
        let mut walked = Walked { fetches: Vec::new(), walks: BTreeMap::new() };
        for event in json_lines(&told.out) {
            match event["event"].as_str().unwrap() {
                "fetch" => {
                    assert!(walked.walks.is_empty(), "a fetch after the end: {event}");
                    walked.fetches.push(event);
                }
                "walk" => {
                    let name = event["walk"].as_str().unwrap().to_owned();
                    assert!(walked.walks.insert(name, event).is_none());
                }
                other => panic!("{other}"),
            }
        }
        walked
    }

    /// The only walk there is.
    pub(crate) fn only(&self) -> &Value {
        assert_eq!(self.walks.len(), 1);
        self.walks.values().next().unwrap()
    }
}

pub(crate) trait Walker {
    fn start_linear(&self, args: &[&str]) -> Run;

    fn linear(&self, args: &[&str]) -> Told;

    /// To the end, without delays, with JSON.
    fn walk(&self, args: &[&str]) -> Walked;

    /// Paths of everything but robots.txt, in the order they were asked for.
    fn asked(&self) -> Vec<String>;

    /// Captures with their ids, for URLs that end in one.
    fn archived(&self) -> Vec<(u64, Value)>;
}

impl Walker for World {
    fn start_linear(&self, args: &[&str]) -> Run {
        let way = self.way();
        let way: Vec<&str> = way.iter().map(String::as_str).collect();
        self.run(&[&["linear"], args, &way[..]].concat())
    }

    fn linear(&self, args: &[&str]) -> Told {
        self.start_linear(args).end()
    }

    fn walk(&self, args: &[&str]) -> Walked {
        Walked::of(&self.linear(&[args, &["--delay", "0", "--json"]].concat()))
    }

    fn asked(&self) -> Vec<String> {
        let asked =
            self.web().seen().into_iter().map(|seen| format!("{}{}", seen.ask.host, seen.ask.target()));
        asked.filter(|url| !url.ends_with("/robots.txt")).collect()
    }

    fn archived(&self) -> Vec<(u64, Value)> {
        self.captures()
            .into_iter()
            .map(|capture| (number(capture["url"].as_str().unwrap()), capture))
            .collect()
    }
}

/// The number a URL ends with.
pub(crate) fn number(url: &str) -> u64 {
    let digits = url.rfind(|c: char| !c.is_ascii_digit()).map_or(0, |at| at + 1);
    url[digits..].parse().expect(url)
}

/// All ids of a list of ranges, each of which must be after the one before.
pub(crate) fn ids(ranges: &Value) -> BTreeSet<u64> {
    let mut ids = BTreeSet::new();
    for range in ranges.as_array().unwrap() {
        let [from, to] = &range.as_array().unwrap()[..] else { panic!("{range}") };
        let (from, to) = (from.as_u64().unwrap(), to.as_u64().unwrap());
        assert!(from <= to && ids.last().is_none_or(|last| last + 1 < from), "{ranges}");
        ids.extend(from..=to);
    }
    ids
}

/// A web where these ids exist under every path, and robots.txt does not.
pub(crate) fn existing(exists: impl Fn(u64) -> bool + Send + Sync + 'static) -> World {
    World::new(crate::SKURD, move |ask: &Ask| page(ask, &exists))
}

pub(crate) fn page(ask: &Ask, exists: impl Fn(u64) -> bool) -> Answer {
    if ask.path == "/robots.txt" {
        return Answer::not_found();
    }
    match exists(number(&ask.path)) {
        true => Answer::html(format!("<h1>{}{}</h1>", ask.host, ask.path)),
        false => Answer::not_found(),
    }
}
