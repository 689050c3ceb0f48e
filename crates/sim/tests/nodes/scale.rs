//! How much more several nodes do than one, on a store that is far away (M4, M11).
//!
//! **What is measured.** Harvests a second of a fleet that never runs out of work. Every host has
//! answered before, so each request takes a worker (a host's first waits beside them); each node has
//! far more hosts that are due than it has workers, so politeness holds nobody back; and the web
//! answers as fast however many ask. So a node is bound by its workers, and a worker by the answer
//! (0.21 s on average) and by its waits for the store: until what it brought is committed, and until
//! it gets the next order. Time is virtual and computing costs none of it: what bends the curve is
//! round trips that become more, and transactions that are lost to another node and run again. What
//! it does not show are the limits of the store itself, and of a node's processor.
//!
//! Each node has as many workers as any other: with N nodes there is N times as much to do. The
//! share is the rate of N nodes, over N times that of one.
//!
//! The test is a short curve that must not bend. `SKURD_SCALE=1,2,4,8,16,32,64` draws a longer one,
//! with `SKURD_SCALE_HOSTS` hosts: `bench/scaling` makes a table and a picture of it.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use frontier::End;
use store::Faults;

use crate::fleet::Fleet;
use crate::town::Town;

const WORKERS: usize = 64;
/// After nodes have left: until the others have their shards. (A few hosts of those that left stay
/// reserved for longer, of thousands.)
const SETTLE: Duration = Duration::from_secs(8);
const MEASURED: Duration = Duration::from_secs(6);

/// What a number of nodes did.
struct Pace {
    nodes: u32,
    /// Harvests a second.
    rate: f64,
    /// For each harvest, as are the round trips.
    conflicts: f64,
    trips: f64,
    /// Requests of the node that made fewest, as a share of what each made on average.
    least: f64,
}

/// Measured from the most nodes to the fewest, on one store.
async fn paces(mut sizes: Vec<u32>, hosts: usize) -> Vec<Pace> {
    sizes.sort_unstable_by_key(|nodes| std::cmp::Reverse(*nodes));
    let mut fleet = Fleet::new(7, Town { hosts, pages: 31 }, 0).await;
    fleet.store.inject(Faults { round_trip_us: (500, 2000), ..Faults::default() }).unwrap();
    fleet.workers = WORKERS;
    for node in 0..sizes[0] {
        fleet.start(&format!("node {node}"), End::default()).await;
    }
    while known(&fleet) < hosts {
        tokio::time::sleep(Duration::from_secs(5)).await;
    }
    let mut paces = Vec::new();
    for nodes in sizes {
        let gone: Vec<String> = fleet.nodes.keys().skip(nodes as usize).cloned().collect();
        for name in gone {
            fleet.depart(&name).await;
        }
        tokio::time::sleep(SETTLE).await;
        paces.push(pace(&fleet, nodes).await);
    }
    paces.reverse();
    paces
}

/// Hosts that were asked.
fn known(fleet: &Fleet) -> usize {
    fleet.web.seen.lock().iter().map(|seen| seen.host.as_str()).collect::<HashSet<_>>().len()
}

async fn pace(fleet: &Fleet, nodes: u32) -> Pace {
    let look = || [*fleet.heard.0.lock(), fleet.conflicts(), trips(fleet.store.round_trips())];
    let (before, asked) = (look(), fleet.web.requests());
    tokio::time::sleep(MEASURED).await;
    let after = look();
    #[allow(clippy::cast_precision_loss, reason = "a rate")]
    let [done, conflicts, trips] = std::array::from_fn(|at| (after[at] - before[at]) as f64);
    let mut by_node: BTreeMap<String, u32> = fleet.nodes.keys().map(|name| (name.clone(), 0)).collect();
    for seen in &fleet.web.seen.lock()[asked..] {
        *by_node.entry(seen.node.clone()).or_default() += 1;
    }
    let least = by_node.values().min().copied().map_or(0.0, f64::from);
    let mean = f64::from(by_node.values().sum::<u32>()) / f64::from(nodes);
    let rate = done / MEASURED.as_secs_f64();
    Pace { nodes, rate, conflicts: conflicts / done, trips: trips / done, least: least / mean }
}

fn trips(trips: store::RoundTrips) -> u64 {
    trips.begins + trips.gets + trips.multi_gets + trips.scans + 2 * trips.commits
}

fn given<T: std::str::FromStr>(name: &str) -> Option<T> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn m4_m11_four_nodes_do_nearly_four_times_as_much() {
    let nodes: String = given("SKURD_SCALE").unwrap_or_else(|| "1,4".to_owned());
    let hosts = given("SKURD_SCALE_HOSTS").unwrap_or(4_000);
    let sizes = nodes.split(',').map(|text| text.parse::<u32>().unwrap()).collect();
    let paces = sim::virtual_time(paces(sizes, hosts)).unwrap();
    let one = paces[0].rate / f64::from(paces[0].nodes);
    for Pace { nodes, rate, conflicts, trips, least } in &paces {
        let share = rate / f64::from(*nodes) / one;
        println!(
            "nodes {nodes} rate {rate:.0} share {share:.3} conflicts {conflicts:.4} trips {trips:.2} least {least:.2}"
        );
    }
    for Pace { nodes, rate, trips, conflicts, .. } in paces {
        let share = rate / f64::from(nodes) / one;
        assert!(share >= 0.85 || nodes > 32, "{nodes} nodes: {share:.2} of what one does, each");
        assert!(conflicts <= 0.02 || nodes > 32, "M4: {conflicts} runs a harvest are lost to other nodes");
        assert!(trips <= 8.0, "M11: {trips} round trips a harvest, those shared by a batch included");
    }
}
