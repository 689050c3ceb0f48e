//! The routes of [`app::config::apply`].

use app::App;
use app::config::apply::{Applied, How};
use axum::extract::State;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::extract::{LargeText, Query};
use crate::failure::Answer;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(apply_config))
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
