//! The routes of [`app::declared::many`].

use app::App;
use app::declared::many::{ManySeeds, SeedsAdded};
use axum::extract::State;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::extract::Json;
use crate::failure::Answer;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(add_seeds))
}

/// Declare many seeds at once: those that are there get the profiles they lack
///
/// If one is wrong, none is taken.
#[utoipa::path(
    post,
    path = "/api/v1/seeds",
    tag = "declared",
    request_body = ManySeeds,
    responses((status = 200, description = "What became of them", body = SeedsAdded)),
)]
async fn add_seeds(State(app): State<App>, Json(many): Json<ManySeeds>) -> Answer<axum::Json<SeedsAdded>> {
    Ok(axum::Json(app::declared::many::add_seeds(&app, many).await?))
}
