//! Asking the API without a network in between.

use axum::body::{Body, Bytes};
use axum::http::{Method, Request, StatusCode, header};
use axum::response::Response;
use http_body_util::{BodyExt, Limited};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tower::ServiceExt;
use url::form_urlencoded;

use super::Site;
use server::api::{Answer, Problem};

/// Longer answers are no page.
const ANSWER_BYTES_MAX: usize = 16 << 20;

/// A page of a list, as the API gives it.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct List<T> {
    pub(super) items: Vec<T>,
    pub(super) next: Option<String>,
}

/// The `name=value` pairs of a query.
pub(super) type Pairs<'a> = &'a [(&'a str, &'a str)];

/// A path of this server with its query.
pub(super) fn href(path: &str, pairs: Pairs<'_>) -> String {
    let given = pairs.iter().filter(|(_, value)| !value.is_empty());
    let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(given).finish();
    if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") }
}

impl Site {
    pub(super) async fn get<T: DeserializeOwned>(&self, path: &str, pairs: Pairs<'_>) -> Answer<T> {
        read(&self.raw(path, pairs).await?)
    }

    /// The same of what may not be there.
    pub(super) async fn find<T: DeserializeOwned>(&self, path: &str, pairs: Pairs<'_>) -> Answer<Option<T>> {
        match self.get(path, pairs).await {
            Ok(found) => Ok(Some(found)),
            Err(problem) if problem.status() == StatusCode::NOT_FOUND => Ok(None),
            Err(problem) => Err(problem),
        }
    }

    /// The answer as it came.
    pub(super) async fn raw(&self, path: &str, pairs: Pairs<'_>) -> Answer<Bytes> {
        self.send(Method::GET, &href(&format!("/api/v1/{path}"), pairs), None).await
    }

    pub(super) async fn post<T: DeserializeOwned>(&self, path: &str, body: &Value) -> Answer<T> {
        read(&self.send(Method::POST, &format!("/api/v1/{path}"), Some(body)).await?)
    }

    async fn respond(&self, request: axum::http::Result<Request<Body>>) -> Answer<Response> {
        let request = request.map_err(|error| Problem::internal(&error))?;
        self.api.clone().oneshot(request).await.map_err(|error| Problem::internal(&error))
    }

    async fn send(&self, method: Method, target: &str, body: Option<&Value>) -> Answer<Bytes> {
        let request = Request::builder().method(method).uri(target);
        let request = match body {
            Some(body) => {
                request.header(header::CONTENT_TYPE, "application/json").body(Body::from(body.to_string()))
            }
            None => request.body(Body::empty()),
        };
        let response = self.respond(request).await?;
        let status = response.status();
        let body = Limited::new(response.into_body(), ANSWER_BYTES_MAX).collect().await;
        let bytes = body.map_err(|error| Problem::internal(&error))?.to_bytes();
        match status.is_success() {
            true => Ok(bytes),
            false => Err(read::<Problem>(&bytes)?),
        }
    }
}

fn read<T: DeserializeOwned>(bytes: &[u8]) -> Answer<T> {
    serde_json::from_slice(bytes).map_err(|error| Problem::internal(&error))
}

/// The beginning of something that may be long.
pub(super) struct Begun {
    pub(super) bytes: Vec<u8>,
    /// There is more.
    pub(super) is_cut: bool,
    pub(super) is_text: bool,
}

impl Site {
    pub(super) async fn beginning(&self, path: &str, most: usize) -> Answer<Begun> {
        let response = self.respond(Request::get(format!("/api/v1/{path}")).body(Body::empty())).await?;
        let status = response.status();
        let kind = response.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let is_text = kind.is_some_and(|kind| kind.starts_with("text/"));
        let mut body = response.into_body();
        let (mut bytes, mut is_cut) = (Vec::new(), false);
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| Problem::internal(&error))?;
            bytes.extend_from_slice(frame.data_ref().map_or(&[][..], |data| data));
            if bytes.len() > most {
                bytes.truncate(most);
                is_cut = true;
                break;
            }
        }
        match status.is_success() {
            true => Ok(Begun { bytes, is_cut, is_text }),
            false => Err(read::<Problem>(&bytes)?),
        }
    }
}
