//! A store copied to another one: whatever stops it, the next run goes on, and nothing that differs
//! goes unnoticed.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use std::collections::BTreeMap;
use std::path::Path;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use proptest::prelude::*;
use store::contract::upgrading::{self, fill_bare, verify_upgraded};
use store::copy::{Amount, CopyError, Stage, copy};
use store::limits::{KEY_BYTES_MAX, VALUE_BYTES_MAX};
use store::table::{KeyRange, Table};
use store::{Error, Faults, OpenError, Options, Order, Place, Store};
use tempfile::TempDir;

type Rows = BTreeMap<Vec<u8>, Vec<u8>>;

/// Where a copy says what it is; whatever its value.
const MARK: Table<(String,), u8> = Table::new(0, "copy");

const PAUSES: Faults =
    Faults { conflict: 0.0, undetermined: 0.0, unavailable: 0.0, pause: 1.0, round_trip_us: (0, 0) };
const NONE: Faults = Faults { pause: 0.0, ..PAUSES };
/// Little more than the mark takes.
const SMALL: usize = KEY_BYTES_MAX + 450;

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
}

/// What an in-memory store does without pauses is done at once.
fn at_once<T>(future: impl Future<Output = T>) -> T {
    match poll(pin!(future)) {
        Poll::Ready(done) => done,
        Poll::Pending => panic!("it waits"),
    }
}

fn poll<T>(future: Pin<&mut impl Future<Output = T>>) -> Poll<T> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// Lets it run to that many places where it could be killed, and kills it.
fn killed_after<T>(polls: usize, future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    (0..polls).find_map(|_| match poll(future.as_mut()) {
        Poll::Ready(done) => Some(done),
        Poll::Pending => None,
    })
}

async fn put(store: &Store, rows: &Rows) {
    for (key, value) in rows {
        let tx = store.begin().await.unwrap();
        tx.put(key.as_slice(), value.as_slice()).unwrap();
        store.commit(&tx).await.unwrap();
    }
}

async fn rows_of(store: &Store) -> Rows {
    let tx = store.begin().await.unwrap();
    let mut rows = Rows::new();
    let mut rest = Some(KeyRange { from: Vec::new(), to: vec![0xFF; KEY_BYTES_MAX + 1] });
    while let Some(range) = rest {
        let page = tx.scan(&range, 1000, Order::Forward).await.unwrap();
        rows.extend(page.items.iter().map(|(key, value)| (key.to_vec(), value.to_vec())));
        rest = page.rest;
    }
    rows
}

fn some_rows(count: u8) -> Rows {
    (0..count).map(|n| (vec![1 + n % 3, n], vec![n; usize::from(n) * 5])).collect()
}

fn amount(rows: &Rows) -> Amount {
    let bytes = rows.iter().map(|(key, value)| (key.len() + value.len()) as u64).sum();
    Amount { rows: rows.len() as u64, bytes }
}

/// An in-memory source with those rows, and an empty target with small transactions.
fn stores(rows: &Rows, seed: u64) -> (Store, Store) {
    let (from, to) = (Store::in_memory(seed), Store::in_memory(seed + 1));
    at_once(put(&from, rows));
    to.limit_transactions(SMALL).unwrap();
    (from, to)
}

/// With a mark it is not finished; without one it is all or nothing.
fn assert_is_marked_or_whole(to: &Store, rows: &Rows) {
    let mut found = at_once(rows_of(to));
    match found.remove(&MARK.key(("copy",))) {
        Some(_) => assert!(found.iter().all(|(key, value)| rows.get(key) == Some(value))),
        None => assert!(found.is_empty() || found == *rows, "{} rows without a mark", found.len()),
    }
}

#[test]
fn m12_a_copy_that_is_killed_goes_on_at_every_moment_it_can_be_killed_in() {
    let rows = some_rows(40);
    let mut steps_seen = 0;
    for polls in 0.. {
        let (from, to) = stores(&rows, 1);
        from.inject(PAUSES).unwrap();
        to.inject(PAUSES).unwrap();
        let mut steps = 0;
        let ended = killed_after(polls, copy(&from, "a", &to, |_| steps += 1)).is_some();
        steps_seen = steps_seen.max(steps);
        for store in [&from, &to] {
            store.crash().unwrap();
            store.inject(NONE).unwrap();
        }
        assert_is_marked_or_whole(&to, &rows);
        match at_once(copy(&from, "a", &to, |_| ())) {
            Ok(copied) => assert_eq!(copied, amount(&rows)),
            Err(CopyError::Occupied) => {}
            Err(error) => panic!("killed after {polls}: {error}"),
        }
        assert_eq!(at_once(rows_of(&to)), rows, "killed after {polls}");
        if ended {
            break;
        }
    }
    assert!(steps_seen > 10, "{steps_seen} transactions are too few to be killed between");
}

