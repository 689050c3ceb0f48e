use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result, bail};
use policy::catalog::{Catalog, Change};
use policy::model::Seed;
use serde_json::json;

use super::declared::declare;
use crate::api::Kind;
use crate::args::ImportArgs;
use crate::config;
use crate::hint::unknown;
use crate::import::{IMPORT_BYTES_MAX, Imported, ImportedSeed, to_json_lines, to_yaml};
use crate::session::{Session, stdout};

/// Reads a list with one of the readers and prints or declares its seeds; what was skipped goes to standard error.
pub(crate) fn run(args: &ImportArgs, read: impl Fn(&[u8]) -> Result<Imported>) -> Result<()> {
    let path = if args.file == Path::new("-") { Path::new("/dev/stdin") } else { &args.file };
    let bytes = config::read_bounded(path, IMPORT_BYTES_MAX)?;
    let file = args.file.display().to_string();
    let imported = read(&bytes).with_context(|| format!("cannot import {file}"))?;
    tell_skipped(&file, &imported)?;
    if imported.seeds.is_empty() {
        bail!("{file} holds no seeds");
    }
    if let Some(dir) = &args.data {
        return store(dir, imported.seeds, args);
    }
    let mut out = stdout();
    match args.json {
        true => to_json_lines(&mut out, &imported.seeds, &args.profiles)?,
        false => to_yaml(&mut out, &imported.seeds, &args.profiles)?,
    }
    out.flush()?;
    Ok(())
}

#[derive(Default)]
struct Counts {
    added: u64,
    changed: u64,
    unchanged: u64,
}

fn store(dir: &Path, seeds: Vec<ImportedSeed>, args: &ImportArgs) -> Result<()> {
    let session = Session::create(dir)?;
    let (changes, Counts { added, changed, unchanged }) =
        session.look(|catalog| differences(catalog, seeds, &args.profiles))??;
    declare(&session, &changes)?;
    let mut out = stdout();
    match args.json {
        true => writeln!(out, "{}", json!({ "added": added, "changed": changed, "unchanged": unchanged }))?,
        false => writeln!(out, "seeds: {added} added, {changed} changed, {unchanged} unchanged")?,
    }
    Ok(out.flush()?)
}

/// A seed that is there keeps its switch and its profiles, and gets those it lacks.
fn differences(
    catalog: &Catalog,
    seeds: Vec<ImportedSeed>,
    profiles: &[String],
) -> Result<(Vec<Change>, Counts)> {
    for name in profiles {
        if catalog.profile(name).is_none() {
            return Err(unknown("profile", name, Kind::Profile.names(catalog).into_iter()));
        }
    }
    let (mut changes, mut counts) = (Vec::new(), Counts::default());
    for seed in seeds {
        let name = seed.name.unwrap_or_else(|| seed.url.clone());
        let there =
            catalog.seed(&name).filter(|entry| entry.url.as_str() == seed.url).map(|entry| &entry.seed);
        let mut wanted = there.cloned().unwrap_or_else(|| {
            // A name that another URL has does not make two things one.
            let name = if catalog.seed(&name).is_some() { seed.url.clone() } else { name };
            Seed { name, url: seed.url, active: seed.active, profiles: Vec::new() }
        });
        for profile in profiles {
            if !wanted.profiles.contains(profile) {
                wanted.profiles.push(profile.clone());
            }
        }
        match there {
            Some(there) if *there == wanted => counts.unchanged += 1,
            Some(_) => counts.changed += 1,
            None => counts.added += 1,
        }
        if there != Some(&wanted) {
            changes.push(Change::PutSeed(wanted));
        }
    }
    Ok((changes, counts))
}

fn tell_skipped(file: &str, imported: &Imported) -> Result<()> {
    let mut err = BufWriter::new(std::io::stderr().lock());
    for (line, reason) in &imported.skipped {
        writeln!(err, "{file}:{line}: skipped: {reason}")?;
    }
    if imported.skipped_more > 0 {
        writeln!(err, "… and {} more", imported.skipped_more)?;
    }
    err.flush()?;
    Ok(())
}
