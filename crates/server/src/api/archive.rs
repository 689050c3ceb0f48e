//! The archive held against the captures: as a stream, since it may take hours.

use std::io;

use app::App;
use app::archive::How;
use axum::body::Body;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt;
use tokio_stream::wrappers::ReceiverStream;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::extract::Query;
use crate::failure::Answer;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(check_archive))
}

/// Hold the captures against the files of the archive: JSON lines, the last of them a summary
///
/// `file` for a file that is missing, cut off, damaged, not known to the store or set aside;
/// `record` for one that no capture points to; `capture` for one that is not where it should be or
/// not what it was; `behind` if the store knows less than it should; `progress` in
/// between; `summary` at the end, with `sound`. An answer without it is not the whole.
#[utoipa::path(
    get,
    path = "/api/v1/archive/check",
    tag = "archive",
    params(How),
    responses(
        (status = 200, description = "One line a finding", body = String, content_type = "application/x-ndjson"),
        (status = 503, description = "Another check is under way"),
    ),
)]
async fn check_archive(State(app): State<App>, Query(how): Query<How>) -> Answer<Response> {
    let findings = ReceiverStream::new(app::archive::check_archive(&app, &how)?);
    let lines = findings.map(|finding| finding.map(|event| format!("{event}\n")).map_err(io::Error::other));
    Ok(([(header::CONTENT_TYPE, "application/x-ndjson")], Body::from_stream(lines)).into_response())
}
