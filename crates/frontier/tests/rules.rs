//! The rules of page 1 as the frontier carries them out, on both engines.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod bench;

use std::sync::Arc;

use bench::*;
use frontier::ports::{AnswerFacts, Clock, Fetch, Outlink, Report};
use frontier::{Completed, Contract, ErrorKind, Frontier, Situation, State, Target};
use policy::Rule;
use policy::catalog::Change;
use policy::model::{Collection, HostGroup, LinkKind, Politeness, Profile, Seed, Settings};
use policy::time::{Span, Time};

#[test]
fn f1_f3_a_seed_starts_in_the_collections_of_its_profiles_once_each() {
    both(|b| async move {
        b.declare([
            Change::PutCollection(Box::new(collection("news"))),
            Change::PutCollection(Box::new(collection("shop"))),
            put(profile("daily", "news")),
            put(profile("weekly", "news")),
            put(profile("shopping", "shop")),
            Change::PutSeed(seed("a", "https://a.no/", &["daily", "weekly", "shopping"])),
            Change::PutSeed(seed("b", "https://b.no/", &["weekly"])),
        ])
        .await;
        let one = Target::Seed { name: "a".into(), profiles: Some(vec!["weekly".into(), "daily".into()]) };
        let started = b.frontier.start(&one).await.unwrap();
        assert_eq!((started.seeds, started.changed), (1, 1), "two profiles, one collection");
        let started = b.frontier.start(&Target::Profile("weekly".into())).await.unwrap();
        assert_eq!(started.seeds, 2);
        b.frontier.start(&Target::Seed { name: "a".into(), profiles: None }).await.unwrap();
        let states = b.states().await;
        let found: Vec<_> = states.iter().map(|(c, u, _)| (c.as_str(), u.as_str())).collect();
        assert_eq!(found, [("news", "https://a.no/"), ("news", "https://b.no/"), ("shop", "https://a.no/")]);
        let nothing = b.frontier.start(&Target::Profile("no such".into())).await.unwrap();
        assert_eq!(nothing.seeds, 0);
    });
}

#[test]
fn f2_f22_a_start_is_a_link_with_every_value_zero() {
    both(|b| async move {
        b.declare(basic()).await;
        b.start("news").await;
        let (Situation::Queued(record), Rule::F34) = b.why("https://a.no/").await else { panic!() };
        assert_eq!((record.position.depth, record.position.hops, record.cycles), (0, 0, 0));
        assert_eq!((record.due, record.last, record.errors), (START, None, 0));
        b.sound().await;
    });
}

#[test]
fn f2_a_start_harvests_now_what_was_harvested_a_moment_ago() {
    both(|b| async move {
        b.declare(basic()).await;
        b.start("news").await;
        b.answer(&b.next().await, 200, &[]).await;
        b.pass(Span::minutes(1));
        assert!(b.reserve(10).await.is_empty(), "it is daily");
        b.start("news").await;
        b.sound().await;
        let again = b.next().await;
        assert_eq!((again.url.as_str(), again.due), ("https://a.no/", b.clock.now()));
        assert_eq!(again.digest.as_deref(), Some("sha"), "what it is compared with is still known");
        b.answer(&again, 200, &[]).await;
        let (Situation::Queued(record), _) = b.why("https://a.no/").await else { panic!() };
        assert_eq!(record.due, again.due.plus(Span::days(1)), "and goes on from there");
    });
}

#[test]
fn f4_f20_f28_done_in_this_run_and_eligible_in_the_next() {
    both(|b| async move {
        b.declare(basic()).await;
        b.declare([put(Profile { length: Some(1), ..profile("daily", "news") })]).await;
        b.start("news").await;
        b.answer(&b.next().await, 200, &["https://a.no/x"]).await;
        assert_eq!(b.states().await[0].2, State::Done);
        b.pass(Span::minutes(1));
        // F28: a link to what is done in this run changes nothing.
        b.answer(&b.next().await, 200, &["https://a.no/"]).await;
        assert!(b.states().await.iter().all(|(_, _, state)| *state == State::Done));
        b.start("news").await;
        b.pass(Span::minutes(1));
        let again = b.next().await;
        assert_eq!(again.url.as_str(), "https://a.no/");
        // The new run reaches the rest by its links.
        b.answer(&again, 200, &["https://a.no/x"]).await;
        b.pass(Span::minutes(1));
        assert_eq!(b.next().await.url.as_str(), "https://a.no/x");
    });
}

