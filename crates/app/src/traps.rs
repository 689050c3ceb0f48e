//! Suspected traps (F37): looking, releasing, excluding.

use declare::hint::hinted;
use declare::{counted, excerpt};
use frontier::{Trap, TrapKey};
use http::StatusCode;
use policy::catalog::{Catalog, Change};
use policy::model::{Profile, Settings};
use policy::scope::Pattern;
use policy::trap::{Decision, Remedy, Suspicion};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{Answer, App, Problem};
use crate::page::{Page, Paging};

/// Something that may be a trap.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct TrapItem {
    pub id: String,
    pub collection: String,
    pub host: String,
    /// `calendar`, `growing-path`, `session-ids`, `facets` or `alike`.
    pub kind: String,
    /// What its URLs have in common.
    pub template: String,
    /// 0 to 100.
    pub score: u8,
    /// What it rests on, in a sentence.
    pub says: String,
    pub figures: TrapFigures,
    /// The line of the config file that would end it: of a profile's scope, or `session_ids` of the
    /// settings.
    pub line: String,
    pub examples: Vec<String>,
    /// `open`, `released` or `excluded`.
    pub state: String,
    /// URLs of the host in the collection that are held, for whichever suspicion; at most 10,000 are
    /// counted.
    pub held: usize,
    #[schema(format = DateTime)]
    pub since: String,
    #[schema(format = DateTime)]
    pub seen: String,
}

/// What a suspicion rests on.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct TrapFigures {
    /// URLs found that are like it.
    pub found: u32,
    /// Those that were harvested and had text.
    pub pages: u32,
    /// Of the last pages, the percentage without anything new, and of those nearly the same as one
    /// shortly before.
    pub stale_percent: u8,
    pub alike_percent: u8,
    /// Percentage of the URLs that the host brought lately.
    pub of_new_percent: u8,
    /// The first and the last month that its URLs speak of.
    pub first_month: Option<String>,
    pub last_month: Option<String>,
    /// Segments of the longest path, where paths grow.
    pub deepest: u32,
    /// URLs that differ in the order of their parameters only.
    pub reordered: u32,
    /// Values of what seems to be a session id.
    pub values: u32,
}

#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct Filter {
    /// Only of this host.
    pub host: Option<String>,
    /// Those too that were decided.
    #[serde(default)]
    pub all: bool,
    /// The `next` of the page before.
    pub cursor: Option<String>,
    /// How many items at most; 100 if not given.
    #[param(minimum = 1, maximum = 1000)]
    pub limit: Option<usize>,
}

/// Which suspicion is decided.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Release {
    pub id: String,
    /// Of this collection, where several have it.
    #[serde(default)]
    pub collection: Option<String>,
}

/// Which suspicion is ended, and where its line goes.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Exclude {
    pub id: String,
    /// Of this collection, where several have it.
    #[serde(default)]
    pub collection: Option<String>,
    /// The profile whose scope gets the line; not needed where the collection has but one.
    #[serde(default)]
    pub profile: Option<String>,
}

/// What became of a suspicion.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Decided {
    pub id: String,
    pub collection: String,
    pub host: String,
    /// What was declared, and where: `exclude: … of profile daily`.
    pub declared: Option<String>,
    /// URLs that were held and are due now.
    pub back: usize,
}

/// List what seems to be a trap, by host
#[crate::boxed]
pub async fn list_traps(app: &App, filter: Filter) -> Answer<Page<TrapItem>> {
    let traps = app.frontier.traps().await?;
    let wanted = |trap: &&Trap| {
        filter.host.as_ref().is_none_or(|host| trap.key.host == *host)
            && (filter.all || trap.suspicion.decision == Decision::Open)
    };
    let named = |trap: &Trap| format!("{} {} {}", trap.key.host, trap.key.collection, trap.key.id);
    let paging = Paging { cursor: filter.cursor.clone(), limit: filter.limit };
    let (names, next) = paging.names(traps.iter().filter(wanted).map(named).collect())?;
    let mut items = Vec::with_capacity(names.len());
    for trap in traps.iter().filter(wanted).filter(|trap| names.binary_search(&named(trap)).is_ok()) {
        let held = match trap.suspicion.decision {
            Decision::Open => app.frontier.held(&trap.key.host, &trap.key.collection).await?,
            _ => 0,
        };
        items.push(item(trap, held));
    }
    Ok(Page { items, next })
}

fn item(Trap { key, suspicion }: &Trap, held: usize) -> TrapItem {
    let figures = &suspicion.figures;
    let (first_month, last_month) = figures.dates.clone().unzip();
    TrapItem {
        id: key.id.clone(),
        collection: key.collection.clone(),
        host: key.host.clone(),
        kind: suspicion.kind.as_str().to_owned(),
        template: suspicion.template.clone(),
        score: suspicion.score,
        says: format!("{}: {}", suspicion.kind.says(), figures.says(suspicion.kind)),
        figures: TrapFigures {
            found: figures.found,
            pages: figures.pages,
            stale_percent: figures.stale,
            alike_percent: figures.alike,
            of_new_percent: figures.of_new,
            first_month,
            last_month,
            deepest: figures.deepest,
            reordered: figures.reordered,
            values: figures.values,
        },
        line: suspicion.remedy.line(),
        examples: suspicion.examples.clone(),
        state: suspicion.decision.as_str().to_owned(),
        held,
        since: suspicion.since.to_string(),
        seen: suspicion.seen.to_string(),
    }
}

