//! A second request on the slot of an order, and the rest before it (A15).
//!
//! An order makes one request, as a rule. Where it needs another one to be done with the first
//! (what robots.txt says by now of a page that took long to come: F30), that waits for the delay of
//! the host as any request does. Meanwhile the order keeps its slot, since nobody else may ask the
//! host either; but it is no worker's business: who rests does not count among those at work, so
//! that others are given out in its place.

use std::sync::atomic::{AtomicUsize, Ordering};

use policy::schedule::politeness_delay;
use policy::time::{Span, Time};
use store::{Durability, Result};
use tokio::sync::Notify;

use crate::Frontier;
use crate::hosts::Unit;
use crate::ports::Order;
use crate::schema::{GROUPS, HOSTS};
use crate::transaction::Transaction;

/// Orders that rest at a time: each has an answer in hand.
const RESTING_MAX: usize = 64;

/// Who rests.
#[derive(Debug, Default)]
pub(crate) struct Resting {
    count: AtomicUsize,
    /// One more does.
    begun: Notify,
}

/// An order rests for as long as this is there.
#[derive(Debug)]
pub struct Rest<'a>(&'a Resting);

impl Drop for Rest<'_> {
    fn drop(&mut self) {
        self.0.count.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Frontier {
    /// From now on an order rests; none if too many do.
    pub fn rest(&self) -> Option<Rest<'_>> {
        let more = |count| (count < RESTING_MAX).then_some(count + 1);
        self.resting.count.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).ok()?;
        self.resting.begun.notify_one();
        Some(Rest(&self.resting))
    }

    /// How many orders rest at the moment.
    pub(crate) fn resting(&self) -> usize {
        self.resting.count.load(Ordering::Acquire)
    }

    /// Returns when another order begins to rest.
    pub(crate) async fn rest_begun(&self) {
        self.resting.begun.notified().await;
    }

    /// A request of the order is over, and took so long; it wants to make another one on the same
    /// slot. Says when, which nobody else may then; none if the slot was taken back.
    #[crate::boxed]
    pub async fn another_request(
        &self,
        order: &Order,
        took: Span,
        crawl_delay: Option<Span>,
        retry_after: Option<Span>,
    ) -> Result<Option<Time>> {
        let _turn = self.host_turns(std::iter::once(order.unit.as_str())).await;
        let writer = &self.writer();
        let another = self.store.transact_idempotent(|tx| async move {
            tx.set_durability(Durability::Relaxed);
            let transaction = self.transaction(&tx, writer, order.lease).await?;
            let asked = crawl_delay.into_iter().chain(retry_after).max();
            transaction.another_request(order, took, asked).await
        });
        another.await
    }
}

impl Transaction<'_> {
    async fn another_request(&self, order: &Order, took: Span, asked: Option<Span>) -> Result<Option<Time>> {
        let name = order.host.as_str();
        let Some(mut host) = HOSTS.lock(self.tx, (name,)).await? else { return Ok(None) };
        if !host.slots.taken.iter().any(|slot| slot.lease == order.lease) {
            return Ok(None);
        }
        let delay = politeness_delay(took, &self.politeness(name), host.crawl_delay, asked);
        let unit = Unit::parse(&order.unit);
        let at = match &unit {
            Unit::Host(_) => host.slots.book(self.asked_at(delay), delay),
            Unit::Group(group) => {
                let mut row = GROUPS.lock(self.tx, (group,)).await?.unwrap_or_default();
                let at = row.slots.book(self.asked_at(delay), delay);
                GROUPS.put(self.tx, (group,), &row)?;
                at
            }
        };
        self.settle_freed(&unit, name, &mut host).await?;
        Ok(Some(at))
    }
}
