//! The one way to the web that a browser's tab has (B4): a proxy on a port of loopback, for one page.
//!
//! The life of a [`Proxy`]: it is opened for a page and closed with it, so whoever speaks to its
//! port is that page, or a worker, frame or socket of it; others of the machine who find it are hung
//! up on, unless they are the same user. Each connection carries requests one after
//! the other; one that begins with CONNECT is a tunnel, and inside it is spoken TLS with a
//! [certificate](Certificates) made for that name, or plain HTTP (as browsers do for websockets).
//! Each request is read whole and given to the [`Origin`], which decides everything: whether anybody
//! is asked, what is recorded, what is answered. Nothing here opens a connection to anywhere.
//!
//! Bounded: connections, heads, bodies of requests (each, and those of a page together), and the time a connection may be silent.

mod certificates;
mod peer;
mod request;
mod socket;

use std::future::Future;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

pub use certificates::{CertificateFailure, Certificates};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
pub use request::Asked;
use request::{Next, read_request};
pub use socket::{Counted, tunnel};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_rustls::TlsAcceptor;

/// At a time: a browser keeps to 32 for one proxy.
const CONNECTIONS_MAX: usize = 256;
/// What all requests of a page may have sent and wait to be answered, in units.
const ROOM_UNITS: usize = 1024;
const ROOM_UNIT_BYTES: usize = 64 << 10;
/// A connection on which nothing is asked for this long is closed.
const IDLE_MAX: Duration = Duration::from_secs(120);

/// Who decides what becomes of the requests of a page.
pub trait Origin: Send + Sync {
    /// Answers one request.
    fn serve(&self, asked: Asked, to: &mut Client) -> impl Future<Output = io::Result<After>> + Send;

    /// Something came that is no request, or a tunnel that cannot be: said of what, and why.
    fn odd(&self, what: &str, why: &str);
}

/// What becomes of a connection after an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    Keep,
    Close,
}

trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Duplex for T {}

/// The browser's end of a connection.
pub struct Client {
    stream: Box<dyn Duplex>,
    /// Read already, and not yet understood.
    buffer: Vec<u8>,
    room: Room,
}

/// For what requests send: a page that sends much at once waits for its own answers.
struct Room {
    all: Arc<Semaphore>,
    /// Of the request in hand.
    taken: Option<OwnedSemaphorePermit>,
}

impl Room {
    fn new() -> Room {
        Room { all: Arc::new(Semaphore::new(ROOM_UNITS)), taken: None }
    }

    fn shared(&self) -> Room {
        Room { all: Arc::clone(&self.all), taken: None }
    }

    /// Takes what a request needs.
    async fn take(&mut self, bytes: usize) {
        if bytes > ROOM_UNIT_BYTES {
            let units = u32::try_from(bytes.div_ceil(ROOM_UNIT_BYTES).min(ROOM_UNITS)).unwrap_or(1);
            self.taken = Arc::clone(&self.all).acquire_many_owned(units).await.ok();
        }
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("buffered", &self.buffer.len()).finish_non_exhaustive()
    }
}

impl Client {
    pub async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes).await?;
        self.stream.flush().await
    }

    /// An answer of our own: a status, a type and a short text.
    pub async fn answer(&mut self, status: u16, reason: &str, text: &str) -> io::Result<()> {
        let head = format!(
            "HTTP/1.1 {status} {reason}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\n\
             Cache-Control: no-store\r\n\r\n",
            text.len()
        );
        self.write(head.as_bytes()).await?;
        self.write(text.as_bytes()).await
    }

    /// Appends what there is to read; 0 at the end.
    async fn read(&mut self) -> io::Result<usize> {
        self.stream.read_buf(&mut self.buffer).await
    }
}

/// A port for one page.
#[derive(Debug)]
pub struct Proxy {
    listener: TcpListener,
    address: SocketAddr,
}

impl Proxy {
    /// Opens a port on loopback.
    pub async fn open() -> io::Result<Proxy> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        Ok(Proxy { listener, address })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves whoever connects, for as long as it is waited for: dropped, it cuts everybody off.
    pub async fn serve<O: Origin>(&self, origin: &O, certificates: &Certificates) {
        let mut connections = FuturesUnordered::new();
        let room = Room::new();
        loop {
            tokio::select! {
                accepted = self.listener.accept(), if connections.len() < CONNECTIONS_MAX => match accepted {
                    // Whatever goes wrong, the browser has hung up, or will find that we have.
                    Ok((stream, peer)) if peer::is_own(peer, self.address) => {
                        connections.push(connected(stream, room.shared(), origin, certificates));
                    }
                    Ok((_, peer)) => origin.odd(&peer.to_string(), "another user of this machine"),
                    // No more files, most likely: others will close theirs.
                    Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
                },
                Some(_) = connections.next(), if !connections.is_empty() => {}
            }
        }
    }
}

