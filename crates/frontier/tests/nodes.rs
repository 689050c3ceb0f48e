//! Nodes that share a store (M2–M6, M10), transaction by transaction.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Waker};

use frontier::ports::{AnswerFacts, Clock, Fetch, Order, Outlink, Report};
use frontier::schema::COUNTERS;
use frontier::{Completed, Frontier, JoinError, NODE_LEASE, StoreClock, Target, WalkError};
use policy::catalog::Catalog;
use policy::model::{DeclaredWalk, LinkKind, Politeness, Profile, Settings};
use policy::time::{Span, Time};
use policy::url::CrawlUrl;
use policy::walk::{Draft, Outcome, Resume, WalkSettings};
use store::{Faults, Store};
use testkit::catalog::{collection, profile, put, seed};
use testkit::clock::{ManualClock, START};

const HOSTS: usize = 40;

/// The store, its clock, and what all of them are about.
struct Cluster {
    store: Store,
    clock: Arc<ManualClock>,
}

impl Cluster {
    /// With everything started.
    async fn new() -> Cluster {
        let cluster = Cluster::declared(HOSTS).await;
        cluster.frontier(0).start(&Target::Collection("c".into())).await.unwrap();
        cluster
    }

    /// With a seed on each of so many hosts, and nothing started.
    async fn declared(hosts: usize) -> Cluster {
        let (store, clock) = (Store::in_memory(1), Arc::new(ManualClock::at(START)));
        let time = Arc::clone(&clock);
        store.keep_time(move || time.now().0).unwrap();
        let cluster = Cluster { store, clock };
        let someone = cluster.frontier(0);
        let politeness = Politeness {
            factor: 0.0,
            min: Span::seconds(1),
            max: Span::seconds(1),
            parallel: 1,
            ..Politeness::default()
        };
        let mut changes = vec![
            put(Settings { politeness, lease: Span::minutes(2), ..Settings::default() }),
            put(collection("c")),
            put(Profile { length: Some(1), ..profile("p", "c") }),
        ];
        changes.extend((0..hosts).map(|n| put(seed(&format!("s{n}"), &format!("https://h{n}.no/"), &["p"]))));
        someone.declare(&changes).await.unwrap();
        cluster
    }

    /// Its own clock is wrong by so much.
    fn frontier(&self, skew_ms: i64) -> Frontier {
        self.frontier_by(Arc::new(ManualClock::at(Time(self.clock.now().0 + skew_ms))))
    }

