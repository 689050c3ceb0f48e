//! F38: moments, days and windows, also where clocks are turned. What they are is worked out here
//! from the clock of `jiff` alone, minute by minute.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::{TimeZone, TimeZoneDatabase};
use policy::Rule;
use policy::civil::rfc3339;
use policy::contract::{Owed, missed_in};
use policy::evaluate::{Verdict, evaluate};
use policy::hours::{Hours, TimeOfDay, Weekday, Window};
use policy::model::{LastFetch, Profile, Record};
use policy::rhythm::Rhythm;
use policy::standing::Subject;
use policy::time::{Span, Time};
use policy::zone::Zone;
use proptest::prelude::*;
use testkit::catalog::put;

use crate::world::{day, fetched_on, record, rows, url, world};

const MINUTE: i64 = 60_000;
/// Of Oslo: 2024-03-31 02:00 → 03:00, and 2024-10-27 03:00 → 02:00. Troll turns by two hours, Lord Howe
/// by half an hour, Havana at midnight, Apia left out 2011-12-30.
const ZONES: [&str; 6] =
    ["Europe/Oslo", "UTC", "Antarctica/Troll", "Australia/Lord_Howe", "America/Havana", "Pacific/Apia"];

fn at(text: &str) -> Time {
    rfc3339(text).unwrap()
}

fn time(text: &str) -> TimeOfDay {
    text.parse().unwrap()
}

fn weekdays(text: &str) -> Vec<Weekday> {
    let named = |name: &str| *Weekday::ALL.iter().find(|day| day.as_str() == name).unwrap();
    text.split_whitespace().map(named).collect()
}

fn window(from: &str, to: &str, days: &str) -> Window {
    Window { from: time(from), to: time(to), weekdays: weekdays(days) }
}

fn profile(every: Span, at: Option<&str>, days: &str, windows: Vec<Window>) -> Profile {
    let (at, timezone) = (at.map(time), Zone::named("Europe/Oslo"));
    Profile { every, at, weekdays: weekdays(days), timezone, windows, ..testkit::catalog::profile("p", "k") }
}

#[test]
fn f38_a_frequency_counts_from_its_moment() {
    let table = "
        every | days            | slot                 | next
        1d    |                 | 2024-06-03T01:00:00Z | 2024-06-04T01:00:00Z
        1d    |                 | 2024-06-03T00:10:00Z | 2024-06-03T01:00:00Z
        1d    |                 | 2024-06-03T12:00:00Z | 2024-06-04T01:00:00Z
        2d    |                 | 2024-06-03T01:00:00Z | 2024-06-05T01:00:00Z
        7d    |                 | 2024-06-03T12:00:00Z | 2024-06-10T01:00:00Z
        1d    | mon tue wed     | 2024-06-05T01:00:00Z | 2024-06-10T01:00:00Z
        7d    | mon             | 2024-06-05T12:00:00Z | 2024-06-10T01:00:00Z
        7d    | mon             | 2024-06-03T01:00:00Z | 2024-06-10T01:00:00Z
        6h    |                 | 2024-06-03T01:00:00Z | 2024-06-03T07:00:00Z
        6h    |                 | 2024-06-03T20:00:00Z | 2024-06-04T01:00:00Z
        7h    |                 | 2024-06-03T22:00:00Z | 2024-06-04T01:00:00Z
        6h    | mon             | 2024-06-03T19:00:00Z | 2024-06-10T01:00:00Z
        1d    |                 | 2024-03-30T02:00:00Z | 2024-03-31T01:00:00Z
        1d    |                 | 2024-03-31T01:00:00Z | 2024-04-01T01:00:00Z
        1d    |                 | 2024-10-26T01:00:00Z | 2024-10-27T02:00:00Z
        1d    |                 | 2024-10-27T02:00:00Z | 2024-10-28T02:00:00Z";
    for row in rows(table) {
        let every = crate::world::span(row[0]);
        let profile = profile(every, Some("03:00"), row[1], Vec::new());
        let next = Rhythm::in_force(&profile, every).after(at(row[2]));
        assert_eq!(next, at(row[3]), "{row:?}");
    }
}

