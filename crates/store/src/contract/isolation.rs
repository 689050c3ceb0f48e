//! Snapshot isolation: what a transaction sees, and which of two that meet must go.

use super::{Subject, put_all, range, value};
use crate::error::Error;
use crate::store::Store;
use crate::txn::{Order, Tx};

async fn keys(tx: &Tx, order: Order) -> Vec<String> {
    let page = tx.scan(&range("a", "z"), 100, order).await.unwrap();
    page.items.iter().map(|(key, _)| String::from_utf8(key.to_vec()).unwrap()).collect()
}

fn assert_conflict(outcome: &Result<(), Error>) {
    assert!(matches!(outcome, Err(Error::Conflict { .. })), "expected a conflict, got {outcome:?}");
}

async fn two(store: &Store) -> (Tx, Tx) {
    (store.begin().await.unwrap(), store.begin().await.unwrap())
}

pub fn reads_see_own_writes<S: Subject>() {
    let subject = S::fresh();
    S::run(async {
        put_all(subject.store(), &[("a", "1"), ("b", "1"), ("d", "1")]).await;
        let tx = subject.store().begin().await.unwrap();
        tx.put(*b"b", *b"2").unwrap();
        tx.put(*b"c", *b"2").unwrap();
        tx.delete(*b"d").unwrap();
        assert_eq!(value(&tx, "b").await.as_deref(), Some("2"));
        assert_eq!(value(&tx, "d").await, None);
        assert_eq!(keys(&tx, Order::Forward).await, ["a", "b", "c"]);
        assert_eq!(keys(&tx, Order::Backward).await, ["c", "b", "a"]);
        tx.put(*b"d", *b"3").unwrap();
        assert_eq!(value(&tx, "d").await.as_deref(), Some("3"));
    });
}

pub fn dirty_writes_are_not_read<S: Subject>() {
    let subject = S::fresh();
    S::run(async {
        let (writer, reader) = two(subject.store()).await;
        writer.put(*b"a", *b"dirty").unwrap();
        assert_eq!(value(&reader, "a").await, None);
        assert_eq!(value(&subject.store().begin().await.unwrap(), "a").await, None);
    });
}

pub fn reads_repeat<S: Subject>() {
    let subject = S::fresh();
    S::run(async {
        put_all(subject.store(), &[("a", "1"), ("b", "1")]).await;
        let reader = subject.store().begin().await.unwrap();
        assert_eq!(value(&reader, "a").await.as_deref(), Some("1"));
        put_all(subject.store(), &[("a", "2"), ("b", "2")]).await;
        assert_eq!(value(&reader, "a").await.as_deref(), Some("1"));
        assert_eq!(value(&reader, "b").await.as_deref(), Some("1"), "both from one moment");
    });
}

pub fn scans_ignore_later_inserts<S: Subject>() {
    let subject = S::fresh();
    S::run(async {
        put_all(subject.store(), &[("b", "1"), ("d", "1")]).await;
        let reader = subject.store().begin().await.unwrap();
        put_all(subject.store(), &[("a", "2"), ("c", "2"), ("e", "2")]).await;
        let gone = subject.store().begin().await.unwrap();
        gone.delete(*b"d").unwrap();
        subject.store().commit(&gone).await.unwrap();
        assert_eq!(keys(&reader, Order::Forward).await, ["b", "d"]);
    });
}

pub fn lost_updates_are_refused<S: Subject>() {
    let subject = S::fresh();
    S::run(async {
        put_all(subject.store(), &[("a", "1")]).await;
        let (one, two) = two(subject.store()).await;
        for tx in [&one, &two] {
            let seen = value(tx, "a").await.unwrap();
            tx.put(*b"a", format!("{seen}+").into_bytes()).unwrap();
        }
        subject.store().commit(&one).await.unwrap();
        assert_conflict(&subject.store().commit(&two).await);
        assert_eq!(value(&subject.store().begin().await.unwrap(), "a").await.as_deref(), Some("1+"));
    });
}

pub fn blind_writes_conflict_too<S: Subject>() {
    let subject = S::fresh();
    S::run(async {
        let (one, two) = two(subject.store()).await;
        one.put(*b"a", *b"1").unwrap();
        two.put(*b"a", *b"2").unwrap();
        two.put(*b"b", *b"2").unwrap();
        subject.store().commit(&one).await.unwrap();
        assert_conflict(&subject.store().commit(&two).await);
        assert_eq!(value(&subject.store().begin().await.unwrap(), "b").await, None, "all or nothing");
    });
}

pub fn deletes_conflict<S: Subject>() {
    let subject = S::fresh();
    S::run(async {
        put_all(subject.store(), &[("a", "1")]).await;
        let (one, two) = two(subject.store()).await;
        one.delete(*b"a").unwrap();
        two.put(*b"a", *b"2").unwrap();
        subject.store().commit(&one).await.unwrap();
        assert_conflict(&subject.store().commit(&two).await);
    });
}

