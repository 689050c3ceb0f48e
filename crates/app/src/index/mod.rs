//! The link index (spec 4): which there are, and what they answer (X12, X15).
//!
//! A question is for one index: that of the collection that is named, the only one there is, or
//! with `all` the one across all collections ([`choose`]). Lists go on by the index's own cursors:
//! a page costs the same wherever it is.

mod choose;
mod item;
pub mod links;
mod name;
pub mod ranks;

pub use choose::{ACROSS, Which, choose, no_index};
use index::{Index, Listing};
pub use item::{IndexDomain, IndexInlink, IndexOutlink, IndexPage, PageFacts};
pub use name::{domain_text, reversed, uri_of};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{Answer, App, Problem};
use crate::page::{self, Page, Paging};

/// Notes that are counted of each queue where it only matters whether there are few or many.
const WAITING_COUNTED_MAX: usize = 1000;

/// What an index holds.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct IndexItem {
    /// None: the one across all collections.
    pub collection: Option<String>,
    /// Known: loaded or linked to.
    pub uris: u64,
    pub loaded: u64,
    pub links: u64,
    pub domains: u64,
    /// Changes that are not worked in yet; of many, not all are counted.
    pub waiting: u64,
}

/// List the indexes in the order of their collections, and what each holds
#[crate::boxed]
pub async fn list_indexes(app: &App, paging: Paging) -> Answer<Page<IndexItem>> {
    let (names, next) = paging.names(Index::names(app.frontier.store()).await?)?;
    let mut items = Vec::with_capacity(names.len());
    for name in names {
        items.push(stats(&app.frontier.index(&name).await?).await?);
    }
    Ok(Page { items, next })
}

#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct One {
    /// The index of this collection; not needed if there is only one.
    pub collection: Option<String>,
    /// The index across all collections.
    #[serde(default)]
    pub all: bool,
}

/// Get what an index holds, and what waits to be worked in
#[crate::boxed]
pub async fn get_index(app: &App, asked: One) -> Answer<IndexItem> {
    let index = open(app, asked.collection.as_deref(), asked.all).await?;
    stats(&index).await
}

/// The index that is meant.
async fn open(app: &App, collection: Option<&str>, all: bool) -> Answer<Index> {
    let name = choose(app.frontier.store(), &Which { collection, all }).await?;
    Ok(app.frontier.index(&name).await?)
}

#[crate::boxed]
pub async fn stats(index: &Index) -> Answer<IndexItem> {
    let totals = index.totals().await?;
    Ok(IndexItem {
        collection: (index.name() != ACROSS).then(|| index.name().to_owned()),
        uris: totals.uris,
        loaded: totals.loaded,
        links: totals.links,
        domains: totals.domains,
        waiting: index.waiting(WAITING_COUNTED_MAX).await?,
    })
}

fn page_of<T, U: From<T>>(listing: Listing<T>) -> Page<U> {
    Page { items: listing.items.into_iter().map(U::from).collect(), next: listing.next }
}

impl From<index::Error> for Problem {
    fn from(error: index::Error) -> Problem {
        match error {
            index::Error::Store(error) => error.into(),
            index::Error::BadCursor => page::wrong_cursor(),
            error => Problem::internal(&error),
        }
    }
}
