//! The routes of [`app::reports`].

use app::App;
use app::reports::Format;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::failure::Answer;

mod contract;

mod domains;

mod errors;

mod feasibility;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(contract::report))
        .routes(routes!(domains::report))
        .routes(routes!(errors::report))
        .routes(routes!(feasibility::report))
}

/// As rows or drawn, whichever is wanted.
async fn shown<T: Serialize>(
    format: Format,
    rows: impl Future<Output = app::Answer<T>>,
    drawing: impl Future<Output = app::Answer<String>>,
) -> Answer<Response> {
    Ok(match format {
        Format::Json => axum::Json(rows.await?).into_response(),
        Format::Svg => ([(header::CONTENT_TYPE, "image/svg+xml")], drawing.await?).into_response(),
    })
}
