//! Several processes on one store, interleaved in every way, with conflicts, lost answers and
//! crashes: leases and counters hold (G5, G6, G7).

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use parking_lot::Mutex;
use sim::interleave;
use store::{Faults, Store};
use urlfrontier::{Ack, Filter, Item, News, UrlFrontier, Wanted, check};

const NOW: i64 = 1_800_000_000_000;
const LEASE_S: u32 = 20;

type Url = (String, String, String);

/// What was seen from outside: until when each URL is somebody's.
#[derive(Default)]
struct Seen {
    leases: HashMap<Url, i64>,
    acked: HashMap<Url, bool>,
}

struct Storm {
    nodes: Vec<UrlFrontier>,
    clock: Arc<AtomicI64>,
    seen: Mutex<Seen>,
}

fn draw(rng: &mut fastrand::Rng) -> Url {
    let crawl = ["a", "b"][rng.usize(0..2)].to_owned();
    (crawl, format!("q_{}", rng.u8(0..4)), format!("https://x.example/{}", rng.u8(0..12)))
}

impl Storm {
    fn now(&self) -> i64 {
        self.clock.load(Ordering::SeqCst)
    }

    async fn put(&self, node: usize, seed: u64) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut items = Vec::new();
        let mut names = Vec::new();
        for _ in 0..rng.usize(1..6) {
            let url = draw(&mut rng);
            let second = u64::try_from(self.now() / 1000).unwrap();
            let news = match rng.u8(0..4) {
                0 | 1 => News::Discovered,
                2 => News::Known(0),
                _ => News::Known(second + rng.u64(0..60) - 20),
            };
            if news != News::Discovered {
                // Whoever puts it back ends its lease, at the latest when this is answered.
                self.seen.lock().leases.remove(&url);
            }
            items.push(Item::new(&url.0, &url.1, url.2.clone(), vec![1, 2, 3], news).unwrap());
            names.push(url);
        }
        let items = Arc::new(items);
        if let Ok(acks) = self.nodes[node].put(Arc::clone(&items)).await {
            assert_eq!(acks.len(), names.len());
            let mut seen = self.seen.lock();
            for (name, ack) in names.into_iter().zip(acks) {
                assert_ne!(ack, Ack::Fail);
                seen.acked.insert(name, true);
            }
        }
    }

    /// Nobody else puts URLs back meanwhile, or who has which could not be told from outside.
    async fn get(&self, node: usize, seed: u64) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let crawl = (rng.bool()).then(|| "a".to_owned());
        let key = (rng.u8(0..4) == 0).then(|| "q_1".to_owned());
        let wanted = Wanted {
            crawl,
            key,
            queues_max: rng.u32(0..4),
            urls_per_queue_max: rng.u32(0..4),
            lease_s: LEASE_S,
        };
        if let Ok(handed) = self.nodes[node].get(&wanted).await {
            let now = self.now();
            let mut seen = self.seen.lock();
            for one in handed {
                let url = (one.crawl.to_string(), one.key.to_string(), one.url.clone());
                assert_eq!(one.metadata, [1, 2, 3]);
                let until = seen.leases.insert(url.clone(), now + i64::from(LEASE_S) * 1000);
                assert!(until.is_none_or(|until| until <= now), "{url:?} was handed out twice");
            }
        }
    }

    async fn rule(&self, node: usize, seed: u64) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let (crawl, key, _) = draw(&mut rng);
        let node = &self.nodes[node];
        let second = u64::try_from(self.now() / 1000).unwrap();
        // What becomes of these is looked at by the check of the tables.
        let _ = match rng.u8(0..6) {
            0 => node.block_until(&crawl, &key, second + 5).await,
            1 => node.set_delay(&crawl, &key, rng.u32(0..3)).await,
            2 => node.set_limit(&crawl, &key, rng.u32(0..3)).await,
            3 => node.set_delay("", "", rng.u32(0..3)).await,
            _ => node.sweep().await.map(drop),
        };
    }

    /// Alone, or leases that were seen would be of URLs that came into being again.
    async fn delete(&self, seed: u64) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let (crawl, key, _) = draw(&mut rng);
        let gone = match rng.u8(0..8) {
            0 => self.nodes[0].delete_crawl(&crawl).await.map(|_| None),
            1 => self.nodes[0].delete_queue(&crawl, &key).await.map(|_| Some(key)),
            _ => return,
        };
        let mut seen = self.seen.lock();
        match gone {
            Ok(key) => {
                let is_gone = |url: &Url| url.0 == crawl && key.as_ref().is_none_or(|key| *key == url.1);
                seen.leases.retain(|url, _| !is_gone(url));
                seen.acked.retain(|url, _| !is_gone(url));
            }
            // Nobody can say.
            Err(_) => *seen = Seen::default(),
        }
    }
}

