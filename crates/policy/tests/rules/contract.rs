//! F31: promises, and what becomes of them.

use policy::catalog::Catalog;
use policy::contract::{Kept, Missed, Owed, Settled, Terms};
use policy::model::{Record, Seed};
use policy::outcome::{Answer, Fetched, NoAnswer, Outcome, Placement, Response, outcome};
use policy::rule::Rule;
use policy::standing::Subject;
use policy::time::{Span, Time};
use proptest::prelude::*;

use crate::world::{change, day, extend, fetched_on, record, rows, span, url, world};

const WORLD: &str = "
    collection k
    profile daily k every=1d
    profile also k every=1d
    profile weekly k every=7d
    profile short k every=1h length=2
    seed vg http://vg.no/ daily,weekly";

fn hours(text: &str) -> Time {
    let (sign, text) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    Time(day(0).0 + sign * i64::try_from(span(text).0).unwrap())
}

fn terms(every: &str) -> Terms {
    Terms { every: span(every), profiles: vec!["daily".into()], adaptive: false }
}

#[test]
fn f31_the_first_answer_at_or_after_a_promise_keeps_it_and_each_one_before_that_is_missed() {
    // The promise is at hour 0.
    let table = "
        every | try at | what       | missed | kept | late | open
        24h   | 0h     | answer     | 0      | 0h   | 0h   |
        24h   | 5h     | answer     | 0      | 0h   | 5h   |
        24h   | 24h    | answer     | 1      | 24h  | 0h   |
        24h   | 60h    | answer     | 2      | 48h  | 12h  |
        24h   | 240h   | answer     | 10     | 240h | 0h   |
        24h   | -1h    | answer     | 0      |      |      |
        24h   | -1h    | no answer  | 0      |      |      | 0h
        24h   | 1h     | no answer  | 0      |      |      | 0h
        24h   | 24h    | no answer  | 1      |      |      | 24h
        24h   | 60h    | no answer  | 2      |      |      | 48h
        24h   | -1h    | given up   | 0      |      |      |
        24h   | 17h    | given up   | 1      |      |      |
        24h   | 60h    | given up   | 3      |      |      | ";
    for row in rows(table) {
        let (owed, terms, at) = (Owed::Promise(day(0)), terms(row[0]), hours(row[1]));
        let (settled, open) = match row[2] {
            "answer" => (owed.answered(&Catalog::new(), Some(&terms), at), Owed::Nothing),
            "no answer" => owed.failed(&Catalog::new(), Some(&terms), at),
            _ => owed.given_up(&Catalog::new(), Some(&terms), at),
        };
        assert_eq!(settled.missed.count, row[3].parse::<u64>().unwrap(), "{row:?}");
        let kept = (!row[4].is_empty()).then(|| Kept { promise: hours(row[4]), late: span(row[5]) });
        assert_eq!(settled.kept, kept, "{row:?}");
        let expected = if row[6].is_empty() { Owed::Nothing } else { Owed::Promise(hours(row[6])) };
        assert_eq!(open, expected, "{row:?}");
    }
}

#[test]
fn f31_a_first_harvest_is_no_promise_and_its_waiting_is_told_apart() {
    let owed = Owed::First(day(0));
    let settled = owed.answered(&Catalog::new(), Some(&terms("1d")), day(3));
    let expected = Settled { profiles: vec!["daily".into()], first: Some(span("3d")), ..Settled::default() };
    assert_eq!(settled, expected);
    assert_eq!(
        owed.failed(&Catalog::new(), Some(&terms("1d")), day(3)),
        (Settled::default(), owed),
        "it goes on waiting"
    );
    assert_eq!(owed.given_up(&Catalog::new(), Some(&terms("1d")), day(3)).0, Settled::default());
}

