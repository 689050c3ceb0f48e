//! Visits: requests that no URL of the queue asks for, such as a robots.txt that lives on another
//! host (A15).
//!
//! A visit takes a slot of the host it goes to, under a lease, and leaves the delay behind that any
//! request leaves. It is given at once or not at all: who finds the host busy or resting is told
//! when to come again, and holds nothing meanwhile.

use policy::schedule::politeness_delay;
use policy::time::{Span, Time};
use store::{Durability, Result};

use crate::Frontier;
use crate::hosts::Unit;
use crate::schema::{GROUPS, HOSTS, Host, Slot};
use crate::transaction::Transaction;

/// When to come again while all slots are taken: nobody knows when one is free.
pub(crate) const COME_AGAIN: Span = Span::seconds(1);

/// Whether somebody may call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Visit {
    Go(Visiting),
    /// Not before then.
    Wait(Time),
}

/// A slot held for a visit; to be given back by [`Frontier::leave`], or else when its lease runs
/// out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visiting {
    lease: u64,
    unit: String,
    host: String,
}

impl Frontier {
    /// The politeness unit of a host, as orders name it.
    pub fn unit_of(&self, host: &str) -> String {
        let catalog = self.declared.catalog.read();
        let unit = catalog.group_of(host).map(|group| Unit::Group(group.name.clone()));
        unit.unwrap_or_else(|| Unit::Host(host.to_owned())).to_string()
    }

    /// Asks for a slot of a host, for a request to this URL.
    #[crate::boxed]
    pub async fn visit(&self, host: &str, url: &str) -> Result<Visit> {
        let writer = &self.writer();
        let visit = self.store.transact_idempotent(|tx| async move {
            tx.set_durability(Durability::Relaxed);
            self.pauses.catch_up(&tx).await?;
            let lease = self.draw();
            self.transaction(&tx, writer, lease).await?.visit(host, url, lease).await
        });
        visit.await
    }

    /// The request is over, and took so long; none: nobody was asked.
    #[crate::boxed]
    pub async fn leave(&self, visiting: &Visiting, took: Option<Span>) -> Result<()> {
        let _turn = self.host_turns(std::iter::once(visiting.unit.as_str())).await;
        let writer = &self.writer();
        let leave = self.store.transact_idempotent(|tx| async move {
            tx.set_durability(Durability::Relaxed);
            self.transaction(&tx, writer, visiting.lease).await?.leave(visiting, took).await
        });
        leave.await
    }
}

impl Transaction<'_> {
    async fn visit(&self, name: &str, url: &str, lease: u64) -> Result<Visit> {
        if let Some(until) = self.paused_until("", "", name) {
            return Ok(Visit::Wait(until));
        }
        let opens = self.opening(name, self.now);
        if opens > self.now {
            return Ok(Visit::Wait(opens));
        }
        let fresh = || Host { head: self.now, ..Host::default() };
        let mut host = HOSTS.lock(self.tx, (name,)).await?.unwrap_or_else(fresh);
        let politeness = self.politeness(name);
        let group = self.group_of(name);
        let mut row = None;
        if let Some(group) = &group {
            row = Some(GROUPS.lock(self.tx, (group,)).await?.unwrap_or_default());
        }
        let slots = row.as_mut().map_or(&mut host.slots, |row| &mut row.slots);
        if !slots.has_room(&politeness) {
            return Ok(Visit::Wait(self.now.plus(COME_AGAIN)));
        }
        if slots.next_free > self.now {
            return Ok(Visit::Wait(slots.next_free));
        }
        let until = self.now.plus(self.catalog().settings().lease);
        let slot = Slot {
            lease,
            until,
            host: name.to_owned(),
            collection: String::new(),
            url: url.to_owned(),
            due: self.now,
        };
        let delay = politeness_delay(slots.response_time, &politeness, host.crawl_delay, None);
        let unit = match (group, row) {
            (Some(group), Some(mut row)) => {
                row.slots.hold(self.asked_at(delay), delay);
                row.slots.taken.push(slot.clone());
                GROUPS.put(self.tx, (&group,), &row)?;
                Unit::Group(group)
            }
            _ => {
                host.slots.hold(self.asked_at(delay), delay);
                Unit::Host(name.to_owned())
            }
        };
        host.slots.taken.push(slot);
        self.put_lease(&unit.to_string(), name, until, lease)?;
        self.settle_taken(&unit, name, &mut host).await?;
        Ok(Visit::Go(Visiting { lease, unit: unit.to_string(), host: name.to_owned() }))
    }

    async fn leave(&self, visiting: &Visiting, took: Option<Span>) -> Result<()> {
        let Visiting { lease, unit, host: name } = visiting;
        let Some(mut host) = HOSTS.lock(self.tx, (name,)).await? else { return Ok(()) };
        let Some(at) = host.slots.taken.iter().position(|slot| slot.lease == *lease) else { return Ok(()) };
        let slot = host.slots.taken.remove(at);
        self.drop_lease(unit, slot.until, slot.lease)?;
        let politeness = self.politeness(name);
        let delay = took.map(|took| politeness_delay(took, &politeness, host.crawl_delay, None));
        if let Some(delay) = delay {
            host.slots.hold(self.asked_at(delay), delay);
        }
        let unit = Unit::parse(unit);
        if let Unit::Group(group) = &unit
            && let Some(mut row) = GROUPS.lock(self.tx, (group,)).await?
        {
            row.slots.taken.retain(|slot| slot.lease != *lease);
            if let Some(delay) = delay {
                row.slots.hold(self.asked_at(delay), delay);
            }
            GROUPS.put(self.tx, (group,), &row)?;
        }
        self.settle_freed(&unit, name, &mut host).await
    }
}
