//! The service through a real gRPC client over loopback (page 9 of the specification).

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod client;
mod killed;
mod tls;
mod wire;

use std::collections::{HashMap, HashSet};

use client::{Batch, Client, NOW_S, Rig, UrlInfo, UrlItem, discovered, info, known, served};
use tokio_stream::StreamExt;
use urlfrontier::grpc::messages::{self as m, AckMessage, BatchAck, Empty, GetParams, Long, StringList};

const OK: i32 = 0;
const SKIPPED: i32 = 1;
const FAIL: i32 = 2;

fn params(queues: u32, urls: u32) -> GetParams {
    GetParams { max_queues: queues, max_urls_per_queue: urls, ..GetParams::default() }
}

fn of(crawl: &str, queues: u32, urls: u32) -> GetParams {
    GetParams { crawl: Some(m::Crawl::Named(crawl.into())), ..params(queues, urls) }
}

fn urls(infos: &[UrlInfo]) -> Vec<&str> {
    infos.iter().map(|info| info.url.as_str()).collect()
}

fn statuses(acks: &[(String, i32)]) -> Vec<i32> {
    acks.iter().map(|(_, status)| *status).collect()
}

fn many(crawl: &str, queues: usize, per_queue: usize) -> Vec<UrlItem> {
    let url = |n: usize| format!("https://h{}.example/{}", n % queues, n / queues);
    (0..queues * per_queue).map(|n| discovered(info(crawl, "", &url(n)))).collect()
}

async fn set(rig: &Rig, method: &str, message: impl prost::Message + 'static) {
    let _: Empty = rig.client.call(method, message).await.unwrap();
}

#[test]
fn g1_a_token_that_is_set_is_wanted() {
    served(Some("a-token-of-some-length"), async |rig| {
        rig.client.put(many("c", 1, 1)).await;
        for wrong in [None, Some("another"), Some("")] {
            let stranger = Client { token: wrong.map(str::to_owned), ..rig.client.clone() };
            let refused = stranger.call::<_, m::StringList>("ListCrawls", m::Local::default()).await;
            assert_eq!(refused.unwrap_err().code(), tonic::Code::Unauthenticated, "{wrong:?}");
            let refused = stranger.list::<_, UrlInfo>("GetURLs", params(1, 1)).await;
            assert_eq!(refused.unwrap_err().code(), tonic::Code::Unauthenticated, "{wrong:?}");
        }
    });
}

#[test]
fn g2_a_queue_is_what_was_said_or_the_host() {
    let long = "ü".repeat(127) + "x";
    let cases = [
        ("", "http://User:pw@EXAMPLE.org:8080/a?b#c", Some("example.org")),
        ("", "https://[2001:DB8::1]:443/x", Some("[2001:db8::1]")),
        ("", "http://bücher.example/", Some("xn--bcher-kva.example")),
        ("", "mailto:somebody@example.org", None),
        ("", "no url", None),
        ("", "", None),
        ("a_b__c_", "http://x.example/1", Some("a_b__c_")),
        ("日本語 キー", "not even a url \u{1}", Some("日本語 キー")),
        ("🕷", "http://x.example/2", Some("🕷")),
        (&long, "http://x.example/3", Some(&long)),
        (&(long.clone() + "y"), "http://x.example/4", None),
    ];
    served(None, async |rig| {
        for (at, (key, url, queue)) in cases.into_iter().enumerate() {
            let crawl = format!("c_{at}");
            let acks = rig.client.put(vec![discovered(info(&crawl, key, url))]).await;
            let expected = if queue.is_some() { OK } else { FAIL };
            assert_eq!(acks, [(url.to_owned(), expected)], "{key} {url}");
            let got = rig.client.get(of(&crawl, 0, 0)).await;
            let got: Vec<_> =
                got.iter().map(|g| (g.crawl.as_str(), g.key.as_str(), g.url.as_str())).collect();
            let expected: Vec<_> = queue.map(|queue| (crawl.as_str(), queue, url)).into_iter().collect();
            assert_eq!(got, expected);
        }
    });
}

