//! Sweeping up the rows of what was deleted, a few at a time.

use store::{Durability, Order, Result, Tx};

use crate::UrlFrontier;
use crate::tables::{LEASES, PLACES, QUEUES, READY, REMOVED, URLS, WHOLE_CRAWL};

/// Rows of one transaction.
const ROWS: usize = 2000;

impl UrlFrontier {
    /// Sweeps up some of what was deleted; whether there is more.
    pub async fn sweep(&self) -> Result<bool> {
        if REMOVED.first(&self.look().await?, &REMOVED.range(())).await?.is_none() {
            return Ok(false);
        }
        let _turn = self.turn.lock().await;
        self.store
            .transact_idempotent(|tx| async move {
                // What was deleted is gone: that its rows are need not be on disk at once.
                tx.set_durability(Durability::Relaxed);
                let Some(((crawl, queue), ())) = REMOVED.first(&tx, &REMOVED.range(())).await? else {
                    return Ok(false);
                };
                let left = match queue {
                    WHOLE_CRAWL => sweep_crawl(&tx, crawl).await?,
                    queue => sweep_queue(&tx, crawl, queue).await?,
                };
                if !left {
                    REMOVED.delete(&tx, (crawl, queue))?;
                }
                Ok(true)
            })
            .await
    }
}

/// Deletes up to so many rows; how many there were.
async fn delete_rows(tx: &Tx, range: &store::table::KeyRange, most: usize) -> Result<usize> {
    let page = tx.scan(range, most, Order::Forward).await?;
    let rows = page.items.len();
    page.items.into_iter().try_for_each(|(key, _)| tx.delete(key))?;
    Ok(rows)
}

async fn sweep_queue(tx: &Tx, crawl: u64, queue: u64) -> Result<bool> {
    let mut room = ROWS;
    for range in [PLACES.range((queue,)), LEASES.range((crawl, queue)), URLS.range((queue,))] {
        room -= delete_rows(tx, &range, room).await?;
        if room == 0 {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Its queues become queues that were deleted.
async fn sweep_crawl(tx: &Tx, crawl: u64) -> Result<bool> {
    let page = QUEUES.scan(tx, &QUEUES.range((crawl,)), ROWS, Order::Forward).await?;
    for ((_, key), row) in &page.rows {
        QUEUES.delete(tx, (crawl, key))?;
        if let Some(ready) = row.ready {
            READY.delete(tx, (crawl, ready, key))?;
        }
        row.unblock(tx, crawl, key)?;
        if row.id != 0 {
            for stripe in 0..crate::tables::STRIPES {
                crate::tables::COUNTS.delete(tx, (row.id, stripe))?;
            }
            REMOVED.put(tx, (crawl, row.id), &())?;
        }
    }
    Ok(page.rest.is_some())
}
