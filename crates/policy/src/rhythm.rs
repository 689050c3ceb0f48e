//! How the due times of a URL follow each other under one profile (F21, F38, F41).
//!
//! Three things shape them. The **frequency**, of the profile or, where that is a range, of the URL
//! ([`crate::changes`]). The **moment** (`at`) it counts from: without one it counts from the last slot, with
//! one from the wall clock: a frequency of days comes to the moment again after so many days of the
//! calendar, however long those were; a shorter one begins anew at the moment of each day; on days that
//! are not named there is none. And the **windows**: a slot outside them is at the next opening, and the
//! one after it counts from there. So what is promised (F31) always lies within them.

use crate::catalog::Catalog;
use crate::changes::Changes;
use crate::contract::Terms;
use crate::hours::{DAY_MS, Hours, TimeOfDay, Weekday, is_among};
use crate::model::{LastFetch, Profile};
use crate::time::{Span, Time};
use crate::zone::Zone;

/// Days that are looked through for one that is named.
const DAYS_LOOKED: i64 = 15;
/// Due times that are gone through to learn how many there are a day, and for how long.
const COUNTED_MAX: u32 = 1000;
const COUNTED_FOR: Span = Span::days(56);

#[derive(Clone, Copy, Debug)]
pub struct Rhythm<'a> {
    pub every: Span,
    pub at: Option<TimeOfDay>,
    pub weekdays: &'a [Weekday],
    pub hours: Hours<'a>,
}

impl<'a> Rhythm<'a> {
    /// Of a profile, for a URL whose changes are these.
    pub fn of(profile: &'a Profile, changes: &Changes) -> Rhythm<'a> {
        Rhythm::in_force(profile, profile.frequency(changes))
    }

    /// Of a profile, at this frequency.
    pub fn in_force(profile: &'a Profile, every: Span) -> Rhythm<'a> {
        Rhythm { every, at: profile.at, weekdays: &profile.weekdays, hours: profile.hours() }
    }

    /// Neither a moment nor a window.
    pub fn is_plain(&self) -> bool {
        self.at.is_none() && self.hours.is_always()
    }

    /// The slot after one, always later.
    pub fn after(&self, slot: Time) -> Time {
        let next = match self.at {
            None => slot.plus(self.every),
            Some(at) => self.tooth(at, slot),
        };
        self.hours.opening(next)
    }

    /// F21: the slot after the last one; where that has gone by before the harvest was over, the one
    /// after the harvest.
    pub fn next_due(&self, last: LastFetch) -> Time {
        let next = self.after(last.due);
        if next > last.at { next } else { self.after(last.at) }
    }

    /// How often it comes round a day, on average.
    #[allow(clippy::cast_precision_loss, reason = "an estimate")]
    pub fn per_day(&self) -> f64 {
        let day = Span::days(1).0 as f64;
        if self.is_plain() {
            return day / self.every.0.max(1) as f64;
        }
        /// A Monday, at noon.
        const BEGIN: Time = Time(19_723 * DAY_MS + DAY_MS / 2);
        let (mut at, mut count) = (BEGIN, 0);
        while count < COUNTED_MAX && (at.since(BEGIN) < COUNTED_FOR || count == 0) {
            at = self.after(at);
            count += 1;
        }
        f64::from(count) * day / at.since(BEGIN).0.max(1) as f64
    }

    /// The first time after a slot that the comb of moments gives.
    fn tooth(&self, at: TimeOfDay, slot: Time) -> Time {
        let zone = self.hours.zone;
        let moment = |day: i64| zone.first(day.saturating_mul(DAY_MS).saturating_add(at.ms()));
        let named = |day: &i64| is_among(self.weekdays, *day);
        let today = zone.local(slot).div_euclid(DAY_MS);
        let counts_from =
            (today - DAYS_LOOKED..=today + 1).rev().find(|day| named(day) && moment(*day) <= slot);
        let Some(base) = counts_from else { return slot.plus(self.every) };
        let every = i64::try_from(self.every.0.max(1)).unwrap_or(i64::MAX);
        let days = match every {
            every if every >= DAY_MS => every.div_euclid(DAY_MS) + i64::from(every % DAY_MS > 0),
            every => {
                let begun = slot.0.saturating_sub(moment(base).0).div_euclid(every);
                let next = Time(moment(base).0.saturating_add((begun + 1).saturating_mul(every)));
                if next < moment(base + 1) {
                    return next;
                }
                1
            }
        };
        let first = base.saturating_add(days);
        let next = (first..first.saturating_add(DAYS_LOOKED)).find(|day| named(day) && moment(*day) > slot);
        next.map_or_else(|| slot.plus(self.every), moment)
    }
}

impl Catalog {
    /// In which a URL under these terms falls due.
    pub fn rhythm(&self, terms: &Terms) -> Rhythm<'_> {
        let profile = terms.profiles.first().and_then(|name| self.profile(name));
        let plain = Rhythm {
            every: terms.every,
            at: None,
            weekdays: &[],
            hours: Hours { windows: &[], zone: Zone::utc() },
        };
        profile.map_or(plain, |profile| Rhythm::in_force(profile, terms.every))
    }
}

impl Profile {
    /// When its harvests may happen.
    pub fn hours(&self) -> Hours<'_> {
        Hours { windows: &self.windows, zone: self.timezone.as_ref().unwrap_or(Zone::utc()) }
    }

    /// Whether its due times are other than one `every` after the other.
    pub fn is_timed(&self) -> bool {
        self.at.is_some() || !self.windows.is_empty()
    }
}
