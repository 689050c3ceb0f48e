use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::json;
use store::{CheckReport, Options, Store};

pub(crate) fn check(dir: &Path, as_json: bool) -> Result<()> {
    let store = Store::open_existing(dir, &Options::default())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    let report =
        runtime.block_on(store.check()).with_context(|| format!("{} is not sound", dir.display()))?;
    let mut out = std::io::stdout().lock();
    match as_json {
        true => print_json(&mut out, &report)?,
        false => print_table(&mut out, dir, &report)?,
    }
    out.flush()?;
    Ok(())
}

fn print_json(out: &mut impl Write, report: &CheckReport) -> Result<()> {
    for (table, size) in &report.tables {
        writeln!(out, "{}", json!({ "table": table, "rows": size.rows, "bytes": size.bytes }))?;
    }
    Ok(())
}

fn print_table(out: &mut impl Write, dir: &Path, report: &CheckReport) -> Result<()> {
    if !report.tables.is_empty() {
        writeln!(out, "{:>5}  {:>14}  {:>16}", "table", "rows", "bytes")?;
    }
    for (table, size) in &report.tables {
        writeln!(out, "{table:>5}  {:>14}  {:>16}", size.rows, size.bytes)?;
    }
    let rows: u64 = report.tables.values().map(|size| size.rows).sum();
    writeln!(out, "{} is sound: {rows} rows in {} tables", dir.display(), report.tables.len())?;
    Ok(())
}
