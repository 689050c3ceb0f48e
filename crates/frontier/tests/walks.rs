//! Walks on the frontier: turns, slots shared with the queue, what is committed with a capture,
//! crashes.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use frontier::ports::{AnswerFacts, Clock, Fetch, Order, Outlink, Report};
use frontier::{Completed, ErrorKind, Frontier, Target, WalkError};
use policy::blacklist::Barred;
use policy::budget::{Budget, Holder};
use policy::catalog::Change;
use policy::model::{DeclaredWalk, LinkKind, Politeness, Profile, Settings};
use policy::scope::{Pattern, Scope, Within};
use policy::time::{Span, Time};
use policy::url::CrawlUrl;
use policy::walk::{Draft, Kind, Outcome, Resume, WalkSettings, Why};
use policy::way::Way;
use store::Store;
use store::contract::fresh;
use testkit::catalog::{collection, profile, put, seed};
use testkit::clock::ManualClock;

struct Rig {
    frontier: Frontier,
    clock: Arc<ManualClock>,
    /// URLs in the order they were asked for.
    asked: Vec<String>,
}

fn walk(name: &str, draft: Draft) -> Change {
    put(DeclaredWalk {
        name: name.into(),
        active: true,
        profile: "terms".into(),
        seed: None,
        round: Some("together".into()),
        place: 0,
        settings: WalkSettings::new(draft).unwrap(),
    })
}

fn ids(host: &str) -> Draft {
    Draft { template: format!("https://{host}.test/{{id}}"), ..Draft::default() }
}

fn declared(parallel: u32, delay: Span) -> Vec<Change> {
    let politeness = Politeness { factor: 0.0, min: delay, max: delay, parallel, ..Politeness::default() };
    let scope = Scope { within: Within::Any, ..Scope::default() };
    vec![
        put(Settings { politeness, ..Settings::default() }),
        put(collection("all")),
        put(Profile { scope, length: Some(1), ..profile("terms", "all") }),
    ]
}

impl Rig {
    async fn new(store: Store, at: i64, changes: &[Change]) -> Rig {
        let clock = Arc::new(ManualClock::at(Time(at)));
        let frontier = Frontier::new(store, Arc::clone(&clock) as Arc<dyn Clock>, at.cast_unsigned());
        frontier.recover().await.unwrap();
        frontier.declare(changes).await.unwrap();
        Rig { frontier, clock, asked: Vec::new() }
    }

    fn pass(&self, span: Span) {
        self.clock.advance(span);
    }

    /// Reserves, letting time pass until there is something; none when everything is over.
    async fn orders(&self, wanted: usize) -> Vec<Order> {
        for _ in 0..10_000 {
            let reserved = self.frontier.reserve(wanted).await.unwrap();
            if !reserved.orders.is_empty() || self.frontier.is_idle(Span::hours(1)).await.unwrap() {
                return reserved.orders;
            }
            let now = self.frontier.now();
            self.pass(Span(reserved.next.map_or(1000, |next| next.since(now).0.max(1))));
        }
        panic!("nothing happens any more");
    }

    async fn answer(&mut self, order: &Order, outcome: Outcome) -> Completed {
        self.asked.push(order.url.as_str().to_owned());
        let status = if outcome == Outcome::Exists { 200 } else { 404 };
        let facts = AnswerFacts { status, ..AnswerFacts::default() };
        let mut report = Report::bare(self.frontier.now(), Fetch::Answer(facts));
        report.existence = Some(outcome);
        report.outlinks =
            vec![Outlink::new(CrawlUrl::from_normal("https://linked.test/").unwrap(), LinkKind::Link)];
        self.frontier.complete(order, &report, &[]).await.unwrap()
    }

    /// One at a time until everything is over.
    async fn walk_all(&mut self, exists: impl Fn(&str, u64) -> bool) {
        loop {
            let orders = self.orders(1).await;
            if orders.is_empty() {
                return;
            }
            for order in orders {
                let there = order.walk.as_ref().is_none_or(|own| exists(&order.host, own.id));
                let outcome = if there { Outcome::Exists } else { Outcome::Absent };
                assert!(matches!(self.answer(&order, outcome).await, Completed::Done(_)));
            }
        }
    }

    fn order_of_hosts(&self) -> String {
        self.asked.iter().map(|url| url["https://".len()..].split('.').next().unwrap()).collect()
    }
}