    /// By a clock of its own.
    fn frontier_by(&self, own: Arc<ManualClock>) -> Frontier {
        let clock = StoreClock::new(own);
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

/// Takes a future so many steps further; true once it has come to its end.
fn advance<T>(future: &mut Pin<Box<dyn Future<Output = T> + '_>>, steps: usize) -> bool {
    let mut context = Context::from_waker(Waker::noop());
    (0..steps).any(|_| future.as_mut().poll(&mut context).is_ready())
}

/// Harvests what is due, through all of them; gives how much that was.
async fn harvest(nodes: &[&Frontier]) -> usize {
    let mut harvested = 0;
    for node in nodes {
        for order in node.reserve(HOSTS).await.unwrap().orders {
            assert!(matches!(answer(node, &order).await, Completed::Done(_)));
            harvested += 1;
        }
    }
    harvested
}

async fn answer(frontier: &Frontier, order: &Order) -> Completed {
    // No id of a walk exists: there are holes to be tried again.
    let existence = order.walk.as_ref().map(|_| Outcome::Absent);
    let status = if existence.is_some() { 404 } else { 200 };
    let facts = AnswerFacts { status, ..AnswerFacts::default() };
    let mut report = Report::bare(frontier.now(), Fetch::Answer(facts));
    report.existence = existence;
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

/// Two that begin at the same time see the same seeds not started yet. Wherever the one is held up on
/// its way, the other starts and harvests them, and the one must find that out.
#[tokio::test]
async fn m3_f2_what_another_has_started_meanwhile_is_not_started_again() {
    const SEEDS: usize = 6;
    for held_up_at in 0.. {
        let cluster = Cluster::declared(SEEDS).await;
        let (a, b) = (cluster.node("a").await, cluster.node("b").await);
        cluster.pass(&[&a, &b], 10).await;
        cluster.store.inject(Faults { pause: 1.0, ..Faults::default() }).unwrap();
        let mut starting: Pin<Box<dyn Future<Output = _> + '_>> = Box::pin(a.start_new());
        if advance(&mut starting, held_up_at) {
            assert!(held_up_at > SEEDS, "it has read them all on its way: {held_up_at} steps");
            break;
        }
        b.start_new().await.unwrap();
        cluster.pass(&[&a, &b], 2).await;
        assert_eq!(harvest(&[&a, &b]).await, SEEDS, "held up at step {held_up_at}");
        starting.await.unwrap();
        cluster.pass(&[&a, &b], 5).await;
        assert_eq!(harvest(&[&a, &b]).await, 0, "harvested twice; held up at step {held_up_at}");
    }
}

/// More seeds than one transaction starts, each page with a link to the next host. One node is killed
/// on its way, and another goes on: in two runs, the links of the later would have the seeds of the
/// earlier harvested anew.
#[tokio::test]
async fn m3_f2_seeds_that_several_start_between_them_are_one_run() {
    const SEEDS: usize = 101;
    for killed_at in (0..).step_by(9) {
        let cluster = Cluster::declared(SEEDS).await;
        let (killed, next) = (cluster.frontier(0), cluster.node("b").await);
        cluster.store.inject(Faults { pause: 1.0, ..Faults::default() }).unwrap();
        let mut starting: Pin<Box<dyn Future<Output = _> + '_>> = Box::pin(killed.start_new());
        if advance(&mut starting, killed_at) {
            assert!(killed_at > SEEDS, "it has read them all on its way: {killed_at} steps");
            break;
        }
        drop(starting);
        next.start_new().await.unwrap();
        cluster.store.inject(Faults::default()).unwrap();
        let tx = cluster.store.begin().await.unwrap();
        let under_way = COUNTERS.get(&tx, ("starting",)).await.unwrap();
        assert_eq!(under_way, None, "what is new later is a run of its own; killed at step {killed_at}");
        let mut harvested = 0;
        for _ in 0..20 {
            cluster.pass(&[&next], 2).await;
            for order in next.reserve(SEEDS).await.unwrap().orders {
                let host: usize = order.host[1..].trim_end_matches(".no").parse().unwrap();
                let facts = AnswerFacts { status: 200, ..AnswerFacts::default() };
                let mut report = Report::bare(next.now(), Fetch::Answer(facts));
                let url = CrawlUrl::from_normal(format!("https://h{}.no/", (host + 1) % SEEDS)).unwrap();
                report.outlinks = vec![Outlink::new(url, LinkKind::Link)];
                assert!(matches!(next.complete(&order, &report, &[]).await.unwrap(), Completed::Done(_)));
                harvested += 1;
            }
        }
        assert_eq!(harvested, SEEDS, "killed at step {killed_at}");
    }
}

/// A walk of so many ids, through profile `p`.
fn walk_of(ids: u64) -> DeclaredWalk {
    let template = "https://ids.test/{id}".to_owned();
    let draft = Draft { template, min: Some(1), max: Some(ids), ..Draft::default() };
    DeclaredWalk {
        name: "w".to_owned(),
        active: true,
        profile: "p".to_owned(),
        seed: None,
        round: None,
        place: 0,
        settings: WalkSettings::new(draft).unwrap(),
    }
}

/// As above, of a walk: who looked before another resumed it must not put it back to where it stood.
#[tokio::test]
async fn m3_l11_a_walk_that_another_has_resumed_meanwhile_is_not_put_back() {
    const IDS: u64 = 4;
    let walk = walk_of(IDS);
    for held_up_at in 0.. {
        let cluster = Cluster::declared(0).await;
        let (other, owner) = (cluster.node("a").await, cluster.node("b").await);
        owner.declare(&[put(walk.clone())]).await.unwrap();
        cluster.pass(&[&owner, &other], 10).await;
        let walk_on = async |ids: u64, when: &str| {
            for id in 0..ids {
                let mut seconds = 0;
                while harvest(&[&owner]).await == 0 {
                    cluster.pass(&[&owner, &other], 1).await;
                    seconds += 1;
                    assert!(seconds < 60, "{when}: {id} of {ids}; held up at step {held_up_at}");
                }
            }
        };
        assert_eq!(harvest(&[&other]).await, 0, "the walk is in a shard of the other node");
        walk_on(IDS, "at first").await;
        cluster.store.inject(Faults { pause: 1.0, ..Faults::default() }).unwrap();
        let mut resuming: Pin<Box<dyn Future<Output = _> + '_>> =
            Box::pin(other.resume_walk("w", Resume::Holes));
        if advance(&mut resuming, held_up_at) {
            assert!(held_up_at > 4, "it has read the walk on its way: {held_up_at} steps");
            break;
        }
        owner.resume_walk("w", Resume::Holes).await.unwrap();
        walk_on(IDS - 1, "resumed").await;
        assert!(matches!(resuming.await, Err(WalkError::Busy(_))), "held up at step {held_up_at}");
        walk_on(1, "to its end").await;
        cluster.pass(&[&owner, &other], 60).await;
        assert_eq!(harvest(&[&owner, &other]).await, 0, "held up at step {held_up_at}");
    }
}

/// Who was stopped while it had a walk wakes up with the next id in hand: it finds out that another
/// walks on, and does not try for ever to have that id.
#[tokio::test]
async fn m6_a_walk_that_another_has_taken_over_is_let_go() {
    const IDS: usize = 4;
    let cluster = Cluster::declared(0).await;
    let own = Arc::new(ManualClock::at(START));
    let stopped = cluster.frontier_by(Arc::clone(&own));
    stopped.join("a", 1).await.unwrap();
    stopped.declare(&[put(walk_of(IDS as u64))]).await.unwrap();
    cluster.pass(&[&stopped], 1).await;
    assert_eq!(harvest(&[&stopped]).await, 1);
    let other = cluster.node("b").await;
    cluster.pass(&[&other], 25).await;
    // Its clock went on while it stood still: it has the next id due.
    own.advance(Span::seconds(26));
    assert_eq!(shards(&other, "b").await, 256);
    assert!(stopped.reserve(HOSTS).await.unwrap().orders.is_empty(), "it has found out");
    let mut harvested = 0;
    for _ in 0..60 {
        harvested += harvest(&[&other, &stopped]).await;
        cluster.pass(&[&other], 1).await;
    }
    assert_eq!(harvested, IDS - 1, "each id once");
    assert!(other.walk("w").await.unwrap().ended);
}

/// Edits through two nodes: the second is of what is no more.
#[tokio::test]
async fn m3_i4_what_another_has_changed_meanwhile_is_not_overwritten() {
    let cluster = Cluster::declared(1).await;
    let (a, b) = (cluster.node("a").await, cluster.node("b").await);
    let switched_off = |profile: &Profile| put(Profile { active: false, ..profile.clone() });
    let (since, edit) =
        a.with_catalog_since(|catalog| switched_off(catalog.profile("p").unwrap())).await.unwrap();
    let weekly = put(Profile { every: Span::days(7), ..profile("p", "c") });
    b.declare(&[weekly]).await.unwrap();
    assert!(!a.declare_since(since, std::slice::from_ref(&edit)).await.unwrap());
    let now = |catalog: &Catalog| catalog.profile("p").map(|profile| (profile.active, profile.every));
    assert_eq!(a.with_catalog(now).await.unwrap(), Some((true, Span::days(7))));
    let (since, edit) =
        a.with_catalog_since(|catalog| switched_off(catalog.profile("p").unwrap())).await.unwrap();
    assert!(a.declare_since(since, std::slice::from_ref(&edit)).await.unwrap());
    assert!(a.declare_since(since, &[edit]).await.unwrap(), "once more, as after a commit nobody heard of");
    assert_eq!(b.with_catalog(now).await.unwrap(), Some((false, Span::days(7))));
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
