//! Budgets (F36) and patterns on the blacklist (F39) as the frontier carries them out, on both
//! engines.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod bench;

use bench::*;
use frontier::ports::{Clock, Fetch, Report};
use frontier::{Ending, Situation, State, Target};
use policy::Rule;
use policy::blacklist::Barred;
use policy::budget::{Budget, Holder, Limit};
use policy::catalog::Change;
use policy::model::{BlacklistReason, Collection, Politeness, Profile, Seed};
use policy::scope::Pattern;
use policy::time::Span;

fn urls(max: u64) -> Budget {
    Budget { max_urls: Some(max), ..Budget::default() }
}

fn harvests(max: u64) -> Budget {
    Budget { max_harvests: Some(max), ..Budget::default() }
}

fn with(budget: Budget) -> Change {
    Change::PutSeed(Seed { budget, ..seed("a", "https://a.no/", &["daily"]) })
}

const LINKS: [&str; 4] = ["https://a.no/x/1", "https://a.no/x/2", "https://a.no/y/3", "https://a.no/y/4"];

impl Bench {
    async fn known(&self) -> usize {
        self.states().await.len()
    }

    async fn used(&self, limit: Limit) -> (u64, u64, u64) {
        let rows = self.frontier.budgets().await.unwrap();
        let row = rows.into_iter().find(|row| row.limit == limit).unwrap();
        (row.used, row.held, row.refused)
    }

    async fn endings(&self) -> Vec<(Holder, Limit, u64)> {
        let all = self.frontier.budget_endings(START).await.unwrap();
        all.into_iter().map(|Ending { holder, limit, run, .. }| (holder, limit, run)).collect()
    }

    async fn verdict(&self, link: &str) -> (Rule, String) {
        self.frontier.why(&url(link), Some("news")).await.unwrap().remove(0).verdict.unwrap()
    }
}

#[test]
fn f36_max_urls_is_kept_to_the_url_and_what_is_beyond_is_counted() {
    both(|b| async move {
        b.declare(basic()).await;
        b.declare([with(urls(3))]).await;
        b.start("news").await;
        b.answer(&b.next().await, 200, &LINKS).await;
        assert_eq!(b.known().await, 3);
        assert_eq!(b.used(Limit::Urls).await, (3, 0, 2));
        assert_eq!(b.endings().await, [(Holder::Seed("a".into()), Limit::Urls, 1)]);
        let rows = b.frontier.budgets().await.unwrap();
        assert_eq!((rows[0].places[0].host.as_str(), rows[0].places[0].path.as_str()), ("a.no", "/y"));
        assert_eq!(rows[0].places[0].examples, LINKS[2..]);
        let (rule, text) = b.verdict(LINKS[3]).await;
        assert_eq!(rule, Rule::F36);
        assert!(text.contains("seed `a`") && text.contains("3 known URLs of 3"), "{text}");
        // Raised, what is linked again comes.
        b.declare([with(urls(4))]).await;
        b.pass(Span::minutes(1));
        let next = b.next().await;
        b.answer(&next, 200, &LINKS).await;
        assert_eq!(b.known().await, 4);
        // Lifted, all of it.
        b.declare([with(Budget::default())]).await;
        b.pass(Span::minutes(1));
        b.answer(&b.next().await, 200, &LINKS).await;
        assert_eq!(b.known().await, 5);
        assert!(b.frontier.budgets().await.unwrap().is_empty());
    });
}

#[test]
fn f36_what_is_known_is_counted_also_where_the_budget_came_later_and_when_it_is_done() {
    both(|b| async move {
        b.declare(basic()).await;
        b.declare([put(Profile { length: Some(1), ..profile("daily", "news") })]).await;
        b.start("news").await;
        b.answer(&b.next().await, 200, &LINKS[..2]).await;
        b.declare([put(Collection { budget: urls(3), ..collection("news") }), with(urls(9))]).await;
        b.sound().await;
        assert_eq!(b.used(Limit::Urls).await, (3, 0, 0), "one of them is done");
        b.pass(Span::minutes(1));
        b.answer(&b.next().await, 200, &LINKS).await;
        assert_eq!(b.known().await, 3);
        // What leaves makes room.
        b.frontier.blacklist_add("news", &url(LINKS[1]), "why", None).await.unwrap();
        assert_eq!(b.used(Limit::Urls).await.0, 3, "it is still known");
        b.declare([Change::DeleteSeed("a".into())]).await;
        b.frontier.sweep_deleted().await.unwrap();
        b.sound().await;
    });
}

