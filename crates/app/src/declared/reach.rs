//! Which URLs a change of a seed or a profile takes in or leaves out, by sample.
//!
//! Of at most [`SEEDS_MAX`] seeds, the first URLs that belong to them are looked at, on their own
//! sites and in the order of the collection, and what their pages link to most and was never
//! captured. Scope decides ([`policy::scope`]); whether something is switched on, due or denied
//! does not count here.

use std::collections::BTreeMap;

use frontier::{QueueRow, ranges};
use policy::catalog::{Catalog, Change};
use policy::model::{Position, Seed};
use policy::scope::Scope;
use policy::url::{CrawlUrl, UrlRules, normalise};
use store::table::KeyRange;

use crate::index::ranks::{List, missing_pages};
use crate::{Answer, App};

const SEEDS_MAX: usize = 10;
/// Of one range of URLs.
const ROWS_MAX: usize = 200;
/// Looked at in all.
const LOOKED_AT_MAX: usize = 5000;
const EXAMPLES_MAX: usize = 8;

/// What was seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// URLs that were looked at.
    pub looked_at: usize,
    /// Seeds of which they are, and all the seeds that the change is about.
    pub seeds: usize,
    pub seeds_in_all: usize,
    /// Known, and out of scope afterwards.
    pub out: Examples,
    /// Known or linked to, and in scope only afterwards.
    pub into: Examples,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Examples {
    pub count: usize,
    pub urls: Vec<String>,
}

impl Examples {
    fn add(&mut self, url: &str) {
        self.count += 1;
        if self.urls.len() < EXAMPLES_MAX && !self.urls.iter().any(|known| known == url) {
            self.urls.push(url.to_owned());
        }
    }
}

/// The scopes of some seeds before a change and after it.
#[derive(Debug)]
pub(super) struct Shift {
    rules: UrlRules,
    /// By collection and name of the seed.
    seeds: BTreeMap<(String, String), Sides>,
    seeds_in_all: usize,
}

#[derive(Debug, Default)]
struct Sides {
    before: Side,
    after: Side,
}

#[derive(Debug, Default)]
struct Side {
    /// None: there is no such seed.
    url: Option<CrawlUrl>,
    scopes: Vec<Scope>,
}

impl Side {
    fn takes(&self, url: &CrawlUrl, position: &Position) -> bool {
        self.url
            .as_ref()
            .is_some_and(|seed| self.scopes.iter().any(|scope| scope.check(seed, url, position).in_scope))
    }
}

impl Shift {
    /// None where a change says nothing of scope.
    pub(super) fn of(catalog: &Catalog, change: &Change) -> Option<Shift> {
        let (mut seeds, seeds_in_all) = match change {
            Change::PutProfile(new) => {
                (of_profile(catalog, &new.name), catalog.seeds_of_profile(&new.name).count())
            }
            Change::DeleteProfile(name) => {
                (of_profile(catalog, name), catalog.seeds_of_profile(name).count())
            }
            Change::PutSeed(new) => (
                catalog
                    .seed(&new.name)
                    .map(|entry| entry.seed.clone())
                    .or(Some(new.clone()))
                    .into_iter()
                    .collect(),
                1,
            ),
            Change::DeleteSeed(name) => {
                (catalog.seed(name).map(|entry| entry.seed.clone()).into_iter().collect(), 1)
            }
            _ => return None,
        };
        seeds.truncate(SEEDS_MAX);
        let mut shift = Shift { rules: catalog.url_rules().clone(), seeds: BTreeMap::new(), seeds_in_all };
        for old in seeds {
            shift.add(catalog, change, &old);
        }
        Some(shift)
    }

    fn add(&mut self, catalog: &Catalog, change: &Change, old: &Seed) {
        let is_there = catalog.seed(&old.name).is_some();
        let new = match change {
            Change::PutSeed(new) => Some(new),
            Change::DeleteSeed(_) => None,
            _ => Some(old),
        };
        let rules = self.rules.clone();
        let url = |seed: &Seed| normalise(&seed.url, None, &rules).ok();
        for name in is_there.then_some(&old.profiles).into_iter().flatten() {
            if let Some(profile) = catalog.profile(name) {
                let side = &mut self.sides(&profile.collection, &old.name).before;
                side.url = url(old);
                side.scopes.push(profile.scope.clone());
            }
        }
        for name in new.map(|new| &new.profiles).into_iter().flatten() {
            let profile = match change {
                Change::PutProfile(put) if put.name == *name => Some(&**put),
                Change::DeleteProfile(gone) if gone == name => None,
                _ => catalog.profile(name),
            };
            if let Some(profile) = profile {
                let side = &mut self.sides(&profile.collection, &old.name).after;
                side.url = new.and_then(url);
                side.scopes.push(profile.scope.clone());
            }
        }
    }

