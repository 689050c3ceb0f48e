//! HTTP to the server of a data directory, or of another node: one request a connection.

use std::time::Duration;

use anyhow::{Context, Result};
use axum::body::Body;
use axum::http::{HeaderValue, Request, Response, header};
use harvest::running_server::RunningServer;
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

const CONNECT_WITHIN: Duration = Duration::from_secs(3);
/// Longer than the server itself lets a request take.
const ANSWER_WITHIN: Duration = Duration::from_secs(90);

/// Whether the server that left the notice is still there.
pub(super) async fn answers(notice: &RunningServer) -> bool {
    let Ok(request) = Request::get("/healthz").body(Body::empty()) else { return false };
    send(notice, request).await.is_ok_and(|response| response.status().is_success())
}

pub(super) async fn send(notice: &RunningServer, mut request: Request<Body>) -> Result<Response<Incoming>> {
    let key = HeaderValue::try_from(format!("Bearer {}", notice.key))?;
    request.headers_mut().insert(header::AUTHORIZATION, key);
    send_to(&notice.reached_at().to_string(), request).await
}

/// To `host:port`.
pub(crate) async fn send_to(address: &str, mut request: Request<Body>) -> Result<Response<Incoming>> {
    request.headers_mut().insert(header::HOST, HeaderValue::try_from(address)?);
    let stream = tokio::time::timeout(CONNECT_WITHIN, TcpStream::connect(address))
        .await
        .context("no connection")??;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    Ok(in_time(sender.send_request(request)).await??)
}

/// What the server is given its time for.
pub(super) async fn in_time<T>(answer: impl Future<Output = T>) -> Result<T> {
    tokio::time::timeout(ANSWER_WITHIN, answer).await.context("it takes too long")
}
