//! F33: what is asked of each host, and what its politeness allows.

use std::io::Write;

use anyhow::Result;
use frontier::FeasibilityRow;
use serde_json::json;

use super::{Row, draw, open, print};
use crate::args::{DataDir, PrintArgs};
use crate::output::{Column, left, percent_text, rate_text, right};
use crate::plot::{BAD, Bar, BarPlot, GOOD, WARNING};
use crate::session::{note, stdout};

const COLUMNS: [Column; 7] = [
    left("host or group"),
    right("urls"),
    right("wanted/day"),
    right("possible/day"),
    right("load"),
    right("delay"),
    left("verdict"),
];

/// From here on the host has little room left.
const LOAD_TIGHT: f64 = 0.8;

const BARS_MAX: usize = 25;

pub(super) fn run(data: &DataDir, args: &PrintArgs) -> Result<()> {
    let session = open(data)?;
    let rows = session.wait(session.frontier.feasibility())?;
    let mut out = stdout();
    print(&mut out, &COLUMNS, rows.iter().map(line).collect(), args)?;
    if !args.json && !rows.is_empty() {
        writeln!(out, "\n{}", summary(&rows))?;
    }
    out.flush()?;
    if !args.json && rows.is_empty() {
        note("no host has URLs; `skurd start` queues the seeds")?;
    }
    draw(args, || plot(&rows))
}

fn is_kept(row: &FeasibilityRow) -> bool {
    row.load() <= 1.0
}

fn line(row: &FeasibilityRow) -> Row {
    let verdict = match row.load() {
        load if load > 1.0 => "CANNOT BE KEPT",
        load if load >= LOAD_TIGHT => "tight",
        _ => "fits",
    };
    let object = json!({
        "unit": row.unit,
        "urls": row.urls,
        "wanted_per_day": row.wanted_per_day,
        "possible_per_day": row.possible_per_day,
        "load": row.load(),
        "delay_ms": row.delay.0,
        "kept": is_kept(row),
    });
    let cells = vec![
        row.unit.clone(),
        row.urls.to_string(),
        rate_text(row.wanted_per_day),
        rate_text(row.possible_per_day),
        percent_text(row.load()),
        row.delay.to_string(),
        verdict.to_owned(),
    ];
    Row { object, cells }
}

fn summary(rows: &[FeasibilityRow]) -> String {
    match rows.iter().filter(|row| !is_kept(row)).count() {
        0 => format!("all {} can be kept", rows.len()),
        over => format!(
            "{over} of {} cannot be kept: harvest more seldom, narrow the scope, or agree on a shorter delay",
            rows.len()
        ),
    }
}

fn plot(rows: &[FeasibilityRow]) -> String {
    let bar = |row: &FeasibilityRow| Bar {
        name: row.unit.clone(),
        value: row.load() * 100.0,
        colour: match row.load() {
            load if load > 1.0 => BAD,
            load if load >= LOAD_TIGHT => WARNING,
            _ => GOOD,
        },
        note: format!("{} of {} a day", rate_text(row.wanted_per_day), rate_text(row.possible_per_day)),
    };
    let most = if rows.len() > BARS_MAX { format!("; the {BARS_MAX} most loaded") } else { String::new() };
    BarPlot {
        title: "Load of hosts".to_owned(),
        subtitle: format!(
            "harvests wanted against those that politeness allows; {}{most}",
            summary_short(rows)
        ),
        unit: " %",
        limit: (100.0, "what politeness allows"),
        legend: vec![("fits", GOOD), ("tight", WARNING), ("cannot be kept", BAD)],
        bars: rows.iter().take(BARS_MAX).map(bar).collect(),
    }
    .to_svg()
}

fn summary_short(rows: &[FeasibilityRow]) -> String {
    let over = rows.iter().filter(|row| !is_kept(row)).count();
    format!("{over} of {} cannot be kept", rows.len())
}
