//! F18–F21 and the fourteen variants of F30.

use policy::catalog::Catalog;
use policy::model::{BlacklistReason, LastFetch, Record};
use policy::outcome::{Answer, Fetched, HostEffect, NoAnswer, Outcome, Placement, Response, outcome};
use policy::time::{Span, Time};

use crate::world::{day, extend, fetched_on, record, rows, span, url, world};

const WORLD: &str = "
    collection k
    profile p k every=2d errors=3 not_found=2
    seed vg http://vg.no/ p";

/// Every harvest of these tests is due on day 0 and comes back an hour later.
fn now() -> Time {
    day(0).plus(span("1h"))
}

fn answered(status: u16) -> Fetched {
    let response = Response { status, digest: Some("new".into()), ..Response::default() };
    Fetched { at: now(), answer: Answer::Response(response), robots_denied_until: None, dns_failed: false }
}

fn no_answer(kind: NoAnswer) -> Fetched {
    Fetched { answer: Answer::NoAnswer(kind), ..answered(0) }
}

fn harvest(catalog: &Catalog, before: &Record, fetched: &Fetched) -> Outcome {
    outcome(catalog, "k", &url("vg.no/a"), before, fetched, None, 7, now())
}

fn show_place(outcome: &Outcome) -> String {
    match &outcome.placement {
        Placement::Queue { due } if *due == day(0) => "unmoved".into(),
        Placement::Queue { due } if *due == day(2) => "next".into(),
        Placement::Queue { due } if is_backoff(*due) => "backoff".into(),
        Placement::Queue { due } => format!("due {due}"),
        Placement::Done => "done".into(),
        Placement::Remove => "removed".into(),
        Placement::Blacklist(entry) => {
            format!("blacklisted {} until {:?}", entry.reason, entry.until.is_some())
        }
    }
}

/// One minute, give or take a quarter.
fn is_backoff(due: Time) -> bool {
    (Span::seconds(45)..=Span::seconds(75)).contains(&due.since(now()))
}

#[test]
fn f30_the_fourteen_variants() {
    let table = "
        #  | first | response | earlier | oos | robots | dns | captured | error+1 | host     | URL                           | outlinks
        1  | x     | x        |         |     |        |     | x        |         |          | next                          | x
        2  | x     | x        |         | x   |        |     | x        |         |          | removed                       |
        3  | x     | x        |         |     | x      |     | x        |         |          | blacklisted robots until true |
        4  | x     |          |         |     |        |     |          | x       | backs off | backoff                      |
        5  | x     |          |         |     |        | x   |          | x       | backs off | unmoved                      |
        6  |       | x        | x       |     |        |     | x        |         |          | next                          | x
        7  |       | x        | x       | x   |        |     | x        |         |          | removed                       |
        8  |       | x        | x       |     | x      |     | x        |         |          | blacklisted robots until true |
        9  |       | x        | x       |     |        | x   | x        |         | backs off | next                         | x
        10 |       | x        |         |     |        |     | x        |         |          | next                          | x
        11 |       | x        |         | x   |        |     | x        |         |          | removed                       |
        12 |       | x        |         |     | x      |     | x        |         |          | blacklisted robots until true |
        13 |       |          |         |     |        |     |          | x       |          | backoff                       |
        14 |       |          |         |     |        | x   |          | x       | backs off | unmoved                      |";
    assert_eq!(rows(table).len(), 14);
    for row in rows(table) {
        let is = |column: usize| row[column] == "x";
        let mut catalog = world(WORLD);
        if is(4) {
            extend(&mut catalog, "profile p k within=host exclude=vg.no/a");
        }
        let before = if is(1) { record("vg") } else { fetched_on("vg", -2) };
        let fetched = Fetched {
            robots_denied_until: is(5).then(|| day(1)),
            dns_failed: is(6),
            ..if is(2) { answered(200) } else { no_answer(NoAnswer::Timeout) }
        };
        let queued_now = is(3).then(|| day(3));
        let found = outcome(&catalog, "k", &url("vg.no/a"), &before, &fetched, queued_now, 7, now());
        let mark = |yes: bool| if yes { "x" } else { "" };
        let host = if found.host == HostEffect::None { "" } else { "backs off" };
        let shown = vec![
            found.variant.to_string(),
            mark(found.captured).into(),
            mark(found.record.errors == 1).into(),
            host.into(),
            show_place(&found),
            mark(found.follow_outlinks).into(),
        ];
        let expected = [row[0], row[7], row[8], row[9], row[10], row[11]];
        assert_eq!(shown, expected, "{row:?}");
    }
}

#[test]
fn f30_the_next_due_holds_whatever_another_page_queued_meanwhile() {
    let catalog = world(WORLD);
    let run = |queued| {
        let before = fetched_on("vg", -2);
        let found = outcome(&catalog, "k", &url("vg.no/a"), &before, &answered(200), queued, 7, now());
        (found.variant, found.record.due)
    };
    assert_eq!(run(Some(day(9))), (6, day(2)), "the earlier time is ours");
    assert_eq!(run(Some(day(1))), (10, day(2)), "it has been harvested since");
    assert_eq!(run(Some(day(2))), (10, day(2)));
}