async fn connected<O: Origin>(
    stream: TcpStream,
    room: Room,
    origin: &O,
    certificates: &Certificates,
) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut client = Client { stream: Box::new(stream), buffer: Vec::new(), room };
    let target = match talk(&mut client, origin, None).await? {
        Some(target) => target,
        None => return Ok(()),
    };
    client.write(b"HTTP/1.1 200 Connection established\r\n\r\n").await?;
    if client.buffer.is_empty() && client.read().await? == 0 {
        return Ok(());
    }
    let is_tls = client.buffer.first() == Some(&0x16);
    if !is_tls {
        let base = format!("http://{}", without_default(&target, ":80"));
        return talk(&mut client, origin, Some(&base)).await.map(drop);
    }
    let name = target.rsplit_once(':').map_or(target.as_str(), |(name, _)| name);
    let config = match certificates.for_name(name) {
        Ok(config) => config,
        Err(failure) => {
            origin.odd(&target, &failure.to_string());
            return Ok(());
        }
    };
    let (begun, room) = (Begun { first: client.buffer, at: 0, rest: client.stream }, client.room);
    let stream = match TlsAcceptor::from(config).accept(begun).await {
        Ok(stream) => stream,
        Err(problem) => {
            origin.odd(&target, &format!("no TLS with the browser: {problem}"));
            return Ok(());
        }
    };
    let mut client = Client { stream: Box::new(stream), buffer: Vec::new(), room };
    let base = format!("https://{}", without_default(&target, ":443"));
    talk(&mut client, origin, Some(&base)).await.map(drop)
}

/// Request after request, up to the end of the connection, or to a wish for a tunnel, whose target
/// is given.
async fn talk<O: Origin>(client: &mut Client, origin: &O, base: Option<&str>) -> io::Result<Option<String>> {
    loop {
        let next = match tokio::time::timeout(IDLE_MAX, read_request(client, base)).await {
            Ok(next) => next?,
            Err(_) => return Ok(None),
        };
        match next {
            Next::Over => return Ok(None),
            Next::Odd(why) => {
                origin.odd(base.unwrap_or("a request"), &why);
                client.answer(400, "Bad Request", &why).await?;
                return Ok(None);
            }
            // A tunnel in a tunnel leads nowhere.
            Next::Connect(target) if base.is_none() => return Ok(Some(target)),
            Next::Connect(target) => {
                origin.odd(&target, "a tunnel in a tunnel");
                return Ok(None);
            }
            Next::Request(asked) => {
                if origin.serve(asked, client).await? == After::Close {
                    return Ok(None);
                }
            }
        }
    }
}

fn without_default<'a>(target: &'a str, port: &str) -> &'a str {
    target.strip_suffix(port).unwrap_or(target)
}

/// A stream of which some bytes were read already.
struct Begun {
    first: Vec<u8>,
    at: usize,
    rest: Box<dyn Duplex>,
}

impl AsyncRead for Begun {
    fn poll_read(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
        into: &mut tokio::io::ReadBuf<'_>,
    ) -> std::task::Poll<io::Result<()>> {
        if self.at < self.first.len() {
            let end = self.first.len().min(self.at + into.remaining());
            into.put_slice(&self.first[self.at..end]);
            self.at = end;
            return std::task::Poll::Ready(Ok(()));
        }
        std::pin::Pin::new(&mut self.rest).poll_read(context, into)
    }
}

impl AsyncWrite for Begun {
    fn poll_write(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
        bytes: &[u8],
    ) -> std::task::Poll<io::Result<usize>> {
        std::pin::Pin::new(&mut self.rest).poll_write(context, bytes)
    }

    fn poll_flush(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<io::Result<()>> {
        std::pin::Pin::new(&mut self.rest).poll_flush(context)
    }

    fn poll_shutdown(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<io::Result<()>> {
        std::pin::Pin::new(&mut self.rest).poll_shutdown(context)
    }
}
