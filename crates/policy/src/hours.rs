//! Times of day, days of the week, and windows: when something may happen (F38).
//!
//! A window belongs to the day it begins on and may end on the next one (`22:00` to `06:00`). Where
//! clocks are turned, it begins and ends when the clock first shows its times or later ones
//! ([`crate::zone`]): one that lies in a skipped hour is not there that day.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::time::{Span, Time};
use crate::zone::Zone;

pub(crate) const DAY_MS: i64 = 86_400_000;
const MINUTE_MS: i64 = 60_000;
const DAY_MINUTES: u32 = 1440;
const WEEK_MINUTES: usize = 7 * 1440;
/// The same window comes again after a week; skipped hours and days aside, so twice that.
const DAYS_AHEAD: i64 = 15;
/// Windows that follow each other without a gap are followed no further.
const FOLLOWED_MAX: usize = 32;

/// Minutes since midnight; 24:00 at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TimeOfDay(u16);

impl TimeOfDay {
    pub const MIDNIGHT: TimeOfDay = TimeOfDay(0);
    pub const END: TimeOfDay = TimeOfDay(1440);

    pub fn of_minutes(minutes: u16) -> Option<TimeOfDay> {
        (minutes <= TimeOfDay::END.0).then_some(TimeOfDay(minutes))
    }

    /// Since midnight.
    pub fn span(self) -> Span {
        Span::minutes(u64::from(self.0))
    }

    pub(crate) fn ms(self) -> i64 {
        i64::from(self.0) * MINUTE_MS
    }
}

/// `03:00`; also `3:00`.
impl FromStr for TimeOfDay {
    type Err = String;

    fn from_str(text: &str) -> Result<TimeOfDay, String> {
        let (hours, minutes) = text.trim().split_once(':').ok_or("it has no colon")?;
        let number = |text: &str, digits: std::ops::RangeInclusive<usize>, max: u16| {
            let fits = digits.contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
            text.parse::<u16>().ok().filter(|number| fits && *number <= max)
        };
        let hours = number(hours, 1..=2, 24).ok_or("hours are from 0 to 24")?;
        let minutes = number(minutes, 2..=2, 59).ok_or("minutes are from 00 to 59")?;
        TimeOfDay::of_minutes(hours * 60 + minutes).ok_or_else(|| "a day ends at 24:00".to_owned())
    }
}

impl fmt::Display for TimeOfDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}", self.0 / 60, self.0 % 60)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Weekday {
    Mon,
    Tue,
    Wed,
    Thu,
    Fri,
    Sat,
    Sun,
}

impl Weekday {
    pub const ALL: [Weekday; 7] =
        [Weekday::Mon, Weekday::Tue, Weekday::Wed, Weekday::Thu, Weekday::Fri, Weekday::Sat, Weekday::Sun];

    /// Of a day counted from the beginning of 1970, which was a Thursday.
    pub(crate) fn of(day: i64) -> Weekday {
        let at = usize::try_from((day + 3).rem_euclid(7)).unwrap_or(0);
        Weekday::ALL[at]
    }

    pub fn as_str(self) -> &'static str {
        ["mon", "tue", "wed", "thu", "fri", "sat", "sun"][self as usize]
    }
}

/// Whether a day, counted from the beginning of 1970, is one of these; none named is every day.
pub fn is_among(weekdays: &[Weekday], day: i64) -> bool {
    weekdays.is_empty() || weekdays.contains(&Weekday::of(day))
}

/// From one time of the day to another, which may be on the next.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    pub from: TimeOfDay,
    pub to: TimeOfDay,
    /// The days it begins on; none named is every day.
    pub weekdays: Vec<Weekday>,
}

impl Window {
    pub fn length(&self) -> Span {
        Span(u64::try_from(self.end() - self.from.ms()).unwrap_or(0))
    }

    /// Counted from the beginning of the day it begins on.
    fn end(&self) -> i64 {
        if self.to <= self.from { self.to.ms() + DAY_MS } else { self.to.ms() }
    }

    /// When it begins and ends on a day; none if it does not.
    fn on(&self, day: i64, zone: &Zone) -> Option<(Time, Time)> {
        if !is_among(&self.weekdays, day) {
            return None;
        }
        let midnight = day.saturating_mul(DAY_MS);
        let (from, to) = (zone.first(midnight + self.from.ms()), zone.first(midnight + self.end()));
        (from < to).then_some((from, to))
    }
}

