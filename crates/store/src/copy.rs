//! A store copied to another one, of whatever engine, and held against it.
//!
//! The life of a copy: the target is empty and gets a **mark**, a row of the store's own table 0
//! that names the source. While it is there the target is no store yet, and is opened only to go on
//! with the copy. Then both stores are read side by side in the order of keys, and what differs is
//! written to the target, as much to a transaction as it has room for; the same transaction moves
//! the mark, so whenever it is killed, the next run goes on at just that row. Then both are read
//! side by side once more, from the first row to the last in one run, to compare. If all is the
//! same, the mark is taken away. If not, what differs is named, and the mark goes back to the
//! beginning: the next run writes it.
//!
//! The invariant: a target without a mark is the source as it was at one moment of the last run.
//! That needs no snapshot that is held for hours, which a cluster would not give. Whoever writes to
//! the source meanwhile is found out by the second reading: a row had the same value both times, so
//! it had it in between, when one reading was over and the other not begun, and so had all the
//! others. (Only a row that was changed and changed back hides from this.) In a data directory
//! nobody else can write anyway.
//!
//! Rows are copied as they are, with the version each value begins with and with an upgrade that is
//! under way. The format is the same in both: a source is brought to the present one when it is
//! opened, a target is made in it, and one that has another is refused.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::limits::KEY_BYTES_MAX;
use crate::store::Store;
use crate::table::{KeyRange, Table};
use crate::txn::{Bytes, Durability, Order, Page, Tx};
use crate::upgrade::OWN_TABLE;

const MARK: Table<(String,), Mark> = Table::new(OWN_TABLE, "copy");
const MARK_KEY: (&str,) = ("copy",);

/// Rows of each store that are read at a time.
const ROWS_PER_PAGE: usize = 1024;
/// Differences that are named; the others are counted.
const DIFFERENCES_NAMED_MAX: usize = 100;
/// Bytes of a key that are shown.
const KEY_BYTES_SHOWN_MAX: usize = 60;

/// How far a copy has come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Mark {
    /// What is copied, by the name its owner gave it.
    source: String,
    /// The run that is at it, so that another one is noticed.
    run: u64,
    /// What lies before that key; none: all is copied.
    from: Option<Vec<u8>>,
    copied: Amount,
}

/// Rows of the source, and the bytes of their keys and values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Amount {
    pub rows: u64,
    pub bytes: u64,
}

/// How far a copy is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// In all runs.
    Copied(Amount),
    /// In this one.
    Compared(Amount),
}

/// A row that is not the same in both stores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    pub table: u8,
    pub key: Vec<u8>,
    pub kind: DifferenceKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DifferenceKind {
    MissingInCopy,
    MissingInSource,
    OtherValue,
}

/// What was found to differ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Differences {
    pub count: u64,
    /// The first of them.
    pub named: Vec<Difference>,
}

/// Why a store was not copied.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CopyError {
    #[error("there is a store already where it is to be copied to")]
    Occupied,

    #[error("an unfinished copy of {of} is there: go on with that one, or choose another place")]
    OfAnother { of: String },

    #[error("it is itself an unfinished copy, of {of}")]
    SourceUnfinished { of: String },

    #[error("{0}")]
    Different(Differences),

    #[error(transparent)]
    Store(#[from] Error),
}

/// Copies all rows of a store to an empty one, or goes on with it. `name` says which store it is,
/// the same in every run; `tell` hears after each transaction how far it is. What is given back is
/// what was compared.
pub async fn copy(
    from: &Store,
    name: &str,
    to: &Store,
    mut tell: impl FnMut(Stage),
) -> Result<Amount, CopyError> {
    let copying = Copying { from, to, name };
    let mut mark = copying.start().await?;
    while let Some(key) = &mark.from {
        let pairs = copying.pairs(everything_from(key)).await?;
        mark = copying.advance(&mark, &pairs).await?;
        tell(Stage::Copied(mark.copied));
    }
    let (compared, differences) = copying.compare(tell).await?;
    if differences.count > 0 {
        copying.begin_anew(&mark).await?;
        return Err(CopyError::Different(differences));
    }
    copying.finish(&mark).await?;
    Ok(compared)
}

