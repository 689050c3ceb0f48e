//! What is left alone by pattern (F39): hosts, prefixes and regular expressions, in one collection or
//! everywhere.
//!
//! There may be thousands of them and each link is held against all, so they are found and not gone
//! through: hosts by hash (as many look-ups as a name has labels), prefixes in a sorted map (each
//! step goes on from what the URL and its nearest neighbour have in common), and regular expressions
//! together as one automaton, which is made when it is first needed. Only where it says that one of
//! them is found they are asked which.
//!
//! Decided where the specification leaves it open: what is queued is blacklisted with its record when
//! it is next looked at, and comes back with it. A link to what is not known is passed over as one to
//! a blacklisted URL is (F28): it is brought again by the page that has it. A start is not: a person
//! asked for it, so it is queued, and blacklisted with its record like what was queued before.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::ops::Bound;
use std::sync::OnceLock;

use regex::{RegexSet, RegexSetBuilder};
use serde::{Deserialize, Serialize};

use crate::scope::Pattern;
use crate::time::Time;
use crate::url::{CrawlUrl, site_of};

/// Regular expressions of one collection, or of everywhere: they are one automaton.
pub const REGEXES_MAX: usize = 1000;
/// Of all patterns.
pub const PATTERNS_MAX: usize = 100_000;
/// Longest pattern.
pub const PATTERN_BYTES_MAX: usize = 2000;
/// Most memory of the automaton of a collection, and of what it remembers of its states.
const SET_BYTES_MAX: usize = 32 << 20;

/// A pattern that keeps URLs from being harvested.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Barred {
    pub pattern: Pattern,
    /// None: in each.
    pub collection: Option<String>,
    pub reason: String,
    pub since: Time,
    pub until: Option<Time>,
}

impl Barred {
    /// What it is called: one that says the same again takes its place.
    pub fn name(&self) -> String {
        name_of(&self.pattern, self.collection.as_deref())
    }

    pub fn is_in_force(&self, now: Time) -> bool {
        self.until.is_none_or(|until| until > now)
    }
}

impl fmt::Display for Barred {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "matches the pattern {} on the blacklist ({})", self.name(), self.reason)?;
        self.until.map_or(Ok(()), |until| write!(f, " until {until}"))
    }
}

/// What a pattern is called: its collection, if it has one, and how it is spelled.
pub fn name_of(pattern: &Pattern, collection: Option<&str>) -> String {
    match collection {
        Some(collection) => format!("{pattern} in {collection}"),
        None => pattern.to_string(),
    }
}

/// All of them, found by what they say.
#[derive(Debug, Default)]
pub struct Patterns {
    all: BTreeMap<String, Barred>,
    everywhere: Index,
    of_collection: HashMap<String, Index>,
}

/// Those of one collection, or of everywhere: what they look for, and their names.
#[derive(Debug, Default)]
struct Index {
    sites: Names,
    /// With all their subdomains.
    domains: Names,
    /// From the scheme on, and from the host on.
    prefixes: [BTreeMap<String, String>; 2],
    regexes: BTreeMap<String, String>,
    automaton: OnceLock<Option<RegexSet>>,
}

/// Patterns by what they look for: `vg.no` and `www.vg.no` are two for one host.
type Names = HashMap<String, Vec<String>>;

impl Patterns {
    pub fn iter(&self) -> impl Iterator<Item = &Barred> {
        self.all.values()
    }

    pub fn get(&self, name: &str) -> Option<&Barred> {
        self.all.get(name)
    }

    pub(crate) fn put(&mut self, barred: Barred) {
        let name = barred.name();
        self.remove(&name);
        let index = match &barred.collection {
            None => &mut self.everywhere,
            Some(collection) => self.of_collection.entry(collection.clone()).or_default(),
        };
        index.put(&barred.pattern, &name);
        self.all.insert(name, barred);
    }

    pub(crate) fn remove(&mut self, name: &str) {
        let Some(old) = self.all.remove(name) else { return };
        match &old.collection {
            None => self.everywhere.remove(&old.pattern, name),
            Some(collection) => {
                if let Some(index) = self.of_collection.get_mut(collection) {
                    index.remove(&old.pattern, name);
                    if index.is_empty() {
                        self.of_collection.remove(collection);
                    }
                }
            }
        }
    }

    /// One that is in force and matches.
    pub fn find(&self, collection: &str, url: &CrawlUrl, now: Time) -> Option<&Barred> {
        if self.all.is_empty() {
            return None;
        }
        let in_force = |name: &str| self.all.get(name).filter(|barred| barred.is_in_force(now));
        let own = self.of_collection.get(collection);
        std::iter::once(&self.everywhere).chain(own).find_map(|index| index.find(url, &in_force))
    }
}

impl Index {
    fn is_empty(&self) -> bool {
        let prefixes = self.prefixes.iter().all(BTreeMap::is_empty);
        self.sites.is_empty() && self.domains.is_empty() && prefixes && self.regexes.is_empty()
    }

    fn put(&mut self, pattern: &Pattern, name: &str) {
        let name = name.to_owned();
        match pattern {
            Pattern::Host(host) => {
                let (names, key) = self.hosts(host);
                names.entry(key).or_default().push(name);
            }
            Pattern::Prefix(prefix) => drop(self.prefixes_like(prefix).insert(prefix.clone(), name)),
            Pattern::Regex(regex) => {
                self.regexes.insert(regex.source().to_owned(), name);
                self.automaton = OnceLock::new();
            }
        }
    }

