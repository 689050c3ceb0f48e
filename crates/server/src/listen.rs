//! Connections: a bounded number, each bounded in what it may send and how long it may dawdle.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};

/// Connections at the same time; who comes later waits.
const CONNECTIONS_MAX: usize = 2048;
const HEAD_BYTES_MAX: usize = 32 << 10;
const HEADERS_MAX: usize = 64;
/// How long a head may take, and how long an idle connection stays.
const HEAD_WITHIN: Duration = Duration::from_secs(10);
/// How long a client may leave unread what was sent.
const UNREAD_MS_MAX: u32 = 30_000;
/// How long the answers under way have when the server stops.
const END_WITHIN: Duration = Duration::from_secs(2);
/// Until the next try, when no connection can be taken (the process has too many files open).
const AGAIN_AFTER: Duration = Duration::from_millis(100);

/// Serves until `stop` says so.
pub(crate) async fn listen(listener: TcpListener, router: Router, mut stop: watch::Receiver<bool>) {
    let room = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let connections = GracefulShutdown::new();
    loop {
        let next = async {
            let place = Arc::clone(&room).acquire_owned().await.ok()?;
            Some((place, listener.accept().await))
        };
        let (place, accepted) = tokio::select! {
            Some(next) = next => next,
            _ = stop.changed() => break,
        };
        let Ok((stream, _)) = accepted else {
            tokio::time::sleep(AGAIN_AFTER).await;
            continue;
        };
        prepare(&stream);
        let service = TowerToHyperService::new(router.clone());
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_WITHIN)
            .max_headers(HEADERS_MAX)
            .max_buf_size(HEAD_BYTES_MAX)
            .serve_connection(TokioIo::new(stream), service);
        let connection = connections.watch(connection);
        tokio::spawn(async move {
            let _place = place;
            if let Err(error) = connection.await {
                tracing::debug!("a connection ended badly: {error}");
            }
        });
    }
    drop(listener);
    let _ = tokio::time::timeout(END_WITHIN, connections.shutdown()).await;
}

fn prepare(stream: &TcpStream) {
    let _ = stream.set_nodelay(true);
    let _ = rustix::net::sockopt::set_tcp_user_timeout(stream, UNREAD_MS_MAX);
}
