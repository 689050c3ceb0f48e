//! Applying a config: what it says becomes what is declared, change by change.

use std::collections::{HashMap, HashSet};

use declare::secret;
use declare::{self, ConfigError, Declared, counted};
use policy::catalog::{Catalog, Change};
use policy::model::{DeclaredWalk, Politeness};
use policy::way::Way;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::FieldProblem;
use crate::{Answer, App, Kind, Problem};

#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct How {
    /// Delete what the config does not have.
    #[serde(default)]
    pub prune: bool,
}

/// What came of a config.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Applied {
    /// False: everything was so already.
    pub changed: bool,
    pub kinds: Vec<AppliedKind>,
}

/// What became of the things of one kind.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct AppliedKind {
    /// `settings`, `collection`, `profile`, `host group`, `host`, `seed` or `walk`.
    pub kind: String,
    pub added: u64,
    pub changed: u64,
    pub unchanged: u64,
    pub deleted: u64,
}

const KINDS: [&str; 7] = ["settings", "collection", "profile", "host group", "host", "seed", "walk"];

/// Makes what is declared of what the config says.
#[crate::boxed]
pub async fn apply_config(
    app: &App,
    How { prune }: How,
    text: impl AsRef<[u8]> + Send + 'static,
) -> Answer<Applied> {
    let applied = app.heavy(async move |app| {
        let mut declared = declare::parse("config", text.as_ref()).map_err(|error| wrong(&error))?;
        drop(text);
        let _turn = app.edits.lock().await;
        let differences = app.look_to_edit(|catalog| -> Answer<_> {
            secret::restore_declared(&mut declared, catalog)?;
            Ok(differences(catalog, declared, prune))
        });
        let (since, found) = differences.await?;
        let (changes, kinds) = found?;
        app.declare(since, &changes).await?;
        Ok(Applied { changed: !changes.is_empty(), kinds })
    });
    applied.await
}

/// The sentences of `config check`, each with its place.
fn wrong(error: &ConfigError) -> Problem {
    let number = counted(error.problems.len() + error.more, "problem");
    let told = error.problems.iter().map(|found| FieldProblem {
        pointer: String::new(),
        detail: format!("line {}, column {}: {}", found.at.line, found.at.column, found.what),
        hint: Some(found.hint.clone()),
    });
    Problem { errors: told.collect(), ..Problem::invalid(format!("the config has {number}")) }
}

/// The changes that make of the catalog what the config says, and how many there are of each kind.
fn differences(catalog: &Catalog, declared: Declared, prune: bool) -> (Vec<Change>, Vec<AppliedKind>) {
    let none = |kind: &str| AppliedKind { kind: kind.to_owned(), ..AppliedKind::default() };
    let mut counts = KINDS.map(none).to_vec();
    let deletions = if prune { deletions(catalog, &declared) } else { Vec::new() };
    for deletion in &deletions {
        counts[kind_of(deletion)].deleted += 1;
    }
    let declared = Declared { walks: in_their_places(catalog, declared.walks), ..declared };
    let hosts: HashMap<&str, &(Politeness, Way)> = catalog.host_overrides().collect();
    let mut changes = Vec::new();
    for change in declared.into_changes() {
        let count = &mut counts[kind_of(&change)];
        match compare(catalog, &hosts, &change) {
            Found::Same => {
                count.unchanged += 1;
                continue;
            }
            Found::Other => count.changed += 1,
            Found::Nothing => count.added += 1,
        }
        changes.push(change);
    }
    changes.extend(deletions);
    (changes, counts)
}

/// Walks that stand in the file in the order they take turns in now keep their places, whatever
/// numbers those have.
fn in_their_places(catalog: &Catalog, mut walks: Vec<DeclaredWalk>) -> Vec<DeclaredWalk> {
    let places = walks.iter().map(|walk| catalog.walk(&walk.name).map(|known| (known.place, &known.name)));
    let Some(places) = places.collect::<Option<Vec<_>>>() else { return walks };
    if places.is_sorted() {
        let places: Vec<u32> = places.into_iter().map(|(place, _)| place).collect();
        walks.iter_mut().zip(places).for_each(|(walk, place)| walk.place = place);
    }
    walks
}

