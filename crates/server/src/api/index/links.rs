//! The routes of [`app::index::links`].

use app::index::links::{Inlinks, OnePage, Outlinks};
use app::index::{IndexInlink, IndexOutlink, PageFacts};
use app::{App, Page};
use axum::extract::State;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::extract::Query;
use crate::failure::Answer;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(get_page))
        .routes(routes!(list_inlinks))
        .routes(routes!(list_outlinks))
}

/// Get what is known of a page
#[utoipa::path(
    get,
    path = "/api/v1/index/page",
    tag = "index",
    params(OnePage),
    responses((status = 200, body = PageFacts), (status = 404, description = "There is no such index, or the page is not known")),
)]
async fn get_page(State(app): State<App>, Query(asked): Query<OnePage>) -> Answer<axum::Json<PageFacts>> {
    Ok(axum::Json(app::index::links::get_page(&app, asked).await?))
}

/// List the links to a page with their texts, in the order of the pages that link
///
/// With a stretch of time, only those that were there in it.
#[utoipa::path(
    get,
    path = "/api/v1/index/inlinks",
    tag = "index",
    params(Inlinks),
    responses((status = 200, body = Page<IndexInlink>), (status = 404, description = "There is no such index, or the page is not known")),
)]
async fn list_inlinks(
    State(app): State<App>,
    Query(asked): Query<Inlinks>,
) -> Answer<axum::Json<Page<IndexInlink>>> {
    Ok(axum::Json(app::index::links::list_inlinks(&app, asked).await?))
}

/// List the links of a page with their texts, in the order of where they lead
#[utoipa::path(
    get,
    path = "/api/v1/index/outlinks",
    tag = "index",
    params(Outlinks),
    responses((status = 200, body = Page<IndexOutlink>), (status = 404, description = "There is no such index, or the page is not known")),
)]
async fn list_outlinks(
    State(app): State<App>,
    Query(asked): Query<Outlinks>,
) -> Answer<axum::Json<Page<IndexOutlink>>> {
    Ok(axum::Json(app::index::links::list_outlinks(&app, asked).await?))
}
