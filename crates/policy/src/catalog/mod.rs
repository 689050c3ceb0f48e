//! Everything people have declared, in memory and indexed for the questions the rules ask.
//!
//! The catalog begins empty and lives by [`Catalog::apply`]: each [`Change`] touches only what it
//! names and the index entries of that thing, so a million seeds cost no more per change than ten.
//! References go by name and may dangle; a name that leads nowhere is simply not found. The one
//! thing that can fail is a seed whose URL is none.

mod budgets;
mod change;
mod seeds;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::blacklist::{Barred, Patterns};
use crate::budget::Holder;
use crate::model::{Collection, DeclaredWalk, HostGroup, Politeness, Profile, SeedKey, Settings};
use crate::time::{Span, Time};
use crate::url::{CrawlUrl, UrlRules, site_of};
use crate::way::{STRAIGHT, Way};

pub use change::{CatalogError, Change};
pub use seeds::SeedEntry;
use seeds::SeedTable;

#[derive(Debug, Default)]
pub struct Catalog {
    settings: Settings,
    url_rules: UrlRules,
    collections: HashMap<String, Collection>,
    profiles: HashMap<String, Profile>,
    seeds: SeedTable,
    groups: HashMap<String, HostGroup>,
    hosts: HashMap<String, (Politeness, Way)>,
    walks: BTreeMap<String, DeclaredWalk>,
    barred: Patterns,
    /// F36: who has a budget: nearly always nobody.
    budgeted: BTreeSet<Holder>,
    /// Collection → its profiles.
    profiles_of: HashMap<String, BTreeSet<String>>,
    /// Site → the groups that name it; the one that sorts first counts.
    groups_of: HashMap<String, BTreeSet<String>>,
}

impl Catalog {
    pub fn new() -> Catalog {
        Catalog::default()
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// How URLs are normalised under these settings.
    pub fn url_rules(&self) -> &UrlRules {
        &self.url_rules
    }

    pub fn collection(&self, name: &str) -> Option<&Collection> {
        self.collections.get(name)
    }

    pub fn profile(&self, name: &str) -> Option<&Profile> {
        self.profiles.get(name)
    }

    pub fn seed(&self, key: &str) -> Option<&SeedEntry> {
        self.seeds.get(key)
    }

    pub fn group(&self, name: &str) -> Option<&HostGroup> {
        self.groups.get(name)
    }

    /// In no particular order, as are the next four.
    pub fn collections(&self) -> impl Iterator<Item = &Collection> {
        self.collections.values()
    }

    pub fn profiles(&self) -> impl Iterator<Item = &Profile> {
        self.profiles.values()
    }

    pub fn seeds(&self) -> impl Iterator<Item = &SeedEntry> {
        self.seeds.iter()
    }

    pub fn groups(&self) -> impl Iterator<Item = &HostGroup> {
        self.groups.values()
    }

    pub fn host_override(&self, site: &str) -> Option<&(Politeness, Way)> {
        self.hosts.get(site)
    }

    pub fn host_overrides(&self) -> impl Iterator<Item = (&str, &(Politeness, Way))> {
        self.hosts.iter().map(|(host, own)| (host.as_str(), own))
    }

    pub fn walk(&self, name: &str) -> Option<&DeclaredWalk> {
        self.walks.get(name)
    }

    /// By name.
    pub fn walks(&self) -> impl Iterator<Item = &DeclaredWalk> {
        self.walks.values()
    }

    /// F39: all of them, in the order of their names.
    pub fn patterns(&self) -> impl Iterator<Item = &Barred> {
        self.barred.iter()
    }

    pub fn pattern(&self, name: &str) -> Option<&Barred> {
        self.barred.get(name)
    }

    /// F39: the pattern that keeps a URL out of a collection now, if one does.
    pub fn barring(&self, collection: &str, url: &CrawlUrl, now: Time) -> Option<&Barred> {
        self.barred.find(collection, url, now)
    }

    /// F40: nothing that failed waits longer than this for another try.
    pub fn longest_backoff(&self) -> Span {
        let caps = self.profiles.values().map(|profile| profile.limits.backoff_cap);
        let cooldowns = self.walks.values().map(|walk| walk.settings.cooldown());
        caps.chain(cooldowns).max().unwrap_or_default()
    }

    pub fn seed_count(&self) -> usize {
        self.seeds.len()
    }

    /// The profiles that a seed has with a collection; none for a seed that does not exist.
    pub fn profiles_of<'a>(&'a self, seed: &str, collection: &'a str) -> impl Iterator<Item = &'a Profile> {
        self.seed(seed).into_iter().flat_map(move |entry| self.profiles_in(entry, collection))
    }

    /// The same for a seed already looked up.
    pub fn profiles_in<'a>(
        &'a self,
        entry: &'a SeedEntry,
        collection: &'a str,
    ) -> impl Iterator<Item = &'a Profile> {
        let named = entry.seed.profiles.iter().filter_map(|name| self.profiles.get(name));
        named.filter(move |profile| profile.collection == collection)
    }

    /// F3: the collections a seed is queued in, each once.
    pub fn collections_of(&self, seed: &str) -> BTreeSet<&str> {
        let profiles = self.seed(seed).into_iter().flat_map(|entry| &entry.seed.profiles);
        profiles.filter_map(|name| self.profiles.get(name)).map(|p| p.collection.as_str()).collect()
    }

    /// F1: what starting a profile starts, whether the profile exists or not.
    pub fn seeds_of_profile(&self, profile: &str) -> impl Iterator<Item = &SeedEntry> {
        self.seeds.of_profile(profile)
    }

    /// F1: what starting a collection starts.
    pub fn profiles_of_collection(&self, collection: &str) -> impl Iterator<Item = &Profile> {
        let names = self.profiles_of.get(collection).into_iter().flatten();
        names.filter_map(|name| self.profiles.get(name))
    }

    /// B of page 2: the most specific seed of the collection whose URL is this one or above it.
    /// Inactive seeds match too. Equally specific ones (they differ in scheme, port, `www.` or
    /// a trailing slash, or not at all): the very URL first, then the key that sorts first.
    pub fn best_match(&self, collection: &str, url: &CrawlUrl) -> Option<&SeedKey> {
        let of_collection = |entry: &SeedEntry| self.profiles_in(entry, collection).next().is_some();
        self.seeds.best_match(url, of_collection).map(|entry| &entry.seed.name)
    }

    /// The group a host shares its politeness slot with.
    pub fn group_of(&self, site: &str) -> Option<&HostGroup> {
        self.groups_of.get(site)?.iter().find_map(|name| self.groups.get(name))
    }

    /// F8: the group's, else the host's own, else the installation's.
    pub fn politeness(&self, site: &str) -> &Politeness {
        let group = self.group_of(site).map(|group| &group.politeness);
        group.or_else(|| self.hosts.get(site).map(|own| &own.0)).unwrap_or(&self.settings.politeness)
    }

    /// A17: what the host or its group says, and for the rest what its collection does.
    pub fn way(&self, collection: &str, site: &str) -> Way {
        let of_group = self.group_of(site).map(|group| &group.way);
        let own = of_group.or_else(|| self.hosts.get(site).map(|own| &own.1)).unwrap_or(&STRAIGHT);
        own.over(self.collection(collection).map_or(&STRAIGHT, |collection| &collection.way))
    }
}

/// A host as people write it, as a site.
fn site_key(host: &str) -> String {
    site_of(&host.trim().to_ascii_lowercase()).to_owned()
}