#[test]
fn f38_a_moment_that_is_skipped_is_the_first_after_it_and_one_that_comes_twice_is_the_first() {
    let daily = profile(Span::days(1), Some("02:30"), "", Vec::new());
    let after = |slot: &str| Rhythm::in_force(&daily, daily.every).after(at(slot));
    assert_eq!(after("2024-03-30T12:00:00Z"), at("2024-03-31T01:00:00Z"), "03:00 summer time");
    assert_eq!(after("2024-10-26T12:00:00Z"), at("2024-10-27T00:30:00Z"), "02:30 summer time");
    assert_eq!(after("2024-10-27T00:30:00Z"), at("2024-10-28T01:30:00Z"));
}

#[test]
fn f38_a_slot_outside_the_windows_is_at_the_next_opening() {
    let hourly = profile(Span::hours(1), None, "", vec![window("22:00", "06:00", "")]);
    let rhythm = Rhythm::in_force(&hourly, hourly.every);
    assert_eq!(rhythm.after(at("2024-06-03T02:30:00Z")), at("2024-06-03T03:30:00Z"));
    assert_eq!(rhythm.after(at("2024-06-03T03:30:00Z")), at("2024-06-03T20:00:00Z"));
    assert!((rhythm.per_day() - 8.0).abs() < 0.3, "{}", rhythm.per_day());
    let (missed, open) = missed_in(&rhythm, at("2024-06-03T02:30:00Z"), at("2024-06-03T21:30:00Z"));
    assert_eq!(missed.len(), 3, "02:30, 03:30, 20:00: none in the day");
    assert_eq!(open, at("2024-06-03T21:00:00Z"));
}

/// A world with one seed of one profile that has these hours.
fn judged(profile: Profile, record: &Record, now: Time) -> (Rule, Verdict) {
    let mut catalog = world("collection k");
    catalog.apply(put(profile)).unwrap();
    catalog.apply(put(testkit::catalog::seed("vg", "http://vg.no/", &["p"]))).unwrap();
    let url = url("vg.no/a");
    let found = evaluate(&catalog, "k", &url, record, None, now);
    (found.rule, found.verdict)
}

#[test]
fn f38_evaluation_lets_nothing_through_outside_the_windows_and_promises_nothing_there() {
    let nights = || profile(Span::days(1), None, "", vec![window("22:00", "06:00", "")]);
    let noon = at("2024-06-03T10:00:00Z");
    let until = at("2024-06-03T20:00:00Z");
    let (rule, verdict) = judged(nights(), &record("vg"), noon);
    assert_eq!((rule, verdict), (Rule::F38, Verdict::Postpone { until }));
    let (rule, verdict) = judged(nights(), &record("vg"), until);
    let Verdict::Harvest(plan) = verdict else { panic!("{rule}") };
    assert_eq!(plan.closes, Some(at("2024-06-04T04:00:00Z")));
    // A retry keeps its promise, and waits.
    let mut catalog = world("collection k");
    catalog.apply(put(nights())).unwrap();
    catalog.apply(put(testkit::catalog::seed("vg", "http://vg.no/", &["p"]))).unwrap();
    let url = url("vg.no/a");
    let subject = Subject { catalog: &catalog, collection: "k", url: &url };
    let retried = Record { owed: Owed::Promise(day(1)), errors: 1, ..fetched_on("vg", 0) };
    assert_eq!(subject.postponed(&retried, Rule::F38, until).owed, Owed::Promise(day(1)));
    assert_eq!(subject.postponed(&record("vg"), Rule::F38, until).owed, Owed::First(until));
}