#[test]
fn m12_what_is_copied_is_not_copied_again() {
    let rows = some_rows(60);
    let (from, to) = stores(&rows, 1);
    let copied = |stage| match stage {
        Stage::Copied(amount) => amount.rows,
        Stage::Compared(_) => 0,
    };
    let mut before = 0;
    let told = |stage| {
        before = copied(stage);
        if before > 20 {
            from.inject(Faults { unavailable: 1.0, ..NONE }).unwrap();
        }
    };
    let stopped = run(copy(&from, "a", &to, told));
    assert!(matches!(stopped, Err(CopyError::Store(Error::Unavailable { .. }))), "{stopped:?}");
    from.inject(NONE).unwrap();
    let mut first = None;
    at_once(copy(&from, "a", &to, |stage| first = first.or(Some(copied(stage))))).unwrap();
    assert!(first.unwrap() > before && before > 20, "{first:?} after {before}");
}

#[test]
fn m12_a_copy_comes_through_faults_crashes_and_power_cuts() {
    let rows = some_rows(50);
    for seed in 0..200 {
        let (from, to) = stores(&rows, seed);
        let faults = Faults { conflict: 0.1, undetermined: 0.2, unavailable: 0.2, ..NONE };
        from.inject(faults).unwrap();
        to.inject(faults).unwrap();
        let mut stopped = 0;
        loop {
            match run(copy(&from, "a", &to, |_| ())) {
                // A run that got no answer to its last commit had come to the end.
                Ok(_) | Err(CopyError::Occupied) => break,
                Err(CopyError::Store(Error::Unavailable { .. } | Error::Undetermined(_))) => {}
                Err(error) => panic!("seed {seed}: {error}"),
            }
            stopped += 1;
            assert!(stopped < 1000, "seed {seed}");
            from.crash().unwrap();
            to.power_cut().unwrap();
        }
        to.inject(NONE).unwrap();
        assert_eq!(at_once(rows_of(&to)), rows, "seed {seed}");
    }
}

/// Runs `meddle` once, when everything is copied and nothing compared yet.
fn copy_and(from: &Store, to: &Store, rows: u64, meddle: impl Fn()) -> Result<Amount, CopyError> {
    let told = |stage| {
        if matches!(stage, Stage::Copied(amount) if amount.rows == rows) {
            meddle();
        }
    };
    at_once(copy(from, "a", to, told))
}

/// Removes one row, changes one, and adds one.
fn alter(store: &Store) {
    let tx = at_once(store.begin()).unwrap();
    tx.delete([1, 3]).unwrap();
    tx.put([2, 1], *b"another").unwrap();
    tx.put([9, b'x', 0xFE], *b"new").unwrap();
    at_once(store.commit(&tx)).unwrap();
}

fn differences(copied: Result<Amount, CopyError>) -> Vec<String> {
    let Err(CopyError::Different(found)) = copied else { panic!("not found: {copied:?}") };
    assert_eq!(found.count, found.named.len() as u64);
    found.named.iter().map(ToString::to_string).collect()
}

#[test]
fn m12_rows_that_are_altered_behind_its_back_are_named_and_mended() {
    let rows = some_rows(60);
    let (from, to) = stores(&rows, 1);
    let found = differences(copy_and(&from, &to, 60, || alter(&to)));
    assert_eq!(
        found,
        [
            r"a row of table 1 is missing in the copy: its key is \x01\x03",
            r"a row of table 2 has another value in the copy: its key is \x02\x01",
            r"a row of table 9 is in the copy and not in the source: its key is \tx\xfe",
        ]
    );
    assert_is_unfinished(&to);
    assert_eq!(at_once(copy(&from, "a", &to, |_| ())).unwrap(), amount(&rows));
    assert_eq!(at_once(rows_of(&to)), rows);
}

fn assert_is_unfinished(to: &Store) {
    assert!(at_once(rows_of(to)).contains_key(&MARK.key(("copy",))), "the mark is gone");
}

#[test]
fn m12_a_source_that_somebody_writes_to_meanwhile_is_found_out() {
    let (from, to) = stores(&some_rows(60), 1);
    let found = differences(copy_and(&from, &to, 60, || alter(&from)));
    assert_eq!(found.len(), 3, "{found:?}");
    assert_is_unfinished(&to);
    at_once(copy(&from, "a", &to, |_| ())).unwrap();
    assert_eq!(at_once(rows_of(&to)), at_once(rows_of(&from)));
}

