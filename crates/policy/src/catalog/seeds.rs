//! The seeds, found by key, by profile, and by where they stand on the web.
//!
//! A seed lives in a slot; the indexes hold slot numbers. Its place is `site/path` without a
//! trailing slash (with its query, if it has one), so the seeds above a URL are found by cutting
//! that URL's own place back segment by segment: as many look-ups as the path has segments, however
//! many seeds there are.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

use crate::model::{Seed, SeedKey};
use crate::url::CrawlUrl;

/// A seed with its URL normalised.
#[derive(Clone, Debug, PartialEq)]
pub struct SeedEntry {
    pub seed: Seed,
    pub url: CrawlUrl,
    /// Where the registrable domain begins in the host.
    domain_start: usize,
}

impl SeedEntry {
    fn new(seed: Seed, url: CrawlUrl) -> SeedEntry {
        let domain_start = url.host().len() - url.domain().len();
        SeedEntry { seed, url, domain_start }
    }

    /// The registrable domain of the seed's URL, worked out once.
    pub fn domain(&self) -> &str {
        &self.url.host()[self.domain_start..]
    }
}

#[derive(Debug, Default)]
pub(super) struct SeedTable {
    slots: Vec<Option<SeedEntry>>,
    free: Vec<usize>,
    by_key: HashMap<SeedKey, usize>,
    by_profile: HashMap<String, BTreeSet<usize>>,
    by_place: HashMap<Box<str>, Slots>,
}

/// The seeds at one place: nearly always one.
#[derive(Debug)]
enum Slots {
    One(usize),
    Many(Vec<usize>),
}

impl SeedTable {
    pub(super) fn len(&self) -> usize {
        self.by_key.len()
    }

    pub(super) fn get(&self, key: &str) -> Option<&SeedEntry> {
        self.at(*self.by_key.get(key)?)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &SeedEntry> {
        self.slots.iter().flatten()
    }

    pub(super) fn of_profile(&self, profile: &str) -> impl Iterator<Item = &SeedEntry> {
        self.by_profile.get(profile).into_iter().flatten().filter_map(|slot| self.at(*slot))
    }

    pub(super) fn put(&mut self, seed: Seed, url: CrawlUrl) {
        self.remove(&seed.name);
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        });
        self.by_key.insert(seed.name.clone(), slot);
        for profile in &seed.profiles {
            self.by_profile.entry(profile.clone()).or_default().insert(slot);
        }
        let place = Box::from(place(&url).as_ref());
        self.by_place.entry(place).and_modify(|slots| slots.add(slot)).or_insert(Slots::One(slot));
        self.slots[slot] = Some(SeedEntry::new(seed, url));
    }

    pub(super) fn remove(&mut self, key: &str) {
        let Some(slot) = self.by_key.remove(key) else { return };
        let Some(entry) = self.slots.get_mut(slot).and_then(Option::take) else { return };
        self.free.push(slot);
        for profile in &entry.seed.profiles {
            if self.by_profile.get_mut(profile).is_some_and(|slots| slots.remove(&slot) && slots.is_empty()) {
                self.by_profile.remove(profile);
            }
        }
        let place = place(&entry.url);
        match self.by_place.get_mut(place.as_ref()) {
            Some(Slots::Many(slots)) if slots.len() > 1 => slots.retain(|other| *other != slot),
            _ => drop(self.by_place.remove(place.as_ref())),
        }
    }

    /// The most specific acceptable seed at or above the URL.
    pub(super) fn best_match(
        &self,
        url: &CrawlUrl,
        accept: impl Fn(&SeedEntry) -> bool,
    ) -> Option<&SeedEntry> {
        let with_query = url.query().and_then(|_| self.first_at(&place(url), url, &accept));
        with_query.or_else(|| {
            let path_place = path_place(url);
            above(&path_place, url.site().len()).find_map(|place| self.first_at(place, url, &accept))
        })
    }

    /// Of the seeds at one place: the very URL, else the key that sorts first.
    fn first_at(
        &self,
        place: &str,
        url: &CrawlUrl,
        accept: impl Fn(&SeedEntry) -> bool,
    ) -> Option<&SeedEntry> {
        let slots = self.by_place.get(place)?.as_slice();
        let accepted = slots.iter().filter_map(|slot| self.at(*slot)).filter(|entry| accept(entry));
        accepted.min_by_key(|entry| (entry.url != *url, entry.seed.name.as_str()))
    }

    fn at(&self, slot: usize) -> Option<&SeedEntry> {
        self.slots.get(slot)?.as_ref()
    }
}

impl Slots {
    fn as_slice(&self) -> &[usize] {
        match self {
            Slots::One(slot) => std::slice::from_ref(slot),
            Slots::Many(slots) => slots,
        }
    }

    fn add(&mut self, slot: usize) {
        match self {
            Slots::One(first) => *self = Slots::Many(vec![*first, slot]),
            Slots::Many(slots) => slots.push(slot),
        }
    }
}

/// Where a seed with this URL stands: with its query if it has one, for then it matches only its
/// very URL.
fn place(url: &CrawlUrl) -> Cow<'_, str> {
    match url.query() {
        None => path_place(url),
        Some(_) => Cow::Owned(format!("{}{}", url.site(), url.path_and_query())),
    }
}

/// `site/path` without the trailing slash.
fn path_place(url: &CrawlUrl) -> Cow<'_, str> {
    match url.site_and_path() {
        Some(place) => Cow::Borrowed(place.strip_suffix('/').unwrap_or(place)),
        None => Cow::Owned(format!("{}{}", url.site(), url.path().strip_suffix('/').unwrap_or(url.path()))),
    }
}

/// The place itself and those above it: `vg.no/a/b`, `vg.no/a`, `vg.no`.
fn above(place: &str, site_len: usize) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(place), move |place| {
        let cut = place.rfind('/').filter(|cut| *cut >= site_len)?;
        Some(&place[..cut])
    })
}
