//! From one format to the next, in place.
//!
//! The **format** of a store says how its rows are read; the `FORMAT` file of a data directory has
//! its number. A store of an older format is upgraded when it is opened, one of a newer format is
//! refused.
//!
//! | format | rows |
//! |---|---|
//! | 1 | values are bare |
//! | 2 | values begin with their version (see [`crate::table`]) |
//! | 3 | what is declared has more fields; URLs are counted by run, too |
//!
//! Most of what changes from format to format needs no work here: a row says which version it has,
//! and its table reads all of them. An upgrade is only what rows cannot do by themselves, one
//! **pass** over some of them after the other: from format 1, every value gets its version; then
//! the [`Step`]s of whoever owns the tables.
//!
//! The life of an upgrade: a row of the store's own table 0 says that it has begun, then `FORMAT`
//! is counted up (no older program will touch the store from now on), then rows are rewritten a few
//! thousand to a transaction. That transaction also writes how far the pass has come, so
//! whenever it is killed, the next opening goes on at just that row. The last transaction takes the
//! row away.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::limits::KEY_BYTES_MAX;
use crate::notice::Notice;
use crate::store::Store;
use crate::table::{KeyRange, Table};
use crate::txn::{Bytes, Durability, Order, Tx};

/// The format that is written. Counted up with every change to rows after a format has been given
/// to anybody.
pub const FORMAT: u8 = 3;

/// How a store says its format: a line that begins so, and the number.
const FORMAT_WORD: &str = "skurd-store ";

/// What a store of the present format says.
pub(crate) fn format_line() -> String {
    format!("{FORMAT_WORD}{FORMAT}\n")
}

/// The format that a store says it has, if that is what it says.
pub(crate) fn read_format(line: &str) -> Option<u32> {
    line.trim_end().strip_prefix(FORMAT_WORD)?.parse().ok()
}

/// The newest format that somebody has data of: its rows never change again. Below [`FORMAT`] while
/// that is in the making.
pub const CLOSED_FORMAT: u8 = 2;

/// The format before which values had no version.
const VERSIONS: u8 = 2;
/// The version such values get.
const BARE: u8 = 1;

/// The store's own table.
pub(crate) const OWN_TABLE: u8 = 0;
const PROGRESS: Table<(String,), Progress> = Table::new(OWN_TABLE, "upgrade");
const PROGRESS_KEY: &str = "progress";

const ROWS_PER_COMMIT: usize = 4096;
/// The name of the pass over bare values.
const GIVE_VERSIONS: &str = "versions";

/// A pass over one table of stores that are older than some format.
///
/// It sees every row once, in the order of keys and in pieces, and writes what it likes through the
/// transaction, which is committed together with how far the pass has come. Rows that it writes
/// into its own table, further on, it meets again.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Kept in the store while the step is under way.
    pub name: &'static str,
    /// Stores of earlier formats want it.
    pub format: u8,
    /// The number of the table that is walked over.
    pub table: u8,
    pub run: for<'a> fn(&'a Tx, &'a [(Bytes, Bytes)]) -> Working<'a>,
}

/// What a step does with some rows.
pub type Working<'a> = Pin<Box<dyn Future<Output = Result<()>> + 'a>>;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Progress {
    /// The format the store had.
    from: u8,
    /// The passes that are over, by name.
    done: Vec<String>,
    /// The last key that the one under way has seen.
    after: Option<Vec<u8>>,
}

/// Rows that are to be walked over, and by whom.
struct Pass<'a> {
    name: &'static str,
    range: KeyRange,
    /// None: values get their version.
    step: Option<&'a Step>,
}

/// Writes down that the store is to be upgraded.
pub(crate) async fn begin(store: &Store, from: u8) -> Result<()> {
    let tx = store.begin().await?;
    if PROGRESS.get(&tx, (PROGRESS_KEY,)).await?.is_none() {
        PROGRESS.put(&tx, (PROGRESS_KEY,), &Progress { from, done: Vec::new(), after: None })?;
        store.commit(&tx).await?;
    }
    Ok(())
}