#[test]
fn f5_a_host_is_reserved_once_and_the_earliest_first() {
    both(|b| async move {
        b.declare(basic()).await;
        b.declare([Change::PutSeed(seed("b", "https://b.no/", &["daily"]))]).await;
        b.frontier.start(&Target::Seed { name: "b".into(), profiles: None }).await.unwrap();
        b.pass(Span(5));
        b.frontier.start(&Target::Seed { name: "a".into(), profiles: None }).await.unwrap();
        let first = b.reserve(1).await;
        assert_eq!(first[0].host, "b.no");
        let rest = b.reserve(10).await;
        assert_eq!(rest.len(), 1);
        assert_eq!(rest[0].host, "a.no");
        assert!(b.reserve(10).await.is_empty(), "both are busy");
        b.sound().await;
    });
}

#[test]
fn f5_www_and_scheme_and_port_share_a_host() {
    both(|b| async move {
        b.declare(basic()).await;
        b.declare([
            Change::PutSeed(seed("www", "http://www.a.no/", &["daily"])),
            Change::PutSeed(seed("port", "https://a.no:8443/", &["daily"])),
        ])
        .await;
        b.start("news").await;
        assert_eq!(b.reserve(10).await.len(), 1);
    });
}

#[test]
fn f5_f6_hosts_of_a_group_take_turns() {
    both(|b| async move {
        b.declare(basic()).await;
        let group = |parallel| {
            Change::PutGroup(HostGroup {
                name: "group:one".into(),
                hosts: vec!["a.no".into(), "b.no".into()],
                politeness: Politeness { parallel, ..Politeness::default() },
                ..HostGroup::default()
            })
        };
        b.declare([Change::PutSeed(seed("b", "https://b.no/", &["daily"])), group(1)]).await;
        b.start("news").await;
        let first = b.next().await;
        assert!(b.reserve(10).await.is_empty(), "the group is busy");
        b.answer(&first, 200, &[]).await;
        assert!(b.reserve(10).await.is_empty(), "and then it rests");
        b.pass(Span::seconds(2));
        let second = b.next().await;
        assert_ne!(first.host, second.host);
        b.answer(&second, 200, &[]).await;
    });
}

#[test]
fn f6_a_late_worker_is_refused_and_the_url_is_not_lost() {
    both(|b| async move {
        b.declare(basic()).await;
        b.start("news").await;
        let late = b.next().await;
        b.pass(Span::minutes(29));
        assert_eq!(b.frontier.sweep().await.unwrap().leases, 0, "the lease still runs");
        b.pass(Span::minutes(2));
        assert_eq!(b.frontier.sweep().await.unwrap().leases, 1);
        b.pass(Span::minutes(1));
        let other = b.next().await;
        assert_eq!(other.url, late.url);
        assert_eq!(b.answer(&late, 200, &["https://a.no/late"]).await, Completed::LeaseLost);
        assert_eq!(b.states().await.len(), 1, "nothing of the late harvest counts");
        assert!(matches!(b.answer(&other, 200, &[]).await, Completed::Done(_)));
        let (captures, _) = b.frontier.captures("news", None, 10).await.unwrap();
        assert_eq!(captures.len(), 1);
        let requests: u64 =
            b.frontier.traffic(Time(0)).await.unwrap().iter().map(|row| row.traffic.requests).sum();
        assert_eq!(requests, 1, "counted once");
    });
}

#[test]
fn f6_a_restart_takes_back_what_the_dead_process_held_and_stays_polite() {
    both(|b| async move {
        b.declare(basic()).await;
        b.start("news").await;
        let lost = b.next().await;
        let reborn = Bench {
            frontier: Frontier::new(b.store.clone(), Arc::clone(&b.clock) as Arc<dyn Clock>, 2),
            ..b
        };
        assert_eq!(reborn.frontier.recover().await.unwrap(), 1);
        assert!(reborn.reserve(1).await.is_empty(), "the host was asked a moment ago");
        reborn.pass(Span::seconds(1));
        assert_eq!(reborn.next().await.url, lost.url);
        reborn.sound().await;
    });
}