#[test]
fn f30_variant_9_waits_for_the_later_of_schedule_and_backoff() {
    let mut catalog = world(WORLD);
    extend(&mut catalog, "profile p k every=1min");
    let fetched = Fetched { dns_failed: true, ..answered(302) };
    let found = harvest(&catalog, &fetched_on("vg", -2), &fetched);
    let HostEffect::Backoff { span } = found.host else { panic!("no backoff") };
    assert_eq!(found.placement, Placement::Queue { due: now().plus(span.max(Span::minutes(1))) });
    assert_eq!((found.variant, found.record.errors), (9, 0));
}

#[test]
fn f30_variant_13_a_host_that_cannot_be_reached_backs_off_a_page_that_hangs_does_not() {
    let catalog = world(WORLD);
    let effect = |kind| harvest(&catalog, &fetched_on("vg", -2), &no_answer(kind)).host;
    assert_eq!(effect(NoAnswer::Timeout), HostEffect::None);
    assert_eq!(effect(NoAnswer::Broken), HostEffect::None);
    assert_ne!(effect(NoAnswer::Unreachable), HostEffect::None);
}

#[test]
fn f18_to_f20_counts_cycles_and_last_fetch() {
    let table = "
        rule | answer | errors | not found | cycles | last fetch
        F19  | 200    | 0      | 0         | 6      | now
        F19  | 304    | 0      | 0         | 6      | now
        F19  | 301    | 0      | 0         | 6      | now
        F19  | 403    | 0      | 0         | 6      | now
        F19  | 404    | 0      | 2         | 6      | now
        F19  | 410    | 0      | 2         | 6      | now
        F19  | 429    | 2      | 0         | 5      | now
        F19  | 500    | 2      | 0         | 5      | now
        F19  | 503    | 2      | 0         | 5      | now
        F18  | none   | 2      | 0         | 5      | now
        F17  | dns    | 2      | 0         | 5      | before";
    for row in rows(table) {
        let before = Record { errors: 1, not_found: 1, cycles: 5, ..fetched_on("vg", -2) };
        let fetched = match row[1] {
            "none" => no_answer(NoAnswer::Broken),
            "dns" => Fetched { dns_failed: true, ..no_answer(NoAnswer::Unreachable) },
            status => answered(status.parse().unwrap()),
        };
        let Outcome { record, captured, .. } = harvest(&world(WORLD), &before, &fetched);
        let last = if record.last.unwrap().at == now() { "now" } else { "before" };
        let found = [record.errors, record.not_found, record.cycles].map(|n| n.to_string());
        assert_eq!([&found[0], &found[1], &found[2], last], row[2..], "{row:?}");
        assert_eq!(captured, row[1].parse::<u16>().is_ok());
        assert_eq!(record.position, before.position, "F18: depth stays");
    }
}

#[test]
fn f20_after_its_length_a_url_is_done() {
    let mut catalog = world(WORLD);
    extend(&mut catalog, "profile p k every=2d length=2");
    let at = |cycles| Record { cycles, ..fetched_on("vg", -2) };
    let place = |cycles, status| show_place(&harvest(&catalog, &at(cycles), &answered(status)));
    assert_eq!([place(0, 200), place(1, 200), place(1, 404)], ["next", "done", "done"]);
    assert_eq!(place(1, 500), "backoff", "an error uses up no cycle");
    extend(&mut catalog, "profile q k every=9d off\nseed vg http://vg.no/ p,q");
    let waiting = harvest(&catalog, &at(1), &answered(200));
    assert_eq!(waiting.placement, Placement::Queue { due: now().plus(span("1h")) }, "q may come back");
    extend(&mut catalog, "profile q k every=9d");
    let slower = harvest(&catalog, &at(1), &answered(200));
    assert_eq!(slower.record.due, day(9), "p has had its share and asks for nothing more");
}

#[test]
fn f21_next_due_is_the_slot_of_the_fastest_active_profile() {
    let table = "
        profiles                                     | due
        profile p k every=2d                         | +2d
        profile q k every=1d                         | +1d
        profile q k every=1d off                     | +2d
        profile q k every=1d within=path exclude=vg.no/a | +2d
        profile p k every=30min                      | +1h 30min
        profile p k every=2d off                     | +2h";
    for row in rows(table) {
        let mut catalog = world(WORLD);
        extend(&mut catalog, "seed vg http://vg.no/ p,q");
        extend(&mut catalog, row[0]);
        let due = harvest(&catalog, &fetched_on("vg", -2), &answered(200)).record.due;
        assert_eq!(format!("+{}", due.since(day(0))), row[1], "{row:?}");
    }
}

