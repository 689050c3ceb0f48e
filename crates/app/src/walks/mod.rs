//! Walks (spec 3): where each stands, what is known of its ids, beginning another run of it, and
//! switching it.
//!
//! A walk is shown as it stands in the store. What is known of its ids may be much, so it is read
//! on a thread of its own, and told in a bounded number of ranges and cells.

mod item;
mod look;

use declare::excerpt;
use declare::hint::{hinted, unknown};
use frontier::{WalkError, WalkSight};
use http::StatusCode;
pub use item::{WalkItem, WalkState, item};
pub use look::{IdRange, Look, MoreRanges, RANGES_MAX, WalkDetail, detail};
use policy::catalog::{Catalog, Change};
use policy::model::DeclaredWalk;
use policy::walk::Resume;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::declared::Switched;
use super::{Answer, App, Problem};
use crate::page::{Page, Paging};

/// List the walks in the order of their names, and where each stands
#[crate::boxed]
pub async fn list_walks(app: &App, paging: Paging) -> Answer<Page<WalkItem>> {
    let all = app.look(|catalog| catalog.walks().map(|walk| walk.name.clone()).collect()).await?;
    let (names, next) = paging.names::<String>(all)?;
    let items = app.heavy(async move |app| {
        let mut items = Vec::with_capacity(names.len());
        for name in &names {
            match app.frontier.walk(name).await {
                Ok(sight) => items.push(item(&app, &sight).await?),
                // Deleted meanwhile.
                Err(WalkError::Unknown(_)) => {}
                Err(error) => return Err(refused(&app, name, error).await),
            }
        }
        Ok(items)
    });
    Ok(Page { items: items.await?, next })
}

/// Get a walk: where it stands, what is known of its ids, and a map of them
///
/// Ranges are inclusive; with a step, a range means its first, its last and those between them in
/// steps. A list that is cut off goes on at `from` in `more`.
#[crate::boxed]
pub async fn get_walk(app: &App, name: String, look: Look) -> Answer<WalkDetail> {
    look.check()?;
    let shown = app.heavy(async move |app| {
        let sight = sight(&app, &name).await?;
        Ok(detail(item(&app, &sight).await?, &sight.walk, &look))
    });
    shown.await
}

/// A walk with all that is known of its ids.
#[crate::boxed]
pub async fn sight(app: &App, name: &str) -> Answer<WalkSight> {
    match app.frontier.walk(name).await {
        Ok(sight) => Ok(sight),
        Err(error) => Err(refused(app, name, error).await),
    }
}

/// How another run goes about it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Strategy {
    /// The remaining bound only
    #[default]
    Continue,
    /// The holes only
    Holes,
    /// Both
    Both,
}

impl From<Strategy> for Resume {
    fn from(strategy: Strategy) -> Resume {
        match strategy {
            Strategy::Continue => Resume::Continue,
            Strategy::Holes => Resume::Holes,
            Strategy::Both => Resume::Both,
        }
    }
}

/// Another run of a walk.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AnotherRun {
    /// What it is to do; `continue` if not given.
    pub strategy: Strategy,
}

/// Walks on, or over what is left.
#[crate::boxed]
pub async fn resume_walk(app: &App, name: String, AnotherRun { strategy }: AnotherRun) -> Answer<WalkItem> {
    let resumed = app.heavy(async move |app| {
        if let Err(error) = app.frontier.resume_walk(&name, strategy.into()).await {
            return Err(refused(&app, &name, error).await);
        }
        item(&app, &sight(&app, &name).await?).await
    });
    resumed.await
}

/// Switches a walk on or off. What is in flight comes home, and nothing is lost.
#[crate::boxed]
pub async fn switch(app: &App, name: String, active: bool) -> Answer<Switched> {
    let _turn = app.edits.lock().await;
    let (since, walk) = app.look_to_edit(|catalog| found(catalog, &name)).await?;
    let walk = walk?;
    let changed = walk.active != active;
    if changed {
        app.declare(since, &[Change::PutWalk(Box::new(DeclaredWalk { active, ..walk }))]).await?;
    }
    Ok(Switched { name, active, changed })
}

/// A walk as it is declared.
#[crate::boxed]
pub async fn declared(app: &App, name: &str) -> Answer<DeclaredWalk> {
    app.look(|catalog| found(catalog, name)).await?
}

fn found(catalog: &Catalog, name: &str) -> Answer<DeclaredWalk> {
    catalog.walk(name).cloned().ok_or_else(|| nowhere(catalog, name))
}

fn nowhere(catalog: &Catalog, name: &str) -> Problem {
    const BEGIN: &str = "`skurd linear TEMPLATE` begins one, and so does `walks` in a config";
    let names: Vec<&str> = catalog.walks().map(|walk| walk.name.as_str()).collect();
    Problem::not_found(&match names.is_empty() {
        true => hinted(format!("there is no walk {}", excerpt(name)), BEGIN),
        false => unknown("walk", name, names.into_iter()),
    })
}

/// Why nothing can be said of a walk, or done to it.
async fn refused(app: &App, name: &str, error: WalkError) -> Problem {
    match error {
        WalkError::Unknown(_) => match app.look(|catalog| nowhere(catalog, name)).await {
            Ok(problem) | Err(problem) => problem,
        },
        WalkError::Busy(_) => {
            let what = format!("ids of walk {} are being fetched", excerpt(name));
            Problem::new(StatusCode::CONFLICT, what).hint("wait until it has ended, or pause it first")
        }
        WalkError::Store(error) => error.into(),
        WalkError::Refused(refusal) => Problem::internal(&format!("walk {}: {refusal}", excerpt(name))),
    }
}