#[test]
fn g2_urls_and_metadata_come_back_as_they_were() {
    let list = |values: &[&str]| StringList { values: values.iter().map(ToString::to_string).collect() };
    let metadata: HashMap<String, StringList> = [
        ("source".to_owned(), list(&["https://a.example/?q=ü&x=%zz", ""])),
        (String::new(), list(&[])),
        ("ключ\0".to_owned(), list(&["\u{10ffff}", "  blanks ", "line\nline"])),
    ]
    .into();
    let url = "HTTP://Example.ORG:80/%7Ea/../b?c=\u{200f}d#e\0f";
    served(None, async |rig| {
        let put = UrlInfo { metadata: metadata.clone(), ..info("", "k", url) };
        rig.client.put(vec![discovered(put.clone())]).await;
        let got = rig.client.get(params(1, 1)).await;
        assert_eq!(got, [UrlInfo { crawl: "DEFAULT".into(), ..put }]);
        // G7: completed URLs keep theirs.
        let done = UrlInfo { metadata: metadata.clone(), ..info("  ", "k", url) };
        rig.client.put(vec![known(done, 0)]).await;
        let asked = m::UrlStatusRequest { url: url.into(), key: "k".into(), crawl: "DEFAULT".into() };
        let status: UrlItem = rig.client.call("GetURLStatus", asked).await.unwrap();
        assert_eq!(status.creation_date, NOW_S);
        let known = status.into_known();
        assert_eq!((known.date, known.info.unwrap().metadata), (0, metadata));
    });
}

#[test]
fn g4_each_item_is_answered_by_itself() {
    served(None, async |rig| {
        let named = |id: &str, item: UrlItem| UrlItem { id: id.into(), ..item };
        let url = "https://a.example/1";
        let acks = rig
            .client
            .put(vec![
                named("one", discovered(info("", "", url))),
                named("again", discovered(info("", "", url))),
                discovered(info("", "", "https://a.example/2")),
                named("neither", UrlItem::default()),
                named("no url", discovered(info("", "k", ""))),
                named("new", known(info("", "", "https://b.example/"), NOW_S + 10)),
                named("known", known(info("", "", url), 0)),
            ])
            .await;
        let ids: Vec<&str> = acks.iter().map(|(id, _)| id.as_str()).collect();
        assert_eq!(ids, ["one", "again", "https://a.example/2", "neither", "no url", "new", "known"]);
        assert_eq!(statuses(&acks), [OK, SKIPPED, OK, FAIL, FAIL, OK, OK]);
        let stats = rig.client.stats("", "").await;
        assert_eq!((stats.size, stats.counts["completed"], stats.number_of_queues), (2, 1, 2));
        assert_eq!(urls(&rig.client.get(params(9, 9)).await), ["https://a.example/2"]);
    });
}

#[test]
fn g4_batches_and_probes() {
    served(None, async |rig| {
        let url = |n: u32| info("", "", &format!("https://a.example/{n}"));
        let batches = vec![
            Batch { id: "probe".into(), items: Vec::new() },
            Batch { id: "b1".into(), items: vec![url(1), url(2), url(1), info("", "", "")] },
            Batch { id: "b2".into(), items: vec![url(2), url(3)] },
        ];
        let acks = rig.client.stream::<_, BatchAck>("PutDiscovered", tokio_stream::iter(batches)).await;
        let acks: Vec<BatchAck> = acks.unwrap().map(|ack| ack.unwrap()).collect().await;
        let told: Vec<_> = acks.iter().map(|ack| (&*ack.id, ack.statuses.as_slice())).collect();
        assert_eq!(
            told,
            [
                (&b"probe"[..], &[][..]),
                (&b"b1"[..], &[OK, OK, SKIPPED, FAIL][..]),
                (&b"b2"[..], &[SKIPPED, OK][..])
            ]
        );
    });
}

