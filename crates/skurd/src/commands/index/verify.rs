//! `skurd index verify`: whether the index is what a batch job would make of its pages.

use std::io::Write;

use anyhow::{Result, bail};
use declare::counted;
use harvest::session::stdout;
use index::{Difference, Repair, Report};
use serde_json::{Value, json};

use super::Opened;
use super::text::json_line;
use crate::args::VerifyArgs;

pub(super) fn run(args: &VerifyArgs) -> Result<()> {
    let opened = Opened::new(&args.which)?;
    opened.session.wait(opened.index.to_rest())?;
    let repair = if args.repair { Repair::Write } else { Repair::Report };
    let report = opened.session.wait(opened.index.verify(repair))?;
    opened.session.wait(opened.index.store().sync())?;
    let mut out = stdout();
    match args.which.json {
        true => print_json(&mut out, &report)?,
        false => print(&mut out, &report, args.repair)?,
    }
    out.flush()?;
    let left = report.differences.saturating_sub(report.repaired);
    if left > 0 {
        let hint = if args.repair { "" } else { "\nhint: --repair makes it so" };
        let rows = counted(usize::try_from(left).unwrap_or(usize::MAX), "row");
        bail!("{rows} of the index not as the pages say{hint}");
    }
    Ok(())
}

fn print(out: &mut impl Write, report: &Report, repair: bool) -> Result<()> {
    for difference in &report.first {
        let (what, table, key) = parts(difference);
        writeln!(out, "{what}: {table} {key}")?;
    }
    let described = report.first.len() as u64;
    if report.differences > described {
        writeln!(out, "… and {} more", report.differences - described)?;
    }
    let totals = &report.totals;
    let sizes = format!("{} URIs, {} links, {} domains", totals.uris, totals.links, totals.domains);
    match (report.differences, repair) {
        (0, _) => writeln!(out, "the index is what its {} pages say: {sizes}", totals.loaded)?,
        (_, true) => writeln!(out, "{} rows repaired: {sizes}", report.repaired)?,
        (_, false) => {}
    }
    Ok(())
}

fn print_json(out: &mut impl Write, report: &Report) -> Result<()> {
    for difference in &report.first {
        let (what, table, key) = parts(difference);
        writeln!(
            out,
            "{}",
            json_line(&json!({ "event": "difference", "what": what, "table": table, "key": key }))
        )?;
    }
    let totals = &report.totals;
    let summary: Value = json!({
        "event": "summary",
        "differences": report.differences,
        "repaired": report.repaired,
        "uris": totals.uris,
        "loaded": totals.loaded,
        "links": totals.links,
        "domains": totals.domains,
    });
    Ok(writeln!(out, "{summary}")?)
}

fn parts(difference: &Difference) -> (&'static str, &'static str, &str) {
    match difference {
        Difference::Missing { table, key } => ("missing", table, key),
        Difference::Superfluous { table, key } => ("superfluous", table, key),
        Difference::Wrong { table, key } => ("wrong", table, key),
    }
}