#[tokio::test]
async fn l8_rounds_take_turns_over_hosts_by_rate() {
    let mut changes = declared(1, Span(10));
    changes.push(walk("a", Draft { min: Some(1), max: Some(3), ..ids("a") }));
    changes.push(walk("b", Draft { min: Some(1), max: Some(6), rate: Some(2), ..ids("b") }));
    let mut rig = Rig::new(fresh(1), 1_000, &changes).await;
    rig.walk_all(|_, _| true).await;
    assert_eq!(rig.order_of_hosts(), "abbabbabb");
}

#[tokio::test]
async fn l8_both_ways_on_two_hosts_go_a_a_b_b() {
    let mut changes = declared(1, Span(10));
    let both = |host| Draft { from: Some(10), min: Some(8), max: Some(11), ..ids(host) };
    changes.push(walk("a", both("a")));
    changes.push(walk("b", both("b")));
    let mut rig = Rig::new(fresh(1), 1_000, &changes).await;
    rig.walk_all(|_, _| true).await;
    let asked: Vec<&str> = rig.asked.iter().map(|url| &url["https://".len()..]).collect();
    let a = |id| format!("a.test/{id}");
    let b = |id| format!("b.test/{id}");
    assert_eq!(asked, [a(10), a(9), b(10), b(9), a(11), a(8), b(11), b(8)]);
}

#[tokio::test]
async fn l8_a_walk_whose_host_backs_off_is_skipped() {
    let mut changes = declared(1, Span(10));
    changes.push(walk("a", Draft { min: Some(1), max: Some(2), ..ids("a") }));
    changes.push(walk("b", Draft { min: Some(1), max: Some(4), ..ids("b") }));
    let mut rig = Rig::new(fresh(1), 1_000, &changes).await;
    let first = rig.orders(1).await.remove(0);
    assert_eq!(first.host, "a.test");
    let report = Report::bare(rig.frontier.now(), Fetch::NoAnswer(ErrorKind::Connect));
    rig.frontier.complete(&first, &report, &[]).await.unwrap();
    for _ in 0..4 {
        let order = rig.orders(1).await.remove(0);
        rig.answer(&order, Outcome::Exists).await;
    }
    // The default cool-down has not passed; it passes when b has ended.
    assert_eq!(rig.order_of_hosts(), "bbbb");
    rig.walk_all(|_, _| true).await;
    assert_eq!(rig.order_of_hosts(), "bbbba");
    let sight = rig.frontier.walk("a").await.unwrap();
    assert_eq!(sight.walk.ranges(Kind::Hole, 0).collect::<Vec<_>>(), [1..=1]);
}

#[tokio::test]
async fn l9_as_many_in_flight_as_the_host_takes_and_the_margin_allows() {
    for (parallel, margin, at_once) in [(4, None, 4), (16, Some(3), 3), (2, Some(9), 2)] {
        let mut changes = declared(parallel, Span::ZERO);
        changes.push(walk("w", Draft { min: Some(1), max: Some(100), margin, ..ids("a") }));
        let rig = Rig::new(fresh(1), 1_000, &changes).await;
        assert_eq!(rig.orders(64).await.len(), at_once, "parallel {parallel}, margin {margin:?}");
        assert!(rig.frontier.reserve(64).await.unwrap().orders.is_empty());
    }
}

#[tokio::test]
async fn walks_and_urls_share_a_host_by_turns() {
    let mut changes = declared(1, Span(10));
    changes.push(walk("w", Draft { min: Some(1), max: Some(20), ..ids("a") }));
    for n in 0..10 {
        let url = format!("https://a.test/seed/{n}");
        changes.push(put(seed(&format!("seed {n}"), &url, &["terms"])));
    }
    let mut rig = Rig::new(fresh(1), 1_000, &changes).await;
    rig.frontier.start(&Target::Collection("all".into())).await.unwrap();
    rig.walk_all(|_, _| true).await;
    let on_host = rig.asked.iter().filter(|url| url.starts_with("https://a."));
    let kinds: String = on_host.map(|url| if url.contains("seed") { 's' } else { 'w' }).collect();
    assert_eq!(kinds, format!("{}{}", "ws".repeat(10), "w".repeat(10)));
}

