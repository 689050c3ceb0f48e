//! Leases that are renewed (F6), in the frontier's own rows.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod bench;

use bench::*;
use frontier::Completed;
use policy::catalog::Change;
use policy::model::{HostGroup, Politeness};
use policy::time::Span;

/// Two hosts of a group that takes both at once, and one on its own.
fn grouped() -> Vec<Change> {
    let mut changes = basic();
    changes.extend([
        Change::PutSeed(seed("b", "https://b.no/", &["daily"])),
        Change::PutSeed(seed("c", "https://c.no/", &["daily"])),
        Change::PutGroup(HostGroup {
            name: "group:one".into(),
            hosts: vec!["a.no".into(), "b.no".into()],
            politeness: Politeness { min: Span::ZERO, max: Span::ZERO, parallel: 2, ..Politeness::default() },
            ..HostGroup::default()
        }),
    ]);
    changes
}

#[test]
fn f6_a_lease_that_is_renewed_is_not_taken_back() {
    both(|b| async move {
        b.declare(grouped()).await;
        b.start("news").await;
        let mut orders = b.reserve(10).await;
        orders.extend(b.reserve(10).await);
        assert_eq!(orders.len(), 3);
        for _ in 0..10 {
            b.pass(Span::minutes(20));
            let renewed = b.frontier.renew(&orders.iter().collect::<Vec<_>>()).await.unwrap();
            let until = b.frontier.now().plus(Span::minutes(30));
            assert_eq!(renewed, vec![Some(until); 3]);
            b.sound().await;
            assert_eq!(b.frontier.sweep().await.unwrap().leases, 0);
        }
        for order in &orders {
            assert!(matches!(b.answer(order, 200, &[]).await, Completed::Done(_)));
        }
        let (captures, _) = b.frontier.captures("news", None, 10).await.unwrap();
        assert_eq!(captures.len(), 3);
    });
}

#[test]
fn f6_what_was_taken_back_is_not_brought_to_life_again() {
    both(|b| async move {
        b.declare(grouped()).await;
        b.start("news").await;
        let mut orders = b.reserve(10).await;
        orders.extend(b.reserve(10).await);
        b.pass(Span::minutes(20));
        let living: Vec<_> = orders.iter().filter(|order| order.host != "a.no").collect();
        b.frontier.renew(&living).await.unwrap();
        b.pass(Span::minutes(20));
        assert_eq!(b.frontier.sweep().await.unwrap().leases, 1, "the dead worker loses its own");
        let all: Vec<_> = orders.iter().collect();
        let renewed = b.frontier.renew(&all).await.unwrap();
        b.sound().await;
        for (order, renewed) in orders.iter().zip(renewed) {
            assert_eq!(renewed.is_some(), order.host != "a.no", "{}", order.host);
            let completed = b.answer(order, 200, &[]).await;
            assert_eq!(completed == Completed::LeaseLost, order.host == "a.no", "{}", order.host);
        }
    });
}
