//! An upgrade that is killed: a store of bare values, a step that counts them, and a checker.

use crate::embedded::Options;
use crate::error::Result;
use crate::store::Store;
use crate::table::Table;
use crate::txn::{Bytes, Order, Tx};
use crate::upgrade::{FORMAT, Step};

const ROWS: Table<(u32,), String> = Table::new(0x10, "rows");
const COUNTED: Table<(u8,), u64> = Table::new(0x11, "counted");
const COUNT: Step =
    Step { name: "count", format: FORMAT, table: 0x10, run: |tx, rows| Box::pin(count(tx, rows)) };

async fn count(tx: &Tx, rows: &[(Bytes, Bytes)]) -> Result<()> {
    let before = COUNTED.get(tx, (0,)).await?.unwrap_or(0);
    COUNTED.put(tx, (0,), &(before + rows.len() as u64))
}

fn value(n: u32) -> String {
    "x".repeat(n as usize % 200)
}

/// Options that know the step.
pub fn options() -> Options {
    Options {
        upgrades: Some(&[COUNT]),
        write_buffer_bytes: 1 << 20,
        disk_reserve_bytes: 0,
        ..Options::default()
    }
}

/// Fills a store as format 1 did.
pub async fn fill_bare(store: &Store, rows: u32) {
    for first in (0..rows).step_by(1000) {
        let tx = store.begin().await.unwrap();
        for n in first..rows.min(first + 1000) {
            tx.put(ROWS.key((n,)), postcard::to_stdvec(&value(n)).unwrap()).unwrap();
        }
        store.commit(&tx).await.unwrap();
    }
}

/// All rows read, each with one version before it, and each was counted once.
pub async fn verify_upgraded(store: &Store, rows: u32) {
    let tx = store.begin().await.unwrap();
    let mut found = 0;
    let mut rest = Some(ROWS.range(()));
    while let Some(range) = rest {
        let page = ROWS.scan(&tx, &range, 1000, Order::Forward).await.unwrap();
        for ((n,), row) in page.rows {
            assert!(n == found && row == value(n), "row {n}: {row}");
            found += 1;
        }
        rest = page.rest;
    }
    assert_eq!((found, COUNTED.get(&tx, (0,)).await.unwrap()), (rows, Some(u64::from(rows))));
}
