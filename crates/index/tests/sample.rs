//! The sample of spec 4, and the edges of its rules.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod common;

use common::{dump, load, new_index, page, uri};
use index::{Index, Repair};
use policy::time::Time;

const SAMPLE: &str = include_str!("data/sample.tsv");

async fn sample() -> Index {
    let index = new_index().await;
    let pages = [
        ("http://a.com/page1", page(&[("http://c.com", "see c"), ("http://b.com", "b")])),
        ("http://b.com", page(&[("http://c.com/page1", "one"), ("http://c.com", "c")])),
        ("http://d.com", page(&[("http://c.com", "c\tagain\n")])),
    ];
    for (url, page) in &pages {
        load(&index, url, Some(page), 1000).await;
    }
    index.to_rest().await.unwrap();
    index
}

async fn score(index: &Index, url: &str) -> Option<u64> {
    index.page(&uri(url)).await.unwrap().map(|facts| facts.score)
}

#[tokio::test]
async fn x14_the_sample_comes_out() {
    let index = sample().await;
    assert_eq!(dump(&index).await, SAMPLE);
    let totals = index.totals().await.unwrap();
    assert_eq!((totals.uris, totals.loaded, totals.links, totals.domains), (5, 3, 5, 4));
    let report = index.verify(Repair::Report).await.unwrap();
    assert_eq!(report.first, []);
    assert_eq!(report.totals, totals);
}

#[tokio::test]
async fn x2_loading_the_same_page_again_changes_nothing() {
    let index = sample().await;
    let same = page(&[("http://c.com", "c\tagain\n")]);
    load(&index, "http://d.com", Some(&same), 1000).await;
    assert_eq!(index.waiting(10).await.unwrap(), 0, "nothing to do");
    load(&index, "http://d.com", Some(&same), 2000).await;
    assert_eq!(index.waiting(10).await.unwrap(), 0, "only the time is new");
    assert_eq!(index.page(&uri("http://d.com")).await.unwrap().unwrap().last_seen, Some(Time(2000)));
    assert_eq!(dump(&index).await, SAMPLE);
}

#[tokio::test]
async fn x2_a_load_that_waits_is_replaced_or_taken_back() {
    let index = sample().await;
    let (same, other) = (page(&[("http://c.com", "c\tagain\n")]), page(&[("http://e.com", "e")]));
    for pages in [[Some(&other), Some(&same)], [None, Some(&same)]] {
        for page in pages {
            load(&index, "http://d.com", page, 1000).await;
        }
        index.to_rest().await.unwrap();
        assert_eq!(dump(&index).await, SAMPLE);
    }
    load(&index, "http://new.com", Some(&other), 1000).await;
    load(&index, "http://new.com", None, 1000).await;
    index.to_rest().await.unwrap();
    assert_eq!(dump(&index).await, SAMPLE, "came and went before anybody looked");
}

#[tokio::test]
async fn x12_what_waits_is_counted_and_dated() {
    let index = sample().await;
    assert_eq!(index.waiting_since().await.unwrap(), None);
    load(&index, "http://e.com", Some(&page(&[("http://c.com", "")])), 7000).await;
    load(&index, "http://f.com", Some(&page(&[("http://c.com", "")])), 8000).await;
    assert_eq!(
        (index.waiting(10).await.unwrap(), index.waiting_since().await.unwrap()),
        (2, Some(Time(7000)))
    );
    while index.waiting_since().await.unwrap().is_some() {
        assert!(index.step(0).await.unwrap());
    }
    index.to_rest().await.unwrap();
    assert_eq!(index.waiting(10).await.unwrap(), 0);
}

#[tokio::test]
async fn x3_a_changed_anchor_is_an_update_and_not_a_new_link() {
    let index = sample().await;
    load(&index, "http://d.com", Some(&page(&[("http://c.com", "another text")])), 2000).await;
    index.to_rest().await.unwrap();
    assert_eq!(dump(&index).await, SAMPLE.replace("c\\tagain\\n", "another text"));
}

#[tokio::test]
async fn x4_a_deleted_page_takes_its_links_along() {
    let index = sample().await;
    for url in ["http://a.com/page1", "http://b.com", "http://d.com"] {
        load(&index, url, None, 2000).await;
    }
    index.to_rest().await.unwrap();
    assert_eq!(dump(&index).await, "");
    assert_eq!(index.totals().await.unwrap(), index::Totals::default());
}

#[tokio::test]
async fn x5_an_add_and_a_del_that_meet_cancel_out() {
    let index = sample().await;
    let (with, without) =
        (page(&[("http://c.com", "c"), ("http://z.com", "z")]), page(&[("http://c.com", "c\tagain\n")]));
    load(&index, "http://d.com", Some(&with), 2000).await;
    index.step(0).await.unwrap();
    load(&index, "http://d.com", Some(&without), 3000).await;
    index.step(0).await.unwrap();
    index.to_rest().await.unwrap();
    assert_eq!(dump(&index).await, SAMPLE);
}

#[tokio::test]
async fn x6_deleting_what_was_never_loaded_or_twice_changes_nothing() {
    let index = sample().await;
    for url in ["http://c.com", "http://nowhere.com/"] {
        load(&index, url, None, 2000).await;
        assert_eq!(index.waiting(10).await.unwrap(), 0);
    }
    load(&index, "http://d.com", None, 2000).await;
    index.to_rest().await.unwrap();
    let once = dump(&index).await;
    load(&index, "http://d.com", None, 3000).await;
    index.to_rest().await.unwrap();
    assert_eq!(dump(&index).await, once);
    assert_eq!(score(&index, "http://d.com").await, None, "no content, no inlinks: no row");
    assert_eq!(score(&index, "http://c.com").await, Some(2));
}