#[test]
fn m12_many_differences_are_counted_and_the_first_are_named() {
    let rows: Rows = (0..3000u16).map(|n| ([&[7][..], &n.to_be_bytes()].concat(), vec![1])).collect();
    let (from, to) = (Store::in_memory(1), Store::in_memory(2));
    at_once(put(&from, &rows));
    let clear = || {
        let tx = at_once(to.begin()).unwrap();
        rows.keys().skip(500).for_each(|key| tx.delete(key.as_slice()).unwrap());
        at_once(to.commit(&tx)).unwrap();
    };
    let Err(CopyError::Different(found)) = copy_and(&from, &to, 3000, clear) else { panic!("not found") };
    assert_eq!((found.count, found.named.len()), (2500, 100));
    assert_eq!(CopyError::Different(found).to_string(), "2500 rows differ");
}

#[test]
fn m12_a_place_where_something_is_is_refused_and_left_alone() {
    let (from, to) = stores(&some_rows(5), 1);
    let foreign: Rows = [(vec![0xFF, 1], b"x".to_vec())].into();
    at_once(put(&to, &foreign));
    let refused = at_once(copy(&from, "a", &to, |_| ()));
    assert!(matches!(refused, Err(CopyError::Occupied)), "{refused:?}");
    assert_eq!(at_once(rows_of(&to)), foreign);
}

/// A copy of `a` that was killed in the middle.
fn unfinished() -> (Store, Store) {
    let (from, to) = stores(&some_rows(60), 1);
    to.inject(PAUSES).unwrap();
    assert!(killed_after(30, copy(&from, "a", &to, |_| ())).is_none());
    to.inject(NONE).unwrap();
    assert_is_unfinished(&to);
    (from, to)
}

#[test]
fn m12_an_unfinished_copy_of_another_store_is_refused_and_left_alone() {
    let (from, to) = unfinished();
    let before = at_once(rows_of(&to));
    let refused = at_once(copy(&from, "b", &to, |_| ())).expect_err("went on");
    assert_eq!(
        refused.to_string(),
        "an unfinished copy of a is there: go on with that one, or choose another place"
    );
    assert_eq!(at_once(rows_of(&to)), before);
    let copied_on = at_once(copy(&to, "c", &Store::in_memory(7), |_| ())).expect_err("copied");
    assert_eq!(copied_on.to_string(), "it is itself an unfinished copy, of a");
}

#[test]
fn m12_of_two_that_copy_to_one_place_the_first_gives_way() {
    let (from, to) = unfinished();
    to.inject(PAUSES).unwrap();
    let mut first = pin!(copy(&from, "a", &to, |_| ()));
    for _ in 0..6 {
        assert!(poll(first.as_mut()).is_pending());
    }
    to.inject(NONE).unwrap();
    assert!(killed_after(1, copy(&from, "a", &to, |_| to.inject(PAUSES).unwrap())).is_none());
    to.inject(NONE).unwrap();
    let Poll::Ready(Err(gone)) = poll(first) else { panic!("it went on") };
    assert_eq!(gone.to_string(), "the store is unavailable: another process copies to it");
}

#[test]
fn m12_a_row_that_no_transaction_has_room_for_is_told() {
    let (from, to) = stores(&[(vec![1], vec![0; SMALL])].into(), 1);
    let refused = at_once(copy(&from, "a", &to, |_| ()));
    assert!(matches!(refused, Err(CopyError::Store(Error::TooLarge { .. }))), "{refused:?}");
}

fn place(dir: &Path) -> Place {
    Place::parse(dir).unwrap()
}

fn options() -> Options {
    Options { disk_reserve_bytes: 0, ..Options::default() }
}

#[test]
fn m12_an_unfinished_copy_is_opened_by_nobody_else() {
    let dir = TempDir::new().unwrap();
    let from = Store::in_memory(1);
    let rows = some_rows(60);
    run(async {
        put(&from, &rows).await;
        let to = place(dir.path()).open_for_copy(&options()).unwrap();
        let stop = |_| from.inject(Faults { unavailable: 1.0, ..NONE }).unwrap();
        copy(&from, "/data/a", &to, stop).await.expect_err("it came to its end");
    });
    let told = format!(
        "{} is an unfinished copy of /data/a: the same `skurd store copy` again goes on with it",
        dir.path().display()
    );
    for open in [Store::open, Store::open_existing, Store::open_anew] {
        assert_eq!(open(dir.path(), &options()).expect_err("opened").to_string(), told);
    }
    run(async {
        from.inject(NONE).unwrap();
        let to = place(dir.path()).open_for_copy(&options()).unwrap();
        copy(&from, "/data/a", &to, |_| ()).await.unwrap();
    });
    let store = Store::open_existing(dir.path(), &options()).unwrap();
    assert_eq!(run(rows_of(&store)), rows);
}

