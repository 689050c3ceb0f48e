//! Between the server and a person's browser: whatever goes wrong behind this is a page, and who
//! has to log in is shown where.

use app::Problem;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use http_body_util::{BodyExt, Limited};

use super::Site;
use super::address::href;
use super::forms::see_other;

/// For programs: they get problems as they are.
const NOT_FOR_PEOPLE: [&str; 5] = ["/api/", "/metrics", "/healthz", "/readyz", "/assets/"];
const PROBLEM_BYTES_MAX: usize = 64 << 10;

pub(super) async fn shown(State(site): State<Site>, request: Request, next: Next) -> Response {
    let wants_page = is_for_people(&request);
    let is_get = request.method() == Method::GET;
    let here = request.uri().path_and_query().map_or("/", |path| path.as_str()).to_owned();
    let response = next.run(request).await;
    if !wants_page || !is_problem(&response) {
        return response;
    }
    let status = response.status();
    if status == StatusCode::UNAUTHORIZED {
        return see_other(&href("/login", &[("back", if is_get { &here } else { "" })]));
    }
    let problem = read(response.into_body()).await;
    site.problem(status, &problem.unwrap_or_else(|| Problem::new(status, "something went wrong")))
}

fn is_for_people(request: &Request) -> bool {
    let path = request.uri().path();
    let accepts = request.headers().get_all(header::ACCEPT).iter();
    let accepts_html =
        accepts.filter_map(|value| value.to_str().ok()).any(|value| value.contains("text/html"));
    accepts_html && !NOT_FOR_PEOPLE.iter().any(|start| path.starts_with(start))
}

fn is_problem(response: &Response) -> bool {
    let kind = response.headers().get(header::CONTENT_TYPE);
    kind.is_some_and(|kind| kind.as_bytes() == b"application/problem+json")
}

async fn read(body: Body) -> Option<Problem> {
    let bytes = Limited::new(body, PROBLEM_BYTES_MAX).collect().await.ok()?.to_bytes();
    serde_json::from_slice(&bytes).ok()
}