#[test]
fn f36_max_harvests_of_a_run_and_back_at_once_when_raised() {
    both(|b| async move {
        b.declare(basic()).await;
        b.declare([with(harvests(2))]).await;
        b.start("news").await;
        b.answer(&b.next().await, 200, &LINKS).await;
        b.pass(Span::minutes(1));
        b.answer(&b.next().await, 200, &[]).await;
        b.pass(Span::minutes(1));
        assert!(b.reserve(10).await.is_empty(), "two were made");
        b.sound().await;
        assert_eq!(b.known().await, 5, "nothing is lost");
        assert_eq!(b.used(Limit::Harvests).await, (2, 3, 0));
        assert_eq!(b.endings().await, [(Holder::Seed("a".into()), Limit::Harvests, 1)]);
        let (rule, text) = b.verdict(LINKS[3]).await;
        assert_eq!(rule, Rule::F36);
        assert!(text.contains("2 harvests of 2 harvests") && text.contains("in run 1"), "{text}");
        let load = b.frontier.feasibility().await.unwrap();
        assert!(load[0].wanted_per_day < 3.0, "F33: who waits wants nothing: {load:?}");
        // Lifted: at once.
        b.declare([with(harvests(3))]).await;
        b.sound().await;
        let order = b.next().await;
        b.answer(&order, 200, &[]).await;
        b.pass(Span::minutes(1));
        assert!(b.reserve(10).await.is_empty(), "one more, and no more");
        assert_eq!(b.used(Limit::Harvests).await, (3, 2, 0));
        b.declare([with(Budget::default())]).await;
        b.pass(Span::minutes(1));
        b.answer(&b.next().await, 200, &[]).await;
        // Another run has a budget of its own.
        b.declare([with(harvests(1))]).await;
        b.pass(Span::minutes(1));
        assert!(b.reserve(10).await.is_empty());
        b.start("news").await;
        let again = b.next().await;
        assert_eq!(again.url.as_str(), "https://a.no/");
        b.answer(&again, 200, &[]).await;
        b.pass(Span::minutes(1));
        assert!(b.reserve(10).await.is_empty(), "and it is used up as well");
    });
}

#[test]
fn f36_bytes_and_duration_of_a_host_and_a_profile() {
    both(|b| async move {
        b.declare(basic()).await;
        let host = |budget| Change::PutHostPoliteness {
            host: "a.no".into(),
            politeness: Politeness { budget, ..Politeness::default() },
            way: policy::way::Way::default(),
        };
        b.declare([host(Budget { max_bytes: Some(1), ..Budget::default() })]).await;
        b.start("news").await;
        let order = b.next().await;
        let facts = frontier::ports::AnswerFacts { status: 200, ..Default::default() };
        let mut report = Report::bare(b.clock.now(), Fetch::Answer(facts));
        report.bytes = 7;
        report.outlinks = LINKS
            .iter()
            .map(|link| frontier::ports::Outlink::new(url(link), policy::model::LinkKind::Link))
            .collect();
        b.complete(&order, &report).await;
        b.pass(Span::minutes(1));
        assert!(b.reserve(10).await.is_empty());
        assert_eq!(b.used(Limit::Bytes).await, (7, 4, 0));
        b.declare([
            host(Budget::default()),
            put(Profile {
                budget: Budget { max_duration: Some(Span::hours(1)), ..Budget::default() },
                ..profile("daily", "news")
            }),
        ])
        .await;
        let order = b.next().await;
        b.answer(&order, 200, &[]).await;
        b.pass(Span::minutes(30));
        b.answer(&b.next().await, 200, &[]).await;
        b.pass(Span::minutes(30));
        assert!(b.reserve(10).await.is_empty(), "an hour after the first");
        assert_eq!(b.used(Limit::Duration).await.1, 2);
        // What nobody raises is looked at again now and then, and waits on.
        b.pass(Span::hours(2));
        assert!(b.reserve(10).await.is_empty());
        b.sound().await;
        b.declare([Change::DeleteProfile("daily".into())]).await;
        b.pass(Span::hours(2));
        assert!(b.reserve(10).await.is_empty());
        b.sound().await;
    });
}