#[test]
fn f31_the_shortest_frequency_in_force_makes_the_promise() {
    let table = "
        seed's profiles   | off    | cycles | whose
        daily,weekly      |        | 0      | daily
        daily,also,weekly |        | 0      | daily,also
        daily,weekly      | daily  | 0      | weekly
        daily,short       |        | 1      | short
        daily,short       |        | 2      | daily
        weekly            | weekly | 0      | ";
    for row in rows(table) {
        let mut catalog = world(WORLD);
        let profiles = row[0].split(',').map(str::to_owned).collect();
        let seed = Seed {
            name: "vg".into(),
            url: "http://vg.no/".into(),
            active: true,
            profiles,
            ..Seed::default()
        };
        catalog.apply(policy::catalog::Change::PutSeed(seed)).unwrap();
        if !row[1].is_empty() {
            let every = if row[1] == "daily" { "1d" } else { "7d" };
            extend(&mut catalog, &format!("profile {} k every={every} off", row[1]));
        }
        let subject = Subject { catalog: &catalog, collection: "k", url: &url("vg.no/a") };
        let record = Record { cycles: row[2].parse().unwrap(), ..record("vg") };
        let whose = subject.terms_of(&record).map(|terms| terms.profiles.join(",")).unwrap_or_default();
        assert_eq!(whose, row[3], "{row:?}");
    }
}

#[test]
fn f31_evaluation_withdraws_what_nobody_promises_any_more() {
    let catalog = world(WORLD);
    let subject = Subject { catalog: &catalog, collection: "k", url: &url("vg.no/a") };
    let promised = Record { owed: Owed::Promise(day(1)), terms: Some(terms("1d")), ..fetched_on("vg", 0) };
    let waits = Record { terms: Some(terms("1d")), ..record("vg") };
    let table = [
        (Rule::F15, &promised, Owed::Promise(day(9)), true),
        (Rule::F11, &promised, Owed::Nothing, false),
        (Rule::F12, &promised, Owed::Nothing, false),
        (Rule::F14, &promised, Owed::Nothing, false),
        (Rule::F14, &waits, Owed::First(day(9)), false),
    ];
    for (rule, record, owed, has_terms) in table {
        let later = subject.postponed(record, rule, day(9));
        assert_eq!((later.due, later.owed, later.terms.is_some()), (day(9), owed, has_terms), "{rule}");
    }
    assert_eq!(Owed::Promise(day(1)).back(day(5)), Owed::Nothing, "lifted from the blacklist");
    assert_eq!(Owed::First(day(1)).back(day(5)), Owed::First(day(5)));
}

#[test]
fn f31_a_link_that_makes_a_url_due_earlier_promises_it_earlier() {
    use policy::model::{LinkKind, Position};
    use policy::outlink::{Action, Known, Outlink, Parent, decide};
    use policy::owner::{Origin, Via};
    let mut catalog = world(WORLD);
    let weekly = Terms { every: span("7d"), profiles: vec!["weekly".into()], adaptive: false };
    let queued =
        Record { due: day(6), owed: Owed::Promise(day(6)), terms: Some(weekly), ..fetched_on("vg", -1) };
    let parent = Parent {
        origin: Origin::Page("vg"),
        via: Via::Start,
        position: Position::default(),
        run: 1,
        collection: "k",
    };
    let link = Outlink::new(url("vg.no/a"), LinkKind::Link);
    catalog.apply(change("profile daily k every=2d")).unwrap();
    let Action::Update(record) = decide(&catalog, &parent, &link, Known::Queued(&queued), day(0)).action
    else {
        panic!("not updated")
    };
    assert_eq!((record.due, record.owed), (day(1), Owed::Promise(day(1))));
    assert_eq!(record.terms.unwrap().profiles, ["daily"]);
}

fn harvest(before: &Record, at: Time, status: Option<u16>) -> Outcome {
    let catalog = world("collection k\nprofile p k every=1d errors=9 not_found=2\nseed vg http://vg.no/ p");
    let answer = match status {
        Some(status) => Answer::Response(Response { status, ..Response::default() }),
        None => Answer::NoAnswer(NoAnswer::Timeout),
    };
    let fetched = Fetched { at, answer, robots_denied_until: None, dns_failed: false };
    outcome(&catalog, "k", &url("vg.no/a"), before, &fetched, None, 7, at)
}

