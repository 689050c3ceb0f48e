//! Budgets (F36) on several nodes that are killed: nothing beyond them, and all of it once they are
//! raised.

use std::collections::BTreeSet;
use std::time::Duration;

use frontier::End;
use policy::budget::{Budget, Limit};
use policy::model::Collection;
use store::Faults;
use testkit::catalog::{collection, put};

use crate::fleet::Fleet;
use crate::plain::UNTIL_DONE;
use crate::town::Town;

const TOWN: Town = Town { hosts: 24, pages: 100 };
const HARVESTS: u64 = 300;
const URLS: u64 = 500;

async fn declare(fleet: &Fleet, max_harvests: Option<u64>) {
    fleet.store.inject(Faults::default()).unwrap();
    let budget = Budget { max_harvests, max_urls: Some(URLS), ..Budget::default() };
    fleet.observer.declare(&[put(Collection { budget, ..collection("all") })]).await.unwrap();
}

async fn used(fleet: &Fleet, limit: Limit) -> u64 {
    let rows = fleet.observer.budgets().await.unwrap();
    rows.into_iter().find(|row| row.limit == limit).map_or(0, |row| row.used)
}

async fn storm(seed: u64) {
    let mut fleet = Fleet::new(seed, TOWN, 0).await;
    declare(&fleet, Some(HARVESTS)).await;
    let names = ["a", "b", "c"];
    for name in names {
        fleet.start(name, End::default()).await;
    }
    for step in 0..25 {
        fleet.far_away(1.0);
        tokio::time::sleep(Duration::from_millis(fleet.rng.u64(100..3_000))).await;
        let name = names[fleet.rng.usize(0..names.len())];
        if step % 3 == 0 || fleet.nodes.get(name).is_none_or(|node| node.run.is_finished()) {
            fleet.kill(name).await;
            fleet.start(name, End::default()).await;
        }
        fleet.is_sound().await;
        // A host is asked by one at a time, so as many are in flight as there are hosts.
        let harvests = used(&fleet, Limit::Harvests).await;
        assert!(harvests < HARVESTS + TOWN.hosts as u64, "seed {seed}: {harvests} harvests");
        let known = used(&fleet, Limit::Urls).await;
        assert!(known <= URLS, "seed {seed}: {known} URLs");
    }
    settle(&mut fleet, &names).await;
    let harvests = used(&fleet, Limit::Harvests).await;
    assert!((HARVESTS..HARVESTS + TOWN.hosts as u64).contains(&harvests), "seed {seed}: {harvests}");
    assert_eq!(captures(&fleet).await.len() as u64, harvests, "each was counted once");
    assert_eq!(used(&fleet, Limit::Urls).await, URLS);
    assert!(!fleet.observer.budget_endings(testkit::clock::START).await.unwrap().is_empty());
    // Raised: what waited goes on at once.
    declare(&fleet, None).await;
    settle(&mut fleet, &names).await;
    assert_eq!(captures(&fleet).await.len() as u64, URLS, "seed {seed}");
    println!("seed {seed}: {harvests} harvests of {HARVESTS}, {URLS} URLs");
}

/// Every node works until nothing is due.
async fn settle(fleet: &mut Fleet, names: &[&str]) {
    fleet.store.inject(Faults::default()).unwrap();
    for name in names {
        fleet.kill(name).await;
        fleet.start(name, UNTIL_DONE).await;
    }
    fleet.ends().await;
    fleet.is_sound().await;
}

async fn captures(fleet: &Fleet) -> BTreeSet<String> {
    let (rows, rest) = fleet.observer.captures("all", None, 10_000).await.unwrap();
    assert!(rest.is_none());
    rows.into_iter().map(|(_, _, capture)| capture.url).collect()
}

#[test]
fn f36_no_budget_is_exceeded_by_more_than_a_batch_under_crashes_and_on_several_nodes() {
    let given = |name| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let seeds = match given("SKURD_SIM_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..given("SKURD_SIM_RUNS").unwrap_or(4),
    };
    for seed in seeds {
        sim::virtual_time(storm(seed)).unwrap();
    }
}
