//! F37: a trap is noticed while it is harvested, what is held for it is kept, and comes back when
//! somebody decides; through the end of processes at any moment.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use std::collections::BTreeSet;
use std::sync::Arc;

use frontier::ports::{AnswerFacts, Clock, Fetch, Outlink, Report};
use frontier::{Completed, Frontier, Target, Trap};
use policy::Rule;
use policy::model::{LinkKind, Politeness, Profile, Settings};
use policy::scope::{Pattern, Scope};
use policy::time::Span;
use policy::trap::text::Sketcher;
use policy::trap::{Kind, Traps};
use policy::url::CrawlUrl;
use store::Store;
use store::contract::fresh;
use testkit::catalog::{collection, profile, put, seed};
use testkit::clock::ManualClock;

struct Bench {
    frontier: Frontier,
    clock: Arc<ManualClock>,
    store: Store,
    told: Vec<Kind>,
    lives: u64,
}

fn url(text: &str) -> CrawlUrl {
    CrawlUrl::from_normal(text).unwrap()
}

/// A site with 400 articles, and a page for any id of which each is the same.
fn page(own: &CrawlUrl) -> (String, Vec<String>) {
    let n: u64 = own.as_str().rsplit(['/', '=']).next().unwrap().parse().unwrap_or(0);
    if own.path() == "/vis" {
        let next = (1..3).map(|k| format!("https://a.no/vis?id={}", n * 2 + k));
        return ("There is no article with this number".to_owned(), next.collect());
    }
    let words: String = (0..40).map(|k| format!("word{} ", n * 7919 % 4001 * 40 + k)).collect();
    let next = (1..4).map(|k| format!("https://a.no/sak/{}", (n * 3 + k) % 400));
    (format!("An article {words}"), next.chain(["https://a.no/vis?id=1".to_owned()]).collect())
}

impl Bench {
    async fn new(traps: Traps) -> Bench {
        let clock = Arc::new(ManualClock::default());
        let bench = Bench::on(fresh(1), clock, 1);
        let ms = Span(100);
        let politeness = Politeness { factor: 0.0, min: ms, max: ms, parallel: 1, ..Politeness::default() };
        bench
            .frontier
            .declare(&[
                put(Settings { politeness, ..Settings::default() }),
                put(collection("all")),
                put(Profile { traps, length: Some(1), ..profile("p", "all") }),
                put(seed("a", "https://a.no/sak/1", &["p"])),
            ])
            .await
            .unwrap();
        bench.frontier.start(&Target::Collection("all".into())).await.unwrap();
        bench
    }

    fn on(store: Store, clock: Arc<ManualClock>, lives: u64) -> Bench {
        let frontier = Frontier::new(store.clone(), Arc::clone(&clock) as Arc<dyn Clock>, lives);
        Bench { frontier, clock, store, told: Vec::new(), lives }
    }

    /// The process ends where it stands, and another begins.
    async fn crash(self) -> Bench {
        let mut next = Bench::on(self.store.clone(), Arc::clone(&self.clock), self.lives + 1);
        next.told = self.told.clone();
        next.frontier.recover().await.unwrap();
        next
    }

    async fn sound(&self) {
        assert_eq!(self.frontier.audit().await.unwrap().findings, Vec::<String>::new());
    }

    /// Up to so many harvests, as long as something is due within an hour; says which.
    async fn harvest(&mut self, most: usize) -> BTreeSet<String> {
        let mut given = BTreeSet::new();
        let end = self.frontier.now().plus(Span::hours(1));
        while given.len() < most && self.frontier.now() < end {
            let reserved = self.frontier.reserve(1).await.unwrap();
            for order in &reserved.orders {
                let (text, links) = page(&order.url);
                let facts = AnswerFacts { status: 200, ..AnswerFacts::default() };
                let mut report = Report::bare(self.frontier.now(), Fetch::Answer(facts));
                report.text = order.last_fetch.is_none().then(|| Sketcher::of(&text).unwrap());
                let link = |text: &String| Outlink::new(url(text), LinkKind::Link);
                report.outlinks = links.iter().map(link).collect();
                match self.frontier.complete(order, &report, &[]).await.unwrap() {
                    Completed::Done(summary) => self.told.extend(summary.suspected.iter().map(|s| s.kind)),
                    Completed::LeaseLost => panic!("nobody else is there"),
                }
                given.insert(order.url.as_str().to_owned());
            }
            if reserved.orders.is_empty() {
                let Some(next) = reserved.next.filter(|next| *next < end) else { break };
                self.clock.set(next.max(self.frontier.now().plus(Span(1))));
            }
        }
        given
    }

    async fn queued(&self, part: &str) -> usize {
        let ledger = self.frontier.audit().await.unwrap();
        ledger.queue.iter().filter(|(.., url)| url.contains(part)).count()
    }

