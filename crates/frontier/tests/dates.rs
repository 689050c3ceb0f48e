//! F41: what a host's pages say of when others changed, over weeks of harvests.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod bench;

use bench::*;
use frontier::ports::{AnswerFacts, Clock, Fetch, Order, Outlink, Report};
use policy::hint::Said;
use policy::model::{LinkKind, Profile};
use policy::time::{Span, Time};
use policy::trap::text::{Moved, Sketch};
use store::contract::fresh;

const DAYS: u64 = 90;
const PAGE: &str = "https://a.no/page";

/// What the sitemap of a host says of its page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sitemap {
    Silent,
    /// When it changed.
    Honest,
    /// That it changed just now, whenever it is asked.
    Lying,
}

/// What came of the page: its harvests, and for how many hours the copy was not the page.
#[derive(Debug, Default)]
struct Came {
    harvests: u64,
    stale: u64,
    settled: u32,
    proved: u32,
    steps: Vec<String>,
}

/// The page changes every five days, and its sitemap with every harvest.
async fn weeks(sitemap: Sitemap, host: &str) -> Came {
    let b = Bench::on(fresh(1));
    let range = Profile { every: Span::hours(3), slowest: Some(Span::days(30)), ..profile("daily", "news") };
    b.declare(basic()).await;
    b.declare([put(range)]).await;
    b.start("news").await;
    let page = url(&PAGE.replace("a.no", host));
    let changed = |at: Time| START.plus(Span::days(at.since(START).0 / Span::days(5).0 * 5));
    let mut came = Came::default();
    let (mut copy, mut ids) = (None, 0);
    for _ in 0..DAYS * 24 {
        for order in b.reserve(10).await {
            let now = b.clock.now();
            let is_page = order.url == page;
            ids += 1;
            let version = if is_page { changed(now).0 } else { ids };
            let digest = Some(version.to_string());
            let facts = AnswerFacts {
                status: 200,
                unchanged: order.digest == digest,
                digest,
                ..AnswerFacts::default()
            };
            let mut report = Report::bare(now, Fetch::Answer(facts));
            if is_page {
                (came.harvests, copy) = (came.harvests + 1, Some(version));
            } else {
                let said = match sitemap {
                    Sitemap::Silent => None,
                    Sitemap::Honest => Some(Said::at(changed(now))),
                    Sitemap::Lying => Some(Said::at(now)),
                };
                report.outlinks = vec![Outlink { url: page.clone(), kind: LinkKind::Link, said }];
            }
            b.frontier.complete(&order, &report, &[]).await.unwrap();
        }
        came.stale += u64::from(copy != Some(changed(b.clock.now()).0));
        b.pass(Span::hours(1));
    }
    b.sound().await;
    let tx = b.store.begin().await.unwrap();
    let row = frontier::schema::HOSTS.get(&tx, ("a.no",)).await.unwrap().unwrap();
    (came.settled, came.proved) = (row.trust.settled, row.trust.proved);
    let why = b.frontier.why(&page, Some("news")).await.unwrap().remove(0);
    came.steps = why.steps.into_iter().map(|(rule, text)| format!("{rule}: {text}")).collect();
    came
}

fn run<T>(scenario: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(scenario)
}

#[test]
fn f41_dates_are_believed_as_far_as_they_proved_true() {
    let [silent, honest, lying] =
        [Sitemap::Silent, Sitemap::Honest, Sitemap::Lying].map(|sitemap| run(weeks(sitemap, "a.no")));
    println!("silent {silent:?}\nhonest {honest:?}\nlying {lying:?}");
    assert_eq!((silent.settled, silent.proved), (0, 0));
    assert!(honest.settled > 10 && honest.proved == honest.settled, "{honest:?}");
    assert!(honest.stale * 3 < silent.stale, "the copy is fresher: {honest:?} {silent:?}");
    assert!(
        honest.harvests < silent.harvests * 3 / 2,
        "and not for many more harvests: {honest:?} {silent:?}"
    );
    assert!(lying.settled > 10 && lying.proved < lying.settled, "{lying:?}");
    assert!(lying.harvests < silent.harvests * 2, "a liar is asked little more: {lying:?} {silent:?}");
    let says = |came: &Came, text: &str| came.steps.iter().any(|step| step.contains(text));
    assert!(
        says(&honest, "it was there") && says(&honest, "the next claim is believed at"),
        "{:?}",
        honest.steps
    );
    assert!(says(&lying, "F41: a page of its host says that it changed at"), "{:?}", lying.steps);
    assert!(!says(&silent, "date it"), "{:?}", silent.steps);
}

#[test]
fn f41_nobody_has_a_say_in_how_often_another_host_is_asked() {
    let came = run(weeks(Sitemap::Honest, "b.no"));
    assert_eq!((came.settled, came.proved), (0, 0), "{came:?}");
}

/// F37: whether a page changed, or a little only.
#[test]
fn f37_what_changed_a_little_is_told_from_what_changed() {
    both(|b| async move {
        b.declare(basic()).await;
        b.start("news").await;
        let answer = |order: &Order, digest: &str, sketch: u64| {
            let (digest, sketch) = (Some(digest.to_owned()), Some(Sketch(sketch)));
            let unchanged = order.digest == digest;
            let facts = AnswerFacts { status: 200, unchanged, digest, sketch, ..AnswerFacts::default() };
            Report::bare(b.clock.now(), Fetch::Answer(facts))
        };
        for (digest, sketch, moved) in [
            ("a", 0, None),
            ("a", 0, None),
            ("b", 0b1111, Some(Moved(4))),
            ("c", u64::MAX, Some(Moved(60))),
            ("d", u64::MAX, Some(Moved(0))),
        ] {
            let order = b.next().await;
            let report = answer(&order, digest, sketch);
            let frontier::Completed::Done(summary) = b.complete(&order, &report).await else { panic!() };
            assert_eq!(summary.moved, moved, "{digest}");
            let (rows, _) = b.frontier.captures("news", None, 10).await.unwrap();
            assert_eq!(rows.last().unwrap().2.moved, moved, "{digest}");
            b.pass(Span::days(1));
        }
        let traffic = b.frontier.totals().await.unwrap().traffic;
        assert_eq!((traffic.new, traffic.unchanged, traffic.changed, traffic.changed_little), (1, 1, 3, 2));
        let why = b.frontier.why(&url("https://a.no/"), Some("news")).await.unwrap().remove(0);
        let says = |text: &str| why.steps.iter().any(|(_, step)| step.contains(text));
        assert!(says("its text changed a little (0 of 64 bits of its sketch; up to 8)"), "{:?}", why.steps);
    });
}
