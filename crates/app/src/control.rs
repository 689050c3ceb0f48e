//! Starting, and pausing and going on.

use declare::excerpt;
use declare::hint::hinted;
use frontier::{Pause, Started, Target};
use http::StatusCode;
use policy::catalog::Catalog;
use policy::model::DeclaredWalk;
use policy::time::Time;
use policy::url::{CrawlUrl, site_of};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::queue::host_name;
use super::{Answer, App, Kind, Problem, walks};

/// What to start: a seed, profiles, a collection; everything if nothing is named.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Start {
    /// This seed, by name or URL, in the context of its profiles.
    pub seed: Option<String>,
    /// All seeds of these profiles; with a seed, only that one.
    pub profiles: Vec<String>,
    /// All profiles of this collection.
    pub collection: Option<String>,
}

/// A run that began.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Run {
    pub run: u64,
    /// What was started, like `seed vg`.
    pub started: String,
    /// Seeds looked at; one counts once per collection.
    pub seeds: usize,
    /// Those that were queued; the others were queued already, or are blacklisted.
    pub changed: usize,
}

/// Start a seed, profiles or a collection as a new run; everything if nothing is named
#[crate::boxed]
pub async fn start(app: &App, wanted: Start) -> Answer<Vec<Run>> {
    if wanted.collection.is_some() && (wanted.seed.is_some() || !wanted.profiles.is_empty()) {
        return Err(Problem::invalid("a collection is started as a whole")
            .hint("leave out the seed and the profiles, or the collection"));
    }
    let targets = app.look(|catalog| targets(catalog, &wanted)).await?;
    let targets = targets.map_err(|error| Problem::not_found(&error))?;
    let mut runs = Vec::new();
    for (target, started) in targets {
        let Started { run, seeds, changed } = app.frontier.start(&target).await?;
        if seeds > 0 {
            runs.push(Run { run, started, seeds, changed });
        }
    }
    match runs.is_empty() {
        true => Err(nothing(&wanted)),
        false => Ok(runs),
    }
}

/// What to start, each with what messages call it.
fn targets(catalog: &Catalog, wanted: &Start) -> anyhow::Result<Vec<(Target, String)>> {
    let profiles = wanted.profiles.iter().map(|name| Kind::Profile.resolve(catalog, name));
    let profiles: Vec<String> = profiles.collect::<anyhow::Result<_>>()?;
    if let Some(seed) = &wanted.seed {
        let name = Kind::Seed.resolve(catalog, seed)?;
        for profile in &profiles {
            has_profile(catalog, &name, profile)?;
        }
        let profiles = (!profiles.is_empty()).then_some(profiles);
        let what = format!("seed {name}");
        return Ok(vec![(Target::Seed { name, profiles }, what)]);
    }
    if !profiles.is_empty() {
        let target = |name: String| (Target::Profile(name.clone()), format!("profile {name}"));
        return Ok(profiles.into_iter().map(target).collect());
    }
    let mut collections = match &wanted.collection {
        Some(name) => vec![Kind::Collection.resolve(catalog, name)?],
        None => catalog.collections().map(|collection| collection.name.clone()).collect(),
    };
    collections.sort();
    let target = |name: String| (Target::Collection(name.clone()), format!("collection {name}"));
    Ok(collections.into_iter().map(target).collect())
}

fn has_profile(catalog: &Catalog, seed: &str, profile: &str) -> anyhow::Result<()> {
    let own: &[String] = catalog.seed(seed).map_or(&[], |entry| &entry.seed.profiles);
    if own.iter().any(|name| name == profile) {
        return Ok(());
    }
    let what = format!("seed {} does not have profile {}", excerpt(seed), excerpt(profile));
    Err(hinted(what, format!("it has: {}", own.join(", "))))
}

fn nothing(wanted: &Start) -> Problem {
    let conflict = |what: String| Problem::new(StatusCode::CONFLICT, format!("nothing to start: {what}"));
    match (&wanted.seed, wanted.profiles.first(), &wanted.collection) {
        (Some(seed), ..) => conflict(format!("no profile of seed {} exists", excerpt(seed)))
            .hint("`skurd seed add --replace` gives it another profile"),
        (_, Some(profile), _) => conflict(format!("profile {} has no seeds", excerpt(profile)))
            .hint(format!("`skurd seed add URL --profile {profile}` adds one")),
        (_, _, Some(collection)) => {
            conflict(format!("collection {} has no profile with seeds", excerpt(collection))).hint(format!(
                "`skurd profile add NAME --collection {collection} --every 1d` adds a profile, `skurd seed add` a seed"
            ))
        }
        _ => conflict("no seed is declared".to_owned())
            .hint("declare seeds with `skurd config apply FILE`, `skurd import` or `skurd seed add`"),
    }
}

