//! F41: a frequency of each URL's own.

use policy::Rule;
use policy::changes::{Changes, Range};
use policy::evaluate::evaluate;
use policy::model::{Profile, Record};
use policy::outcome::{Answer, Fetched, Response, outcome};
use policy::owner::Via;
use policy::standing::Subject;
use policy::time::Span;
use proptest::prelude::*;
use testkit::catalog::put;

use crate::world::{day, fetched_on, url, world};

const RANGE: Range = Range { fast: Span::hours(1), slow: Span::days(30) };

fn seen(span: Span, changes: &[bool]) -> Changes {
    changes.iter().fold(Changes::default(), |seen, changed| seen.after(span, *changed))
}

fn adaptive() -> Profile {
    Profile { every: RANGE.fast, slowest: Some(RANGE.slow), ..testkit::catalog::profile("p", "k") }
}

#[test]
fn f41_a_new_url_begins_at_the_geometric_middle() {
    let middle = Changes::default().every(RANGE);
    let expected = (1.0_f64 * 720.0).sqrt() * 3600.0;
    assert!((middle.0 as f64 / 1000.0 - expected).abs() < 2.0, "{middle}");
    assert_eq!(Changes::default().confidence(), 0.0);
}

#[test]
fn f41_what_always_changes_comes_to_the_fast_end_and_what_never_does_to_the_slow_one() {
    for (changed, end) in [(true, RANGE.fast), (false, RANGE.slow)] {
        let mut changes = Changes::default();
        let mut harvests = 0;
        while changes.every(RANGE) != end {
            changes = changes.after(changes.every(RANGE), changed);
            harvests += 1;
            assert!(harvests < 300, "{changed}: still at {}", changes.every(RANGE));
        }
        let soon = (0..25).fold(Changes::default(), |soon, _| soon.after(soon.every(RANGE), changed));
        let (soon, middle) = (soon.every(RANGE), RANGE.middle());
        assert!(if changed { soon.0 * 4 < middle.0 } else { soon == RANGE.slow }, "{changed}: {soon}");
    }
}

#[test]
fn f41_only_what_can_tell_is_counted() {
    let mut catalog = world("collection k");
    catalog.apply(put(adaptive())).unwrap();
    catalog.apply(put(testkit::catalog::seed("vg", "http://vg.no/", &["p"]))).unwrap();
    let url = url("vg.no/a");
    let known = Record { digest: Some("a".into()), due: day(1), via: Via::Start, ..fetched_on("vg", 0) };
    let table = [
        (200, false, &known, Some(true)),
        (200, true, &known, Some(false)),
        (304, true, &known, Some(false)),
        (404, false, &known, None),
        (500, false, &known, None),
        (200, false, &Record { digest: None, ..known.clone() }, None),
        (200, false, &Record { errors: 2, ..known.clone() }, None),
        (200, false, &Record { last: None, ..known.clone() }, None),
    ];
    for (status, unchanged, before, expected) in table {
        let response = Response { status, unchanged, digest: Some("b".into()), ..Response::default() };
        let answer = Answer::Response(response);
        let fetched = Fetched { at: day(1), answer, robots_denied_until: None, dns_failed: false };
        let found = outcome(&catalog, "k", &url, before, &fetched, None, 1, day(1)).record;
        let expected = expected.map_or(Changes::default(), |changed| seen(Span::days(1), &[changed]));
        assert_eq!(found.changes, expected, "{status} {unchanged}");
        if found.errors == 0 {
            let every = found.changes.every(RANGE);
            // A retry was for the slot before.
            let slot = if before.errors > 0 { day(0) } else { day(1) };
            assert_eq!(found.due, slot.plus(every), "the frequency in force makes the due time");
            assert_eq!(found.terms.map(|terms| (terms.every, terms.adaptive)), Some((every, true)));
        }
    }
}

#[test]
fn f41_why_tells_the_rate_the_confidence_and_the_frequency() {
    let mut catalog = world("collection k");
    catalog.apply(put(adaptive())).unwrap();
    catalog.apply(put(testkit::catalog::seed("vg", "http://vg.no/", &["p"]))).unwrap();
    let url = url("vg.no/a");
    let changes = seen(Span::days(1), &[true, false, false, true]);
    let record = Record { changes, ..fetched_on("vg", 0) };
    let found = evaluate(&catalog, "k", &url, &record, None, day(90));
    let step = found.steps.iter().find(|step| step.rule == Rule::F41).unwrap().to_string();
    for part in ["between 1h and 30d", "2 of 4 harvests", "times a day", "confidence 87 %", "so every "] {
        assert!(step.contains(part), "{step}");
    }
    let subject = Subject { catalog: &catalog, collection: "k", url: &url };
    assert!(subject.terms_of(&record).unwrap().adaptive);
}

proptest! {
    #[test]
    fn f41_a_frequency_stays_between_its_ends_and_on_few_steps(
        fast in 1u64..100_000, ratio in 2u64..100_000, history in proptest::collection::vec((1u64..10_000_000, any::<bool>()), 0..60),
    ) {
        let range = Range { fast: Span::seconds(fast), slow: Span::seconds(fast * ratio) };
        let mut changes = Changes::default();
        for (seconds, changed) in history {
            changes = changes.after(Span::seconds(seconds), changed);
            let every = changes.every(range);
            prop_assert!(range.fast <= every && every <= range.slow, "{every}");
            prop_assert!((0.0..=1.0).contains(&changes.confidence()));
            prop_assert!(changes.per_day(range).is_finite());
        }
    }

    #[test]
    fn f41_more_changes_never_make_it_slower(history in proptest::collection::vec(any::<bool>(), 1..40), flip in 0usize..40) {
        let flip = flip % history.len();
        let (mut less, mut more) = (history.clone(), history);
        (less[flip], more[flip]) = (false, true);
        let [less, more] = [less, more].map(|history| seen(Span::days(1), &history).every(RANGE));
        prop_assert!(more <= less, "{more} {less}");
    }

    #[test]
    fn f41_what_is_kept_of_a_url_is_small(history in proptest::collection::vec((1u64..3_000_000, any::<bool>()), 0..60)) {
        let seen = history.into_iter().fold(Changes::default(), |seen, (s, changed)| seen.after(Span::seconds(s), changed));
        // Numbers of 32 bits, of which small ones take less.
        prop_assert!(std::mem::size_of_val(&seen) <= 16);
    }
}
