use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::limits::{KEY_BYTES_MAX, SCAN_ITEMS_MAX, VALUE_BYTES_MAX};
use crate::store::Store;
use crate::table::KeyRange;
use crate::txn::Order;

/// What a store holds, row by row read (and so checked against the checksums of its blocks).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// By table number.
    pub tables: BTreeMap<u8, TableSize>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableSize {
    pub rows: u64,
    pub bytes: u64,
}

/// Reads everything in one snapshot; fails on the first row that does not read, is out of order or
/// over a limit.
pub(crate) async fn check(store: &Store) -> Result<CheckReport> {
    let tx = store.begin().await?;
    let mut report = CheckReport::default();
    let mut rest = Some(KeyRange { from: Vec::new(), to: vec![0xFF; KEY_BYTES_MAX + 1] });
    let mut last: Option<Vec<u8>> = None;
    while let Some(range) = rest {
        let page = tx.scan(&range, SCAN_ITEMS_MAX, Order::Forward).await?;
        for (key, value) in &page.items {
            let Some(table) = key.first() else {
                return Err(Error::Corrupt("a row has an empty key".into()));
            };
            if last.as_ref().is_some_and(|last| last.as_slice() >= &key[..]) {
                return Err(Error::Corrupt(format!("rows of table {table} are out of order")));
            }
            if key.len() > KEY_BYTES_MAX || value.len() > VALUE_BYTES_MAX {
                return Err(Error::Corrupt(format!("a row of table {table} is over the size limits")));
            }
            let size = report.tables.entry(*table).or_default();
            size.rows += 1;
            size.bytes += (key.len() + value.len()) as u64;
            last = Some(key.to_vec());
        }
        rest = page.rest;
    }
    Ok(report)
}
