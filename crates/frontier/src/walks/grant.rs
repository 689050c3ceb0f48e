//! Slots for the ids that walks want: the same slots, and the same politeness, as for any URL.
//!
//! A round goes on in the order of its turns: the first id that finds its host busy ends it for
//! now, and it and those after it are taken back. A host that backs off is not waited for: its walk
//! is left out until then. Where URLs of the queue wait for the same host, they and the walks have
//! it by turns, or each half of it where it takes several at once.

use std::collections::{BTreeMap, BTreeSet};

use policy::budget::{Charges, Holder, Spent};
use policy::changes::Changes;
use policy::contract::Owed;
use policy::evaluate::Plan;
use policy::model::{Position, Record};
use policy::owner::Via;
use policy::time::{Span, Time};
use store::Result;

use super::{Planned, Plans, Walks};
use crate::hosts::Unit;
use crate::lane::{Lane, Room};
use crate::ports::{Order, WalkOrder};
use crate::reserve::Picked;
use crate::schema::{GROUPS, HOSTS, Host};
use crate::shard::shard_of;
use crate::transaction::Transaction;

/// How long it is left to another node to take its turn, before it is looked at again.
const OTHERS_TURN: Span = Span(200);

/// When a walk that a budget keeps back is looked at again: another start has a budget of its own.
const SPENT_LOOK: Span = Span::minutes(1);

/// What became of the plans.
#[derive(Debug, Default)]
pub(crate) struct Granted {
    pub(crate) orders: Vec<Order>,
    /// By place in the plans: what became of those without an order.
    refused: BTreeMap<usize, Refusal>,
}

impl Granted {
    /// Nothing for anybody.
    pub(crate) fn none(plans: &Plans) -> Granted {
        let refused = (0..plans.wanted.len()).map(|at| (at, Refusal::Busy(None))).collect();
        Granted { orders: Vec::new(), refused }
    }
}

#[derive(Clone, Copy, Debug)]
enum Refusal {
    /// Another of its round before it was refused.
    Behind,
    /// No slot is free before this time; none: before one is given back.
    Busy(Option<Time>),
    BacksOff(Time),
    /// F36: a budget has no more for it; it is looked at again then.
    Spent(Time),
}

/// A host at work in this transaction.
struct Open {
    unit: Unit,
    host: Host,
    /// Slots that walks may still have now.
    share: usize,
    changed: bool,
}

