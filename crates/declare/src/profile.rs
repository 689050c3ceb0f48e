//! Profiles and what they inherit.
//!
//! A profile is its parent's finished profile with its own keys laid over it, or the defaults if it
//! has no parent. Parents may stand anywhere in the file, so profiles are finished parents first:
//! from each profile the chain upwards is followed until one that is finished, and then laid down
//! again. A chain that meets itself is a cycle.

use std::collections::HashMap;

use policy::hours::{Hours, is_among};
use policy::model::{Limits, Profile};
use policy::time::{Span, Time};
use policy::unit::print_duration;
use policy::zone::Zone;

use crate::declare::{Known, Names, is_new};
use crate::field::Record;
use crate::hosts::{check_budget, check_order, check_windows};
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
    check_windows(draft, &base.windows, Some(base.limits.total_timeout), reader);
    check_moment(draft, &base, reader);
    check_budget(draft, reader);
    let own = draft.fields("budget").filter(|own| !own.is_wrong("max_harvests"));
    if let (Some(length), Some(max), false) =
        (base.length, base.budget.max_harvests, draft.is_wrong("length"))
        && max < u64::from(length)
    {
        let at = own.map_or_else(|| draft.at("length"), |own| own.at("max_harvests"));
        let what =
            format!("a budget of {max} harvests in a run, and each URL is to have {length}: none gets them");
        reader.problems.add(
            at,
            what,
            format!("give `max_harvests` of at least {length}, for many URLs many times that"),
        );
    }
    let complete = !base.name.is_empty() && !base.collection.is_empty() && base.every != Span::ZERO;
    complete.then_some(base)
}

/// F38: whether the moment goes with the frequency, the days and the windows.
fn check_moment(draft: &Fields, profile: &Profile, reader: &mut Reader) {
    let place = |keys: [&str; 2]| {
        let given = keys.into_iter().find(|key| draft.get(key).is_some());
        given.map_or(draft.at, |key| draft.at(key))
    };
    let Some(at) = profile.at else {
        if !profile.weekdays.is_empty() && !draft.is_wrong("at") {
            let what = "`weekdays` are those of a moment, and there is none";
            let hint = "add the moment (`at: \"03:00\"`), or say the days of `windows`";
            reader.problems.add(draft.at("weekdays"), what, hint);
        }
        return;
    };
    let (every, day) = (profile.every, Span::days(1));
    if let Some(range) = profile.range() {
        let [fast, slow] = [range.fast, range.slow].map(print_duration);
        let what =
            format!("`at` counts one frequency from a moment, and `every` is a range ({fast}..{slow})");
        let hint = format!("leave `at` out, with `windows` for the time of day, or write `every: {slow}`");
        reader.problems.add(place(["at", "every"]), what, hint);
    } else if every > day && !every.0.is_multiple_of(day.0) {
        let (shown, days) = (print_duration(every), every.0 / day.0);
        let what = format!("with `at`, {shown} is neither days nor less than one");
        let hint = format!("from one moment to another it is whole days: `{days}d` or `{}d`", days + 1);
        reader.problems.add(place(["every", "at"]), what, hint);
    }
    let hours = Hours { windows: &profile.windows, zone: Zone::utc() };
    let moment = |number: i64| Time(0).plus(Span(day.0 * number.unsigned_abs())).plus(at.span());
    let reached = (7..14).any(|number| is_among(&profile.weekdays, number) && hours.is_open(moment(number)));
    if !reached && !draft.is_wrong("windows") {
        let what = format!("its moment, {at}, is in none of its windows ({hours})");
        let hint = "move the moment or the windows, or leave one of them out";
        reader.problems.add(place(["at", "windows"]), what, hint);
    }
}
