use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, bail};
use declare::counted;
use harvest::data_dir::{self, explain};
use harvest::session::{Session, stdout};
use serde_json::json;
use store::{CheckReport, OpenError, Store};

use crate::output::line;

/// Findings that are told; the rest is counted.
const FINDINGS_TOLD_MAX: usize = 100;

pub(crate) fn check(dir: &Path, as_json: bool) -> Result<()> {
    let session = Session::with(opened(data_dir::open(dir), dir)?)?;
    let not_sound = || format!("{} is not sound", dir.display());
    let report = session.wait(session.frontier.store().check()).with_context(not_sound)?;
    let findings = session.wait(session.frontier.audit()).with_context(not_sound)?.findings;
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
    store.map_err(|error| match error {
        OpenError::Damaged { .. } | OpenError::Engine { .. } => explain(dir, error),
        error => error.into(),
    })
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
    for finding in findings.iter().take(if as_json { usize::MAX } else { FINDINGS_TOLD_MAX }) {
        match as_json {
            true => writeln!(out, "{}", json!({ "finding": finding }))?,
            false => writeln!(out, "{finding}")?,
        }
    }
    if !as_json && findings.len() > FINDINGS_TOLD_MAX {
        writeln!(out, "… and {} more", findings.len() - FINDINGS_TOLD_MAX)?;
    }
    Ok(())
}
