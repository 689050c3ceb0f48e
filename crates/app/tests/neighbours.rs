//! Hosts that our harvest and other crawlers ask, out of one store (G11).

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use frontier::ports::{AnswerFacts, Clock, Fetch, Order, Report};
use frontier::{Frontier, Target};
use harvest::figures::Figures;
use policy::catalog::Change;
use policy::model::{HostGroup, Politeness, Settings};
use policy::time::Span;
use sim::interleave;
use skurd_app::{App, Live};
use store::{Faults, Store};
use testkit::catalog::{collection, profile, put, seed};
use testkit::clock::ManualClock;
use urlfrontier::{Item, News, Wanted};

const DELAY: Span = Span::seconds(5);

struct Bench {
    app: App,
    clock: Arc<ManualClock>,
    store: Store,
}

impl Bench {
    /// Hosts a, b and c, of which b and c are a group; two URLs of each are queued.
    async fn new(share_hosts: bool, seeds: u64) -> Bench {
        let clock = Arc::new(ManualClock::default());
        let store = Store::in_memory(seeds);
        let frontier = Frontier::new(store.clone(), Arc::clone(&clock) as Arc<dyn Clock>, seeds);
        let politeness = Politeness { factor: 0.0, min: DELAY, max: DELAY, ..Politeness::default() };
        let settings = Settings { politeness: politeness.clone(), share_hosts, ..Settings::default() };
        let mut changes = vec![
            Change::PutSettings(Box::new(settings)),
            put(collection("web")),
            put(profile("daily", "web")),
        ];
        for host in ["a", "b", "c"] {
            for n in 0..2 {
                changes.push(put(seed(&format!("{host}{n}"), &format!("http://{host}.no/{n}"), &["daily"])));
            }
        }
        let hosts = vec!["b.no".to_owned(), "c.no".to_owned()];
        changes.push(Change::PutGroup(HostGroup {
            name: "group:x".into(),
            hosts,
            politeness,
            ..HostGroup::default()
        }));
        frontier.declare(&changes).await.unwrap();
        let live = Live::new(Arc::new(Figures::default()), Arc::default());
        let app = App::new(Arc::new(frontier), PathBuf::new(), Arc::new(live));
        Bench { app, clock, store }
    }

    async fn start(&self) {
        self.app.frontier.start(&Target::Collection("web".into())).await.unwrap();
    }

    /// Three URLs of a client in the queue of this key.
    async fn put(&self, key: &str) {
        let item =
            |n| Item::new("c", key, format!("http://{key}/{n}"), Vec::new(), News::Discovered).unwrap();
        self.app.urls.put(Arc::new((0..3).map(item).collect())).await.unwrap();
    }

    async fn handed(&self, urls: u32) -> Vec<String> {
        let wanted = Wanted { urls_per_queue_max: urls, lease_s: 600, ..Wanted::default() };
        let handed = self.app.urls.get(&wanted).await.unwrap();
        handed.into_iter().map(|one| one.key.to_string()).collect()
    }

    async fn orders(&self) -> Vec<Order> {
        self.app.frontier.reserve(10).await.unwrap().orders
    }

    async fn hosts(&self) -> Vec<String> {
        let mut hosts: Vec<String> = self.orders().await.into_iter().map(|order| order.host).collect();
        hosts.sort();
        hosts
    }

    async fn complete(&self, order: &Order) {
        let facts = AnswerFacts { status: 200, digest: Some("d".into()), ..AnswerFacts::default() };
        let report = Report::bare(self.app.frontier.now(), Fetch::Answer(facts));
        self.app.frontier.complete(order, &report, &[]).await.unwrap();
    }

    async fn sound(&self) {
        assert_eq!(self.app.frontier.audit().await.unwrap().findings, Vec::<String>::new());
        assert_eq!(urlfrontier::check(&self.store).await.unwrap(), Vec::<String>::new());
    }
}