    fn remove(&mut self, pattern: &Pattern, name: &str) {
        match pattern {
            Pattern::Host(host) => {
                let (names, key) = self.hosts(host);
                if let Some(own) = names.get_mut(&key) {
                    own.retain(|other| other != name);
                    if own.is_empty() {
                        names.remove(&key);
                    }
                }
            }
            Pattern::Prefix(prefix) => drop(self.prefixes_like(prefix).remove(prefix)),
            Pattern::Regex(regex) => {
                self.regexes.remove(regex.source());
                self.automaton = OnceLock::new();
            }
        }
    }

    /// Where a pattern for a host belongs, and under what.
    fn hosts(&mut self, host: &str) -> (&mut Names, String) {
        let host = host.to_ascii_lowercase();
        match host.strip_prefix("*.").or_else(|| host.strip_prefix('.')) {
            Some(domain) => (&mut self.domains, domain.to_owned()),
            None => (&mut self.sites, site_of(&host).to_owned()),
        }
    }

    fn prefixes_like(&mut self, prefix: &str) -> &mut BTreeMap<String, String> {
        &mut self.prefixes[usize::from(!prefix.contains("://"))]
    }

    fn find<'a>(&self, url: &CrawlUrl, in_force: &impl Fn(&str) -> Option<&'a Barred>) -> Option<&'a Barred> {
        let sites = self.sites.get(url.site()).into_iter().flatten();
        let site = sites.into_iter().find_map(|name| in_force(name));
        site.or_else(|| self.domain(url, in_force))
            .or_else(|| self.prefix(url, in_force))
            .or_else(|| self.regex(url, in_force))
    }

    fn domain<'a>(
        &self,
        url: &CrawlUrl,
        in_force: &impl Fn(&str) -> Option<&'a Barred>,
    ) -> Option<&'a Barred> {
        if self.domains.is_empty() {
            return None;
        }
        let mut domain = Some(url.host());
        while let Some(own) = domain {
            let names = self.domains.get(own).into_iter().flatten();
            if let Some(found) = names.into_iter().find_map(|name| in_force(name)) {
                return Some(found);
            }
            domain = own.split_once('.').map(|(_, above)| above);
        }
        None
    }

    fn prefix<'a>(
        &self,
        url: &CrawlUrl,
        in_force: &impl Fn(&str) -> Option<&'a Barred>,
    ) -> Option<&'a Barred> {
        let text = url.as_str();
        let [with_scheme, from_host_on] = &self.prefixes;
        if let Some(found) = begins(with_scheme, text, in_force) {
            return Some(found);
        }
        if from_host_on.is_empty() {
            return None;
        }
        let from_host = text.split_once("://").map_or(text, |(_, rest)| rest);
        let from_site = site_of(from_host);
        begins(from_host_on, from_host, in_force)
            .or_else(|| begins(from_host_on, from_site, in_force).filter(|_| from_site != from_host))
    }

    fn regex<'a>(
        &self,
        url: &CrawlUrl,
        in_force: &impl Fn(&str) -> Option<&'a Barred>,
    ) -> Option<&'a Barred> {
        if self.regexes.is_empty() {
            return None;
        }
        let text = url.as_str();
        match self.automaton.get_or_init(|| automaton(self.regexes.keys())) {
            Some(set) if !set.is_match(text) => None,
            Some(set) => {
                let found = set.matches(text);
                let mut names = self.regexes.values().enumerate().filter(|(at, _)| found.matched(*at));
                names.find_map(|(_, name)| in_force(name))
            }
            // They do not fit together: one after the other.
            None => {
                self.regexes.values().find_map(|name| in_force(name).filter(|own| own.pattern.matches(url)))
            }
        }
    }
}

/// The prefixes of a text in a sorted map: none sorts after the text, and what sorts between one and
/// the text begins with it, too.
fn begins<'a>(
    prefixes: &BTreeMap<String, String>,
    text: &str,
    in_force: &impl Fn(&str) -> Option<&'a Barred>,
) -> Option<&'a Barred> {
    let mut rest = text;
    loop {
        let (prefix, name) =
            prefixes.range::<str, _>((Bound::Unbounded, Bound::Included(rest))).next_back()?;
        if rest.starts_with(prefix.as_str()) {
            if let Some(found) = in_force(name) {
                return Some(found);
            }
            rest = &rest[..rest.floor_char_boundary(prefix.len().checked_sub(1)?)];
        } else {
            rest = in_common(rest, prefix);
        }
    }
}

fn automaton<'a>(sources: impl Iterator<Item = &'a String>) -> Option<RegexSet> {
    RegexSetBuilder::new(sources).size_limit(SET_BYTES_MAX).dfa_size_limit(SET_BYTES_MAX).build().ok()
}

/// Whether so many expressions fit into one automaton.
pub fn fit_together<'a>(sources: impl Iterator<Item = &'a String>) -> bool {
    automaton(sources).is_some()
}

/// The part that both begin with.
fn in_common<'a>(text: &'a str, other: &str) -> &'a str {
    let same = text.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    &text[..text.floor_char_boundary(same)]
}
