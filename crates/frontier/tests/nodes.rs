//! Nodes that share a store (M2–M6, M10), transaction by transaction.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use std::sync::Arc;

use frontier::ports::{AnswerFacts, Clock, Fetch, Order, Report};
use frontier::{Completed, Frontier, JoinError, NODE_LEASE, StoreClock, Target};
use policy::model::{Politeness, Settings};
use policy::time::{Span, Time};
use store::Store;
use testkit::catalog::{collection, profile, put, seed};
use testkit::clock::{ManualClock, START};

const HOSTS: usize = 40;

/// The store, its clock, and what all of them are about.
struct Cluster {
    store: Store,
    clock: Arc<ManualClock>,
}

impl Cluster {
    async fn new() -> Cluster {
        let (store, clock) = (Store::in_memory(1), Arc::new(ManualClock::at(START)));
        let time = Arc::clone(&clock);
        store.keep_time(move || time.now().0).unwrap();
        let cluster = Cluster { store, clock };
        let someone = cluster.frontier(0);
        let politeness =
            Politeness { factor: 0.0, min: Span::seconds(1), max: Span::seconds(1), parallel: 1 };
        let mut changes = vec![
            put(Settings { politeness, lease: Span::minutes(2), ..Settings::default() }),
            put(collection("c")),
            put(profile("p", "c")),
        ];
        changes.extend((0..HOSTS).map(|n| put(seed(&format!("s{n}"), &format!("https://h{n}.no/"), &["p"]))));
        someone.declare(&changes).await.unwrap();
        someone.start(&Target::Collection("c".into())).await.unwrap();
        cluster
    }

    /// Its own clock is wrong by so much.
    fn frontier(&self, skew_ms: i64) -> Frontier {
        let own = ManualClock::at(Time(self.clock.now().0 + skew_ms));
        let clock = StoreClock::new(Arc::new(own));
        Frontier::new(self.store.clone(), Arc::new(clock), fastrand::u64(..))
    }

    async fn node(&self, name: &str) -> Frontier {
        let frontier = self.frontier(0);
        frontier.join(name, 1).await.unwrap();
        frontier
    }

    /// A while later, with all of them beating.
    async fn pass(&self, nodes: &[&Frontier], seconds: u64) {
        for _ in 0..seconds {
            self.clock.advance(Span::seconds(1));
            for node in nodes {
                node.beat_now().await.unwrap();
            }
        }
    }
}

async fn shards(frontier: &Frontier, name: &str) -> usize {
    let owners = frontier.shard_owners().await.unwrap();
    owners.iter().filter(|(_, row)| row.owner == name).count()
}

async fn answer(frontier: &Frontier, order: &Order) -> Completed {
    let facts = AnswerFacts { status: 200, ..AnswerFacts::default() };
    let report = Report::bare(frontier.now(), Fetch::Answer(facts));
    frontier.complete(order, &report, &[]).await.unwrap()
}

#[tokio::test]
async fn m2_a_name_is_one_nodes_until_it_is_not_heard_of() {
    let cluster = Cluster::new().await;
    let first = cluster.node("a").await;
    let other = cluster.frontier(0);
    let refused = other.join("a", 2).await.unwrap_err();
    assert!(matches!(refused, JoinError::NameTaken { .. }), "{refused}");
    assert!(
        refused.to_string().starts_with("a node called \"a\" is at work on this store, last heard of at ")
    );
    cluster.clock.advance(NODE_LEASE.plus(Span(1)));
    other.join("a", 2).await.unwrap();
    let ended = first.beat_now().await.unwrap_err().to_string();
    assert!(ended.contains("another process works as node \"a\" by now"), "{ended}");
    // The next process in the same place is its successor, whatever the row says.
    cluster.frontier(0).join("a", 2).await.unwrap();
}

#[tokio::test]
async fn m4_shards_move_within_two_leases_and_never_have_two_owners() {
    let cluster = Cluster::new().await;
    let a = cluster.node("a").await;
    assert_eq!(shards(&a, "a").await, 256, "alone, it has them all");
    let b = cluster.node("b").await;
    cluster.pass(&[&a, &b], 10).await;
    let (of_a, of_b) = (shards(&a, "a").await, shards(&a, "b").await);
    assert!(of_a + of_b == 256 && of_a.abs_diff(of_b) < 80, "{of_a} and {of_b}");
    cluster.pass(&[&a], 2 * NODE_LEASE.0 / 1000).await;
    assert_eq!(shards(&a, "a").await, 256, "the other was not heard of");
    b.depart().await.unwrap();
    assert_eq!(shards(&a, "a").await, 256, "who wakes up too late gives away nothing that is not its own");
    a.depart().await.unwrap();
    assert!(a.nodes().await.unwrap().is_empty());
    assert_eq!(shards(&a, "a").await, 0);
}

