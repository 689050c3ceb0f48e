//! What a call asks of the store (G5, G12), counted and not timed: however much there is, no more.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use store::{RoundTrips, Store};
use urlfrontier::{Ack, Item, News, UrlFrontier, Wanted};

const NOW: i64 = 1_800_000_000_000;

struct Rig {
    store: Store,
    frontier: UrlFrontier,
    clock: Arc<AtomicI64>,
}

impl Rig {
    /// So many queues with ten URLs each.
    async fn of(queues: usize) -> Rig {
        let store = Store::in_memory(3);
        let clock = Arc::new(AtomicI64::new(NOW));
        let now = Arc::clone(&clock);
        let clock_of = Arc::new(move || now.load(Ordering::SeqCst));
        let frontier = UrlFrontier::new(store.clone(), clock_of, None, 5);
        let rig = Rig { store, frontier, clock };
        let all: Vec<(usize, usize)> =
            (0..queues).flat_map(|queue| (0..10).map(move |n| (queue, n))).collect();
        for some in all.chunks(5000) {
            rig.put(some, News::Discovered).await;
        }
        rig
    }

    async fn put(&self, urls: &[(usize, usize)], news: News) -> Vec<Ack> {
        let item = |(queue, n): &(usize, usize)| {
            let url = format!("https://q{queue:05}.example/{n}");
            Item::new("c", &format!("q{queue:05}"), url, vec![1; 20], news).unwrap()
        };
        self.frontier.put(Arc::new(urls.iter().map(item).collect())).await.unwrap()
    }

    async fn get(&self, queues: u32, urls: u32) -> usize {
        let crawl = Some("c".to_owned());
        let wanted = Wanted { crawl, key: None, queues_max: queues, urls_per_queue_max: urls, lease_s: 600 };
        self.frontier.get(&wanted).await.unwrap().len()
    }

    /// What was asked of the store meanwhile: begins, gets, multi-gets, scans, commits.
    async fn costs<T>(&self, work: impl Future<Output = T>) -> (T, [u64; 5]) {
        let numbers =
            |trips: RoundTrips| [trips.begins, trips.gets, trips.multi_gets, trips.scans, trips.commits];
        let before = numbers(self.store.round_trips());
        let came = work.await;
        let after = numbers(self.store.round_trips());
        (came, std::array::from_fn(|at| after[at] - before[at]))
    }
}

fn run(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(test);
}

#[test]
fn g12_a_put_reads_each_url_once_and_writes_what_is_new() {
    run(async {
        let rig = Rig::of(300).await;
        let spread: Vec<(usize, usize)> = (0..200).map(|queue| (queue, 3)).collect();
        let (acks, costs) = rig.costs(rig.put(&spread, News::Discovered)).await;
        assert!(acks.iter().all(|ack| *ack == Ack::Skipped));
        assert_eq!(costs, [1, 1, 2, 0, 0], "the crawl; queues and URLs together; nothing is written");
        let fresh: Vec<(usize, usize)> = (0..100).map(|n| (7, 100 + n)).collect();
        let (acks, costs) = rig.costs(rig.put(&fresh, News::Discovered)).await;
        assert!(acks.iter().all(|ack| *ack == Ack::Ok));
        assert_eq!(costs, [1, 4, 2, 0, 1], "crawl, settings and two counters besides, for all of them");
    });
}

#[test]
fn g5_g12_a_hand_out_costs_as_much_among_many_queues_as_among_few() {
    run(async {
        let mut of_size = Vec::new();
        for queues in [30, 3000] {
            let rig = Rig::of(queues).await;
            rig.get(1, 1).await;
            let (handed, one) = rig.costs(rig.get(1, 1)).await;
            assert_eq!(handed, 1);
            let (handed, many) = rig.costs(rig.get(10, 5)).await;
            assert_eq!(handed, 50);
            of_size.push((one, many));
        }
        assert_eq!(of_size[0], of_size[1]);
        let (one, many) = of_size[0];
        assert_eq!(one, [2, 4, 2, 3, 1], "the ready queue, its leases, its places; and one commit");
        assert_eq!(many, [2, 4, 11, 21, 1], "two looks for each queue, and one at the ready ones");
    });
}

#[test]
fn g5_queues_that_give_nothing_are_looked_at_up_to_a_constant() {
    run(async {
        let rig = Rig::of(1000).await;
        // All of them have enough in process, and are ready again: nothing is there to be given.
        let delay = rig.frontier.set_delay("", "", 0);
        delay.await.unwrap();
        assert_eq!(rig.get(1000, 1).await, 1000);
        rig.clock.fetch_add(1, Ordering::SeqCst);
        let (handed, costs) = rig.costs(rig.get(1, 1)).await;
        assert_eq!(handed, 0);
        assert!(costs[3] <= 65 + 5, "{costs:?}: one served, 64 more, and the ready ones page by page");
        // Those were put behind the others: the next call goes on with others.
        let (handed, costs) = rig.costs(rig.get(1, 2)).await;
        assert_eq!(handed, 2);
        assert!(costs[3] <= 5, "{costs:?}");
    });
}

#[test]
fn g12_getting_and_putting_back_one_by_one_is_two_commits_that_touch_few_rows() {
    run(async {
        let rig = Rig::of(500).await;
        assert_eq!(rig.get(1, 1).await, 1);
        let (acks, costs) = rig.costs(rig.put(&[(0, 0)], News::Known(0))).await;
        assert_eq!(acks, [Ack::Ok]);
        assert_eq!(costs, [1, 4, 2, 0, 1]);
    });
}
