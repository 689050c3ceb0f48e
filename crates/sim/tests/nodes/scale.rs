//! How much more several nodes do than one, on a store that is far away: the time is virtual, so what
//! counts is how often somebody waits for a round trip, or for somebody else.
//!
//! The test is a short curve that must not bend. `SKURD_SCALE=1,2,4,8,16,32,64` draws a longer one, with
//! `SKURD_SCALE_HOSTS` hosts: `bench/scaling` makes a table and a picture of it.

use std::collections::HashSet;
use std::time::Duration;

use frontier::End;
use store::Faults;

use crate::fleet::Fleet;
use crate::town::Town;

const WORKERS: usize = 64;
const SETTLE: Duration = Duration::from_secs(6);
const MEASURED: Duration = Duration::from_secs(5);

/// What a number of nodes did.
struct Pace {
    nodes: u32,
    /// Harvests a second.
    rate: f64,
    /// For each harvest, as are the round trips.
    conflicts: f64,
    trips: f64,
}

/// Measured from the most nodes to the fewest, on one store: every host has answered by then, so that all
/// its requests take a worker (a host's first waits beside them), and it is the workers that are few,
/// with however many nodes.
async fn paces(mut sizes: Vec<u32>, hosts: usize) -> Vec<Pace> {
    sizes.sort_unstable_by_key(|nodes| std::cmp::Reverse(*nodes));
    let mut fleet = Fleet::new(7, Town { hosts, pages: 15 }, 0).await;
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
        // Until the others have its shards.
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
    let look = || (*fleet.heard.0.lock(), fleet.store.figures().conflicts, trips(fleet.store.round_trips()));
    let before = look();
    tokio::time::sleep(MEASURED).await;
    let after = look();
    #[allow(clippy::cast_precision_loss, reason = "a rate")]
    let [done, conflicts, trips] =
        [after.0 - before.0, after.1 - before.1, after.2 - before.2].map(|count| count as f64);
    Pace { nodes, rate: done / MEASURED.as_secs_f64(), conflicts: conflicts / done, trips: trips / done }
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
    for Pace { nodes, rate, conflicts, trips } in paces {
        let share = rate / f64::from(nodes) / one;
        println!("nodes {nodes} rate {rate:.0} share {share:.2} conflicts {conflicts:.3} trips {trips:.1}");
        assert!(share >= 0.85 || nodes > 32, "{nodes} nodes: {share:.2} of what one does, each");
        assert!(trips <= 8.0, "M11: {trips} round trips a harvest, those shared by a batch included");
    }
}
