use std::io::{BufWriter, Write};
use std::iter::Peekable;
use std::path::Path;
use std::vec::IntoIter;

use anyhow::{Context, Result, bail};
use app::declared::{ManySeeds, NewSeed, SeedsAdded};
use axum::http::Method;
use declare::import::{IMPORT_BYTES_MAX, Imported, ImportedSeed, to_json_lines, to_yaml};
use harvest::session::stdout;
use serde_json::json;
use server::api::BODY_BYTES_MAX;
use server::client::{Call, Client};

use crate::args::ImportArgs;
use crate::output::line;

/// Reads a list with one of the readers and prints or declares its seeds; what was skipped goes to
/// standard error.
pub(crate) fn run(args: &ImportArgs, read: impl Fn(&[u8]) -> Result<Imported>) -> Result<()> {
    let path = if args.file == Path::new("-") { Path::new("/dev/stdin") } else { &args.file };
    let bytes = declare::read_bounded(path, IMPORT_BYTES_MAX)?;
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
    Ok(out.flush()?)
}

/// Seeds of one request.
const BATCH_SEEDS: usize = 1000;
const BATCH_BYTES: usize = BODY_BYTES_MAX / 2;

fn store(dir: &Path, seeds: Vec<ImportedSeed>, args: &ImportArgs) -> Result<()> {
    let ask = Client::create(dir)?;
    let mut all = SeedsAdded::default();
    let mut rest = seeds.into_iter().peekable();
    while rest.peek().is_some() {
        let many = ManySeeds { profiles: args.profiles.clone(), seeds: batch(&mut rest) };
        let question = Call::new(Method::POST, "seeds").body(&json!(many));
        let SeedsAdded { added, changed, unchanged } = ask.ask(&question)?;
        all.added += added;
        all.changed += changed;
        all.unchanged += unchanged;
    }
    let SeedsAdded { added, changed, unchanged } = all;
    match args.json {
        true => line(json!(all)),
        false => line(format!("seeds: {added} added, {changed} changed, {unchanged} unchanged")),
    }
}

/// As many as fit a request.
fn batch(rest: &mut Peekable<IntoIter<ImportedSeed>>) -> Vec<NewSeed> {
    let (mut batch, mut bytes) = (Vec::new(), 0);
    while batch.len() < BATCH_SEEDS && bytes < BATCH_BYTES {
        let Some(seed) = rest.next() else { break };
        bytes += seed.url.len() + seed.name.as_ref().map_or(0, String::len);
        batch.push(NewSeed { url: seed.url, name: seed.name, active: seed.active });
    }
    batch
}

fn tell_skipped(file: &str, imported: &Imported) -> Result<()> {
    let mut err = BufWriter::new(std::io::stderr().lock());
    for (line, reason) in &imported.skipped {
        writeln!(err, "{file}:{line}: skipped: {reason}")?;
    }
    if imported.skipped_more > 0 {
        writeln!(err, "… and {} more", imported.skipped_more)?;
    }
    Ok(err.flush()?)
}
