//! What every handler works on: the frontier of one data directory and what is known of its
//! harvest.

use std::ops::Deref;
use std::path::PathBuf;
use std::sync::Arc;

use declare::hint::unknown;
use frontier::Frontier;
use harvest::session::parse_url;
use policy::catalog::{Catalog, Change};
use policy::url::CrawlUrl;
use tokio::runtime::Handle;
use tokio::sync::{Mutex, Semaphore};
use urlfrontier::UrlFrontier;

use crate::neighbours::Ours;
use crate::{Answer, Live, Problem};

/// Requests that read the whole queue at the same time; the others wait for their turn.
const HEAVY_AT_ONCE: usize = 2;

#[derive(Clone)]
pub struct App(Arc<Inner>);

pub struct Inner {
    pub frontier: Arc<Frontier>,
    /// The frontier of other crawlers, in the same store.
    pub urls: Arc<UrlFrontier>,
    /// The data directory.
    pub data: PathBuf,
    pub live: Arc<Live>,
    /// Held from looking at what is declared to changing it, so that an edit is of what its author
    /// saw. Those of other nodes do not wait for it: see [`App::declare`].
    pub edits: Mutex<()>,
    heavy: Semaphore,
    /// Simulations are long and large: one at a time.
    pub simulations: Arc<Semaphore>,
}

impl Deref for App {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.0
    }
}

/// There is one in a process: it remembers what nobody else changes.
fn urls_of(frontier: &Arc<Frontier>) -> UrlFrontier {
    let store = frontier.store().clone();
    // Among nodes on one store, counters of one's own; two that draw the same number only wait for each other.
    let number = store.is_shared().then(std::process::id);
    let clock = Arc::clone(frontier);
    let seed = frontier.now().0.cast_unsigned() ^ (u64::from(std::process::id()) << 44);
    UrlFrontier::new(store, Arc::new(move || clock.now().0), number, seed)
        .among(Arc::new(Ours(Arc::clone(frontier))))
}

impl App {
    pub fn new(frontier: Arc<Frontier>, data: PathBuf, live: Arc<Live>) -> App {
        App(Arc::new(Inner {
            urls: Arc::new(urls_of(&frontier)),
            frontier,
            data,
            live,
            edits: Mutex::new(()),
            heavy: Semaphore::new(HEAVY_AT_ONCE),
            simulations: Arc::new(Semaphore::new(1)),
        }))
    }

    /// Looks at what is declared.
    pub async fn look<T>(&self, look: impl FnOnce(&Catalog) -> T) -> Answer<T> {
        Ok(self.frontier.with_catalog(look).await?)
    }

    /// Looks at what is declared, to change it: with the version of it.
    pub async fn look_to_edit<T>(&self, look: impl FnOnce(&Catalog) -> T) -> Answer<(u64, T)> {
        Ok(self.frontier.with_catalog_since(look).await?)
    }

    /// Changes what was seen at that version, unless it has been changed through another node since.
    #[crate::boxed]
    pub async fn declare(&self, since: u64, changes: &[Change]) -> Answer<()> {
        if self.frontier.declare_since(since, changes).await? {
            return Ok(());
        }
        let told = "something was declared through another node at the same moment, and nothing is changed";
        Err(Problem::unavailable(told).hint("once more"))
    }

    /// A URL as the store spells it.
    #[crate::boxed]
    pub async fn url(&self, text: &str) -> Answer<CrawlUrl> {
        let rules = self.look(|catalog| catalog.url_rules().clone()).await?;
        parse_url(text, &rules).map_err(|error| Problem::from_error(http::StatusCode::BAD_REQUEST, &error))
    }

    /// A collection that is declared, or has URLs left.
    #[crate::boxed]
    pub async fn collection(&self, name: &str) -> Answer<()> {
        let left = self.frontier.collections_with_urls().await?;
        let found = self.look(|catalog| {
            let is_there = catalog.collection(name).is_some() || left.iter().any(|other| other == name);
            let names = catalog.collections().map(|found| found.name.as_str());
            if is_there { Ok(()) } else { Err(Problem::not_found(&unknown("collection", name, names))) }
        });
        found.await?
    }

    /// The collection that is named, or all that have URLs.
    #[crate::boxed]
    pub async fn collections(&self, named: Option<&str>) -> Answer<Vec<String>> {
        match named {
            Some(name) => {
                self.collection(name).await?;
                Ok(vec![name.to_owned()])
            }
            None => Ok(self.frontier.collections_with_urls().await?),
        }
    }

    /// The collection that is named, or all that have captures.
    #[crate::boxed]
    pub async fn collections_with_captures(&self, named: Option<&str>) -> Answer<Vec<String>> {
        match named {
            Some(_) => self.collections(named).await,
            None => Ok(self.frontier.collections_with_captures().await?),
        }
    }

    /// Work that reads much without ever waiting: on a thread of its own, and not too often at
    /// once.
    pub async fn heavy<T, F>(&self, work: impl FnOnce(App) -> F + Send + 'static) -> Answer<T>
    where
        T: Send + 'static,
        F: Future<Output = Answer<T>>,
    {
        let app = self.clone();
        let handle = Handle::current();
        let _turn = self.heavy.acquire().await.map_err(|error| Problem::internal(&error))?;
        let done = tokio::task::spawn_blocking(move || handle.block_on(work(app)));
        done.await.map_err(|error| Problem::internal(&error))?
    }
}
