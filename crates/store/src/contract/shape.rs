//! Order, limits, scans and sizes.

use super::{Subject, range};
use crate::error::Error;
use crate::limits::{KEY_BYTES_MAX, SCAN_BYTES_MAX, VALUE_BYTES_MAX};
use crate::store::Store;
use crate::table::KeyRange;
use crate::txn::{Order, Tx};

/// An engine may count so much more for a key than its length, and no more.
const ROOM: usize = 1 << 10;

async fn commit_rows(store: &Store, rows: impl IntoIterator<Item = (Vec<u8>, Vec<u8>)>) {
    let mut tx = store.begin().await.unwrap();
    for (key, value) in rows {
        if tx.room() < key.len() + value.len() + ROOM {
            store.commit(&tx).await.unwrap();
            tx = store.begin().await.unwrap();
        }
        tx.put(key, value).unwrap();
    }
    store.commit(&tx).await.unwrap();
}

async fn all_keys(tx: &Tx, range: &KeyRange, limit: usize, order: Order) -> Vec<Vec<u8>> {
    let mut keys = Vec::new();
    let mut rest = Some(range.clone());
    while let Some(range) = rest {
        let page = tx.scan(&range, limit, order).await.unwrap();
        assert!(page.items.len() <= limit);
        keys.extend(page.items.iter().map(|(key, _)| key.to_vec()));
        rest = page.rest;
    }
    keys
}

pub fn keys_are_in_byte_order<S: Subject>() {
    let subject = S::fresh();
    let mut keys: Vec<Vec<u8>> = vec![
        b"a".to_vec(),
        b"a\0".to_vec(),
        b"a\0\0".to_vec(),
        b"aa".to_vec(),
        b"b".to_vec(),
        vec![0x7F],
        vec![0x80],
        vec![0xFF; 9],
    ];
    S::run(async {
        commit_rows(subject.store(), keys.iter().rev().map(|key| (key.clone(), key.clone()))).await;
        let tx = subject.store().begin().await.unwrap();
        let whole = KeyRange { from: vec![1], to: vec![0xFF; 10] };
        keys.sort();
        assert_eq!(all_keys(&tx, &whole, 100, Order::Forward).await, keys);
        keys.reverse();
        assert_eq!(all_keys(&tx, &whole, 100, Order::Backward).await, keys);
        assert_eq!(
            all_keys(&tx, &range("a\0", "aa"), 100, Order::Forward).await,
            [b"a\0".to_vec(), b"a\0\0".to_vec()]
        );
        assert!(
            all_keys(&tx, &range("b", "a"), 100, Order::Forward).await.is_empty(),
            "an inverted range is empty"
        );
    });
}

pub fn limits_are_told_and_exact<S: Subject>() {
    let subject = S::fresh();
    S::run(async {
        let tx = subject.store().begin().await.unwrap();
        let key = vec![b'k'; KEY_BYTES_MAX];
        tx.put(key.clone(), vec![b'v'; VALUE_BYTES_MAX]).unwrap();
        let too_long = vec![b'k'; KEY_BYTES_MAX + 1];
        let refused = [
            tx.put(too_long.clone(), *b"v"),
            tx.delete(too_long.clone()),
            tx.get(&too_long).await.map(drop),
            tx.lock(&too_long).await.map(drop),
            tx.put(*b"k", vec![0; VALUE_BYTES_MAX + 1]),
        ];
        for outcome in refused {
            let Err(Error::TooLarge { size, max, .. }) = outcome else { panic!("accepted: {outcome:?}") };
            assert_eq!(size, max + 1);
        }
        subject.store().commit(&tx).await.unwrap();
        let read = subject.store().begin().await.unwrap().get(&key).await.unwrap();
        assert_eq!(read.map(|value| value.len()), Some(VALUE_BYTES_MAX));

        let tx = subject.store().begin().await.unwrap();
        let (room, mut written) = (tx.room(), 0);
        let over = loop {
            match tx.put(format!("{written:08}").into_bytes(), vec![0; VALUE_BYTES_MAX]) {
                Ok(()) => written += 1,
                Err(over) => break over,
            }
        };
        assert!(matches!(over, Error::TooLarge { max, .. } if max == room), "{over}");
        let each = (room - tx.room()) / written;
        assert!((VALUE_BYTES_MAX + 8..VALUE_BYTES_MAX + 8 + ROOM).contains(&each), "{each} bytes a row");
        assert_eq!(written, room / each);
    });
}

