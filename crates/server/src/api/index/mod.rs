//! The routes of [`app::index`].

use app::index::{IndexItem, One};
use app::{App, Page, Paging};
use axum::extract::State;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::extract::Query;
use crate::failure::Answer;

pub(super) mod links;

pub(super) mod ranks;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list_indexes))
        .routes(routes!(get_index))
        .merge(ranks::routes())
        .merge(links::routes())
}

/// List the indexes in the order of their collections, and what each holds
#[utoipa::path(get, path = "/api/v1/indexes", tag = "index", params(Paging), responses((status = 200, body = Page<IndexItem>)))]
async fn list_indexes(
    State(app): State<App>,
    Query(paging): Query<Paging>,
) -> Answer<axum::Json<Page<IndexItem>>> {
    Ok(axum::Json(app::index::list_indexes(&app, paging).await?))
}

/// Get what an index holds, and what waits to be worked in
#[utoipa::path(
    get,
    path = "/api/v1/index",
    tag = "index",
    params(One),
    responses((status = 200, body = IndexItem), (status = 404, description = "There is no such index")),
)]
async fn get_index(State(app): State<App>, Query(asked): Query<One>) -> Answer<axum::Json<IndexItem>> {
    Ok(axum::Json(app::index::get_index(&app, asked).await?))
}