#[test]
fn g4_a_client_may_send_all_before_it_reads() {
    const ITEMS: usize = 100_000;
    served(None, async |rig| {
        let items = many("c", 1000, ITEMS / 1000);
        let expected: Vec<String> = (0..ITEMS).map(|n| n.to_string()).collect();
        let numbered = items.into_iter().enumerate().map(|(n, item)| UrlItem { id: n.to_string(), ..item });
        let acks: Vec<(String, i32)> = rig.client.put(numbered.collect()).await;
        assert!(acks.iter().map(|(id, _)| id).eq(&expected), "each once, and in their order");
        assert!(acks.iter().all(|(_, status)| *status == OK));
        // G7: visible at once.
        let stats = rig.client.stats("c", "").await;
        assert_eq!((stats.size, stats.number_of_queues), (ITEMS as u64, 1000));
        assert_eq!(stats.counts["active_queues"], 1000);
    });
}

#[test]
fn g4_a_stream_that_breaks_takes_nothing_along() {
    served(None, async |rig| {
        for round in 0..20 {
            let (items, waiting) = tokio::sync::mpsc::channel(1000);
            for n in 0..500 {
                let item = discovered(info("c", "k", &format!("https://x.example/{round}/{n}")));
                items.send(item).await.unwrap();
            }
            let waiting = tokio_stream::wrappers::ReceiverStream::new(waiting);
            let mut acks = rig.client.stream::<_, AckMessage>("PutURLs", waiting).await.unwrap();
            let mut acked = Vec::new();
            for _ in 0..round * 20 {
                acked.push(acks.next().await.unwrap().unwrap());
            }
            drop(acks);
            for ack in acked {
                let url = String::from_utf8(ack.id.to_vec()).unwrap();
                let asked = m::UrlStatusRequest { url, key: "k".into(), crawl: "c".into() };
                rig.client.call::<_, UrlItem>("GetURLStatus", asked).await.unwrap();
            }
        }
        assert_eq!(statuses(&rig.client.put(many("d", 1, 1)).await), [OK]);
    });
}

#[test]
fn g5_oldest_first_in_turns_and_no_more_than_asked() {
    served(None, async |rig| {
        let mut items = many("c", 20, 5);
        // These are older than what was discovered just now.
        let early = |n: u64| known(info("c", "", &format!("https://h3.example/early{n}")), NOW_S - n);
        items.extend([
            early(10),
            early(30),
            early(20),
            known(info("c", "", "https://h4.example/later"), NOW_S + 5),
        ]);
        rig.client.put(items).await;
        let first = rig.client.get(of("c", 4, 2)).await;
        let keys: HashSet<&str> = first.iter().map(|info| info.key.as_str()).collect();
        assert_eq!((first.len(), keys.len()), (8, 4));
        let mut order: Vec<String> = first.iter().map(|info| info.key.clone()).collect();
        // Everybody comes once before anybody comes again.
        for _ in 0..4 {
            rig.pass(1);
            order.extend(rig.client.get(of("c", 4, 2)).await.iter().map(|info| info.key.clone()));
        }
        order.dedup();
        assert_eq!(order.len(), 20, "{order:?}");
        assert_eq!(order.iter().collect::<HashSet<_>>().len(), 20);
        // G5: the delay of a second.
        assert!(rig.client.get(of("c", 0, 10)).await.is_empty());
        rig.pass(1000);
        let key = GetParams { key: "h3.example".into(), ..of("c", 1, 10) };
        assert_eq!(rig.client.get(key).await.len(), 6, "what was left of it");
    });
    served(None, async |rig| {
        let date = |n: u64| known(info("c", "k", &format!("https://x.example/{n}")), NOW_S - n);
        rig.client.put([3, 1, 7, 5].map(date).to_vec()).await;
        let expected: Vec<String> = [7, 5, 3, 1].map(|n| format!("https://x.example/{n}")).to_vec();
        assert_eq!(urls(&rig.client.get(of("c", 1, 9)).await), expected);
    });
}

