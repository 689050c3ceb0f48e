//! `skurd start`: a seed, a profile or a collection as a new run (F1–F4).

use std::io::Write;

use anyhow::Result;
use frontier::{Started, Target};
use policy::catalog::Catalog;
use serde_json::json;

use super::declared::Kind;
use crate::args::StartArgs;
use crate::config::{counted, excerpt};
use crate::hint::hinted;
use crate::session::{Session, stdout};

pub(crate) fn run(args: &StartArgs) -> Result<()> {
    let session = Session::open(&args.data.dir)?;
    let targets = session.look(|catalog| targets(catalog, args))??;
    let mut out = stdout();
    let mut started_any = false;
    for (target, what) in targets {
        let started = session.wait(session.frontier.start(&target))?;
        if started.seeds > 0 {
            started_any = true;
            print(&mut out, &what, &started, args.json)?;
        }
    }
    out.flush()?;
    match started_any {
        true => Ok(()),
        false => Err(nothing(args)),
    }
}

fn print(out: &mut impl Write, what: &str, started: &Started, as_json: bool) -> Result<()> {
    let Started { run, seeds, changed } = started;
    if as_json {
        let object = json!({ "run": run, "started": what, "seeds": seeds, "changed": changed });
        return Ok(writeln!(out, "{object}")?);
    }
    let seeds_told = counted(*seeds, "seed");
    write!(out, "run {run}: started {what}: {seeds_told}, {changed} queued")?;
    match seeds.saturating_sub(*changed) {
        0 => writeln!(out)?,
        rest => writeln!(out, ", {rest} as before (queued already, or blacklisted)")?,
    }
    Ok(())
}

/// What to start, each with what messages call it.
fn targets(catalog: &Catalog, args: &StartArgs) -> Result<Vec<(Target, String)>> {
    let profiles: Vec<String> =
        args.profiles.iter().map(|name| Kind::Profile.resolve(catalog, name)).collect::<Result<_>>()?;
    if let Some(seed) = &args.seed {
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
    let mut collections = match &args.collection {
        Some(name) => vec![Kind::Collection.resolve(catalog, name)?],
        None => catalog.collections().map(|collection| collection.name.clone()).collect(),
    };
    collections.sort();
    let target = |name: String| (Target::Collection(name.clone()), format!("collection {name}"));
    Ok(collections.into_iter().map(target).collect())
}

fn has_profile(catalog: &Catalog, seed: &str, profile: &str) -> Result<()> {
    let own: &[String] = catalog.seed(seed).map_or(&[], |entry| &entry.seed.profiles);
    if own.iter().any(|name| name == profile) {
        return Ok(());
    }
    let what = format!("seed {} does not have profile {}", excerpt(seed), excerpt(profile));
    Err(hinted(what, format!("it has: {}", own.join(", "))))
}

fn nothing(args: &StartArgs) -> anyhow::Error {
    match (&args.seed, args.profiles.first(), &args.collection) {
        (Some(seed), ..) => hinted(
            format!("nothing to start: no profile of seed {} exists", excerpt(seed)),
            "`skurd seed add --replace` gives it another profile",
        ),
        (_, Some(profile), _) => hinted(
            format!("nothing to start: profile {} has no seeds", excerpt(profile)),
            format!("`skurd seed add URL --profile {profile}` adds one"),
        ),
        (_, _, Some(collection)) => hinted(
            format!("nothing to start: collection {} has no profile with seeds", excerpt(collection)),
            format!(
                "`skurd profile add NAME --collection {collection} --every 1d` adds a profile, `skurd seed add` a seed"
            ),
        ),
        _ => hinted(
            "nothing to start: no seed is declared",
            "declare seeds with `skurd config apply FILE`, `skurd import` or `skurd seed add`",
        ),
    }
}
