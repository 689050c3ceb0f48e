//! A client as generated code would be, with messages of its own for what it puts and gets.

use std::collections::HashMap;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use http::uri::PathAndQuery;
use prost::Message;
use store::Store;
use tokio_stream::{Stream, StreamExt};
use tonic::client::Grpc;
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Status, Streaming};
use tonic_prost::ProstCodec;
use urlfrontier::UrlFrontier;
use urlfrontier::grpc::messages::{self as m, AckMessage, StringList};
use urlfrontier::grpc::{Access, Server};

#[derive(Clone, PartialEq, Message)]
pub(crate) struct UrlInfo {
    #[prost(string, tag = "1")]
    pub(crate) url: String,
    #[prost(string, tag = "2")]
    pub(crate) key: String,
    #[prost(map = "string, message", tag = "3")]
    pub(crate) metadata: HashMap<String, StringList>,
    #[prost(string, tag = "4")]
    pub(crate) crawl: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Known {
    #[prost(message, optional, tag = "1")]
    pub(crate) info: Option<UrlInfo>,
    #[prost(uint64, tag = "2")]
    pub(crate) date: u64,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Discovered {
    #[prost(message, optional, tag = "1")]
    pub(crate) info: Option<UrlInfo>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
pub(crate) enum News {
    #[prost(message, tag = "1")]
    Discovered(Discovered),
    #[prost(message, tag = "2")]
    Known(Known),
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct UrlItem {
    #[prost(oneof = "News", tags = "1, 2")]
    pub(crate) item: Option<News>,
    #[prost(string, tag = "3")]
    pub(crate) id: String,
    #[prost(uint64, tag = "4")]
    pub(crate) creation_date: u64,
}

impl UrlItem {
    pub(crate) fn into_known(self) -> Known {
        match self.item {
            Some(News::Known(known)) => known,
            other => panic!("no known item: {other:?}"),
        }
    }
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Batch {
    #[prost(string, tag = "1")]
    pub(crate) id: String,
    #[prost(message, repeated, tag = "2")]
    pub(crate) items: Vec<UrlInfo>,
}

pub(crate) fn info(crawl: &str, key: &str, url: &str) -> UrlInfo {
    UrlInfo { url: url.into(), key: key.into(), metadata: HashMap::new(), crawl: crawl.into() }
}

pub(crate) fn discovered(info: UrlInfo) -> UrlItem {
    let item = Some(News::Discovered(Discovered { info: Some(info) }));
    UrlItem { item, ..UrlItem::default() }
}

pub(crate) fn known(info: UrlInfo, date: u64) -> UrlItem {
    UrlItem { item: Some(News::Known(Known { info: Some(info), date })), ..UrlItem::default() }
}

#[derive(Clone)]
pub(crate) struct Client {
    pub(crate) channel: Channel,
    pub(crate) token: Option<String>,
}

impl Client {
    pub(crate) async fn connect(address: SocketAddr) -> Client {
        let endpoint = Endpoint::from_shared(format!("http://{address}")).unwrap();
        Client { channel: endpoint.connect().await.unwrap(), token: None }
    }

    fn request<T>(&self, message: T) -> Request<T> {
        let mut request = Request::new(message);
        if let Some(token) = &self.token {
            request.metadata_mut().insert("authorization", format!("Bearer {token}").parse().unwrap());
        }
        request
    }

    async fn ready(&self, method: &str) -> Result<(Grpc<Channel>, PathAndQuery), Status> {
        let mut grpc = Grpc::new(self.channel.clone());
        grpc.ready().await.map_err(|error| Status::unavailable(error.to_string()))?;
        Ok((grpc, format!("/urlfrontier.URLFrontier/{method}").parse().unwrap()))
    }

    pub(crate) async fn call<A, B>(&self, method: &str, message: A) -> Result<B, Status>
    where
        A: Message + 'static,
        B: Message + Default + 'static,
    {
        let (mut grpc, path) = self.ready(method).await?;
        let answer = grpc.unary(self.request(message), path, ProstCodec::default()).await?;
        Ok(answer.into_inner())
    }

    pub(crate) async fn list<A, B>(&self, method: &str, message: A) -> Result<Vec<B>, Status>
    where
        A: Message + 'static,
        B: Message + Default + 'static,
    {
        let (mut grpc, path) = self.ready(method).await?;
        let answer = grpc.server_streaming(self.request(message), path, ProstCodec::default()).await?;
        answer.into_inner().collect::<Vec<Result<B, Status>>>().await.into_iter().collect()
    }

    pub(crate) async fn stream<A, B>(
        &self,
        method: &str,
        items: impl Stream<Item = A> + Send + 'static,
    ) -> Result<Streaming<B>, Status>
    where
        A: Message + 'static,
        B: Message + Default + 'static,
    {
        let (mut grpc, path) = self.ready(method).await?;
        Ok(grpc.streaming(self.request(items), path, ProstCodec::default()).await?.into_inner())
    }

    pub(crate) async fn put(&self, items: Vec<UrlItem>) -> Vec<(String, i32)> {
        let acks = self.stream::<_, AckMessage>("PutURLs", tokio_stream::iter(items)).await.unwrap();
        let acks: Vec<_> = acks.collect::<Vec<_>>().await;
        acks.into_iter()
            .map(|ack| ack.unwrap())
            .map(|ack| (String::from_utf8(ack.id.to_vec()).unwrap(), ack.status))
            .collect()
    }

    pub(crate) async fn get(&self, params: m::GetParams) -> Vec<UrlInfo> {
        self.list("GetURLs", params).await.unwrap()
    }

    pub(crate) async fn stats(&self, crawl: &str, key: &str) -> m::Stats {
        let asked = m::QueueWithinCrawlParams { key: key.into(), crawl: crawl.into(), local: false };
        self.call("GetStats", asked).await.unwrap()
    }
}

pub(crate) const NOW: i64 = 1_800_000_000_000;
pub(crate) const NOW_S: u64 = 1_800_000_000;

/// A frontier in memory that is served, with a clock that stands still.
pub(crate) struct Rig {
    pub(crate) client: Client,
    pub(crate) clock: Arc<AtomicI64>,
    pub(crate) store: Store,
    pub(crate) frontier: Arc<UrlFrontier>,
    pub(crate) address: SocketAddr,
}

impl Rig {
    pub(crate) fn pass(&self, millis: i64) {
        self.clock.fetch_add(millis, Ordering::SeqCst);
    }
}

pub(crate) fn frontier(store: Store, clock: &Arc<AtomicI64>, seed: u64) -> Arc<UrlFrontier> {
    let clock = Arc::clone(clock);
    Arc::new(UrlFrontier::new(store, Arc::new(move || clock.load(Ordering::SeqCst)), None, seed))
}

/// Runs a test against a served frontier; afterwards its tables must agree.
pub(crate) fn served(token: Option<&str>, test: impl AsyncFnOnce(&Rig)) {
    let store = Store::in_memory(7);
    let clock = Arc::new(AtomicI64::new(NOW));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let frontier = frontier(store.clone(), &clock, 7);
    let server =
        Server::start(listener, Access { token: token.map(str::to_owned), tls: None }, Arc::clone(&frontier))
            .unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut client = Client::connect(server.address).await;
        client.token = token.map(str::to_owned);
        let rig = Rig { client, clock, store: store.clone(), frontier, address: server.address };
        test(&rig).await;
        assert_eq!(urlfrontier::check(&store).await.unwrap(), Vec::<String>::new());
    });
    drop(runtime);
    server.stop();
}
