//! Servers that do exactly what a test wants, and a client to meet them.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use net::address::Guard;
use net::dns::{Clock, Overrides, Resolver};
use net::exchange::Exchange;
use net::http::{Client, FetchError, FetchLimits, PoolLimits, Request, Setup};
use net::tls::Certificates;
use policy::time::{Span, Time};
use policy::url::CrawlUrl;
use testkit::web::{self, Answer, Ask, Then, Web, self_signed};
use tokio::time::Instant;

/// A reaction to one request.
pub(crate) type Reaction = (Vec<u8>, Then);

pub(crate) struct Server(Web);

impl Server {
    /// Answers every request in the same way.
    pub(crate) async fn playing(answer: Answer) -> Server {
        Server::with(web::Setup::default(), "127.0.0.1:0", move |_| answer.clone()).await
    }

    /// Reacts to every request in the same way.
    pub(crate) async fn answering(bytes: &[u8], then: Then) -> Server {
        Server::playing(Answer::bytes(0, bytes, then)).await
    }

    /// Reacts to request `r` of connection `c` with `reaction(c, r)`, and closes if that is none.
    pub(crate) async fn start<F>(address: &str, reaction: F) -> Server
    where
        F: Fn(usize, usize) -> Option<Reaction> + Send + Sync + 'static,
    {
        Server::with(web::Setup::default(), address, move |ask| match reaction(ask.connection, ask.turn) {
            Some((bytes, then)) => Answer::bytes(0, bytes, then),
            None => Answer::nothing(),
        })
        .await
    }

    /// The same for https://a.test/, with a certificate of its own making.
    pub(crate) async fn encrypted(site: impl Fn(&Ask) -> Answer + Send + Sync + 'static) -> Server {
        let setup = web::Setup { tls: Some(self_signed("a.test")), ..web::Setup::default() };
        Server::with(setup, "127.0.0.1:0", site).await
    }

    async fn with(
        setup: web::Setup,
        address: &str,
        site: impl Fn(&Ask) -> Answer + Send + Sync + 'static,
    ) -> Server {
        Server(Web::listen(address, setup, site).await.unwrap())
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.0.address()
    }

    pub(crate) fn port(&self) -> u16 {
        self.0.port()
    }

    pub(crate) fn connections(&self) -> usize {
        self.0.connections()
    }

    pub(crate) fn requests(&self) -> usize {
        self.0.count()
    }

    /// Answers that were played to their end.
    pub(crate) fn played(&self) -> usize {
        self.0.seen().iter().filter(|seen| seen.whole).count()
    }

    pub(crate) fn url(&self, path: &str) -> CrawlUrl {
        CrawlUrl::from_normal(format!("http://{}{path}", self.0.address())).unwrap()
    }
}

pub(crate) const LIMITS: FetchLimits = FetchLimits {
    connect: Span(5_000),
    first_byte: Span(5_000),
    total: Span(10_000),
    bytes: 1 << 20,
    header_bytes: 16 * 1024,
};

/// Runs with the machine, from a fixed start.
pub(crate) fn clock() -> Clock {
    let start = Instant::now();
    Arc::new(move || Time(1_800_000_000_000 + i64::try_from(start.elapsed().as_millis()).unwrap()))
}

pub(crate) fn setup(resolve: &[&str]) -> Setup {
    let overrides = Overrides::parse(resolve.iter().copied()).unwrap();
    let nowhere = ["127.0.0.1:9".parse().unwrap()];
    Setup {
        resolver: Arc::new(Resolver::with_servers(&nowhere, Span(50), 1, overrides, clock())),
        guard: Guard::allowing(["127.0.0.1/32".parse().unwrap()]),
        certificates: Certificates::AcceptBad,
        pool: PoolLimits::default(),
        memory_bytes_max: 1 << 20,
        spill_dir: PathBuf::from(env!("CARGO_TARGET_TMPDIR")),
        clock: clock(),
    }
}

pub(crate) fn client() -> Client {
    Client::new(setup(&[])).unwrap()
}

pub(crate) async fn get(
    client: &Client,
    url: &CrawlUrl,
    limits: &FetchLimits,
) -> Result<Exchange, FetchError> {
    let headers = [("User-Agent", "skurd-test"), ("Accept-Encoding", "gzip, deflate, br, zstd")];
    client.fetch(&Request::get(url, &headers, limits)).await.result
}

/// Everything recorded of the answer.
pub(crate) fn recorded(exchange: &Exchange) -> Vec<u8> {
    let mut bytes = Vec::new();
    std::io::Read::read_to_end(&mut exchange.response.reader(0), &mut bytes).unwrap();
    assert_eq!(bytes.len() as u64, exchange.response.len());
    bytes
}

pub(crate) fn body(exchange: &Exchange) -> Vec<u8> {
    let mut bytes = Vec::new();
    std::io::Read::read_to_end(&mut net::http::body(exchange), &mut bytes).unwrap();
    bytes
}