/// Of what a store is an unfinished copy, if it is one.
pub(crate) async fn unfinished(store: &Store) -> Result<Option<String>> {
    let mark = store.transact_idempotent(|tx| async move { MARK.get(&tx, MARK_KEY).await }).await?;
    Ok(mark.map(|mark| mark.source))
}

struct Copying<'a> {
    from: &'a Store,
    to: &'a Store,
    name: &'a str,
}

/// What both stores have between two keys.
struct Pairs {
    rows: Vec<Pair>,
    /// None: they have no more.
    rest: Option<KeyRange>,
}

struct Pair {
    key: Bytes,
    source: Option<Bytes>,
    copy: Option<Bytes>,
}

impl Copying<'_> {
    /// Puts the mark, or takes over the one that is there.
    async fn start(&self) -> Result<Mark, CopyError> {
        if let Some(of) = unfinished(self.from).await? {
            return Err(CopyError::SourceUnfinished { of });
        }
        let run = fastrand::u64(..);
        let begin = |tx: Tx| async move {
            let mark = match MARK.get(&tx, MARK_KEY).await? {
                Some(mark) if mark.source != self.name => {
                    return Ok(Err(CopyError::OfAnother { of: mark.source }));
                }
                Some(mark) => Mark { run, ..mark },
                None if !is_empty(&tx).await? => return Ok(Err(CopyError::Occupied)),
                None => Mark::new(self.name, run),
            };
            MARK.put(&tx, MARK_KEY, &mark)?;
            Ok(Ok(mark))
        };
        self.to.transact_idempotent(begin).await?
    }

    async fn pairs(&self, range: KeyRange) -> Result<Pairs> {
        let (source, copy) = (page(self.from, &range).await?, page(self.to, &range).await?);
        let rest = [source.rest, copy.rest].into_iter().flatten().min_by(|a, b| a.from.cmp(&b.from));
        // Before it, both have said all they have.
        let is_told = |key: &Bytes| rest.as_ref().is_none_or(|rest| key[..] < rest.from[..]);
        let mut rows: BTreeMap<Bytes, (Option<Bytes>, Option<Bytes>)> = BTreeMap::new();
        for (key, value) in source.items.into_iter().filter(|(key, _)| is_told(key)) {
            rows.entry(key).or_default().0 = Some(value);
        }
        for (key, value) in copy.items.into_iter().filter(|(key, _)| is_told(key)) {
            rows.entry(key).or_default().1 = Some(value);
        }
        rows.remove(&MARK.key(MARK_KEY)[..]);
        let rows = rows.into_iter().map(|(key, (source, copy))| Pair { key, source, copy }).collect();
        Ok(Pairs { rows, rest })
    }

    /// One transaction: what differs is written, as much of it as fits, and the mark moves behind
    /// it.
    async fn advance(&self, mark: &Mark, pairs: &Pairs) -> Result<Mark> {
        let write = |tx: Tx| async move {
            let found = own_mark(&tx, mark).await?;
            if found != *mark {
                // An earlier run of this transaction got no answer, and was committed.
                return Ok(found);
            }
            // The end of a copy is synced, and with it all that came before.
            tx.set_durability(Durability::Relaxed);
            let next = mark.clone().behind(&tx, pairs)?;
            MARK.put(&tx, MARK_KEY, &next)?;
            Ok(next)
        };
        self.to.transact_idempotent(write).await
    }

    /// Reads both stores from one end to the other.
    async fn compare(&self, mut tell: impl FnMut(Stage)) -> Result<(Amount, Differences)> {
        let (mut compared, mut differences) = (Amount::default(), Differences::default());
        let mut rest = Some(everything_from(&[]));
        while let Some(range) = rest {
            let pairs = self.pairs(range).await?;
            for pair in &pairs.rows {
                compared.count(pair);
                pair.difference().into_iter().for_each(|found| differences.note(found));
            }
            tell(Stage::Compared(compared));
            rest = pairs.rest;
        }
        Ok((compared, differences))
    }

    /// The next run goes over all rows again.
    async fn begin_anew(&self, mark: &Mark) -> Result<()> {
        let back = |tx: Tx| async move {
            own_mark(&tx, mark).await?;
            MARK.put(&tx, MARK_KEY, &Mark::new(self.name, mark.run))
        };
        self.to.transact_idempotent(back).await
    }

    /// Takes the mark away.
    async fn finish(&self, mark: &Mark) -> Result<()> {
        let end = |tx: Tx| async move {
            if MARK.get(&tx, MARK_KEY).await?.is_some() {
                own_mark(&tx, mark).await?;
                MARK.delete(&tx, MARK_KEY)?;
            }
            Ok(())
        };
        self.to.transact_idempotent(end).await
    }
}

