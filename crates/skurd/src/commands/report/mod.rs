//! `skurd report`: sums over the statistics (F31–F33), as tables, JSON lines and drawings.

mod contract;
mod domains;
mod errors;
mod feasibility;
mod timeline;

use std::io::Write;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::args::{DataDir, PrintArgs, ReportArgs, ReportCommand};
use crate::output::{Column, Table};
use crate::session::{Session, note};

pub(crate) fn run(command: &ReportCommand) -> Result<()> {
    match command {
        ReportCommand::Contract { report, by } => contract::run(report, *by),
        ReportCommand::Domains(report) => domains::run(report),
        ReportCommand::Errors(report) => errors::run(report),
        ReportCommand::Feasibility { data, print } => feasibility::run(data, print),
    }
}

fn open(data: &DataDir) -> Result<Session> {
    Session::open(&data.dir)
}

/// The moment a report begins at.
fn since(session: &Session, args: &ReportArgs) -> policy::time::Time {
    let now = session.frontier.now();
    policy::time::Time(now.0.saturating_sub(i64::try_from(args.since.0).unwrap_or(i64::MAX)))
}

/// One row of a report, for both ways of printing it.
struct Row {
    object: Value,
    cells: Vec<String>,
}

fn print(out: &mut impl Write, columns: &'static [Column], rows: Vec<Row>, args: &PrintArgs) -> Result<()> {
    let rows = rows.into_iter().take(args.limit.unwrap_or(usize::MAX));
    match args.json {
        true => {
            for row in rows {
                writeln!(out, "{}", row.object)?;
            }
        }
        false => Table::new(columns).page(out, &rows.map(|row| row.cells).collect::<Vec<_>>())?,
    }
    Ok(())
}

/// Writes the drawing, if one is wanted.
fn draw(args: &PrintArgs, svg: impl FnOnce() -> String) -> Result<()> {
    let Some(path) = &args.plot else { return Ok(()) };
    std::fs::write(path, svg()).with_context(|| format!("cannot write {}", path.display()))?;
    note(&format!("drawn: {}", path.display()))
}
