//! F22–F28: what becomes of a link.

use policy::catalog::Catalog;
use policy::contract::Terms;
use policy::model::{LastFetch, LinkKind, Record};
use policy::outlink::{Action, Known, LinkDecision, Outlink, Parent, decide};
use policy::owner::{Origin, Via};
use policy::time::Time;

use crate::world::{day, extend, fetched_on, position, record, rows, span, url, world};

const WORLD: &str = "
    collection k
    profile p k every=2d depth=3
    profile o k every=2d hops=1
    seed vg    http://vg.no/    p
    seed other http://other.no/ o";

/// A link of a page of `seed` at `at`, in run 1, seen on day 0.
fn link<'a>(
    catalog: &'a Catalog,
    seed: &'a str,
    at: &str,
    target: &str,
    known: Known<'_>,
) -> LinkDecision<'a> {
    link_in_run(catalog, seed, at, target, known, 1)
}

fn link_in_run<'a>(
    catalog: &'a Catalog,
    seed: &'a str,
    at: &str,
    target: &str,
    known: Known<'_>,
    run: u64,
) -> LinkDecision<'a> {
    let parent =
        Parent { origin: Origin::Page(seed), via: Via::Start, position: position(at), run, collection: "k" };
    decide(catalog, &parent, &Outlink::new(url(target), LinkKind::Link), known, day(0))
}

fn start<'a>(catalog: &'a Catalog, seed: &'a str, known: Known<'_>, run: u64) -> LinkDecision<'a> {
    let target = catalog.seed(seed).unwrap().url.clone();
    let parent =
        Parent { origin: Origin::Start(seed), via: Via::Start, position: position(""), run, collection: "k" };
    decide(catalog, &parent, &Outlink::new(target, LinkKind::Link), known, day(0))
}

fn updated(decision: &LinkDecision<'_>) -> Record {
    match &decision.action {
        Action::Update(record) => record.clone(),
        other => panic!("{other:?}"),
    }
}

fn shown(action: &Action) -> String {
    match action {
        Action::Add(record) => format!("add {} d{}", record.seed, record.position.depth),
        Action::Update(record) => format!("update {} d{}", record.seed, record.position.depth),
        Action::Remove => "remove".into(),
        Action::Ignore => "ignore".into(),
        Action::Keep => "keep".into(),
    }
}

#[test]
fn f2_a_start_is_due_now_whenever_it_was_last_fetched() {
    let catalog = world(WORLD);
    let last = Some(LastFetch { at: day(-1), due: day(-1) });
    let queued = |seed: &str, due, errors| {
        let mut record = record(seed);
        (record.due, record.last, record.errors, record.not_found) = (due, last, errors, errors);
        record.etag = Some("etag".into());
        record
    };
    // Its own seed's URL, another seed's; waiting for its time, overdue, waiting for another try.
    for (seed, due, errors) in
        [("vg", day(6), 0), ("other", day(6), 0), ("vg", day(-2), 0), ("vg", day(1), 3)]
    {
        let before = queued(seed, due, errors);
        let started = updated(&start(&catalog, "vg", Known::Queued(&before), 9));
        assert_eq!((started.due, started.last), (due.min(day(0)), None), "{before:?}");
        assert_eq!((started.errors, started.not_found, started.etag.as_deref()), (0, 0, Some("etag")));
        let link = link_in_run(&catalog, "vg", "d1", "http://vg.no/", Known::Queued(&before), 9);
        if let Action::Update(record) = link.action {
            assert_eq!((record.last, record.errors), (last, errors), "a link is none");
        }
        // Started twice, it is started.
        let again = start(&catalog, "vg", Known::Queued(&started), 9);
        assert!(matches!(again.action, Action::Keep), "{again:?}");
    }
}

#[test]
fn f22_to_f28_the_table() {
    let table = "
        rule | page of | at | url        | known              | action
        F22  | vg      | d1 | vg.no/a    | -                  | add vg d2
        F22  | vg      |    | vg.no/     | -                  | add vg d0
        F22  | vg      | d1 | vg.no/a    | done 0             | add vg d2
        F22  | vg      | d3 | other.no/a | -                  | add other d1
        F23  | vg      | d1 | vg.no/a    | queued vg d3       | update vg d2
        F23  | vg      | d1 | vg.no/a    | queued vg d2       | keep
        F23  | vg      | d1 | vg.no/a    | queued vg d1       | keep
        F24  | other   | d1 | vg.no/a    | queued vg d3       | keep
        F24  | vg      | d1 | vg.no/a    | queued other d1 h1 | update vg d2
        F24  | vg      | d9 | other.no/a | queued vg d1       | update other d1
        F25  | vg      | d3 | vg.no/a    | queued vg d3       | keep
        F25  | vg      | d3 | vg.no/a    | queued vg d4       | remove
        F26  | vg      | d3 | vg.no/a    | queued gone d4     | ignore
        F26  | vg      | d1 | cnn.com    | queued other d1 h1 | ignore
        F26  | vg      | d3 | vg.no/a    | queued other d1 h1 | ignore
        F27  | vg      | d1 | cnn.com    | -                  | ignore
        F27  | vg      | d3 | vg.no/a    | -                  | ignore
        F27  | gone    | d1 | cnn.com    | -                  | ignore
        F28  | vg      | d1 | vg.no/a    | done 1             | ignore
        F28  | vg      | d1 | vg.no/a    | done 2             | ignore
        F28  | vg      | d1 | vg.no/a    | blacklisted        | ignore";
    let catalog = world(WORLD);
    for row in rows(table) {
        let (kind, rest) = row[4].split_once(' ').unwrap_or((row[4], ""));
        let (seed, at) = rest.split_once(' ').unwrap_or((rest, ""));
        let queued = Record { position: position(at), ..record(seed) };
        let known = match kind {
            "-" => Known::Absent,
            "done" => Known::Done { run: rest.parse().unwrap() },
            "blacklisted" => Known::Blacklisted,
            _ => Known::Queued(&queued),
        };
        let decision = link(&catalog, row[1], row[2], row[3], known);
        assert_eq!((decision.rule.as_str(), shown(&decision.action).as_str()), (row[0], row[5]), "{row:?}");
    }
}

