//! Nodes without faults: who has which share, and that all of it gets done.

use frontier::End;
use policy::time::Span;

use testkit::clock::START;

use crate::fleet::{EVERY, Fleet};
use crate::town::Town;

pub(crate) const UNTIL_DONE: End = End { idle_for: Some(Span::seconds(10)), max_harvests: None };

#[test]
fn m4_m5_m6_f31_three_nodes_harvest_everything_once_and_politely() {
    sim::virtual_time(async {
        let mut fleet = Fleet::new(1, Town { hosts: 200, pages: 40 }, 3).await;
        fleet.watch_commits();
        fleet.far_away(0.0);
        for name in ["a", "b", "c"] {
            fleet.start(name, UNTIL_DONE).await;
        }
        fleet.ends().await;
        fleet.is_complete().await;
        assert_eq!(fleet.web.requests(), 200 * 40 + 3 * 103, "every page and id asked for once");
        let mut by_node = std::collections::BTreeMap::<String, usize>::new();
        for seen in fleet.web.seen.lock().iter() {
            *by_node.entry(seen.node.clone()).or_default() += 1;
        }
        assert!(by_node.values().all(|requests| *requests > 1500), "each does its part: {by_node:?}");
        assert!(fleet.observer.nodes().await.unwrap().is_empty(), "all have departed");
        // F31: what each of them promised is counted together.
        fleet.clock.advance(Span(EVERY.0 + Span::minutes(2).0));
        let contract = fleet.observer.contract_sum(START).await.unwrap();
        assert_eq!((contract.promised(), contract.promises.first), (200 * 40, 200 * 40), "{contract:?}");
        let by_domain = fleet.observer.contract(START).await.unwrap();
        let promised: u64 = by_domain.iter().map(|row| row.contract.promised()).sum();
        let named = by_domain.iter().all(|row| row.domain.ends_with(".test") && !row.domain.contains(' '));
        assert!(promised == 200 * 40 && named, "{promised}");
    })
    .unwrap();
}
