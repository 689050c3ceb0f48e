//! Where a walk stands, in a few fields.

use frontier::WalkSight;
use harvest::walk::Standing;
use policy::url::{CrawlUrl, UrlRules, normalise};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::control::pausing;
use crate::{Answer, App, Problem};

/// A walk.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct WalkItem {
    pub name: String,
    /// On whose terms it is walked.
    pub profile: String,
    pub active: bool,
    /// What keeps it waiting: `everything`, `collection`, `host` or `walk` is paused.
    pub paused: Vec<String>,
    pub state: WalkState,
    /// Something of it has been tried.
    pub begun: bool,
    /// When something of it was last fetched.
    #[schema(format = DateTime)]
    pub last: Option<String>,
    #[serde(flatten)]
    pub standing: Standing,
    /// As it was declared; spans of time are in milliseconds.
    #[schema(value_type = Object)]
    pub settings: Value,
}

/// Whether there is something left to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WalkState {
    /// Nothing of it has been tried
    NotBegun,
    /// There is
    Open,
    /// There is not, until it is resumed
    Ended,
}

#[crate::boxed]
pub async fn item(app: &App, sight: &WalkSight) -> Answer<WalkItem> {
    let WalkSight { declared, walk, run, .. } = sight;
    let state = match (sight.is_new, sight.ended) {
        (true, _) => WalkState::NotBegun,
        (false, false) => WalkState::Open,
        (false, true) => WalkState::Ended,
    };
    Ok(WalkItem {
        name: declared.name.clone(),
        profile: declared.profile.clone(),
        active: declared.active,
        paused: paused(app, sight).await?,
        state,
        begun: !sight.is_new,
        last: run.last.map(|time| time.to_string()),
        standing: Standing::of(walk, run),
        settings: serde_json::to_value(walk.settings()).map_err(|error| Problem::internal(&error))?,
    })
}

async fn paused(app: &App, sight: &WalkSight) -> Answer<Vec<String>> {
    let settings = &sight.declared.settings;
    let first = normalise(&settings.template().url(settings.start()), None, &UrlRules::default()).ok();
    let profile = sight.declared.profile.as_str();
    let collection = app.look(|catalog| catalog.profile(profile).map(|own| own.collection.clone())).await?;
    let (collection, host) = (collection.as_deref(), first.as_ref().map(CrawlUrl::site));
    Ok(pausing(&app.frontier.paused().await?, collection, host, Some(&sight.declared.name)))
}