#[test]
fn g5_a_lease_ends_exactly_after_its_seconds() {
    for (asked, seconds) in [(0, 30), (1, 1), (600, 600)] {
        served(None, async |rig| {
            rig.client.put(many("c", 1, 1)).await;
            let params = GetParams { delay_requestable: asked, ..of("c", 1, 1) };
            assert_eq!(rig.client.get(params.clone()).await.len(), 1);
            assert_eq!(rig.client.stats("c", "").await.in_process, 1);
            rig.pass(seconds * 1000 - 1);
            assert_eq!(rig.client.stats("c", "h0.example").await.in_process, 1);
            assert!(rig.client.get(params.clone()).await.is_empty());
            rig.pass(1);
            assert_eq!(rig.client.stats("c", "").await.in_process, 0);
            assert_eq!(rig.client.get(params).await.len(), 1);
        });
    }
}

#[test]
fn g5_a_queue_with_enough_in_process_gives_no_more() {
    served(None, async |rig| {
        rig.client.put(many("c", 1, 9)).await;
        let got = rig.client.get(of("c", 1, 2)).await;
        assert_eq!(got.len(), 2);
        rig.pass(5000);
        assert!(rig.client.get(of("c", 1, 2)).await.is_empty());
        assert_eq!(rig.client.get(of("c", 1, 3)).await.len(), 0, "it was passed over just now");
        let back = UrlInfo { metadata: HashMap::new(), ..got[0].clone() };
        rig.client.put(vec![known(back, 0)]).await;
        assert_eq!(rig.client.get(of("c", 1, 2)).await.len(), 2, "it has room again");
    });
}

#[test]
fn g5_two_clients_never_have_the_same_url() {
    served(None, async |rig| {
        rig.client.put(many("c", 100, 20)).await;
        set(rig, "SetDelay", m::QueueDelayParams::default()).await;
        let take = async |client: Client| {
            let mut got = Vec::new();
            for _ in 0..30 {
                got.extend(client.get(of("c", 10, 10)).await.into_iter().map(|info| info.url));
            }
            got
        };
        let other = Client::connect(rig.address).await;
        let (one, two) = tokio::join!(take(rig.client.clone()), take(other));
        let all: HashSet<&String> = one.iter().chain(&two).collect();
        assert_eq!(all.len(), one.len() + two.len());
        assert_eq!(rig.client.stats("c", "").await.in_process as usize, all.len());
    });
}

#[test]
fn g7_lists_are_paged_by_key() {
    served(None, async |rig| {
        let keys: Vec<String> = (0..250).map(|n| format!("q_{n:03}")).collect();
        let items = keys.iter().map(|key| discovered(info("c", key, "https://X.example/page")));
        rig.client.put(items.collect()).await;
        let mut listed = Vec::new();
        for start in [0, 100, 200] {
            let asked = m::Pagination { start, crawl: "c".into(), ..m::Pagination::default() };
            let page: m::QueueList = rig.client.call("ListQueues", asked).await.unwrap();
            assert_eq!((page.size as usize, page.total), (page.values.len(), 250));
            listed.extend(page.values);
        }
        assert_eq!(listed, keys);
        let all = m::ListUrlParams { size: 1000, crawl: "c".into(), ..m::ListUrlParams::default() };
        let found: Vec<UrlItem> = rig.client.list("ListURLs", all.clone()).await.unwrap();
        assert_eq!(found.len(), 250);
        for (filter, ignore_case, count) in [("x.ex", false, 0), ("x.ex", true, 250), ("X.ex", false, 250)] {
            let asked = m::CountUrlParams {
                crawl: "c".into(),
                filter: Some(filter.into()),
                ignore_case: Some(ignore_case),
                ..m::CountUrlParams::default()
            };
            let counted: Long = rig.client.call("CountURLs", asked).await.unwrap();
            assert_eq!(counted.value, count, "{filter}");
        }
        let some = m::ListUrlParams { start: 240, size: 5, ..all };
        assert_eq!(rig.client.list::<_, UrlItem>("ListURLs", some).await.unwrap().len(), 5);
        let crawls: StringList = rig.client.call("ListCrawls", m::Local::default()).await.unwrap();
        assert_eq!(crawls.values, ["c"]);
    });
}