#[test]
fn f38_a_week_is_counted_by_its_windows() {
    let utc = Zone::utc();
    let share = |windows: &[Window]| Hours { windows, zone: utc }.week().share();
    assert!((share(&[]) - 1.0).abs() < 1e-9);
    assert!((share(&[window("22:00", "06:00", "")]) - 8.0 / 24.0).abs() < 1e-9);
    assert!((share(&[window("00:00", "24:00", "sat sun")]) - 2.0 / 7.0).abs() < 1e-9);
    let both = [window("22:00", "02:00", ""), window("01:00", "03:00", "")];
    assert!((share(&both) - 5.0 / 24.0).abs() < 1e-9);
}

#[test]
fn f38_zones_are_inside_and_an_unknown_one_is_none() {
    assert!(Zone::names().count() > 400);
    assert_eq!(Zone::named("europe/oslo").unwrap().name(), "Europe/Oslo");
    assert!(Zone::named("Europe/Olso").is_none());
}

/// Walks a clock minute by minute; the reference.
struct Walk {
    zone: TimeZone,
    at: i64,
}

impl Walk {
    fn new(zone: &str, at: Time) -> Walk {
        let zone = TimeZoneDatabase::bundled().get(zone).unwrap();
        Walk { zone, at: at.0.div_euclid(MINUTE) * MINUTE }
    }

    fn shows(&self) -> DateTime {
        Timestamp::from_millisecond(self.at).unwrap().to_zoned(self.zone.clone()).datetime()
    }
}

/// The first minute from `from` on at which the clock shows this or later.
fn first(zone: &str, from: Time, wanted: DateTime) -> Time {
    let mut walk = Walk::new(zone, from);
    while walk.shows() < wanted {
        walk.at += MINUTE;
    }
    Time(walk.at)
}

fn civil(date: jiff::civil::Date, minutes: u16) -> DateTime {
    let next = if minutes >= 1440 { date.tomorrow().unwrap() } else { date };
    next.at(i8::try_from(minutes % 1440 / 60).unwrap(), i8::try_from(minutes % 60).unwrap(), 0, 0)
}

fn is_named(days: &[Weekday], date: jiff::civil::Date) -> bool {
    let number = usize::try_from(date.weekday().to_monday_zero_offset()).unwrap();
    days.is_empty() || days.contains(&Weekday::ALL[number])
}

/// Whether a window is open at a minute, by all the days it may have begun on.
fn is_open(windows: &[(u16, u16, Vec<Weekday>)], zone: &str, at: Time) -> bool {
    let before = Time(at.0 - 3 * 86_400_000);
    let mut date = Walk::new(zone, before).shows().date();
    let last = Walk::new(zone, at).shows().date().tomorrow().unwrap();
    let mut open = false;
    while date <= last {
        for (from, to, _) in windows.iter().filter(|(.., days)| is_named(days, date)) {
            let end = if to <= from { to + 1440 } else { *to };
            let end = match end {
                2880 => civil(date.tomorrow().unwrap().tomorrow().unwrap(), 0),
                end if end > 1440 => civil(date.tomorrow().unwrap(), end - 1440),
                end => civil(date, end),
            };
            let begin = Time(before.0 - 3 * 86_400_000);
            let (from, end) = (first(zone, begin, civil(date, *from)), first(zone, begin, end));
            open |= from <= at && at < end;
        }
        date = date.tomorrow().unwrap();
    }
    open
}

prop_compose! {
    fn some_window()(from in 0u16..144, length in 1u16..144, days in proptest::sample::subsequence(Weekday::ALL.to_vec(), 0..=7)) -> (u16, u16, Vec<Weekday>) {
        let (from, to) = (from * 10, (from + length) * 10);
        (from, if to > 1440 { to - 1440 } else { to }, days)
    }
}

