//! Parameters that combine freely: filters of a shop that each page offers on top of those it has.
//!
//! The same parameters with the same values in another order are the same page; a site whose links
//! come in many orders has factorially many addresses for each. Where the order is always the same,
//! there are still all combinations; those are a trap only if their pages say nothing new.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::shape::{KEYS_FREE, Shape, pairs};
use super::track::Track;
use super::{EXAMPLES_MAX, Kind, Remedy, Suspicion, hash, remedy};
use crate::url::CrawlUrl;

/// Paths of a host that are watched.
pub(super) const PATHS_MAX: usize = 8;
/// URLs whose parameters are remembered, to recognise them in another order.
const REMEMBERED_MAX: usize = 256;
const COMBINATIONS_MAX: usize = 64;
/// URLs in another order from which on it is a trap, and how many of all that must be.
const REORDERED_MIN: u32 = 40;
const REORDERED_SHARE_MIN: u8 = 20;
/// Combinations, URLs and parameters at once, and pages without anything new.
const COMBINED_MIN: usize = 12;
const FOUND_MIN: u32 = 300;
const KEYS_MIN: usize = 4;
const STALE_MIN: u8 = 90;
const PAGES_MIN: u32 = 48;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Facets {
    /// Of the path alone.
    path: Vec<String>,
    /// URLs with two parameters or more.
    found: u32,
    reordered: u32,
    /// Sets of keys.
    combinations: BTreeSet<u32>,
    keys_max: usize,
    examples: Vec<String>,
    told: u32,
    /// Sorted, and as found. Not stored.
    #[serde(skip)]
    remembered: Vec<(u32, u32)>,
    #[serde(skip)]
    next: usize,
}

impl Facets {
    /// Whether it may have to do with a URL; then its parameters, if there are two or more.
    pub(super) fn parameters(url: &CrawlUrl) -> Option<Vec<(&str, &str)>> {
        let parameters: Vec<_> = pairs(url.query()?).collect();
        (parameters.len() >= 2).then_some(parameters)
    }

    pub(super) fn of(shape: &Shape) -> Facets {
        Facets { path: path_of(shape), ..Facets::default() }
    }

    pub(super) fn is_of(&self, shape: &Shape) -> bool {
        self.path.len() == shape.pieces.len() && self.path.iter().zip(&shape.pieces).all(|(a, b)| **a == **b)
    }

    pub(super) fn found(&self) -> u32 {
        self.found
    }

    pub(super) fn find(&mut self, url: &CrawlUrl, mut parameters: Vec<(&str, &str)>) {
        self.found = self.found.saturating_add(1);
        self.keys_max = self.keys_max.max(parameters.len());
        let as_found = hash(url.path_and_query().as_bytes());
        parameters.sort_unstable();
        let mut keys = 0;
        let mut sorted = hash(url.path().as_bytes());
        for (key, value) in &parameters {
            keys = hash(key.as_bytes()).wrapping_add(u32::rotate_left(keys, 7));
            sorted = sorted.rotate_left(7)
                ^ hash(key.as_bytes()).wrapping_add(hash(value.as_bytes()).rotate_left(3));
        }
        if self.combinations.len() < COMBINATIONS_MAX {
            self.combinations.insert(keys);
        }
        match self.remembered.iter().find(|(known, _)| *known == sorted) {
            Some((_, before)) if *before != as_found => {
                self.reordered = self.reordered.saturating_add(1);
                self.example(url.as_str());
            }
            Some(_) => {}
            None => {
                self.remember((sorted, as_found));
                if parameters.len() >= KEYS_FREE {
                    self.example(url.as_str());
                }
            }
        }
    }

    fn remember(&mut self, entry: (u32, u32)) {
        if self.remembered.len() < REMEMBERED_MAX {
            self.remembered.push(entry);
        } else {
            self.remembered[self.next % REMEMBERED_MAX] = entry;
            self.next = (self.next + 1) % REMEMBERED_MAX;
        }
    }

    fn example(&mut self, url: &str) {
        if self.examples.len() == EXAMPLES_MAX * 2 {
            self.examples.remove(EXAMPLES_MAX);
        }
        self.examples.push(url.to_owned());
    }

    /// `pages` is what is known of the pages of three parameters or more.
    pub(super) fn judge(
        &mut self,
        site: &str,
        pages: Option<&Track>,
        of: impl FnOnce(Kind, Remedy, &Track) -> Option<Suspicion>,
    ) -> Option<Suspicion> {
        // Two parameters have two orders: that ends by itself.
        let in_orders = self.keys_max >= KEYS_FREE
            && self.reordered >= REORDERED_MIN
            && super::percent(self.reordered, self.found) >= REORDERED_SHARE_MIN;
        let combines = self.combinations.len() >= COMBINED_MIN
            && self.found >= FOUND_MIN
            && self.keys_max >= KEYS_MIN
            && pages.is_some_and(|pages| pages.seen >= PAGES_MIN && pages.stale() >= STALE_MIN);
        if !in_orders && !combines || self.found < self.told.saturating_mul(2) {
            return None;
        }
        let mut pattern = remedy::host(site);
        let pieces = self.path.iter().map(|piece| piece.as_str().into()).collect();
        remedy::path(&Shape { pieces, query: None, grows: false }, &mut pattern);
        let shape = format!("{}?… ({KEYS_FREE} parameters or more)", self.written());
        pattern.push_str(&remedy::many_keys(KEYS_FREE));
        let empty = Track::default();
        let mut suspicion = of(Kind::Facets, Remedy::Exclude(pattern), pages.unwrap_or(&empty))?;
        let figures = &mut suspicion.figures;
        figures.found = self.found;
        figures.reordered = self.reordered;
        figures.combinations = u32::try_from(self.combinations.len()).unwrap_or(u32::MAX);
        suspicion.template = shape;
        suspicion.examples.clone_from(&self.examples);
        self.told = self.found;
        Some(suspicion)
    }

    fn written(&self) -> String {
        self.path.iter().map(|piece| format!("/{piece}")).collect()
    }

    pub(super) fn bytes(&self) -> usize {
        let examples: usize = self.examples.iter().map(|example| example.len() + 24).sum();
        size_of::<Facets>() + examples + self.remembered.capacity() * 8 + self.combinations.len() * 16 + 128
    }
}

fn path_of(shape: &Shape) -> Vec<String> {
    shape.pieces.iter().map(|piece| piece.to_string()).collect()
}
