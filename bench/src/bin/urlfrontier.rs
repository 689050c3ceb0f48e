//! The URL frontier over loopback: what a URL costs the server, at growing sizes (G12).
//!
//! The server is this process, with the embedded store; the client is a child, so that its CPU does
//! not count. Loads are as StormCrawler makes them (one long stream of puts with as many in flight
//! as the server takes, batches, hand-outs of 10 × 10) and as Scrapy does (a stream per item, hand-outs of 1 × 1).

use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use http::uri::PathAndQuery;
use skurd_bench::{Stopwatch, cpu_seconds, memory_mib, number_flag, scratch, text_flag};
use store::{Options, Store};
use tokio_stream::StreamExt;
use tonic::client::Grpc;
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Streaming};
use tonic_prost::ProstCodec;
use urlfrontier::UrlFrontier;
use urlfrontier::grpc::messages::{
    AckMessage, BatchAck, Discovered, DiscoveredBatch, GetParams, Known, News, QueueDelayParams, UrlInfo,
    UrlItem,
};
use urlfrontier::grpc::{Access, Server};

const URLS_PER_QUEUE: u64 = 100;
const BATCH: u64 = 100;
/// URLs that each load but the first is of.
const SAMPLE: u64 = 100_000;
const SINGLES: u64 = 5_000;

#[allow(clippy::disallowed_methods, reason = "the clock of the frontier that is measured")]
fn system_time() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

fn info(n: u64, queues: u64) -> UrlInfo {
    let (queue, page) = (n % queues, n / queues);
    let url = format!("https://host{queue:06}.example{:03}.org/section/page-{page:08}", queue % 500);
    let metadata = vec![Bytes::from_static(b"\x0a\x05depth\x12\x03\x0a\x013")];
    UrlInfo { url: url.into(), key: Bytes::new(), metadata, crawl: Bytes::from_static(b"bench") }
}

fn discovered(info: UrlInfo) -> UrlItem {
    UrlItem { item: Some(News::Discovered(Discovered { info: Some(info) })), ..UrlItem::default() }
}

struct Client(Channel);

impl Client {
    async fn at(&self, method: &str) -> Result<(Grpc<Channel>, PathAndQuery)> {
        let mut grpc = Grpc::new(self.0.clone());
        grpc.ready().await?;
        Ok((grpc, format!("/urlfrontier.URLFrontier/{method}").parse()?))
    }

    async fn put(&self, items: impl Iterator<Item = UrlItem> + Send + 'static) -> Result<u64> {
        let (mut grpc, path) = self.at("PutURLs").await?;
        let request = Request::new(tokio_stream::iter(items));
        let mut acks: Streaming<AckMessage> =
            grpc.streaming(request, path, ProstCodec::default()).await?.into_inner();
        let mut acked = 0;
        while let Some(ack) = acks.next().await {
            ensure!(ack?.status != 2, "an item failed");
            acked += 1;
        }
        Ok(acked)
    }

    async fn put_batches(&self, first: u64, urls: u64, queues: u64) -> Result<()> {
        let (mut grpc, path) = self.at("PutDiscovered").await?;
        let batches = (first..first + urls).step_by(usize::try_from(BATCH)?).map(move |from| {
            let items = (from..from + BATCH).map(|n| info(n, queues)).collect();
            DiscoveredBatch { id: Bytes::new(), items }
        });
        let request = Request::new(tokio_stream::iter(batches));
        let mut acks: Streaming<BatchAck> =
            grpc.streaming(request, path, ProstCodec::default()).await?.into_inner();
        while let Some(ack) = acks.next().await {
            ack?;
        }
        Ok(())
    }

    async fn get(&self, queues: u32, urls: u32) -> Result<Vec<UrlInfo>> {
        let (mut grpc, path) = self.at("GetURLs").await?;
        let params = GetParams {
            max_queues: queues,
            max_urls_per_queue: urls,
            delay_requestable: 600,
            ..GetParams::default()
        };
        let got: Streaming<UrlInfo> =
            grpc.server_streaming(Request::new(params), path, ProstCodec::default()).await?.into_inner();
        got.map(|info| Ok(info?)).collect().await
    }

