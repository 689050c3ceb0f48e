//! Whose budgets there are (F36), so that who has none is asked nothing.

use crate::budget::{Budget, Holder};
use crate::catalog::{Catalog, Change, site_key};

impl Catalog {
    /// Whether anything that is declared has a budget.
    pub fn has_budgets(&self) -> bool {
        !self.budgeted.is_empty()
    }

    /// Whoever has one, in one order.
    pub fn budgeted(&self) -> impl Iterator<Item = (&Holder, &Budget)> {
        self.budgeted.iter().filter_map(|holder| Some((holder, self.budget(holder)?)))
    }

    /// What is declared for it; none where it does not exist or has none.
    pub fn budget(&self, holder: &Holder) -> Option<&Budget> {
        let budget = match holder {
            Holder::Collection(name) => &self.collections.get(name)?.budget,
            Holder::Seed(name) => &self.seeds.get(name)?.seed.budget,
            Holder::Profile(name) => &self.profiles.get(name)?.budget,
            Holder::Host(site) => &self.hosts.get(site)?.0.budget,
            Holder::Group(name) => &self.groups.get(name)?.politeness.budget,
        };
        (!budget.is_none()).then_some(budget)
    }

    /// Whose budget a change is about, and what it makes of it.
    pub fn budget_of(change: &Change) -> Option<(Holder, Budget)> {
        let none = Budget::default;
        Some(match change {
            Change::PutCollection(new) => (Holder::Collection(new.name.clone()), new.budget.clone()),
            Change::DeleteCollection(name) => (Holder::Collection(name.clone()), none()),
            Change::PutProfile(new) => (Holder::Profile(new.name.clone()), new.budget.clone()),
            Change::DeleteProfile(name) => (Holder::Profile(name.clone()), none()),
            Change::PutSeed(new) => (Holder::Seed(new.name.clone()), new.budget.clone()),
            Change::DeleteSeed(name) => (Holder::Seed(name.clone()), none()),
            Change::PutGroup(new) => (Holder::Group(new.name.clone()), new.politeness.budget.clone()),
            Change::DeleteGroup(name) => (Holder::Group(name.clone()), none()),
            Change::PutHostPoliteness { host, politeness, .. } => {
                (Holder::Host(site_key(host)), politeness.budget.clone())
            }
            Change::DeleteHostPoliteness(host) => (Holder::Host(site_key(host)), none()),
            _ => return None,
        })
    }

    pub(super) fn count_budget(&mut self, change: &Change) {
        if let Some((holder, budget)) = Catalog::budget_of(change) {
            match budget.is_none() {
                true => self.budgeted.remove(&holder),
                false => self.budgeted.insert(holder),
            };
        }
    }
}
