//! One page: what is known of it, who links to it, and to whom it links.

use declare::excerpt;
use declare::given::{period_begin, period_end};
use http::StatusCode;
use index::{Index, Seen, Uri};
use policy::time::Time;
use serde::Deserialize;
use utoipa::IntoParams;

use super::{IndexInlink, IndexOutlink, PageFacts, domain_text, open, page_of, uri_of};
use crate::page::{self, Page};
use crate::{Answer, App, Problem};

#[derive(Clone, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct OnePage {
    /// The page.
    pub url: String,
    /// The index of this collection; not needed if there is only one.
    pub collection: Option<String>,
    /// The index across all collections.
    #[serde(default)]
    pub all: bool,
}

#[derive(Clone, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct Outlinks {
    /// The page.
    pub url: String,
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

#[derive(Clone, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct Inlinks {
    /// The page.
    pub url: String,
    /// Only links that were seen then or later: `2024`, `2024-02`, `2024-02-29`, or a time.
    pub since: Option<String>,
    /// Only links that were seen then or earlier; a year, month or day counts to its end.
    pub until: Option<String>,
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

/// Get what is known of a page
#[crate::boxed]
pub async fn get_page(app: &App, asked: OnePage) -> Answer<PageFacts> {
    let index = open(app, asked.collection.as_deref(), asked.all).await?;
    Ok(known_page(&index, &asked.url).await?.1)
}

/// List the links to a page with their texts, in the order of the pages that link
///
/// With a stretch of time, only those that were there in it.
#[crate::boxed]
pub async fn list_inlinks(app: &App, asked: Inlinks) -> Answer<Page<IndexInlink>> {
    let limit = page::limit(asked.limit)?;
    let seen = Seen {
        from: time("since", asked.since.as_deref(), period_begin)?,
        to: time("until", asked.until.as_deref(), period_end)?,
    };
    let index = open(app, asked.collection.as_deref(), asked.all).await?;
    let (uri, _) = known_page(&index, &asked.url).await?;
    Ok(page_of(index.inlinks(&uri, seen, asked.cursor.as_deref(), limit).await?))
}

/// List the links of a page with their texts, in the order of where they lead
#[crate::boxed]
pub async fn list_outlinks(app: &App, asked: Outlinks) -> Answer<Page<IndexOutlink>> {
    let limit = page::limit(asked.limit)?;
    let index = open(app, asked.collection.as_deref(), asked.all).await?;
    let (uri, _) = known_page(&index, &asked.url).await?;
    Ok(page_of(index.outlinks(&uri, asked.cursor.as_deref(), limit).await?))
}

/// A page that is loaded or linked to.
#[crate::boxed]
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
