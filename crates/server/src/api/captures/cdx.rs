//! The archive as an index for replay (A8): one line of CDXJ a capture, sorted as a whole.
//!
//! Captures of several collections are merged by their keys. Pieces are made as they are taken:
//! however large the archive, what is held is a page of each collection and one piece.

use std::io;

use app::App;
use app::captures::cdx::Which;
use axum::body::Body;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures_util::stream::try_unfold;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::extract::Query;
use crate::failure::Answer;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(export_cdx))
}

/// Export the index of the archive for replay: CDXJ, sorted, one line a capture
///
/// An answer that cannot be completed is cut off without its last chunk, so that no part is taken
/// for the whole.
#[utoipa::path(
    get,
    path = "/api/v1/cdx",
    tag = "archive",
    params(Which),
    responses(
        (status = 200, description = "One line a capture", body = String, content_type = "text/plain"),
        (status = 404, description = "There is no such collection"),
    ),
)]
async fn export_cdx(State(app): State<App>, Query(which): Query<Which>) -> Answer<Response> {
    let export = app::captures::cdx::export_cdx(&app, which).await?;
    let pieces = try_unfold((app, export), |(app, export)| async {
        let made = app.heavy(async move |_| Ok(export.piece().await?));
        let made = made.await.map_err(io::Error::other)?;
        Ok::<_, io::Error>(made.map(|(piece, export)| (piece, (app, export))))
    });
    Ok(([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], Body::from_stream(pieces)).into_response())
}