#[test]
fn f21_errors_do_not_make_the_schedule_drift() {
    let catalog = world(WORLD);
    let mut record = fetched_on("vg", -2);
    let timeout = no_answer(NoAnswer::Timeout);
    let lost = Fetched { dns_failed: true, ..timeout.clone() };
    for failure in [&lost, &timeout, &lost] {
        record = harvest(&catalog, &record, failure).record;
        assert_eq!(record.last.unwrap().due, day(0), "the slot stays");
    }
    assert_eq!(record.errors, 3);
    let back = harvest(&catalog, &record, &answered(200)).record;
    assert_eq!((back.errors, back.due), (0, day(2)));
    assert_eq!(back.last, Some(LastFetch { at: now(), due: day(0) }));
}

#[test]
fn f21_a_retry_is_never_later_than_the_normal_time_and_the_cap() {
    let mut catalog = world(WORLD);
    extend(&mut catalog, "profile p k every=1min errors=99");
    let before = Record { errors: 30, ..fetched_on("vg", -2) };
    let found = harvest(&catalog, &before, &answered(500)).record;
    assert!(found.due <= now().plus(span("1d")).plus(span("1min")));
    assert!(found.due >= now().plus(span("18h")), "the cap is a day, jitter a quarter");
}

#[test]
fn f21_beyond_its_limits_a_url_is_blacklisted() {
    let table = "
        errors | not found | answer | URL
        2      | 0         | 500    | queued
        3      | 0         | 500    | blacklisted too many errors
        3      | 0         | none   | blacklisted too many errors
        3      | 0         | dns    | blacklisted too many errors
        3      | 0         | 200    | queued
        0      | 1         | 404    | queued
        0      | 2         | 404    | blacklisted not found too often
        0      | 2         | 500    | queued";
    for row in rows(table) {
        let n = |cell: &str| cell.parse().unwrap();
        let before = Record { errors: n(row[0]), not_found: n(row[1]), ..fetched_on("vg", -2) };
        let fetched = match row[2] {
            "none" => no_answer(NoAnswer::Timeout),
            "dns" => Fetched { dns_failed: true, ..no_answer(NoAnswer::Unreachable) },
            status => answered(status.parse().unwrap()),
        };
        let shown = match harvest(&world(WORLD), &before, &fetched).placement {
            Placement::Blacklist(entry) => format!("blacklisted {}", entry.reason),
            Placement::Queue { .. } => "queued".to_owned(),
            other => format!("{other:?}"),
        };
        assert_eq!(shown, row[3], "{row:?}");
    }
}

#[test]
fn f21_the_most_patient_profile_says_when_and_for_how_long() {
    let mut catalog = world(WORLD);
    extend(&mut catalog, "profile q k every=9d errors=4 blacklist=6d\nseed vg http://vg.no/ p,q");
    let after =
        |errors| harvest(&catalog, &Record { errors, ..fetched_on("vg", -2) }, &answered(500)).placement;
    assert!(matches!(after(3), Placement::Queue { .. }));
    let Placement::Blacklist(entry) = after(4) else { panic!("not blacklisted") };
    assert_eq!((entry.reason, entry.since), (BlacklistReason::Errors, now()));
    assert_eq!(entry.until, Some(now().plus(span("6d"))));
}

#[test]
fn a_deleted_seed_or_collection_is_out_of_scope_when_the_answer_comes() {
    for gone in ["-seed vg", "-collection k", "-profile p"] {
        let mut catalog = world(WORLD);
        extend(&mut catalog, gone);
        let found = harvest(&catalog, &record("vg"), &answered(200));
        assert_eq!((found.variant, found.captured, found.placement), (2, true, Placement::Remove), "{gone}");
    }
}

#[test]
fn only_good_content_is_remembered_for_the_next_request() {
    let catalog = world(WORLD);
    let before = Record { digest: Some("old".into()), etag: Some("e1".into()), ..fetched_on("vg", -2) };
    let after = |status, unchanged, etag: Option<&str>| {
        let digest = Some("new".to_owned());
        let response = Response {
            status,
            digest,
            unchanged,
            etag: etag.map(str::to_owned),
            last_modified: None,
            sketch: None,
        };
        let record =
            harvest(&catalog, &before, &Fetched { answer: Answer::Response(response), ..answered(0) }).record;
        (record.digest.unwrap(), record.etag.unwrap_or_default())
    };
    let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    assert_eq!(after(200, false, Some("e2")), pair("new", "e2"));
    assert_eq!(after(200, false, None), pair("new", ""));
    assert_eq!(after(304, true, None), pair("old", "e1"));
    assert_eq!(after(304, true, Some("e2")), pair("old", "e2"));
    assert_eq!(after(500, false, Some("e2")), pair("old", "e1"));
    assert_eq!(after(404, false, Some("e2")), pair("old", "e1"));
}

#[test]
fn an_outcome_is_told() {
    let told = harvest(&world(WORLD), &record("vg"), &no_answer(NoAnswer::Timeout)).to_string();
    assert!(told.starts_with("F30 variant 4: no answer; F21: queued at 2024-10-04T01:0"), "{told}");
    let told = harvest(&world(WORLD), &record("vg"), &answered(200)).to_string();
    assert_eq!(told, "F30 variant 1: captured; F21: queued at 2024-10-06T00:00:00Z");
}
