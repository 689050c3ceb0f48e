//! Lists by rank: pages, domains, the pages of a domain, and what was never captured (X8, X9, X15).

use axum::extract::State;
use axum::http::StatusCode;
use index::Index;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{IndexDomain, IndexPage, One, domain_text, open, page_of, reversed};
use crate::api::page::{self, Page};
use crate::api::{Answer, App, Path, Problem, Query};
use declare::excerpt;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(top_pages))
        .routes(routes!(top_domains))
        .routes(routes!(get_domain))
        .routes(routes!(domain_pages))
        .routes(routes!(missing_pages))
}

/// By what pages are ranked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// How many pages link to it
    #[default]
    Incount,
    /// That, and one more if the page itself was loaded
    Score,
}

impl From<By> for index::By {
    fn from(by: By) -> index::By {
        match by {
            By::Incount => index::By::Incount,
            By::Score => index::By::Score,
        }
    }
}

#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct Top {
    /// By what pages are ranked.
    #[serde(default)]
    #[param(inline)]
    by: By,
    /// The index of this collection; not needed if there is only one.
    collection: Option<String>,
    /// The index across all collections.
    #[serde(default)]
    all: bool,
    /// The `next` of the page before.
    cursor: Option<String>,
    /// How many items at most; 100 if not given.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<usize>,
}

#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct List {
    /// The index of this collection; not needed if there is only one.
    collection: Option<String>,
    /// The index across all collections.
    #[serde(default)]
    all: bool,
    /// The `next` of the page before.
    cursor: Option<String>,
    /// How many items at most; 100 if not given.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<usize>,
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
    let limit = page::limit(asked.limit)?;
    let index = open(&app, asked.collection.as_deref(), asked.all).await?;
    Ok(page_of(index.top(asked.by.into(), asked.cursor.as_deref(), limit).await?))
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
    let limit = page::limit(asked.limit)?;
    let index = open(&app, asked.collection.as_deref(), asked.all).await?;
    Ok(page_of(index.top_domains(asked.cursor.as_deref(), limit).await?))
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
    let index = open(&app, asked.collection.as_deref(), asked.all).await?;
    Ok(axum::Json(known_domain(&index, &name).await?))
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
    let limit = page::limit(asked.limit)?;
    let index = open(&app, asked.collection.as_deref(), asked.all).await?;
    let domain = known_domain(&index, &name).await?;
    Ok(page_of(index.domain_pages(&domain.uri, asked.cursor.as_deref(), limit).await?))
}

/// A domain of which something is known.
pub async fn known_domain(index: &Index, name: &str) -> Answer<IndexDomain> {
    let uri = reversed(name)?;
    let domain = domain_text(&uri);
    match index.domain(&uri).await? {
        0 => {
            let what = format!("nothing is known of the domain {}", excerpt(&domain));
            let problem = Problem::new(StatusCode::NOT_FOUND, what);
            Err(problem.hint("`skurd index top --domains` lists those there are"))
        }
        pagecount => Ok(IndexDomain { domain, uri, pagecount }),
    }
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
    let limit = page::limit(asked.limit)?;
    let index = open(&app, asked.collection.as_deref(), asked.all).await?;
    Ok(page_of(index.missing(asked.cursor.as_deref(), limit).await?))
}