/// `22:00–06:00 mon, tue`.
impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}–{}", self.from, self.to)?;
        for (place, day) in self.weekdays.iter().enumerate() {
            write!(f, "{}{}", if place == 0 { " " } else { ", " }, day.as_str())?;
        }
        Ok(())
    }
}

/// Windows in a zone; without any, always.
#[derive(Clone, Copy, Debug)]
pub struct Hours<'a> {
    pub windows: &'a [Window],
    pub zone: &'a Zone,
}

impl Hours<'_> {
    pub fn is_always(&self) -> bool {
        self.windows.is_empty()
    }

    pub fn is_open(&self, at: Time) -> bool {
        self.is_always() || self.end_at(at).is_some()
    }

    /// This moment, or the first after it at which a window is open.
    pub fn opening(&self, at: Time) -> Time {
        if self.is_open(at) {
            return at;
        }
        let today = self.today(at);
        let next = (today - 1..today + DAYS_AHEAD).find_map(|day| {
            let begins = self.windows.iter().filter_map(|window| window.on(day, self.zone));
            begins.map(|(from, _)| from).filter(|from| *from > at).min()
        });
        next.unwrap_or_else(|| at.plus(Span::days(DAYS_AHEAD.unsigned_abs())))
    }

    /// When what is open at this moment closes; none if it never does, or is closed.
    pub fn closing(&self, at: Time) -> Option<Time> {
        let mut end = self.end_at(at)?;
        for _ in 0..FOLLOWED_MAX {
            match self.end_at(end) {
                Some(later) => end = later,
                None => break,
            }
        }
        Some(end)
    }

    /// The latest end of the windows that are open at a moment.
    fn end_at(&self, at: Time) -> Option<Time> {
        let today = self.today(at);
        let on = |day: i64| self.windows.iter().filter_map(move |window| window.on(day, self.zone));
        // Where a clock goes back at midnight, a day may have begun before the one it shows.
        let near = (today - 1..=today + 1).flat_map(on);
        near.filter(|(from, to)| *from <= at && at < *to).map(|(_, to)| to).max()
    }

    fn today(&self, at: Time) -> i64 {
        self.zone.local(at).div_euclid(DAY_MS)
    }

    /// A week in UTC, in which its zone stands as it did at the beginning of 2024.
    pub fn week(&self) -> Week {
        const MONDAY: i64 = 19_723;
        if self.is_always() {
            return Week(vec![true; WEEK_MINUTES]);
        }
        let shift = (self.zone.local(Time(MONDAY * DAY_MS)) - MONDAY * DAY_MS) / MINUTE_MS;
        let mut open = vec![false; WEEK_MINUTES];
        for window in self.windows {
            for day in (0..7).filter(|day| is_among(&window.weekdays, MONDAY + day)) {
                let from = day * i64::from(DAY_MINUTES) + window.from.ms() / MINUTE_MS - shift;
                for minute in from..from + (window.end() - window.from.ms()) / MINUTE_MS {
                    let minute = minute.rem_euclid(7 * i64::from(DAY_MINUTES));
                    open[usize::try_from(minute).unwrap_or(0)] = true;
                }
            }
        }
        Week(open)
    }
}

/// The minutes of a week in which something is open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Week(Vec<bool>);

impl Week {
    pub fn and(mut self, other: &Week) -> Week {
        self.0.iter_mut().zip(&other.0).for_each(|(own, other)| *own &= other);
        self
    }

    pub fn or(mut self, other: &Week) -> Week {
        self.0.iter_mut().zip(&other.0).for_each(|(own, other)| *own |= other);
        self
    }

    /// From 0 to 1.
    #[allow(clippy::cast_precision_loss, reason = "10,080 at most")]
    pub fn share(&self) -> f64 {
        self.0.iter().filter(|open| **open).count() as f64 / WEEK_MINUTES as f64
    }
}

/// `22:00–06:00, 12:00–13:00 sat (Europe/Oslo)`.
impl fmt::Display for Hours<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, window) in self.windows.iter().enumerate() {
            write!(f, "{}{window}", if place == 0 { "" } else { "; " })?;
        }
        write!(f, " ({})", self.zone)
    }
}