enum Found {
    Nothing,
    Other,
    Same,
}

impl Found {
    fn of<T: PartialEq>(found: Option<&T>, wanted: &T) -> Found {
        match found {
            None => Found::Nothing,
            Some(found) if found == wanted => Found::Same,
            Some(_) => Found::Other,
        }
    }
}

fn compare(catalog: &Catalog, hosts: &HashMap<&str, &(Politeness, Way)>, change: &Change) -> Found {
    match change {
        Change::PutSettings(settings) => Found::of(Some(catalog.settings()), settings),
        Change::PutCollection(collection) => Found::of(catalog.collection(&collection.name), collection),
        Change::PutProfile(profile) => Found::of(catalog.profile(&profile.name), profile),
        Change::PutSeed(seed) => Found::of(catalog.seed(&seed.name).map(|entry| &entry.seed), seed),
        Change::PutGroup(group) => Found::of(catalog.group(&group.name), group),
        Change::PutHostPoliteness { host, politeness, way } => match hosts.get(host.as_str()) {
            None => Found::Nothing,
            Some((own, own_way)) if own == politeness && own_way == way => Found::Same,
            Some(_) => Found::Other,
        },
        Change::PutWalk(walk) => Found::of(catalog.walk(&walk.name), walk),
        _ => Found::Other,
    }
}

/// What is declared and not in the file: first what refers, then what is referred to.
fn deletions(catalog: &Catalog, declared: &Declared) -> Vec<Change> {
    let mut deletions = Vec::new();
    let mut gone = |all: Vec<&str>, kept: Vec<&str>, deletion: &dyn Fn(&str) -> Change| {
        let kept: HashSet<&str> = kept.into_iter().collect();
        deletions.extend(all.into_iter().filter(|name| !kept.contains(name)).map(deletion));
    };
    let kept = declared.walks.iter().map(|walk| walk.name.as_str()).collect();
    let walks = catalog.walks().map(|walk| walk.name.as_str()).collect();
    gone(walks, kept, &|name| Change::DeleteWalk(name.to_owned()));
    let kept = [
        (Kind::Seed, declared.seeds.iter().map(|seed| seed.name.as_str()).collect()),
        (Kind::Profile, declared.profiles.iter().map(|profile| profile.name.as_str()).collect()),
        (Kind::Collection, declared.collections.iter().map(|found| found.name.as_str()).collect()),
        (Kind::Group, declared.groups.iter().map(|group| group.name.as_str()).collect()),
    ];
    for (kind, kept) in kept {
        gone(kind.names(catalog), kept, &|name| kind.deletion(name));
    }
    let kept = declared.hosts.iter().map(|(host, ..)| host.as_str()).collect();
    let hosts = catalog.host_overrides().map(|(host, _)| host).collect();
    gone(hosts, kept, &|host| Change::DeleteHostPoliteness(host.to_owned()));
    deletions
}

fn kind_of(change: &Change) -> usize {
    match change {
        Change::PutSettings(_) => 0,
        Change::PutCollection(_) | Change::DeleteCollection(_) => 1,
        Change::PutProfile(_) | Change::DeleteProfile(_) => 2,
        Change::PutGroup(_) | Change::DeleteGroup(_) => 3,
        Change::PutHostPoliteness { .. } | Change::DeleteHostPoliteness(_) => 4,
        Change::PutSeed(_) | Change::DeleteSeed(_) => 5,
        Change::PutWalk(_) | Change::DeleteWalk(_) => 6,
        // No config says them.
        Change::PutBarred(_) | Change::DeleteBarred(_) => 0,
    }
}
