//! The routes of [`app::queue`].

use app::queue::{Filter, Move, Moved, QueueItem};
use app::{App, Page};
use axum::extract::State;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::extract::{Json, Query};
use crate::failure::Answer;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list_queue)).routes(routes!(move_url))
}

/// List the URLs that are known, with their state
#[utoipa::path(
    get,
    path = "/api/v1/queue",
    tag = "queue",
    params(Filter),
    responses((status = 200, body = Page<QueueItem>), (status = 404, description = "There is no such collection")),
)]
async fn list_queue(
    State(app): State<App>,
    Query(filter): Query<Filter>,
) -> Answer<axum::Json<Page<QueueItem>>> {
    Ok(axum::Json(app::queue::list_queue(&app, filter).await?))
}

/// Move a queued URL to another due time
#[utoipa::path(
    post,
    path = "/api/v1/queue/move",
    tag = "queue",
    request_body = Move,
    responses(
        (status = 200, body = Moved),
        (status = 404, description = "There is no such collection"),
        (status = 409, description = "The URL is not queued"),
    ),
)]
async fn move_url(State(app): State<App>, Json(body): Json<Move>) -> Answer<axum::Json<Moved>> {
    Ok(axum::Json(app::queue::move_url(&app, body).await?))
}