#[test]
fn g8_what_is_deleted_is_gone_at_once() {
    served(None, async |rig| {
        for crawl in ["one", "two"] {
            rig.client.put(many(crawl, 30, 100)).await;
        }
        let queue = m::QueueWithinCrawlParams { key: "h7.example".into(), crawl: "one".into(), local: false };
        rig.client.get(GetParams { key: "h7.example".into(), ..of("one", 1, 10) }).await;
        for expected in [100, 0] {
            let deleted: Long = rig.client.call("DeleteQueue", queue.clone()).await.unwrap();
            assert_eq!(deleted.value, expected);
        }
        let stats = rig.client.stats("one", "").await;
        assert_eq!((stats.size, stats.in_process, stats.number_of_queues), (2900, 0, 29));
        let message = m::DeleteCrawlMessage { value: "one".into(), local: false };
        for expected in [2900, 0] {
            let deleted: Long = rig.client.call("DeleteCrawl", message.clone()).await.unwrap();
            assert_eq!(deleted.value, expected);
        }
        let crawls: StringList = rig.client.call("ListCrawls", m::Local::default()).await.unwrap();
        assert_eq!(crawls.values, ["two"]);
        assert!(rig.client.get(of("one", 0, 0)).await.is_empty());
        // The same names begin anew, and what was swept up is not theirs.
        let acks = rig.client.put(many("one", 30, 2)).await;
        assert!(acks.iter().all(|(_, status)| *status == OK));
        assert_eq!(rig.client.stats("two", "").await.size, 3000);
        tokio::time::sleep(std::time::Duration::from_millis(2500)).await;
        assert_eq!(rig.client.get(of("one", 0, 0)).await.len(), 60);
        let rows = rig.store.check().await.unwrap();
        assert_eq!(rows.tables[&0x83].rows, 3060, "swept up");
    });
}

#[test]
fn g8_blocks_delays_limits_and_activity() {
    served(None, async |rig| {
        let block =
            |time| m::BlockQueueParams { key: "h0.example".into(), time, crawl: "c".into(), local: false };
        // Of a queue that is not there yet.
        set(rig, "BlockQueueUntil", block(NOW_S + 60)).await;
        assert_eq!(rig.client.stats("c", "").await.number_of_queues, 0);
        rig.client.put(many("c", 1, 9)).await;
        assert!(rig.client.get(of("c", 1, 1)).await.is_empty());
        let listed = m::Pagination { crawl: "c".into(), ..m::Pagination::default() };
        let page: m::QueueList = rig.client.call("ListQueues", listed).await.unwrap();
        assert!(page.values.is_empty(), "blocked");
        rig.pass(60_000);
        assert_eq!(rig.client.get(of("c", 1, 1)).await.len(), 1);
        let delay = |key: &str, seconds| m::QueueDelayParams {
            key: key.into(),
            delay_requestable: seconds,
            crawl: "c".into(),
            local: false,
        };
        set(rig, "SetDelay", delay("h0.example", 10)).await;
        for (pass, got) in [(9_999, 0), (1, 1)] {
            rig.pass(pass);
            assert_eq!(rig.client.get(of("c", 1, 2)).await.len(), got * 2);
        }
        set(rig, "SetDelay", delay("h0.example", 0)).await;
        for (state, got) in [(false, 0), (true, 1)] {
            set(rig, "SetActive", m::Active { state, local: false }).await;
            let active: m::Boolean = rig.client.call("GetActive", m::Local::default()).await.unwrap();
            assert_eq!(active.state, state);
            assert_eq!(rig.client.get(of("c", 1, 4)).await.len(), got * 4);
        }
        let limit =
            |limit| m::CrawlLimitParams { key: "h0.example".into(), limit, crawl: "c".into(), local: false };
        set(rig, "SetCrawlLimit", limit(2)).await;
        let done = (0..2).map(|n| known(info("c", "", &format!("https://h0.example/{n}")), 0));
        rig.client.put(done.collect()).await;
        assert!(rig.client.get(of("c", 1, 9)).await.is_empty(), "at its limit");
        set(rig, "SetCrawlLimit", limit(3)).await;
        assert_eq!(rig.client.get(of("c", 1, 9)).await.len(), 2);
        set(rig, "SetLogLevel", m::LogLevelParams::default()).await;
    });
}

