//! F41: what pages say of when others changed, believed as far as it proved true.

use policy::Rule;
use policy::catalog::Catalog;
use policy::changes::Range;
use policy::evaluate::{Verdict, evaluate};
use policy::hint::{Claim, Hint, Said, Trust};
use policy::model::{LinkKind, Profile, Record};
use policy::outcome::{Answer, Fetched, NoAnswer, Response, outcome};
use policy::outlink::{Action, Known, Outlink, Parent, decide};
use policy::owner::{Origin, Via};
use policy::standing::Subject;
use policy::time::{Span, Time};
use proptest::prelude::*;
use testkit::catalog::put;

use crate::world::{day, fetched_on, position, url, world};

const RANGE: Range = Range { fast: Span::hours(1), slow: Span::days(30) };

fn catalog(change: impl Fn(Profile) -> Profile) -> Catalog {
    let mut catalog = world("collection k");
    let profile =
        Profile { every: RANGE.fast, slowest: Some(RANGE.slow), ..testkit::catalog::profile("p", "k") };
    catalog.apply(put(change(profile))).unwrap();
    catalog.apply(put(testkit::catalog::seed("vg", "http://vg.no/", &["p"]))).unwrap();
    catalog
}

fn trusted() -> Trust {
    (0..50).fold(Trust::default(), |trust, _| trust.after(true))
}

/// What a link with this date makes of a record.
fn linked(catalog: &Catalog, record: &Record, said: Said, trust: &Trust, now: Time) -> Action {
    let url = url("vg.no/a");
    let parent = Parent {
        origin: Origin::Page("vg"),
        via: Via::page("http://vg.no/", "vg"),
        position: position(""),
        run: 1,
        collection: "k",
    };
    let link = Outlink { url: url.clone(), kind: LinkKind::Link, said: Some(said) };
    let action = decide(catalog, &parent, &link, Known::Queued(record), now).action;
    Subject { catalog, collection: "k", url: &url }.dated(action, Some(record), said, trust, now)
}

/// Harvested on day 0, of a rate that has it due again on day 30.
fn settled(catalog: &Catalog) -> Record {
    let changes =
        (0..30).fold(policy::changes::Changes::default(), |seen, _| seen.after(Span::days(30), false));
    assert_eq!(changes.every(RANGE), RANGE.slow);
    let via = Via::page("http://vg.no/", "vg");
    let record = Record { changes, via, digest: Some("a".into()), due: day(30), ..fetched_on("vg", 0) };
    let url = url("vg.no/a");
    let terms = Subject { catalog, collection: "k", url: &url }.terms_of(&record);
    Record { terms, owed: policy::contract::Owed::Promise(day(30)), ..record }
}

fn hours(n: u64) -> Time {
    day(0).plus(Span::hours(n))
}

#[test]
fn f41_a_date_is_believed_as_far_as_such_dates_proved_true() {
    let catalog = catalog(|profile| profile);
    let record = settled(&catalog);
    let unproven = Trust::default();
    let liar = (0..50).fold(trusted(), |trust, _| trust.after(false));
    let half = (0..50).fold(Trust::default(), |trust, n| trust.after(n % 2 == 0));
    let (now, said) = (day(2), Said::at(day(1)));
    let due = |trust: &Trust| match linked(&catalog, &record, said, trust, now) {
        Action::Update(record) => record.due,
        other => panic!("{other:?}"),
    };
    assert_eq!(due(&unproven), day(30), "nobody is believed who has not proved true");
    assert!(due(&liar) > day(15), "{}", due(&liar));
    assert!(due(&half) > day(1) && due(&half) < day(10), "{}", due(&half));
    assert_eq!(due(&trusted()), now, "the time is over that it would wait");
    assert!(trusted().belief() > 0.9 && trusted().belief() < 1.0);
}

#[test]
fn f41_only_what_lies_behind_the_last_harvest_claims_a_change() {
    let catalog = catalog(|profile| profile);
    let fixed = self::catalog(|profile| Profile { every: Span::days(30), slowest: None, ..profile });
    let record = settled(&catalog);
    let known = |said: Time| Record { hint: Some(Hint { said, claim: None }), ..record.clone() };
    let of_a_day = |n: i64| Said { from: day(n), until: Time(day(n + 1).0 - 1) };
    let noon =
        Record { last: Some(policy::model::LastFetch { at: hours(12), due: day(0) }), ..record.clone() };
    let noon_known = Record { hint: Some(Hint { said: day(-3), claim: None }), ..noon.clone() };
    let late = Record { errors: 1, ..record.clone() };
    for (what, catalog, record, said, claims, earlier) in [
        ("later than the harvest", &catalog, &record, Said::at(day(1)), true, true),
        ("before it", &catalog, &record, Said::at(day(-1)), false, false),
        ("the same again", &catalog, &known(day(1)), Said::at(day(1)), false, false),
        ("moved on", &catalog, &known(day(-1)), Said::at(day(1)), true, true),
        ("of the future", &catalog, &record, Said::at(day(3)), false, false),
        ("of the harvest's day, for the first time", &catalog, &noon, of_a_day(0), false, false),
        ("of the harvest's day, moved on", &catalog, &noon_known, of_a_day(0), true, true),
        ("a clock that was ahead", &catalog, &known(day(9)), Said::at(day(1)), true, true),
        ("a fixed frequency", &fixed, &record, Said::at(day(1)), false, false),
        ("a retry keeps its time", &catalog, &late, Said::at(day(1)), true, false),
    ] {
        let found = match linked(catalog, record, said, &trusted(), day(2)) {
            Action::Update(record) => record,
            Action::Keep => record.clone(),
            other => panic!("{what}: {other:?}"),
        };
        assert_eq!(found.hint.and_then(|hint| hint.claim).is_some(), claims, "{what}");
        assert_eq!(found.due < record.due, earlier, "{what}");
        assert_eq!((found.owed, &found.terms), (record.owed, &record.terms), "{what}: promises stay");
    }
}

