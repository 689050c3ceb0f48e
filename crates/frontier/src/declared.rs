//! What people declared, in the store and in memory.
//!
//! `DECLARED` holds each thing as the change that puts it. Every change also goes into
//! `DECLARED_LOG` under the next version, and the counter `declared` is that version. A transaction
//! that decides anything first reads the counter and, if it is ahead of memory, applies the log
//! from where memory stands: so a change made anywhere takes effect at the next evaluation
//! everywhere, and costs no scan. The log is cut to its last entries; who is further behind reads
//! `DECLARED` anew.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::RwLock;
use policy::catalog::{Catalog, CatalogError, Change};
use policy::walk::Refusal;
use store::{Error, Order, Result, Tx};

use crate::schema::{COUNTERS, DECLARED, DECLARED_LOG};

const VERSION: &str = "declared";
/// The kind of patterns among what is declared (F39).
pub(crate) const BARRED: u8 = 7;
const LOG_ENTRIES_MAX: u64 = 10_000;
const PAGE: usize = 1000;

#[derive(Debug, Default)]
pub(crate) struct Declared {
    pub(crate) catalog: RwLock<Catalog>,
    version: AtomicU64,
}

/// A change that was refused, and why.
#[derive(Debug, thiserror::Error)]
pub enum DeclareError {
    #[error(transparent)]
    Refused(#[from] CatalogError),
    /// A walk that was begun cannot go on like this.
    #[error("walk {walk:?}: {refusal}")]
    Walk { walk: String, refusal: Refusal },
    #[error(transparent)]
    Store(#[from] Error),
}

impl Declared {
    pub(crate) fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// Brings memory up to what this transaction's snapshot says.
    pub(crate) async fn catch_up(&self, tx: &Tx) -> Result<()> {
        let version = COUNTERS.get(tx, (VERSION,)).await?.unwrap_or(0);
        let have = self.version.load(Ordering::Acquire);
        if version <= have {
            return Ok(());
        }
        if have == 0 || version - have > LOG_ENTRIES_MAX {
            return self.read_anew(tx, version).await;
        }
        let mut changes = Vec::new();
        let mut rest = Some(DECLARED_LOG.range_from((), (have + 1,)));
        while let Some(range) = rest {
            let page = DECLARED_LOG.scan(tx, &range, PAGE, Order::Forward).await?;
            changes.extend(page.rows.into_iter().filter(|((at,), _)| *at <= version));
            rest = page.rest;
        }
        let mut catalog = self.catalog.write();
        // Another transaction may have been faster: each entry is applied once, in order.
        let have = self.version.load(Ordering::Acquire);
        for ((at,), change) in changes {
            if at > have {
                apply(&mut catalog, change)?;
            }
        }
        self.version.fetch_max(version, Ordering::AcqRel);
        Ok(())
    }

    async fn read_anew(&self, tx: &Tx, version: u64) -> Result<()> {
        let mut fresh = Catalog::new();
        let mut rest = Some(DECLARED.range(()));
        while let Some(range) = rest {
            let page = DECLARED.scan(tx, &range, PAGE, Order::Forward).await?;
            for (_, change) in page.rows {
                apply(&mut fresh, change)?;
            }
            rest = page.rest;
        }
        let mut catalog = self.catalog.write();
        if self.version.load(Ordering::Acquire) < version {
            *catalog = fresh;
            self.version.store(version, Ordering::Release);
        }
        Ok(())
    }
}

fn apply(catalog: &mut Catalog, change: Change) -> Result<()> {
    // Only what applied once was stored.
    catalog.apply(change).map_err(|e| Error::Corrupt(format!("a stored declaration does not apply: {e}")))
}

/// Writes changes; the caller has checked that they apply.
pub(crate) async fn write(tx: &Tx, changes: &[Change]) -> Result<()> {
    let mut version = COUNTERS.lock(tx, (VERSION,)).await?.unwrap_or(0);
    for change in changes {
        version += 1;
        let (kind, name, puts) = identity(change);
        match puts {
            true => DECLARED.put(tx, (kind, &name), change)?,
            false => DECLARED.delete(tx, (kind, &name))?,
        }
        DECLARED_LOG.put(tx, (version,), change)?;
        if let Some(old) = version.checked_sub(LOG_ENTRIES_MAX) {
            DECLARED_LOG.delete(tx, (old,))?;
        }
    }
    COUNTERS.put(tx, (VERSION,), &version)
}

/// Writes changes to what was declared up to that version; false if something was since.
pub(crate) async fn write_since(tx: &Tx, since: u64, changes: &[Change]) -> Result<bool> {
    if COUNTERS.lock(tx, (VERSION,)).await?.unwrap_or(0) == since {
        write(tx, changes).await?;
        return Ok(true);
    }
    // It may have been these very changes, by a commit that nobody heard of.
    for (at, change) in (since + 1..).zip(changes) {
        if DECLARED_LOG.get(tx, (at,)).await?.as_ref() != Some(change) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Which row of `DECLARED` a change is about, and whether it puts or deletes it. Kinds sort so that
/// reading them in order never meets a seed before the settings that say how its URL is written.
fn identity(change: &Change) -> (u8, Cow<'_, str>, bool) {
    let (kind, name, puts): (u8, &str, bool) = match change {
        Change::PutSettings(_) => (0, "", true),
        Change::PutCollection(collection) => (1, &collection.name, true),
        Change::DeleteCollection(name) => (1, name, false),
        Change::PutProfile(profile) => (2, &profile.name, true),
        Change::DeleteProfile(name) => (2, name, false),
        Change::PutGroup(group) => (3, &group.name, true),
        Change::DeleteGroup(name) => (3, name, false),
        Change::PutHostPoliteness { host, .. } => (4, host, true),
        Change::DeleteHostPoliteness(host) => (4, host, false),
        Change::PutSeed(seed) => (5, &seed.name, true),
        Change::DeleteSeed(key) => (5, key, false),
        Change::PutWalk(walk) => (6, &walk.name, true),
        Change::DeleteWalk(name) => (6, name, false),
        Change::PutBarred(barred) => return (BARRED, Cow::Owned(barred.name()), true),
        Change::DeleteBarred(name) => (BARRED, name, false),
    };
    (kind, Cow::Borrowed(name), puts)
}
