//! F38 as a server sees it: nobody asks outside the windows of a host, or on behalf of a profile outside
//! its own; and nothing is lost meanwhile. What is open is worked out here, from the hours of UTC.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use std::collections::BTreeMap;

use policy::catalog::Change;
use policy::hours::{Weekday, Window};
use policy::model::{HostGroup, LinkKind, Politeness, Profile};
use policy::time::{Span, Time};
use policy::way::Way;
use sim::web::{Page, Response, Web};
use sim::{Harvest, Moment, Settings, Simulation};
use testkit::catalog::{collection, profile, put, seed};

const HOUR: i64 = 3_600_000;

fn window(from: &str, to: &str, weekdays: &[Weekday]) -> Window {
    Window { from: from.parse().unwrap(), to: to.parse().unwrap(), weekdays: weekdays.to_vec() }
}

/// Hours of the day, and of the week from Monday on.
fn hours(at: Time) -> (i64, i64) {
    let hour = at.0.div_euclid(HOUR);
    // 1970-01-05 was a Monday.
    (hour.rem_euclid(24), (hour - 4 * 24).rem_euclid(168))
}

/// 22–06, and the group on Saturdays and Sundays only.
fn may_be_asked(host: &str, at: Time) -> bool {
    let (of_day, of_week) = hours(at);
    match host {
        "night.test" => !(6..22).contains(&of_day),
        "one.test" | "two.test" => of_week >= 120,
        _ => true,
    }
}

/// Mornings from 8 to 10.
fn may_ask(profile: &str, at: Time) -> bool {
    profile != "mornings" || (8..10).contains(&hours(at).0)
}

fn web() -> Web {
    let hosts = ["night.test", "one.test", "two.test", "free.test"];
    let page = |host: &str, number: usize| {
        let links = (1..=2).map(|n| number * 2 + n).filter(|n| *n < 60);
        let own = links.map(|n| (format!("http://{host}/{n}"), LinkKind::Link));
        let other = hosts.iter().map(|other| (format!("http://{other}/{number}"), LinkKind::Link));
        let response = Response { outlinks: own.chain(other).collect(), ..Response::default() };
        let url = if number == 0 { format!("http://{host}/") } else { format!("http://{host}/{number}") };
        Page { url, responses: vec![response] }
    };
    Web::new(hosts.into_iter().flat_map(|host| (0..60).map(move |number| page(host, number))))
}

fn declared() -> Vec<Change> {
    let polite = |windows| Politeness { min: Span::seconds(1), windows, ..Politeness::default() };
    let weekend = polite(vec![window("00:00", "24:00", &[Weekday::Sat, Weekday::Sun])]);
    let mornings = Profile {
        every: Span::days(1),
        windows: vec![window("08:00", "10:00", &[])],
        ..profile("mornings", "k")
    };
    vec![
        put(collection("k")),
        put(Profile { every: Span::hours(7), ..profile("often", "k") }),
        put(mornings),
        Change::PutHostPoliteness {
            host: "night.test".into(),
            politeness: polite(vec![window("22:00", "06:00", &[])]),
            way: Way::default(),
        },
        Change::PutGroup(HostGroup {
            name: "group:weekend".into(),
            hosts: vec!["one.test".into(), "two.test".into()],
            politeness: weekend,
            way: Way::default(),
        }),
        put(seed("night", "http://night.test/", &["often"])),
        put(seed("one", "http://one.test/", &["often"])),
        put(seed("two", "http://two.test/", &["often"])),
        put(seed("free", "http://free.test/", &["mornings"])),
    ]
}

#[test]
fn f38_no_request_comes_outside_the_windows_and_nothing_is_lost() {
    let mut log: Vec<Harvest> = Vec::new();
    let (overdue, findings) = sim::virtual_time(async {
        let simulation =
            Simulation::new(web(), Settings { workers: 10, keep_captures: false, ..Settings::default() });
        simulation.frontier.declare(&declared()).await.unwrap();
        let begin = simulation.now();
        let script = async {
            simulation.frontier.start(&frontier::Target::Collection("k".into())).await.unwrap();
            simulation.clock.sleep_until(begin.plus(Span::days(14))).await;
        };
        let hear = |moment| {
            if let Moment::Harvested(harvest) = moment {
                log.push(*harvest);
            }
            Ok::<(), frontier::RunError>(())
        };
        simulation.run_while(script, hear).await.unwrap();
        let sum = simulation.frontier.contract_sum(Time(0)).await.unwrap();
        (sum, simulation.frontier.audit().await.unwrap().findings)
    })
    .unwrap();
    assert!(findings.is_empty(), "{findings:?}");
    let mut by_host: BTreeMap<String, usize> = BTreeMap::new();
    for harvest in &log {
        assert!(may_be_asked(&harvest.host, harvest.began), "{} at {}", harvest.url, harvest.began);
        let allowed = harvest.profiles.iter().any(|profile| may_ask(profile, harvest.began));
        assert!(allowed, "{} at {} for {:?}", harvest.url, harvest.began, harvest.profiles);
        *by_host.entry(harvest.host.clone()).or_default() += 1;
    }
    // 60 pages: by night twice, on each of two weekends at least six times, each morning once; and one URL that is no page.
    assert!(by_host["night.test"] >= 60 * 20, "{by_host:?}");
    assert!(by_host["one.test"] >= 60 * 10 && by_host["two.test"] >= 60 * 10, "{by_host:?}");
    assert!((60 * 12..=61 * 14).contains(&by_host["free.test"]), "{by_host:?}");
    // The hosts' windows are no business of what the profile promises: what was promised in the week
    // came late, or was missed; the mornings were kept.
    assert!(overdue.promises.on_time > 60 * 10, "{overdue:?}");
}
