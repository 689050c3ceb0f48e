//! Takes every harvest in and keeps figures of it: marks per URL, counters per host and profile, the first link decisions.

use std::collections::{BTreeMap, HashMap};

use frontier::LinkTrace;
use frontier::schema::ErrorKind;
use policy::catalog::Catalog;
use policy::time::Span;
use sim::Harvest;

use crate::simulate::Grid;
use crate::simulate::load::{HostLoad, lateness};
use crate::simulate::rows::UrlRow;
use crate::simulate::spread::Spread;

/// F31: how late the harvests of a profile were.
#[derive(Clone, Debug, Default)]
pub(crate) struct Contract {
    pub(crate) harvests: u64,
    pub(crate) on_time: u64,
    pub(crate) late_ms: Spread,
}

#[derive(Debug)]
pub(crate) struct Ledger {
    pub(crate) grid: Grid,
    /// By collection and URL.
    pub(crate) urls: HashMap<(String, String), UrlRow>,
    pub(crate) hosts: BTreeMap<String, HostLoad>,
    pub(crate) profiles: BTreeMap<String, Contract>,
    pub(crate) harvests: u64,
    /// The first link decisions, and how many there were.
    pub(crate) links: Vec<LinkTrace>,
    pub(crate) links_seen: usize,
    links_kept_max: usize,
    on_time: Span,
}

impl Ledger {
    pub(crate) fn new(grid: Grid, catalog: &Catalog, links_kept_max: usize) -> Ledger {
        let active = catalog.profiles().filter(|profile| profile.active);
        Ledger {
            grid,
            urls: HashMap::new(),
            hosts: BTreeMap::new(),
            profiles: active.map(|profile| (profile.name.clone(), Contract::default())).collect(),
            harvests: 0,
            links: Vec::new(),
            links_seen: 0,
            links_kept_max,
            on_time: catalog.settings().on_time,
        }
    }

    pub(crate) fn linked(&mut self, links: Vec<LinkTrace>) {
        self.links_seen += links.len();
        let room = self.links_kept_max.saturating_sub(self.links.len());
        self.links.extend(links.into_iter().take(room));
    }

    pub(crate) fn harvested(&mut self, catalog: &Catalog, mut harvest: Harvest) {
        self.linked(std::mem::take(&mut harvest.links));
        self.harvests += 1;
        self.count_for_profiles(&harvest);
        // A name that does not resolve, and what robots keep from being fetched, is no request.
        if !matches!(harvest.error, Some(ErrorKind::Dns | ErrorKind::Robots)) {
            self.host(catalog, &harvest.host).harvested(&harvest);
        }
        let key = (std::mem::take(&mut harvest.collection), std::mem::take(&mut harvest.url));
        let grid = self.grid;
        let row = self.urls.entry(key).or_insert_with(|| UrlRow::new(&grid, &harvest.seed, &harvest.host));
        row.harvested(&grid, &harvest);
    }

    fn count_for_profiles(&mut self, harvest: &Harvest) {
        if harvest.error == Some(ErrorKind::Robots) {
            return;
        }
        let late = lateness(harvest.due, harvest.ended);
        for profile in &harvest.profiles {
            let Some(contract) = self.profiles.get_mut(profile) else { continue };
            contract.harvests += 1;
            contract.on_time += u64::from(late <= self.on_time);
            contract.late_ms.add(late.0);
        }
    }

    fn host(&mut self, catalog: &Catalog, name: &str) -> &mut HostLoad {
        self.hosts.entry(name.to_owned()).or_insert_with(|| {
            let group = catalog.group_of(name).map(|group| group.name.clone());
            HostLoad::new(catalog.politeness(name).clone(), group)
        })
    }
}
