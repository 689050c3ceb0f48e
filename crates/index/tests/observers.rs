//! The observers at work on a real store: many workers, stops in the middle, hot rows; and the dump
//! of what is too large to sort at once.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod common;

use std::path::Path;
use std::time::Duration;

use common::{Model, assert_same, dump, uri};
use index::schema::{COUNTS, Count, INLINKS, RANK, TOTALS};
use index::{Difference, Error, Index, Load, Page, Repair, Uri, Workers};
use policy::time::Time;
use store::contract::fresh;
use store::{OpenError, Options, Store};

type Links = Vec<(Uri, String)>;

/// Loads pages in one transaction, and notes them in the model.
async fn load_all(index: &Index, model: &mut Model, pages: &[(Uri, Links)]) {
    let made: Vec<Page> = pages.iter().map(|(_, links)| Page::new(links.clone())).collect();
    let loads: Vec<Load<'_>> =
        pages.iter().zip(&made).map(|((uri, _), page)| Load { uri, page: Some(page), at: Time(1) }).collect();
    let loads = &loads;
    index.store().transact(|tx| async move { index.load_many(&tx, loads).await }).await.unwrap();
    for (uri, links) in pages {
        let page = model.pages.entry(uri.as_str().to_owned()).or_default();
        page.clear();
        for (target, anchor) in links {
            page.entry(target.as_str().to_owned()).or_insert_with(|| anchor.clone());
        }
    }
}

fn random_pages(rng: &mut fastrand::Rng, count: usize) -> Vec<(Uri, Links)> {
    let url = |n: u32| uri(&format!("http://site{}.com/{n}", n % 13));
    let page = |rng: &mut fastrand::Rng| {
        let links = (0..rng.usize(0..20)).map(|_| (url(rng.u32(0..400)), format!("text {}", rng.u8(0..3))));
        links.collect::<Vec<_>>()
    };
    (0..count).map(|_| (url(rng.u32(0..300)), page(rng))).collect()
}

