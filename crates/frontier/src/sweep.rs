//! What nobody else comes by to clean up: leases that ran out (F6), blacklistings that ended (F21),
//! and, on request, the URLs of what was deleted.

use std::sync::atomic::Ordering;

use policy::Rule;
use policy::evaluate::{Verdict, evaluate};
use policy::schedule::politeness_delay;
use policy::time::Time;
use store::table::KeyRange;
use store::{Order as ScanOrder, Result};

use crate::Frontier;
use crate::hosts::Unit;
use crate::schema::{GROUPS, HOSTS, LEASES, URLS, UrlState};
use crate::transaction::{Transaction, stored_url};

/// Rows handled in one transaction.
const BATCH: usize = 100;

/// What a round of sweeping did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    pub leases: usize,
    pub blacklistings: usize,
}

impl Frontier {
    /// Takes back what is past its lease and brings back what is past its blacklisting. Cheap where
    /// there is nothing.
    #[crate::boxed]
    pub async fn sweep(&self) -> Result<Swept> {
        // No lease is given that ends before the moment it is given: what was swept once stays swept,
        // unless the clock went back (F40).
        let (swept_to, now) = (self.swept_to.load(Ordering::Relaxed), self.clock.now());
        let from = if swept_to > now.0 { i64::MIN } else { swept_to };
        let leases = self.take_back(from, now).await?;
        self.swept_to.store(now.0, Ordering::Relaxed);
        Ok(Swept { leases, blacklistings: self.end_blacklistings().await? })
    }

    /// For a process that has the store to itself: whatever is reserved now was reserved by a
    /// process that is gone.
    #[crate::boxed]
    pub async fn recover(&self) -> Result<usize> {
        self.take_back(i64::MIN, Time(i64::MAX - 1)).await
    }

    async fn take_back(&self, from: i64, up_to: Time) -> Result<usize> {
        let stripe = self.draw();
        let mut taken_back = 0;
        loop {
            let writer = &self.writer();
            let take = self.store.transact_idempotent(|tx| async move {
                let transaction = self.transaction(&tx, writer, stripe).await?;
                let range = KeyRange {
                    from: LEASES.range_from((), (from,)).from,
                    ..LEASES.range_before((), (up_to.0 + 1,))
                };
                let page = LEASES.scan(&tx, &range, BATCH, ScanOrder::Forward).await?;
                for ((until, lease), (unit, host)) in &page.rows {
                    LEASES.delete(&tx, (*until, *lease))?;
                    transaction.free_lease(&Unit::parse(unit), host, *lease).await?;
                }
                Ok(page.rows.len())
            });
            let count = take.await?;
            taken_back += count;
            if count < BATCH {
                return Ok(taken_back);
            }
        }
    }

    /// Goes through all queued URLs and removes those that the next evaluation would (F9, F10,
    /// F13). Nothing depends on it: it only makes deletions show at once. Returns how many
    /// went.
    #[crate::boxed]
    pub async fn sweep_deleted(&self) -> Result<usize> {
        let stripe = self.draw();
        let mut removed = 0;
        let mut rest = Some(URLS.range(()));
        while let Some(range) = rest {
            let range = &range;
            let writer = &self.writer();
            let sweep = self.store.transact_idempotent(|tx| async move {
                let transaction = self.transaction(&tx, writer, stripe).await?;
                transaction.sweep_range(range).await
            });
            let (count, next) = sweep.await?;
            removed += count;
            rest = next;
        }
        Ok(removed)
    }
}

impl Transaction<'_> {
    async fn free_lease(&self, unit: &Unit, name: &str, lease: u64) -> Result<()> {
        let Some(mut host) = HOSTS.lock(self.tx, (name,)).await? else { return Ok(()) };
        host.slots.taken.retain(|slot| slot.lease != lease);
        // Somebody may have been talking to it until just now.
        let politeness = self.politeness(name);
        let delay = politeness_delay(host.slots.response_time, &politeness, host.crawl_delay, None);
        host.slots.hold(self.now, delay);
        if let Unit::Group(group) = unit
            && let Some(mut row) = GROUPS.lock(self.tx, (group,)).await?
        {
            row.slots.taken.retain(|slot| slot.lease != lease);
            row.slots.hold(self.now, delay);
            GROUPS.put(self.tx, (group,), &row)?;
        }
        self.settle_freed(unit, name, &mut host).await
    }

    async fn sweep_range(&self, range: &KeyRange) -> Result<(usize, Option<KeyRange>)> {
        let page = URLS.scan(self.tx, range, BATCH, ScanOrder::Forward).await?;
        let mut removed = 0;
        for ((collection, url), state) in page.rows {
            let UrlState::Queued(record) = state else { continue };
            let url = stored_url(&url)?;
            let gone = {
                let catalog = self.catalog();
                let evaluation = evaluate(&catalog, &collection, &url, &record, None, self.now);
                let deleted = matches!(evaluation.rule, Rule::F9 | Rule::F10 | Rule::F13);
                deleted && evaluation.verdict == Verdict::Remove
            };
            if gone {
                self.unqueue(&collection, &url, &record, None)?;
                removed += 1;
            }
        }
        self.close().await?;
        Ok((removed, page.rest))
    }
}
