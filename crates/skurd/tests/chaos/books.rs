//! What the web saw, what the archive has and what is reported, held against each other.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use testkit::web::Seen;
use tokio::time::Instant;

use crate::contract::{Expected, Moment, Terms};
use crate::lives::Lived;
use crate::records::{Record, records};
use crate::site::{self, Answered, Log};

/// Times are kept in milliseconds: a pause may seem shorter by what was rounded off.
const ROUNDED: Duration = Duration::from_millis(1);
/// What an answer takes from the web to the harvester at most, where nothing else can be told.
const SLACK: Duration = Duration::from_millis(500);

pub(crate) struct Books {
    pub(crate) seen: Vec<Seen>,
    log: BTreeMap<usize, Answered>,
    lives: Vec<Lived>,
    records: Vec<Record>,
    /// By number of the answer.
    archived: BTreeMap<usize, Record>,
}

impl Books {
    /// The archive read: no answer is in it twice (F7), and none that was not given.
    pub(crate) fn open(seen: Vec<Seen>, log: &Log, lives: Vec<Lived>, dir: &Path) -> Books {
        let (records, log) = (records(dir), log.lock().clone());
        let mut archived = BTreeMap::new();
        for record in records.iter().filter(|record| !record.url.starts_with("dns:")) {
            let number = record.number.unwrap_or_else(|| panic!("from nowhere: {record:?}"));
            let asked = &seen[number].ask;
            assert_eq!(record.url, asked.url(), "{record:?}");
            if asked.path != "/robots.txt" {
                assert_eq!(record.collection, site::collection(asked), "{record:?}");
            }
            if let Some(other) = archived.insert(number, record.clone()) {
                panic!("F7: one answer, two records: {record:?} and {other:?}");
            }
        }
        Books { seen, log, lives, records, archived }
    }