#[test]
fn f6_a_host_without_urls_is_forgotten_but_not_before_its_delay() {
    both(|b| async move {
        b.declare(basic()).await;
        b.declare([put(Profile { length: Some(1), ..profile("daily", "news") })]).await;
        b.start("news").await;
        b.answer(&b.next().await, 200, &[]).await;
        assert_eq!(b.frontier.hosts(None, 10).await.unwrap().0.len(), 1);
        b.start("news").await;
        assert!(b.reserve(1).await.is_empty(), "started again at once, and still polite");
        b.pass(Span::seconds(2));
        b.answer(&b.next().await, 200, &[]).await;
        b.pass(Span::minutes(1));
        assert!(b.reserve(1).await.is_empty());
        assert!(b.frontier.hosts(None, 10).await.unwrap().0.is_empty());
    });
}

#[test]
fn f8_the_delay_grows_with_the_response_and_obeys_retry_after() {
    both(|b| async move {
        b.declare(basic()).await;
        b.start("news").await;
        for (response_time, retry_after, crawl_delay, delay) in [
            (Span(100), None, None, Span::seconds(1)),
            (Span::seconds(2), None, None, Span::seconds(10)),
            (Span::seconds(60), None, None, Span::seconds(30)),
            (Span(100), Some(Span::minutes(3)), None, Span::minutes(3)),
            (Span(100), None, Some(Span::seconds(20)), Span::seconds(20)),
        ] {
            let order = b.next().await;
            let facts = AnswerFacts { status: 200, ..AnswerFacts::default() };
            let mut report = Report::bare(b.clock.now(), Fetch::Answer(facts));
            (report.response_time, report.retry_after, report.crawl_delay) =
                (response_time, retry_after, crawl_delay);
            // A fresh page each time, due at once.
            let next = format!("https://a.no/{}", b.clock.now().0);
            report.outlinks = vec![Outlink::new(url(&next), LinkKind::Link)];
            b.complete(&order, &report).await;
            b.pass(Span(delay.0 - 1));
            assert!(b.reserve(1).await.is_empty(), "{delay:?} have not passed");
            b.pass(Span(1));
        }
    });
}

#[test]
fn f8_parallel_is_the_number_of_requests_at_once() {
    both(|b| async move {
        b.declare(basic()).await;
        let politeness = Politeness {
            factor: 0.0,
            min: Span::ZERO,
            max: Span::ZERO,
            parallel: 3,
            ..Politeness::default()
        };
        b.declare([Change::PutSettings(Box::new(Settings { politeness, ..Settings::default() }))]).await;
        b.start("news").await;
        let links: Vec<String> = (0..9).map(|n| format!("https://a.no/{n}")).collect();
        let links: Vec<&str> = links.iter().map(String::as_str).collect();
        b.answer(&b.next().await, 200, &links).await;
        let mut seen = std::collections::BTreeSet::new();
        let mut orders = Vec::new();
        for _ in 0..4 {
            orders.extend(b.reserve(10).await);
        }
        assert_eq!(orders.len(), 3);
        while let Some(order) = orders.pop() {
            assert!(seen.insert(order.url.clone()), "{} twice at once", order.url);
            b.answer(&order, 200, &[]).await;
            let more = b.reserve(10).await;
            orders.extend(more);
            assert!(orders.len() <= 3);
        }
        assert_eq!(seen.len(), 9);
    });
}

