pub(crate) mod copy;

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Error, Result, bail};
use declare::counted;
use harvest::data_dir::{self, explain};
use harvest::session::{Session, stdout};
use serde_json::json;
use store::{CheckReport, OpenError, Store};

use crate::output::line;

/// Lines of a kind that are told to a person; the rest is counted.
const LINES_TOLD_MAX: usize = 100;

pub(crate) fn check(dir: &Path, as_json: bool) -> Result<()> {
    let session = Session::with(opened(data_dir::open(dir), dir)?)?;
    let not_sound = || format!("{} is not sound", dir.display());
    let report = session.wait(session.frontier.store().check()).with_context(not_sound)?;
    let findings = session.wait(session.frontier.audit()).with_context(not_sound)?.findings;
    let others = session.wait(urlfrontier::check(session.frontier.store())).with_context(not_sound)?;
    let findings = [findings, others].concat();
    let mut out = stdout();
    print(&mut out, &report, &findings, as_json)?;
    if !findings.is_empty() {
        out.flush()?;
        bail!(
            "{} is not sound: {} between its tables",
            dir.display(),
            counted(findings.len(), "contradiction")
        );
    }
    if !as_json {
        writeln!(out, "{} is sound: {}", dir.display(), size_of(&report))?;
    }
    Ok(out.flush()?)
}

fn size_of(report: &CheckReport) -> String {
    let rows: u64 = report.tables.values().map(|size| size.rows).sum();
    format!("{rows} rows in {} tables", report.tables.len())
}

/// The notice that something was set aside is told by the opening.
pub(crate) fn repair(dir: &Path) -> Result<()> {
    let session = Session::with(opened(data_dir::repair(dir), dir)?)?;
    let report = session.wait(session.frontier.store().check())?;
    line(format!("{} reads: {}", dir.display(), size_of(&report)))
}

/// Who looks after a store knows how one is made and who else may have it: only damage is
/// explained.
fn opened(store: Result<Store, OpenError>, dir: &Path) -> Result<Store> {
    store.map_err(|error| explained(error, dir))
}

fn explained(error: OpenError, dir: &Path) -> Error {
    match error {
        OpenError::Damaged { .. } | OpenError::Engine { .. } => explain(dir, error),
        // Its sentence has the cause in it.
        error @ OpenError::Io { .. } => Error::msg(error.to_string()),
        error => error.into(),
    }
}

fn print(out: &mut impl Write, report: &CheckReport, findings: &[String], as_json: bool) -> Result<()> {
    if !as_json && !report.tables.is_empty() {
        writeln!(out, "{:>5}  {:>14}  {:>16}", "table", "rows", "bytes")?;
    }
    for (table, size) in &report.tables {
        match as_json {
            true => writeln!(out, "{}", json!({ "table": table, "rows": size.rows, "bytes": size.bytes }))?,
            false => writeln!(out, "{table:>5}  {:>14}  {:>16}", size.rows, size.bytes)?,
        }
    }
    print_lines(out, "finding", findings, findings.len() as u64, as_json)
}

/// What was found, of so many in all.
fn print_lines(out: &mut impl Write, kind: &str, found: &[String], count: u64, as_json: bool) -> Result<()> {
    let told = found.iter().take(if as_json { usize::MAX } else { LINES_TOLD_MAX });
    let left = count.saturating_sub(told.len() as u64);
    for text in told {
        match as_json {
            true => writeln!(out, "{}", json!({ kind: text }))?,
            false => writeln!(out, "{text}")?,
        }
    }
    if !as_json && left > 0 {
        writeln!(out, "… and {left} more")?;
    }
    Ok(())
}