#[test]
fn f41_a_claim_stands_until_a_harvest_with_content_settles_it() {
    let catalog = catalog(|profile| profile);
    let url = url("vg.no/a");
    let Action::Update(claimed) = linked(&catalog, &settled(&catalog), Said::at(day(1)), &trusted(), day(2))
    else {
        panic!()
    };
    let found = evaluate(&catalog, "k", &url, &claimed, None, day(2));
    assert!(matches!(found.verdict, Verdict::Harvest(_)), "{:?}", found.verdict);
    let says = |rule: &Rule| {
        found.steps.iter().filter(|step| step.rule == *rule).map(ToString::to_string).collect::<Vec<_>>()
    };
    let steps = says(&Rule::F41);
    assert!(
        steps.iter().any(|step| step.contains("changed at") && step.contains("believed at 9")),
        "{steps:?}"
    );
    for (status, unchanged, errors, proved, stands) in [
        (Some(200), false, 0, Some(true), false),
        (Some(200), true, 0, Some(false), false),
        (Some(304), true, 0, Some(false), false),
        (Some(200), false, 2, None, false),
        (Some(404), false, 0, None, true),
        (Some(500), false, 0, None, true),
        (None, false, 0, None, true),
    ] {
        let answer = match status {
            Some(status) => Answer::Response(Response {
                status,
                unchanged,
                digest: Some("b".into()),
                ..Response::default()
            }),
            None => Answer::NoAnswer(NoAnswer::Timeout),
        };
        let fetched = Fetched { at: day(2), answer, robots_denied_until: None, dns_failed: false };
        let before = Record { errors, ..claimed.clone() };
        let found = outcome(&catalog, "k", &url, &before, &fetched, None, 1, day(2));
        assert_eq!(found.proved, proved, "{status:?} {unchanged} {errors}");
        let hint = found.record.hint.unwrap();
        assert_eq!((hint.said, hint.claim.is_some()), (day(1), stands), "{status:?} {unchanged} {errors}");
    }
}

proptest! {
    #[test]
    fn f41_a_claim_never_leaves_the_range_and_never_makes_it_later(
        changed in proptest::collection::vec(any::<bool>(), 0..30),
        proved in proptest::collection::vec(any::<bool>(), 0..40),
        said in -40i64..40, waited in 0u64..1000, at in proptest::option::of(0u16..1440),
    ) {
        let catalog = catalog(|profile| Profile {
            at: at.map(|minute| format!("{:02}:{:02}", minute / 60, minute % 60).parse().unwrap()),
            ..profile
        });
        let changes = changed.iter().fold(policy::changes::Changes::default(), |seen, changed| seen.after(Span::days(1), *changed));
        let url = url("vg.no/a");
        let subject = Subject { catalog: &catalog, collection: "k", url: &url };
        let record = Record { changes, via: Via::page("http://vg.no/", "vg"), ..fetched_on("vg", 0) };
        let due = subject.next_due("vg", record.position, &policy::standing::Past::from(&record), record.last.unwrap()).unwrap();
        let record = Record { due, ..record };
        let trust = proved.iter().fold(Trust::default(), |trust, proved| trust.after(*proved));
        prop_assert!((0.0..1.0).contains(&trust.belief()));
        let now = day(0).plus(Span::hours(waited));
        let found = match linked(&catalog, &record, Said::at(day(said)), &trust, now) {
            Action::Update(record) => record,
            _ => record.clone(),
        };
        prop_assert!(found.due <= record.due);
        if found.due < record.due {
            prop_assert!(found.due >= day(0).plus(RANGE.fast), "{} is sooner than the fast end", found.due);
            prop_assert!(found.due >= now, "{} is past", found.due);
        }
        // The door says the same as the queue.
        let at_due = evaluate(&catalog, "k", &url, &found, None, found.due.max(now));
        prop_assert!(matches!(at_due.verdict, Verdict::Harvest(_)), "{:?}", at_due.verdict);
    }

    #[test]
    fn f41_more_belief_never_makes_it_later(every in 3600u64..2_592_000, belief in 0u8..100) {
        let every = Span::seconds(every);
        let [less, more] = [belief, belief + 1].map(|belief| RANGE.hastened(every, belief));
        prop_assert!(more <= less && less <= every && more >= RANGE.fast);
        prop_assert_eq!((RANGE.hastened(every, 0), RANGE.hastened(every, 100)), (every, RANGE.fast));
    }

}

#[test]
fn f41_what_is_kept_of_a_claim_is_small() {
    assert!(size_of::<Option<Hint>>() <= 32 && size_of::<Claim>() <= 16 && size_of::<Trust>() <= 12);
}
