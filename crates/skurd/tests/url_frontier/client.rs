//! A client of the URL Frontier, and the real binary that serves it.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use http::uri::PathAndQuery;
use prost::Message;
use serde_json::Value;
use testkit::world::{Run, World};
use tokio_stream::{Stream, StreamExt};
use tonic::client::Grpc;
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Status, Streaming};
use tonic_prost::ProstCodec;
use urlfrontier::grpc::messages as m;

/// Longer than anything takes: only a hang is that slow.
const PATIENCE: Duration = Duration::from_secs(60);

/// A `skurd serve` that serves the URL frontier too.
pub(crate) struct Process {
    run: Run,
    /// Of the API, and of the URL frontier.
    pub(crate) api: SocketAddr,
    pub(crate) urls: SocketAddr,
}

impl Process {
    pub(crate) fn start(world: &World) -> Process {
        Process::with(world, &["c.yaml", "--url-frontier", "127.0.0.1:0"])
    }

    pub(crate) fn with(world: &World, args: &[&str]) -> Process {
        let run = Run::spawn(world.serve_command(args, None));
        let address = |wanted: &str| {
            let found = run.line(PATIENCE, |line| {
                let event: Value = serde_json::from_str(line).unwrap_or_default();
                (event["event"] == wanted).then(|| event["address"].as_str().unwrap().parse().unwrap())
            });
            found.unwrap_or_else(|| panic!("it is not {wanted}: {:?}", run.told()))
        };
        let (urls, api) = (address("url-frontier"), address("serving"));
        Process { api, urls, run }
    }

    /// As the power of the process going out would.
    pub(crate) fn kill(self) {
        let told = self.run.kill();
        assert!(!told.err.contains("panicked"), "{}", told.err);
    }

    pub(crate) fn stop(self) {
        self.run.signal("-TERM");
        let told = self.run.end();
        assert!(told.code == Some(0) && !told.err.contains("panicked"), "{told:?}");
    }
}

#[derive(Clone)]
pub(crate) struct Client(Channel);

impl Client {
    pub(crate) async fn connect(address: SocketAddr) -> Client {
        Client::of(Endpoint::from_shared(format!("http://{address}")).unwrap()).await
    }

    pub(crate) async fn of(endpoint: Endpoint) -> Client {
        Client(endpoint.connect().await.unwrap())
    }

    async fn ready(&self, method: &str) -> Result<(Grpc<Channel>, PathAndQuery), Status> {
        let mut grpc = Grpc::new(self.0.clone());
        grpc.ready().await.map_err(|error| Status::unavailable(error.to_string()))?;
        Ok((grpc, format!("/urlfrontier.URLFrontier/{method}").parse().unwrap()))
    }

    pub(crate) async fn call<B>(&self, method: &str, message: impl Message + 'static) -> Result<B, Status>
    where
        B: Message + Default + 'static,
    {
        let (mut grpc, path) = self.ready(method).await?;
        Ok(grpc.unary(Request::new(message), path, ProstCodec::default()).await?.into_inner())
    }

    pub(crate) async fn get(&self, params: m::GetParams) -> Result<Vec<m::UrlInfo>, Status> {
        self.list("GetURLs", params).await
    }

    pub(crate) async fn list<B>(&self, method: &str, asked: impl Message + 'static) -> Result<Vec<B>, Status>
    where
        B: Message + Default + 'static,
    {
        let (mut grpc, path) = self.ready(method).await?;
        let answer = grpc.server_streaming(Request::new(asked), path, ProstCodec::default()).await?;
        answer.into_inner().collect::<Vec<Result<B, Status>>>().await.into_iter().collect()
    }

    pub(crate) async fn put(
        &self,
        items: impl Stream<Item = m::UrlItem> + Send + 'static,
    ) -> Result<Streaming<m::AckMessage>, Status> {
        let (mut grpc, path) = self.ready("PutURLs").await?;
        Ok(grpc.streaming(Request::new(items), path, ProstCodec::default()).await?.into_inner())
    }

    /// Puts them all, each of which must be acknowledged.
    pub(crate) async fn put_all(&self, items: Vec<m::UrlItem>) {
        let count = items.len();
        let acks: Vec<_> = self.put(tokio_stream::iter(items)).await.unwrap().collect().await;
        assert_eq!(acks.into_iter().filter(|ack| ack.as_ref().unwrap().status != 2).count(), count);
    }
}

pub(crate) fn info(crawl: &str, key: &str, url: &str) -> m::UrlInfo {
    let (url, key) = (Bytes::copy_from_slice(url.as_bytes()), Bytes::copy_from_slice(key.as_bytes()));
    m::UrlInfo { url, key, metadata: Vec::new(), crawl: Bytes::copy_from_slice(crawl.as_bytes()) }
}

pub(crate) fn discovered(info: m::UrlInfo) -> m::UrlItem {
    let item = Some(m::News::Discovered(m::Discovered { info: Some(info) }));
    m::UrlItem { item, ..m::UrlItem::default() }
}

pub(crate) fn known(info: m::UrlInfo, refetchable_from_date: u64) -> m::UrlItem {
    let item = Some(m::News::Known(m::Known { info: Some(info), refetchable_from_date }));
    m::UrlItem { item, ..m::UrlItem::default() }
}

pub(crate) fn of(crawl: &str, queues: u32, urls: u32) -> m::GetParams {
    m::GetParams {
        max_queues: queues,
        max_urls_per_queue: urls,
        delay_requestable: 100_000,
        crawl: Some(m::Crawl::Named(crawl.into())),
        ..m::GetParams::default()
    }
}

pub(crate) fn text(bytes: &Bytes) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}
