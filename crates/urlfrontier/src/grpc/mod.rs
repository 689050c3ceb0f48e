//! The gRPC service of crawler-commons URL Frontier 2.6 (page 9 of the specification).
//!
//! Messages and the way from a path to its call are written by hand, by the numbers of the public
//! `urlfrontier.proto`: no compiler of such files is needed to build. The server has threads of its
//! own, beside those of the harvest.

pub mod messages;
mod puts;
mod service;
mod tls;

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

pub use puts::UNACKED_MAX;
use service::{Inner, Service};
pub use tls::Tls;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tonic::transport::server::TcpIncoming;

use crate::UrlFrontier;

/// All that is put goes through one hand anyway, and who asks for one URL at a time costs mostly the
/// switches from thread to thread.
const THREADS: usize = 1;
const TICK: Duration = Duration::from_secs(1);
/// How long streams have to end.
const END_WITHIN: Duration = Duration::from_secs(3);
/// A client that is silent is asked whether it is there.
const ALIVE_EVERY: Duration = Duration::from_secs(60);
/// Calls of a connection at the same time.
const STREAMS_MAX: u32 = 1024;
/// Read ahead on a connection, over all its streams.
const WINDOW_BYTES: u32 = 4 << 20;
const STREAM_WINDOW_BYTES: u32 = 1 << 20;

/// The service, listening.
pub struct Server {
    runtime: Runtime,
    listening: JoinHandle<()>,
    stop: watch::Sender<bool>,
    pub address: SocketAddr,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("address", &self.address).finish_non_exhaustive()
    }
}

/// Who may call, and how.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// Each call must bring it; without one, whoever reaches the address may ask.
    pub token: Option<String>,
    /// Without it, HTTP/2 is spoken as it is.
    pub tls: Option<Tls>,
}

impl Server {
    /// Answers at once.
    pub fn start(listener: TcpListener, access: Access, frontier: Arc<UrlFrontier>) -> io::Result<Server> {
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let runtime = Builder::new_multi_thread()
            .worker_threads(THREADS)
            .thread_name("skurd-urls")
            .enable_all()
            .build()?;
        let inside = runtime.enter();
        let puts = puts::Puts::start(Arc::clone(&frontier));
        runtime.spawn(tend(Arc::clone(&frontier)));
        let _ = frontier.served_at.set(address);
        let inner = Inner { frontier, puts, token: access.token, address: address.to_string() };
        let (stop, mut stopped) = watch::channel(false);
        let incoming =
            TcpIncoming::from(tokio::net::TcpListener::from_std(listener)?).with_nodelay(Some(true));
        let router = tonic::transport::Server::builder()
            .initial_connection_window_size(WINDOW_BYTES)
            .initial_stream_window_size(STREAM_WINDOW_BYTES)
            .max_concurrent_streams(STREAMS_MAX)
            .http2_keepalive_interval(Some(ALIVE_EVERY))
            .add_service(Service(Arc::new(inner)));
        let stopping = async move {
            let _ = stopped.wait_for(|stopped| *stopped).await;
        };
        let listening = runtime.spawn(async move {
            let ended = match &access.tls {
                Some(tls) => router.serve_with_incoming_shutdown(tls::accept(incoming, tls), stopping).await,
                None => router.serve_with_incoming_shutdown(incoming, stopping).await,
            };
            if let Err(error) = ended {
                tracing::warn!("the URL frontier ended: {error}");
            }
        });
        drop(inside);
        Ok(Server { runtime, listening, stop, address })
    }

    /// Takes no more calls, and waits shortly for those under way.
    pub fn stop(self) {
        let _ = self.stop.send(true);
        let _ = self.runtime.block_on(async { tokio::time::timeout(END_WITHIN, self.listening).await });
        self.runtime.shutdown_timeout(END_WITHIN);
    }
}

/// What is done once a second: samples, and the sweeping up of what was deleted.
async fn tend(frontier: Arc<UrlFrontier>) {
    let mut ticks = tokio::time::interval(TICK);
    loop {
        ticks.tick().await;
        frontier.figures.tick();
        loop {
            match frontier.sweep().await {
                Ok(true) => tokio::task::yield_now().await,
                Ok(false) => break,
                Err(error) => {
                    tracing::warn!("what was deleted of the URL frontier is not swept up: {error}");
                    break;
                }
            }
        }
    }
}
