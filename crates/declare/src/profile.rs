//! Profiles and what they inherit.
//!
//! A profile is its parent's finished profile with its own keys laid over it, or the defaults if it
//! has no parent. Parents may stand anywhere in the file, so profiles are finished parents first:
//! from each profile the chain upwards is followed until one that is finished, and then laid down
//! again. A chain that meets itself is a cycle.

use std::collections::HashMap;

use policy::model::{Limits, Profile};
use policy::time::Span;

use crate::declare::{Known, Names, is_new};
use crate::field::Record;
use crate::hosts::check_order;
use crate::problem::At;
use crate::read::Reader;
use crate::value::{Data, Fields};

/// Each may inherit long lists from another, so their number bounds what a small file can grow to.
const PROFILES_MAX: usize = 10_000;

/// What became of a profile.
enum Finished {
    /// Being finished further down the chain: meeting it again is a cycle.
    Begun,
    Good(Box<Profile>),
    /// Something was wrong with it or above it, and has been told.
    Broken,
}

/// Finishes all profiles, in the order of the file, and says which names there are.
pub(crate) fn resolve(
    drafts: &[Fields],
    collections: &Known<'_>,
    reader: &mut Reader,
) -> (Vec<Profile>, Names) {
    let mut names = Names::new();
    let mut by_name: HashMap<String, usize> = HashMap::new();
    if let Some(draft) = drafts.get(PROFILES_MAX) {
        let what = format!("more than {PROFILES_MAX} profiles");
        reader.problems.add(draft.at, what, "a profile serves many seeds: share them");
    }
    for (index, draft) in drafts.iter().enumerate() {
        let Some(name) = draft.text("name") else { continue };
        if is_new(&name, draft.at("name"), "profile", &mut names, reader) {
            by_name.insert(name, index);
        }
    }
    let mut family = Family { drafts, by_name, finished: HashMap::new() };
    for index in 0..drafts.len().min(PROFILES_MAX) {
        family.finish(index, &names, collections, reader);
    }
    let order = (0..drafts.len()).filter_map(|index| match family.finished.remove(&index) {
        Some(Finished::Good(profile)) => Some(*profile),
        _ => None,
    });
    (order.collect(), names)
}

struct Family<'a> {
    drafts: &'a [Fields],
    by_name: HashMap<String, usize>,
    finished: HashMap<usize, Finished>,
}

impl Family<'_> {
    fn finish(&mut self, index: usize, names: &Names, collections: &Known<'_>, reader: &mut Reader) {
        let chain = self.chain(index, names, reader);
        for index in chain.into_iter().rev() {
            let draft = &self.drafts[index];
            let made = self.base(draft).and_then(|base| overlay(draft, base, collections, reader));
            self.finished
                .insert(index, made.map_or(Finished::Broken, |profile| Finished::Good(Box::new(profile))));
        }
    }

    /// The unfinished profiles from this one upwards.
    fn chain(&mut self, mut index: usize, names: &Names, reader: &mut Reader) -> Vec<usize> {
        let mut chain = Vec::new();
        loop {
            match self.finished.get(&index) {
                None => {
                    self.finished.insert(index, Finished::Begun);
                    chain.push(index);
                }
                Some(Finished::Begun) => {
                    self.tell_cycle(&chain, index, reader);
                    return Vec::new();
                }
                Some(_) => return chain,
            }
            let Some(parent) = self.drafts[index].text("extends") else { return chain };
            match self.by_name.get(&parent) {
                Some(above) => index = *above,
                None => {
                    let known = Known::Here("profile", names);
                    known.check(&parent, self.drafts[index].at("extends"), reader);
                    return chain;
                }
            }
        }
    }

    /// Tells the cycle once, at its profile that stands first in the file, and breaks all that lead
    /// to it.
    fn tell_cycle(&mut self, chain: &[usize], met: usize, reader: &mut Reader) {
        const CYCLE_SHOWN_MAX: usize = 10;
        let start = chain.iter().position(|index| *index == met).unwrap_or(0);
        let mut cycle = chain[start..].to_vec();
        let first = (0..cycle.len()).min_by_key(|place| cycle[*place]).unwrap_or(0);
        cycle.rotate_left(first);
        let name = |index: &usize| self.drafts[*index].text("name").unwrap_or_default();
        let mut shown: Vec<String> = cycle.iter().take(CYCLE_SHOWN_MAX).map(name).collect();
        if cycle.len() > CYCLE_SHOWN_MAX {
            shown.push("…".to_owned());
        }
        shown.extend(cycle.first().map(name));
        let at = cycle.first().map_or(At::START, |index| self.drafts[*index].at("extends"));
        let what = format!("profiles extend each other in a circle: {}", shown.join(" → "));
        reader.problems.add(at, what, "one of them must do without `extends`");
        for index in chain {
            self.finished.insert(*index, Finished::Broken);
        }
    }

    /// What the keys of a draft are laid over; none if that is broken.
    fn base(&self, draft: &Fields) -> Option<Profile> {
        if !draft.mentions("extends")
            || draft.get("extends").is_some_and(|value| matches!(value.data, Data::None))
        {
            return Some(Profile::default());
        }
        match self.finished.get(self.by_name.get(&draft.text("extends")?)?)? {
            Finished::Good(profile) => Some((**profile).clone()),
            Finished::Begun | Finished::Broken => None,
        }
    }
}

/// None if what must be there is not; the reader has told so.
fn overlay(
    draft: &Fields,
    mut base: Profile,
    collections: &Known<'_>,
    reader: &mut Reader,
) -> Option<Profile> {
    if let Some(collection) = draft.text("collection") {
        collections.check(&collection, draft.at("collection"), reader);
    }
    base.name.clear();
    base.lay(draft);
    if let Some(limits) = draft.fields("limits") {
        let Limits { backoff_base, backoff_cap, .. } = base.limits;
        let (base_key, cap_key) = (("backoff_base", backoff_base), ("backoff_cap", backoff_cap));
        check_order(limits, base_key, cap_key, reader, |base, _| {
            format!("the wait grows from base to cap: give `backoff_cap` of at least {base}")
        });
    }
    let complete = !base.name.is_empty() && !base.collection.is_empty() && base.every != Span::ZERO;
    complete.then_some(base)
}
