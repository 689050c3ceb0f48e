//! Typed tables: the only way to make a key.
//!
//! A table is a constant with a number of its own; its rows are the keys that start with that byte. Values are
//! serde types in postcard's compact form. Whoever owns tables lists them in one `schema` file.

use std::marker::PhantomData;
use std::ops::Bound;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{Error, Result};
use crate::key::{Encode, Key, Prefix};
use crate::txn::{Order, Tx};

#[derive(Debug)]
pub struct Table<K, V> {
    id: u8,
    name: &'static str,
    types: PhantomData<fn() -> (K, V)>,
}

/// Encoded keys from `from` (inclusive) up to `to` (exclusive).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRange {
    pub from: Vec<u8>,
    pub to: Vec<u8>,
}

impl KeyRange {
    /// All keys that start with `prefix`.
    pub fn prefix(prefix: Vec<u8>) -> KeyRange {
        let mut to = prefix.clone();
        while let Some(last) = to.last_mut() {
            if *last < 0xFF {
                *last += 1;
                return KeyRange { from: prefix, to };
            }
            to.pop();
        }
        // Only 0xFF bytes: no key is longer than the limit, so this is above all of them.
        KeyRange { from: prefix, to: vec![0xFF; crate::limits::KEY_BYTES_MAX + 1] }
    }

    pub fn is_empty(&self) -> bool {
        self.from >= self.to
    }

    pub(crate) fn bounds(&self) -> (Bound<&[u8]>, Bound<&[u8]>) {
        (Bound::Included(&self.from), Bound::Excluded(&self.to))
    }

    pub fn contains(&self, key: &[u8]) -> bool {
        self.from.as_slice() <= key && key < self.to.as_slice()
    }

    /// What is left once a scan in this order has come to `key`.
    pub(crate) fn beyond(&self, key: &[u8], order: Order) -> KeyRange {
        match order {
            Order::Forward => {
                let mut from = key.to_vec();
                from.push(0);
                KeyRange { from, to: self.to.clone() }
            }
            Order::Backward => KeyRange { from: self.from.clone(), to: key.to_vec() },
        }
    }
}

/// Some rows of a scan, and the range that is still to be scanned.
#[derive(Debug)]
pub struct Rows<K, V> {
    pub rows: Vec<(K, V)>,
    pub rest: Option<KeyRange>,
}

