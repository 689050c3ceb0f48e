//! The routes of [`app::hosts`].

use app::hosts::{Filter, HostItem};
use app::{App, Page};
use axum::extract::State;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::extract::Query;
use crate::failure::Answer;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list_hosts))
}

/// List the hosts that have URLs
#[utoipa::path(get, path = "/api/v1/hosts", tag = "queue", params(Filter), responses((status = 200, body = Page<HostItem>)))]
async fn list_hosts(
    State(app): State<App>,
    Query(filter): Query<Filter>,
) -> Answer<axum::Json<Page<HostItem>>> {
    Ok(axum::Json(app::hosts::list_hosts(&app, filter).await?))
}
