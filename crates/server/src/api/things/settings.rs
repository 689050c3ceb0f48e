//! The settings of the whole installation.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use policy::catalog::Change;
use serde_json::Value;

use super::{etag, expect, tagged};
use crate::api::{Answer, App, Json};
use declare::entry;

/// Get the settings
#[utoipa::path(
    get,
    path = "/api/v1/settings",
    tag = "declared",
    responses((status = 200, body = ref("#/components/schemas/Settings"), headers(("etag" = String)))),
)]
pub(super) async fn get_settings(State(app): State<App>) -> Answer<Response> {
    let settings = app.look(|catalog| entry::settings(catalog.settings())).await?;
    Ok(tagged(StatusCode::OK, &settings, &etag(&settings)))
}

/// Replace the settings
///
/// What is left out is as by default. `user_agent`, `contact` and `certificates` count from the next start of the server on, the rest at
/// once.
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
    let _turn = app.edits.lock().await;
    let now = app.look(|catalog| entry::settings(catalog.settings())).await?;
    expect(&headers, Some(&etag(&now)), || "the settings".to_owned())?;
    let change = Change::PutSettings(Box::new(entry::read_settings(&body)?));
    app.frontier.declare(&[change]).await?;
    let settings = app.look(|catalog| entry::settings(catalog.settings())).await?;
    Ok(tagged(StatusCode::OK, &settings, &etag(&settings)))
}