#[test]
fn m12_a_store_of_an_older_format_is_no_place_to_copy_to_and_is_not_upgraded() {
    let dir = TempDir::new().unwrap();
    drop(Store::open(dir.path(), &options()).unwrap());
    std::fs::write(dir.path().join("FORMAT"), "skurd-store 1\n").unwrap();
    let refused = place(dir.path()).open_for_copy(&options()).expect_err("opened");
    assert!(matches!(refused, OpenError::Occupied { .. }), "{refused}");
    assert_eq!(std::fs::read_to_string(dir.path().join("FORMAT")).unwrap(), "skurd-store 1\n");
}

#[test]
fn m12_an_upgrade_that_is_under_way_goes_on_in_the_copy() {
    let (old, new) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    run(async {
        fill_bare(&Store::open(old.path(), &options()).unwrap(), 3000).await;
        std::fs::write(old.path().join("FORMAT"), "skurd-store 1\n").unwrap();
        // Who does not know the steps of the tables leaves them undone.
        let from = place(old.path()).open_existing(&options()).unwrap();
        let to = place(new.path()).open_for_copy(&options()).unwrap();
        copy(&from, "a", &to, |_| ()).await.unwrap();
        drop(to);
        verify_upgraded(&Store::open(new.path(), &upgrading::options()).unwrap(), 3000).await;
    });
}

#[test]
fn m12_places_are_directories_or_addresses() {
    let dir = TempDir::new().unwrap();
    let same = |one: &str, other: &str| place(Path::new(one)).is_same(&place(Path::new(other)));
    let name = dir.path().to_str().unwrap();
    assert!(same(name, &format!("{name}/../{}", dir.path().file_name().unwrap().to_str().unwrap())));
    assert!(!same(name, &format!("{name}/below")) && !same(name, "tikv://pd:1/a"));
    assert!(same("tikv://a:1,b:1/x", "tikv://b:1/x?gc=off") && !same("tikv://a:1/x", "tikv://a:1/y"));
    assert!(Place::parse(Path::new("tikv://nothing")).is_err());
    let missing = place(&dir.path().join("nowhere")).open_existing(&options());
    assert!(matches!(missing, Err(OpenError::Io { .. })) && !dir.path().join("nowhere").exists());
    #[cfg(not(feature = "tikv"))]
    {
        let refused = place(Path::new("tikv://pd:1/a")).open_existing(&options()).expect_err("opened");
        assert_eq!(
            refused.to_string(),
            "tikv://pd:1/a is on a cluster, and this skurd was built without the feature `tikv`"
        );
    }
}

fn key() -> impl Strategy<Value = Vec<u8>> {
    let short = proptest::collection::vec(prop_oneof![Just(0u8), Just(0xFF), any::<u8>()], 1..6);
    prop_oneof![9 => short, 1 => Just(vec![0xFF; KEY_BYTES_MAX])]
}

/// Mostly small ones, and some that are nearly as large as can be.
fn value() -> impl Strategy<Value = Vec<u8>> {
    let size = prop_oneof![
        20 => 0..200usize,
        3 => 10_000..20_000usize,
        1 => VALUE_BYTES_MAX - 3..=VALUE_BYTES_MAX,
    ];
    (size, any::<u8>()).prop_map(|(size, byte)| vec![byte; size])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// From a data directory to an engine with small transactions, and back to another directory.
    #[test]
    fn m12_there_and_back_it_is_the_same(rows in proptest::collection::btree_map(key(), value(), 0..60)) {
        let (old, new) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        run(async {
            let from = Store::open(old.path(), &options()).unwrap();
            put(&from, &rows).await;
            let between = Store::in_memory(1);
            between.limit_transactions(8 << 20).unwrap();
            let there = copy(&from, "a", &between, |_| ()).await.unwrap();
            let to = place(new.path()).open_for_copy(&options()).unwrap();
            let back = copy(&between, "b", &to, |_| ()).await.unwrap();
            drop(to);
            let to = Store::open_existing(new.path(), &options()).unwrap();
            assert_eq!((there, back), (amount(&rows), amount(&rows)));
            assert!(rows_of(&between).await == rows && rows_of(&to).await == rows);
        });
    }
}
