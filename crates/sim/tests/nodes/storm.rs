//! Everything at once, from a seed.

use std::collections::BTreeMap;
use std::time::Duration;

use frontier::End;
use store::Faults;

use crate::fleet::Fleet;
use crate::plain::UNTIL_DONE;
use crate::town::Town;

/// As many pages as can be had in the time that it blows, at one and a bit seconds each.
const TOWN: Town = Town { hosts: 24, pages: 100 };

/// What it saw: requests of the web, harvests that were committed, and shards that changed hands.
async fn storm(seed: u64, nodes: usize) -> (usize, u64, u64) {
    let mut fleet = Fleet::new(seed, TOWN, 2).await;
    fleet.watch_commits();
    let names: Vec<String> = (0..nodes).map(|n| format!("n{n}")).collect();
    let mut down: BTreeMap<String, u32> = BTreeMap::new();
    for name in &names {
        fleet.start(name, End::default()).await;
    }
    for _ in 0..60 {
        fleet.far_away(1.0);
        tokio::time::sleep(Duration::from_millis(fleet.rng.u64(100..4_000))).await;
        for name in &names {
            let ended = fleet.nodes.get(name).is_some_and(|node| node.run.is_finished());
            if ended {
                // Too many faults in a row, or its name was taken while it was stopped.
                fleet.kill(name).await;
                down.insert(name.clone(), 1);
            }
        }
        let name = names[fleet.rng.usize(0..names.len())].clone();
        let what = fleet.rng.u32(0..6);
        match what {
            0 if fleet.nodes.contains_key(&name) => {
                fleet.kill(&name).await;
                let steps = fleet.rng.u32(0..12);
                down.insert(name, steps);
            }
            1 => {
                if let Some(node) = fleet.nodes.get(&name) {
                    let stops = !*node.stopped.borrow();
                    node.stopped.send_replace(stops);
                }
            }
            // As one that is told to stop: it gives its shards away.
            2 if fleet.nodes.get(&name).is_some_and(|node| !*node.stopped.borrow()) => {
                fleet.store.inject(Faults::default()).unwrap();
                fleet.depart(&name).await;
                down.insert(name, 0);
            }
            _ => {}
        }
        for (name, steps) in std::mem::take(&mut down) {
            match steps.checked_sub(1) {
                Some(left) => drop(down.insert(name, left)),
                None => fleet.start(&name, End::default()).await,
            }
        }
        fleet.is_sound().await;
    }
    fleet.store.inject(Faults::default()).unwrap();
    for name in &names {
        fleet.kill(name).await;
        fleet.start(name, UNTIL_DONE).await;
    }
    fleet.ends().await;
    fleet.is_complete().await;
    let (harvests, moves) = {
        let commits = fleet.commits.as_ref().unwrap().lock();
        (commits.harvests, commits.moves)
    };
    assert!(
        harvests >= (TOWN.hosts * TOWN.pages) as u64 && moves > 0,
        "the books of commits have {harvests} and {moves}"
    );
    (fleet.web.requests(), harvests, moves)
}

fn every_seed(nodes: usize) {
    let given = |name| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let seeds = match given("SKURD_SIM_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..given("SKURD_SIM_RUNS").unwrap_or(6),
    };
    for seed in seeds {
        println!("seed {seed}, {nodes} nodes");
        let (requests, harvests, moves) = sim::virtual_time(storm(seed, nodes)).unwrap();
        println!(
            "seed {seed}, {nodes} nodes: {requests} requests, {harvests} harvests, {moves} shards moved"
        );
    }
}

#[test]
fn m4_m5_m10_two_nodes_in_a_storm() {
    every_seed(2);
}

#[test]
fn m4_m5_m10_five_nodes_in_a_storm() {
    every_seed(5);
}
