//! A data directory opened for one command: its frontier, and a runtime to wait for it with.

use std::io::{BufWriter, StdoutLock, Write};
use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use declare::hint::hinted;
use declare::{Data, TextRule, read_text};
use frontier::ports::Clock;
use frontier::{Frontier, StoreClock};
use policy::catalog::Catalog;
use policy::url::{CrawlUrl, UrlRules, normalise};
use store::{Options, Store};
use tokio::runtime::{Builder, Runtime};

use crate::clock::SystemClock;
use crate::data_dir::{self, explain};

pub struct Session {
    pub frontier: Frontier,
    runtime: Runtime,
}

impl Session {
    /// For commands that look: a directory without a store is an error.
    pub fn open(dir: &Path) -> Result<Session> {
        Session::with(data_dir::open(dir).map_err(|error| explain(dir, error))?)
    }

    /// For commands that fill: makes the store if it is not there.
    pub fn create(dir: &Path, options: Options) -> Result<Session> {
        Session::with(data_dir::create(dir, options).map_err(|error| explain(dir, error))?)
    }

    pub fn with(store: Store) -> Result<Session> {
        let runtime = Builder::new_current_thread().enable_time().build()?;
        Ok(Session { frontier: frontier_of(store), runtime })
    }

    pub fn wait<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }

    /// Looks at what is declared.
    pub fn look<T>(&self, look: impl FnOnce(&Catalog) -> T) -> Result<T> {
        Ok(self.wait(self.frontier.with_catalog(look))?)
    }
}

pub fn frontier_of(store: Store) -> Frontier {
    let seed = SystemClock.now().0.unsigned_abs() ^ (u64::from(std::process::id()) << 44);
    let clock: Arc<dyn Clock> = match store.is_shared() {
        true => Arc::new(StoreClock::new(Arc::new(SystemClock))),
        false => Arc::new(SystemClock),
    };
    Frontier::new(store, clock, seed ^ fastrand::u64(..))
}

/// Data goes here, in large pieces.
pub fn stdout() -> BufWriter<StdoutLock<'static>> {
    BufWriter::with_capacity(64 << 10, std::io::stdout().lock())
}

/// What is no data goes to standard error.
pub fn note(text: &str) -> Result<()> {
    Ok(writeln!(std::io::stderr().lock(), "{text}")?)
}

pub fn parse_url(text: &str, rules: &UrlRules) -> Result<CrawlUrl> {
    match read_text(text, TextRule::Url, rules) {
        Ok(Data::Url { given, .. }) => Ok(normalise(&given, None, rules)?),
        Ok(_) => Err(hinted("this is not a URL", URL_HINT)),
        Err(wrong) => {
            Err(hinted(wrong.what, if wrong.hint.is_empty() { URL_HINT.to_owned() } else { wrong.hint }))
        }
    }
}

const URL_HINT: &str = "a URL like `https://vg.no/`";
