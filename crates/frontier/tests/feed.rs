//! The link index is fed by the harvest itself, in its transaction.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use std::sync::Arc;

use frontier::ports::{AnswerFacts, Clock, Fetch, Order, PageNow, Report};
use frontier::{Completed, Frontier, INDEX_ACROSS, Target};
use index::{Index, Page, Uri};
use policy::catalog::Change;
use policy::model::{Collection, Politeness, Settings};
use policy::time::{Span, Time};
use store::contract::fresh;
use testkit::catalog::{collection, profile, put, seed};
use testkit::clock::ManualClock;

fn declared(index: bool, across: bool) -> Vec<Change> {
    let politeness =
        Politeness { factor: 0.0, min: Span::ZERO, max: Span::ZERO, parallel: 1, ..Politeness::default() };
    let settings = Settings { politeness, index_across: across, ..Settings::default() };
    let mut changes = vec![put(settings)];
    for name in ["one", "two"] {
        changes.push(put(Collection { index, ..collection(name) }));
        changes.push(put(profile(name, name)));
        changes.push(put(seed(name, &format!("http://{name}.test/"), &[name])));
    }
    changes
}

struct Rig {
    frontier: Frontier,
    clock: Arc<ManualClock>,
}

impl Rig {
    async fn new(index: bool, across: bool) -> Rig {
        let clock = Arc::new(ManualClock::at(Time(1_000_000)));
        let frontier = Frontier::new(fresh(1), Arc::clone(&clock) as Arc<dyn Clock>, 7);
        frontier.declare(&declared(index, across)).await.unwrap();
        for name in ["one", "two"] {
            frontier.start(&Target::Collection(name.into())).await.unwrap();
        }
        Rig { frontier, clock }
    }

    async fn orders(&self) -> Vec<Order> {
        let mut orders = self.frontier.reserve(2).await.unwrap().orders;
        orders.sort_by(|a, b| a.collection.cmp(&b.collection));
        orders
    }

    async fn harvest(&self, order: &Order, page: PageNow) -> Completed {
        let facts = AnswerFacts { status: 200, ..AnswerFacts::default() };
        let mut report = Report::bare(self.frontier.now(), Fetch::Answer(facts));
        report.page = Some(page);
        self.frontier.complete(order, &report, &[]).await.unwrap()
    }

    async fn dump(&self, name: &str) -> String {
        let index = self.frontier.index(name).await.unwrap();
        index.to_rest().await.unwrap();
        let mut dump = index.dump().await.unwrap();
        let mut text = String::new();
        while let Some(lines) = dump.next().await.unwrap() {
            text.push_str(&String::from_utf8(lines).unwrap());
        }
        text
    }
}

fn linking_to(url: &str) -> PageNow {
    PageNow::Links(Page::new([(Uri::of_url(url).unwrap(), "there".to_owned())]))
}

#[tokio::test]
async fn x2_a_harvest_loads_its_page_and_x4_a_page_that_is_gone_is_deleted() {
    let rig = Rig::new(true, false).await;
    let orders = rig.orders().await;
    rig.harvest(&orders[0], linking_to("http://target.test/")).await;
    let dump = rig.dump("one").await;
    assert!(dump.contains("p:test.target\tinlinks\ttest.one\tthere"), "{dump}");
    assert!(dump.contains("p:test.one\tpage\tscore\t1"), "{dump}");
    rig.clock.advance(Span::days(1));
    let again = rig.orders().await.into_iter().find(|order| order.collection == "one").unwrap();
    rig.harvest(&again, PageNow::Gone).await;
    assert_eq!(rig.dump("one").await, "");
}

#[tokio::test]
async fn x13_one_index_for_each_collection_and_one_across_where_asked() {
    for (index, across) in [(true, true), (true, false), (false, true)] {
        let rig = Rig::new(index, across).await;
        for order in rig.orders().await {
            rig.harvest(&order, linking_to("http://target.test/")).await;
        }
        let names = Index::names(rig.frontier.store()).await.unwrap();
        let expected = match (index, across) {
            (false, _) => vec![],
            (true, false) => vec!["one", "two"],
            (true, true) => vec![INDEX_ACROSS, "one", "two"],
        };
        assert_eq!(names, expected, "index {index}, across {across}");
        if index && across {
            assert!(rig.dump(INDEX_ACROSS).await.contains("p:test.target\tpage\tincount\t2"));
            assert!(rig.dump("two").await.contains("p:test.target\tpage\tincount\t1"));
        }
    }
}

#[tokio::test]
async fn x11_what_is_not_committed_is_not_loaded() {
    let rig = Rig::new(true, false).await;
    let orders = rig.orders().await;
    rig.clock.advance(Span::days(1));
    rig.frontier.sweep().await.unwrap();
    assert_eq!(rig.harvest(&orders[0], linking_to("http://target.test/")).await, Completed::LeaseLost);
    assert_eq!(rig.dump("one").await, "");
}
