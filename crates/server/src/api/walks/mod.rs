//! The routes of [`app::walks`].

use app::declared::Switched;
use app::walks::{AnotherRun, Look, WalkDetail, WalkItem};
use app::{App, Page, Paging};
use axum::extract::State;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::extract::{Json, Path, Query};
use crate::failure::Answer;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list_walks))
        .routes(routes!(get_walk))
        .routes(routes!(resume_walk))
        .routes(routes!(enable_walk))
        .routes(routes!(disable_walk))
}

/// List the walks in the order of their names, and where each stands
#[utoipa::path(get, path = "/api/v1/walks", tag = "walks", params(Paging), responses((status = 200, body = Page<WalkItem>)))]
async fn list_walks(
    State(app): State<App>,
    Query(paging): Query<Paging>,
) -> Answer<axum::Json<Page<WalkItem>>> {
    Ok(axum::Json(app::walks::list_walks(&app, paging).await?))
}

/// Get a walk: where it stands, what is known of its ids, and a map of them
///
/// Ranges are inclusive; with a step, a range means its first, its last and those between them in
/// steps. A list that is cut off goes on at `from` in `more`.
#[utoipa::path(
    get,
    path = "/api/v1/walks/{name}",
    tag = "walks",
    params(("name" = String, Path, description = "Its name: the template, unless it was given another"), Look),
    responses((status = 200, body = WalkDetail), (status = 404, description = "There is no such walk")),
)]
async fn get_walk(
    State(app): State<App>,
    Path(name): Path<String>,
    Query(look): Query<Look>,
) -> Answer<axum::Json<WalkDetail>> {
    Ok(axum::Json(app::walks::get_walk(&app, name, look).await?))
}

/// Begin another run of a walk that was interrupted or has ended
///
/// It is walked as soon as its host has a slot, unless it is switched off or paused.
#[utoipa::path(
    post,
    path = "/api/v1/walks/{name}/resume",
    tag = "walks",
    params(("name" = String, Path, description = "Its name")),
    request_body = AnotherRun,
    responses(
        (status = 200, description = "Where it stands now", body = WalkItem),
        (status = 404, description = "There is no such walk"),
        (status = 409, description = "Its ids are being fetched"),
    ),
)]
async fn resume_walk(
    State(app): State<App>,
    Path(name): Path<String>,
    Json(another): Json<AnotherRun>,
) -> Answer<axum::Json<WalkItem>> {
    Ok(axum::Json(app::walks::resume_walk(&app, name, another).await?))
}

/// Switch a walk on again: it continues where it was
#[utoipa::path(
    post,
    path = "/api/v1/walks/{name}/enable",
    tag = "walks",
    params(("name" = String, Path, description = "Its name")),
    responses((status = 200, body = Switched), (status = 404, description = "There is no such walk")),
)]
async fn enable_walk(State(app): State<App>, Path(name): Path<String>) -> Answer<axum::Json<Switched>> {
    Ok(axum::Json(app::walks::switch(&app, name, true).await?))
}

/// Switch a walk off: what is in flight comes home, and nothing is lost
#[utoipa::path(
    post,
    path = "/api/v1/walks/{name}/disable",
    tag = "walks",
    params(("name" = String, Path, description = "Its name")),
    responses((status = 200, body = Switched), (status = 404, description = "There is no such walk")),
)]
async fn disable_walk(State(app): State<App>, Path(name): Path<String>) -> Answer<axum::Json<Switched>> {
    Ok(axum::Json(app::walks::switch(&app, name, false).await?))
}
