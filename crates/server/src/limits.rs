//! What every request is bounded by: how many run at once, for how long, and that none takes the
//! server down.
//!
//! Who has not shown that they may ask shares a few turns with others like them, so that however
//! many knock, and however slowly, those who may ask find theirs free. Whoever watches over the
//! process needs none: a server that is busy is alive.

use std::sync::Arc;
use std::time::Duration;

use app::Problem;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, TryAcquireError};

use super::guard::{Guard, is_watched};
use crate::failure::Failure;

/// Requests answered at the same time, and those among strangers.
const REQUESTS_MAX: usize = 128;
const STRANGERS_MAX: usize = 16;
/// The longest a request may take until its answer begins.
const ANSWER_WITHIN: Duration = Duration::from_secs(60);

/// Who may be answered.
pub(crate) struct Turns {
    guard: Arc<Guard>,
    known: Arc<Semaphore>,
    strangers: Arc<Semaphore>,
}

impl Turns {
    pub(crate) fn new(guard: Arc<Guard>) -> Turns {
        let turns = |number| Arc::new(Semaphore::new(number));
        Turns { guard, known: turns(REQUESTS_MAX), strangers: turns(STRANGERS_MAX) }
    }

    /// A turn, if one is free; none is needed where `Ok(None)`.
    fn take(&self, request: &Request) -> Result<Option<OwnedSemaphorePermit>, TryAcquireError> {
        if is_watched(request.uri().path()) {
            return Ok(None);
        }
        let turns = if self.guard.knows(request.headers()) { &self.known } else { &self.strangers };
        Arc::clone(turns).try_acquire_owned().map(Some)
    }
}

/// Runs the request in a task of its own: what panics there is an answer too, and nothing else ends
/// with it.
pub(crate) async fn bounded(State(turns): State<Arc<Turns>>, request: Request, next: Next) -> Response {
    let Ok(turn) = turns.take(&request) else {
        return Failure(Problem::unavailable("too many requests at once")).into_response();
    };
    let task = tokio::spawn(async move {
        let _turn = turn;
        next.run(request).await
    });
    let stop = task.abort_handle();
    match tokio::time::timeout(ANSWER_WITHIN, task).await {
        Ok(Ok(response)) => response,
        Ok(Err(error)) => Failure(Problem::internal(&error)).into_response(),
        Err(_) => {
            stop.abort();
            Failure(Problem::unavailable("this took too long")).into_response()
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