fn barred(pattern: Pattern, until: Option<policy::time::Time>) -> Barred {
    Barred { pattern, collection: Some("news".into()), reason: "a trap".into(), since: START, until }
}

#[test]
fn f39_a_pattern_holds_the_known_and_the_new_and_gives_them_back() {
    both(|b| async move {
        b.declare(basic()).await;
        b.start("news").await;
        b.answer(&b.next().await, 200, &LINKS).await;
        let own = barred(Pattern::Prefix("a.no/x".into()), None);
        let name = own.name();
        b.frontier.bar(vec![own]).await.unwrap();
        assert_eq!(b.verdict(LINKS[0]).await.0, Rule::F39, "before it is looked at, too");
        b.pass(Span::minutes(1));
        let order = b.next().await;
        assert_eq!(order.url.as_str(), LINKS[2]);
        let new = "https://a.no/x/new";
        b.answer(&order, 200, &[new]).await;
        assert_eq!(b.known().await, 5, "what is new is not queued");
        let (rule, text) = b.verdict(new).await;
        assert!(rule == Rule::F39 && text.contains("prefix:a.no/x") && text.contains("a trap"), "{text}");
        let held = b.states().await.into_iter().filter(|(.., state)| *state == State::Blacklisted).count();
        assert_eq!(held, 2);
        let (Situation::Blacklisted(entry), Rule::F16) = b.why(LINKS[0]).await else { panic!() };
        assert_eq!(entry.reason, BlacklistReason::Pattern(name.clone()));
        assert_eq!(b.frontier.unbar(&name).await.unwrap(), Some(2));
        assert_eq!(b.frontier.unbar(&name).await.unwrap(), None);
        b.sound().await;
        b.pass(Span::minutes(1));
        let mut back = Vec::new();
        while let Some(order) = b.reserve(1).await.pop() {
            back.push(order.url.as_str().to_owned());
            b.answer(&order, 200, &[]).await;
            b.pass(Span::minutes(1));
        }
        back.sort();
        assert_eq!(back, [LINKS[0], LINKS[1], LINKS[3]]);
    });
}

#[test]
fn f39_a_pattern_that_ends_gives_back_what_it_held() {
    both(|b| async move {
        b.declare(basic()).await;
        b.start("news").await;
        let until = Some(START.plus(Span::hours(1)));
        b.frontier.bar(vec![barred(Pattern::Host("*.a.no".into()), until)]).await.unwrap();
        assert!(b.reserve(10).await.is_empty());
        b.start("news").await;
        assert!(b.reserve(10).await.is_empty(), "also where it is started");
        b.sound().await;
        b.pass(Span::hours(1));
        b.frontier.sweep().await.unwrap();
        b.sound().await;
        assert_eq!(b.next().await.url.as_str(), "https://a.no/");
        let left = b.frontier.with_catalog(|catalog| catalog.patterns().count()).await.unwrap();
        assert_eq!(left, 0);
    });
}

#[test]
fn f36_a_start_of_a_seed_counts_in_its_run_alone() {
    both(|b| async move {
        b.declare(basic()).await;
        b.declare([
            put(Collection { budget: harvests(1), ..collection("news") }),
            Change::PutSeed(seed("b", "https://b.no/", &["daily"])),
        ])
        .await;
        let start = |name: &str| Target::Seed { name: name.into(), profiles: None };
        b.frontier.start(&start("a")).await.unwrap();
        b.frontier.start(&start("b")).await.unwrap();
        let orders = b.reserve(10).await;
        assert_eq!(orders.len(), 2, "two runs");
        for order in &orders {
            b.answer(order, 200, &[&format!("https://{}/x", order.host)]).await;
        }
        b.pass(Span::minutes(1));
        assert!(b.reserve(10).await.is_empty());
        assert_eq!(b.endings().await.len(), 2);
    });
}