pub fn scans_go_on_where_they_stopped<S: Subject>() {
    let subject = S::fresh();
    let number = |n: u32| n.to_be_bytes().to_vec();
    S::run(async {
        commit_rows(subject.store(), (0..500).map(|n| (number(n * 2), number(n)))).await;
        let tx = subject.store().begin().await.unwrap();
        // Own writes between, over and instead of the stored rows, also at the ends of pages.
        for n in (0..1000).step_by(7) {
            tx.put(number(n), number(n)).unwrap();
        }
        for n in (0..1000).step_by(10) {
            tx.delete(number(n)).unwrap();
        }
        let expected: Vec<Vec<u8>> =
            (0..1000).filter(|n| (n % 2 == 0 || n % 7 == 0) && n % 10 != 0).map(number).collect();
        let whole = KeyRange { from: number(0), to: number(1000) };
        for limit in [1, 2, 3, 17, 250, 1000] {
            assert_eq!(all_keys(&tx, &whole, limit, Order::Forward).await, expected, "limit {limit}");
            let mut backward = all_keys(&tx, &whole, limit, Order::Backward).await;
            backward.reverse();
            assert_eq!(backward, expected, "backward, limit {limit}");
        }
    });
}

pub fn long_scans_are_cut_by_bytes<S: Subject>() {
    let subject = S::fresh();
    S::run(async {
        let rows = 2 * SCAN_BYTES_MAX / (1 << 20);
        commit_rows(subject.store(), (0..rows).map(|n| (vec![u8::try_from(n).unwrap()], vec![7; 1 << 20])))
            .await;
        let tx = subject.store().begin().await.unwrap();
        let whole = KeyRange { from: vec![0], to: vec![0xFF] };
        let page = tx.scan(&whole, 10_000, Order::Forward).await.unwrap();
        assert!(page.items.len() < rows && page.rest.is_some(), "{} rows in one page", page.items.len());
        assert_eq!(all_keys(&tx, &whole, 10_000, Order::Forward).await.len(), rows);
    });
}

pub fn big_transactions_are_whole<S: Subject>() {
    const ROWS_MAX: u32 = 100_000;
    let subject = S::fresh();
    let rows = S::run(async {
        let tx = subject.store().begin().await.unwrap();
        let fits = |n: &u32| tx.room() > ROOM && tx.put(n.to_be_bytes(), vec![1; 50]).is_ok();
        let rows = (0..ROWS_MAX).take_while(fits).count();
        assert!(rows == ROWS_MAX as usize || tx.room() <= ROOM, "a row is refused though there is room");
        subject.store().commit(&tx).await.unwrap();
        rows
    });
    assert!(rows > 10_000, "a transaction of {rows} rows");
    let subject = subject.restart();
    S::run(async {
        let tx = subject.store().begin().await.unwrap();
        let whole = KeyRange { from: vec![0], to: vec![0xFF] };
        assert_eq!(all_keys(&tx, &whole, 5000, Order::Forward).await.len(), rows);
    });
}

pub fn multi_get_keeps_the_order_of_keys<S: Subject>() {
    let subject = S::fresh();
    S::run(async {
        commit_rows(subject.store(), [(b"a".to_vec(), b"1".to_vec()), (b"c".to_vec(), b"3".to_vec())]).await;
        let tx = subject.store().begin().await.unwrap();
        tx.put(*b"b", *b"2").unwrap();
        tx.delete(*b"c").unwrap();
        let found = tx.multi_get(&["c", "b", "missing", "a", "a"]).await.unwrap();
        let found: Vec<Option<&[u8]>> = found.iter().map(Option::as_deref).collect();
        assert_eq!(found, [None, Some(&b"2"[..]), None, Some(b"1"), Some(b"1")]);
        assert!(tx.multi_get::<&[u8]>(&[]).await.unwrap().is_empty());
    });
}

pub fn committed_is_kept_over_restart<S: Subject>() {
    let mut subject = S::fresh();
    for round in 0..5u8 {
        S::run(async {
            commit_rows(subject.store(), [(vec![b'k', round], vec![round])]).await;
            let open = subject.store().begin().await.unwrap();
            open.put(*b"never", *b"committed").unwrap();
        });
        subject = subject.restart();
        S::run(async {
            let tx = subject.store().begin().await.unwrap();
            let whole = KeyRange { from: vec![0], to: vec![0xFF] };
            let kept = all_keys(&tx, &whole, 100, Order::Forward).await;
            assert_eq!(kept, (0..=round).map(|n| vec![b'k', n]).collect::<Vec<_>>());
        });
    }
}
