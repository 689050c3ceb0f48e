//! Which capture has a payload (A16): bounded, and exact about what it names.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use std::sync::Arc;

use frontier::ports::{AnswerFacts, CaptureKey, Clock, Fetch, Report, StoredPayload};
use frontier::{Capture, Frontier, PAYLOAD_AGE_MAX};
use policy::catalog::Change;
use policy::model::Settings;
use policy::time::Span;
use store::Store;
use testkit::catalog::{collection, profile, put, seed};
use testkit::clock::{ManualClock, START};

struct World {
    frontier: Frontier,
    clock: Arc<ManualClock>,
}

/// With so many seeds on hosts of their own, all due.
async fn world(seeds: usize) -> World {
    let clock = Arc::new(ManualClock::at(START));
    let frontier = Frontier::new(Store::in_memory(1), Arc::clone(&clock) as Arc<dyn Clock>, 7);
    let mut changes: Vec<Change> =
        vec![put(Settings::default()), put(collection("all")), put(profile("once", "all"))];
    changes.extend((0..seeds).map(|n| {
        let url = format!("https://host{n}.test/");
        put(seed(&url, &url, &["once"]))
    }));
    frontier.declare(&changes).await.unwrap();
    frontier.start(&frontier::Target::Collection("all".into())).await.unwrap();
    World { frontier, clock }
}

/// What comes of an order that archives a payload.
fn harvest(
    url: &str,
    digest: &str,
    revisit: bool,
    now: policy::time::Time,
) -> (Report, Vec<(CaptureKey, Capture)>) {
    let facts = AnswerFacts { status: 200, digest: Some(digest.to_owned()), ..AnswerFacts::default() };
    let mut report = Report::bare(now, Fetch::Answer(facts));
    report.payloads.push(StoredPayload {
        url: url.to_owned(),
        capture: format!("stored {digest}"),
        digest: digest.to_owned(),
        chunked: false,
    });
    let capture = Capture {
        url: url.to_owned(),
        file: "f.warc.gz".into(),
        offset: 7,
        length: 1,
        status: 200,
        mime: None,
        digest: format!("stored {digest}"),
        revisit,
        ..Capture::default()
    };
    (report, vec![(CaptureKey { surt: url.to_owned(), time: now }, capture)])
}

/// Harvests one URL per digest; gives their URLs.
async fn archive(world: &World, digests: &[String], revisit: bool) -> Vec<String> {
    let mut urls = Vec::new();
    let orders = world.frontier.reserve(digests.len()).await.unwrap().orders;
    assert_eq!(orders.len(), digests.len());
    for (order, digest) in orders.iter().zip(digests) {
        let url = order.url.as_str().to_owned();
        let (report, captures) = harvest(&url, digest, revisit, world.clock.now());
        world.frontier.complete(order, &report, &captures).await.unwrap();
        world.clock.advance(Span(1));
        urls.push(url);
    }
    urls
}

async fn named(world: &World, digest: &str) -> Option<String> {
    world.frontier.payload("all", digest, false).await.unwrap().map(|(_, capture)| capture.url)
}

/// FNV-1a, modulo the places of a collection: worked out here on its own.
fn place(digest: &str) -> u32 {
    let hash = digest
        .bytes()
        .fold(2_166_136_261_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(16_777_619));
    hash % 262_144
}

#[tokio::test]
async fn a16_only_what_is_committed_and_no_revisit_is_named() {
    let world = world(3).await;
    let orders = world.frontier.reserve(1).await.unwrap().orders;
    let url = orders[0].url.as_str().to_owned();
    let (report, captures) = harvest(&url, "one", false, world.clock.now());
    assert_eq!(named(&world, "one").await, None, "archived, perhaps, but not committed");
    world.frontier.complete(&orders[0], &report, &captures).await.unwrap();
    assert_eq!(named(&world, "one").await, Some(url.clone()));
    for (collection, digest, chunked) in
        [("all", "one", true), ("other", "one", false), ("all", "two", false)]
    {
        assert_eq!(world.frontier.payload(collection, digest, chunked).await.unwrap(), None);
    }
    archive(&world, &["two".to_owned()], true).await;
    assert_eq!(named(&world, "two").await, None, "a revisit has no payload");
    // Whose lease was lost has not archived anything.
    let order = world.frontier.reserve(1).await.unwrap().orders.remove(0);
    world.clock.advance(Span::days(2));
    world.frontier.sweep().await.unwrap();
    let (report, captures) = harvest(order.url.as_str(), "three", false, world.clock.now());
    assert_eq!(
        world.frontier.complete(&order, &report, &captures).await.unwrap(),
        frontier::Completed::LeaseLost
    );
    assert_eq!(named(&world, "three").await, None);
}

#[tokio::test]
async fn a16_the_table_is_bounded_by_age() {
    let world = world(1).await;
    let urls = archive(&world, &["old".to_owned()], false).await;
    world.clock.advance(Span(PAYLOAD_AGE_MAX.0 - 1));
    assert_eq!(named(&world, "old").await.as_ref(), urls.first());
    world.clock.advance(Span(1));
    assert_eq!(named(&world, "old").await, None);
}

#[tokio::test]
async fn a16_the_table_is_bounded_by_size_and_the_eldest_of_a_place_goes() {
    let first = "d0".to_owned();
    let same_place = (1..).map(|n| format!("d{n}")).filter(|digest| place(digest) == place("d0"));
    let mut digests = vec![first];
    digests.extend(same_place.take(5));
    let world = world(digests.len() + 1).await;
    let urls = archive(&world, &digests, false).await;
    let mut found = Vec::new();
    for digest in &digests {
        found.push(named(&world, digest).await);
    }
    let kept = urls.iter().enumerate().map(|(n, url)| (n >= 2).then(|| url.clone()));
    assert_eq!(found, kept.collect::<Vec<_>>(), "the last four");
    // Stored anew, the same payload is named by its latest capture, and takes no second place.
    let again = archive(&world, &digests[2..3], false).await;
    assert_eq!(named(&world, &digests[2]).await.as_ref(), again.first());
    assert_eq!(named(&world, &digests[3]).await.as_ref(), urls.get(3));
}
