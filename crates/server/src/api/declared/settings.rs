//! The routes of [`app::declared::settings`].

use app::App;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde_json::Value;

use super::{expected, tagged};
use crate::api::extract::Json;
use crate::failure::Answer;

/// Get the settings
#[utoipa::path(
    get,
    path = "/api/v1/settings",
    tag = "declared",
    responses((status = 200, body = ref("#/components/schemas/Settings"), headers(("etag" = String)))),
)]
pub(super) async fn get_settings(State(app): State<App>) -> Answer<Response> {
    Ok(tagged(StatusCode::OK, &app::declared::settings::get_settings(&app).await?))
}

/// Replace the settings
///
/// What is left out is as by default. `user_agent`, `contact` and `certificates` count from the
/// next start of the server on, the rest at once.
#[utoipa::path(
    put,
    path = "/api/v1/settings",
    tag = "declared",
    params(("if-match" = Option<String>, Header, description = "Only if this is still its ETag")),
    request_body = ref("#/components/schemas/Settings"),
    responses(
        (status = 200, body = ref("#/components/schemas/Settings"), headers(("etag" = String))),
        (status = 412, description = "The settings are not what they were"),
    ),
)]
pub(super) async fn put_settings(
    State(app): State<App>,
    headers: HeaderMap,
    Json(body): Json<Value>,
) -> Answer<Response> {
    let settings = app::declared::settings::put_settings(&app, &expected(&headers), &body).await?;
    Ok(tagged(StatusCode::OK, &settings))
}