#[tokio::test]
async fn l10_a_result_is_committed_with_its_harvest_or_not_at_all() {
    let store = fresh(1);
    let mut changes = declared(4, Span::ZERO);
    changes.push(walk("w", Draft { min: Some(1), max: Some(8), ..ids("a") }));
    let mut rig = Rig::new(store.clone(), 1_000, &changes).await;
    let orders = rig.orders(4).await;
    for order in &orders[1..3] {
        rig.answer(order, Outcome::Exists).await;
    }
    // The process dies with 1 and 4 in flight.
    let mut again = Rig::new(store, 2_000, &[]).await;
    let sight = again.frontier.walk("w").await.unwrap();
    assert_eq!(sight.walk.ranges(Kind::Content, 0).collect::<Vec<_>>(), [2..=3]);
    again.walk_all(|_, id| id != 6).await;
    let asked: BTreeSet<&str> = again.asked.iter().map(|url| url.rsplit('/').next().unwrap()).collect();
    assert_eq!(asked, BTreeSet::from(["1", "4", "5", "6", "7", "8"]));
    let sight = again.frontier.walk("w").await.unwrap();
    assert_eq!(sight.walk.ranges(Kind::Content, 0).collect::<Vec<_>>(), [1..=5, 7..=8]);
    assert!(sight.ended);
}

#[tokio::test]
async fn f6_an_id_whose_lease_ran_out_is_issued_again_and_counted_once() {
    let mut changes = declared(1, Span::ZERO);
    changes.push(walk("w", Draft { min: Some(1), max: Some(2), ..ids("a") }));
    let mut rig = Rig::new(fresh(1), 1_000, &changes).await;
    let slow = rig.orders(1).await.remove(0);
    rig.pass(Span::hours(1));
    rig.frontier.sweep().await.unwrap();
    assert_eq!(rig.answer(&slow, Outcome::Absent).await, Completed::LeaseLost);
    let again = rig.orders(1).await.remove(0);
    assert_eq!(again.url, slow.url);
    assert_eq!(again.walk.as_ref().unwrap().attempt, 1);
    rig.answer(&again, Outcome::Exists).await;
    rig.walk_all(|_, _| true).await;
    let sight = rig.frontier.walk("w").await.unwrap();
    assert_eq!(sight.walk.ranges(Kind::Content, 0).collect::<Vec<_>>(), [1..=2]);
    assert_eq!(sight.run.requests, 2);
}

#[tokio::test]
async fn l11_a_walk_that_ended_stands_until_it_is_resumed() {
    let store = fresh(1);
    let mut changes = declared(1, Span::ZERO);
    changes.push(walk("w", Draft { min: Some(1), max: Some(9), margin: Some(2), ..ids("a") }));
    let mut rig = Rig::new(store.clone(), 1_000, &changes).await;
    rig.walk_all(|_, id| id == 2).await;
    assert_eq!(rig.asked.len(), 4);
    let cases = [
        (None, vec![], Why::Margin),
        (Some(Resume::Holes), vec!["1", "3", "4"], Why::Margin),
        (Some(Resume::Continue), vec!["5", "6"], Why::Margin),
        (Some(Resume::Both), vec!["1", "3", "4", "5", "6", "7", "8"], Why::Margin),
        (Some(Resume::Continue), vec!["9"], Why::Bound),
        (None, vec![], Why::Bound),
    ];
    for (at, (resume, asked, why)) in cases.into_iter().enumerate() {
        let mut rig = Rig::new(store.clone(), 100_000 * i64::try_from(at + 1).unwrap(), &[]).await;
        if let Some(resume) = resume {
            rig.frontier.resume_walk("w", resume).await.unwrap();
        }
        rig.walk_all(|_, id| id == 2).await;
        let found: Vec<&str> = rig.asked.iter().map(|url| url.rsplit('/').next().unwrap()).collect();
        assert_eq!(found, asked, "case {at}, {resume:?}");
        assert_eq!(rig.frontier.walk("w").await.unwrap().walk.ended(), Some(why), "case {at}");
    }
}

#[tokio::test]
async fn links_of_walked_pages_are_followed_for_a_seed_and_otherwise_not() {
    for (owner, harvested) in [(None, 3), (Some("owner".to_owned()), 5)] {
        let mut changes = declared(1, Span::ZERO);
        changes.push(put(seed("owner", "https://owner.test/", &["terms"])));
        let Change::PutWalk(declared) = walk("w", Draft { min: Some(1), max: Some(3), ..ids("a") }) else {
            unreachable!()
        };
        changes.push(Change::PutWalk(Box::new(DeclaredWalk { seed: owner.clone(), ..*declared })));
        let mut rig = Rig::new(fresh(1), 1_000, &changes).await;
        if owner.is_some() {
            rig.frontier.start(&Target::Collection("all".into())).await.unwrap();
        }
        rig.walk_all(|_, _| true).await;
        assert_eq!(rig.asked.len(), harvested, "{:?}", rig.asked);
    }
}