#[test]
fn g8_purges_what_is_old() {
    served(None, async |rig| {
        rig.client.put(many("c", 3, 10)).await;
        rig.pass(3 * 86_400_000);
        rig.client.put(vec![known(info("c", "", "https://h0.example/0"), 0)]).await;
        rig.client.put(vec![discovered(info("c", "", "https://h0.example/new"))]).await;
        for (key, days, purged) in [("", 3, 0), ("h1.example", 2, 10), ("", 2, 20)] {
            let asked = m::PurgeUrlParams { key: key.into(), crawl: "c".into(), days };
            let told: Long = rig.client.call("PurgeURLs", asked).await.unwrap();
            assert_eq!(told.value, purged, "{key} {days}");
        }
        assert_eq!(urls(&rig.client.get(of("c", 0, 0)).await), ["https://h0.example/new"]);
    });
}

#[test]
fn g9_completed_counts_once_and_may_be_scheduled_again() {
    served(None, async |rig| {
        let url = || info("c", "a_b", "https://x.example/");
        rig.client.put(vec![discovered(url())]).await;
        for _ in 0..3 {
            rig.client.put(vec![known(url(), 0)]).await;
        }
        let stats = rig.client.stats("c", "a_b").await;
        assert_eq!((stats.size, stats.counts["completed"]), (0, 1));
        rig.pass(100_000);
        assert!(rig.client.get(params(0, 0)).await.is_empty());
        assert_eq!(statuses(&rig.client.put(vec![discovered(url())]).await), [SKIPPED]);
        rig.client.put(vec![known(url(), NOW_S + 200)]).await;
        let stats = rig.client.stats("c", "").await;
        assert_eq!((stats.size, stats.counts["completed"]), (1, 0));
        assert!(rig.client.get(params(0, 0)).await.is_empty());
        rig.pass(100_000);
        // Any crawl, since none is named.
        assert_eq!(urls(&rig.client.get(params(0, 0)).await), ["https://x.example/"]);
    });
}

#[test]
fn g9_what_is_dumped_deleted_and_put_back_is_the_same() {
    served(None, async |rig| {
        let mut items = many("one", 5, 3);
        items.extend(many("", 2, 2));
        items.push(known(info("one", "k", "https://done.example/"), 0));
        items.push(known(info("one", "k", "https://later.example/"), NOW_S + 3600));
        rig.client.put(items).await;
        let dump = async || {
            let mut all = Vec::new();
            for crawl in ["DEFAULT", "one"] {
                let asked =
                    m::ListUrlParams { size: 1000, crawl: crawl.into(), ..m::ListUrlParams::default() };
                all.extend(rig.client.list::<_, UrlItem>("ListURLs", asked).await.unwrap());
            }
            all
        };
        let before = dump().await;
        assert_eq!(before.len(), 21);
        for crawl in ["DEFAULT", "one"] {
            let message = m::DeleteCrawlMessage { value: crawl.into(), local: false };
            rig.client.call::<_, Long>("DeleteCrawl", message).await.unwrap();
        }
        assert!(dump().await.is_empty());
        rig.client.put(before.clone()).await;
        assert_eq!(dump().await, before);
    });
}

