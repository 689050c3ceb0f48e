//! A problem as an answer of HTTP: `application/problem+json` (RFC 9457).

use app::Problem;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

pub const PROBLEM_JSON: &str = "application/problem+json";

/// How handlers answer.
pub type Answer<T> = Result<T, Failure>;

/// What went wrong.
#[derive(Clone, Debug)]
pub struct Failure(pub Problem);

impl<E: Into<Problem>> From<E> for Failure {
    fn from(problem: E) -> Failure {
        Failure(problem.into())
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let Failure(problem) = self;
        let body = serde_json::to_vec(&problem).unwrap_or_default();
        let mut response = (problem.status(), body).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(PROBLEM_JSON));
        if problem.status() == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        if problem.status() == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"skurd\""));
        }
        response
    }
}
