//! A harvest from nothing: a URL, how often, and how to reach who asks.
//!
//! What it takes is declared as anybody would declare it (a collection, a profile for the
//! frequency, a seed), and started. What is there already is used as it is.

use declare::{TextRule, read_text};
use policy::catalog::{Catalog, Change};
use policy::model::{Collection, Profile, Settings};
use policy::time::Span;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::control::{self, Run, Start};
use crate::declared::{ManySeeds, NewSeed, many};
use crate::{Answer, App, Problem};

/// Where what is harvested this way belongs, unless a profile of the frequency is there.
const COLLECTION: &str = "web";

/// What to harvest.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct FirstHarvest {
    /// Where to start: the pages of its domain follow.
    pub url: String,
    #[serde(default)]
    pub often: Often,
    /// Where site owners can reach you: a web page or mail address. Needed unless it is in the
    /// settings, or was given at the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contact: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Often {
    #[default]
    Once,
    Daily,
    Weekly,
    Monthly,
}

impl Often {
    pub const ALL: [Often; 4] = [Often::Once, Often::Daily, Often::Weekly, Often::Monthly];

    /// The profile of that frequency is called so, too.
    pub fn as_str(self) -> &'static str {
        match self {
            Often::Once => "once",
            Often::Daily => "daily",
            Often::Weekly => "weekly",
            Often::Monthly => "monthly",
        }
    }

    fn profile(self) -> Profile {
        let (every, length) = match self {
            Often::Once => (Span::days(1), Some(1)),
            Often::Daily => (Span::days(1), None),
            Often::Weekly => (Span::days(7), None),
            Often::Monthly => (Span::days(30), None),
        };
        let (name, collection) = (self.as_str().to_owned(), COLLECTION.to_owned());
        Profile { name, collection, every, length, ..Profile::default() }
    }
}

/// Harvest a URL: what that takes is declared and started
#[crate::boxed]
pub async fn harvest_url(app: &App, wanted: FirstHarvest) -> Answer<Vec<Run>> {
    let FirstHarvest { url, often, contact } = wanted;
    // Nothing is declared for a URL that is none.
    let at_url =
        |problem: Problem| Problem { errors: Vec::new(), ..problem.clone() }.field("/url", problem.detail);
    let url = app.url(&url).await.map_err(at_url)?.as_str().to_owned();
    match contact {
        Some(contact) => introduce(app, contact).await?,
        None if is_unknown(app) => {
            let what = "site owners must be able to reach you";
            return Err(Problem::invalid(what).hint("a web page or a mail address").field("/contact", what));
        }
        None => {}
    }
    let turn = app.edits.lock().await;
    let (since, changes) = app.look_to_edit(|catalog| missing(catalog, often)).await?;
    app.declare(since, &changes).await?;
    drop(turn);
    let profile = often.as_str().to_owned();
    let seed = NewSeed { url: url.clone(), name: None, active: true };
    many::add_seeds(app, ManySeeds { profiles: vec![profile.clone()], seeds: vec![seed] }).await?;
    control::start(app, Start { seed: Some(url), profiles: vec![profile], collection: None }).await
}

/// Says how to reach who asks.
#[crate::boxed]
pub async fn introduce(app: &App, contact: String) -> Answer<()> {
    let rules = app.look(|catalog| catalog.url_rules().clone()).await?;
    if let Err(wrong) = read_text(&contact, TextRule::Contact, &rules) {
        let what = format!("the contact is not right: {}", wrong.what);
        return Err(Problem::invalid(what).hint(&wrong.hint).field("/contact", wrong.what));
    }
    let _turn = app.edits.lock().await;
    let (since, settings) = app.look_to_edit(|catalog| catalog.settings().clone()).await?;
    let settings = Settings { contact: Some(contact.trim().to_owned()), ..settings };
    app.declare(since, &[Change::PutSettings(Box::new(settings))]).await
}

/// Whether a harvest waits for somebody to say who asks.
pub fn is_unknown(app: &App) -> bool {
    app.live.figures.look_at(|counts| counts.waits_for_contact)
}

/// What it takes to harvest so often, and is not declared.
fn missing(catalog: &Catalog, often: Often) -> Vec<Change> {
    if catalog.profile(often.as_str()).is_some() {
        return Vec::new();
    }
    let collection = Collection { name: COLLECTION.to_owned(), ..Collection::default() };
    let is_there = catalog.collection(COLLECTION).is_some();
    let collection = (!is_there).then(|| Change::PutCollection(Box::new(collection)));
    collection.into_iter().chain([Change::PutProfile(Box::new(often.profile()))]).collect()
}