fn storm(seed: u64) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let mut rng = fastrand::Rng::with_seed(seed);
        let store = Store::in_memory(seed);
        store.inject(Faults { conflict: 0.1, undetermined: 0.05, pause: 0.7, ..Faults::default() }).unwrap();
        let clock = Arc::new(AtomicI64::new(NOW));
        let lives = std::cell::Cell::new(seed << 16);
        let node = |n: u32| {
            // Whoever begins again draws other numbers.
            lives.set(lives.get() + 1);
            let clock = Arc::clone(&clock);
            let now = Arc::new(move || clock.load(Ordering::SeqCst));
            UrlFrontier::new(store.elsewhere().unwrap(), now, Some(n), lives.get())
        };
        let mut storm =
            Storm { nodes: (0..3).map(&node).collect(), clock: Arc::clone(&clock), seen: Mutex::default() };
        for _ in 0..40 {
            for phase in 0..2 {
                let works: Vec<Pin<Box<dyn Future<Output = ()> + '_>>> = (0..6)
                    .map(|at| -> Pin<Box<dyn Future<Output = ()>>> {
                        let (node, seed) = (at % 3, rng.u64(..));
                        match (rng.u8(0..5), phase) {
                            (0, _) => Box::pin(storm.rule(node, seed)),
                            (_, 0) => Box::pin(storm.put(node, seed)),
                            _ => Box::pin(storm.get(node, seed)),
                        }
                    })
                    .collect();
                interleave(works, &mut rng);
            }
            if rng.u8(0..6) == 0 {
                store.crash().unwrap();
                storm.nodes = (0..3).map(&node).collect();
            }
            storm.delete(rng.u64(..)).await;
            clock.fetch_add(rng.i64(0..6000), Ordering::SeqCst);
            assert_eq!(check(&store).await.unwrap(), Vec::<String>::new(), "seed {seed}");
        }
        all_comes_out(&storm, &store).await;
    });
}

/// With time, everything that is not completed is handed out once more, and what was acknowledged is
/// there.
async fn all_comes_out(storm: &Storm, store: &Store) {
    store.inject(Faults::default()).unwrap();
    storm.clock.fetch_add(1_000_000, Ordering::SeqCst);
    for node in &storm.nodes {
        while node.sweep().await.unwrap() {}
    }
    let node = &storm.nodes[0];
    let acked: Vec<Url> = storm.seen.lock().acked.keys().cloned().collect();
    for (crawl, key, url) in acked {
        assert!(node.status(&crawl, &key, &url).await.unwrap().is_some(), "{url} is not there");
    }
    for crawl in node.crawls().await.unwrap() {
        for key in node.list_queues(&crawl, 0, 100, true).await.unwrap() {
            node.set_limit(&crawl, &key, 0).await.unwrap();
        }
        let stats = node.stats(&crawl, None).await.unwrap();
        let wanted = Wanted { crawl: Some(crawl.clone()), lease_s: 1000, ..Wanted::default() };
        let handed = node.get(&wanted).await.unwrap();
        assert_eq!(handed.len() as u64, stats.active, "of crawl {crawl}");
        let stats = node.stats(&crawl, None).await.unwrap();
        assert_eq!(stats.in_process, stats.active);
        let all = Filter { crawl: crawl.clone(), ..Filter::default() };
        assert_eq!(node.count(&all).await.unwrap(), stats.active + stats.completed);
    }
    assert_eq!(check(store).await.unwrap(), Vec::<String>::new());
}

#[test]
fn g5_g6_g7_leases_and_counters_hold_in_every_order_and_through_crashes() {
    let seeds = match std::env::var("SKURD_SIM_SEED") {
        Ok(seed) => vec![seed.parse().unwrap()],
        Err(_) => (0..60).collect::<Vec<u64>>(),
    };
    seeds.into_iter().for_each(storm);
}

/// How often one of two nodes, asking at the same time, had to begin anew.
async fn conflicts_of(numbers: [u32; 2]) -> u64 {
    let store = Store::in_memory(1);
    let stores = numbers.map(|_| store.elsewhere().unwrap());
    let node =
        |at: usize| UrlFrontier::new(stores[at].clone(), Arc::new(|| NOW), Some(numbers[at]), at as u64);
    let nodes = [node(0), node(1)];
    let item =
        |n| Item::new("c", &format!("q{n}"), "https://x.example/".to_owned(), Vec::new(), News::Discovered);
    nodes[0].put(Arc::new((0..400).map(|n| item(n).unwrap()).collect())).await.unwrap();
    store.inject(Faults { pause: 0.7, ..Faults::default() }).unwrap();
    let mut rng = fastrand::Rng::with_seed(2);
    let wanted =
        Wanted { crawl: Some("c".to_owned()), queues_max: 1, urls_per_queue_max: 1, ..Wanted::default() };
    let mut handed = Vec::new();
    for _ in 0..20 {
        let ask = |node| -> Pin<Box<dyn Future<Output = Vec<String>> + '_>> {
            let (node, wanted): (&UrlFrontier, _) = (node, &wanted);
            Box::pin(async move {
                node.get(wanted).await.unwrap().into_iter().map(|one| one.key.to_string()).collect()
            })
        };
        handed.extend(interleave(nodes.iter().map(ask).collect(), &mut rng).into_iter().flatten());
    }
    let count = handed.len();
    handed.sort_unstable();
    handed.dedup();
    assert_eq!((count, handed.len()), (40, 40), "each call has one, and no other has it");
    store.inject(Faults::default()).unwrap();
    assert_eq!(check(&store).await.unwrap(), Vec::<String>::new());
    stores.iter().map(|store| store.figures().conflicts).sum()
}

#[test]
fn g3_nodes_of_one_frontier_look_at_different_queues_first() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let conflicts = conflicts_of([0, 1]).await;
        assert!(conflicts <= 3, "{conflicts} of 20: with the same first queue for both, it would be all");
    });
}