#[test]
fn f2_f22_a_new_record_is_all_zero_and_due_now() {
    let catalog = world(WORLD);
    let Action::Add(added) = start(&catalog, "vg", Known::Absent, 4).action else { panic!("not added") };
    let terms = Some(Terms { every: span("2d"), profiles: vec!["p".into()], adaptive: false });
    let expected = Record { position: position(""), run: 4, terms, ..record("vg") };
    assert_eq!(added, expected);
}

#[test]
fn f2_starting_a_seed_that_another_owns_brings_it_home() {
    let catalog = world(WORLD);
    let queued = Record { position: position("d2 h1"), ..fetched_on("other", -1) };
    let decision = start(&catalog, "vg", Known::Queued(&queued), 1);
    let rules = (decision.rule.as_str(), decision.owner.map(|rule| rule.as_str()));
    assert_eq!(rules, ("F24", Some("O6")));
    let record = updated(&decision);
    assert_eq!((record.seed.as_str(), record.position), ("vg", position("")));
    assert_eq!((record.due, record.last), (queued.due.min(day(0)), None), "and it is due now");
}

#[test]
fn f4_f28_a_new_run_reaches_what_is_done_or_counts_anew() {
    let catalog = world(WORLD);
    assert_eq!(start(&catalog, "vg", Known::Done { run: 1 }, 1).action, Action::Ignore);
    assert!(matches!(start(&catalog, "vg", Known::Done { run: 1 }, 2).action, Action::Add(_)));

    let queued = Record { cycles: 3, position: position("d2"), ..record("vg") };
    let again = updated(&link_in_run(&catalog, "vg", "d1", "vg.no/a", Known::Queued(&queued), 2));
    assert_eq!((again.run, again.cycles), (2, 0));
    let older = Record { run: 5, ..queued };
    let kept = link_in_run(&catalog, "vg", "d1", "vg.no/a", Known::Queued(&older), 2);
    assert_eq!(kept.action, Action::Keep, "an older run changes nothing");
}

#[test]
fn f23_the_earlier_due_wins() {
    // Queued for day 5, every 2 days, seen on day 0.
    let table = "
        last | errors | profile                 | due
        -    | 0      | profile p k every=2d     | 0
        -1   | 0      | profile p k every=2d     | 1
        3    | 0      | profile p k every=2d     | 5
        -1   | 2      | profile p k every=2d     | 5
        -    | 1      | profile p k every=2d     | 5
        -    | 0      | profile p k every=2d off | 5
        -1   | 0      | profile p k every=2d off | 5";
    for row in rows(table) {
        let mut catalog = world(WORLD);
        extend(&mut catalog, row[2]);
        let last = row[0].parse().ok().map(|n| LastFetch { at: day(n), due: day(n) });
        let errors = row[1].parse().unwrap();
        let queued = Record { due: day(5), last, errors, position: position("d2"), ..record("vg") };
        let decision = link(&catalog, "vg", "d1", "vg.no/a", Known::Queued(&queued));
        let due = match &decision.action {
            Action::Keep => queued.due,
            Action::Update(record) => record.due,
            other => panic!("{other:?}"),
        };
        assert_eq!(due, day(row[3].parse().unwrap()), "{row:?}");
    }
}

