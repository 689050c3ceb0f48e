//! `skurd index dump` and `skurd index verify`, which want the data directory for themselves.

use std::io::{IsTerminal, Write};

use anyhow::{Result, bail};
use app::index::{Which, choose, no_index};
use declare::counted;
use declare::hint::hinted;
use declare::text::is_harmful;
use harvest::session::{Session, stdout};
use index::{Difference, Index, Repair, Report};
use serde_json::json;

use super::text::json_line;
use crate::args::index::WhichArgs;
use crate::output::line;

/// The index that is meant, with everything worked in.
fn open(which: &WhichArgs) -> Result<(Session, Index)> {
    let session = Session::open(&which.data.dir)?;
    let store = session.frontier.store();
    let meant = Which { collection: which.collection.as_deref(), all: which.all };
    let name = session.wait(choose(store, &meant))?;
    let index = session.wait(Index::find(store, &name))?.ok_or_else(no_index)?;
    session.wait(index.to_rest())?;
    Ok((session, index))
}

/// Every cell, a line each (X14).
pub(super) fn dump(which: &WhichArgs) -> Result<()> {
    if which.json {
        return Err(hinted(
            "a dump has a form of its own",
            "leave out --json; `skurd index top --json` prints JSON",
        ));
    }
    let (session, index) = open(which)?;
    let mut dump = session.wait(index.dump())?;
    let on_terminal = std::io::stdout().is_terminal();
    let mut out = stdout();
    while let Some(lines) = session.wait(dump.next())? {
        match on_terminal {
            true => out.write_all(harmless(&lines).as_bytes())?,
            false => out.write_all(&lines)?,
        }
    }
    Ok(out.flush()?)
}

/// The form escapes what would break a line; a terminal obeys more than that.
fn harmless(lines: &[u8]) -> String {
    let text = String::from_utf8_lossy(lines);
    text.chars().map(|c| if is_harmful(c) && c != '\n' && c != '\t' { '\u{FFFD}' } else { c }).collect()
}

/// Whether the index is what a batch job would make of its pages.
pub(super) fn verify(which: &WhichArgs, repair: bool) -> Result<()> {
    let (session, index) = open(which)?;
    let report = session.wait(index.verify(if repair { Repair::Write } else { Repair::Report }))?;
    session.wait(index.store().sync())?;
    let lines = if which.json { events(&report) } else { sentences(&report, repair) };
    line(lines.join("\n"))?;
    let left = report.differences.saturating_sub(report.repaired);
    if left > 0 {
        let hint = if repair { "" } else { "\nhint: --repair makes it so" };
        bail!("{} of the index not as the pages say{hint}", counted(left, "row"));
    }
    Ok(())
}

fn sentences(report: &Report, repair: bool) -> Vec<String> {
    let differences = report.first.iter().map(parts);
    let mut lines: Vec<String> =
        differences.map(|(what, table, key)| format!("{what}: {table} {key}")).collect();
    let described = report.first.len() as u64;
    if report.differences > described {
        lines.push(format!("… and {} more", report.differences - described));
    }
    let totals = &report.totals;
    let sizes = format!("{} URIs, {} links, {} domains", totals.uris, totals.links, totals.domains);
    match (report.differences, repair) {
        (0, _) => lines.push(format!("the index is what its {} pages say: {sizes}", totals.loaded)),
        (_, true) => lines.push(format!("{} rows repaired: {sizes}", report.repaired)),
        (_, false) => {}
    }
    lines
}

fn events(report: &Report) -> Vec<String> {
    let difference = |(what, table, key)| {
        json_line(&json!({ "event": "difference", "what": what, "table": table, "key": key }))
    };
    let mut lines: Vec<String> = report.first.iter().map(parts).map(difference).collect();
    let totals = &report.totals;
    let summary = json!({
        "event": "summary",
        "differences": report.differences,
        "repaired": report.repaired,
        "uris": totals.uris,
        "loaded": totals.loaded,
        "links": totals.links,
        "domains": totals.domains,
    });
    lines.push(summary.to_string());
    lines
}

fn parts(difference: &Difference) -> (&'static str, &'static str, &str) {
    match difference {
        Difference::Missing { table, key } => ("missing", table, key),
        Difference::Superfluous { table, key } => ("superfluous", table, key),
        Difference::Wrong { table, key } => ("wrong", table, key),
    }
}