#[test]
fn g10_crawls_and_queues_are_listed_with_their_figures() {
    served(None, async |rig| {
        rig.client.put(many("news", 30, 2)).await;
        rig.client.put(many("shop", 3, 1)).await;
        let (key, crawl) = ("h7.example".to_owned(), "news".to_owned());
        let time = NOW_S + 60;
        set(rig, "BlockQueueUntil", m::BlockQueueParams { key, time, crawl, local: false }).await;
        let got = rig.client.get(of("news", 10, 1)).await;
        assert_eq!(got.len(), 10);
        rig.client.put(got.into_iter().take(4).map(|info| known(info, 0)).collect()).await;

        let frontier = &rig.frontier;
        let page = frontier.crawl_page(None, 1).await.unwrap();
        let news = &page.crawls[0];
        assert_eq!(
            (news.name.as_str(), news.blocked_queues, page.next.as_deref()),
            ("news", 1, Some("news"))
        );
        let stats = &news.stats;
        assert_eq!((stats.queues, stats.active, stats.in_process, stats.completed), (30, 56, 6, 4));
        let rest = frontier.crawl_page(Some("news"), 5).await.unwrap();
        let names: Vec<_> = rest.crawls.iter().map(|crawl| crawl.name.as_str()).collect();
        assert_eq!((names, rest.next), (vec!["shop"], None));
        let done = frontier.figures.done();
        assert_eq!((done.ok, done.skipped, done.failed, done.handed), (67, 0, 0, 10));
        // One sample at least: puts of a crawl and nothing of another.
        let rates = frontier.figures.rates("news");
        assert!(rates.put_per_s > 0.0 && rates.handed_per_s > 0.0, "{rates:?}");
        assert_eq!(frontier.figures.rates("shop").handed_per_s, 0.0);

        // Pages of queues, and of those that begin so.
        let (mut keys, mut behind) = (Vec::new(), None);
        loop {
            let page = frontier.queue_page("news", "", behind.as_deref(), 7).await.unwrap();
            keys.extend(page.queues.into_iter().map(|queue| queue.key));
            behind = page.next;
            if behind.is_none() {
                break;
            }
        }
        let mut expected: Vec<String> = (0..30).map(|n| format!("h{n}.example")).collect();
        expected.sort_unstable();
        assert_eq!(keys, expected);
        let begin = frontier.queue_page("news", "h2", None, 5).await.unwrap();
        let rest = frontier.queue_page("news", "h2", begin.next.as_deref(), 100).await.unwrap();
        assert_eq!((begin.queues.len(), rest.queues.len(), rest.next), (5, 6, None), "h2, h20 to h29");
        assert_eq!(
            frontier.queue_page("news", "x", None, 5).await.unwrap(),
            urlfrontier::QueuePage::default()
        );

        let (blocked, next) = frontier.blocked_page("news", None, 10).await.unwrap();
        assert_eq!((blocked.len(), next), (1, None));
        assert_eq!((blocked[0].key.as_str(), blocked[0].blocked_until_s), ("h7.example", Some(time)));
        rig.pass(59_999);
        assert_eq!(frontier.crawl_page(None, 1).await.unwrap().crawls[0].blocked_queues, 1);
        rig.pass(1);
        assert_eq!(frontier.crawl_page(None, 1).await.unwrap().crawls[0].blocked_queues, 0, "it has ended");
        assert!(frontier.blocked_page("news", None, 10).await.unwrap().0.is_empty());
        assert_eq!(frontier.delete_crawl("news").await.unwrap(), 60);
        assert_eq!(frontier.crawl_page(None, 9).await.unwrap().crawls.len(), 1);
    });
}