impl Transaction<'_> {
    /// One order for each plan that finds a slot.
    pub(crate) async fn reserve_walks(
        &self,
        plans: &Plans,
        leases: &[u64],
        room: &mut Room,
    ) -> Result<Granted> {
        let mut granted = Granted::default();
        let mut open: BTreeMap<&str, Open> = BTreeMap::new();
        let mut stuck = BTreeSet::new();
        for (at, planned) in plans.wanted.iter().enumerate() {
            let Some(lease) = leases.get(granted.orders.len()) else {
                granted.refused.insert(at, Refusal::Busy(Some(self.now)));
                continue;
            };
            if stuck.contains(&planned.round) {
                granted.refused.insert(at, Refusal::Behind);
                continue;
            }
            // An earlier run of this transaction has found out that another has it: with it in hand, every
            // further run would find out the same.
            if !self.share.works_on(planned.shard) {
                stuck.insert(planned.round);
                granted.refused.insert(at, Refusal::Busy(None));
                continue;
            }
            let name = planned.url.site();
            let host = match open.entry(name) {
                std::collections::btree_map::Entry::Occupied(entry) => entry.into_mut(),
                std::collections::btree_map::Entry::Vacant(entry) => entry.insert(self.open(name).await?),
            };
            let lane = self.lane(host).await?;
            let refusal = match room.of_lane(lane) {
                0 => Some(Refusal::Busy(None)),
                _ => self.refusal(host, planned).await?,
            };
            if let Some(refusal) = refusal {
                stuck.insert(planned.round);
                granted.refused.insert(at, refusal);
                continue;
            }
            let order = self.grant(host, planned, *lease).await?;
            room.take(lane, 1);
            granted.orders.push(Order { lane, ..order });
        }
        for (name, Open { unit, mut host, changed, .. }) in open {
            if changed {
                self.settle_taken(&unit, name, &mut host).await?;
            }
        }
        self.write_steps(&plans.steps).await?;
        Ok(granted)
    }

    async fn open(&self, name: &str) -> Result<Open> {
        // Whoever is given a slot writes the row. Who is not must not lock it: nodes whose walks wait for
        // one host would keep each other from reserving anything.
        let host =
            HOSTS.get(self.tx, (name,)).await?.unwrap_or_else(|| Host { head: self.now, ..Host::default() });
        let unit = match self.group_of(name) {
            Some(group) => Unit::Group(group),
            None => Unit::Host(name.to_owned()),
        };
        let waiting = match &host.group {
            Some((_, at)) => Some(*at),
            None => host.slots.queued_at,
        };
        let room = host.slots.room(&self.politeness(name));
        let share = match waiting.is_some_and(|at| at <= self.now) {
            true if host.walked => 0,
            true => room.div_ceil(2),
            false => usize::MAX,
        };
        Ok(Open { unit, host, share, changed: false })
    }

    async fn lane(&self, open: &Open) -> Result<Lane> {
        Ok(match &open.unit {
            Unit::Host(_) => open.host.slots.lane(),
            Unit::Group(name) => GROUPS.get(self.tx, (name,)).await?.unwrap_or_default().slots.lane(),
        })
    }

    async fn refusal(&self, open: &Open, planned: &Planned) -> Result<Option<Refusal>> {
        let name = planned.url.site();
        if let Some(until) = open.host.backoff_until.filter(|until| *until > self.now) {
            return Ok(Some(Refusal::BacksOff(until)));
        }
        let collection = self.catalog().profile(&planned.declared.profile).map(|own| own.collection.clone());
        let collection = collection.unwrap_or_default();
        if let Some(until) = self.paused_until(&planned.declared.name, &collection, name) {
            return Ok(Some(Refusal::BacksOff(until)));
        }
        // F38: what its profile or its host may not have now waits for the next window.
        let opens =
            self.catalog().profile(&planned.declared.profile).map(|own| own.hours().opening(self.now));
        let opens = self.opening(name, opens.unwrap_or(self.now));
        if opens > self.now {
            return Ok(Some(Refusal::BacksOff(opens)));
        }
        if let Some(until) = self.spent_for(planned, &collection).await? {
            return Ok(Some(Refusal::Spent(until)));
        }
        // The queue may have come to it first.
        if open.host.is_in_flight(&collection, planned.url.as_str()) {
            return Ok(Some(Refusal::Busy(None)));
        }
        let group;
        let slots = match &open.unit {
            Unit::Host(_) => &open.host.slots,
            Unit::Group(name) => {
                group = GROUPS.get(self.tx, (name,)).await?.unwrap_or_default();
                &group.slots
            }
        };
        Ok(if !slots.has_room(&self.politeness(name)) {
            Some(Refusal::Busy(None))
        } else if slots.next_free > self.now {
            Some(Refusal::Busy(Some(slots.next_free)))
        } else {
            // It is the turn of a URL, which another node may have to give.
            let ours = self.share.works_on(shard_of(&open.unit.to_string()));
            let again = if ours { self.now } else { self.now.plus(OTHERS_TURN) };
            (open.share == 0).then_some(Refusal::Busy(Some(again)))
        })
    }

    /// F36: until when an id waits because a budget has no more for it. Ids are of the latest run, as the
    /// URLs are that their pages link to.
    async fn spent_for(&self, planned: &Planned, collection: &str) -> Result<Option<Time>> {
        if !self.catalog().has_budgets() {
            return Ok(None);
        }
        let (run, profiles) = (self.latest_run().await?, [planned.declared.profile.clone()]);
        let budgets = self.budgets_of_walk(planned, collection, run).await?;
        Ok(match self.may_harvest(run, &profiles, &budgets) {
            Ok(_) => None,
            Err(used_up) => {
                self.note_used_up(&used_up, run);
                Some(self.now.plus(self.catalog().settings().recheck.min(SPENT_LOOK)))
            }
        })
    }

    async fn budgets_of_walk(
        &self,
        planned: &Planned,
        collection: &str,
        run: u64,
    ) -> Result<Vec<(Holder, Spent)>> {
        let seed = planned.declared.seed.clone().unwrap_or_default();
        self.budgets_of(collection, &planned.url, &seed, run, std::slice::from_ref(&planned.declared.profile))
            .await
    }

    async fn grant(&self, open: &mut Open, planned: &Planned, lease: u64) -> Result<Order> {
        let Planned { declared, id, attempt, url, .. } = planned;
        let (collection, plan) = {
            let catalog = self.catalog();
            let profile = catalog.profile(&declared.profile);
            let plan = profile.map(|profile| {
                let closes = profile.hours().closing(self.now);
                Plan { profiles: Vec::new(), closes, ..Plan::from(profile) }
            });
            let collection = profile.map(|profile| profile.collection.clone());
            collection.zip(plan).ok_or_else(|| {
                store::Error::Corrupt(format!("walk {:?} goes on without its profile", declared.name))
            })?
        };
        let record = Record {
            seed: declared.seed.clone().unwrap_or_default(),
            position: Position::default(),
            via: Via::Start,
            due: self.now,
            run: 0,
            cycles: 0,
            linked: self.now,
            last: None,
            errors: 0,
            not_found: 0,
            digest: None,
            etag: None,
            last_modified: None,
            problem: None,
            owed: Owed::Nothing,
            terms: None,
            changes: Changes::default(),
            charges: Charges::default(),
            sketch: None,
            hint: None,
            moved: None,
        };
        if self.catalog().has_budgets() {
            let run = self.latest_run().await?;
            let budgets = self.budgets_of_walk(planned, &collection, run).await?;
            self.give_out(&budgets, run, &[]);
        }
        let picked = Picked { collection, url: url.clone(), record, plan };
        let mut order = self.take_slot(&open.unit, url.site(), &mut open.host, picked, lease).await?;
        open.host.walked = true;
        open.changed = true;
        open.share = open.share.saturating_sub(1);
        order.claim = self.share.claim(planned.shard);
        order.walk = Some(Box::new(WalkOrder {
            walk: declared.name.clone(),
            id: *id,
            attempt: *attempt,
            exists: declared.settings.exists().clone(),
        }));
        Ok(order)
    }
}

impl Walks {
    /// Takes back what got no slot, last first; returns when to try again, if nothing happens
    /// before.
    pub(crate) fn granted(&self, plans: &Plans, granted: &Granted) -> Option<Time> {
        let mut room = self.0.lock();
        let mut next = plans.next;
        for (at, refusal) in granted.refused.iter().rev() {
            let planned = &plans.wanted[*at];
            let Some(round) = room.rounds.get_mut(planned.round) else { continue };
            round.undo(&planned.turn);
            let until = match refusal {
                Refusal::Behind => None,
                Refusal::Busy(until) => *until,
                Refusal::BacksOff(until) | Refusal::Spent(until) => {
                    let strand =
                        round.walks.iter_mut().find(|strand| strand.declared.name == planned.declared.name);
                    strand.into_iter().for_each(|strand| {
                        strand.held_until = Some(*until);
                        strand.is_spent = matches!(refusal, Refusal::Spent(_));
                    });
                    Some(*until)
                }
            };
            next = next.into_iter().chain(until).min();
        }
        next
    }
}
