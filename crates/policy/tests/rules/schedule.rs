//! F8 and F21 as arithmetic.

use policy::model::{LastFetch, Politeness};
use policy::schedule::{after_error, backoff, next_due, politeness_delay, shortest_every};
use policy::time::{Span, Time};
use proptest::prelude::*;

use crate::world::rows;

#[test]
fn f21_the_next_due_is_counted_from_the_slot() {
    let table = "
        due | fetched at | every | next
        100 | 100        | 50    | 150
        100 | 130        | 50    | 150
        100 | 149        | 50    | 150
        100 | 150        | 50    | 200
        100 | 999        | 50    | 1049
        100 | 90         | 50    | 150
        100 | 100        | 0     | 100";
    for row in rows(table) {
        let n = |cell: &str| cell.parse::<i64>().unwrap();
        let last = LastFetch { due: Time(n(row[0])), at: Time(n(row[1])) };
        assert_eq!(next_due(last, Span(row[2].parse().unwrap())), Time(n(row[3])), "{row:?}");
    }
}

#[test]
fn f21_a_daily_seed_does_not_drift() {
    let every = Span::days(1);
    let mut due = Time(0);
    for n in 0..365 {
        assert_eq!(due, Time(0).plus(Span::days(n)));
        let late = Time(due.0 + 3_600_000);
        due = next_due(LastFetch { at: late, due }, every);
    }
}

#[test]
fn f21_backoff_doubles_and_stops_at_its_cap() {
    let table = "
        errors | from ms | to ms
        0      | 750     | 1250
        1      | 750     | 1250
        2      | 1500    | 2500
        3      | 3000    | 5000
        4      | 6000    | 10000
        5      | 7500    | 10000
        4000000000 | 7500 | 10000";
    for row in rows(table) {
        let errors = row[0].parse().unwrap();
        let all: Vec<u64> = (0..200).map(|salt| backoff(errors, Span(1000), Span(10_000), salt).0).collect();
        let (low, high) = (row[1].parse().unwrap(), row[2].parse().unwrap());
        assert!(all.iter().all(|ms| (low..=high).contains(ms)), "{row:?}");
        let spread = all.iter().max().unwrap() - all.iter().min().unwrap();
        assert!(spread > (high - low) / 2, "the salt spreads: {row:?}");
    }
    assert_eq!(backoff(1, Span(0), Span(10), 7), Span(1), "never nothing");
    assert!(backoff(60, Span::MAX, Span::MAX, 7) > Span::ZERO, "no overflow");
}

#[test]
fn f21_after_an_error_never_later_than_the_normal_time_and_the_cap() {
    assert_eq!(after_error(Time(100), Span(10), Time(500), Span(50)), Time(110));
    assert_eq!(after_error(Time(100), Span(900), Time(500), Span(50)), Time(550));
}

#[test]
fn f8_the_politeness_delay() {
    let table = "
        response ms | factor | min  | max   | crawl-delay | retry-after | delay
        200         | 5      | 1000 | 30000 | -           | -           | 1000
        400         | 5      | 1000 | 30000 | -           | -           | 2000
        9000        | 5      | 1000 | 30000 | -           | -           | 30000
        400         | 5      | 1000 | 30000 | 1500        | -           | 2000
        400         | 5      | 1000 | 30000 | 60000       | -           | 60000
        400         | 5      | 1000 | 30000 | 60000       | 120000      | 120000
        400         | 0      | 1000 | 30000 | -           | -           | 1000
        400         | -3     | 0    | 30000 | -           | -           | 0
        400         | NaN    | 7    | 30000 | -           | -           | 7
        400         | inf    | 7    | 30000 | -           | -           | 30000
        400         | 5      | 9000 | 10    | -           | -           | 9000";
    for row in rows(table) {
        let ms = |cell: &str| Span(cell.parse().unwrap());
        let maybe = |cell: &str| (cell != "-").then(|| ms(cell));
        let politeness = Politeness {
            factor: row[1].parse().unwrap(),
            min: ms(row[2]),
            max: ms(row[3]),
            parallel: 1,
            ..Politeness::default()
        };
        let delay = politeness_delay(ms(row[0]), &politeness, maybe(row[4]), maybe(row[5]));
        assert_eq!(delay, ms(row[6]), "{row:?}");
    }
    let widest = Politeness {
        factor: f64::MAX,
        min: Span::ZERO,
        max: Span::MAX,
        parallel: 1,
        ..Politeness::default()
    };
    assert_eq!(politeness_delay(Span::MAX, &widest, None, None), Span::MAX);
}

#[test]
fn f21_the_shortest_every_counts() {
    assert_eq!(shortest_every([Span(3), Span(1), Span(2)]), Some(Span(1)));
    assert_eq!(shortest_every([]), None);
}

proptest! {
    #[test]
    fn f21_next_due_lies_ahead_and_grows_with_the_harvest(
        due in any::<i64>(), a in any::<i64>(), b in any::<i64>(), every in 1u64..,
    ) {
        let next = |at: i64| next_due(LastFetch { at: Time(at), due: Time(due) }, Span(every));
        let (early, late) = (a.min(b), a.max(b));
        prop_assert!(next(early) <= next(late));
        prop_assert!(next(early) > Time(early) || early == i64::MAX);
        prop_assert!(next(early) >= Time(due).plus(Span(every)));
    }

    /// Only there: a late harvest may have missed the slot of a fast profile and not that of a slow one.
    #[test]
    fn f21_next_due_is_monotone_in_every_for_a_harvest_in_its_slot(
        due in -1_000_000i64..1_000_000, late in 0u64..1000, a in 1000u64..100_000, b in 1000u64..100_000,
    ) {
        let last = LastFetch { at: Time(due).plus(Span(late)), due: Time(due) };
        prop_assert!(next_due(last, Span(a.min(b))) <= next_due(last, Span(a.max(b))));
    }

    #[test]
    fn f21_backoff_keeps_within_its_bounds(errors in any::<u32>(), base in any::<u64>(), cap in 1u64.., salt in any::<u64>()) {
        let span = backoff(errors, Span(base), Span(cap), salt);
        prop_assert!(span >= Span(1) && span <= Span(cap));
    }
}