#[test]
fn f9_f10_f11_f12_f13_f14_live_changes_take_effect_at_the_next_evaluation() {
    let seed_off = || Change::PutSeed(Seed { active: false, ..seed("a", "https://a.no/", &["daily"]) });
    let collection_off =
        || Change::PutCollection(Box::new(Collection { active: false, ..collection("news") }));
    let profile_off = || put(Profile { active: false, ..profile("daily", "news") });
    // rule, the change, and whether the URL is still there afterwards
    let table: [(Rule, Change, bool); 6] = [
        (Rule::F9, Change::DeleteSeed("a".into()), false),
        (Rule::F10, Change::DeleteCollection("news".into()), false),
        (Rule::F11, seed_off(), true),
        (Rule::F12, collection_off(), true),
        (Rule::F13, Change::DeleteProfile("daily".into()), false),
        (Rule::F14, profile_off(), true),
    ];
    for (rule, change, stays) in table {
        let change = &change;
        both(|b| async move {
            b.declare(basic()).await;
            b.start("news").await;
            b.declare([change.clone()]).await;
            assert_eq!(b.why("https://a.no/").await.1, rule);
            assert!(b.reserve(10).await.is_empty(), "{rule}");
            assert_eq!(b.states().await.len(), usize::from(stays), "{rule}");
            b.sound().await;
            // On again, it continues.
            b.declare(basic()).await;
            b.pass(Span::hours(1));
            assert_eq!(b.reserve(10).await.len(), usize::from(stays), "{rule}");
        });
    }
}

#[test]
fn f9_f13_a_sweep_shows_deletions_at_once() {
    both(|b| async move {
        b.declare(basic()).await;
        b.declare([Change::PutSeed(seed("b", "https://b.no/", &["daily"]))]).await;
        b.start("news").await;
        b.declare([Change::DeleteSeed("b".into())]).await;
        assert_eq!(b.frontier.sweep_deleted().await.unwrap(), 1);
        assert_eq!(b.states().await.len(), 1);
        b.reserve(10).await;
        b.sound().await;
    });
}

#[test]
fn f15_a_slower_profile_puts_the_url_back() {
    both(|b| async move {
        b.declare(basic()).await;
        b.start("news").await;
        b.answer(&b.next().await, 200, &[]).await;
        b.declare([put(Profile { every: Span::days(3), ..profile("daily", "news") })]).await;
        b.pass(Span::days(1));
        assert!(b.reserve(1).await.is_empty());
        b.pass(Span::days(2));
        assert_eq!(b.next().await.due, START.plus(Span::days(3)));
    });
}

#[test]
fn f16_f21_not_found_too_often_is_blacklisted_and_comes_back_by_itself() {
    both(|b| async move {
        b.declare(basic()).await;
        b.start("news").await;
        b.answer(&b.next().await, 404, &[]).await;
        b.pass(Span::days(1));
        b.answer(&b.next().await, 404, &[]).await;
        let (Situation::Blacklisted(entry), Rule::F16) = b.why("https://a.no/").await else { panic!() };
        assert_eq!(entry.until, Some(b.clock.now().plus(Span::days(7))));
        b.pass(Span::days(6));
        assert_eq!(b.frontier.sweep().await.unwrap().blacklistings, 0);
        b.pass(Span::days(1));
        assert_eq!(b.frontier.sweep().await.unwrap().blacklistings, 1);
        b.sound().await;
        let order = b.next().await;
        b.answer(&order, 200, &[]).await;
        assert_eq!(b.states().await[0].2, State::Queued);
    });
}

#[test]
fn f16_an_operator_blacklists_and_lifts() {
    both(|b| async move {
        b.declare(basic()).await;
        b.start("news").await;
        let target = url("https://a.no/");
        assert!(b.frontier.blacklist_add("news", &target, "asked to", None).await.unwrap());
        assert!(!b.frontier.blacklist_add("news", &target, "again", None).await.unwrap());
        assert!(b.reserve(1).await.is_empty());
        b.sound().await;
        assert!(b.frontier.blacklist_lift("news", &target).await.unwrap());
        assert!(!b.frontier.blacklist_lift("news", &target).await.unwrap());
        b.sound().await;
        assert_eq!(b.next().await.url, target);
    });
}

#[test]
fn f15_f21_an_operator_moves_a_url_to_another_time() {
    both(|b| async move {
        b.declare(basic()).await;
        b.start("news").await;
        let target = url("https://a.no/");
        b.answer(&b.next().await, 200, &[]).await;
        b.pass(Span::hours(1));
        assert!(b.frontier.move_due("news", &target, b.clock.now()).await.unwrap());
        b.sound().await;
        b.answer(&b.next().await, 200, &[]).await;
        let later = b.clock.now().plus(Span::days(9));
        assert!(b.frontier.move_due("news", &target, later).await.unwrap());
        b.pass(Span::days(8));
        assert!(b.reserve(1).await.is_empty());
        b.pass(Span::days(1));
        assert_eq!(b.next().await.due, later);
        assert!(!b.frontier.move_due("news", &url("https://nobody.no/"), later).await.unwrap());
    });
}