/// Let a suspicion go: it is no trap, and what was held for it is due now
#[crate::boxed]
pub async fn release_trap(app: &App, body: Release) -> Answer<Decided> {
    let Trap { key, .. } = found(app, &body.id, body.collection.as_deref()).await?;
    let back = app.frontier.release_trap(&key).await?.ok_or_else(|| gone(&body.id))?;
    Ok(Decided { id: key.id, collection: key.collection, host: key.host, declared: None, back })
}

/// End a suspicion: its line is added to a profile's scope, or to the settings
#[crate::boxed]
pub async fn exclude_trap(app: &App, body: Exclude) -> Answer<Decided> {
    let Trap { key, suspicion, .. } = found(app, &body.id, body.collection.as_deref()).await?;
    let _turn = app.edits.lock().await;
    let (since, change) =
        app.look_to_edit(|catalog| ending(catalog, &key, &suspicion, body.profile.as_deref())).await?;
    let (change, place) = change?;
    app.declare(since, change.as_slice()).await?;
    let back = app.frontier.trap_excluded(&key).await?.ok_or_else(|| gone(&body.id))?;
    let declared = Some(format!("{} in {place}", suspicion.remedy.line()));
    Ok(Decided { id: key.id, collection: key.collection, host: key.host, declared, back })
}

/// The change that ends it, none if it is declared already, and where that is.
fn ending(
    catalog: &Catalog,
    key: &TrapKey,
    suspicion: &Suspicion,
    named: Option<&str>,
) -> Answer<(Option<Change>, String)> {
    match &suspicion.remedy {
        Remedy::SessionId { name, .. } => {
            let mut settings: Settings = catalog.settings().clone();
            let is_there = settings.session_ids.iter().any(|known| known.eq_ignore_ascii_case(name));
            settings.session_ids.push(name.clone());
            let change = (!is_there).then(|| Change::PutSettings(Box::new(settings)));
            Ok((change, "the settings".to_owned()))
        }
        Remedy::Exclude(pattern) => {
            let mut profile: Profile = profile_of(catalog, &key.collection, named)?.clone();
            let pattern = Pattern::regex(pattern).map_err(|error| Problem::internal(&error))?;
            let place = format!("the scope of profile {}", profile.name);
            if profile.scope.exclude.contains(&pattern) {
                return Ok((None, place));
            }
            profile.scope.exclude.push(pattern);
            Ok((Some(Change::PutProfile(Box::new(profile))), place))
        }
    }
}

/// The profile that is named, or the only one there is.
fn profile_of<'a>(catalog: &'a Catalog, collection: &str, named: Option<&str>) -> Answer<&'a Profile> {
    let mut own: Vec<&Profile> = catalog.profiles_of_collection(collection).collect();
    own.sort_by(|a, b| a.name.cmp(&b.name));
    let names = || own.iter().map(|profile| profile.name.as_str()).collect::<Vec<_>>().join(", ");
    let conflict = |what: String| Problem::new(StatusCode::CONFLICT, what);
    match (named, own.as_slice()) {
        (Some(named), _) => own.iter().find(|profile| profile.name == named).copied().ok_or_else(|| {
            let what = format!("collection {} has no profile {}", excerpt(collection), excerpt(named));
            Problem::not_found(&hinted(what, format!("it has: {}", names())))
        }),
        (None, [only]) => Ok(*only),
        (None, []) => Err(conflict(format!("collection {} has no profile", excerpt(collection)))),
        (None, _) => {
            Err(conflict(format!("collection {} has {}", excerpt(collection), counted(own.len(), "profile")))
                .hint(format!("name one of them: {}", names())))
        }
    }
}

/// The one suspicion that is meant.
async fn found(app: &App, id: &str, collection: Option<&str>) -> Answer<Trap> {
    let traps = app.frontier.traps().await?.into_iter();
    let mut traps = traps.filter(|trap| {
        trap.key.id == id && collection.is_none_or(|collection| trap.key.collection == collection)
    });
    match (traps.next(), traps.next()) {
        (None, _) => Err(gone(id)),
        (Some(trap), None) => Ok(trap),
        (Some(one), Some(other)) => {
            let what = format!("several collections have suspicion {}", excerpt(id));
            let hint = format!("name one of them: {}, {}", one.key.collection, other.key.collection);
            Err(Problem::new(StatusCode::CONFLICT, what).hint(hint))
        }
    }
}

fn gone(id: &str) -> Problem {
    Problem::new(StatusCode::NOT_FOUND, format!("there is no suspicion {}", excerpt(id)))
        .hint("`skurd traps list` shows those there are")
}
