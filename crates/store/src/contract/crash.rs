//! Kill -9 under load: a writer that says what was acknowledged, and a checker that believes
//! nothing.
//!
//! Several lanes commit transactions 1, 2, 3 … each. Transaction *i* of a lane writes a random but
//! reproducible number of rows, removes the rows of transaction *i − KEPT*, and moves the lane's
//! head to *i*. The writer prints `lane i` after the commit was acknowledged. Whenever it dies,
//! each lane's head must be the last acknowledged transaction or the one after it (committed, not
//! yet printed), and exactly the rows of the last KEPT transactions must be there, whole.

use std::io::Write;

use crate::error::Result;
use crate::store::Store;
use crate::table::Table;
use crate::txn::{Durability, Order};

pub const LANES: u32 = 6;
/// This lane commits relaxed: a killed process must not lose these either.
const RELAXED_LANE: u32 = 5;
const KEPT: u64 = 10;

const HEAD: Table<(u32,), u64> = Table::new(1, "head");
const FILL: Table<(u64,), Vec<u8>> = Table::new(3, "fill");
const ROW: Table<(u32, u64, u32), Vec<u8>> = Table::new(2, "row");

fn draw(lane: u32, i: u64) -> fastrand::Rng {
    fastrand::Rng::with_seed((u64::from(lane) << 32) ^ i)
}

/// The rows transaction `i` of a lane writes.
fn rows_of(lane: u32, i: u64) -> Vec<Vec<u8>> {
    let mut rng = draw(lane, i);
    let count = rng.usize(1..30);
    let mut row = || {
        let bytes = rng.usize(0..2000);
        std::iter::repeat_with(|| rng.u8(..)).take(bytes).collect()
    };
    (0..count).map(|_| row()).collect()
}

/// Writes until it is killed.
pub async fn write_forever(store: &Store) -> Result<()> {
    let lanes = (0..LANES).map(|lane| {
        let store = store.clone();
        tokio::spawn(async move {
            loop {
                let head = advance(&store, lane).await?;
                let mut out = std::io::stdout().lock();
                // The reader killing us may be gone a moment before we are.
                let _ = writeln!(out, "{lane} {head}").and_then(|()| out.flush());
            }
        })
    });
    let lanes: Vec<tokio::task::JoinHandle<Result<()>>> = lanes.collect();
    for lane in lanes {
        lane.await.unwrap()?;
    }
    Ok(())
}

async fn advance(store: &Store, lane: u32) -> Result<u64> {
    let advance = store.transact(|tx| async move {
        if lane == RELAXED_LANE {
            tx.set_durability(Durability::Relaxed);
        }
        let head = HEAD.get(&tx, (lane,)).await?.unwrap_or(0) + 1;
        HEAD.put(&tx, (lane,), &head)?;
        for (at, row) in (0u32..).zip(rows_of(lane, head)) {
            ROW.put(&tx, (lane, head, at), &row)?;
        }
        if let Some(old) = head.checked_sub(KEPT) {
            for (at, _) in (0u32..).zip(rows_of(lane, old)) {
                ROW.delete(&tx, (lane, old, at))?;
            }
        }
        Ok(head)
    });
    advance.await
}

/// Commits rows that stay until the store refuses one; returns how many were acknowledged, and the
/// refusal.
pub async fn fill(store: &Store) -> (u64, crate::Error) {
    let mut acked = filled(store).await;
    loop {
        let next = acked;
        let noise: Vec<u8> = std::iter::repeat_with(|| fastrand::u8(..)).take(20_000).collect();
        let noise = &noise;
        match store.transact(|tx| async move { FILL.put(&tx, (next,), noise) }).await {
            Ok(()) => acked += 1,
            Err(refused) => return (acked, refused),
        }
    }
}

/// How many rows [`fill`] left.
pub async fn filled(store: &Store) -> u64 {
    store.check().await.unwrap().tables.get(&FILL.id()).map_or(0, |table| table.rows)
}

/// Checks what is left against what was acknowledged (`acked[lane]`, 0 for nothing) and returns the
/// heads found.
pub async fn verify(store: &Store, acked: &[u64]) -> Vec<u64> {
    let tx = store.begin().await.unwrap();
    let mut heads = Vec::new();
    for (lane, &acked) in (0u32..).zip(acked) {
        let head = HEAD.get(&tx, (lane,)).await.unwrap().unwrap_or(0);
        assert!(head == acked || head == acked + 1, "lane {lane}: acknowledged {acked}, found {head}");
        let mut found = Vec::new();
        let mut rest = Some(ROW.range((lane,)));
        while let Some(range) = rest {
            let page = ROW.scan(&tx, &range, 1000, Order::Forward).await.unwrap();
            found.extend(page.rows);
            rest = page.rest;
        }
        let kept = head.saturating_sub(KEPT - 1).max(1)..=head;
        let expected: Vec<_> = kept
            .flat_map(|i| (0u32..).zip(rows_of(lane, i)).map(move |(at, row)| ((lane, i, at), row)))
            .collect();
        assert!(
            found == expected,
            "lane {lane}: the rows of the last transactions are not whole (head {head})"
        );
        heads.push(head);
    }
    heads
}
