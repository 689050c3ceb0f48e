//! What is declared, thing by thing: collections, profiles, seeds and host groups, and the
//! settings.
//!
//! A thing has an `ETag` of what it says. Who sends it back as `If-Match` changes only what they
//! saw; a thing that says something else by now is left alone (412). Whoever creates sends
//! `If-None-Match: *`.

use app::declared::{Expected, Tagged};
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};

mod many;
mod routes;
mod settings;

pub(super) use routes::routes;

/// What the caller expects to be there now.
fn expected(headers: &HeaderMap) -> Expected {
    let tags = |name: HeaderName| {
        let lines = headers.get_all(name).into_iter().filter_map(|line| line.to_str().ok());
        lines.flat_map(|line| line.split(',')).map(|tag| tag.trim().to_owned()).collect::<Vec<_>>()
    };
    let if_match = headers.contains_key(header::IF_MATCH).then(|| tags(header::IF_MATCH));
    Expected { if_match, if_none_match: tags(header::IF_NONE_MATCH) }
}

fn tagged(status: StatusCode, Tagged { thing, tag }: &Tagged) -> Response {
    let headers = [(header::CONTENT_TYPE, "application/json"), (header::ETAG, tag.as_str())];
    (status, headers, thing.to_string()).into_response()
}
