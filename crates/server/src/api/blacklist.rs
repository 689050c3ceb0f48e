//! The routes of [`app::blacklist`].

use app::blacklist::{Added, Addition, BlacklistItem, Filter, Lift, Lifted};
use app::{App, Page};
use axum::extract::State;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::extract::{Json, Query};
use crate::failure::Answer;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list_blacklist, add_to_blacklist)).routes(routes!(lift))
}

/// List what is blacklisted, why, and until when
#[utoipa::path(
    get,
    path = "/api/v1/blacklist",
    tag = "queue",
    params(Filter),
    responses((status = 200, body = Page<BlacklistItem>), (status = 404, description = "There is no such collection")),
)]
async fn list_blacklist(
    State(app): State<App>,
    Query(filter): Query<Filter>,
) -> Answer<axum::Json<Page<BlacklistItem>>> {
    Ok(axum::Json(app::blacklist::list_blacklist(&app, filter).await?))
}

/// Take a queued URL out of the queue, for a time or until lifted
#[utoipa::path(
    post,
    path = "/api/v1/blacklist",
    tag = "queue",
    request_body = Addition,
    responses(
        (status = 200, body = Added),
        (status = 404, description = "There is no such collection"),
        (status = 409, description = "The URL is not queued"),
    ),
)]
async fn add_to_blacklist(State(app): State<App>, Json(body): Json<Addition>) -> Answer<axum::Json<Added>> {
    Ok(axum::Json(app::blacklist::add_to_blacklist(&app, body).await?))
}

/// Bring a URL back into the queue, due now
#[utoipa::path(
    post,
    path = "/api/v1/blacklist/lift",
    tag = "queue",
    request_body = Lift,
    responses(
        (status = 200, body = Lifted),
        (status = 404, description = "There is no such collection"),
        (status = 409, description = "The URL is not blacklisted"),
    ),
)]
async fn lift(State(app): State<App>, Json(body): Json<Lift>) -> Answer<axum::Json<Lifted>> {
    Ok(axum::Json(app::blacklist::lift(&app, body).await?))
}
