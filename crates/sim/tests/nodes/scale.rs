//! How much more several nodes do than one, on a store that is far away: the time is virtual, so what
//! counts is how often somebody waits for a round trip, or for somebody else.
//!
//! `bench/` draws the curve up to 64 nodes; here it is a short one that must not bend.

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
    // Until all have their shards.
    tokio::time::sleep(Duration::from_secs(25)).await;
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

#[test]
fn m4_m11_four_nodes_do_nearly_four_times_as_much() {
    let of = |nodes| sim::virtual_time(rate(nodes, 4_000)).unwrap();
    let (one, _, trips) = of(1);
    let (four, conflicts, trips_of_four) = of(4);
    println!(
        "1 node: {one:.0} harvests/s, {trips:.1} round trips each; 4 nodes: {four:.0}/s, {conflicts:.3} conflicts, {trips_of_four:.1} round trips each"
    );
    assert!(four >= 0.85 * 4.0 * one, "{four} against {one}");
    assert!(
        trips_of_four <= 8.0,
        "M11: {trips_of_four} round trips a harvest, those shared by a batch included"
    );
}
