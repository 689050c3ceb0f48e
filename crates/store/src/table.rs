//! Typed tables: the only way to make a key.
//!
//! A table is a constant with a number of its own; its rows are the keys that start with that byte.
//! Values are serde types in postcard's compact form. Whoever owns tables lists them in one
//! `schema` file. Number 0 is the store's own (see [`crate::upgrade`]).
//!
//! # Versions
//!
//! Postcard writes what a type is and not what it was: a row does not read any more once its type
//! has one field more. So a value begins with a byte, its **version**: the [`FORMAT`] in which its
//! table got the encoding it has. A table writes its newest version and reads all of them, the
//! older ones by the functions it names; a row becomes new when it is next written, and nobody need
//! walk over the others. (A value without content has no byte: it is one of version 1.) Bytes that
//! are left over after reading are an error.
//!
//! To **change a row type** (add a field, alter one, anything that changes its bytes):
//!
//! 1. Keep the type as it was, with all it is made of, in the frozen module of the last format
//!    (`format2` of the crate that owns the table), unless it is there already, and say there what
//!    an old row means now: `impl From<format1::Host> for Host`. The conversions name every field,
//!    so the compiler leads there.
//! 2. Give the table the present format: `Table::new(0x12, "hosts").version(2, &[(1,
//!    format1::host)])`, unless it has it already. If the present format was ever given to anybody
//!    (a release, a data directory that is kept), count [`FORMAT`] up first, and keep a small store
//!    of the old one (`crates/skurd/tests/data/stores`).
//! 3. The test of golden rows of that crate (`tests/golden_rows.rs`) fails until its file has the
//!    new bytes: read there.
//!
//! What is no matter of one row alone (other keys, a counter that must first be counted) is a
//! [`crate::upgrade::Step`].

use std::marker::PhantomData;
use std::ops::Bound;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{Error, Result};
use crate::key::{Encode, Key, Prefix};
use crate::txn::{Bytes, Order, Tx};
use crate::upgrade::FORMAT;

#[derive(Debug)]
pub struct Table<K, V: 'static> {
    id: u8,
    name: &'static str,
    version: u8,
    older: &'static [(u8, Read<V>)],
    types: PhantomData<fn() -> (K, V)>,
}

/// How a value is read from all of its bytes; none: they are no such value.
pub type Read<V> = fn(&[u8]) -> Option<V>;

/// The values of a table that has bytes of its own making: see [`Table::put_raw`].
#[derive(Clone, Copy, Debug)]
pub enum Raw {}

/// Nearly all keys are shorter: those of two URLs, too.
const KEY_BYTES_USUAL: usize = 192;

/// The version of values that were written before values had one.
const FIRST: u8 = 1;

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

impl<K, V> Table<K, V> {
    /// A table whose values are as they always were.
    pub const fn new(id: u8, name: &'static str) -> Table<K, V> {
        Table { id, name, version: FIRST, older: &[], types: PhantomData }
    }

    /// The same table with the values it has since format `version`, and how each older version is
    /// read.
    #[must_use]
    pub const fn version(self, version: u8, older: &'static [(u8, Read<V>)]) -> Table<K, V> {
        assert!(version <= FORMAT, "a newer version wants a newer FORMAT");
        Table { version, older, ..self }
    }

    /// The version that is written.
    pub const fn newest(&self) -> u8 {
        self.version
    }

    fn with_version(&self, content_bytes: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(1 + content_bytes);
        bytes.push(self.version);
        bytes
    }

    /// A value as it is stored, taken apart.
    fn version_of<'a>(&self, bytes: &'a [u8]) -> Result<(u8, &'a [u8])> {
        match bytes.split_first() {
            None => Ok((FIRST, bytes)),
            Some((&version, content)) if version <= FORMAT => Ok((version, content)),
            Some((version, _)) => Err(Error::Corrupt(format!(
                "a value of table {} has version {version}, and this program knows versions up to {FORMAT}",
                self.name
            ))),
        }
    }

    fn unreadable(&self) -> Error {
        Error::Corrupt(format!("a value of table {} does not read", self.name))
    }

    /// Number, name and version, for lists of all tables.
    pub const fn facts(&self) -> (u8, &'static str, u8) {
        (self.id, self.name, self.version)
    }

    pub const fn id(&self) -> u8 {
        self.id
    }

    pub const fn name(&self) -> &'static str {
        self.name
    }
}

#[allow(clippy::needless_pass_by_value, reason = "parts of keys are small and made for the call")]
impl<K: Key + 'static, V> Table<K, V> {
    pub fn key(&self, key: K::Ref<'_>) -> Vec<u8> {
        self.encoded(&key)
    }

    fn encoded(&self, parts: &impl Encode) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(KEY_BYTES_USUAL);
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

    /// Locks the row without reading it.
    pub fn lock_unread(&self, tx: &Tx, key: K::Ref<'_>) -> Result<()> {
        tx.lock_unread(self.key(key))
    }

    pub fn delete(&self, tx: &Tx, key: K::Ref<'_>) -> Result<()> {
        tx.delete(self.key(key))
    }

    pub fn key_from(&self, bytes: &[u8]) -> Result<K> {
        let (id, parts) =
            bytes.split_first().ok_or_else(|| Error::Corrupt(format!("empty key in table {}", self.name)))?;
        if *id != self.id {
            return Err(Error::Corrupt(format!("key of table {id} read as table {}", self.name)));
        }
        K::decode_all(parts).map_err(|e| Error::Corrupt(format!("table {}: {e}", self.name)))
    }
}

