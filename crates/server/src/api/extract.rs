//! What a request says, read strictly: a wrong path, query or body ends in a [`Problem`] that names
//! the place.

use std::time::Duration;

use app::Problem;
use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use declare::CONFIG_BYTES_MAX;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::de::DeserializeOwned;
use serde_path_to_error::Segment;
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::failure::Failure;

/// Larger bodies are refused.
pub const BODY_BYTES_MAX: usize = 1 << 20;
/// The same for a whole config, of which few are taken in at once.
pub(crate) const LARGE_BYTES_MAX: usize = 16 << 20;
/// How long a body may take to come, once its head is there; a whole config has longer.
const BODY_WITHIN: Duration = Duration::from_secs(10);
const LARGE_WITHIN: Duration = Duration::from_secs(45);
static LARGE_TURNS: Semaphore = Semaphore::const_new(2);

/// A JSON body.
pub struct Json<T>(pub T);

/// A body of plain text, or of YAML.
pub(super) struct Text(pub Bytes);

/// A whole config in YAML. Others wait until it is dropped.
pub(super) struct LargeText {
    pub bytes: Bytes,
    _turn: SemaphorePermit<'static>,
}

impl AsRef<[u8]> for LargeText {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Says of a request that it comes from this process, which has read the body from a file: that may
/// be as large as a file may.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Own;

pub struct Query<T>(pub T);

pub struct Path<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Json<T> {
    type Rejection = Failure;

    async fn from_request(request: Request, _: &S) -> Result<Json<T>, Failure> {
        let is_json = |kind: &str| {
            kind == "application/json" || (kind.starts_with("application/") && kind.ends_with("+json"))
        };
        expect_kind(request.headers(), is_json, "application/json")?;
        let bytes = whole(request.into_body(), BODY_BYTES_MAX, BODY_WITHIN).await?;
        let mut reader = serde_json::Deserializer::from_slice(&bytes);
        let read = serde_path_to_error::deserialize(&mut reader).map_err(|error| wrong_body(&error))?;
        reader.end().map_err(|error| Problem::bad_request(format!("the body is not JSON: {error}")))?;
        Ok(Json(read))
    }
}

impl<S: Send + Sync> FromRequest<S> for Text {
    type Rejection = Failure;

    async fn from_request(request: Request, _: &S) -> Result<Text, Failure> {
        expect_kind(request.headers(), is_yaml, "application/yaml")?;
        Ok(Text(whole(request.into_body(), BODY_BYTES_MAX, BODY_WITHIN).await?))
    }
}

impl<S: Send + Sync> FromRequest<S> for LargeText {
    type Rejection = Failure;

    async fn from_request(request: Request, _: &S) -> Result<LargeText, Failure> {
        expect_kind(request.headers(), is_yaml, "application/yaml")?;
        let most = match request.extensions().get::<Own>() {
            Some(Own) => usize::try_from(CONFIG_BYTES_MAX).unwrap_or(usize::MAX),
            None => LARGE_BYTES_MAX,
        };
        let turn = LARGE_TURNS.acquire().await.map_err(|error| Problem::internal(&error))?;
        let bytes = whole(request.into_body(), most, LARGE_WITHIN).await;
        let bytes = bytes.map_err(|problem| match problem.status() {
            StatusCode::PAYLOAD_TOO_LARGE => config_too_large(),
            _ => problem,
        })?;
        Ok(LargeText { bytes, _turn: turn })
    }
}

fn is_yaml(kind: &str) -> bool {
    matches!(kind, "application/yaml" | "application/x-yaml" | "text/yaml" | "text/plain")
}

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Query<T> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Query<T>, Failure> {
        let read = axum::extract::Query::try_from_uri(&parts.uri);
        let read = read.map_err(|rejection| Problem::bad_request(rejection.body_text()))?;
        Ok(Query(read.0))
    }
}

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Path<T> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Path<T>, Failure> {
        let read = axum::extract::Path::from_request_parts(parts, state).await;
        let read = read.map_err(|rejection| Problem::bad_request(rejection.body_text()))?;
        Ok(Path(read.0))
    }
}

fn expect_kind(
    headers: &HeaderMap,
    is_right: impl Fn(&str) -> bool,
    wanted: &'static str,
) -> Result<(), Problem> {
    let given = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kind = given.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if is_right(&kind) {
        return Ok(());
    }
    let problem = Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "this content type is not taken here");
    Err(problem.hint(format!("send the body with `Content-Type: {wanted}`")))
}

/// A small body, within the time that is usual.
pub async fn read_body(body: Body, most: usize) -> Result<Bytes, Problem> {
    whole(body, most, BODY_WITHIN).await
}

async fn whole(body: Body, most: usize, within: Duration) -> Result<Bytes, Problem> {
    match tokio::time::timeout(within, Limited::new(body, most).collect()).await {
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large(most)),
        Ok(Err(_)) => Err(Problem::bad_request("the body ended before it was complete")),
        Err(_) => {
            let detail = format!("the body did not come within {} s", within.as_secs());
            Err(Problem::new(StatusCode::REQUEST_TIMEOUT, detail))
        }
    }
}

fn too_large(most: usize) -> Problem {
    Problem::new(StatusCode::PAYLOAD_TOO_LARGE, format!("the body is larger than {most} bytes"))
}

pub(crate) fn config_too_large() -> Problem {
    too_large(LARGE_BYTES_MAX).hint("stop the server, and use `skurd config apply`")
}

/// A body that is no JSON is bad; one that says the wrong thing cannot be processed.
fn wrong_body(error: &serde_path_to_error::Error<serde_json::Error>) -> Problem {
    let inner = error.inner();
    if !inner.is_data() {
        return Problem::bad_request(format!("the body is not JSON: {inner}"));
    }
    let pointer = pointer(error.path());
    Problem::invalid(format!("the body is not right: {inner}")).field(pointer, inner.to_string())
}

fn pointer(path: &serde_path_to_error::Path) -> String {
    let segments = path.iter().map(|segment| match segment {
        Segment::Seq { index } => format!("/{index}"),
        Segment::Map { key } => format!("/{}", declare::text::escaped(key)),
        Segment::Enum { .. } | Segment::Unknown => String::new(),
    });
    segments.collect()
}

#[cfg(test)]
mod tests {
    use futures_util::stream;

    use super::*;

    #[test]
    fn i4_a_body_that_does_not_come_is_not_waited_for() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let first = || stream::iter([Ok::<_, std::io::Error>(Bytes::from_static(b"ab"))]);
        let (ends, never) = (
            Body::from_stream(first()),
            Body::from_stream(futures_util::StreamExt::chain(first(), stream::pending())),
        );
        let within = Duration::from_millis(20);
        runtime.block_on(async {
            assert_eq!(whole(ends, 10, within).await.unwrap(), "ab");
            assert_eq!(whole(never, 10, within).await.unwrap_err().status(), StatusCode::REQUEST_TIMEOUT);
            assert_eq!(
                whole(Body::from("abc"), 2, within).await.unwrap_err().status(),
                StatusCode::PAYLOAD_TOO_LARGE
            );
        });
    }
}