#[tokio::test]
async fn g11_what_we_ask_keeps_a_queue_of_that_host_back() {
    let bench = Bench::new(true, 1).await;
    bench.start().await;
    // A site is one host with and without its www; another host, and no host, are nobody's business.
    for key in ["a.no", "www.a.no", "c.no", "d.no", "q_7"] {
        bench.put(key).await;
    }
    let orders = bench.orders().await;
    assert_eq!(orders.len(), 2, "one of a.no, one of the group");
    let mut handed = bench.handed(1).await;
    handed.sort();
    assert_eq!(handed, ["d.no", "q_7"]);
    bench.sound().await;
    // However long the answer takes, and then for the delay.
    bench.clock.advance(Span::minutes(3));
    bench.handed(1).await;
    assert!(!bench.handed(1).await.iter().any(|key| key.ends_with("a.no") || key == "c.no"));
    for order in &orders {
        bench.complete(order).await;
    }
    bench.clock.advance(Span(DELAY.0 - 1));
    assert!(!bench.handed(1).await.iter().any(|key| key.ends_with("a.no") || key == "c.no"));
    bench.clock.advance(Span(1001));
    // Our own second URL of each does not stand in the way: nobody has asked for it yet.
    let handed = bench.handed(1).await;
    let of = |host: &str| handed.iter().filter(|key| key.ends_with(host)).count();
    assert_eq!((of("a.no"), of("c.no")), (1, 1), "{handed:?}: with www or without, one of them");
    bench.sound().await;
}

#[tokio::test]
async fn g11_what_was_handed_out_keeps_our_harvest_back() {
    let bench = Bench::new(true, 2).await;
    bench.put("a.no").await;
    bench.put("b.no").await;
    bench.app.urls.set_delay("c", "a.no", 4).await.unwrap();
    let mut handed = bench.handed(3).await;
    handed.sort();
    assert_eq!(handed, ["a.no", "a.no", "a.no", "b.no", "b.no", "b.no"]);
    bench.sound().await;
    bench.start().await;
    assert_eq!(bench.hosts().await, Vec::<String>::new());
    bench.clock.advance(Span::seconds(2));
    assert_eq!(bench.hosts().await, Vec::<String>::new());
    bench.clock.advance(Span::seconds(1));
    assert_eq!(bench.hosts().await.len(), 1, "the group: three URLs, a second each");
    bench.clock.advance(Span::seconds(8));
    assert!(!bench.hosts().await.contains(&"a.no".to_owned()));
    bench.clock.advance(Span::seconds(1));
    assert!(bench.hosts().await.contains(&"a.no".to_owned()), "three URLs, four seconds each");
    bench.sound().await;
}

#[tokio::test]
async fn g11_a_host_that_only_others_ask_is_forgotten() {
    let bench = Bench::new(true, 3).await;
    bench.put("only.no").await;
    assert_eq!(bench.handed(1).await.len(), 1);
    let known = async || bench.app.frontier.hosts(None, 10).await.unwrap().0.len();
    assert_eq!(known().await, 1, "for its delay");
    bench.clock.advance(Span::seconds(2));
    assert_eq!(bench.hosts().await, Vec::<String>::new());
    assert_eq!(known().await, 0);
    bench.sound().await;
}

#[tokio::test]
async fn g11_nothing_is_shared_unless_it_is_said() {
    let bench = Bench::new(false, 4).await;
    bench.put("a.no").await;
    bench.start().await;
    assert_eq!(bench.hosts().await.len(), 2);
    assert_eq!(bench.handed(3).await.len(), 3);
    bench.clock.advance(DELAY);
    bench.put("e.no").await;
    assert_eq!(bench.handed(3).await.len(), 3);
    bench.sound().await;
}

#[test]
fn g11_of_two_that_ask_at_the_same_time_one_waits() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let (mut ours, mut theirs) = (0, 0);
        for round in 0..40 {
            let mut rng = fastrand::Rng::with_seed(round);
            let bench = Bench::new(true, round).await;
            bench.put("a.no").await;
            bench.start().await;
            let faults = Faults { conflict: 0.05, pause: 0.7, ..Faults::default() };
            bench.store.inject(faults).unwrap();
            let later = rng.u32(0..1500);
            let works: Vec<Pin<Box<dyn Future<Output = usize> + '_>>> = vec![
                Box::pin(async { bench.hosts().await.iter().filter(|host| *host == "a.no").count() }),
                Box::pin(async {
                    for _ in 0..later {
                        tokio::task::yield_now().await;
                    }
                    100 * bench.handed(1).await.len()
                }),
            ];
            let asked: usize = interleave(works, &mut rng).into_iter().sum();
            bench.store.inject(Faults::default()).unwrap();
            assert!(asked == 1 || asked == 100, "round {round}: {asked}");
            ours += usize::from(asked == 1);
            theirs += usize::from(asked == 100);
            bench.sound().await;
        }
        assert!(ours > 0 && theirs > 0, "{ours} and {theirs}");
    });
}
