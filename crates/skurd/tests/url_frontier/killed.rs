//! `skurd serve` is killed with everything under way (G4, G6).

use std::collections::HashSet;
use std::time::{Duration, SystemTime};

use tokio_stream::StreamExt;
use urlfrontier::grpc::messages as m;

use crate::client::{Client, Process, discovered, info, known, of, text};
use crate::{runtime, world};

const KILLS: usize = 4;

#[test]
fn g6_a_killed_harvester_loses_nothing_that_it_acknowledged_or_handed_out() {
    let world = world();
    let mut rng = fastrand::Rng::with_seed(11);
    runtime().block_on(async {
        let (mut acked, mut completed) = (HashSet::new(), HashSet::new());
        let mut handed: HashSet<String> = HashSet::new();
        for round in 0..KILLS {
            let process = Process::start(&world);
            let client = Client::connect(process.urls).await;
            // No queue rests, so that many are asked in a short time.
            let delay = m::QueueDelayParams { delay_requestable: 0, ..m::QueueDelayParams::default() };
            let _: m::Empty = client.call("SetDelay", delay).await.unwrap();
            let url = move |n: u32| format!("https://h{}.example/{round}/{n}", n % 40);
            let items = tokio_stream::iter(0..100_000).map(move |n| discovered(info("c", "", &url(n))));
            let mut acks = client.put(items).await.unwrap();
            let getter = client.clone();
            // URLs that came out, and those of them whose completion was acknowledged.
            let getting = tokio::spawn(async move {
                let (mut out, mut done) = (Vec::new(), Vec::new());
                while let Ok(got) = getter.get(of("c", 3, 200)).await {
                    out.extend(got.iter().map(|info| text(&info.url)));
                    let back = got.into_iter().step_by(2).map(|info| known(info, 0));
                    let Ok(mut acks) = getter.put(tokio_stream::iter(back.collect::<Vec<_>>())).await else {
                        break;
                    };
                    while let Some(Ok(ack)) = acks.next().await {
                        done.push(text(&ack.id));
                    }
                }
                (out, done)
            });
            for _ in 0..rng.usize(500..4000) {
                let ack = acks.next().await.unwrap().unwrap();
                acked.insert(text(&ack.id));
            }
            process.kill();
            let (out, done) = getting.await.unwrap();
            for url in out {
                assert!(handed.insert(url.clone()), "{url} was handed out twice under one lease");
            }
            completed.extend(done);
        }
        assert!(handed.len() > 100 && completed.len() > 20, "{} and {}", handed.len(), completed.len());
        let process = Process::start(&world);
        let client = Client::connect(process.urls).await;
        let asked = m::ListUrlParams { size: u32::MAX, crawl: "c".into(), ..m::ListUrlParams::default() };
        let listed: Vec<m::UrlItem> = client.list("ListURLs", asked).await.unwrap();
        let mut there = HashSet::new();
        for item in listed {
            let Some(m::News::Known(known)) = item.item else { panic!("{item:?}") };
            let url = text(&known.info.unwrap().url);
            assert!(!completed.contains(&url) || known.refetchable_from_date == 0, "{url} is not completed");
            there.insert(url);
        }
        assert!(acked.is_subset(&there), "{} acknowledged, {} there", acked.len(), there.len());
        // What was handed out and not put back is leased still: all else that is due comes out once.
        let mut more = HashSet::new();
        loop {
            let got = client.get(of("c", 0, 0)).await.unwrap();
            if got.is_empty() {
                break;
            }
            more.extend(got.iter().map(|info| text(&info.url)));
        }
        assert!(more.is_disjoint(&handed), "{:?}", more.intersection(&handed).next());
        assert!(more.is_disjoint(&completed));
        process.stop();
    });
    assert!(world.good(&["store", "check", "skurd-data"]).contains("sound"));
}

#[allow(clippy::disallowed_methods, reason = "blocks are set by the clock of the world")]
fn now_s() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs()
}

#[test]
fn g6_blocks_delays_limits_and_activity_outlive_a_kill_of_the_harvester() {
    let world = world();
    runtime().block_on(async {
        let process = Process::start(&world);
        let client = Client::connect(process.urls).await;
        let keys = ["blocked", "free", "leased", "limited", "slow"];
        let items = keys.iter().flat_map(|key| {
            (0..2).map(move |n| discovered(info("c", key, &format!("https://x.example/{n}"))))
        });
        client.put_all(items.collect()).await;
        let (crawl, local) = (String::from("c"), false);
        let block = m::BlockQueueParams {
            key: "blocked".into(),
            time: now_s() + 100_000,
            crawl: crawl.clone(),
            local,
        };
        let _: m::Empty = client.call("BlockQueueUntil", block).await.unwrap();
        let delay = m::QueueDelayParams {
            key: "slow".into(),
            delay_requestable: 100_000,
            crawl: crawl.clone(),
            local,
        };
        let _: m::Empty = client.call("SetDelay", delay).await.unwrap();
        let limit = m::CrawlLimitParams { key: "limited".into(), limit: 1, crawl, local };
        let _: m::Empty = client.call("SetCrawlLimit", limit).await.unwrap();
        client.put_all(vec![known(info("c", "limited", "https://x.example/0"), 0)]).await;
        let keyed = |key: &str, urls| m::GetParams { key: key.into(), ..of("c", 1, urls) };
        assert_eq!(client.get(keyed("leased", 2)).await.unwrap().len(), 2);
        // The last thing before the kill: nobody has waited for a disk since.
        assert_eq!(client.get(keyed("slow", 1)).await.unwrap().len(), 1);
        let _: m::Empty = client.call("SetActive", m::Active { state: false, local }).await.unwrap();
        assert_eq!(client.get(keyed("free", 1)).await.unwrap().len(), 0);
        process.kill();

        let process = Process::start(&world);
        let client = Client::connect(process.urls).await;
        let active: m::Boolean = client.call("GetActive", m::Local::default()).await.unwrap();
        assert!(!active.state && client.get(of("c", 0, 0)).await.unwrap().is_empty());
        let _: m::Empty = client.call("SetActive", m::Active { state: true, local }).await.unwrap();
        // Past the usual delay of a second, so that only what was said keeps a queue back.
        tokio::time::sleep(Duration::from_millis(1100)).await;
        let got = client.get(of("c", 0, 0)).await.unwrap();
        assert!(got.len() == 2 && got.iter().all(|info| text(&info.key) == "free"), "{got:?}");
        process.stop();
    });
}
