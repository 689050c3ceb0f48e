//! The routes of [`app::config`].

use app::App;
use app::config::apply::{Applied, How};
use app::config::{Checked, Simulated, Simulation};
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::extract::{Json, LargeText, Query, Text};
use crate::failure::Answer;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(check))
        .routes(routes!(simulate))
        .routes(routes!(apply_config, export))
}

/// Check a config: every problem with its place and what would be right
///
/// Nothing is changed.
#[utoipa::path(
    post,
    path = "/api/v1/config/check",
    tag = "config",
    request_body(content = String, content_type = "application/yaml"),
    responses((status = 200, description = "Whether good or not", body = Checked)),
)]
async fn check(Text(text): Text) -> Answer<axum::Json<Checked>> {
    Ok(axum::Json(app::config::check(text.into()).await?))
}

/// See what a config would harvest: the real frontier on a virtual clock
///
/// Answers with the summaries of `skurd simulate --json`, one JSON object a line: hosts, profiles,
/// feasibility, URLs, and the end. Bounded in time and size.
#[utoipa::path(
    post,
    path = "/api/v1/simulate",
    tag = "config",
    responses((status = 200, content((String = "application/x-ndjson"), (String = "image/svg+xml")))),
)]
async fn simulate(State(app): State<App>, Json(wanted): Json<Simulation>) -> Answer<Response> {
    let (kind, body) = match app::config::simulate(&app, wanted).await? {
        Simulated::Lines(lines) => ("application/x-ndjson", lines),
        Simulated::Svg(svg) => ("image/svg+xml", svg.into()),
    };
    Ok(([(header::CONTENT_TYPE, kind)], body).into_response())
}

/// Declare everything a config says, in effect at once
///
/// It is checked first: a config with problems changes nothing. What has changed is replaced, what
/// is the same is left alone. Nothing is started.
#[utoipa::path(
    post,
    path = "/api/v1/config",
    tag = "config",
    params(How),
    request_body(content = String, content_type = "application/yaml"),
    responses(
        (status = 200, description = "How many things of each kind were added, changed, left alone and deleted", body = Applied),
        (status = 413, description = "The config is larger than 16 MiB"),
        (status = 422, description = "Every problem of the config, with its line"),
    ),
)]
async fn apply_config(
    State(app): State<App>,
    Query(how): Query<How>,
    text: LargeText,
) -> Answer<axum::Json<Applied>> {
    Ok(axum::Json(app::config::apply_config(&app, how, text).await?))
}

/// Get the config that declares what is declared now
///
/// Applied, it changes nothing. What is as it would be without a word is not said. Values that may
/// be secret are shown as `•••`, which means the value there is when it is put back.
#[utoipa::path(
    get,
    path = "/api/v1/config",
    tag = "config",
    responses((status = 200, description = "The sections of a config", body = serde_json::Value, content_type = "application/yaml")),
)]
async fn export(State(app): State<App>) -> Answer<Response> {
    let text = app::config::export(&app).await?;
    Ok(([(header::CONTENT_TYPE, "application/yaml")], text).into_response())
}
