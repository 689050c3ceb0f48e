//! `skurd config`: checking files, how they are written, and declaring what they say.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use app::config::{Applied, AppliedKind};
use axum::http::Method;
use declare::{self, ConfigError, Declared, counted};
use harvest::session::{note, stdout};
use policy::catalog::{Catalog, Change};
use serde_json::json;
use server::client::{Call, Client};

use super::archive::copy_to;
use crate::output::{Column, Table, left, line, right, shown};

const KINDS: [Column<AppliedKind>; 5] = [
    left("kind", |count| shown(&count.kind)),
    right("added", |count| shown(count.added)),
    right("changed", |count| shown(count.changed)),
    right("unchanged", |count| shown(count.unchanged)),
    right("deleted", |count| shown(count.deleted)),
];

pub(crate) fn check(file: &Path, as_json: bool) -> Result<()> {
    let declared = declare::load(file);
    let wrong = declared.as_ref().err().and_then(|error| error.downcast_ref::<ConfigError>());
    for problem in wrong.filter(|_| as_json).iter().flat_map(|wrong| &wrong.problems) {
        line(json!({
            "file": file.display().to_string(),
            "line": problem.at.line,
            "column": problem.at.column,
            "problem": problem.what,
            "hint": problem.hint,
        }))?;
    }
    print_good(file, declared?, as_json)
}

/// What a file says becomes what is declared, change by change.
pub(crate) fn apply(file: &Path, dir: &Path, prune: bool, as_json: bool) -> Result<()> {
    let bytes = declare::read_bounded(file, declare::CONFIG_BYTES_MAX)?;
    // What is wrong with it is told under its own name, before there is a directory.
    declare::parse(&file.display().to_string(), &bytes)?;
    let mut question = Call::new(Method::POST, "config").yaml(bytes);
    question.query.push(("prune", prune.to_string()));
    let applied: Applied = Client::create(dir)?.ask(&question)?;
    let mut out = stdout();
    match as_json {
        true => applied.kinds.iter().try_for_each(|kind| writeln!(out, "{}", json!(kind)))?,
        false => Table::new(&KINDS).page(&mut out, &applied.kinds)?,
    }
    if !as_json && !applied.changed {
        writeln!(out, "everything was as {} says", file.display())?;
    }
    Ok(out.flush()?)
}

/// The config that declares what is declared.
pub(crate) fn export(dir: &Path, output: Option<&Path>) -> Result<()> {
    copy_to(output, &Client::open(dir)?, &Call::get("config", Vec::new()))
}

fn print_good(file: &Path, declared: Declared, as_json: bool) -> Result<()> {
    let counts = [
        ("collection", "collections", declared.collections.len()),
        ("profile", "profiles", declared.profiles.len()),
        ("seed", "seeds", declared.seeds.len()),
        ("host group", "host_groups", declared.groups.len()),
        ("host", "hosts", declared.hosts.len()),
        ("walk", "walks", declared.walks.len()),
    ];
    let warnings = declared.warnings();
    // What is called good has been taken in once, by the very code a harvest does it with.
    taken_in(&declared.into_changes()).with_context(|| format!("{} cannot be taken in", file.display()))?;
    if as_json {
        let mut object = json!({ "file": file.display().to_string(), "good": true });
        for (_, key, number) in counts {
            object[key] = json!(number);
        }
        object["warnings"] = warnings.iter().map(|(what, _)| what.as_str()).collect();
        return line(object);
    }
    let told: Vec<String> = counts.iter().map(|(thing, _, number)| counted(*number, thing)).collect();
    line(format!("{} is good: {}", file.display(), told.join(", ")))?;
    warn(&file.display().to_string(), &warnings)
}

/// Says what is hardly meant.
pub(super) fn warn(file: &str, warnings: &[(String, &str)]) -> Result<()> {
    warnings.iter().try_for_each(|(what, hint)| note(&format!("warning: {file}: {what}\n  hint: {hint}")))
}

/// What is declared by so many changes.
pub(super) fn taken_in(changes: &[Change]) -> Result<Catalog> {
    let mut catalog = Catalog::new();
    changes.iter().try_for_each(|change| catalog.apply(change.clone()))?;
    Ok(catalog)
}