#[tokio::test]
async fn m4_f6_nothing_is_committed_under_an_old_epoch() {
    let cluster = Cluster::new().await;
    let a = cluster.node("a").await;
    let orders = a.reserve(HOSTS).await.unwrap().orders;
    assert_eq!(orders.len(), HOSTS);
    // It is stopped; another takes everything over before the leases of the orders end.
    let b = cluster.node("b").await;
    cluster.pass(&[&b], 25).await;
    assert_eq!(shards(&b, "b").await, 256);
    assert!(b.reserve(HOSTS).await.unwrap().orders.is_empty(), "M5: their slots are taken still");
    for order in &orders {
        assert_eq!(answer(&a, order).await, Completed::LeaseLost);
    }
    assert!(a.reserve(HOSTS).await.unwrap().orders.is_empty(), "it has found out");
    // Once they have ended, the other asks, and what it brings counts.
    cluster.pass(&[&b], 120).await;
    assert_eq!(b.sweep().await.unwrap().leases, HOSTS);
    cluster.pass(&[&b], 2).await;
    let again = b.reserve(HOSTS).await.unwrap().orders;
    assert_eq!(again.len(), HOSTS);
    for order in &again {
        assert!(matches!(answer(&b, order).await, Completed::Done(_)));
    }
    assert!(b.audit().await.unwrap().findings.is_empty());
}

#[tokio::test]
async fn m3_what_one_node_queues_another_finds_within_a_second_or_two() {
    let cluster = Cluster::new().await;
    let (a, b) = (cluster.node("a").await, cluster.node("b").await);
    cluster.pass(&[&a, &b], 10).await;
    let mut first = a.reserve(HOSTS).await.unwrap().orders;
    first.extend(b.reserve(HOSTS).await.unwrap().orders);
    assert_eq!(first.len(), HOSTS, "between them they have all hosts, and each once");
    // Through one of them a new seed is started, whose host may be the other's.
    for n in HOSTS..HOSTS + 20 {
        let name = format!("s{n}");
        a.declare(&[put(seed(&name, &format!("https://h{n}.no/"), &["p"]))]).await.unwrap();
        a.start(&Target::Seed { name, profiles: None }).await.unwrap();
    }
    cluster.pass(&[&a, &b], 2).await;
    let of_a = a.reserve(HOSTS).await.unwrap().orders.len();
    let of_b = b.reserve(HOSTS).await.unwrap().orders.len();
    assert_eq!(of_a + of_b, 20);
    assert!(of_a > 0 && of_b > 0, "{of_a} and {of_b}");
}

#[tokio::test]
async fn m10_leases_and_due_dates_are_by_the_clock_of_the_store() {
    let cluster = Cluster::new().await;
    let (ahead, behind) = (cluster.frontier(10_000), cluster.frontier(-10_000));
    ahead.join("ahead", 1).await.unwrap();
    assert_eq!(ahead.now(), cluster.clock.now(), "it has looked at the store");
    let orders = ahead.reserve(5).await.unwrap().orders;
    let until = cluster.clock.now().plus(Span::minutes(2));
    assert!(orders.iter().all(|order| order.held.ends() == until));
    behind.join("behind", 2).await.unwrap();
    assert_eq!(behind.now(), cluster.clock.now());
    let nodes = behind.nodes().await.unwrap();
    assert!(nodes.iter().all(|(_, row)| row.until == cluster.clock.now().plus(NODE_LEASE)), "{nodes:?}");
}

#[tokio::test]
async fn m2_f6_where_a_store_has_one_process_at_a_time_whoever_was_there_is_gone() {
    // No clock of its own: as the embedded one.
    let (store, clock) = (Store::in_memory(1), Arc::new(ManualClock::at(START)));
    let process = || Frontier::new(store.clone(), Arc::clone(&clock) as Arc<dyn Clock>, fastrand::u64(..));
    let killed = process();
    killed.join("here", 1).await.unwrap();
    let changes = [put(collection("c")), put(profile("p", "c")), put(seed("s", "https://a.no/", &["p"]))];
    killed.declare(&changes).await.unwrap();
    killed.start(&Target::Collection("c".into())).await.unwrap();
    assert_eq!(killed.reserve(1).await.unwrap().orders.len(), 1);
    // The directory was copied elsewhere, and so the next has another name.
    let next = process();
    next.join("elsewhere", 2).await.unwrap();
    assert_eq!(next.nodes().await.unwrap().len(), 1);
    assert_eq!(shards(&next, "elsewhere").await, 256);
    assert_eq!(next.recover().await.unwrap(), 1);
    clock.advance(Span::minutes(1));
    assert_eq!(next.reserve(1).await.unwrap().orders.len(), 1);
}
