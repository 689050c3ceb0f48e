//! Lists by rank: pages, domains, the pages of a domain, and what was never captured (X8, X9, X15).

use declare::excerpt;
use http::StatusCode;
use index::Index;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{IndexDomain, IndexPage, One, domain_text, open, page_of, reversed};
use crate::page::{self, Page};
use crate::{Answer, App, Problem};

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
pub struct Top {
    /// By what pages are ranked.
    #[serde(default)]
    #[param(inline)]
    pub by: By,
    /// The index of this collection; not needed if there is only one.
    pub collection: Option<String>,
    /// The index across all collections.
    #[serde(default)]
    pub all: bool,
    /// The `next` of the page before.
    pub cursor: Option<String>,
    /// How many items at most; 100 if not given.
    #[param(minimum = 1, maximum = 1000)]
    pub limit: Option<usize>,
}

#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct List {
    /// The index of this collection; not needed if there is only one.
    pub collection: Option<String>,
    /// The index across all collections.
    #[serde(default)]
    pub all: bool,
    /// The `next` of the page before.
    pub cursor: Option<String>,
    /// How many items at most; 100 if not given.
    #[param(minimum = 1, maximum = 1000)]
    pub limit: Option<usize>,
}

/// List the pages that are linked to most
///
/// By incount, pages that nothing links to are not listed.
#[crate::boxed]
pub async fn top_pages(app: &App, asked: Top) -> Answer<Page<IndexPage>> {
    let limit = page::limit(asked.limit)?;
    let index = open(app, asked.collection.as_deref(), asked.all).await?;
    Ok(page_of(index.top(asked.by.into(), asked.cursor.as_deref(), limit).await?))
}

/// List the domains with the most pages
#[crate::boxed]
pub async fn top_domains(app: &App, asked: List) -> Answer<Page<IndexDomain>> {
    let limit = page::limit(asked.limit)?;
    let index = open(app, asked.collection.as_deref(), asked.all).await?;
    Ok(page_of(index.top_domains(asked.cursor.as_deref(), limit).await?))
}

/// Get a domain
#[crate::boxed]
pub async fn get_domain(app: &App, name: String, asked: One) -> Answer<IndexDomain> {
    let index = open(app, asked.collection.as_deref(), asked.all).await?;
    known_domain(&index, &name).await
}

/// List the pages of a domain, the highest score first
#[crate::boxed]
pub async fn domain_pages(app: &App, name: String, asked: List) -> Answer<Page<IndexPage>> {
    let limit = page::limit(asked.limit)?;
    let index = open(app, asked.collection.as_deref(), asked.all).await?;
    let domain = known_domain(&index, &name).await?;
    Ok(page_of(index.domain_pages(&domain.uri, asked.cursor.as_deref(), limit).await?))
}

/// A domain of which something is known.
#[crate::boxed]
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
#[crate::boxed]
pub async fn missing_pages(app: &App, asked: List) -> Answer<Page<IndexPage>> {
    let limit = page::limit(asked.limit)?;
    let index = open(app, asked.collection.as_deref(), asked.all).await?;
    Ok(page_of(index.missing(asked.cursor.as_deref(), limit).await?))
}
