//! Leases that are renewed (F6): a worker that lives keeps what it holds.
//!
//! A lease stands in three places: in the slot of its host's row, in that of its group's row where
//! there is one, and in `LEASES`, by the moment it ends. They move together, in one transaction for
//! many. What has been taken back meanwhile is not brought to life again: its holder learns that it
//! has nothing any more, and its commit will be refused.

use std::collections::BTreeMap;

use policy::time::Time;
use store::{Durability, Result};

use crate::Frontier;
use crate::cursor::Queue;
use crate::hosts::Unit;
use crate::ports::Order;
use crate::schema::{GROUPS, HOSTS, LEASES, Lease, Slots};
use crate::shard::shard_of;
use crate::transaction::Transaction;

impl Frontier {
    /// From now on these reservations hold for another whole lease. Says until when; none of those
    /// that were taken back.
    #[crate::boxed]
    pub async fn renew(&self, orders: &[&Order]) -> Result<Vec<Option<Time>>> {
        let _turns = self.host_turns(orders.iter().map(|order| order.unit.as_str())).await;
        let stripe = self.draw();
        let writer = &self.writer();
        let renew = self.store.transact_idempotent(|tx| async move {
            tx.set_durability(Durability::Relaxed);
            self.transaction(&tx, writer, stripe).await?.renew(orders).await
        });
        renew.await
    }
}

impl Transaction<'_> {
    /// It ends then, in the slot of this host.
    pub(crate) fn put_lease(&self, unit: &str, host: &str, until: Time, lease: u64) -> Result<()> {
        let shard = shard_of(unit);
        self.cursor.entry_at(Queue::Leases, shard, (until, String::new()));
        let row = Lease { unit: unit.to_owned(), host: host.to_owned(), node: self.share.node() };
        LEASES.put(self.tx, (shard, until.0, lease), &row)
    }

    /// It was to end then.
    pub(crate) fn drop_lease(&self, unit: &str, until: Time, lease: u64) -> Result<()> {
        LEASES.delete(self.tx, (shard_of(unit), until.0, lease))
    }

    async fn renew(&self, orders: &[&Order]) -> Result<Vec<Option<Time>>> {
        let until = self.now.plus(self.catalog().settings().lease);
        let mut hosts = BTreeMap::new();
        let mut groups = BTreeMap::new();
        let mut renewed = Vec::with_capacity(orders.len());
        for order in orders {
            let name = order.host.as_str();
            if !hosts.contains_key(name) {
                hosts.insert(name, HOSTS.lock(self.tx, (name,)).await?.unwrap_or_default());
            }
            let host = hosts.get_mut(name);
            let Some(before) = host.and_then(|host| host.slots.renew(order.lease, until)) else {
                renewed.push(None);
                continue;
            };
            self.drop_lease(&order.unit, before, order.lease)?;
            self.put_lease(&order.unit, name, until, order.lease)?;
            if let Unit::Group(group) = Unit::parse(&order.unit) {
                if !groups.contains_key(&group) {
                    let row = GROUPS.lock(self.tx, (&group,)).await?.unwrap_or_default();
                    groups.insert(group.clone(), row);
                }
                groups.get_mut(&group).and_then(|row| row.slots.renew(order.lease, until));
            }
            renewed.push(Some(until));
        }
        for (name, host) in hosts.iter().filter(|(_, host)| !host.slots.taken.is_empty()) {
            HOSTS.put(self.tx, (name,), host)?;
        }
        for (name, group) in &groups {
            GROUPS.put(self.tx, (name,), group)?;
        }
        Ok(renewed)
    }
}

impl Slots {
    /// Returns until when it was held before; none if it is not held.
    pub(crate) fn renew(&mut self, lease: u64, until: Time) -> Option<Time> {
        let slot = self.taken.iter_mut().find(|slot| slot.lease == lease)?;
        Some(std::mem::replace(&mut slot.until, until))
    }
}
