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
use crate::cursor::{Queue, the_end};
use crate::hosts::Unit;
use crate::schema::{GROUPS, HOSTS, LEASES, Lease, URLS, UrlState};
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
        let _one_at_a_time = self.sweeping.lock().await;
        let now = self.clock.now();
        let mut leases = 0;
        let own = self.share.shards();
        for (shard, from) in self.cursor.scan(Queue::Leases, now, |shard| own[usize::from(shard)]) {
            let range = match from {
                Some((from, _)) => LEASES.range_from((shard,), (shard, from.0)),
                None => LEASES.range((shard,)),
            };
            let (taken_back, first) = self.take_back(range, now, None).await?;
            leases += taken_back;
            self.cursor.scanned(Queue::Leases, shard, first.map_or_else(the_end, |at| (at, String::new())));
        }
        // One does it for all.
        let blacklistings = match own[0] {
            true => self.end_blacklistings().await?,
            false => {
                self.next_end.store(i64::MAX, Ordering::Release);
                0
            }
        };
        let patterns = if own[0] { self.end_patterns().await? } else { 0 };
        Ok(Swept { leases, blacklistings: blacklistings + patterns })
    }

    /// Whatever is reserved now by a process that is gone: all there is, for one that has the store
    /// to itself; for a node, what its predecessor had.
    #[crate::boxed]
    pub async fn recover(&self) -> Result<usize> {
        let others = self.is_shared(&self.store.begin().await?);
        let node = (others && self.share.is_member()).then(|| self.share.node());
        Ok(self.take_back(LEASES.range(()), Time(i64::MAX), node.as_deref()).await?.0)
    }

    /// Takes back leases of a range until one is met that still holds; says how many, and when that
    /// one ends.
    async fn take_back(
        &self,
        range: KeyRange,
        up_to: Time,
        given_by: Option<&str>,
    ) -> Result<(usize, Option<Time>)> {
        let stripe = self.draw();
        let mut taken_back = 0;
        let mut rest = Some(range);
        while let Some(range) = rest {
            let range = &range;
            let writer = &self.writer();
            let take = self.store.transact_idempotent(|tx| async move {
                let transaction = self.transaction(&tx, writer, stripe).await?;
                let page = LEASES.scan(&tx, range, BATCH, ScanOrder::Forward).await?;
                let mut count = 0;
                for ((_, until, lease), Lease { unit, host, node }) in page.rows {
                    if Time(until) > up_to {
                        return Ok((count, Some(Time(until)), None));
                    }
                    if given_by.is_some_and(|name| name != node) {
                        continue;
                    }
                    transaction.drop_lease(&unit, Time(until), lease)?;
                    transaction.free_lease(&Unit::parse(&unit), &host, lease).await?;
                    count += 1;
                }
                Ok((count, None, page.rest))
            });
            let (count, first, left) = take.await?;
            taken_back += count;
            if first.is_some() {
                return Ok((taken_back, first));
            }
            rest = left;
        }
        Ok((taken_back, None))
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
        host.slots.hold(self.asked_at(delay), delay);
        if let Unit::Group(group) = unit
            && let Some(mut row) = GROUPS.lock(self.tx, (group,)).await?
        {
            row.slots.taken.retain(|slot| slot.lease != lease);
            row.slots.hold(self.asked_at(delay), delay);
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
