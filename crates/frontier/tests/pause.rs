//! I4: what is paused is left alone, stands in nobody's way, and goes on where it was.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use std::sync::Arc;

use frontier::ports::{AnswerFacts, Clock, Fetch, Report};
use frontier::{Frontier, Pause, Target};
use policy::catalog::Change;
use policy::model::HostGroup;
use policy::time::Span;
use store::Store;
use store::contract::fresh;
use testkit::catalog::{collection, profile, put, seed};
use testkit::clock::ManualClock;

struct Bench {
    frontier: Frontier,
    clock: Arc<ManualClock>,
    store: Store,
}

impl Bench {
    fn on(store: Store, clock: Arc<ManualClock>) -> Bench {
        let frontier = Frontier::new(store.clone(), Arc::clone(&clock) as Arc<dyn Clock>, 1);
        Bench { frontier, clock, store }
    }

    /// Two collections on the hosts a, b, c; with b and c in a group.
    async fn new() -> Bench {
        let clock = Arc::new(ManualClock::default());
        let bench = Bench::on(fresh(1), clock);
        let mut changes = Vec::new();
        for name in ["news", "law"] {
            changes.push(put(collection(name)));
            changes.push(put(profile(name, name)));
        }
        for host in ["a", "b", "c"] {
            changes.push(put(seed(host, &format!("http://{host}.no/"), &["news", "law"])));
        }
        let hosts = vec!["b.no".to_owned(), "c.no".to_owned()];
        let group = HostGroup { name: "group:x".into(), hosts, ..HostGroup::default() };
        changes.push(Change::PutGroup(group));
        bench.frontier.declare(&changes).await.unwrap();
        bench
    }

    async fn start(&self) {
        for name in ["news", "law"] {
            self.frontier.start(&Target::Collection(name.into())).await.unwrap();
        }
    }

    async fn sound(&self) {
        assert_eq!(self.frontier.audit().await.unwrap().findings, Vec::<String>::new());
    }

    /// Harvests for a while of its own time: what was given out, as collection and host. Fails if
    /// it ever spins.
    async fn harvest(&self, span: Span) -> Vec<String> {
        let end = self.frontier.now().plus(span);
        let (mut given, mut empty) = (Vec::new(), 0);
        while self.frontier.now() < end {
            let reserved = self.frontier.reserve(10).await.unwrap();
            self.sound().await;
            let gave = !reserved.orders.is_empty();
            empty = if gave { 0 } else { empty + 1 };
            for order in reserved.orders {
                given.push(format!("{} {}", order.collection, order.host));
                let facts = AnswerFacts { status: 200, digest: Some("d".into()), ..AnswerFacts::default() };
                let report = Report::bare(self.frontier.now(), Fetch::Answer(facts));
                self.frontier.complete(&order, &report, &[]).await.unwrap();
                self.sound().await;
            }
            // What they freed may be wanted at once.
            if gave {
                continue;
            }
            let now = self.frontier.now();
            match reserved.next.filter(|next| *next < end) {
                Some(next) if next > now => self.clock.set(next),
                Some(_) => assert!(empty < 100, "it spins"),
                None => self.clock.set(end),
            }
        }
        given.sort();
        given
    }
}

const ALL: [&str; 6] = ["law a.no", "law b.no", "law c.no", "news a.no", "news b.no", "news c.no"];

fn without(word: &str) -> Vec<&'static str> {
    ALL.into_iter().filter(|given| !given.contains(word)).collect()
}

fn only(word: &str) -> Vec<&'static str> {
    ALL.into_iter().filter(|given| given.contains(word)).collect()
}

#[tokio::test(flavor = "current_thread")]
async fn i4_what_is_paused_waits_and_goes_on_at_once() {
    let table = [
        (Pause::Everything, "", Span::minutes(2)),
        (Pause::Collection("law".into()), "law", Span::minutes(2)),
        (Pause::Host("a.no".into()), "a.no", Span::minutes(2)),
        (Pause::Host("b.no".into()), "b.no", Span::minutes(2)),
        (Pause::Collection("law".into()), "law", Span::hours(3)),
        (Pause::Host("c.no".into()), "c.no", Span::hours(3)),
    ];
    for (pause, word, length) in table {
        let bench = Bench::new().await;
        assert!(bench.frontier.pause(&pause).await.unwrap());
        assert!(!bench.frontier.pause(&pause).await.unwrap(), "it is so already");
        bench.start().await;
        let others: Vec<&str> = if word.is_empty() { Vec::new() } else { without(word) };
        assert_eq!(bench.harvest(length).await, others, "{pause:?}");
        assert!(bench.frontier.resume(&pause).await.unwrap());
        assert!(!bench.frontier.resume(&pause).await.unwrap());
        bench.sound().await;
        let rest: Vec<&str> = if word.is_empty() { ALL.to_vec() } else { only(word) };
        assert_eq!(bench.harvest(Span::seconds(30)).await, rest, "{pause:?}: at once, and nothing else");
    }
}

#[tokio::test(flavor = "current_thread")]
async fn i4_resuming_brings_nothing_forward_that_is_not_due() {
    let bench = Bench::new().await;
    bench.start().await;
    assert_eq!(bench.harvest(Span::hours(2)).await, ALL);
    // Due within the hour, but not yet.
    bench.harvest(Span::hours(21)).await;
    let law = Pause::Collection("law".into());
    bench.frontier.pause(&law).await.unwrap();
    bench.frontier.resume(&law).await.unwrap();
    assert_eq!(bench.harvest(Span::minutes(20)).await, Vec::<String>::new());
    assert_eq!(bench.harvest(Span::hours(2)).await, ALL);
}

#[tokio::test(flavor = "current_thread")]
async fn i4_pauses_outlast_the_process_and_other_processes_hear_of_them() {
    let bench = Bench::new().await;
    let pauses = [Pause::Everything, Pause::Collection("law".into()), Pause::Host("a.no".into())];
    let other = Bench::on(bench.store.clone(), Arc::clone(&bench.clock));
    for pause in &pauses {
        bench.frontier.pause(pause).await.unwrap();
    }
    bench.start().await;
    for bench in [&other, &Bench::on(bench.store.clone(), Arc::clone(&bench.clock))] {
        let paused = bench.frontier.paused().await.unwrap();
        assert_eq!(
            paused.iter().map(|(pause, _)| pause).collect::<Vec<_>>(),
            pauses.iter().collect::<Vec<_>>()
        );
        assert!(bench.frontier.reserve(10).await.unwrap().orders.is_empty());
    }
    bench.frontier.resume(&Pause::Everything).await.unwrap();
    assert_eq!(other.harvest(Span::minutes(2)).await, ["news b.no", "news c.no"]);
}

#[tokio::test(flavor = "current_thread")]
async fn i4_what_is_in_flight_comes_home() {
    let bench = Bench::new().await;
    bench.start().await;
    let orders = bench.frontier.reserve(1).await.unwrap().orders;
    let host = Pause::Host(orders[0].host.clone());
    bench.frontier.pause(&host).await.unwrap();
    let facts = AnswerFacts { status: 200, ..AnswerFacts::default() };
    let report = Report::bare(bench.frontier.now(), Fetch::Answer(facts));
    let completed = bench.frontier.complete(&orders[0], &report, &[]).await.unwrap();
    assert!(matches!(completed, frontier::Completed::Done(_)), "{completed:?}");
    bench.sound().await;
}
