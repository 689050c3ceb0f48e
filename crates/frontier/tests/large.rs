//! Pages that do not fit (A12): nothing from the web ends the harvest.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod rig;

use frontier::State;
use frontier::ports::{CaptureKey, Order, PageNow};
use policy::model::Limits;
use policy::time::Time;
use rig::*;
use store::limits::{KEY_BYTES_MAX, TXN_BYTES_MAX};
use testkit::catalog::{put, seed};

/// A URL of nearly the greatest length.
fn long(host: &str, n: usize) -> String {
    let head = format!("https://{host}/{n}/");
    format!("{head}{}", "x".repeat(2990 - head.len()))
}

fn seeds(count: usize) -> Vec<String> {
    (0..count).map(|n| format!("https://host{n}.test/")).collect()
}

/// Each seed's page has so many long links, to a place of their own; they are found due long after
/// the test.
fn world(hosts: usize) -> World {
    World {
        seeds: seeds(hosts),
        limits: Limits { max_outlinks: 100_000, ..Limits::default() },
        ..World::default()
    }
}

fn page(order: &Order, links: usize) -> Reply {
    match order.url.path() {
        "/" => answered(200, (0..links).map(|n| long(&order.host, n))),
        _ => answered(200, []),
    }
}

#[tokio::test(start_paused = true)]
async fn a12_pages_that_are_too_large_together_are_committed_apart() {
    let links = 3000;
    let mut world = world(6);
    world.end.max_harvests = Some(6);
    let rig = world.rig(move |order, _| page(order, links)).await;
    let tally = run(&rig).await.unwrap();
    assert_eq!((tally.harvests, tally.captures, tally.added), (6, 6, 6 * links as u64));
    assert!(6 * links * 2 * 2990 > TXN_BYTES_MAX, "they do not fit together");
    assert_eq!(rows(&rig).await.len(), 6 + 6 * links, "no link is lost");
    is_sound(&rig).await;
}

#[tokio::test(start_paused = true)]
async fn a12_a_page_that_is_too_large_keeps_as_many_links_as_fit_and_says_so() {
    let links = 20_000;
    let mut world = world(2);
    world.length = None;
    world.end.max_harvests = Some(2);
    let rig = world.rig(move |order, _| page(order, links)).await;
    let tally = run(&rig).await.unwrap();
    assert_eq!((tally.harvests, tally.captures), (2, 2));
    let rows = rows(&rig).await;
    for seed in seeds(2) {
        let row = &rows[&seed];
        let kept = rows.keys().filter(|url| url.starts_with(&seed) && **url != seed).count();
        // Each takes its place in the queue and its record: about 6 kB, of which 48 MB fit beside
        // everything else.
        assert!((7000..links).contains(&kept), "{kept} links kept");
        assert_eq!(row.state, State::Queued);
        let record = row.record.as_ref().unwrap();
        assert_eq!(record.errors, 0);
        let problem = record.problem.as_ref().unwrap();
        assert!(problem.starts_with(&format!("{kept} of its {links} links were taken in")), "{problem}");
    }
    is_sound(&rig).await;
}

/// Hosts take rows of their own, and so do the pages of the link index.
#[tokio::test(start_paused = true)]
async fn a12_links_to_many_hosts_and_the_hand_over_to_the_index_fit_too() {
    let mut world = world(8);
    world.index = true;
    world.settings.index_across = true;
    world.end.max_harvests = Some(8);
    let name = |order: &Order, n| format!("{n}.{}.{}.test", order.host.replace('.', "-"), "h".repeat(60));
    let rig = world.rig(move |order, _| {
        let mut reply = answered(200, (0..20_000).map(|n| format!("https://{}/", name(order, n))));
        let mut page = index::PageBuilder::default();
        for n in 0..1000 {
            page.link(&format!("https://{n}.test/{}", "y".repeat(1900)), "text");
        }
        reply.report.page = Some(PageNow::Links(page.finish().0));
        reply
    });
    let rig = rig.await;
    let tally = run(&rig).await.unwrap();
    assert_eq!((tally.harvests, tally.captures), (8, 8));
    assert!(tally.added > 8 * 15_000, "{tally:?}");
    is_sound(&rig).await;
    for name in ["all", frontier::INDEX_ACROSS] {
        let index = rig.frontier.index(name).await.unwrap();
        index.to_rest().await.unwrap();
        assert_eq!(index.verify(index::Repair::Report).await.unwrap().differences, 0);
    }
}

/// Escapes make its SURT key thrice as long as the URL, which a key of the store cannot be.
#[tokio::test(start_paused = true)]
async fn a12_a_capture_whose_key_is_too_long_is_found_again() {
    let url = format!("https://host0.test/?{}", "%".repeat(2900));
    let surt = format!("test,host0)/?{}", "%25".repeat(2900));
    assert!(surt.len() > KEY_BYTES_MAX);
    let rig = World::default().rig(|_, _| answered(200, [])).await;
    rig.frontier.declare(&[put(seed("long", &url, &["once"]))]).await.unwrap();
    rig.frontier.start_new().await.unwrap();
    let order = rig.frontier.reserve(1).await.unwrap().orders.remove(0);
    let report = answered(200, []).report;
    let capture = frontier::Capture {
        url: url.clone(),
        file: "shelf".into(),
        offset: 0,
        length: 1,
        status: 200,
        mime: None,
        digest: String::new(),
        revisit: false,
        ..frontier::Capture::default()
    };
    let key = CaptureKey { surt: surt.clone(), time: Time(7) };
    rig.frontier.complete(&order, &report, &[(key, capture)]).await.unwrap();
    let found = rig.frontier.original("all", &surt, &url).await.unwrap();
    assert_eq!(found.map(|(time, row)| (time, row.url)), Some((Time(7), url)));
}