#[allow(clippy::needless_pass_by_value, reason = "parts of keys are small and made for the call")]
impl<K: Key + 'static, V: Serialize + DeserializeOwned> Table<K, V> {
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

    pub fn put(&self, tx: &Tx, key: K::Ref<'_>, value: &V) -> Result<()> {
        tx.put(self.key(key), self.stored(value)?)
    }

    /// A value as it is stored.
    pub fn stored(&self, value: &V) -> Result<Vec<u8>> {
        let bytes = postcard::to_extend(value, self.with_version(64))
            .map_err(|e| Error::Corrupt(format!("a value of table {} cannot be written: {e}", self.name)))?;
        // Most rows of some tables are their keys.
        Ok(if bytes == [FIRST] { Vec::new() } else { bytes })
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

    /// Reads a value of any version there was.
    pub fn value_from(&self, bytes: &[u8]) -> Result<V> {
        let (version, content) = self.version_of(bytes)?;
        let value = if version == self.version {
            read(content)
        } else {
            self.older.iter().find(|(older, _)| *older == version).and_then(|(_, read)| read(content))
        };
        value.ok_or_else(|| self.unreadable())
    }
}

/// Values made by hand, for tables whose rows hold many small things. They have a version as all
/// have; older ones must be gone before there is a second one.
#[allow(clippy::needless_pass_by_value, reason = "parts of keys are small and made for the call")]
impl<K: Key + 'static> Table<K, Raw> {
    pub fn put_raw(&self, tx: &Tx, key: K::Ref<'_>, content: &[u8]) -> Result<()> {
        tx.put(self.key(key), self.stored_raw(content))
    }

    pub fn stored_raw(&self, content: &[u8]) -> Vec<u8> {
        if content.is_empty() && self.version == FIRST {
            return Vec::new();
        }
        let mut bytes = self.with_version(content.len());
        bytes.extend_from_slice(content);
        bytes
    }

    /// The beginning of a value whose content is then appended, and is not empty.
    pub fn begin_raw(&self, content_bytes: usize) -> Vec<u8> {
        self.with_version(content_bytes)
    }

    /// The content of a stored value; what is not stored is empty.
    pub fn raw<'a>(&self, bytes: Option<&'a Bytes>) -> Result<&'a [u8]> {
        let Some(bytes) = bytes else { return Ok(&[]) };
        let (version, content) = self.version_of(bytes)?;
        if version == self.version { Ok(content) } else { Err(self.unreadable()) }
    }
}

/// A value in postcard's form, to its last byte.
pub fn read<V: DeserializeOwned>(content: &[u8]) -> Option<V> {
    match postcard::take_from_bytes(content) {
        Ok((value, [])) => Some(value),
        _ => None,
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

    #[derive(Debug, PartialEq, Serialize, serde::Deserialize)]
    struct Pet {
        name: String,
        legs: u8,
    }

    const BEFORE: Table<(u32,), String> = Table::new(8, "pets");
    const NOW: Table<(u32,), Pet> =
        Table::new(8, "pets").version(2, &[(1, |row| read(row).map(|name| Pet { name, legs: 4 }))]);

    #[test]
    fn i9_rows_of_every_version_read_and_the_newest_is_written() {
        let old = BEFORE.stored(&"cat".to_owned()).unwrap();
        assert_eq!(old, [1, 3, b'c', b'a', b't']);
        assert_eq!(NOW.value_from(&old).unwrap(), Pet { name: "cat".into(), legs: 4 });
        let new = NOW.stored(&Pet { name: "hen".into(), legs: 2 }).unwrap();
        assert_eq!(new, [2, 3, b'h', b'e', b'n', 2]);
        assert_eq!(NOW.value_from(&new).unwrap(), Pet { name: "hen".into(), legs: 2 });
    }

    #[test]
    fn i9_versions_nobody_knows_and_bytes_left_over_are_corrupt() {
        let unknown = BEFORE.value_from(&[9, 3, b'c', b'a', b't']).expect_err("read").to_string();
        assert!(unknown.contains("version 9, and this program knows versions up to"), "{unknown}");
        for bytes in [&[1, 3, b'c', b'a', b't', 0][..], &[1, 3, b'c'], &[2, 3, b'c', b'a', b't'], &[0], &[]] {
            assert!(matches!(BEFORE.value_from(bytes), Err(Error::Corrupt(_))), "{bytes:?}");
        }
        const KEYS: Table<(u32,), ()> = Table::new(9, "keys");
        assert!(KEYS.stored(&()).unwrap().is_empty(), "most rows of some tables are their keys");
        KEYS.value_from(&[]).unwrap();
    }

    #[test]
    fn foreign_and_malformed_rows_are_corrupt() {
        for bytes in [&b""[..], b"\x08a\0\x01", b"\x07a", b"\x07a\0\x01short"] {
            assert!(matches!(T.key_from(bytes), Err(Error::Corrupt(_))), "{bytes:?}");
        }
        assert!(matches!(T.value_from(b""), Err(Error::Corrupt(_))));
    }
}
