//! A transaction: a snapshot to read from and a buffer of writes on top of it.
//!
//! Its life: `begin` takes the newest snapshot; reads see that snapshot and the transaction's own
//! writes, whatever others commit; writes stay in the buffer; commit hands the buffer to the
//! engine, which takes all of it, durable, or refuses it because a key that was written (or locked)
//! here has been written by somebody since the snapshot. Keys that were only read are not checked:
//! that is snapshot isolation, write skew included, and just what TiKV gives.
//!
//! [`Tx`] is a handle: cheap to clone and to move into a future. Once committed, all of its handles
//! are spent.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::pin::Pin;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::ahead::{self, Ahead};
use crate::engine::{Engine, Snapshot};
use crate::error::{Error, Result};
use crate::limits::{KEY_BYTES_MAX, SCAN_BYTES_MAX, SCAN_ITEMS_MAX, VALUE_BYTES_MAX};
use crate::recent::key_hash;
use crate::table::KeyRange;

/// Rows of one round trip.
const READ_AHEAD_ROWS: usize = 1024;
/// Scans under way at the same time.
const SCANS_AT_ONCE: usize = 64;

/// Bytes that are cheap to clone.
pub type Bytes = fjall::Slice;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Forward,
    Backward,
}

/// When a commit is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// Once it is on disk.
    Synced,
    /// Once the operating system has it: a killed process loses nothing, a power cut may lose the
    /// last moments (a tenth of a second), never a part of a transaction and never an earlier
    /// one without the later ones. For bulk loads, which end with a synced commit or
    /// [`crate::Store::sync`], and for work that is simply done again.
    Relaxed,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Write {
    Put(Bytes),
    Delete,
    /// Nothing is written, but others' writes conflict.
    Lock,
}

impl Write {
    /// Of its value.
    fn bytes(&self) -> usize {
        match self {
            Write::Put(value) => value.len(),
            Write::Delete | Write::Lock => 0,
        }
    }
}

/// What a transaction hands to the engine.
#[derive(Debug)]
pub(crate) struct WriteSet {
    pub(crate) writes: BTreeMap<Bytes, Write>,
    /// Of the keys, locked ones included, in their order.
    pub(crate) hashes: Vec<u64>,
    pub(crate) durability: Durability,
}

/// A page of a scan and, unless the range is exhausted, what to scan next.
#[derive(Debug)]
pub struct Page {
    pub items: Vec<(Bytes, Bytes)>,
    pub rest: Option<KeyRange>,
}

#[derive(Clone)]
pub struct Tx {
    inner: Arc<Inner>,
}

struct Inner {
    engine: Engine,
    snapshot: Snapshot,
    buffer: Mutex<Buffer>,
    ahead: Mutex<Ahead>,
}

struct Buffer {
    writes: BTreeMap<Bytes, Write>,
    durability: Durability,
    bytes: usize,
    spent: bool,
}

impl std::fmt::Debug for Tx {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tx").field("writes", &self.inner.buffer.lock().writes.len()).finish()
    }
}

impl Tx {
    pub(crate) fn begin(engine: Engine, snapshot: Snapshot) -> Tx {
        let buffer =
            Buffer { writes: BTreeMap::new(), durability: Durability::Synced, bytes: 0, spent: false };
        let inner = Inner { engine, snapshot, buffer: Mutex::new(buffer), ahead: Mutex::default() };
        Tx { inner: Arc::new(inner) }
    }

    /// Whether this commit is to wait for the disk; [`Durability::Synced`] unless said otherwise.
    pub fn set_durability(&self, durability: Durability) {
        self.inner.buffer.lock().durability = durability;
    }

    pub async fn get(&self, key: &[u8]) -> Result<Option<Bytes>> {
        check_key(key)?;
        match self.buffered(key)? {
            Some(own) => Ok(own),
            None => match self.read_before(key) {
                Some(known) => Ok(known),
                None => self.inner.engine.get(&self.inner.snapshot, key).await,
            },
        }
    }

    #[allow(clippy::option_option, reason = "not read, read and not there, read and there")]
    fn read_before(&self, key: &[u8]) -> Option<Option<Bytes>> {
        self.inner.ahead.lock().row(key)
    }

    /// Whether it is worth saying first what will be read.
    pub fn reads_ahead(&self) -> bool {
        self.inner.engine.reads_ahead()
    }

    /// Reads rows in one go that will be asked for one by one; nothing where that costs no more.
    pub async fn read_ahead(&self, keys: Vec<Vec<u8>>) -> Result<()> {
        if !self.inner.engine.reads_ahead() {
            return Ok(());
        }
        let mut wanted: Vec<Bytes> = keys.into_iter().map(Bytes::from).collect();
        wanted.sort_unstable();
        wanted.dedup();
        wanted.retain(|key| key.len() <= KEY_BYTES_MAX && self.read_before(key).is_none());
        for some in wanted.chunks(READ_AHEAD_ROWS) {
            let keys: Vec<&[u8]> = some.iter().map(|key| &**key).collect();
            let found = self.inner.engine.multi_get(&self.inner.snapshot, &keys).await?;
            let mut ahead = self.inner.ahead.lock();
            some.iter().zip(found).for_each(|(key, value)| ahead.put_row(key.clone(), value));
        }
        Ok(())
    }

