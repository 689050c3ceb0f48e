//! The served frontier in a process of its own, on disk, that is killed (G4, G6).

use std::collections::HashSet;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use store::{Options, Store};
use tokio_stream::StreamExt;
use urlfrontier::UrlFrontier;
use urlfrontier::grpc::messages::{self as m, AckMessage, Empty, GetParams};
use urlfrontier::grpc::{Access, Server};

use crate::client::{Client, UrlInfo, discovered, info};

const DIR: &str = "URL_FRONTIER_TEST_DIR";

#[allow(clippy::disallowed_methods, reason = "this is the clock")]
fn system_time() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    i64::try_from(since.as_millis()).unwrap()
}

/// No test: the process that the other one starts and kills.
#[test]
#[allow(clippy::disallowed_methods, reason = "it waits to be killed")]
fn child_that_is_killed() {
    let Ok(dir) = std::env::var(DIR) else { return };
    let store = Store::open(&Path::new(&dir).join("store"), &Options::default()).unwrap();
    let seed = u64::from(std::process::id());
    let frontier = Arc::new(UrlFrontier::new(store, Arc::new(system_time), None, seed));
    let server =
        Server::start(TcpListener::bind("127.0.0.1:0").unwrap(), Access::default(), frontier).unwrap();
    let notice = Path::new(&dir).join("address");
    std::fs::write(notice.with_extension("new"), server.address.to_string()).unwrap();
    std::fs::rename(notice.with_extension("new"), &notice).unwrap();
    loop {
        std::thread::sleep(Duration::from_secs(60));
    }
}

struct Process(Child);

impl Process {
    async fn start(dir: &Path) -> (Process, Client) {
        let notice = dir.join("address");
        let _ = std::fs::remove_file(&notice);
        let mut command = Command::new(std::env::current_exe().unwrap());
        let child = command.args(["--exact", "killed::child_that_is_killed"]).env(DIR, dir).spawn().unwrap();
        let process = Process(child);
        loop {
            if let Ok(address) = std::fs::read_to_string(&notice) {
                return (process, Client::connect(address.parse::<SocketAddr>().unwrap()).await);
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    fn kill(self) {}
}

impl Drop for Process {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

fn of(crawl: &str, key: &str) -> GetParams {
    GetParams {
        key: key.into(),
        crawl: Some(m::Crawl::Named(crawl.into())),
        delay_requestable: 100_000,
        ..GetParams::default()
    }
}

#[test]
fn g6_a_killed_process_loses_nothing_that_it_acknowledged() {
    let dir = tempfile::TempDir::new().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let mut rng = fastrand::Rng::with_seed(9);
    runtime.block_on(async {
        let (mut acked, mut handed): (HashSet<String>, HashSet<String>) = Default::default();
        for round in 0..5 {
            let (process, client) = Process::start(dir.path()).await;
            let url = move |n: u32| format!("https://h{}.example/{round}/{n}", n % 50);
            let items = tokio_stream::iter(0..200_000).map(move |n| discovered(info("c", "", &url(n))));
            let mut acks = client.stream::<_, AckMessage>("PutURLs", items).await.unwrap();
            let getter = client.clone();
            let getting = tokio::spawn(async move {
                let mut got: Vec<String> = Vec::new();
                loop {
                    let wanted = GetParams { max_queues: 5, max_urls_per_queue: 1000, ..of("c", "") };
                    match getter.list::<_, UrlInfo>("GetURLs", wanted).await {
                        Ok(more) => got.extend(more.into_iter().map(|info| info.url)),
                        Err(_) => return got,
                    }
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            });
            for _ in 0..rng.usize(1..6000) {
                let ack = acks.next().await.unwrap().unwrap();
                acked.insert(String::from_utf8(ack.id.to_vec()).unwrap());
            }
            process.kill();
            for url in getting.await.unwrap() {
                assert!(handed.insert(url.clone()), "{url} was handed out twice under one lease");
            }
        }
        let (process, client) = Process::start(dir.path()).await;
        let asked = m::ListUrlParams { size: u32::MAX, crawl: "c".into(), ..m::ListUrlParams::default() };
        let listed = client.list::<_, crate::client::UrlItem>("ListURLs", asked).await.unwrap();
        let there: HashSet<String> =
            listed.into_iter().map(|item| item.into_known().info.unwrap().url).collect();
        assert!(acked.is_subset(&there), "{} acknowledged, {} there", acked.len(), there.len());
        assert!(client.stats("c", "").await.in_process as usize >= handed.len());
        process.kill();
    });
    let store = Store::open(&dir.path().join("store"), &Options::default()).unwrap();
    assert_eq!(runtime.block_on(urlfrontier::check(&store)).unwrap(), Vec::<String>::new());
}

#[test]
fn g6_what_was_said_of_queues_outlives_a_kill() {
    let dir = tempfile::TempDir::new().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (process, client) = Process::start(dir.path()).await;
        let keys = ["leased", "blocked", "slow", "limited", "free"];
        let items = keys.iter().flat_map(|key| {
            (0..2).map(move |n| discovered(info("c", key, &format!("https://x.example/{n}"))))
        });
        client.put(items.collect()).await;
        let far = u64::try_from(system_time() / 1000).unwrap() + 100_000;
        let (crawl, local) = (String::from("c"), false);
        let _: Empty = client
            .call(
                "BlockQueueUntil",
                m::BlockQueueParams { key: "blocked".into(), time: far, crawl: crawl.clone(), local },
            )
            .await
            .unwrap();
        let delay = m::QueueDelayParams {
            key: "slow".into(),
            delay_requestable: 100_000,
            crawl: crawl.clone(),
            local,
        };
        let _: Empty = client.call("SetDelay", delay).await.unwrap();
        let limit = m::CrawlLimitParams { key: "limited".into(), limit: 1, crawl, local };
        let _: Empty = client.call("SetCrawlLimit", limit).await.unwrap();
        client.put(vec![crate::client::known(info("c", "limited", "https://x.example/0"), 0)]).await;
        let one = |key| GetParams { max_urls_per_queue: 1, ..of("c", key) };
        assert_eq!(client.get(one("slow")).await.len(), 1);
        assert_eq!(client.get(of("c", "leased")).await.len(), 2);
        let _: Empty = client.call("SetActive", m::Active { state: false, local }).await.unwrap();
        process.kill();
        let (process, client) = Process::start(dir.path()).await;
        let active: m::Boolean = client.call("GetActive", m::Local::default()).await.unwrap();
        assert!(!active.state && client.get(of("c", "")).await.is_empty());
        let _: Empty = client.call("SetActive", m::Active { state: true, local }).await.unwrap();
        tokio::time::sleep(Duration::from_millis(1100)).await;
        let got = client.get(of("c", "")).await;
        assert!(got.len() == 2 && got.iter().all(|info| info.key == "free"), "{got:?}");
        process.kill();
    });
}