/// What [`begin`] writes, for an engine that commits it with the format: others may be opening the
/// store, too.
#[cfg(feature = "tikv")]
pub(crate) async fn begun(store: &Store, from: u8) -> Result<crate::txn::WriteSet> {
    let tx = store.begin().await?;
    PROGRESS.put(&tx, (PROGRESS_KEY,), &Progress { from, done: Vec::new(), after: None })?;
    tx.finish()
}

/// Does what is left to do, if anything is. Who does not know the steps (none) leaves them to
/// somebody who does.
pub(crate) async fn go_on(store: &Store, steps: Option<&[Step]>, notice: fn(&Notice)) -> Result<()> {
    let mut rows = 0;
    let mut is_told = false;
    loop {
        let tx = store.begin().await?;
        let Some(progress) = PROGRESS.get(&tx, (PROGRESS_KEY,)).await? else { break };
        match next_pass(&progress, steps) {
            Some(pass) => {
                if !is_told {
                    notice(&Notice::UpgradeBegun { from: progress.from, to: FORMAT });
                    is_told = true;
                }
                rows += pass.advance(&tx, progress).await?;
            }
            None if steps.is_none() => break,
            None => PROGRESS.delete(&tx, (PROGRESS_KEY,))?,
        }
        tx.set_durability(Durability::Relaxed);
        match store.commit(&tx).await {
            // Another process is at it, too, and has come further.
            Err(Error::Conflict { .. }) => {}
            committed => committed?,
        }
    }
    if is_told {
        store.sync().await?;
        notice(&Notice::UpgradeDone { rows });
    }
    Ok(())
}

fn next_pass<'a>(progress: &Progress, steps: Option<&'a [Step]>) -> Option<Pass<'a>> {
    let everything = KeyRange { from: vec![OWN_TABLE + 1], to: vec![0xFF; KEY_BYTES_MAX + 1] };
    let versions = Pass { name: GIVE_VERSIONS, range: everything, step: None };
    let versions = (progress.from < VERSIONS).then_some(versions);
    let steps = steps.unwrap_or_default().iter().filter(|step| progress.from < step.format);
    let steps = steps.map(|step| Pass {
        name: step.name,
        range: KeyRange::prefix(vec![step.table]),
        step: Some(step),
    });
    versions.into_iter().chain(steps).find(|pass| !progress.done.iter().any(|done| done == pass.name))
}

impl Pass<'_> {
    /// One transaction's worth of it; gives the rows it saw.
    async fn advance(self, tx: &Tx, mut progress: Progress) -> Result<u64> {
        let range = match &progress.after {
            Some(last) => self.range.beyond(last, Order::Forward),
            None => self.range,
        };
        let page = tx.scan(&range, ROWS_PER_COMMIT, Order::Forward).await?;
        match self.step {
            Some(step) => (step.run)(tx, &page.items).await?,
            None => give_versions(tx, &page.items)?,
        }
        match (page.rest, page.items.last()) {
            (Some(_), Some((last, _))) => progress.after = Some(last.to_vec()),
            _ => {
                progress.done.push(self.name.to_owned());
                progress.after = None;
            }
        }
        PROGRESS.put(tx, (PROGRESS_KEY,), &progress)?;
        Ok(page.items.len() as u64)
    }
}

fn give_versions(tx: &Tx, rows: &[(Bytes, Bytes)]) -> Result<()> {
    for (key, value) in rows.iter().filter(|(_, value)| !value.is_empty()) {
        let mut with_version = Vec::with_capacity(1 + value.len());
        with_version.push(BARE);
        with_version.extend_from_slice(value);
        tx.put(key.clone(), with_version)?;
    }
    Ok(())
}

