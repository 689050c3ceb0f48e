//! What must never break, whatever happens: looked at from outside, step by step.

use std::collections::{HashMap, HashSet};

use frontier::ports::Order;
use policy::catalog::Catalog;
use policy::model::{Politeness, Position};
use policy::standing::Subject;
use policy::time::{Span, Time};

/// Remembers what it saw and complains about what does not fit.
#[derive(Debug, Default)]
pub struct Checker {
    /// By unit: the leases of fetches under way, and when they end if nobody renews them.
    under_way: HashMap<String, HashMap<u64, Time>>,
    /// By unit: when the last request ended or began, and what it asked for.
    last_request: HashMap<String, (Time, String)>,
    /// By collection and URL: the slot of the last harvest that was answered.
    last_slot: HashMap<(String, String), Time>,
    /// By collection and URL: the slot whose harvest failed and is being retried.
    retried_slot: HashMap<(String, String), Time>,
    /// Whether the store has forgotten something, and what was answered since then.
    forgot: bool,
    answered_since: HashSet<(String, String)>,
    pub complaints: Vec<String>,
}

impl Checker {
    /// An order was given out.
    pub fn reserved(&mut self, catalog: &Catalog, order: &Order, now: Time) {
        self.asked(catalog, order, now);
        self.on_behalf_of_somebody(catalog, order);
        self.not_too_often(catalog, order, now);
    }

    /// A request begins, on a clock of the caller's own.
    pub fn asked(&mut self, catalog: &Catalog, order: &Order, now: Time) {
        let politeness = catalog.politeness(&order.host).clone();
        self.polite(order, &politeness, now);
        self.under_way.entry(order.unit.clone()).or_default().insert(order.lease, order.held.ends());
    }

    /// It ended, with or without effect.
    pub fn ended(&mut self, order: &Order, now: Time) {
        // Nobody knows of those from before the clock was set.
        if self.under_way.entry(order.unit.clone()).or_default().remove(&order.lease).is_none() {
            return;
        }
        self.last_request.insert(order.unit.clone(), (now, format!("the end of {}", order.url)));
    }

    /// What came of it is committed, or never will be. `answered`: it counts for the contract. `at`:
    /// when it was asked for, which may lie before its own slot where the clock was set back (F40):
    /// no slot that has been is in the time to come.
    pub fn counted(&mut self, order: &Order, answered: bool, at: Time) {
        let due = order.due.min(at);
        let key = (order.collection.clone(), order.url.as_str().to_owned());
        if answered && self.forgot && self.answered_since.insert(key.clone()) {
            // It may have been a retry, for a slot that only the store knew.
            self.retried_slot.remove(&key);
        } else if answered {
            // F21: an answer to a retry takes the slot that failed, not the time of the retry.
            // Unless a start came before that slot (F2).
            let slot = self.retried_slot.remove(&key).map_or(due, |slot| slot.min(due));
            self.last_slot.insert(key, slot);
        } else {
            self.retried_slot.entry(key).or_insert(due);
        }
    }

    /// The worker died: nobody talks to the host any more.
    pub fn lost(&mut self, order: &Order) {
        self.under_way.entry(order.unit.clone()).or_default().remove(&order.lease);
    }

    /// Where nobody renews leases, a fetch that hangs past its own is nobody's any more.
    pub fn expire(&mut self, now: Time) {
        self.under_way.values_mut().for_each(|leases| leases.retain(|_, until| *until > now));
    }

    /// Started anew, or declared otherwise: what was promised before no longer counts.
    pub fn forget_contract(&mut self) {
        self.last_slot.clear();
    }

    /// The clock was set to `now`: slots that lie in the time to come since then are moved back by
    /// nobody outside knows how much (F40).
    pub fn clock_set(&mut self, now: Time) {
        self.forget_requests();
        self.forget_contract();
        self.retried_slot.values_mut().filter(|slot| **slot > now).for_each(|slot| *slot = Time(0));
    }

    /// The store is what it was before: nobody knows which slots it is retrying.
    pub fn forget_slots(&mut self) {
        self.forget_contract();
        self.retried_slot.clear();
        self.answered_since.clear();
        self.forgot = true;
    }

    /// The clock was set, or the store is what it was before: nobody knows when the last requests
    /// were.
    pub fn forget_requests(&mut self) {
        self.last_request.clear();
        self.under_way.clear();
    }

    /// F5, F8: never more at once than `parallel`, never closer than the shortest delay.
    fn polite(&mut self, order: &Order, politeness: &Politeness, now: Time) {
        let under_way = self.under_way.entry(order.unit.clone()).or_default();
        if under_way.len() >= usize::try_from(politeness.parallel).unwrap_or(usize::MAX) {
            let text =
                format!("F5: {} has {} requests under way and gets another", order.unit, under_way.len());
            self.complaints.push(text);
        }
        // Where several are under way, one may begin in the very moment in which another ends.
        let at_once = |last: Time| politeness.parallel > 1 && now == last;
        if let Some((last, what)) = self.last_request.get(&order.unit)
            && now < last.plus(politeness.min)
            && now >= *last
            && !at_once(*last)
        {
            let gap = now.since(*last);
            let text = format!("F8: {} is asked for {} {} ms after {what}", order.unit, order.url, gap.0);
            self.complaints.push(text);
        }
        self.last_request.insert(order.unit.clone(), (now, format!("the beginning of {}", order.url)));
    }

    /// F11–F14: the seed, the collection and a profile that has it in scope are active.
    pub fn on_behalf_of_somebody(&mut self, catalog: &Catalog, order: &Order) {
        let seed = catalog.seed(&order.seed).is_some_and(|entry| entry.seed.active);
        let collection = catalog.collection(&order.collection).is_some_and(|collection| collection.active);
        let profile =
            order.plan.profiles.iter().any(|name| {
                catalog.profile(name).is_some_and(|p| p.active && p.collection == order.collection)
            });
        if !(seed && collection && profile) {
            let text = format!(
                "{} is harvested for nobody (seed {seed}, collection {collection}, profile {profile})",
                order.url
            );
            self.complaints.push(text);
        }
    }

    /// F15, F21: not before the slot after the last answered one.
    pub fn not_too_often(&mut self, catalog: &Catalog, order: &Order, now: Time) {
        let key = (order.collection.clone(), order.url.as_str().to_owned());
        if order.last_fetch.is_none() {
            // It left the queue and was found again, or somebody wants it now: nothing is remembered of it.
            self.last_slot.remove(&key);
            self.retried_slot.remove(&key);
        }
        // F15, F21: a retry is for the slot that failed, which was looked at when it was first tried. Its
        // profiles may be slower since then, or those of another seed.
        if self.retried_slot.contains_key(&key) {
            return;
        }
        let Some(last) = self.last_slot.get(&key) else { return };
        let subject = Subject { catalog, collection: &order.collection, url: &order.url };
        let Some(entry) = catalog.seed(&order.seed) else { return };
        // The shortest the seed's profiles could ask for, at the best position: generous, and still a
        // bound.
        let shortest = subject.verdicts(entry, Position::default()).map(|given| given.profile.every).min();
        let shortest = shortest.unwrap_or(Span::ZERO);
        if now < last.plus(shortest) {
            let text = format!(
                "F15: {} is harvested at {now}, though its last slot was {last} and it comes every {} ms",
                order.url, shortest.0
            );
            self.complaints.push(text);
        }
    }
}
