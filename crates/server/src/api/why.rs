//! The routes of [`app::why`].

use app::App;
use app::why::{Asked, WhyItem};
use axum::extract::State;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::extract::Query;
use crate::failure::Answer;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(why))
}

/// Explain why a URL is, or is not, harvested: every rule that decides
#[utoipa::path(
    get,
    path = "/api/v1/why",
    tag = "queue",
    params(Asked),
    responses(
        (status = 200, description = "For each collection", body = Vec<WhyItem>),
        (status = 404, description = "There is no such collection"),
    ),
)]
async fn why(State(app): State<App>, Query(asked): Query<Asked>) -> Answer<axum::Json<Vec<WhyItem>>> {
    Ok(axum::Json(app::why::why(&app, asked).await?))
}
