//! One page: what is known of it, who links to it, and to whom it links.

use axum::extract::State;
use axum::http::StatusCode;
use index::{Index, Seen, Uri};
use policy::time::Time;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{IndexInlink, IndexOutlink, PageFacts, domain_text, open, page_of, uri_of};
use crate::api::page::{self, Page};
use crate::api::{Answer, App, Problem, Query};
use declare::excerpt;
use declare::given::{period_begin, period_end};

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(get_page))
        .routes(routes!(list_inlinks))
        .routes(routes!(list_outlinks))
}

#[derive(Clone, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct OnePage {
    /// The page.
    url: String,
    /// The index of this collection; not needed if there is only one.
    collection: Option<String>,
    /// The index across all collections.
    #[serde(default)]
    all: bool,
}

#[derive(Clone, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct Outlinks {
    /// The page.
    url: String,
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

#[derive(Clone, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct Inlinks {
    /// The page.
    url: String,
    /// Only links that were seen then or later: `2024`, `2024-02`, `2024-02-29`, or a time.
    since: Option<String>,
    /// Only links that were seen then or earlier; a year, month or day counts to its end.
    until: Option<String>,
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

/// Get what is known of a page
#[utoipa::path(
    get,
    path = "/api/v1/index/page",
    tag = "index",
    params(OnePage),
    responses((status = 200, body = PageFacts), (status = 404, description = "There is no such index, or the page is not known")),
)]
async fn get_page(State(app): State<App>, Query(asked): Query<OnePage>) -> Answer<axum::Json<PageFacts>> {
    let index = open(&app, asked.collection.as_deref(), asked.all).await?;
    Ok(axum::Json(known_page(&index, &asked.url).await?.1))
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
    let limit = page::limit(asked.limit)?;
    let seen = Seen {
        from: time("since", asked.since.as_deref(), period_begin)?,
        to: time("until", asked.until.as_deref(), period_end)?,
    };
    let index = open(&app, asked.collection.as_deref(), asked.all).await?;
    let (uri, _) = known_page(&index, &asked.url).await?;
    Ok(page_of(index.inlinks(&uri, seen, asked.cursor.as_deref(), limit).await?))
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
    let limit = page::limit(asked.limit)?;
    let index = open(&app, asked.collection.as_deref(), asked.all).await?;
    let (uri, _) = known_page(&index, &asked.url).await?;
    Ok(page_of(index.outlinks(&uri, asked.cursor.as_deref(), limit).await?))
}

/// A page that is loaded or linked to.
pub async fn known_page(index: &Index, url: &str) -> Answer<(Uri, PageFacts)> {
    let uri = uri_of(url)?;
    match index.page(&uri).await? {
        Some(facts) => {
            let facts = PageFacts::new(&uri, &facts);
            Ok((uri, facts))
        }
        None => {
            let what = format!("{} is neither loaded nor linked to", excerpt(url));
            let domain = domain_text(uri.domain());
            let hint = format!("`skurd index domain {domain}` lists what is known of its domain");
            Err(Problem::new(StatusCode::NOT_FOUND, what).hint(hint))
        }
    }
}

fn time(name: &str, text: Option<&str>, read: impl Fn(&str) -> Result<Time, String>) -> Answer<Option<Time>> {
    let wrong = |hint: String| Problem::bad_request(format!("`{name}` is no time")).hint(hint);
    text.map(|text| read(text).map_err(wrong)).transpose()
}