#[tokio::test]
async fn switched_off_a_walk_waits_and_loses_nothing() {
    let mut changes = declared(1, Span::ZERO);
    let put = walk("w", Draft { min: Some(1), max: Some(3), ..ids("a") });
    changes.push(put.clone());
    let mut rig = Rig::new(fresh(1), 1_000, &changes).await;
    let order = rig.orders(1).await.remove(0);
    let Change::PutWalk(mut declared) = put.clone() else { unreachable!() };
    declared.active = false;
    rig.frontier.declare(&[Change::PutWalk(declared)]).await.unwrap();
    rig.answer(&order, Outcome::Exists).await;
    assert!(rig.orders(1).await.is_empty());
    rig.frontier.declare(&[put]).await.unwrap();
    rig.walk_all(|_, _| true).await;
    assert_eq!(rig.asked.len(), 3);
}

#[tokio::test]
async fn l2_a_wider_bound_goes_on_by_itself() {
    let mut changes = declared(1, Span::ZERO);
    changes.push(walk("w", Draft { min: Some(1), max: Some(2), ..ids("a") }));
    let mut rig = Rig::new(fresh(1), 1_000, &changes).await;
    rig.walk_all(|_, _| true).await;
    let wider = walk("w", Draft { min: Some(1), max: Some(4), ..ids("a") });
    rig.frontier.declare(&[wider]).await.unwrap();
    rig.walk_all(|_, _| true).await;
    assert_eq!(rig.asked.len(), 4);
}

#[tokio::test]
async fn the_checker_finds_nothing_while_walks_go_on() {
    let mut changes = declared(3, Span::ZERO);
    changes.push(walk("w", Draft { min: Some(1), max: Some(50), margin: Some(5), ..ids("a") }));
    let mut rig = Rig::new(fresh(1), 1_000, &changes).await;
    let mut outcomes = BTreeMap::new();
    loop {
        let orders = rig.orders(2).await;
        if orders.is_empty() {
            break;
        }
        for order in orders {
            let id = order.walk.as_ref().unwrap().id;
            let outcome = if id % 4 == 0 { Outcome::Absent } else { Outcome::Exists };
            outcomes.insert(id, outcome);
            rig.answer(&order, outcome).await;
            let findings = rig.frontier.audit().await.unwrap().findings;
            assert!(findings.is_empty(), "{findings:?}");
        }
    }
    assert_eq!(outcomes.len(), 50);
}

#[tokio::test]
async fn l11_why_a_walk_ended_is_written_with_its_last_result() {
    let store = fresh(1);
    let mut changes = declared(1, Span::ZERO);
    changes.push(walk("w", Draft { min: Some(1), margin: Some(2), ..ids("a") }));
    let mut rig = Rig::new(store.clone(), 1_000, &changes).await;
    for outcome in [Outcome::Exists, Outcome::Absent, Outcome::Absent] {
        let order = rig.orders(1).await.remove(0);
        rig.answer(&order, outcome).await;
    }
    // Killed right here: nothing was reserved since.
    let mut rig = Rig::new(store, 2_000, &[]).await;
    let sight = rig.frontier.walk("w").await.unwrap();
    assert_eq!((sight.ended, sight.walk.ended()), (true, Some(Why::Margin)));
    rig.frontier.resume_walk("w", Resume::Continue).await.unwrap();
    rig.walk_all(|_, _| false).await;
    assert_eq!(rig.asked.len(), 2, "a new run of misses");
}

#[tokio::test]
async fn l11_a_run_with_nothing_to_do_says_why() {
    let mut changes = declared(1, Span::ZERO);
    changes.push(walk("w", Draft { min: Some(1), max: Some(2), ..ids("a") }));
    changes.push(walk("new", Draft { min: Some(1), max: Some(2), ..ids("b") }));
    let mut rig = Rig::new(fresh(1), 1_000, &changes).await;
    rig.frontier.resume_walk("new", Resume::Holes).await.unwrap();
    rig.walk_all(|_, _| true).await;
    rig.frontier.resume_walk("w", Resume::Continue).await.unwrap();
    rig.walk_all(|_, _| true).await;
    assert_eq!(rig.order_of_hosts(), "aa", "what was never walked has no holes");
    assert!(rig.frontier.walks_have_ended(&["w".into(), "new".into()]));
    assert!(!rig.frontier.walks_have_ended(&["unknown".into()]));
    let why = [rig.frontier.walk("w").await, rig.frontier.walk("new").await];
    assert_eq!(why.map(|sight| sight.unwrap().walk.ended()), [Some(Why::Bound), Some(Why::Interrupted)]);
}

