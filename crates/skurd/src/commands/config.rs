use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use declare::{self, ConfigError, Declared, counted};
use harvest::session::note;
use policy::catalog::Catalog;
use serde_json::json;

pub(crate) fn check(file: &Path, as_json: bool) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match declare::load(file) {
        Ok(declared) => print_good(&mut out, file, declared, as_json)?,
        Err(error) => {
            if let (true, Some(problems)) = (as_json, error.downcast_ref::<ConfigError>()) {
                print_problems(&mut out, problems)?;
                out.flush()?;
            }
            return Err(error);
        }
    }
    out.flush()?;
    Ok(())
}

pub(crate) fn schema() -> Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{:#}", declare::schema())?;
    out.flush()?;
    Ok(())
}

pub(crate) fn example() -> Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(declare::example().as_bytes())?;
    out.flush()?;
    Ok(())
}

fn print_good(out: &mut impl Write, file: &Path, declared: Declared, as_json: bool) -> Result<()> {
    let counts = [
        ("collection", "collections", declared.collections.len()),
        ("profile", "profiles", declared.profiles.len()),
        ("seed", "seeds", declared.seeds.len()),
        ("host group", "host_groups", declared.groups.len()),
        ("host", "hosts", declared.hosts.len()),
        ("walk", "walks", declared.walks.len()),
    ];
    let warnings = declared.warnings();
    take_in(declared).with_context(|| format!("{} cannot be taken in", file.display()))?;
    if as_json {
        let mut object = json!({ "file": file.display().to_string(), "good": true });
        for (_, key, number) in counts {
            object[key] = json!(number);
        }
        object["warnings"] = warnings.iter().map(|(what, _)| *what).collect();
        writeln!(out, "{object}")?;
        return Ok(());
    }
    let told: Vec<String> = counts.iter().map(|(thing, _, number)| counted(*number, thing)).collect();
    writeln!(out, "{} is good: {}", file.display(), told.join(", "))?;
    warn(&file.display().to_string(), &warnings)
}

/// Says what is hardly meant.
pub(super) fn warn(file: &str, warnings: &[(&str, &str)]) -> Result<()> {
    warnings.iter().try_for_each(|(what, hint)| note(&format!("warning: {file}: {what}\n  hint: {hint}")))
}

/// What is called good has been taken in once, by the very code a harvest does it with.
fn take_in(declared: Declared) -> Result<()> {
    let mut catalog = Catalog::new();
    for change in declared.into_changes() {
        catalog.apply(change)?;
    }
    Ok(())
}

fn print_problems(out: &mut impl Write, error: &ConfigError) -> Result<()> {
    for problem in &error.problems {
        let object = json!({
            "file": error.file,
            "line": problem.at.line,
            "column": problem.at.column,
            "problem": problem.what,
            "hint": problem.hint,
        });
        writeln!(out, "{object}")?;
    }
    Ok(())
}
