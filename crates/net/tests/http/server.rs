//! A server that does exactly what a test wants, and a client to meet it.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use net::address::Guard;
use net::dns::{Clock, Overrides, Resolver};
use net::exchange::Exchange;
use net::http::{Client, FetchError, FetchLimits, PoolLimits, Request, Setup};
use net::tls::Certificates;
use policy::time::{Span, Time};
use policy::url::CrawlUrl;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;

/// What the server does after it has sent something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Then {
    /// Waits for the next request.
    Stay,
    Close,
    /// Closes so that the other side sees an error.
    Reset,
    /// Neither says anything more nor closes.
    Hang,
}

/// A reaction to one request.
pub(crate) type Reaction = (Vec<u8>, Then);

pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    connections: Arc<AtomicUsize>,
    requests: Arc<AtomicUsize>,
}

impl Server {
    /// Reacts to every request in the same way.
    pub(crate) async fn answering(bytes: &[u8], then: Then) -> Server {
        let reaction = (bytes.to_vec(), then);
        Server::start("127.0.0.1:0", move |_, _| Some(reaction.clone())).await
    }

    /// Reacts to request `r` of connection `c` with `reaction(c, r)`, and closes if that is none.
    pub(crate) async fn start<F>(address: &str, reaction: F) -> Server
    where
        F: Fn(usize, usize) -> Option<Reaction> + Send + Sync + 'static,
    {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (connections, requests) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (seen, asked) = (connections.clone(), requests.clone());
        let reaction = Arc::new(reaction);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let connection = seen.fetch_add(1, Ordering::SeqCst);
                let (reaction, asked) = (reaction.clone(), asked.clone());
                tokio::spawn(
                    async move { serve(stream, |request| reaction(connection, request), &asked).await },
                );
            }
        });
        Server { address, connections, requests }
    }

    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    pub(crate) fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }

    pub(crate) fn url(&self, path: &str) -> CrawlUrl {
        CrawlUrl::from_normal(format!("http://{}{path}", self.address)).unwrap()
    }
}

async fn serve(mut stream: TcpStream, reaction: impl Fn(usize) -> Option<Reaction>, asked: &AtomicUsize) {
    for request in 0.. {
        if !read_request(&mut stream).await {
            return;
        }
        asked.fetch_add(1, Ordering::SeqCst);
        let Some((bytes, then)) = reaction(request) else { return };
        if stream.write_all(&bytes).await.is_err() {
            return;
        }
        match then {
            Then::Stay => {}
            Then::Close => return,
            Then::Reset => {
                // The client must have read what came before: a reset takes away what is still on its way.
                tokio::time::sleep(std::time::Duration::from_millis(30)).await;
                return stream.set_zero_linger().unwrap();
            }
            Then::Hang => std::future::pending().await,
        }
    }
}

/// Whether a whole request came.
pub(crate) async fn read_request(stream: &mut TcpStream) -> bool {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        if stream.read_buf(&mut request).await.unwrap_or(0) == 0 {
            return false;
        }
    }
    true
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
    client.fetch(&Request { url, headers: &headers, limits }).await.result
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