#[test]
fn f17_dns_failure_backs_off_the_whole_host_and_keeps_the_order() {
    both(|b| async move {
        b.declare(basic()).await;
        b.start("news").await;
        b.answer(&b.next().await, 200, &["https://a.no/1", "https://a.no/2"]).await;
        b.pass(Span::minutes(1));
        let first = b.next().await;
        b.fail(&first, Fetch::DnsFailed).await;
        b.pass(Span::seconds(20));
        assert!(b.reserve(1).await.is_empty(), "not even its other URLs");
        b.pass(Span::minutes(2));
        assert_eq!(b.next().await.url, first.url, "its URLs keep their order");
    });
}

#[test]
fn f17_robots_deny_blacklists_until_robots_are_next_read() {
    both(|b| async move {
        b.declare(basic()).await;
        b.start("news").await;
        let until = START.plus(Span::hours(24));
        b.fail(&b.next().await, Fetch::RobotsDenied { until }).await;
        assert_eq!(b.states().await[0].2, State::Blacklisted);
        b.pass(Span::hours(24));
        b.frontier.sweep().await.unwrap();
        assert_eq!(b.next().await.url.as_str(), "https://a.no/");
    });
}

#[test]
fn f19_f21_errors_come_again_after_a_backoff_and_are_counted_once() {
    both(|b| async move {
        b.declare(basic()).await;
        b.start("news").await;
        b.fail(&b.next().await, Fetch::NoAnswer(ErrorKind::Timeout)).await;
        assert!(b.reserve(1).await.is_empty());
        b.pass(Span::seconds(76));
        let retry = b.next().await;
        b.answer(&retry, 200, &[]).await;
        let (Situation::Queued(record), _) = b.why("https://a.no/").await else { panic!() };
        assert_eq!((record.errors, record.due), (0, START.plus(Span::days(1))), "back on its schedule");
        let rows = b.frontier.traffic(Time(0)).await.unwrap();
        assert_eq!(rows[0].traffic.errors, [(ErrorKind::Timeout, 1)]);
        assert_eq!((rows[0].traffic.requests, rows[0].traffic.new), (2, 1));
    });
}

#[test]
fn f7_f23_f27_outlinks_commit_with_the_page_and_once() {
    both(|b| async move {
        b.declare(basic()).await;
        b.start("news").await;
        let order = b.next().await;
        let links = [
            "https://a.no/1",
            "https://a.no/1",
            "https://a.no/",
            "https://elsewhere.no/",
            "https://b.a.no/2",
        ];
        let Completed::Done(summary) = b.answer(&order, 200, &links).await else { panic!() };
        assert_eq!(summary.added, 2);
        let urls: Vec<_> = b.states().await.into_iter().map(|(_, url, _)| url).collect();
        assert_eq!(urls, ["https://a.no/", "https://a.no/1", "https://b.a.no/2"]);
        assert_eq!(b.why("https://elsewhere.no/").await.1, Rule::F27);
        // Committed once: the same order again holds no lease any more.
        assert_eq!(b.answer(&order, 200, &["https://a.no/never"]).await, Completed::LeaseLost);
        assert_eq!(b.states().await.len(), 3);
    });
}