#[tokio::test]
async fn l11_a_walk_is_resumed_while_others_are_in_flight_but_not_itself() {
    let mut changes = declared(2, Span::ZERO);
    changes.push(walk("ended", Draft { min: Some(1), margin: Some(1), ..ids("a") }));
    let mut rig = Rig::new(fresh(1), 1_000, &changes).await;
    rig.walk_all(|_, _| false).await;
    rig.frontier.declare(&[walk("going", Draft { min: Some(1), max: Some(3), ..ids("b") })]).await.unwrap();
    let order = rig.orders(1).await.remove(0);
    let busy = rig.frontier.resume_walk("going", Resume::Both).await;
    assert!(matches!(busy, Err(WalkError::Busy(name)) if name == "going"));
    rig.frontier.resume_walk("ended", Resume::Both).await.unwrap();
    let again = rig.orders(1).await.remove(0);
    assert_eq!(again.url.as_str(), "https://a.test/1", "its hole");
    rig.answer(&order, Outcome::Exists).await;
    rig.answer(&again, Outcome::Exists).await;
    rig.frontier.resume_walk("going", Resume::Continue).await.unwrap();
    rig.walk_all(|_, _| false).await;
    let mut asked = rig.asked.clone();
    asked.sort();
    let expected = ["a.test/1", "a.test/1", "a.test/2", "b.test/1", "b.test/2", "b.test/3"];
    assert_eq!(asked, expected.map(|url| format!("https://{url}")), "no id of the other twice");
}

#[tokio::test]
async fn l8_turns_go_by_place_and_then_by_name() {
    let mut changes = declared(1, Span::ZERO);
    for (host, place) in [("a", 2), ("b", 1), ("c", 1), ("d", 0)] {
        let Change::PutWalk(mut declared) = walk(host, Draft { min: Some(1), max: Some(2), ..ids(host) })
        else {
            panic!()
        };
        declared.place = place;
        changes.push(Change::PutWalk(declared));
    }
    let mut rig = Rig::new(fresh(1), 1_000, &changes).await;
    rig.walk_all(|_, _| true).await;
    assert_eq!(rig.order_of_hosts(), "dbcadbca");
}

#[tokio::test]
async fn l14_a_walk_that_was_begun_is_not_declared_with_other_ids() {
    let mut changes = declared(1, Span::ZERO);
    changes.push(walk("w", Draft { min: Some(1), max: Some(2), ..ids("a") }));
    let mut rig = Rig::new(fresh(1), 1_000, &changes).await;
    rig.walk_all(|_, _| true).await;
    let other = walk("w", Draft { min: Some(2), max: Some(9), ..ids("a") });
    let refused = rig.frontier.declare(&[other]).await.unwrap_err();
    assert!(refused.to_string().starts_with("walk \"w\": from: this walk was begun with 1;"), "{refused}");
    let wider = walk("w", Draft { min: Some(1), max: Some(3), ..ids("a") });
    rig.frontier.declare(&[wider]).await.unwrap();
    rig.walk_all(|_, _| true).await;
    assert_eq!(rig.asked.len(), 3);
}