#[test]
fn f23_of_positions_that_are_each_better_in_something_the_more_often_harvested_wins() {
    let mut catalog = world(WORLD);
    extend(
        &mut catalog,
        "profile near k every=9d depth=2 hops=9
         profile far  k every=1d depth=9 hops=1
         seed s http://s.no/ near,far",
    );
    // From d3 h0 the link is d4 h1: only `far`, which is faster. From d1 h1 it is d2 h2: only `near`.
    let choose = |stored: &str, from: &str| {
        let queued = Record { position: position(stored), ..record("s") };
        match link(&catalog, "s", from, "x.no/", Known::Queued(&queued)).action {
            Action::Keep => position(stored),
            Action::Update(record) => record.position,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(choose("d2 h2", "d3"), position("d4 h1"));
    assert_eq!(choose("d4 h1", "d1 h1"), position("d4 h1"), "whatever the order");
    extend(&mut catalog, "profile far k every=9d depth=9 hops=1");
    let queued = Record { position: position("d4 h1"), ..record("s") };
    let decision = link(&catalog, "s", "d1 h1", "x.no/", Known::Queued(&queued));
    assert_eq!(updated(&decision).position, position("d2 h2"), "equally often: the smaller depth");
}

#[test]
fn f23_the_ttl_is_renewed_in_steps_of_a_sixteenth() {
    let mut catalog = world(WORLD);
    extend(&mut catalog, "profile p k every=2d ttl=16d");
    let linked_after = |linked: Time, by: &'static str| {
        let queued = Record { linked, position: position("d2"), ..fetched_on("vg", -1) };
        match link(&catalog, by, "d1", "vg.no/a", Known::Queued(&queued)).action {
            Action::Keep => linked,
            Action::Update(record) => record.linked,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(linked_after(day(-1), "vg"), day(-1));
    let more = Time(day(-1).0 - 1);
    assert_eq!(linked_after(more, "vg"), day(0));
    assert_eq!(linked_after(more, "other"), day(0), "F24: any link is a link for the ttl");
    let mut forever = world(WORLD);
    extend(&mut forever, "profile p k every=2d");
    let queued = Record { linked: day(-99), position: position("d2"), ..record("vg") };
    assert_eq!(link(&forever, "vg", "d1", "vg.no/a", Known::Queued(&queued)).action, Action::Keep);
}

#[test]
fn f24_the_winner_takes_its_position_and_the_harvests_stay() {
    let catalog = world(WORLD);
    let queued = Record {
        position: position("d1 h1"),
        due: day(9),
        digest: Some("d".into()),
        not_found: 1,
        ..fetched_on("other", -1)
    };
    let record = updated(&link(&catalog, "vg", "d2", "vg.no/a", Known::Queued(&queued)));
    let terms = Some(Terms { every: span("2d"), profiles: vec!["p".into()], adaptive: false });
    let expected = Record { seed: "vg".into(), position: position("d3"), due: day(1), terms, ..queued };
    assert_eq!(record, expected);
}

#[test]
fn f25_an_inactive_profile_deletes_nothing() {
    let mut catalog = world(WORLD);
    extend(&mut catalog, "profile p k every=2d depth=3 off");
    let queued = Record { position: position("d3"), ..record("vg") };
    assert_eq!(link(&catalog, "vg", "d3", "vg.no/a", Known::Queued(&queued)).action, Action::Keep);
    assert_eq!(shown(&link(&catalog, "vg", "d2", "vg.no/b", Known::Absent).action), "add vg d3");
}

#[test]
fn f9_what_a_deleted_seed_owned_is_taken_over_at_the_next_link() {
    let mut catalog = world(WORLD);
    extend(&mut catalog, "profile o k every=2d hops=1 off");
    let queued = Record { position: position("d1"), ..record("aaa-deleted") };
    let decision = link(&catalog, "other", "d1", "cnn.com/x", Known::Queued(&queued));
    assert_eq!(shown(&decision.action), "update other d2", "though its key sorts first and `other` is off");
}

#[test]
fn f22_redirects_and_requisites_keep_the_depth() {
    let catalog = world(WORLD);
    let place = |kind, target| {
        let parent = Parent {
            origin: Origin::Page("vg"),
            via: Via::Start,
            position: position("d3"),
            run: 1,
            collection: "k",
        };
        shown(&decide(&catalog, &parent, &Outlink::new(url(target), kind), Known::Absent, day(0)).action)
    };
    assert_eq!(place(LinkKind::Redirect, "vg.no/a"), "add vg d3");
    assert_eq!(place(LinkKind::Requisite, "cdn.com/x.css"), "add vg d3");
    assert_eq!(place(LinkKind::Link, "vg.no/a"), "ignore");
    assert_eq!(place(LinkKind::Redirect, "cdn.com/x.css"), "ignore");
}

#[test]
fn a_decision_is_told() {
    let catalog = world(WORLD);
    let told = link(&catalog, "vg", "d3", "other.no/a", Known::Absent).to_string();
    let expected = "F22: in scope, not queued: add; judged for seed `other` \
                    (O5: not in scope of the seed of the page: the best match); \
                    in scope: within the seed's domain";
    assert_eq!(told, expected);
    let queued = Record { due: day(0).plus(span("1h")), ..fetched_on("vg", 0) };
    let told = link(&catalog, "other", "d1", "vg.no/a", Known::Queued(&queued)).to_string();
    assert!(told.ends_with("O7: the queued seed is the best match: it stays"), "{told}");
}