#[tokio::test]
async fn x6_a_page_without_links_counts_as_loaded() {
    let index = sample().await;
    load(&index, "http://d.com", Some(&page(&[])), 2000).await;
    load(&index, "http://c.com", Some(&page(&[])), 2000).await;
    index.to_rest().await.unwrap();
    assert_eq!(score(&index, "http://d.com").await, Some(1), "it lost its links and is still there");
    assert_eq!(score(&index, "http://c.com").await, Some(3), "two inlinks and itself");
    let facts = index.page(&uri("http://c.com")).await.unwrap().unwrap();
    assert_eq!((facts.incount, facts.loaded, facts.outlinks), (2, true, Some(0)));
}

#[tokio::test]
async fn x7_links_are_a_set_and_a_link_to_itself_counts() {
    let index = new_index().await;
    let links = [
        ("http://a.com/#top", "first"),
        ("http://a.com/", "second"),
        ("http://b.com/x#1", ""),
        ("http://b.com/x", "x"),
    ];
    load(&index, "http://a.com/", Some(&page(&links)), 1).await;
    index.to_rest().await.unwrap();
    let facts = index.page(&uri("http://a.com/")).await.unwrap().unwrap();
    assert_eq!((facts.incount, facts.score, facts.outlinks), (1, 2, Some(2)));
    let text = dump(&index).await;
    assert!(text.contains("p:com.a\tinlinks\tcom.a\tfirst\n"), "{text}");
    assert!(text.contains("p:com.b/x\tinlinks\tcom.a\t\n"), "the first text counts, empty or not: {text}");
}

#[tokio::test]
async fn x8_domains_by_private_suffix_and_address() {
    let index = new_index().await;
    let links = [
        ("http://one.github.io/", ""),
        ("http://two.github.io/", ""),
        ("http://127.0.0.1:8080/x", ""),
        ("https://www.a.co.uk/", ""),
        ("http://b.co.uk/", ""),
        ("http://co.uk/", ""),
    ];
    load(&index, "http://a.co.uk/", Some(&page(&links)), 1).await;
    index.to_rest().await.unwrap();
    let domains = index.top_domains(None, 100).await.unwrap().items;
    let domains: Vec<(&str, u64)> = domains.iter().map(|d| (d.domain.as_str(), d.pagecount)).collect();
    let expected = [
        ("uk.co.a", 2),
        ("127.0.0.1", 1),
        ("io.github.one", 1),
        ("io.github.two", 1),
        ("uk.co", 1),
        ("uk.co.b", 1),
    ];
    assert_eq!(domains, expected);
    assert_eq!(index.domain("uk.co.a").await.unwrap(), 2);
}

#[tokio::test]
async fn x13_indexes_of_one_store_do_not_see_each_other() {
    let first = sample().await;
    let second = Index::open(first.store(), "all").await.unwrap();
    load(&second, "http://x.com", Some(&page(&[("http://c.com", "")])), 1).await;
    second.to_rest().await.unwrap();
    assert_eq!(dump(&first).await, SAMPLE);
    assert_eq!(second.totals().await.unwrap().uris, 2);
    assert_eq!(Index::names(first.store()).await.unwrap(), ["all", "test"]);
    let again = Index::find(first.store(), "test").await.unwrap().unwrap();
    assert_eq!(dump(&again).await, SAMPLE);
    assert!(Index::find(first.store(), "none").await.unwrap().is_none());
    assert!(Index::open(first.store(), "").await.is_err());
}

#[tokio::test]
async fn x15_first_and_last_seen() {
    let index = new_index().await;
    let year = |n: i64| n * 1000;
    let (linking, changed) = (page(&[("http://c.com", "c")]), page(&[("http://c.com", "new text")]));
    load(&index, "http://old.com", Some(&linking), year(2020)).await;
    load(&index, "http://long.com", Some(&linking), year(2020)).await;
    index.to_rest().await.unwrap();
    load(&index, "http://long.com", Some(&linking), year(2024)).await;
    load(&index, "http://new.com", Some(&linking), year(2025)).await;
    load(&index, "http://text.com", Some(&linking), year(2023)).await;
    index.to_rest().await.unwrap();
    load(&index, "http://text.com", Some(&changed), year(2026)).await;
    index.to_rest().await.unwrap();
    let seen = |from: Option<i64>, to: Option<i64>| index::Seen { from: from.map(Time), to: to.map(Time) };
    let cases = [
        (seen(None, None), "com.long com.new com.old com.text"),
        (seen(Some(year(2024)), Some(year(2024) + 999)), "com.long com.text"),
        (seen(None, Some(year(2020))), "com.long com.old"),
        (seen(Some(year(2025)), None), "com.new com.text"),
        (seen(Some(year(2027)), None), ""),
    ];
    for (seen, expected) in cases {
        let links = index.inlinks(&uri("http://c.com"), seen, None, 10).await.unwrap().items;
        let sources: Vec<&str> = links.iter().map(|link| link.source.as_str()).collect();
        assert_eq!(sources.join(" "), expected, "{seen:?}");
    }
    let links = index.inlinks(&uri("http://c.com"), seen(None, None), None, 10).await.unwrap().items;
    let times: Vec<_> =
        links.iter().map(|l| (l.first_seen.0 / 1000, l.last_seen.0 / 1000, &*l.anchor)).collect();
    assert_eq!(times, [(2020, 2024, "c"), (2025, 2025, "c"), (2020, 2020, "c"), (2023, 2026, "new text")]);
}
