//! F40: what a clock wrote that was ahead, once it has come back.

use policy::clock::WentBack;
use policy::contract::Owed;
use policy::model::{BlacklistEntry, BlacklistReason, LastFetch};
use policy::standing::Subject;
use policy::time::{Span, Time};
use proptest::prelude::*;

use crate::world::{day, record, rows, span, url, world};

const WORLD: &str = "
    collection k
    profile p k every=2d
    seed vg http://vg.no/ p";

/// Also seconds.
fn length(text: &str) -> Span {
    match text.strip_suffix('s') {
        Some(seconds) => Span::seconds(seconds.parse().unwrap()),
        None => span(text),
    }
}

fn at(text: &str) -> Time {
    match text.strip_prefix('-') {
        Some(before) => day(0).minus(length(before)),
        None => day(0).plus(length(text)),
    }
}

#[test]
fn f40_what_lies_further_ahead_than_it_may_is_moved_back_with_the_clock() {
    let table = "
        ahead by | longest | stored | becomes
        365d | 1min | 366d | 1min
        365d | 1d  | 366d | 1d
        365d | 2d  | 366d | 1d
        365d | 1min | 30s  | 30s
        365d | 1min | 364d | 0s
        365d | 1min | -5s  | -5s
        10s  | 1min | 15s  | 5s
        10s  | 1min | 5s   | 0s
        10s  | 1min | 90s  | 1min
        1h   | 1d  | 25h  | 1d
        1h   | 1d  | 23h  | 22h";
    for row in rows(table) {
        let back = WentBack { now: day(0), by: length(row[0]) };
        assert_eq!(back.ahead(at(row[2]), length(row[1])), at(row[3]), "{row:?}");
    }
}

#[test]
fn f40_a_blacklisting_lasts_as_long_as_it_was_to_last() {
    let back = WentBack { now: day(0), by: Span::days(365) };
    let entry = |since, until| BlacklistEntry { reason: BlacklistReason::Errors, since, until };
    for (before, after) in [
        (entry(day(365), Some(day(372))), entry(day(0), Some(day(7)))),
        (entry(day(364), Some(day(365))), entry(day(-1), Some(day(0)))),
        (entry(day(370), None), entry(day(0), None)),
        (entry(day(-1), Some(day(6))), entry(day(-1), Some(day(6)))),
        (entry(day(-1), None), entry(day(-1), None)),
    ] {
        assert_eq!(back.blacklisted(&before), after, "{before:?}");
    }
}

proptest! {
    /// Whatever happened to a URL while the clock was ahead: afterwards it comes within its frequency, or its backoff, from now; and what was
    /// written before is as it was.
    #[test]
    fn f40_a_url_comes_within_its_frequency(
        ahead in 2u64..1_000_000_000,
        fetched in proptest::option::of(0u64..1_000_000_000),
        linked in 0u64..1_000_000_000,
        errors in 0u32..3,
    ) {
        let catalog = world(WORLD);
        let target = url("http://vg.no/a");
        let every = Span::days(2);
        let now = day(0);
        let within = |moment: u64| now.plus(Span(moment % ahead));
        let mut before = record("vg");
        before.errors = errors;
        before.linked = within(linked);
        before.last = fetched.map(|moment| LastFetch { at: within(moment), due: within(moment / 2) });
        before.due = match before.last {
            Some(last) if errors == 0 => last.at.plus(every),
            Some(last) => last.at.plus(Span::minutes(1)),
            None => before.linked,
        };
        before.owed = before.last.map_or(Owed::First(before.linked), |last| Owed::Promise(last.at.plus(every)));
        let back = WentBack { now, by: Span(ahead) };
        let subject = Subject { catalog: &catalog, collection: "k", url: &target };
        let after = back.record(subject, &before);
        prop_assert!(after.due >= now.minus(Span(ahead)) && after.due <= now.plus(every).max(now.plus(Span::days(1))));
        prop_assert!(after.linked <= now && after.last.is_none_or(|last| last.at <= now && last.due <= last.at));
        match after.owed {
            Owed::First(since) => prop_assert!(since <= now),
            Owed::Promise(promise) => prop_assert!(promise <= now.plus(every)),
            Owed::Nothing => prop_assert!(false, "nothing is withdrawn"),
        }
        if before.last.is_none() {
            prop_assert_eq!(after.due, now.max(before.due.minus(Span(ahead))), "it waits for nothing");
        }
        // And once more changes nothing.
        prop_assert_eq!(&back.record(subject, &after), &after);
    }
}
