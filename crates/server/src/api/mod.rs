//! The HTTP API (I4): all that the command line can do, and its one implementation.
//!
//! A request is read strictly ([`extract`]), answered by a handler over the [`App`], and everything
//! that goes wrong is a [`Problem`]. Commands are callers too: they ask a server that has the data
//! directory over loopback, or, where there is none, this same router without a network in between.
//! So what a command prints and what the API says cannot drift.
//!
//! The OpenAPI document comes from the handlers themselves ([`document`]). Lists come in pages with
//! a cursor ([`page`]).

mod archive;
mod config;
mod declared;
mod document;
pub(crate) mod extract;
mod plain;
mod reports;
mod status;

use app::{App, Problem};
use axum::Router;
use axum::body::Bytes;
use axum::http::{StatusCode, Uri, header};
use axum::response::IntoResponse;
use axum::routing::get;
pub use extract::{BODY_BYTES_MAX, Json, Path, Query, read_body};
use utoipa_axum::router::OpenApiRouter;

pub use crate::failure::{Answer, Failure};

/// Every route with its description.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .merge(declared::routes())
        .merge(plain::routes())
        .merge(archive::routes())
        .merge(reports::routes())
        .merge(config::routes())
        .merge(status::routes())
}

/// The routes as they are served, with the document that describes them.
pub fn router(routes: OpenApiRouter) -> Router {
    let (router, openapi) = routes.split_for_parts();
    let document = document::complete(&openapi);
    let answer = ([(header::CONTENT_TYPE, "application/json")], Bytes::from(document.to_string()));
    let document = move || std::future::ready(answer.clone());
    router.route("/api/openapi.json", get(document)).fallback(nowhere).method_not_allowed_fallback(not_so)
}

async fn nowhere(uri: Uri) -> impl IntoResponse {
    let problem = Problem::new(StatusCode::NOT_FOUND, "there is nothing at this path").instance(uri.path());
    Failure(problem.hint("/api/openapi.json lists what there is"))
}

async fn not_so(uri: Uri) -> impl IntoResponse {
    let problem = Problem::new(StatusCode::METHOD_NOT_ALLOWED, "this path does not take this method");
    Failure(problem.instance(uri.path()))
}