    /// F7: the captures are the records, one for one.
    pub(crate) fn captures_are_records(&self, captures: &[Value]) {
        type Row<'a> = (&'a str, u64, u64, &'a str, &'a str, bool);
        let of_record = |record: &'_ Record| -> (String, u64, u64, String, String, bool) {
            let Record { file, offset, length, url, collection, revisit, .. } = record.clone();
            (file, offset, length, url, collection, revisit)
        };
        let kept: BTreeSet<_> = self.records.iter().map(of_record).collect();
        let mut told = BTreeSet::new();
        for capture in captures {
            let text = |name: &str| capture[name].as_str().unwrap();
            let number = |name: &str| capture[name].as_u64().unwrap();
            let row: Row<'_> = (
                text("file"),
                number("offset"),
                number("length"),
                text("url"),
                text("collection"),
                capture["revisit"].as_bool().unwrap(),
            );
            let own = (row.0.to_owned(), row.1, row.2, row.3.to_owned(), row.4.to_owned(), row.5);
            assert!(told.insert(own), "twice: {capture}");
        }
        let (more, fewer) = (told.difference(&kept).take(3), kept.difference(&told).take(3));
        let (more, fewer): (Vec<_>, Vec<_>) = (more.collect(), fewer.collect());
        assert!(more.is_empty() && fewer.is_empty(), "only captures: {more:#?}, only files: {fewer:#?}");
        for capture in captures.iter().filter(|capture| !capture["url"].as_str().unwrap().starts_with("dns:"))
        {
            let place = (capture["file"].as_str().unwrap(), capture["offset"].as_u64().unwrap());
            let mut own =
                self.archived.iter().filter(|(_, record)| (record.file.as_str(), record.offset) == place);
            let (number, _) = own.next().unwrap();
            assert_eq!(capture["status"].as_u64(), Some(u64::from(self.log[number].status)), "{capture}");
        }
    }

    fn life(&self, seen: &Seen) -> usize {
        self.lives.partition_point(|life| life.begin <= seen.begin) - 1
    }

    /// F7: an answer that was given and is not archived was in flight when its process was killed:
    /// the last of its host, since nobody is asked for the next before the last is committed.
    /// Returns how many there are.
    pub(crate) fn what_is_missing_was_in_flight(&self) -> usize {
        let mut last: BTreeMap<(usize, &str), usize> = BTreeMap::new();
        for seen in &self.seen {
            last.insert((self.life(seen), &seen.ask.host), seen.ask.number);
        }
        let mut missing = 0;
        for seen in self.seen.iter().filter(|seen| !self.archived.contains_key(&seen.ask.number)) {
            let life = self.life(seen);
            let told = format!("{} as answer {} of process {life}", seen.ask.url(), seen.ask.number);
            assert!(self.lives[life].killed, "{told} is not archived, and nobody was killed");
            let last = last[&(life, seen.ask.host.as_str())];
            assert_eq!(last, seen.ask.number, "{told} is not archived, and {last} came after it");
            missing += 1;
        }
        missing
    }

    /// F5, F8: one request at a time, and a pause after each, over all processes.
    pub(crate) fn polite(&self, delay: Duration) {
        let mut free: BTreeMap<&str, (Instant, &Seen)> = BTreeMap::new();
        let mut own: Vec<&Seen> = self.seen.iter().collect();
        own.sort_by_key(|seen| seen.begin);
        for seen in own {
            let end = seen.end.expect("every request has ended");
            if let Some((from, before)) = free.get(seen.ask.host.as_str()) {
                let early = from.saturating_duration_since(seen.begin + ROUNDED);
                assert!(
                    early.is_zero(),
                    "F8: {} (process {}) came {early:?} too early after {} (process {})",
                    seen.ask.url(),
                    self.life(seen),
                    before.ask.url(),
                    self.life(before)
                );
            }
            free.insert(&seen.ask.host, (end + delay, seen));
        }
    }

    /// A7: once an answer with a cookie is archived, its collection brings it along for ever; the
    /// cookie of the config is there from the first.
    pub(crate) fn cookies_are_kept(&self) {
        let mut has = BTreeSet::new();
        let pages =
            self.seen.iter().filter(|seen| seen.ask.host == "shared.test" && seen.ask.path != "/robots.txt");
        for seen in pages {
            let (collection, cookies) = (site::collection(&seen.ask), site::cookies(&seen.ask));
            let own = format!("sid={collection}");
            assert_eq!(cookies.contains(&own), has.contains(&collection), "{}: {cookies}", seen.ask.url());
            assert_eq!(cookies.contains("member=kari"), collection == "members", "{collection}: {cookies}");
            let sets = self.log[&seen.ask.number].status == 200;
            if sets && self.archived.contains_key(&seen.ask.number) {
                has.insert(collection);
            }
        }
    }

    /// By id: the statuses that were archived, in their order.
    fn walked(&self, prefix: &str) -> BTreeMap<u64, Vec<u16>> {
        let mut walked: BTreeMap<u64, Vec<u16>> = BTreeMap::new();
        for (number, record) in &self.archived {
            if let Some(id) = record.url.strip_prefix(prefix) {
                walked.entry(id.parse().unwrap()).or_default().push(self.log[number].status);
            }
        }
        walked
    }

    /// L4, L5, L9, L10: each id was tried until it was found or as often as allowed, and none that
    /// should not be. What a kill interrupted does not count, and was asked for again.
    pub(crate) fn walk_is_right(
        &self,
        walk: &Value,
        prefix: &str,
        expected: &BTreeMap<u64, bool>,
        attempts: usize,
    ) {
        let walked = self.walked(prefix);
        let ids = |kind: &str| -> BTreeSet<u64> {
            let ranges = walk[kind].as_array().unwrap().iter();
            ranges.flat_map(|range| range[0].as_u64().unwrap()..=range[1].as_u64().unwrap()).collect()
        };
        let should = |exists: bool| -> BTreeSet<u64> {
            expected.iter().filter(|(_, found)| **found == exists).map(|(id, _)| *id).collect()
        };
        assert_eq!((ids("content"), ids("holes")), (should(true), should(false)), "{prefix}");
        assert_eq!(walked.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>(), "{prefix}");
        for (id, exists) in expected {
            let statuses = &walked[id];
            let found = statuses.iter().filter(|status| **status == 200).count();
            let fits = if *exists {
                found == 1 && statuses.last() == Some(&200)
            } else {
                statuses.len() == attempts
            };
            assert!(fits && statuses.len() <= attempts, "{prefix}{id}: {statuses:?}");
        }
    }

    /// F22: whatever an archived answer of the collection links to, and every root, is captured.
    pub(crate) fn nothing_is_lost(
        &self,
        collection: &str,
        roots: &[String],
        gone: impl Fn(&str) -> bool,
    ) -> usize {
        let own = self.archived.iter().filter(|(_, record)| record.collection == collection);
        let captured: BTreeSet<&str> = own.clone().map(|(_, record)| record.url.as_str()).collect();
        let linked = own.flat_map(|(number, _)| &self.log[number].links);
        for url in linked.chain(roots).filter(|url| !gone(url)) {
            assert!(captured.contains(url.as_str()), "{url} was never captured for {collection}");
        }
        captured.len()
    }

    /// Of a URL in a collection: its archived answers, in their order.
    fn answers(&self, collection: &str) -> BTreeMap<&str, Vec<&Seen>> {
        let mut answers: BTreeMap<&str, Vec<&Seen>> = BTreeMap::new();
        for (number, record) in self.archived.iter().filter(|(_, record)| record.collection == collection) {
            if !record.url.ends_with("/robots.txt") {
                answers.entry(&record.url).or_default().push(&self.seen[*number]);
            }
        }
        answers
    }

    /// How often the URL was harvested that was harvested least.
    pub(crate) fn cycles_least(&self, collection: &str) -> usize {
        self.answers(collection).values().map(Vec::len).min().unwrap_or(0)
    }

    /// Answers of this status that are archived.
    pub(crate) fn archived_with(&self, status: u16) -> usize {
        self.archived.keys().filter(|number| self.log[number].status == status).count()
    }

    /// When the harvester had the answer: after it was sent; before the host was asked the next
    /// time, which waits for the commit and the delay; and before its process ended.
    fn had(&self, seen: &Seen, delay: Duration) -> Moment {
        let end = seen.end.expect("every request has ended");
        let life = self.life(seen);
        let mut later = self.seen[seen.ask.number + 1..].iter().take_while(|other| self.life(other) == life);
        let next = later.find(|other| other.ask.host == seen.ask.host).map(|other| other.begin - delay);
        let last = [Some(end + SLACK), self.lives[life].end, next].into_iter().flatten().min();
        Moment(end, last.unwrap_or(end).max(end) + ROUNDED)
    }

    /// F31: what should be reported of a profile that has a collection to itself.
    pub(crate) fn contract(&self, collection: &str, terms: &Terms, delay: Duration, now: Moment) -> Expected {
        let mut expected = Expected::default();
        let begin = self.lives[0].begin;
        let answers = self.answers(collection);
        for (url, own) in &answers {
            let links = |seen: &&&Seen| self.log[&seen.ask.number].links.iter().any(|link| link == url);
            let linked = answers.values().flatten().filter(links).min_by_key(|seen| seen.ask.number);
            let had: Vec<Moment> = own.iter().map(|seen| self.had(seen, delay)).collect();
            let found = match linked {
                Some(linked) if !url.ends_with(".test/") => self.had(linked, delay),
                // A seed is due from the start.
                _ => Moment(begin, had[0].0),
            };
            terms.add(found, &had, now, &mut expected);
        }
        expected
    }
}