#[test]
fn f31_promises_are_kept_on_time_late_or_missed_and_a_first_harvest_is_none() {
    both(|b| async move {
        b.declare(basic()).await;
        b.start("news").await;
        b.pass(Span::minutes(30));
        b.answer(&b.next().await, 200, &[]).await;
        let contract = async || b.frontier.contract_sum(Time(0)).await.unwrap();
        let figures = |sum: &Contract| {
            let p = &sum.promises;
            (sum.promised(), p.on_time, p.late, p.missed, sum.overdue)
        };
        let sum = contract().await;
        assert_eq!((figures(&sum), sum.share_on_time()), ((0, 0, 0, 0, 0), None), "nothing was promised yet");
        assert_eq!((sum.promises.first, sum.promises.wait_percentile(0.5)), (1, Span::seconds(2047)));
        // The promise is a day after the start, whenever the harvest was.
        b.pass(Span::days(1).plus(Span::hours(5)));
        assert_eq!(figures(&contract().await), (1, 0, 0, 0, 1), "open, and overdue before anybody tried");
        b.answer(&b.next().await, 200, &[]).await;
        assert_eq!(figures(&contract().await), (1, 0, 1, 0, 0), "five and a half hours late");
        b.pass(Span::days(10));
        let sum = contract().await;
        assert_eq!(figures(&sum), (11, 0, 1, 9, 1), "nobody tried for ten days");
        b.fail(&b.next().await, Fetch::NoAnswer(ErrorKind::Timeout)).await;
        assert_eq!(contract().await, sum, "a try in vain changes nothing of that");
        let rows = b.frontier.contract(START.plus(Span::days(9))).await.unwrap();
        let missed: u64 = rows.iter().map(|row| row.contract.promises.missed).sum();
        assert_eq!(
            (missed, rows.iter().all(|row| row.domain == "a.no" && row.profile == "daily")),
            (2, true)
        );
        // Nobody promises anything while the profile is switched off.
        b.declare([put(Profile { active: false, ..profile("daily", "news") })]).await;
        assert_eq!(figures(&contract().await), (10, 0, 1, 9, 0), "what is settled stays");
    });
}

#[test]
fn f33_the_impossible_is_told_from_counters() {
    both(|b| async move {
        b.declare(basic()).await;
        b.start("news").await;
        assert_eq!(b.frontier.feasibility().await.unwrap()[0].urls, 1, "before anything runs");
        b.answer(&b.next().await, 200, &["https://a.no/1", "https://a.no/2"]).await;
        let row = &b.frontier.feasibility().await.unwrap()[0];
        assert!(row.urls == 3 && row.load() < 0.01 && (row.wanted_per_day - 3.0).abs() < 1e-9, "{row:?}");
        b.declare([put(Profile { every: Span(500), ..profile("daily", "news") })]).await;
        let row = &b.frontier.feasibility().await.unwrap()[0];
        assert!(row.load() > 2.0, "twice a second with a delay of one: {row:?}");
    });
}

#[test]
fn i7_figures_follow_every_way_a_url_can_go() {
    both(|b| async move {
        b.declare(basic()).await;
        let counts = async || {
            let counts = b.frontier.url_counts().await.unwrap().remove("news").unwrap_or_default();
            (counts.queued, counts.unharvested, counts.done, counts.blacklisted, counts.captures)
        };
        assert_eq!(counts().await, (0, 0, 0, 0, 0));
        b.start("news").await;
        assert_eq!(counts().await, (1, 1, 0, 0, 0));
        let links: Vec<String> = (0..5).map(|n| format!("https://a.no/{n}")).collect();
        let links: Vec<&str> = links.iter().map(String::as_str).collect();
        b.answer(&b.next().await, 200, &links).await;
        assert_eq!(counts().await, (6, 5, 0, 0, 1));
        b.frontier.blacklist_add("news", &url(links[0]), "too loud", None).await.unwrap();
        b.sound().await;
        assert_eq!(counts().await, (5, 4, 0, 1, 1));
        b.frontier.blacklist_lift("news", &url(links[0])).await.unwrap();
        assert_eq!(counts().await, (6, 5, 0, 0, 1));
        b.frontier.move_due("news", &url(links[1]), START.plus(Span::days(2))).await.unwrap();
        b.sound().await;
        // Harvested once and done, denied by robots, out of scope, and deleted.
        b.declare([put(Profile { length: Some(1), ..profile("daily", "news") })]).await;
        b.pass(Span::minutes(1));
        b.answer(&b.next().await, 200, &[]).await;
        assert_eq!(counts().await, (5, 4, 1, 0, 2));
        b.pass(Span::minutes(1));
        b.fail(&b.next().await, Fetch::RobotsDenied { until: START.plus(Span::days(1)) }).await;
        assert_eq!(counts().await, (4, 3, 1, 1, 2));
        b.declare([Change::DeleteSeed("a".into())]).await;
        b.frontier.sweep_deleted().await.unwrap();
        b.sound().await;
        assert_eq!(counts().await, (0, 0, 1, 1, 2));
        let totals = b.frontier.totals().await.unwrap().traffic;
        assert_eq!((totals.requests, totals.statuses), (2, vec![(200, 2)]));
        let latest = b.frontier.latest(10).await.unwrap();
        let told: Vec<_> = latest.iter().map(|(_, row)| (row.status, row.error)).collect();
        assert_eq!(told, [(None, Some(ErrorKind::Robots)), (Some(200), None), (Some(200), None)]);
    });
}

