//! A web on loopback: one socket, any number of host names, and answers down to the byte.
//!
//! A request becomes an [`Ask`], the site turns it into an [`Answer`], which is a script of bytes
//! and pauses, and the server plays it. What was asked when is kept in a log. A site is a function,
//! so the demo's town, the webs of the tests and those of the benches differ in nothing but that
//! function and their [`Setup`].
//!
//! URLs carry no port: whoever harvests sends `*.test` to [`Web::address`]. Requests with a whole
//! URL are taken too, so a browser that uses the address as its proxy can look around.

mod answer;
mod ask;
mod log;
mod server;
#[cfg(feature = "tls")]
mod tls;

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::net::{TcpListener, ToSocketAddrs};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

pub use answer::{Answer, Step, Then};
pub use ask::Ask;
pub use log::{Keep, Seen};
#[cfg(feature = "tls")]
pub use tls::self_signed;

pub(crate) use answer::{head, length};

use log::Log;

type Site = dyn Fn(&Ask) -> Answer + Send + Sync;

/// Longer than anybody waits for a request: only a hang is that slow.
const PATIENCE: Duration = Duration::from_secs(60);

/// How a web is run.
#[derive(Clone)]
pub struct Setup {
    pub keep: Keep,
    /// Beyond that, others wait until one is closed.
    pub connections_max: usize,
    /// For a request to come in whole, on a connection that may be idle.
    pub request_wait: Option<Duration>,
    /// For an answer to be played.
    pub answer_wait: Option<Duration>,
    /// For a web that speaks TLS, with whoever begins with it.
    #[cfg(feature = "tls")]
    pub tls: Option<tokio_rustls::TlsAcceptor>,
}

impl Default for Setup {
    /// For a test: everything is kept, nobody is turned away.
    fn default() -> Setup {
        Setup {
            keep: Keep::Everything,
            connections_max: tokio::sync::Semaphore::MAX_PERMITS,
            request_wait: None,
            answer_wait: None,
            #[cfg(feature = "tls")]
            tls: None,
        }
    }
}

impl Setup {
    /// For a bench: a log, and counting what was asked for, would take the time that is to be
    /// measured.
    pub fn fast() -> Setup {
        Setup { keep: Keep::Nothing, ..Setup::default() }
    }
}

/// What all connections have in common.
struct Shared {
    site: Box<Site>,
    setup: Setup,
    log: Log,
    connections: AtomicUsize,
}

/// A running web. Everything ends when it is dropped.
pub struct Web {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: JoinHandle<()>,
    /// Where it has a thread of its own.
    runtime: Option<Runtime>,
}

impl Web {
    /// Listens there on the runtime of the caller.
    pub async fn listen(
        address: impl ToSocketAddrs,
        setup: Setup,
        site: impl Fn(&Ask) -> Answer + Send + Sync + 'static,
    ) -> io::Result<Web> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let log = Log::new(setup.keep);
        let shared = Arc::new(Shared { site: Box::new(site), setup, log, connections: AtomicUsize::new(0) });
        let accepting = tokio::spawn(server::accept(listener, Arc::clone(&shared)));
        Ok(Web { address, shared, accepting, runtime: None })
    }

    /// Listens there on a thread of its own, as if it were another machine.
    pub fn start(
        address: SocketAddr,
        setup: Setup,
        site: impl Fn(&Ask) -> Answer + Send + Sync + 'static,
    ) -> io::Result<Web> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let mut web = runtime.block_on(Web::listen(address, setup, site))?;
        web.runtime = Some(runtime);
        Ok(web)
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// What was asked for and is kept, in the order in which it came.
    pub fn seen(&self) -> Vec<Seen> {
        self.shared.log.seen()
    }

    /// Requests so far.
    pub fn count(&self) -> usize {
        self.shared.log.count()
    }

    /// How often a URL was asked for.
    pub fn times(&self, url: &str) -> usize {
        self.shared.log.times(url)
    }

    /// Connections so far.
    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }

    /// Waits until so many requests have begun since the start.
    pub fn wait_for(&self, count: usize) {
        assert!(self.shared.log.wait_for(count, PATIENCE), "{} of {count} requests came", self.count());
    }
}

impl Drop for Web {
    /// Open connections go with the task that accepted them.
    fn drop(&mut self) {
        self.accepting.abort();
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl fmt::Debug for Setup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Setup").field("keep", &self.keep).finish_non_exhaustive()
    }
}

impl fmt::Debug for Web {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Web").field("address", &self.address).finish_non_exhaustive()
    }
}