/// Two transactions each read both keys and write the other one: both are committed, as on TiKV.
pub fn write_skew_happens<S: Subject>() {
    let subject = S::fresh();
    S::run(async {
        put_all(subject.store(), &[("a", "on call"), ("b", "on call")]).await;
        let (one, two) = two(subject.store()).await;
        for (tx, leaves) in [(&one, "a"), (&two, "b")] {
            assert_eq!(value(tx, "a").await.as_deref(), Some("on call"));
            assert_eq!(value(tx, "b").await.as_deref(), Some("on call"));
            tx.put(leaves.as_bytes(), *b"off").unwrap();
        }
        subject.store().commit(&one).await.unwrap();
        subject.store().commit(&two).await.expect("reads are not checked");
    });
}

pub fn a_lock_stops_write_skew<S: Subject>() {
    let subject = S::fresh();
    S::run(async {
        put_all(subject.store(), &[("a", "on call"), ("b", "on call")]).await;
        let (one, two) = two(subject.store()).await;
        for (tx, leaves, stays) in [(&one, "a", "b"), (&two, "b", "a")] {
            assert!(tx.lock(stays.as_bytes()).await.unwrap().is_some());
            tx.put(leaves.as_bytes(), *b"off").unwrap();
        }
        subject.store().commit(&one).await.unwrap();
        assert_conflict(&subject.store().commit(&two).await);
    });
}

pub fn locks_conflict_with_locks<S: Subject>() {
    let subject = S::fresh();
    S::run(async {
        let (one, two) = two(subject.store()).await;
        for (tx, own) in [(&one, "x"), (&two, "y")] {
            assert!(tx.lock(b"nowhere").await.unwrap().is_none());
            tx.put(own.as_bytes(), *b"1").unwrap();
        }
        subject.store().commit(&one).await.unwrap();
        assert_conflict(&subject.store().commit(&two).await);
        assert_eq!(
            value(&subject.store().begin().await.unwrap(), "nowhere").await,
            None,
            "a lock writes nothing"
        );
    });
}

/// A commit that only locks ends with the commit: those who begin after it can lock again.
pub fn locks_do_not_outlive_their_commit<S: Subject>() {
    let subject = S::fresh();
    S::run(async {
        for _ in 0..3 {
            let tx = subject.store().begin().await.unwrap();
            tx.lock(b"a").await.unwrap();
            tx.lock_unread(*b"b").unwrap();
            subject.store().commit(&tx).await.unwrap();
        }
    });
}

pub fn a_lock_keeps_an_own_write<S: Subject>() {
    let subject = S::fresh();
    S::run(async {
        let tx = subject.store().begin().await.unwrap();
        tx.put(*b"a", *b"1").unwrap();
        assert_eq!(tx.lock(b"a").await.unwrap().as_deref(), Some(&b"1"[..]));
        subject.store().commit(&tx).await.unwrap();
        assert_eq!(value(&subject.store().begin().await.unwrap(), "a").await.as_deref(), Some("1"));
    });
}

pub fn readers_never_conflict<S: Subject>() {
    let subject = S::fresh();
    S::run(async {
        put_all(subject.store(), &[("a", "1")]).await;
        let reader = subject.store().begin().await.unwrap();
        assert!(value(&reader, "a").await.is_some());
        put_all(subject.store(), &[("a", "2")]).await;
        subject.store().commit(&reader).await.unwrap();
    });
}

pub fn abandoned_transactions_leave_nothing<S: Subject>() {
    let subject = S::fresh();
    S::run(async {
        let abandoned = subject.store().begin().await.unwrap();
        abandoned.put(*b"a", *b"1").unwrap();
        let other = subject.store().begin().await.unwrap();
        drop(abandoned);
        other.put(*b"a", *b"2").unwrap();
        subject.store().commit(&other).await.expect("nobody committed in between");
        let failed = subject.store().transact(|tx| async move {
            tx.put(*b"b", *b"1")?;
            Err::<(), _>(Error::Corrupt("the closure gave up".into()))
        });
        assert!(matches!(failed.await, Err(Error::Corrupt(_))));
        assert_eq!(value(&subject.store().begin().await.unwrap(), "b").await, None);
    });
}

pub fn ended_transactions_are_spent<S: Subject>() {
    let subject = S::fresh();
    S::run(async {
        let tx = subject.store().begin().await.unwrap();
        tx.put(*b"a", *b"1").unwrap();
        subject.store().commit(&tx).await.unwrap();
        assert!(tx.put(*b"b", *b"1").is_err() && tx.get(b"a").await.is_err());
        assert!(subject.store().commit(&tx).await.is_err());
    });
}

pub fn commits_are_seen_by_the_next<S: Subject>() {
    let subject = S::fresh();
    S::run(async {
        for round in 0..200u32 {
            put_all(subject.store(), &[("a", &round.to_string())]).await;
            let seen = value(&subject.store().begin().await.unwrap(), "a").await;
            assert_eq!(seen, Some(round.to_string()));
        }
    });
}
