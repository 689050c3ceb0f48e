//! Feeding the link index (spec 4): what a harvest learns of its page is loaded in the harvest's
//! own transaction, so that archive, queue and index never disagree. The observers work it in
//! later, from their own notes.
//!
//! Each collection that wants one has an index by its name (X13); the one across all of them has a
//! name no collection can have.

use std::collections::{BTreeMap, HashMap};

use index::{Index, Load, Uri};
use parking_lot::Mutex;
use policy::time::Time;
use store::{Result, Tx};

use crate::Frontier;
use crate::complete::Harvest;
use crate::ports::PageNow;

/// The index across all collections.
pub const INDEX_ACROSS: &str = "*";

/// The indexes that are open in this process.
#[derive(Default)]
pub(crate) struct Indexes(Mutex<HashMap<String, Index>>);

/// What one index is told by a batch of harvests.
pub(crate) struct Feed<'a> {
    index: Index,
    pages: Vec<(Uri, &'a PageNow, Time)>,
}

impl Feed<'_> {
    pub(crate) async fn load(&self, tx: &Tx) -> Result<()> {
        let loads: Vec<Load<'_>> = self
            .pages
            .iter()
            .map(|(uri, now, at)| {
                let page = match now {
                    PageNow::Links(page) => Some(page),
                    PageNow::Gone => None,
                };
                Load { uri, page, at: *at }
            })
            .collect();
        self.index.load_many(tx, &loads).await?;
        Ok(())
    }
}

impl Frontier {
    /// The index of this name, opened once and made if it is not there.
    #[crate::boxed]
    pub async fn index(&self, name: &str) -> Result<Index> {
        if let Some(index) = self.indexes.0.lock().get(name) {
            return Ok(index.clone());
        }
        let opened = Index::open(&self.store, name).await?;
        Ok(self.indexes.0.lock().entry(name.to_owned()).or_insert(opened).clone())
    }

    /// Whether pages of a collection go to any index.
    pub fn feeds_index(&self, collection: &str) -> bool {
        self.declared.catalog.read().collection(collection).is_some_and(|found| found.index)
    }

    /// What the indexes are told by these harvests.
    pub(crate) async fn feeds<'a>(&self, harvests: &[Harvest<'a>]) -> Result<Vec<Feed<'a>>> {
        let mut told: BTreeMap<&str, Vec<(Uri, &'a PageNow, Time)>> = BTreeMap::new();
        for Harvest { order, report, .. } in harvests {
            let Some(now) = report.page.as_ref().filter(|_| self.feeds_index(&order.collection)) else {
                continue;
            };
            if let Ok(uri) = Uri::of_crawl_url(&order.url) {
                told.entry(order.collection.as_str()).or_default().push((uri, now, report.at));
            }
        }
        if self.declared.catalog.read().settings().index_across && !told.is_empty() {
            let all = told.values().flatten().cloned().collect();
            told.insert(INDEX_ACROSS, all);
        }
        let mut feeds = Vec::with_capacity(told.len());
        for (name, pages) in told {
            feeds.push(Feed { index: self.index(name).await?, pages });
        }
        Ok(feeds)
    }
}