    /// Reads the first rows of ranges at the same time that will be scanned one by one.
    pub async fn scan_ahead(&self, ranges: Vec<(KeyRange, usize)>) -> Result<()> {
        if !self.inner.engine.reads_ahead() {
            return Ok(());
        }
        for some in ranges.chunks(SCANS_AT_ONCE) {
            let scans = some.iter().map(|(range, limit)| -> Pin<Box<dyn Future<Output = _> + Send + '_>> {
                Box::pin(self.inner.engine.scan(&self.inner.snapshot, range, *limit, Order::Forward))
            });
            let found = ahead::all(scans.collect()).await;
            for ((range, _), found) in some.iter().zip(found) {
                self.inner.ahead.lock().put_page(range.clone(), found?);
            }
        }
        Ok(())
    }

    /// Values in the order of the keys; those not written here are read in one batch.
    pub async fn multi_get<K: AsRef<[u8]>>(&self, keys: &[K]) -> Result<Vec<Option<Bytes>>> {
        let mut values = vec![None; keys.len()];
        let mut missing = Vec::with_capacity(keys.len());
        for (at, key) in keys.iter().enumerate() {
            check_key(key.as_ref())?;
            match self.buffered(key.as_ref())? {
                Some(own) => values[at] = own,
                None => match self.read_before(key.as_ref()) {
                    Some(known) => values[at] = known,
                    None => missing.push(at),
                },
            }
        }
        if missing.is_empty() {
            return Ok(values);
        }
        let wanted: Vec<&[u8]> = missing.iter().map(|&at| keys[at].as_ref()).collect();
        let found = self.inner.engine.multi_get(&self.inner.snapshot, &wanted).await?;
        for (at, value) in missing.into_iter().zip(found) {
            values[at] = value;
        }
        Ok(values)
    }

    /// What the store's own clock showed when the transaction began, in milliseconds since 1970; none
    /// where it has none, and the clock of the process is as good.
    pub fn time(&self) -> Option<i64> {
        self.inner.snapshot.time()
    }

    /// How many bytes of keys and values a transaction can hold.
    pub fn capacity(&self) -> usize {
        self.inner.engine.txn_bytes_max()
    }

    /// How many bytes of keys and values can still be written; an engine may count more for a key
    /// than its length.
    pub fn room(&self) -> usize {
        self.inner.engine.txn_bytes_max().saturating_sub(self.inner.buffer.lock().bytes)
    }

    /// Whether a row can still be written, by what its engine counts.
    pub(crate) fn has_room_for(&self, key: &[u8], value_bytes: usize) -> bool {
        key.len() + self.inner.engine.key_bytes() + value_bytes <= self.room()
    }

    /// Reads, and makes the commit conflict if anybody else writes or locks the key meanwhile.
    pub async fn lock(&self, key: &[u8]) -> Result<Option<Bytes>> {
        let value = self.get(key).await?;
        self.buffer_write(key.into(), None)?;
        Ok(value)
    }

    /// Like [`Tx::lock`] without reading: for keys that stand for a fact and hold nothing.
    pub fn lock_unread(&self, key: impl Into<Bytes>) -> Result<()> {
        self.buffer_write(key.into(), None)
    }

    pub fn put(&self, key: impl Into<Bytes>, value: impl Into<Bytes>) -> Result<()> {
        self.buffer_write(key.into(), Some(Write::Put(value.into())))
    }

    pub fn delete(&self, key: impl Into<Bytes>) -> Result<()> {
        self.buffer_write(key.into(), Some(Write::Delete))
    }

    /// Up to `limit` items of the range in the given order, own writes included. A page may be
    /// shorter than asked for (it is bounded in bytes too): `rest` tells whether there is more.
    pub async fn scan(&self, range: &KeyRange, limit: usize, order: Order) -> Result<Page> {
        let limit = limit.min(SCAN_ITEMS_MAX);
        let mut items = Vec::new();
        let mut bytes = 0;
        let mut rest = range.clone();
        while items.len() < limit && bytes < SCAN_BYTES_MAX {
            if rest.is_empty() {
                return Ok(Page { items, rest: None });
            }
            let wanted = limit - items.len();
            let known = match order {
                Order::Forward => self.inner.ahead.lock().page(&rest, wanted),
                Order::Backward => None,
            };
            let stored = match known {
                Some(known) => known,
                None => self.inner.engine.scan(&self.inner.snapshot, &rest, wanted, order).await?,
            };
            // The engine answered for everything up to its last item, or for the whole range if it ran out.
            let answered = match stored.items.last() {
                Some((last, _)) if !stored.complete => {
                    let beyond = rest.beyond(last, order);
                    let answered = match order {
                        Order::Forward => KeyRange { from: rest.from, to: beyond.from.clone() },
                        Order::Backward => KeyRange { from: beyond.to.clone(), to: rest.to },
                    };
                    rest = beyond;
                    answered
                }
                _ => std::mem::replace(&mut rest, KeyRange { from: Vec::new(), to: Vec::new() }),
            };
            for (key, value) in self.overlaid(stored.items, &answered, order)? {
                bytes += key.len() + value.len();
                items.push((key, value));
                if items.len() == limit || bytes >= SCAN_BYTES_MAX {
                    break;
                }
            }
        }
        let rest = items.last().map_or_else(|| range.clone(), |(last, _)| range.beyond(last, order));
        Ok(Page { items, rest: (!rest.is_empty()).then_some(rest) })
    }

    pub(crate) fn snapshot(&self) -> &Snapshot {
        &self.inner.snapshot
    }

    /// Ends the transaction and takes its writes.
    pub(crate) fn finish(&self) -> Result<WriteSet> {
        let mut buffer = self.inner.buffer.lock();
        buffer.check_open()?;
        buffer.spent = true;
        let writes = std::mem::take(&mut buffer.writes);
        let hashes = writes.keys().map(|key| key_hash(key)).collect();
        Ok(WriteSet { writes, hashes, durability: buffer.durability })
    }

    /// `None`: not written here. `Some(None)`: deleted here.
    #[allow(clippy::option_option, reason = "three states: not ours, ours and gone, ours and there")]
    fn buffered(&self, key: &[u8]) -> Result<Option<Option<Bytes>>> {
        let buffer = self.inner.buffer.lock();
        buffer.check_open()?;
        Ok(match buffer.writes.get(key) {
            Some(Write::Put(value)) => Some(Some(value.clone())),
            Some(Write::Delete) => Some(None),
            Some(Write::Lock) | None => None,
        })
    }

    /// `None` locks the key unless it is written already.
    fn buffer_write(&self, key: Bytes, write: Option<Write>) -> Result<()> {
        check_key(&key)?;
        let mut buffer = self.inner.buffer.lock();
        buffer.check_open()?;
        let size = write.as_ref().map_or(0, Write::bytes);
        check_size("a value", size, VALUE_BYTES_MAX)?;
        let Buffer { writes, bytes, .. } = &mut *buffer;
        let key_bytes = key.len() + self.inner.engine.key_bytes();
        let fits = |total| check_size("a transaction", total, self.inner.engine.txn_bytes_max());
        match (writes.entry(key), write) {
            (Entry::Vacant(place), write) => {
                let total = *bytes + key_bytes + size;
                fits(total)?;
                *bytes = total;
                place.insert(write.unwrap_or(Write::Lock));
            }
            (Entry::Occupied(_), None) => {}
            (Entry::Occupied(mut place), Some(write)) => {
                // What is written over counts no more.
                let total = *bytes - place.get().bytes() + size;
                fits(total)?;
                *bytes = total;
                place.insert(write);
            }
        }
        Ok(())
    }

    /// Merges stored items (in `order`) with the own writes of that range.
    fn overlaid(
        &self,
        stored: Vec<(Bytes, Bytes)>,
        range: &KeyRange,
        order: Order,
    ) -> Result<Vec<(Bytes, Bytes)>> {
        let buffer = self.inner.buffer.lock();
        buffer.check_open()?;
        if range.is_empty() {
            return Ok(stored);
        }
        let mut own =
            buffer.writes.range::<[u8], _>(range.bounds()).filter(|(_, w)| **w != Write::Lock).peekable();
        if own.peek().is_none() {
            return Ok(stored);
        }
        let mut merged: BTreeMap<Bytes, Bytes> = stored.into_iter().collect();
        for (key, write) in own {
            match write {
                Write::Put(value) => merged.insert(key.clone(), value.clone()),
                Write::Delete | Write::Lock => merged.remove(key),
            };
        }
        Ok(match order {
            Order::Forward => merged.into_iter().collect(),
            Order::Backward => merged.into_iter().rev().collect(),
        })
    }
}

impl Buffer {
    fn check_open(&self) -> Result<()> {
        if self.spent {
            return Err(Error::lasting("this transaction has ended already"));
        }
        Ok(())
    }
}

fn check_key(key: &[u8]) -> Result<()> {
    check_size("a key", key.len(), KEY_BYTES_MAX)
}

fn check_size(what: &'static str, size: usize, max: usize) -> Result<()> {
    if size > max { Err(Error::TooLarge { what, size, max }) } else { Ok(()) }
}
