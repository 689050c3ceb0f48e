//! The routes of [`app::reports`].

use app::App;
use app::reports::Drawn;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

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

fn shown<T: Serialize>(report: Drawn<T>) -> Response {
    match report {
        Drawn::Svg(svg) => ([(header::CONTENT_TYPE, "image/svg+xml")], svg).into_response(),
        Drawn::Rows(rows) => axum::Json(rows).into_response(),
    }
}
