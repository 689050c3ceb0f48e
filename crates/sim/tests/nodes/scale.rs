//! How much more several nodes do than one, on a store that is far away: the time is virtual, so what
//! counts is how often somebody waits for a round trip, or for somebody else.
//!
//! The test is a short curve that must not bend. `SKURD_SCALE=1,2,4,8,16,32,64` draws a longer one, with
//! `SKURD_SCALE_HOSTS` hosts: `bench/scaling` makes a table and a picture of it.

use std::time::Duration;

use frontier::End;
use store::Faults;

use crate::fleet::Fleet;
use crate::town::Town;

/// Harvests a second, conflicts and round trips for each.
async fn rate(nodes: usize, hosts: usize) -> (f64, f64, f64) {
    let mut fleet = Fleet::new(7, Town { hosts, pages: 7 }, 0).await;
    fleet.store.inject(Faults { round_trip_us: (500, 2000), ..Faults::default() }).unwrap();
    fleet.workers = 64;
    for node in 0..nodes {
        fleet.start(&format!("node {node}"), End::default()).await;
    }
    // Until all have their shards and every host was asked once: from then on it is the workers that are
    // few, with however many nodes.
    tokio::time::sleep(Duration::from_secs(25)).await;
    while *fleet.heard.0.lock() < hosts as u64 {
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    let (harvests, figures, trips) =
        (*fleet.heard.0.lock(), fleet.store.figures(), fleet.store.round_trips());
    tokio::time::sleep(Duration::from_secs(10)).await;
    #[allow(clippy::cast_precision_loss, reason = "a rate")]
    let (done, conflicts, trips) = {
        let after = fleet.store.round_trips();
        let of = |trips: store::RoundTrips| {
            trips.begins + trips.gets + trips.multi_gets + trips.scans + 2 * trips.commits
        };
        let done = (*fleet.heard.0.lock() - harvests) as f64;
        let conflicts = (fleet.store.figures().conflicts - figures.conflicts) as f64;
        (done, conflicts, (of(after) - of(trips)) as f64)
    };
    (done / 10.0, conflicts / done, trips / done)
}

fn given<T: std::str::FromStr>(name: &str) -> Option<T> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn m4_m11_four_nodes_do_nearly_four_times_as_much() {
    let nodes: String = given("SKURD_SCALE").unwrap_or_else(|| "1,4".to_owned());
    let hosts = given("SKURD_SCALE_HOSTS").unwrap_or(4_000);
    let mut one = None;
    for nodes in nodes.split(',').map(|text| text.parse::<u32>().unwrap()) {
        let (rate, conflicts, trips) = sim::virtual_time(rate(nodes as usize, hosts)).unwrap();
        let each = rate / f64::from(nodes);
        let share = each / *one.get_or_insert(each);
        println!("nodes {nodes} rate {rate:.0} share {share:.2} conflicts {conflicts:.3} trips {trips:.1}");
        assert!(share >= 0.85 || nodes > 32, "{nodes} nodes: {share:.2} of what one does, each");
        assert!(trips <= 8.0, "M11: {trips} round trips a harvest, those shared by a batch included");
    }
}
