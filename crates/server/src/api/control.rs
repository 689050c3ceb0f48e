//! The routes of [`app::control`].

use app::App;
use app::control::{Pausable, PauseChange, PauseItem, Run, Start};
use axum::extract::State;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::extract::Json;
use crate::failure::Answer;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(start))
        .routes(routes!(list_pauses))
        .routes(routes!(pause))
        .routes(routes!(resume))
}

/// Start a seed, profiles or a collection as a new run; everything if nothing is named
#[utoipa::path(
    post,
    path = "/api/v1/start",
    tag = "control",
    request_body = Start,
    responses(
        (status = 200, description = "One run for each thing that was started", body = Vec<Run>),
        (status = 404, description = "There is no such thing"),
        (status = 409, description = "There is nothing to start"),
    ),
)]
async fn start(State(app): State<App>, Json(wanted): Json<Start>) -> Answer<axum::Json<Vec<Run>>> {
    Ok(axum::Json(app::control::start(&app, wanted).await?))
}

/// List what is paused
#[utoipa::path(get, path = "/api/v1/pauses", tag = "control", responses((status = 200, body = Vec<PauseItem>)))]
async fn list_pauses(State(app): State<App>) -> Answer<axum::Json<Vec<PauseItem>>> {
    Ok(axum::Json(app::control::list_pauses(&app).await?))
}

/// Pause: nothing more of it is fetched until it is resumed, also after a restart
///
/// What is in flight comes home.
#[utoipa::path(
    post,
    path = "/api/v1/pause",
    tag = "control",
    request_body = Pausable,
    responses((status = 200, body = PauseChange), (status = 404, description = "There is no such collection, host or walk")),
)]
async fn pause(State(app): State<App>, Json(what): Json<Pausable>) -> Answer<axum::Json<PauseChange>> {
    Ok(axum::Json(app::control::pause(&app, what).await?))
}

/// Resume: it goes on at once
#[utoipa::path(post, path = "/api/v1/resume", tag = "control", request_body = Pausable, responses((status = 200, body = PauseChange)))]
async fn resume(State(app): State<App>, Json(what): Json<Pausable>) -> Answer<axum::Json<PauseChange>> {
    Ok(axum::Json(app::control::resume(&app, what).await?))
}
