//! The routes of [`app::index::ranks`].

use app::index::ranks::{List, Top};
use app::index::{IndexDomain, IndexPage, One};
use app::{App, Page};
use axum::extract::State;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::extract::{Path, Query};
use crate::failure::Answer;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(top_pages))
        .routes(routes!(top_domains))
        .routes(routes!(get_domain))
        .routes(routes!(domain_pages))
        .routes(routes!(missing_pages))
}

/// List the pages that are linked to most
///
/// By incount, pages that nothing links to are not listed.
#[utoipa::path(
    get,
    path = "/api/v1/index/pages",
    tag = "index",
    params(Top),
    responses((status = 200, body = Page<IndexPage>), (status = 404, description = "There is no such index")),
)]
async fn top_pages(State(app): State<App>, Query(asked): Query<Top>) -> Answer<axum::Json<Page<IndexPage>>> {
    Ok(axum::Json(app::index::ranks::top_pages(&app, asked).await?))
}

/// List the domains with the most pages
#[utoipa::path(
    get,
    path = "/api/v1/index/domains",
    tag = "index",
    params(List),
    responses((status = 200, body = Page<IndexDomain>), (status = 404, description = "There is no such index")),
)]
async fn top_domains(
    State(app): State<App>,
    Query(asked): Query<List>,
) -> Answer<axum::Json<Page<IndexDomain>>> {
    Ok(axum::Json(app::index::ranks::top_domains(&app, asked).await?))
}

/// Get a domain
#[utoipa::path(
    get,
    path = "/api/v1/index/domains/{name}",
    tag = "index",
    params(("name" = String, Path, description = "The registrable domain, like `example.com`; or a host in it"), One),
    responses((status = 200, body = IndexDomain), (status = 404, description = "There is no such index, or nothing is known of the domain")),
)]
async fn get_domain(
    State(app): State<App>,
    Path(name): Path<String>,
    Query(asked): Query<One>,
) -> Answer<axum::Json<IndexDomain>> {
    Ok(axum::Json(app::index::ranks::get_domain(&app, name, asked).await?))
}

/// List the pages of a domain, the highest score first
#[utoipa::path(
    get,
    path = "/api/v1/index/domains/{name}/pages",
    tag = "index",
    params(("name" = String, Path, description = "The registrable domain, like `example.com`; or a host in it"), List),
    responses((status = 200, body = Page<IndexPage>), (status = 404, description = "There is no such index, or nothing is known of the domain")),
)]
async fn domain_pages(
    State(app): State<App>,
    Path(name): Path<String>,
    Query(asked): Query<List>,
) -> Answer<axum::Json<Page<IndexPage>>> {
    Ok(axum::Json(app::index::ranks::domain_pages(&app, name, asked).await?))
}

/// List what is linked to most but was never captured
#[utoipa::path(
    get,
    path = "/api/v1/index/missing",
    tag = "index",
    params(List),
    responses((status = 200, body = Page<IndexPage>), (status = 404, description = "There is no such index")),
)]
async fn missing_pages(
    State(app): State<App>,
    Query(asked): Query<List>,
) -> Answer<axum::Json<Page<IndexPage>>> {
    Ok(axum::Json(app::index::ranks::missing_pages(&app, asked).await?))
}