    async fn get_and_put_back(&self, total: u64, queues: u32, urls: u32) -> Result<()> {
        let mut done = 0;
        while done < total {
            let got = self.get(queues, urls).await?;
            ensure!(!got.is_empty(), "nothing is due");
            done += got.len() as u64;
            let back = |info| News::Known(Known { info: Some(info), refetchable_from_date: 0 });
            self.put(
                got.into_iter().map(move |info| UrlItem { item: Some(back(info)), ..UrlItem::default() }),
            )
            .await?;
        }
        Ok(())
    }
}

/// What the child does: a load by its name.
async fn load(name: &str, address: &str, first: u64, urls: u64, queues: u64) -> Result<()> {
    let channel = Endpoint::from_shared(format!("http://{address}"))?.connect().await?;
    let client = Client(channel);
    match name {
        "new" | "known" => {
            let acked = client.put((first..first + urls).map(move |n| discovered(info(n, queues)))).await?;
            ensure!(acked == urls, "{acked} of {urls} acknowledged");
        }
        "batches" => client.put_batches(first, urls, queues).await?,
        "storm" => client.get_and_put_back(urls, 10, 10).await?,
        "scrapy" => client.get_and_put_back(urls, 1, 1).await?,
        "settings" => {
            let (mut grpc, path) = client.at("SetDelay").await?;
            let message = Request::new(QueueDelayParams::default());
            grpc.unary::<_, urlfrontier::grpc::messages::Empty, _>(message, path, ProstCodec::default())
                .await?;
        }
        other => anyhow::bail!("there is no load {other}"),
    }
    Ok(())
}

fn child(name: &str, address: SocketAddr, first: u64, urls: u64, queues: u64) -> Result<()> {
    let (before, watch) = (cpu_seconds(), Stopwatch::start());
    let numbers = [first, urls, queues].map(|n| n.to_string());
    let status = Command::new(std::env::current_exe()?)
        .args(["--load", name, "--address", &address.to_string(), "--first", &numbers[0]])
        .args(["--urls", &numbers[1], "--queues", &numbers[2]])
        .status()?;
    ensure!(status.success(), "the load {name} failed");
    let cpu = cpu_seconds() - before;
    if name != "settings" {
        let (memory, peak) = memory_mib();
        println!(
            "{name:>9}: {urls} URLs, {:.1} µs of CPU each, {:.0}/s; {memory} MiB (peak {peak})",
            cpu * 1e6 / urls as f64,
            watch.per_second(urls),
        );
    }
    Ok(())
}

fn open(dir: &Path) -> Result<Server> {
    let store = Store::open(dir, &Options::default())?;
    let seed = system_time().cast_unsigned();
    let frontier = Arc::new(UrlFrontier::new(store, Arc::new(system_time), None, seed));
    Ok(Server::start(TcpListener::bind("127.0.0.1:0")?, Access::default(), frontier)?)
}

fn measure(dir: &Path, urls: u64) -> Result<()> {
    let queues = (urls / URLS_PER_QUEUE).max(1);
    println!("{urls} URLs in {queues} queues");
    let server = open(dir)?;
    child("settings", server.address, 0, 0, 1)?;
    child("new", server.address, 0, urls, queues)?;
    child("new", server.address, urls, SAMPLE, queues)?;
    child("known", server.address, urls / 2, SAMPLE.min(urls / 2), queues)?;
    child("batches", server.address, urls + SAMPLE, SAMPLE, queues)?;
    child("storm", server.address, 0, SAMPLE.min(urls / 2), queues)?;
    child("scrapy", server.address, 0, SINGLES, queues)?;
    server.stop();
    let watch = Stopwatch::start();
    let server = open(dir)?;
    child("settings", server.address, 0, 0, 1)?;
    println!("  restart: {:.2} s until the first call was answered", watch.elapsed().as_secs_f64());
    server.stop();
    Ok(())
}

fn main() -> Result<()> {
    let urls = number_flag("--urls", 1_000_000);
    if let Some(name) = text_flag("--load") {
        let address = text_flag("--address").context("--address is wanted")?;
        let (first, queues) = (number_flag("--first", 0), number_flag("--queues", 1));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        return runtime.block_on(load(&name, &address, first, urls, queues));
    }
    let dir = scratch()?;
    measure(&dir.path().join("store"), urls)
}