#[test]
fn i7_the_last_harvests_stay_the_last_over_restarts() {
    const KEPT: usize = 32;
    both(|mut b| async move {
        b.declare(basic()).await;
        b.start("news").await;
        let mut times: Vec<Time> = Vec::new();
        for harvest in 1..=4 * KEPT as u64 {
            if harvest % 50 == 0 {
                // Rows that others have left are no reason to keep more.
                b.put_latest((0..100).map(|lease| (5, lease))).await;
                let clock = Arc::clone(&b.clock) as Arc<dyn Clock>;
                b.frontier = Frontier::new(b.store.clone(), clock, 100 + harvest);
            }
            b.pass(Span::days(2));
            b.answer(&b.next().await, 200, &[]).await;
            times.insert(0, b.clock.now());
            times.truncate(KEPT);
            let told = b.frontier.latest(1000).await.unwrap();
            assert_eq!(told.into_iter().map(|(at, _)| at).collect::<Vec<_>>(), times, "{harvest}");
        }
    });
}

#[test]
fn f32_new_is_only_what_came_with_content() {
    both(|b| async move {
        b.declare(basic()).await;
        b.start("news").await;
        b.answer(&b.next().await, 404, &[]).await;
        for status in [503, 301, 200, 200, 304] {
            b.pass(Span::days(2));
            let order = b.next().await;
            let unchanged = status == 304;
            let facts =
                AnswerFacts { status, digest: Some("sha".into()), unchanged, ..AnswerFacts::default() };
            b.complete(&order, &Report::bare(b.clock.now(), Fetch::Answer(facts))).await;
        }
        let sum = b.frontier.totals().await.unwrap().traffic;
        assert_eq!((sum.new, sum.changed, sum.unchanged, sum.requests), (1, 1, 1, 6));
        assert_eq!(sum.answers(frontier::is_not_found), 1);
        let hours = b.frontier.traffic_by_hour(Time(0)).await.unwrap();
        assert_eq!((hours.len(), hours.values().map(|hour| hour.requests).sum::<u64>()), (6, 6));
    });
}

#[test]
fn f32_reports_are_by_domain_and_hour() {
    both(|b| async move {
        b.declare(basic()).await;
        b.start("news").await;
        b.answer(&b.next().await, 200, &["https://b.a.no/"]).await;
        b.pass(Span::hours(2));
        b.answer(&b.next().await, 500, &[]).await;
        let rows = b.frontier.traffic(Time(0)).await.unwrap();
        let seen: Vec<_> = rows
            .iter()
            .map(|r| (r.hour.since(START), r.domain.as_str(), r.traffic.statuses.clone()))
            .collect();
        assert_eq!(seen, [(Span::ZERO, "a.no", vec![(200, 1)]), (Span::hours(2), "a.no", vec![(500, 1)]),]);
        assert_eq!(b.frontier.traffic(START.plus(Span::hours(1))).await.unwrap().len(), 1);
    });
}

#[test]
fn o6_f24_starting_a_more_specific_seed_takes_its_urls_over() {
    both(|b| async move {
        b.declare(basic()).await;
        b.start("news").await;
        b.answer(&b.next().await, 200, &["https://a.no/sport/1"]).await;
        b.declare([Change::PutSeed(seed("sport", "https://a.no/sport/", &["daily"]))]).await;
        b.pass(Span::minutes(1));
        b.answer(&b.next().await, 200, &[]).await;
        b.start("news").await;
        // F2: the first seed is due again as well.
        b.pass(Span::minutes(1));
        b.answer(&b.next().await, 200, &[]).await;
        b.pass(Span::minutes(1));
        b.answer(&b.next().await, 200, &["https://a.no/sport/1"]).await;
        let (Situation::Queued(record), _) = b.why("https://a.no/sport/1").await else { panic!() };
        assert_eq!(record.seed, "sport");
    });
}