/// What can be paused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "what", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Pausable {
    /// The whole harvest
    Everything {},
    /// A collection
    Collection { name: String },
    /// A host
    Host { name: String },
    /// A walk
    Walk { name: String },
}

/// Something that is paused.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct PauseItem {
    pub target: Pausable,
    #[schema(format = DateTime)]
    pub since: String,
}

/// What came of pausing or going on.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct PauseChange {
    /// False: it was so already.
    pub changed: bool,
    /// What is paused now.
    pub paused: Vec<PauseItem>,
}

/// Pause: nothing more of it is fetched until it is resumed, also after a restart
///
/// What is in flight comes home.
#[crate::boxed]
pub async fn pause(app: &App, what: Pausable) -> Answer<PauseChange> {
    let pause = pause_of(what)?;
    must_be_there(app, &pause).await?;
    let changed = app.frontier.pause(&pause).await?;
    Ok(PauseChange { changed, paused: list_pauses(app).await? })
}

/// Resume: it goes on at once
#[crate::boxed]
pub async fn resume(app: &App, what: Pausable) -> Answer<PauseChange> {
    let pause = pause_of(what)?;
    let changed = app.heavy(async move |app| Ok(app.frontier.resume(&pause).await?)).await?;
    Ok(PauseChange { changed, paused: list_pauses(app).await? })
}

fn pause_of(what: Pausable) -> Answer<Pause> {
    Ok(match what {
        Pausable::Everything {} => Pause::Everything,
        Pausable::Collection { name } => Pause::Collection(name),
        Pausable::Host { name } => Pause::Host(site_of(&host_name(&name)?).to_owned()),
        Pausable::Walk { name } => Pause::Walk(name),
    })
}

async fn must_be_there(app: &App, pause: &Pause) -> Answer<()> {
    match pause {
        Pause::Collection(name) => app.collection(name).await,
        Pause::Host(host) => known_host(app, host).await,
        Pause::Walk(name) => walks::declared(app, name).await.map(drop),
        _ => Ok(()),
    }
}

/// A host that is waited for, was harvested, or is declared: any other is probably misspelt.
async fn known_host(app: &App, host: &str) -> Answer<()> {
    let declared = app.look(|catalog| {
        let of_walk = |walk: &DeclaredWalk| {
            let url = walk.settings.template().url(walk.settings.start());
            CrawlUrl::from_normal(url).is_ok_and(|url| url.site() == host)
        };
        catalog.group_of(host).is_some()
            || catalog.host_overrides().any(|(own, _)| own == host)
            || catalog.walks().any(of_walk)
            || catalog.seeds().any(|entry| entry.url.site() == host)
    });
    let key = net::surt::key(&format!("http://{host}/"));
    let site = key.split(')').next().unwrap_or_default();
    if declared.await? || app.frontier.is_known_host(host, site).await? {
        return Ok(());
    }
    let problem = Problem::new(StatusCode::NOT_FOUND, format!("host {} is not known", excerpt(host)));
    Err(problem.hint(
        "`skurd hosts` shows those that wait; a host of a seed, a walk or a host group can be paused too",
    ))
}

/// List what is paused
#[crate::boxed]
pub async fn list_pauses(app: &App) -> Answer<Vec<PauseItem>> {
    let item = |(pause, since): (Pause, Time)| {
        let target = match pause {
            Pause::Everything => Pausable::Everything {},
            Pause::Collection(name) => Pausable::Collection { name },
            Pause::Host(name) => Pausable::Host { name },
            Pause::Walk(name) => Pausable::Walk { name },
            _ => return None,
        };
        Some(PauseItem { target, since: since.to_string() })
    };
    Ok(app.frontier.paused().await?.into_iter().filter_map(item).collect())
}

/// What of these keeps something from being fetched.
pub(crate) fn pausing(
    pauses: &[(Pause, Time)],
    collection: Option<&str>,
    host: Option<&str>,
    walk: Option<&str>,
) -> Vec<String> {
    let holds = |(pause, _): &(Pause, Time)| match pause {
        Pause::Everything => Some("everything"),
        Pause::Collection(name) => (Some(name.as_str()) == collection).then_some("collection"),
        Pause::Host(name) => (Some(name.as_str()) == host).then_some("host"),
        Pause::Walk(name) => (Some(name.as_str()) == walk).then_some("walk"),
        _ => None,
    };
    pauses.iter().filter_map(holds).map(str::to_owned).collect()
}