#[allow(clippy::needless_pass_by_value, reason = "parts of keys are small and made for the call")]
impl<K: Key + 'static, V: Serialize + DeserializeOwned> Table<K, V> {
    pub const fn new(id: u8, name: &'static str) -> Table<K, V> {
        Table { id, name, types: PhantomData }
    }

    pub const fn id(&self) -> u8 {
        self.id
    }

    pub const fn name(&self) -> &'static str {
        self.name
    }

    pub fn key(&self, key: K::Ref<'_>) -> Vec<u8> {
        self.encoded(&key)
    }

    fn encoded(&self, parts: &impl Encode) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(96);
        bytes.push(self.id);
        parts.encode(&mut bytes);
        bytes
    }

    /// The rows whose key starts with these parts; `()` is the whole table.
    pub fn range(&self, prefix: impl Prefix<K>) -> KeyRange {
        KeyRange::prefix(self.encoded(&prefix))
    }

    /// The rows of `prefix` from `first` on.
    pub fn range_from(&self, prefix: impl Prefix<K>, first: impl Prefix<K>) -> KeyRange {
        KeyRange { from: self.encoded(&first), ..self.range(prefix) }
    }

    /// The rows of `prefix` before `end`.
    pub fn range_before(&self, prefix: impl Prefix<K>, end: impl Prefix<K>) -> KeyRange {
        KeyRange { to: self.encoded(&end), ..self.range(prefix) }
    }

    pub async fn get(&self, tx: &Tx, key: K::Ref<'_>) -> Result<Option<V>> {
        let found = tx.get(&self.key(key)).await?;
        found.map(|bytes| self.value_from(&bytes)).transpose()
    }

    /// Values in the order of the keys, read in one round trip.
    pub async fn multi_get<'a>(
        &self,
        tx: &Tx,
        keys: impl IntoIterator<Item = K::Ref<'a>>,
    ) -> Result<Vec<Option<V>>> {
        let keys: Vec<Vec<u8>> = keys.into_iter().map(|key| self.key(key)).collect();
        let found = tx.multi_get(&keys).await?;
        found.into_iter().map(|value| value.map(|bytes| self.value_from(&bytes)).transpose()).collect()
    }

    /// Reads, and makes the commit fail if anybody else writes the row meanwhile.
    pub async fn lock(&self, tx: &Tx, key: K::Ref<'_>) -> Result<Option<V>> {
        let found = tx.lock(&self.key(key)).await?;
        found.map(|bytes| self.value_from(&bytes)).transpose()
    }

    /// Locks the row without reading it.
    pub fn lock_unread(&self, tx: &Tx, key: K::Ref<'_>) -> Result<()> {
        tx.lock_unread(self.key(key))
    }

    pub fn put(&self, tx: &Tx, key: K::Ref<'_>, value: &V) -> Result<()> {
        let bytes = postcard::to_stdvec(value)
            .map_err(|e| Error::Corrupt(format!("a value of table {} cannot be written: {e}", self.name)))?;
        tx.put(self.key(key), bytes)
    }

    pub fn delete(&self, tx: &Tx, key: K::Ref<'_>) -> Result<()> {
        tx.delete(self.key(key))
    }

    pub async fn scan(&self, tx: &Tx, range: &KeyRange, limit: usize, order: Order) -> Result<Rows<K, V>> {
        let page = tx.scan(range, limit, order).await?;
        let rows = page
            .items
            .iter()
            .map(|(k, v)| Ok((self.key_from(k)?, self.value_from(v)?)))
            .collect::<Result<_>>()?;
        Ok(Rows { rows, rest: page.rest })
    }

    /// The first row of the range in key order.
    pub async fn first(&self, tx: &Tx, range: &KeyRange) -> Result<Option<(K, V)>> {
        Ok(self.scan(tx, range, 1, Order::Forward).await?.rows.pop())
    }

    pub fn key_from(&self, bytes: &[u8]) -> Result<K> {
        let (id, parts) =
            bytes.split_first().ok_or_else(|| Error::Corrupt(format!("empty key in table {}", self.name)))?;
        if *id != self.id {
            return Err(Error::Corrupt(format!("key of table {id} read as table {}", self.name)));
        }
        K::decode_all(parts).map_err(|e| Error::Corrupt(format!("table {}: {e}", self.name)))
    }

    pub fn value_from(&self, bytes: &[u8]) -> Result<V> {
        postcard::from_bytes(bytes)
            .map_err(|e| Error::Corrupt(format!("a value of table {} does not read: {e}", self.name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const T: Table<(String, u64), u32> = Table::new(7, "t");

    #[test]
    fn ranges_hold_just_their_rows() {
        let range = T.range(("b",));
        assert!(range.contains(&T.key(("b", 0))) && range.contains(&T.key(("b", u64::MAX))));
        assert!(!range.contains(&T.key(("a", u64::MAX))) && !range.contains(&T.key(("b\0", 0))));
        let from = T.range_from(("b",), ("b", 5));
        assert!(from.contains(&T.key(("b", 5))) && !from.contains(&T.key(("b", 4))));
        let before = T.range_before(("b",), ("b", 5));
        assert!(before.contains(&T.key(("b", 4))) && !before.contains(&T.key(("b", 5))));
    }

    #[test]
    fn a_prefix_of_the_highest_bytes_still_has_an_end() {
        let range = KeyRange::prefix(vec![0xFF, 0xFF]);
        assert!(range.contains(&[0xFF, 0xFF, 0xFF]) && !range.contains(&[0xFF]));
    }

    #[test]
    fn foreign_and_malformed_rows_are_corrupt() {
        for bytes in [&b""[..], b"\x08a\0\x01", b"\x07a", b"\x07a\0\x01short"] {
            assert!(matches!(T.key_from(bytes), Err(Error::Corrupt(_))), "{bytes:?}");
        }
        assert!(matches!(T.value_from(b""), Err(Error::Corrupt(_))));
    }
}
