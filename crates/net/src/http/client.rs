//! The client: takes a connection or makes one, sends, receives, and lets it rest.
//!
//! The name is asked for before each request, which costs nothing while its answer holds (A2), and
//! the guard has its say each time (A6): a connection that rests at an address the name has left,
//! or that may not be asked any more, is closed.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use policy::url::{CrawlUrl, Scheme};
use policy::way::Way;
use tokio::time::{Instant, timeout_at};

use super::error::Problem;
use super::pool::{Pool, PoolLimits};
use super::receive::{Ending, Incoming};
use super::stream::{Connection, Stream};
use super::way::Resolvers;
use super::{FetchError, FetchErrorKind, Fetched, Method, Request, millis, request};
use crate::address::Guard;
use crate::dns::{Clock, DnsError, DnsRecord, Resolver};
use crate::exchange::{Exchange, Recording, Truncated};
use crate::tls::{Certificates, Connector, TlsError};

/// What a [`Client`] is made of.
#[derive(Clone)]
pub struct Setup {
    pub resolver: Arc<Resolver>,
    pub guard: Guard,
    pub certificates: Certificates,
    pub pool: PoolLimits,
    /// Answers beyond this many bytes are recorded in a file in `spill_dir`.
    pub memory_bytes_max: usize,
    pub spill_dir: PathBuf,
    pub clock: Clock,
}

/// Fetches URLs, many at a time.
pub struct Client {
    pub(super) resolver: Arc<Resolver>,
    pub(super) guard: Guard,
    /// A17: of the name servers that some are asked by.
    pub(super) resolvers: Resolvers,
    pub(super) tls: Connector,
    pool: Pool,
    memory_bytes_max: usize,
    spill_dir: PathBuf,
    clock: Clock,
}

/// Why an exchange did not happen.
enum Failure {
    /// The connection ended before a byte of the answer came.
    Unanswered(String),
    Problem(Problem),
}

impl Client {
    pub fn new(setup: Setup) -> Result<Client, TlsError> {
        Ok(Client {
            tls: Connector::new(setup.certificates, setup.clock.clone())?,
            resolver: setup.resolver,
            resolvers: Resolvers::default(),
            guard: setup.guard,
            pool: Pool::new(setup.pool),
            memory_bytes_max: setup.memory_bytes_max,
            spill_dir: setup.spill_dir,
            clock: setup.clock,
        })
    }

    /// Fetches one URL. Dropping the future closes the connection.
    pub async fn fetch(&self, request: &Request<'_>) -> Fetched {
        let at = (self.clock)();
        let mut dns = None;
        let result = self.attempt(request, &mut dns).await.map_err(|Problem { kind, reason }| {
            let elapsed = (self.clock)().since(at);
            FetchError { kind, reason, at, elapsed }
        });
        Fetched { result, dns }
    }

    /// Looks up the host of a URL: as it is known, or anew where that has run out. Gives the
    /// look-up that was made for it, if one was.
    pub async fn look_up(&self, url: &CrawlUrl, way: &Way) -> Result<Option<DnsRecord>, DnsError> {
        let default_port = if url.scheme() == Scheme::Https { 443 } else { 80 };
        let resolver = self.resolver(way);
        let resolved = resolver.resolve(url.host(), url.port().unwrap_or(default_port)).await?;
        Ok(resolved.record)
    }

    /// Closes connections that rested too long, and says how many are still resting. Fetches do
    /// this on the way; this is for quiet times.
    pub fn close_idle(&self) -> usize {
        self.pool.expire()
    }

    async fn attempt(&self, request: &Request<'_>, dns: &mut Option<DnsRecord>) -> Result<Exchange, Problem> {
        let deadline = Instant::now() + millis(request.limits.total);
        let bytes = request::written(request)?;
        let addresses = self.addresses(request.url, request.way, deadline, dns).await?;
        if request.method.may_be_repeated()
            && let Some(resting) = self.pool.take(request::origin(request.url), request.way, &addresses)
        {
            match self.exchange(resting, request, &bytes, deadline).await {
                Ok((exchange, _)) => return Ok(exchange),
                Err(Failure::Problem(problem)) => return Err(problem),
                Err(Failure::Unanswered(_)) => {}
            }
        }
        let (exchange, after) = self.asked_anew(request, &bytes, &addresses, deadline).await?;
        drop(after);
        Ok(exchange)
    }

    /// On a connection of its own.
    async fn asked_anew(
        &self,
        request: &Request<'_>,
        bytes: &[u8],
        addresses: &[SocketAddr],
        deadline: Instant,
    ) -> Result<(Exchange, Option<Upgraded>), Problem> {
        let fresh = self.connect(request, addresses, deadline).await?;
        self.exchange(fresh, request, bytes, deadline).await.map_err(|failure| match failure {
            Failure::Problem(problem) => problem,
            Failure::Unanswered(reason) => Problem::new(FetchErrorKind::Broken, reason),
        })
    }

