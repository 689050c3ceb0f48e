//! A capture that another node has (M8): the question is passed on to it, and its answer back.

use app::Problem;
use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{HeaderValue, Request, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::client::wire;
use crate::failure::{Answer, Failure};

/// What a question says that was passed on already: nobody passes it further.
const PASSED_ON: &str = "x-skurd-passed-on";

pub(super) fn was_passed_on(request: &Parts) -> bool {
    request.headers.contains_key(PASSED_ON)
}

/// Whoever may ask here brings what it takes to ask there: nodes of one store share their token.
pub(super) async fn pass_on(node: &str, address: &str, request: &Parts) -> Answer<Response> {
    let unreachable = |reason: &dyn std::fmt::Display| {
        let told = format!("the file of this capture is on node {node:?}, which does not answer: {reason}");
        Failure::from(Problem::new(StatusCode::BAD_GATEWAY, told))
    };
    let path = request.uri.path_and_query().map_or("/", |path| path.as_str());
    let mut question = Request::get(path).body(Body::empty()).map_err(|error| unreachable(&error))?;
    let headers = question.headers_mut();
    headers.insert(PASSED_ON, HeaderValue::from_static("1"));
    if let Some(token) = request.headers.get(header::AUTHORIZATION) {
        headers.insert(header::AUTHORIZATION, token.clone());
    }
    let address = address.trim_start_matches("http://").trim_end_matches('/');
    let answer = wire::send_to(address, question).await.map_err(|error| unreachable(&error))?;
    Ok(answer.map(Body::new).into_response())
}
