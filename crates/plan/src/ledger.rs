//! Takes every harvest in and keeps figures of it: marks per URL, counters per host and profile,
//! the first link decisions.

use std::collections::{BTreeMap, HashMap};

use frontier::{ErrorKind, LinkTrace};
use policy::catalog::Catalog;
use sim::Harvest;

use crate::Grid;
use crate::load::HostLoad;
use crate::rows::UrlRow;

#[derive(Debug, Default)]
pub struct Ledger {
    pub grid: Grid,
    /// By collection and URL.
    pub urls: HashMap<(String, String), UrlRow>,
    pub hosts: BTreeMap<String, HostLoad>,
    pub harvests: u64,
    /// The first link decisions, and how many there were.
    pub links: Vec<LinkTrace>,
    pub links_seen: usize,
    links_kept_max: usize,
}

impl Ledger {
    pub fn new(grid: Grid, links_kept_max: usize) -> Ledger {
        Ledger { grid, links_kept_max, ..Ledger::default() }
    }

    pub fn linked(&mut self, links: Vec<LinkTrace>) {
        self.links_seen += links.len();
        let room = self.links_kept_max.saturating_sub(self.links.len());
        self.links.extend(links.into_iter().take(room));
    }

    pub fn harvested(&mut self, catalog: &Catalog, mut harvest: Harvest) {
        self.linked(std::mem::take(&mut harvest.links));
        self.harvests += 1;
        // A name that does not resolve, and what robots keep from being fetched, is no request.
        if !matches!(harvest.error, Some(ErrorKind::Dns | ErrorKind::Robots)) {
            self.host(catalog, &harvest.host).harvested(&harvest);
        }
        let key = (std::mem::take(&mut harvest.collection), std::mem::take(&mut harvest.url));
        let grid = self.grid;
        let row = self.urls.entry(key).or_insert_with(|| UrlRow::new(&grid, &harvest.host));
        row.harvested(&grid, &harvest);
    }

    fn host(&mut self, catalog: &Catalog, name: &str) -> &mut HostLoad {
        self.hosts.entry(name.to_owned()).or_insert_with(|| {
            let group = catalog.group_of(name).map(|group| group.name.clone());
            HostLoad::new(catalog.politeness(name).clone(), group)
        })
    }
}