/// Tasks that were aborted let go of the store a little later.
async fn reopened(dir: &Path) -> Index {
    let store = loop {
        match Store::open(dir, &Options::default()) {
            Ok(store) => break store,
            Err(OpenError::InUse { .. }) => tokio::time::sleep(Duration::from_millis(10)).await,
            Err(error) => panic!("{error}"),
        }
    };
    Index::open(&store, "stopped").await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn x11_workers_that_are_stopped_anywhere_lose_and_double_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let mut model = Model::default();
    let mut rng = fastrand::Rng::with_seed(3);
    for _ in 0..4 {
        let index = reopened(dir.path()).await;
        let workers = Workers::new(&index, 3);
        let running = tokio::spawn(async move { workers.run(std::future::pending()).await });
        for _ in 0..15 {
            load_all(&index, &mut model, &random_pages(&mut rng, 8)).await;
            let others = index.clone();
            let stepped = tokio::spawn(async move { others.step(1).await });
            tokio::time::sleep(Duration::from_millis(rng.u64(0..3))).await;
            stepped.abort();
        }
        running.abort();
        let _ = running.await;
    }
    let index = reopened(dir.path()).await;
    index.to_rest().await.unwrap();
    assert_same(&dump(&index).await, &model.dump(), "after four stops");
    assert_eq!(index.verify(Repair::Report).await.unwrap().first, []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn x11_workers_bring_the_index_to_rest_by_themselves() {
    let index = Index::open(&fresh(0), "workers").await.unwrap();
    let mut model = Model::default();
    let mut rng = fastrand::Rng::with_seed(4);
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let workers = Workers::new(&index, 2);
    let running = tokio::spawn(async move { workers.run(async { drop(stopped.await) }).await });
    for _ in 0..20 {
        load_all(&index, &mut model, &random_pages(&mut rng, 10)).await;
    }
    let rested = async {
        while index.waiting(1).await.unwrap() > 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), rested).await.expect("it comes to rest");
    stop.send(()).unwrap();
    running.await.unwrap().unwrap();
    assert_same(&dump(&index).await, &model.dump(), "at rest");
}

#[tokio::test]
async fn x10_updates_of_a_hot_row_are_combined() {
    let index = Index::open(&fresh(0), "hot").await.unwrap();
    let mut model = Model::default();
    let hot = uri("http://hot.com/");
    for batch in 0..40 {
        let page =
            |n: u32| (uri(&format!("http://site{batch}.com/{n}")), vec![(hot.clone(), "hot".to_owned())]);
        load_all(&index, &mut model, &(0..50).map(page).collect::<Vec<_>>()).await;
    }
    let before = index.store().figures().commits;
    index.to_rest().await.unwrap();
    let commits = index.store().figures().commits - before;
    assert!(commits < 60, "{commits} commits for 2000 links to one page");
    assert_eq!(index.metrics().updates, 2000 + 2000, "links, and pages that are loaded");
    assert_eq!(index.metrics().conflicts, 0);
    assert_eq!(index.page(&hot).await.unwrap().unwrap().incount, 2000);
    assert_same(&dump(&index).await, &model.dump(), "hot");
}

#[tokio::test]
async fn x14_a_large_domain_is_dumped_in_the_order_of_bytes() {
    let index = Index::open(&fresh(0), "large").await.unwrap();
    let mut model = Model::default();
    // Page n has n links, so that every count from one to three digits occurs, in one domain of many
    // URIs.
    for n in 0..120u32 {
        let links = (0..n * 12).map(|m| (uri(&format!("http://www.large.com/{m}?a\\b")), String::new()));
        load_all(&index, &mut model, &[(uri(&format!("http://large.com/{n}")), links.collect())]).await;
    }
    index.to_rest().await.unwrap();
    let found = dump(&index).await;
    assert!(found.lines().is_sorted(), "sorted as bytes");
    assert_same(&found, &model.dump(), "large");
}

#[tokio::test]
async fn verify_finds_and_mends_what_is_wrong() {
    let index = Index::open(&fresh(0), "wrong").await.unwrap();
    let mut model = Model::default();
    load_all(&index, &mut model, &random_pages(&mut fastrand::Rng::with_seed(9), 50)).await;
    assert!(matches!(index.verify(Repair::Report).await, Err(Error::NotAtRest { .. })));
    index.to_rest().await.unwrap();
    let good = dump(&index).await;
    let harm = index.store().transact(|tx| async move {
        for (table, range) in [("inlink", INLINKS.range(())), ("rank", RANK.range(()))] {
            let first = tx.scan(&range, 1, store::Order::Forward).await?;
            let (key, _) = first.items.first().expect(table);
            tx.delete(key.clone())?;
        }
        COUNTS.put(&tx, (1, "com.invented/"), &Count { incount: 7, loaded: false }.into())?;
        TOTALS.delete(&tx, (1, 1, 0))
    });
    harm.await.unwrap();
    let report = index.verify(Repair::Write).await.unwrap();
    assert_eq!((report.differences, report.repaired), (4, 4), "{:?}", report.first);
    let kinds: Vec<&str> = report.first.iter().map(kind).collect();
    assert_eq!(
        kinds,
        ["missing index inlinks", "superfluous index counts", "missing index rank", "wrong index totals"]
    );
    assert_eq!(index.verify(Repair::Report).await.unwrap().first, []);
    assert_eq!(dump(&index).await, good);
    assert_eq!(index.totals().await.unwrap(), report.totals);
}

fn kind(difference: &Difference) -> &'static str {
    match difference {
        Difference::Missing { table: "index inlinks", .. } => "missing index inlinks",
        Difference::Missing { table: "index rank", .. } => "missing index rank",
        Difference::Superfluous { table: "index counts", .. } => "superfluous index counts",
        Difference::Wrong { table: "index totals", .. } => "wrong index totals",
        _ => "something else",
    }
}

/// The heaviest batches there can be, each link a target of its own: observers keep within the
/// limits of a transaction (A12).
#[tokio::test]
async fn a12_pages_full_of_the_longest_links_are_worked_in() {
    let index = Index::open(&fresh(1), "long").await.unwrap();
    let long = |page: usize, n: usize| {
        let head = format!("http://{page}.site.test/{n}/");
        uri(&format!("{head}{}", "z".repeat(index::URI_BYTES_MAX - 40 - head.len())))
    };
    let mut model = Model::default();
    for round in 0..2 {
        for page in 0..40 {
            let links = (0..520).map(|n| (long(page, n + 100 * round), "a".repeat(10))).collect();
            load_all(&index, &mut model, &[(uri(&format!("http://source.test/{page}")), links)]).await;
        }
        index.to_rest().await.unwrap();
    }
    assert_eq!(index.verify(Repair::Report).await.unwrap().differences, 0);
}
