//! Windows (F38) on several nodes that are killed, stopped and go on, with clocks that are apart: what
//! counts is when the web was asked, by its own clock.

use std::time::Duration;

use frontier::End;
use policy::catalog::Change;
use policy::hours::{TimeOfDay, Window};
use policy::model::{Politeness, Profile};
use policy::scope::{Scope, Within};
use policy::time::{Span, Time};
use policy::way::Way;
use store::Faults;
use testkit::catalog::{profile, put};

use crate::fleet::{DELAY, EVERY, Fleet};
use crate::town::Town;

/// A host takes longer than any of its windows.
const TOWN: Town = Town { hosts: 12, pages: 200 };
/// Walks are of a host of their own, and of the same profile as the pages.
const WALKS: usize = 1;
const MINUTE: i64 = 60_000;
/// A window and the time after it, in minutes.
const ROUND: i64 = 5;
/// A node goes by the store's time, as it was on its way to it.
const ON_THE_WAY: i64 = 5;

/// From this minute of each round to that one.
type Open = (i64, i64);

/// Every third host may be asked at any time.
fn of_host(host: usize) -> Option<Open> {
    [Some((0, 3)), Some((2, 5)), None][host % 3]
}

/// All harvests are of one profile.
const OF_PROFILE: Open = (1, 5);

fn windows((from, to): Open) -> Vec<Window> {
    let at = |minute: i64| -> TimeOfDay { format!("{:02}:{:02}", minute / 60, minute % 60).parse().unwrap() };
    let rounds = 0..24 * 60 / ROUND;
    rounds
        .map(|n| Window { from: at(n * ROUND + from), to: at(n * ROUND + to), weekdays: Vec::new() })
        .collect()
}

/// By the clock alone.
fn is_open((from, to): Open, at: Time) -> bool {
    let round = at.0.rem_euclid(ROUND * MINUTE);
    (from * MINUTE - ON_THE_WAY..to * MINUTE + ON_THE_WAY).contains(&round)
}

fn declared() -> Vec<Change> {
    let scope = Scope { within: Within::Any, ..Scope::default() };
    let pages = Profile { scope, every: EVERY, windows: windows(OF_PROFILE), ..profile("pages", "all") };
    let mut changes = vec![put(pages)];
    for host in 0..TOWN.hosts {
        let Some(open) = of_host(host) else { continue };
        let politeness = Politeness {
            factor: 0.0,
            min: DELAY,
            max: DELAY,
            parallel: 1,
            windows: windows(open),
            ..Politeness::default()
        };
        let host = format!("h{host}.test");
        changes.push(Change::PutHostPoliteness { host, politeness, way: Way::default() });
    }
    changes
}

/// Requests that came outside; and how many there were.
fn outside(fleet: &Fleet) -> (Vec<String>, usize) {
    let seen = fleet.web.seen.lock();
    let wrong = seen.iter().filter(|seen| {
        let host = seen.host.trim_start_matches('h').trim_end_matches(".test").parse().ok();
        let host = host.and_then(of_host);
        !is_open(OF_PROFILE, seen.begin) || host.is_some_and(|open| !is_open(open, seen.begin))
    });
    (wrong.map(|seen| format!("{seen:?}")).collect(), seen.len())
}

async fn storm(seed: u64) {
    let mut fleet = Fleet::new(seed, TOWN, WALKS).await;
    fleet.observer.declare(&declared()).await.unwrap();
    let names = ["a", "b", "c"];
    for name in names {
        fleet.start(name, End::default()).await;
    }
    for step in 0..60 {
        fleet.far_away(1.0);
        tokio::time::sleep(Duration::from_millis(fleet.rng.u64(1_000..12_000))).await;
        let name = names[fleet.rng.usize(0..names.len())];
        if step % 3 == 0 || fleet.nodes.get(name).is_none_or(|node| node.run.is_finished()) {
            fleet.kill(name).await;
            fleet.start(name, End::default()).await;
        } else if let Some(node) = fleet.nodes.get(name) {
            // Over the end of a window, as often as not.
            let stops = !*node.stopped.borrow();
            node.stopped.send_replace(stops);
        }
        fleet.is_sound().await;
    }
    // Nothing is lost: in time all of it is there.
    fleet.store.inject(Faults::default()).unwrap();
    for name in names {
        fleet.kill(name).await;
        fleet.start(name, End::default()).await;
    }
    for _ in 0..40 {
        tokio::time::sleep(Duration::from_millis(60_000)).await;
        if captures(&fleet).await >= TOWN.hosts * TOWN.pages + 103 {
            break;
        }
    }
    let (wrong, requests) = outside(&fleet);
    assert!(wrong.is_empty(), "seed {seed}: {} of {requests} outside: {wrong:#?}", wrong.len());
    for name in names {
        fleet.depart(name).await;
    }
    fleet.is_complete().await;
    let begun = fleet.web.seen.lock().iter().map(|seen| seen.begin).min().unwrap();
    let last = fleet.web.seen.lock().iter().map(|seen| seen.begin).max().unwrap();
    let rounds = last.since(begun).0 / Span::minutes(5).0;
    assert!(rounds >= 2, "seed {seed}: it was over before the windows had closed twice");
    println!("seed {seed}: {requests} requests in {rounds} rounds of windows, none outside");
}

async fn captures(fleet: &Fleet) -> usize {
    let (rows, rest) = fleet.observer.captures("all", None, 10_000).await.unwrap();
    assert!(rest.is_none());
    rows.len()
}

#[test]
fn f38_no_window_is_violated_under_crashes_and_on_several_nodes() {
    let given = |name| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let seeds = match given("SKURD_SIM_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..given("SKURD_SIM_RUNS").unwrap_or(4),
    };
    for seed in seeds {
        sim::virtual_time(storm(seed)).unwrap();
    }
}
