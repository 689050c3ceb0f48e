//! What every request is bounded by: how many run at once, for how long, and that none takes the server down.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tokio::sync::Semaphore;

use crate::api::Problem;

/// Requests answered at the same time.
pub(crate) const REQUESTS_MAX: usize = 128;
/// The longest a request may take until its answer begins.
const ANSWER_WITHIN: Duration = Duration::from_secs(60);

/// Runs the request in a task of its own: what panics there is an answer too, and nothing else ends with it.
pub(crate) async fn bounded(State(turns): State<Arc<Semaphore>>, request: Request, next: Next) -> Response {
    let Ok(turn) = Arc::clone(&turns).try_acquire_owned() else {
        return Problem::unavailable("too many requests at once").into_response();
    };
    let task = tokio::spawn(async move {
        let _turn = turn;
        next.run(request).await
    });
    let stop = task.abort_handle();
    match tokio::time::timeout(ANSWER_WITHIN, task).await {
        Ok(Ok(response)) => response,
        Ok(Err(error)) => Problem::internal(&error).into_response(),
        Err(_) => {
            stop.abort();
            Problem::unavailable("this took too long").into_response()
        }
    }
}

/// Nothing is stored, sniffed, framed or run unless a page says otherwise of itself.
pub(crate) async fn harmless(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    set(headers, header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(headers, header::CACHE_CONTROL, "no-store");
    set(headers, header::REFERRER_POLICY, "no-referrer");
    set(headers, header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'");
    response
}

fn set(headers: &mut HeaderMap, name: HeaderName, value: &'static str) {
    headers.entry(name).or_insert(HeaderValue::from_static(value));
}