/// Waits on this thread, which may or may not have a runtime: an upgrade is part of opening a
/// store, and that is no future.
pub(crate) fn wait<T>(work: impl Future<Output = T>) -> T {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Unpark>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut work = pin!(work);
    loop {
        if let Poll::Ready(done) = work.as_mut().poll(&mut Context::from_waker(&waker)) {
            return done;
        }
        std::thread::park();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Faults;

    const PETS: Table<(u32,), String> = Table::new(0x10, "pets");
    const COUNTED: Table<(u32,), u64> = Table::new(0x11, "counted");

    /// Counts the rows of a table: right only if it meets each of them once.
    const COUNT: Step =
        Step { name: "count pets", format: FORMAT, table: 0x10, run: |tx, rows| Box::pin(count(tx, rows)) };

    async fn count(tx: &Tx, rows: &[(Bytes, Bytes)]) -> Result<()> {
        let before = COUNTED.get(tx, (0,)).await?.unwrap_or(0);
        rows.iter().try_for_each(|(_, value)| PETS.value_from(value).map(drop))?;
        COUNTED.put(tx, (0,), &(before + rows.len() as u64))
    }

    /// A store as format 1 wrote it: values are bare.
    async fn bare(rows: u32) -> Store {
        let store = Store::in_memory(1);
        for first in (0..rows).step_by(1000) {
            let tx = store.begin().await.unwrap();
            for n in first..rows.min(first + 1000) {
                tx.put(PETS.key((n,)), postcard::to_stdvec(&format!("pet {n}")).unwrap()).unwrap();
                tx.put([&[0x12][..], &n.to_be_bytes()].concat(), []).unwrap();
            }
            store.commit(&tx).await.unwrap();
        }
        store
    }

    async fn assert_upgraded(store: &Store, rows: u32) {
        let tx = store.begin().await.unwrap();
        for n in 0..rows {
            assert_eq!(PETS.get(&tx, (n,)).await.unwrap(), Some(format!("pet {n}")));
            let key = [&[0x12][..], &n.to_be_bytes()].concat();
            assert_eq!(tx.get(&key).await.unwrap().as_deref(), Some(&[][..]), "no value, no version");
        }
        assert_eq!(COUNTED.get(&tx, (0,)).await.unwrap(), Some(u64::from(rows)));
        assert_eq!(PROGRESS.get(&tx, (PROGRESS_KEY,)).await.unwrap(), None);
    }

    #[tokio::test]
    async fn i9_a_store_of_bare_values_is_upgraded_whatever_interrupts_it() {
        const ROWS: u32 = 30_000;
        for seed in 0..20 {
            let store = bare(ROWS).await;
            begin(&store, 1).await.unwrap();
            let faults = Faults { unavailable: 0.05, undetermined: 0.1, ..Faults::default() };
            store.inject(faults).unwrap();
            let mut interrupted = 0;
            while go_on(&store, Some(&[COUNT]), |_| {}).await.is_err() {
                interrupted += 1;
                store.crash().unwrap();
                assert!(interrupted < 1000, "seed {seed}");
            }
            store.inject(Faults::default()).unwrap();
            assert_upgraded(&store, ROWS).await;
        }
    }

    #[tokio::test]
    async fn who_does_not_know_the_steps_leaves_them_to_somebody_who_does() {
        let store = bare(5000).await;
        begin(&store, 1).await.unwrap();
        go_on(&store, None, |_| {}).await.unwrap();
        begin(&store, 1).await.unwrap();
        go_on(&store, None, |_| {}).await.unwrap();
        go_on(&store, Some(&[COUNT]), |_| {}).await.unwrap();
        assert_upgraded(&store, 5000).await;
        go_on(&store, Some(&[COUNT]), |_| {}).await.unwrap();
        assert_upgraded(&store, 5000).await;
    }

    #[tokio::test]
    async fn steps_of_formats_the_store_has_already_are_not_run() {
        let store = Store::in_memory(1);
        begin(&store, FORMAT).await.unwrap();
        go_on(&store, Some(&[COUNT]), |_| {}).await.unwrap();
        assert_eq!(COUNTED.get(&store.begin().await.unwrap(), (0,)).await.unwrap(), None);
    }
}