/// Minutes around the turns of the clocks, and others.
fn moments() -> impl Strategy<Value = Time> {
    let turns = [
        "2024-03-31T01:00:00Z",
        "2024-10-27T01:00:00Z",
        "2024-04-06T15:00:00Z",
        "2024-10-05T15:30:00Z",
        "2024-03-10T05:00:00Z",
        "2024-11-03T05:00:00Z",
        "2011-12-30T10:00:00Z",
        "2024-06-03T12:00:00Z",
    ];
    (0..turns.len(), -2000i64..2000)
        .prop_map(move |(turn, minutes)| Time(at(turns[turn]).0 + minutes * MINUTE))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn f38_windows_are_open_when_a_walk_by_the_minute_says_so(
        windows in proptest::collection::vec(some_window(), 1..3), zone in 0..ZONES.len(), now in moments(),
    ) {
        let given: Vec<Window> = windows.iter().map(|(from, to, days)| Window {
            from: TimeOfDay::of_minutes(*from).unwrap(),
            to: TimeOfDay::of_minutes(*to).unwrap(),
            weekdays: days.clone(),
        }).collect();
        let known = Zone::named(ZONES[zone]).unwrap();
        let hours = Hours { windows: &given, zone: &known };
        prop_assert_eq!(hours.is_open(now), is_open(&windows, ZONES[zone], now));
        let opening = hours.opening(now);
        prop_assert!(hours.is_open(opening) && opening >= now);
        // Nothing was open on the way, by samples; and a minute before it was not.
        if opening > now {
            prop_assert!(!is_open(&windows, ZONES[zone], Time(opening.0 - MINUTE)));
            let way = opening.since(now).0 / 5;
            for step in 0..5 {
                prop_assert!(!is_open(&windows, ZONES[zone], now.plus(Span(way * step))));
            }
        }
        if let Some(closing) = hours.closing(opening) {
            prop_assert!(is_open(&windows, ZONES[zone], Time(closing.0 - MINUTE)));
        }
    }

    #[test]
    fn f38_the_next_moment_is_the_one_a_walk_by_the_minute_meets(
        minutes in 0u16..1440, days in 1u64..4, zone in 0..ZONES.len(), slot in moments(),
    ) {
        let every = Span::days(days);
        let own = Profile {
            every,
            at: TimeOfDay::of_minutes(minutes),
            timezone: Zone::named(ZONES[zone]),
            ..testkit::catalog::profile("p", "k")
        };
        let next = Rhythm::in_force(&own, every).after(slot);
        // The last moment at or before the slot, and the same on the day that is so many later.
        let begin = Time(slot.0 - 4 * 86_400_000);
        let mut date = Walk::new(ZONES[zone], slot).shows().date().tomorrow().unwrap();
        while first(ZONES[zone], begin, civil(date, minutes)) > slot {
            date = date.yesterday().unwrap();
        }
        for _ in 0..days {
            date = date.tomorrow().unwrap();
        }
        let mut expected = first(ZONES[zone], begin, civil(date, minutes));
        while expected <= slot {
            date = date.tomorrow().unwrap();
            expected = first(ZONES[zone], begin, civil(date, minutes));
        }
        prop_assert_eq!(next, expected);
    }

    #[test]
    fn f38_promises_lie_in_windows_and_go_forward(
        windows in proptest::collection::vec(some_window(), 0..3), hours in 1u64..200, moment in proptest::option::of(0u16..1440),
        zone in 0..ZONES.len(), due in moments(), late in 0u64..400,
    ) {
        let own = Profile {
            every: Span::hours(hours),
            at: moment.and_then(TimeOfDay::of_minutes),
            timezone: Zone::named(ZONES[zone]),
            windows: windows.iter().map(|(from, to, days)| Window {
                from: TimeOfDay::of_minutes(*from).unwrap(),
                to: TimeOfDay::of_minutes(*to).unwrap(),
                weekdays: days.clone(),
            }).collect(),
            ..testkit::catalog::profile("p", "k")
        };
        let rhythm = Rhythm::in_force(&own, own.every);
        let last = LastFetch { at: due.plus(Span::hours(late)), due };
        let mut next = rhythm.next_due(last);
        prop_assert!(next > last.at);
        for _ in 0..5 {
            prop_assert!(rhythm.hours.is_open(next));
            let after = rhythm.after(next);
            prop_assert!(after > next);
            next = after;
        }
    }
}