impl Mark {
    fn new(source: &str, run: u64) -> Mark {
        let (from, copied) = (Some(Vec::new()), Amount::default());
        Mark { source: source.to_owned(), run, from, copied }
    }

    /// Writes what differs, and moves behind the last row that fitted.
    fn behind(mut self, tx: &Tx, pairs: &Pairs) -> Result<Mark> {
        MARK.put(tx, MARK_KEY, &self.longest())?;
        let mut is_first = true;
        for pair in &pairs.rows {
            if pair.source != pair.copy {
                // A single row that does not fit is refused by the transaction, which says so.
                if !is_first && !pair.fits(tx) {
                    self.from = Some(pair.key.to_vec());
                    return Ok(self);
                }
                pair.write(tx)?;
                is_first = false;
            }
            self.copied.count(pair);
        }
        self.from = pairs.rest.as_ref().map(|rest| rest.from.clone());
        Ok(self)
    }

    /// Keeps room for the mark, wherever it will stand.
    fn longest(&self) -> Mark {
        let copied = Amount { rows: u64::MAX, bytes: u64::MAX };
        Mark { from: Some(vec![0xFF; KEY_BYTES_MAX + 1]), copied, ..self.clone() }
    }
}

impl Amount {
    fn count(&mut self, pair: &Pair) {
        if let Some(value) = &pair.source {
            self.rows += 1;
            self.bytes += (pair.key.len() + value.len()) as u64;
        }
    }
}

impl Pair {
    fn fits(&self, tx: &Tx) -> bool {
        tx.has_room_for(&self.key, self.source.as_ref().map_or(0, |value| value.len()))
    }

    fn write(&self, tx: &Tx) -> Result<()> {
        match &self.source {
            Some(value) => tx.put(self.key.clone(), value.clone()),
            None => tx.delete(self.key.clone()),
        }
    }

    fn difference(&self) -> Option<Difference> {
        let kind = match (&self.source, &self.copy) {
            (source, copy) if source == copy => return None,
            (_, None) => DifferenceKind::MissingInCopy,
            (None, _) => DifferenceKind::MissingInSource,
            _ => DifferenceKind::OtherValue,
        };
        Some(Difference { table: self.key.first().copied().unwrap_or(0), key: self.key.to_vec(), kind })
    }
}

impl Differences {
    fn note(&mut self, found: Difference) {
        self.count += 1;
        if self.named.len() < DIFFERENCES_NAMED_MAX {
            self.named.push(found);
        }
    }
}

impl fmt::Display for Differences {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.count {
            1 => f.write_str("1 row differs"),
            count => write!(f, "{count} rows differ"),
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            DifferenceKind::MissingInCopy => "is missing in the copy",
            DifferenceKind::MissingInSource => "is in the copy and not in the source",
            DifferenceKind::OtherValue => "has another value in the copy",
        };
        let shown = &self.key[..self.key.len().min(KEY_BYTES_SHOWN_MAX)];
        let cut = if shown.len() < self.key.len() { "…" } else { "" };
        write!(f, "a row of table {} {what}: its key is {}{cut}", self.table, shown.escape_ascii())
    }
}

/// The mark as it stands, which nobody else may have moved.
async fn own_mark(tx: &Tx, mark: &Mark) -> Result<Mark> {
    let found = MARK.get(tx, MARK_KEY).await?.filter(|found| found.run == mark.run);
    found.ok_or_else(|| Error::lasting("another process copies to it"))
}

async fn is_empty(tx: &Tx) -> Result<bool> {
    Ok(tx.scan(&everything_from(&[]), 1, Order::Forward).await?.items.is_empty())
}

async fn page(store: &Store, range: &KeyRange) -> Result<Page> {
    let read = |tx: Tx| async move { tx.scan(range, ROWS_PER_PAGE, Order::Forward).await };
    store.transact_idempotent(read).await
}

fn everything_from(key: &[u8]) -> KeyRange {
    KeyRange { from: key.to_vec(), to: vec![0xFF; KEY_BYTES_MAX + 1] }
}