    /// Asks for another protocol (a [`Method::Upgrade`]): with the answer comes the connection, if
    /// the server agreed.
    ///
    /// [`Method::Upgrade`]: super::Method::Upgrade
    pub async fn upgrade(&self, request: &Request<'_>) -> (Fetched, Option<Upgraded>) {
        let at = (self.clock)();
        let mut dns = None;
        let asked = async {
            let deadline = Instant::now() + millis(request.limits.total);
            let bytes = request::written(request)?;
            let addresses = self.addresses(request.url, request.way, deadline, &mut dns).await?;
            self.asked_anew(request, &bytes, &addresses, deadline).await
        };
        let (result, upgraded) = match asked.await {
            Ok((exchange, upgraded)) => (Ok(exchange), upgraded),
            Err(Problem { kind, reason }) => {
                (Err(FetchError { kind, reason, at, elapsed: (self.clock)().since(at) }), None)
            }
        };
        (Fetched { result, dns }, upgraded)
    }

    async fn exchange(
        &self,
        mut connection: Connection,
        request: &Request<'_>,
        bytes: &[u8],
        deadline: Instant,
    ) -> Result<(Exchange, Option<Upgraded>), Failure> {
        let at = (self.clock)();
        let recording = Recording::new(self.memory_bytes_max, &self.spill_dir);
        let mut incoming = Incoming::to(request, recording);
        ask(&mut connection, bytes, &mut incoming, request, deadline).await?;
        let first_byte = (self.clock)().since(at);
        let ending = tokio::select! {
            biased;
            ending = timeout_at(deadline, incoming.rest(&mut connection.stream)) => match ending {
                Ok(ending) => ending.map_err(Failure::Problem)?,
                Err(_) => Ending::Truncated(Truncated::Time),
            },
            () = stopped(request) => Ending::Truncated(Truncated::Time),
        };
        let framing = incoming.framing();
        let reusable = ending == Ending::Whole && incoming.is_reusable();
        let Some(head) = incoming.head else {
            let reason = format!("no complete headers within {}", request.limits.total);
            return Err(Failure::Problem(Problem::new(FetchErrorKind::Timeout, reason)));
        };
        let exchange = Exchange {
            url: request.url.as_str().to_owned(),
            at,
            remote: connection.remote,
            request: bytes.to_vec(),
            response: incoming.recording,
            head,
            framing,
            truncated: match ending {
                Ending::Whole => None,
                Ending::Truncated(why) => Some(why),
            },
            tls: connection.tls.clone(),
            first_byte,
            total: (self.clock)().since(at),
        };
        let upgraded = exchange.head.status == 101 && request.method == Method::Upgrade;
        if upgraded {
            let Connection { stream, .. } = connection;
            return Ok((exchange, Some(Upgraded { stream, surplus: incoming.surplus })));
        }
        if reusable {
            self.pool.put(connection);
        }
        Ok((exchange, None))
    }
}

/// Sends the request and waits for the first byte of the answer.
async fn ask(
    connection: &mut Connection,
    bytes: &[u8],
    incoming: &mut Incoming,
    request: &Request<'_>,
    deadline: Instant,
) -> Result<(), Failure> {
    let limits = request.limits;
    let patience = Instant::now() + millis(limits.first_byte);
    let asked = timeout_at(deadline.min(patience), async {
        connection.stream.write(bytes).await?;
        incoming.first_byte(&mut connection.stream).await
    });
    let asked = tokio::select! {
        biased;
        asked = asked => asked,
        () = stopped(request) => {
            let reason = "the page was done before an answer came".to_owned();
            return Err(Failure::Problem(Problem::new(FetchErrorKind::Timeout, reason)));
        }
    };
    match asked {
        Ok(Ok(true)) => Ok(()),
        Ok(Ok(false)) => {
            Err(Failure::Unanswered("the server closed the connection without an answer".to_owned()))
        }
        Ok(Err(problem)) => {
            Err(Failure::Unanswered(format!("the connection broke before an answer came: {problem}")))
        }
        Err(_) => {
            let waited = limits.first_byte.min(limits.total);
            let reason = format!("no first byte within {waited}");
            Err(Failure::Problem(Problem::new(FetchErrorKind::Timeout, reason)))
        }
    }
}

/// Until somebody ends it; for ever if nobody can.
async fn stopped(request: &Request<'_>) {
    let Some(live) = request.live else { return std::future::pending().await };
    let mut stop = live.stop.clone();
    if stop.wait_for(|stop| *stop).await.is_err() {
        // Who could have ended it has gone.
        std::future::pending::<()>().await;
    }
}

/// A connection on which another protocol is spoken from now on.
#[derive(Debug)]
pub struct Upgraded {
    stream: Stream,
    /// What the server said already.
    pub surplus: Vec<u8>,
}

impl Upgraded {
    /// Appends what there is to read; 0 at the end.
    pub async fn read(&mut self, into: &mut Vec<u8>) -> io::Result<usize> {
        self.stream.read(into).await
    }

    pub async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write(bytes).await
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("guard", &self.guard).field("pool", &self.pool).finish_non_exhaustive()
    }
}

impl fmt::Debug for Setup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Setup").field("guard", &self.guard).field("pool", &self.pool).finish_non_exhaustive()
    }
}
