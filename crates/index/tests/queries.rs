//! X12, X15: paging equals a sort of everything, and cursors stand still while things change.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod common;

use common::{load, new_index, uri};
use index::{By, Error, Index, Listing, Page, RankedPage, Seen, Uri};

const SITES: u64 = 7;
const PAGES: u64 = 40;

fn url(n: u64) -> String {
    format!("http://www.site{}.com/{}", n % SITES, n / SITES)
}

/// A web with many ties: page n links to a few low numbers, and some are never loaded.
async fn web() -> Index {
    let index = new_index().await;
    let mut rng = fastrand::Rng::with_seed(7);
    for n in 0..PAGES {
        let links = (0..rng.u64(0..8)).map(|_| {
            let target = rng.u64(0..PAGES * 2).min(rng.u64(0..PAGES * 2));
            (uri(&url(target)), format!("to {target}"))
        });
        load(&index, &url(n), Some(&Page::new(links.collect::<Vec<_>>())), n.cast_signed()).await;
    }
    index.to_rest().await.unwrap();
    index
}

/// Everything, page by page.
async fn all<T, F>(limit: usize, mut query: F) -> Vec<T>
where
    F: AsyncFnMut(Option<&str>, usize) -> Result<Listing<T>, Error>,
{
    let mut items = Vec::new();
    let mut after = None;
    loop {
        let page = query(after.as_deref(), limit).await.unwrap();
        assert!(page.items.len() <= limit);
        items.extend(page.items);
        match page.next {
            Some(next) => after = Some(next),
            None => return items,
        }
    }
}

#[tokio::test]
async fn x9_x12_lists_go_down_and_their_pages_are_the_list() {
    let index = web().await;
    let everything = all(1000, async |after, limit| index.top(By::Score, after, limit).await).await;
    assert_eq!(everything.len() as u64, index.totals().await.unwrap().uris);
    let sorted = |by: fn(&RankedPage) -> u64, keep: fn(&RankedPage) -> bool| {
        let mut pages: Vec<RankedPage> = everything.iter().filter(|page| keep(page)).cloned().collect();
        pages.sort_by(|a, b| by(b).cmp(&by(a)).then_with(|| a.uri.cmp(&b.uri)));
        pages
    };
    for limit in [1, 3, 7, 1000] {
        let score = all(limit, async |after, limit| index.top(By::Score, after, limit).await).await;
        assert_eq!(score, sorted(|page| page.score, |_| true));
        let incount = all(limit, async |after, limit| index.top(By::Incount, after, limit).await).await;
        assert_eq!(incount, sorted(|page| page.incount, |page| page.incount > 0));
        let missing = all(limit, async |after, limit| index.missing(after, limit).await).await;
        assert_eq!(missing, sorted(|page| page.incount, |page| !page.loaded));
        let domains = all(limit, async |after, limit| index.top_domains(after, limit).await).await;
        assert_eq!(domains.len() as u64, SITES);
        assert!(domains.is_sorted_by(|a, b| (b.pagecount, &a.domain) <= (a.pagecount, &b.domain)));
        let mut in_domains = 0;
        for domain in &domains {
            let pages =
                all(limit, async |after, limit| index.domain_pages(&domain.domain, after, limit).await).await;
            assert_eq!(pages.len() as u64, domain.pagecount);
            assert!(pages.iter().all(|page| page.uri.domain() == domain.domain));
            assert!(pages.is_sorted_by(|a, b| (b.score, &a.uri) <= (a.score, &b.uri)));
            in_domains += pages.len();
        }
        assert_eq!(in_domains, everything.len());
    }
}

#[tokio::test]
async fn x12_links_of_a_page_in_both_directions() {
    let index = web().await;
    let mut inlinks = 0;
    let mut outlinks = 0;
    for n in 0..2 * PAGES {
        let uri = uri(&url(n));
        let facts = index.page(&uri).await.unwrap();
        for limit in [1, 4, 1000] {
            let links =
                all(limit, async |after, limit| index.inlinks(&uri, Seen::default(), after, limit).await)
                    .await;
            assert_eq!(links.len() as u64, facts.as_ref().map_or(0, |facts| facts.incount));
            assert!(links.is_sorted_by(|a, b| a.source < b.source));
            assert!(links.iter().all(|link| link.anchor == format!("to {n}")));
            inlinks += links.len();
            let links = all(limit, async |after, limit| index.outlinks(&uri, after, limit).await).await;
            assert_eq!(links.len() as u64, facts.as_ref().and_then(|facts| facts.outlinks).unwrap_or(0));
            assert!(links.is_sorted_by(|a, b| a.target < b.target));
            outlinks += links.len();
        }
    }
    assert_eq!(inlinks, outlinks);
    assert_eq!(inlinks as u64, 3 * index.totals().await.unwrap().links);
}

#[tokio::test]
async fn x12_a_cursor_stands_still_while_things_change() {
    let index = web().await;
    let before = all(1000, async |after, limit| index.top(By::Score, after, limit).await).await;
    let first = index.top(By::Score, None, 10).await.unwrap();
    // The page the cursor points at goes away, another appears at the head, and one far below keeps its
    // place.
    let last = first.items[9].uri.clone();
    load(&index, &last.to_url(), None, 999).await;
    load(&index, "http://new.org/", Some(&Page::new([(first.items[0].uri.clone(), String::new())])), 999)
        .await;
    index.to_rest().await.unwrap();
    let rest = all(5, async |after, limit| {
        let after = after.or(first.next.as_deref());
        index.top(By::Score, after, limit).await
    })
    .await;
    let after = all(1000, async |after, limit| index.top(By::Score, after, limit).await).await;
    let same = |page: &&RankedPage| before.contains(page) && after.contains(page);
    let seen: Vec<&RankedPage> = rest.iter().filter(same).collect();
    let expected: Vec<&RankedPage> = before.iter().skip(10).filter(same).collect();
    assert_eq!(seen, expected, "what did not change is seen once, in order");
    assert!(expected.len() > 20);
}

#[tokio::test]
async fn x12_a_foreign_cursor_is_refused() {
    let index = web().await;
    let next = index.top(By::Score, None, 1).await.unwrap().next.unwrap();
    let bad: [(&str, Result<(), Error>); 4] = [
        ("incount", index.top(By::Incount, Some(&next), 1).await.map(drop)),
        ("domains", index.top_domains(Some(&next), 1).await.map(drop)),
        ("outlinks", index.outlinks(&uri(&url(0)), Some(&next), 1).await.map(drop)),
        ("rubbish", index.top(By::Score, Some("rubbish!"), 1).await.map(drop)),
    ];
    for (query, result) in bad {
        assert!(matches!(result, Err(Error::BadCursor)), "{query}");
    }
}

#[tokio::test]
async fn x12_an_unknown_uri_is_no_error() {
    let index = web().await;
    let nowhere: Uri = uri("http://nowhere.example/");
    assert_eq!(index.page(&nowhere).await.unwrap(), None);
    assert_eq!(index.inlinks(&nowhere, Seen::default(), None, 5).await.unwrap().items, []);
    assert_eq!(index.outlinks(&nowhere, None, 5).await.unwrap().items, []);
    assert_eq!(index.domain_pages("example.nowhere", None, 5).await.unwrap().items, []);
    assert_eq!(index.domain("example.nowhere").await.unwrap(), 0);
}