#[test]
fn f31_a_site_that_is_silent_for_ten_days_has_missed_ten() {
    let first = harvest(&Record { due: day(0), ..record("vg") }, day(0), Some(200));
    assert_eq!((first.settled.first, first.record.owed), (Some(Span::ZERO), Owed::Promise(day(1))));
    let mut record = first.record;
    let mut missed = 0;
    for n in 1..=11 {
        record = Record { errors: record.errors.min(5), ..record };
        let outcome = harvest(&record, day(n), None);
        missed += outcome.settled.missed.count;
        assert_eq!(outcome.settled.kept, None);
        record = outcome.record;
    }
    assert_eq!((missed, record.owed), (10, Owed::Promise(day(11))), "the eleventh is not over yet");
    let answered = harvest(&record, day(11).plus(span("3h")), Some(404));
    assert_eq!(answered.settled.kept, Some(Kept { promise: day(11), late: span("3h") }), "any status");
    assert_eq!(answered.record.owed, Owed::Promise(day(12).plus(span("3h"))));
}

#[test]
fn f31_an_excuse_is_an_answer_and_its_retries_break_no_promise() {
    let before = harvest(&Record { due: day(0), ..record("vg") }, day(0), Some(200)).record;
    let excuse = harvest(&before, day(1), Some(503));
    assert_eq!(excuse.settled.kept, Some(Kept { promise: day(1), late: Span::ZERO }));
    assert_eq!(excuse.record.owed, Owed::Promise(day(2)));
    let retry = harvest(&excuse.record, day(1).plus(span("2min")), Some(200));
    assert!(retry.settled.is_nothing(), "{:?}", retry.settled);
    assert_eq!(retry.record.owed, Owed::Promise(day(2)));
}

#[test]
fn f31_who_is_given_up_has_missed_what_was_due_and_is_promised_nothing() {
    let before = harvest(&Record { due: day(0), ..record("vg") }, day(0), Some(200)).record;
    let given_up = harvest(&Record { errors: 9, ..before }, day(1).plus(span("17h")), None);
    assert!(matches!(given_up.placement, Placement::Blacklist(_)));
    assert_eq!((given_up.settled.missed.count, given_up.record.owed), (1, Owed::Nothing));
}

proptest! {
    #[test]
    fn f31_missed_promises_are_spread_over_their_hours(
        first in -10_000_000i64..10_000_000_000,
        every in 1u64..500_000_000,
        count in 0u64..2_000,
        since in 0i64..20_000_000_000,
        max in 1u64..400,
    ) {
        let hour = Span::hours(1);
        let missed = Missed { first: Time(first), every: Span(every), count };
        let times: Vec<i64> = (0..count).map(|n| first + i64::try_from(n * every).unwrap()).collect();
        let of = |time: i64| time.div_euclid(3_600_000) * 3_600_000;
        let mut exact = std::collections::BTreeMap::new();
        for time in &times {
            *exact.entry(of(*time)).or_insert(0u64) += 1;
        }
        let spread = missed.spread(hour, max);
        prop_assert_eq!(spread.iter().map(|(_, n)| n).sum::<u64>(), count);
        prop_assert!(spread.len() as u64 <= max + 1, "{} of {max}", spread.len());
        prop_assert!(spread.iter().all(|(hour, _)| exact.contains_key(&hour.0)), "an hour in which none fell due");
        if exact.len() as u64 + 1 < max {
            let spread: Vec<(i64, u64)> = spread.into_iter().map(|(hour, n)| (hour.0, n)).collect();
            prop_assert_eq!(spread, exact.into_iter().collect::<Vec<_>>());
        }
        let later = missed.from(Time(since));
        prop_assert_eq!(later.count, times.iter().filter(|time| **time >= since).count() as u64);
        if later.count > 0 {
            prop_assert!(times.contains(&later.first.0));
        }
    }

    #[test]
    fn f31_nothing_from_outside_overflows(first: i64, every: u64, at: i64, max in 1u64..50) {
        let owed = Owed::Promise(Time(first));
        let terms = Terms { every: Span(every), profiles: vec!["p".into()], adaptive: false };
        let settled = owed.answered(&Catalog::new(), Some(&terms), Time(at));
        prop_assert!(settled.missed.spread(Span::hours(1), max).len() as u64 <= max + 1);
        let _ = (owed.failed(&Catalog::new(), Some(&terms), Time(at)), owed.given_up(&Catalog::new(), Some(&terms), Time(at)));
    }
}