    async fn the_trap(&self) -> (Trap, usize) {
        let mut traps = self.frontier.traps().await.unwrap();
        assert_eq!(traps.len(), 1, "{traps:?}");
        (traps.pop().unwrap(), self.frontier.held("a.no", "all").await.unwrap())
    }

    async fn why(&self, text: &str) -> (Option<Rule>, bool) {
        let all = self.frontier.why(&url(text), Some("all")).await.unwrap();
        let named =
            all[0].steps.iter().any(|(rule, text)| *rule == Rule::F37 && text.contains("nearly the same"));
        (all[0].verdict.as_ref().map(|(rule, _)| *rule), named)
    }
}

fn traps_of(given: &BTreeSet<String>) -> usize {
    given.iter().filter(|url| url.contains("vis?id")).count()
}

#[tokio::test(flavor = "current_thread")]
async fn f37_what_is_held_is_kept_through_a_crash_and_comes_back() {
    let mut bench = Bench::new(Traps::Hold).await;
    let first = bench.harvest(3000).await;
    assert_eq!(bench.told.first(), Some(&Kind::Alike), "{:?}", bench.told);
    let articles = first.iter().filter(|url| url.contains("/sak/")).count();
    assert_eq!(articles, 400, "the articles are harvested all the same");
    let harvested = traps_of(&first);
    assert!(harvested < 400, "{harvested} of the trap were harvested");
    let (trap, many) = bench.the_trap().await;
    assert!(many > 50 && many == bench.queued("vis?id").await, "{}", many);
    bench.sound().await;
    let held = "https://a.no/vis?id=600";
    let queued = bench.frontier.audit().await.unwrap().queue;
    let held = queued.iter().map(|(.., url)| url.as_str()).find(|url| url.contains("vis?id")).unwrap_or(held);
    assert_eq!(bench.why(held).await, (Some(Rule::F37), true));

    let held = held.to_owned();
    let mut bench = bench.crash().await;
    assert_eq!(traps_of(&bench.harvest(100).await), 0, "held by the next process too");
    assert_eq!(bench.the_trap().await.1, many);
    // A day later it is looked at, and held again.
    bench.clock.set(bench.frontier.now().plus(Span::hours(25)));
    assert_eq!(traps_of(&bench.harvest(100).await), 0);
    assert_eq!(bench.the_trap().await.1, many);
    bench.sound().await;

    let back = bench.frontier.release_trap(&trap.key).await.unwrap();
    assert_eq!(back, Some(many));
    bench.sound().await;
    let mut bench = bench.crash().await;
    assert_eq!(bench.why(&held).await, (Some(Rule::F34), false));
    let again = bench.harvest(many + 50).await;
    assert!(traps_of(&again) >= many, "{} of {}", traps_of(&again), many);
    assert_eq!(bench.the_trap().await.1, 0, "what is released is not held again");
    assert_eq!(
        bench.frontier.release_trap(&frontier::TrapKey { id: "x".into(), ..trap.key }).await.unwrap(),
        None
    );
}

#[tokio::test(flavor = "current_thread")]
async fn f37_what_is_excluded_leaves_the_queue() {
    let mut bench = Bench::new(Traps::Hold).await;
    bench.harvest(3000).await;
    let (trap, many) = bench.the_trap().await;
    let exclude = vec![Pattern::regex(trap.suspicion.remedy.pattern()).unwrap()];
    let scope = Scope { exclude, ..Scope::default() };
    let ended = put(Profile { scope, traps: Traps::Hold, length: Some(1), ..profile("p", "all") });
    bench.frontier.declare(&[ended]).await.unwrap();
    assert_eq!(bench.frontier.trap_excluded(&trap.key).await.unwrap(), Some(many));
    assert_eq!(traps_of(&bench.harvest(100).await), 0);
    assert_eq!(bench.queued("vis?id").await, 0);
    bench.sound().await;
}

#[tokio::test(flavor = "current_thread")]
async fn f37_who_only_warns_harvests_on() {
    let mut bench = Bench::new(Traps::Warn).await;
    let given = bench.harvest(2000).await;
    assert!(traps_of(&given) > 1000);
    assert_eq!(bench.the_trap().await.1, 0);
    let open = bench.frontier.audit().await.unwrap().queue;
    let waiting = open.iter().map(|(.., url)| url).find(|url| url.contains("vis?id")).unwrap();
    assert_eq!(bench.why(waiting).await, (Some(Rule::F34), true), "harvested, and named");
}

/// What was learned outlives processes that end every 50 harvests.
#[tokio::test(flavor = "current_thread")]
async fn f37_what_was_learned_outlives_the_process() {
    let mut bench = Bench::new(Traps::Hold).await;
    let mut harvests = 0;
    while bench.told.is_empty() {
        harvests += bench.harvest(50).await.len();
        assert!(harvests < 3000, "not found by processes that end early");
        bench = bench.crash().await;
    }
}