/// F36: ids count, and wait, as URLs do; raising a budget has them go on at once.
#[tokio::test]
async fn f36_ids_of_walks_are_of_the_budgets_of_what_they_belong_to() {
    let with = |max_harvests| {
        let budget = Budget { max_harvests, ..Budget::default() };
        put(Profile { length: Some(1), budget, ..profile("terms", "all") })
    };
    let mut changes = declared(2, Span(10));
    changes.push(with(Some(5)));
    changes.push(walk("w", Draft { min: Some(1), max: Some(12), ..ids("a") }));
    let mut rig = Rig::new(fresh(1), 1_000, &changes).await;
    rig.walk_all(|_, _| true).await;
    assert!((5..=6).contains(&rig.asked.len()), "by a batch at most: {:?}", rig.asked);
    assert!(rig.frontier.walks_have_ended(&["w".into()]), "there is nothing to wait for");
    let rows = rig.frontier.budgets().await.unwrap();
    let row = rows.iter().find(|row| row.holder == Holder::Profile("terms".into())).unwrap();
    assert_eq!((row.used, row.max, row.used_up.is_some()), (rig.asked.len() as u64, 5, true), "{row:?}");
    // Nothing moves by itself.
    rig.pass(Span::minutes(5));
    assert!(rig.orders(1).await.is_empty());
    rig.frontier.declare(&[with(Some(9))]).await.unwrap();
    let before = rig.frontier.now();
    let order = rig.frontier.reserve(1).await.unwrap().orders.pop().expect("at once");
    assert_eq!(rig.frontier.now(), before);
    rig.answer(&order, Outcome::Exists).await;
    rig.walk_all(|_, _| true).await;
    assert!((9..=10).contains(&rig.asked.len()), "{:?}", rig.asked);
    rig.frontier.declare(&[with(None)]).await.unwrap();
    rig.walk_all(|_, _| true).await;
    let all: BTreeSet<&String> = rig.asked.iter().collect();
    assert_eq!((rig.asked.len(), all.len()), (12, 12), "none is lost, and none is asked for twice");
    assert!(rig.frontier.audit().await.unwrap().findings.is_empty());
}

/// F36: bytes and hosts, and that a start has a budget of its own.
#[tokio::test]
async fn f36_a_walk_waits_for_its_host_and_goes_on_with_the_next_run() {
    let mut changes = declared(1, Span(10));
    let politeness = Politeness {
        factor: 0.0,
        min: Span(10),
        max: Span(10),
        budget: Budget { max_bytes: Some(1000), ..Budget::default() },
        ..Politeness::default()
    };
    changes.push(Change::PutHostPoliteness { host: "a.test".into(), politeness, way: Way::default() });
    changes.push(put(seed("s", "https://s.test/", &["terms"])));
    changes.push(walk("w", Draft { min: Some(1), max: Some(9), ..ids("a") }));
    changes.push(walk("free", Draft { min: Some(1), max: Some(9), ..ids("b") }));
    let rig = Rig::new(fresh(1), 1_000, &changes).await;
    let mut harvested: BTreeMap<String, u64> = BTreeMap::new();
    for start in 0..2 {
        if start > 0 {
            rig.frontier.start(&Target::Collection("all".into())).await.unwrap();
        }
        loop {
            let orders = rig.orders(1).await;
            let Some(order) = orders.first() else { break };
            let mut report = Report::bare(
                rig.frontier.now(),
                Fetch::Answer(AnswerFacts { status: 200, ..AnswerFacts::default() }),
            );
            (report.existence, report.bytes) = (Some(Outcome::Exists), 400);
            *harvested.entry(order.host.clone()).or_default() += 1;
            rig.frontier.complete(order, &report, &[]).await.unwrap();
        }
        let found = (harvested.get("a.test").copied(), harvested.get("b.test").copied());
        assert_eq!(found, (Some(3 * (start + 1)), Some(9)), "three answers of 400 bytes are over 1000");
        rig.pass(Span::minutes(2));
    }
}

/// F39: an id that a pattern holds is not asked for, and its walk goes on.
#[tokio::test]
async fn f39_ids_that_a_pattern_holds_are_failed_unasked() {
    let mut changes = declared(1, Span(10));
    changes.push(Change::PutBarred(Box::new(Barred {
        pattern: Pattern::regex("/[357]$").unwrap(),
        collection: Some("all".into()),
        reason: "odd".into(),
        since: Time(1),
        until: None,
    })));
    changes.push(walk("w", Draft { min: Some(1), max: Some(8), attempts: Some(1), ..ids("a") }));
    let mut rig = Rig::new(fresh(1), 1_000, &changes).await;
    rig.walk_all(|_, _| true).await;
    let ids: Vec<&str> = rig.asked.iter().map(|url| url.rsplit('/').next().unwrap()).collect();
    assert_eq!(ids, ["1", "2", "4", "6", "8"]);
    let sight = rig.frontier.walk("w").await.unwrap();
    assert!(sight.ended);
    // Once it is lifted, a run over the holes asks for them.
    rig.frontier.unbar(&format!("{} in all", Pattern::regex("/[357]$").unwrap())).await.unwrap();
    rig.frontier.resume_walk("w", Resume::Holes).await.unwrap();
    rig.walk_all(|_, _| true).await;
    let rest: Vec<&str> = rig.asked[5..].iter().map(|url| url.rsplit('/').next().unwrap()).collect();
    assert_eq!(rest, ["3", "5", "7"]);
}
