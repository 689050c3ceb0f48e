//! The blacklist: looking, adding, lifting.

use declare::given::{duration, line};
use frontier::{BlacklistRow, ranges};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::urls::{Act, each};
use super::{Answer, App, Problem};
use crate::page::{self, Page};

/// A URL that is left alone.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct BlacklistItem {
    pub collection: String,
    pub url: String,
    pub reason: String,
    #[schema(format = DateTime)]
    pub since: String,
    /// None: until somebody lifts it.
    #[schema(format = DateTime)]
    pub until: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct Filter {
    /// Only of this collection.
    pub collection: Option<String>,
    /// The `next` of the page before.
    pub cursor: Option<String>,
    /// How many items at most; 100 if not given.
    #[param(minimum = 1, maximum = 1000)]
    pub limit: Option<usize>,
}

/// List what is blacklisted, why, and until when
#[crate::boxed]
pub async fn list_blacklist(app: &App, filter: Filter) -> Answer<Page<BlacklistItem>> {
    let limit = page::limit(filter.limit)?;
    if let Some(name) = &filter.collection {
        app.collection(name).await?;
    }
    let whole = ranges::blacklist(filter.collection.as_deref());
    let range = page::rest(filter.cursor.as_deref(), &whole)?;
    let (rows, rest) = app.frontier.blacklist(None, Some(range), limit).await?;
    let item = |BlacklistRow { collection, url, entry }| BlacklistItem {
        collection,
        url,
        reason: entry.reason.to_string(),
        since: entry.since.to_string(),
        until: entry.until.map(|until| until.to_string()),
    };
    Ok(Page { items: rows.into_iter().map(item).collect(), next: page::next(rest) })
}

/// What to leave alone.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Addition {
    pub url: String,
    /// Only in this collection; in each if not given.
    #[serde(default)]
    pub collection: Option<String>,
    /// Why, for whoever wonders.
    pub reason: String,
    /// How long, like `7d`; until it is lifted if not given.
    #[serde(default, rename = "for")]
    pub span: Option<String>,
}

/// What was taken out of the queue.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Added {
    pub url: String,
    #[schema(format = DateTime)]
    pub until: Option<String>,
    /// Where it was queued.
    pub collections: Vec<String>,
}

/// Take a queued URL out of the queue, for a time or until lifted
#[crate::boxed]
pub async fn add_to_blacklist(app: &App, body: Addition) -> Answer<Added> {
    let wrong =
        |field: &'static str| move |wrong: String| Problem::invalid(wrong.clone()).field(field, wrong);
    let reason = line(&body.reason).map_err(wrong("/reason"))?;
    let span = body.span.as_deref().map(duration).transpose().map_err(wrong("/for"))?;
    let until = span.map(|span| app.frontier.now().plus(span));
    let act = Act::Blacklist { reason: &reason, until };
    let (url, collections) = each(app, &act, &body.url, body.collection.as_deref()).await?;
    Ok(Added { url, until: until.map(|until| until.to_string()), collections })
}

/// What to bring back.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Lift {
    pub url: String,
    /// Only in this collection; in each if not given.
    #[serde(default)]
    pub collection: Option<String>,
}

/// What was brought back.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Lifted {
    pub url: String,
    /// Where it was blacklisted.
    pub collections: Vec<String>,
}

/// Bring a URL back into the queue, due now
#[crate::boxed]
pub async fn lift(app: &App, body: Lift) -> Answer<Lifted> {
    let (url, collections) = each(app, &Act::Lift, &body.url, body.collection.as_deref()).await?;
    Ok(Lifted { url, collections })
}
