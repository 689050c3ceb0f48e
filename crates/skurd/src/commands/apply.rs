//! `skurd config apply`: what a file says becomes what is declared, change by change.

use std::collections::{HashMap, HashSet};
use std::io::Write;
use std::path::Path;

use anyhow::Result;
use policy::catalog::{Catalog, Change};
use policy::model::Politeness;
use serde_json::json;

use super::declared::declare;
use crate::api::Kind;
use crate::config::{self, Declared};
use crate::output::{Column, Table, left, right};
use crate::session::{Session, stdout};

const COLUMNS: [Column; 5] =
    [left("kind"), right("added"), right("changed"), right("unchanged"), right("deleted")];

/// What became of the things of one kind.
#[derive(Default)]
struct Counts {
    added: u64,
    changed: u64,
    unchanged: u64,
    deleted: u64,
}

const KINDS: [&str; 7] = ["settings", "collection", "profile", "host group", "host", "seed", "walk"];

pub(crate) fn run(file: &Path, dir: &Path, prune: bool, as_json: bool) -> Result<()> {
    let declared = config::load(file)?;
    let session = Session::create(dir)?;
    let (changes, counts) = session.look(|catalog| differences(catalog, declared, prune))?;
    declare(&session, &changes)?;
    let mut out = stdout();
    match as_json {
        true => print_json(&mut out, &counts)?,
        false => {
            Table::new(&COLUMNS).page(&mut out, &rows(&counts))?;
            if changes.is_empty() {
                writeln!(out, "everything was as {} says", file.display())?;
            }
        }
    }
    Ok(out.flush()?)
}

/// The changes that make of the catalog what the file says, and how many there are of each kind.
fn differences(catalog: &Catalog, declared: Declared, prune: bool) -> (Vec<Change>, [Counts; KINDS.len()]) {
    let mut counts: [Counts; KINDS.len()] = Default::default();
    let deletions = if prune { deletions(catalog, &declared) } else { Vec::new() };
    for deletion in &deletions {
        counts[kind_of(deletion)].deleted += 1;
    }
    let hosts: HashMap<&str, &Politeness> = catalog.host_overrides().collect();
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

fn compare(catalog: &Catalog, hosts: &HashMap<&str, &Politeness>, change: &Change) -> Found {
    match change {
        Change::PutSettings(settings) => Found::of(Some(catalog.settings()), settings),
        Change::PutCollection(collection) => Found::of(catalog.collection(&collection.name), collection),
        Change::PutProfile(profile) => Found::of(catalog.profile(&profile.name), profile),
        Change::PutSeed(seed) => Found::of(catalog.seed(&seed.name).map(|entry| &entry.seed), seed),
        Change::PutGroup(group) => Found::of(catalog.group(&group.name), group),
        Change::PutHostPoliteness { host, politeness } => {
            Found::of(hosts.get(host.as_str()).copied(), politeness)
        }
        Change::PutWalk(walk) => Found::of(catalog.walk(&walk.name), walk),
        _ => Found::Other,
    }
}

/// What is declared and not in the file: first what refers, then what is referred to.
fn deletions(catalog: &Catalog, declared: &Declared) -> Vec<Change> {
    let mut deletions = Vec::new();
    let kept: HashSet<&str> = declared.walks.iter().map(|walk| walk.name.as_str()).collect();
    let walks = catalog.walks().filter(|walk| !kept.contains(walk.name.as_str()));
    deletions.extend(walks.map(|walk| Change::DeleteWalk(walk.name.clone())));
    let mut gone = |kind: Kind, kept: Vec<&str>| {
        let kept: HashSet<&str> = kept.into_iter().collect();
        let names = kind.names(catalog).into_iter().filter(|name| !kept.contains(name));
        deletions.extend(names.map(|name| kind.deletion(name)));
    };
    gone(Kind::Seed, declared.seeds.iter().map(|seed| seed.name.as_str()).collect());
    gone(Kind::Profile, declared.profiles.iter().map(|profile| profile.name.as_str()).collect());
    gone(Kind::Collection, declared.collections.iter().map(|found| found.name.as_str()).collect());
    gone(Kind::Group, declared.groups.iter().map(|group| group.name.as_str()).collect());
    let kept: HashSet<&str> = declared.hosts.iter().map(|(host, _)| host.as_str()).collect();
    let hosts = catalog.host_overrides().map(|(host, _)| host).filter(|host| !kept.contains(host));
    deletions.extend(hosts.map(|host| Change::DeleteHostPoliteness(host.to_owned())));
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
    }
}

fn print_json(out: &mut impl Write, counts: &[Counts]) -> Result<()> {
    for (kind, count) in KINDS.iter().zip(counts) {
        let Counts { added, changed, unchanged, deleted } = count;
        let object = json!({
            "kind": kind, "added": added, "changed": changed, "unchanged": unchanged, "deleted": deleted,
        });
        writeln!(out, "{object}")?;
    }
    Ok(())
}

fn rows(counts: &[Counts]) -> Vec<Vec<String>> {
    let row = |(kind, count): (&&str, &Counts)| {
        let numbers = [count.added, count.changed, count.unchanged, count.deleted];
        std::iter::once((*kind).to_owned()).chain(numbers.map(|number| number.to_string())).collect()
    };
    KINDS.iter().zip(counts).map(row).collect()
}