    fn sides(&mut self, collection: &str, seed: &str) -> &mut Sides {
        self.seeds.entry((collection.to_owned(), seed.to_owned())).or_default()
    }

    pub(super) async fn reach(&self, app: &App) -> Answer<Reach> {
        let names: std::collections::BTreeSet<&String> = self.seeds.keys().map(|(_, seed)| seed).collect();
        let mut reach = Reach { seeds: names.len(), seeds_in_all: self.seeds_in_all, ..Reach::default() };
        for range in self.ranges() {
            if reach.looked_at >= LOOKED_AT_MAX {
                break;
            }
            let (rows, _) = app.frontier.urls(None, Some(range), ROWS_MAX).await?;
            rows.iter().for_each(|row| self.known(row, &mut reach));
        }
        let collections: std::collections::BTreeSet<&String> =
            self.seeds.keys().map(|(name, _)| name).collect();
        for collection in collections {
            let asked =
                List { collection: Some(collection.clone()), limit: Some(ROWS_MAX), ..List::default() };
            // Not every collection has an index.
            let Ok(missing) = missing_pages(app, asked).await else { continue };
            missing.items.iter().for_each(|page| self.linked(collection, &page.url, &mut reach));
        }
        Ok(reach)
    }

    /// Whole collections last, so that sites are looked at first; none overlaps another of its kind.
    fn ranges(&self) -> Vec<KeyRange> {
        let mut sites = BTreeMap::new();
        let mut all = BTreeMap::new();
        for ((collection, _), Sides { before, after }) in &self.seeds {
            for url in before.url.iter().chain(&after.url) {
                sites.insert((collection, url.site()), ranges::urls_of_site(collection, url.site()));
            }
            all.insert(collection, ranges::urls(Some(collection)));
        }
        match sites.is_empty() {
            true => all.into_values().collect(),
            false => sites.into_values().flatten().collect(),
        }
    }

    fn known(&self, row: &QueueRow, reach: &mut Reach) {
        let Some(record) = &row.record else { return };
        let Some(sides) = self.seeds.get(&(row.collection.clone(), record.seed.clone())) else { return };
        let Ok(url) = normalise(&row.url, None, &self.rules) else { return };
        reach.looked_at += 1;
        match (sides.before.takes(&url, &record.position), sides.after.takes(&url, &record.position)) {
            (true, false) => reach.out.add(&row.url),
            (false, true) => reach.into.add(&row.url),
            (true, true) | (false, false) => {}
        }
    }

    /// As if a page of the seed linked to it: one link away.
    fn linked(&self, collection: &str, text: &str, reach: &mut Reach) {
        let Ok(url) = normalise(text, None, &self.rules) else { return };
        reach.looked_at += 1;
        let position = |seed: Option<&CrawlUrl>| {
            let is_inside = seed.is_some_and(|seed| url.is_in_domain(seed.domain()));
            Position { depth: 1, hops: u32::from(!is_inside), ..Position::default() }
        };
        let own = self.seeds.iter().filter(|((own, _), _)| own == collection).map(|(_, sides)| sides);
        let is_in = |side: &Side| side.takes(&url, &position(side.url.as_ref()));
        let (mut before, mut after) = (false, false);
        for sides in own {
            before |= is_in(&sides.before);
            after |= is_in(&sides.after);
        }
        if after && !before {
            reach.into.add(text);
        }
    }
}

/// Some seeds of a profile, from all over their list.
fn of_profile(catalog: &Catalog, name: &str) -> Vec<Seed> {
    let mut seeds: Vec<&Seed> = catalog.seeds_of_profile(name).map(|entry| &entry.seed).collect();
    seeds.sort_by(|one, other| one.name.cmp(&other.name));
    let step = seeds.len().div_ceil(SEEDS_MAX).max(1);
    seeds.into_iter().step_by(step).cloned().collect()
}
