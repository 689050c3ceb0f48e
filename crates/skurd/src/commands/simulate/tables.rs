//! Load, contract, feasibility and link decisions as tables for people.

use std::io::{self, Write};

use declare::text::{percent_text, rate_text};
use frontier::{Contract, FeasibilityRow, LinkTrace};
use plan::forecast::{Forecast, Waiting};
use plan::ledger::Ledger;
use plan::load::HostLoad;
use plan::text::{number, rounded, short, write_more};
use policy::Rule;
use policy::time::Span;
use policy::unit::print_duration;

use crate::output::{Column, Table, left, right, shown};

/// Hosts and warnings shown unless all are asked for.
const ROWS_SHOWN: usize = 20;

pub(crate) fn write_hosts(out: &mut impl Write, ledger: &Ledger, all: bool) -> io::Result<()> {
    type Row<'a> = (&'a String, &'a HostLoad, Span);
    let columns: [Column<Row<'_>>; 7] = [
        left("host", |(name, load, _)| match &load.group {
            Some(group) => format!("{name} ({group})"),
            None => name.to_string(),
        }),
        right("requests", |(_, load, _)| number(load.requests)),
        right("failed", |(_, load, _)| number(load.failures)),
        right("busy", |(_, load, elapsed)| percent_text(load.busy_share(*elapsed))),
        right("mean/h", |(_, load, elapsed)| rate_text(load.mean_per_hour(*elapsed))),
        right("peak/h", |(_, load, _)| number(load.peak_per_hour)),
        right("polite/h", |(_, load, _)| rounded(load.limit_per_hour())),
    ];
    let elapsed = ledger.grid.length;
    let mut hosts: Vec<Row<'_>> = ledger.hosts.iter().map(|(name, load)| (name, load, elapsed)).collect();
    hosts.sort_by(|(a, x, _), (b, y, _)| y.requests.cmp(&x.requests).then_with(|| a.cmp(b)));
    let shown = if all { hosts.len() } else { hosts.len().min(ROWS_SHOWN) };
    writeln!(
        out,
        "Load per host (busy: asked, or left in peace after it; polite/h: what its politeness has room for)\n"
    )?;
    Table::new(&columns).page(out, &hosts[..shown])?;
    write_more(out, hosts.len() - shown, "hosts")
}

pub(crate) fn write_contract(out: &mut impl Write, forecast: &Forecast) -> io::Result<()> {
    type Row<'a> = (&'a String, &'a Contract, Waiting);
    fn span(some: u64, span: Span) -> String {
        if some == 0 { "–".to_owned() } else { span.to_string() }
    }
    let columns: [Column<Row<'_>>; 12] = [
        left("profile", |(name, ..)| name.to_string()),
        right("promised", |(_, contract, _)| number(contract.promised())),
        right("on time", |(_, contract, _)| number(contract.promises.on_time)),
        right("late", |(_, contract, _)| number(contract.promises.late)),
        right("missed", |(_, contract, _)| number(contract.promises.missed)),
        right("overdue", |(_, contract, _)| number(contract.overdue)),
        right("on time %", |(_, contract, _)| shown(contract.share_on_time().map(percent_text))),
        right("late p95 ≤", |(_, Contract { promises, .. }, _)| {
            span(promises.on_time + promises.late, promises.late_percentile(0.95))
        }),
        right("first", |(_, contract, _)| number(contract.promises.first)),
        right("waited p95 ≤", |(_, Contract { promises, .. }, _)| {
            span(promises.first, promises.wait_percentile(0.95))
        }),
        right("queued", |(.., waiting)| number(waiting.queued)),
        right("never", |(.., waiting)| number(waiting.never_harvested)),
    ];
    writeln!(
        out,
        "Contract forecast (first: harvests of new URLs, promised by nobody; never: queued and not harvested yet)\n"
    )?;
    let waiting = |name| forecast.waiting.get(name).copied().unwrap_or_default();
    let rows: Vec<Row<'_>> =
        forecast.contract.iter().map(|(name, contract)| (name, contract, waiting(name))).collect();
    Table::new(&columns).page(out, &rows)
}

/// F33: hosts of which more is asked than their politeness allows.
pub(crate) fn write_feasibility(out: &mut impl Write, rows: &[FeasibilityRow], all: bool) -> io::Result<()> {
    let beyond: Vec<&FeasibilityRow> = rows.iter().filter(|row| row.load() > 1.0).collect();
    if beyond.is_empty() {
        return writeln!(out, "Feasibility: every host has room for what is asked of it");
    }
    writeln!(out, "Feasibility: more is asked than politeness allows\n")?;
    let shown = if all { beyond.len() } else { ROWS_SHOWN };
    for row in beyond.iter().take(shown) {
        writeln!(
            out,
            "warning: {}: {} URLs want {} harvests a day, but {} between requests allow {}: {} of what is possible",
            row.unit,
            number(row.urls),
            rounded(row.wanted_per_day),
            print_duration(row.delay),
            rounded(row.possible_per_day),
            percent_text(row.load()),
        )?;
    }
    write_more(out, beyond.len().saturating_sub(shown), "hosts")?;
    writeln!(
        out,
        "  hint: harvest less often or fewer URLs there, or agree on a shorter delay with the host and put it under `hosts:`"
    )
}

/// F36: how far each budget went, and when it was at its end.
pub(crate) fn write_budgets(out: &mut impl Write, ledger: &Ledger, forecast: &Forecast) -> io::Result<()> {
    if forecast.budgets.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nBudgets")?;
    for row in &forecast.budgets {
        let (used, max) = (row.limit.says(row.used), row.limit.says(row.max));
        let ended = forecast.endings.iter().find(|end| end.holder == row.holder && end.limit == row.limit);
        let ended = ended.map_or(String::new(), |end| {
            let after = print_duration(end.at.since(ledger.grid.start));
            format!(": used up after {after}; {} URLs wait, {} links were not queued", row.held, row.refused)
        });
        writeln!(out, "  {}, {}: {used} of {max}{ended}", row.holder, row.limit.key())?;
    }
    Ok(())
}

/// The decisions as page 2 of the specification tables them.
pub(crate) fn write_links(out: &mut impl Write, ledger: &Ledger) -> io::Result<()> {
    const HEAD: [&str; 7] = ["harvest of", "URL", "P", "S before", "B", "C", "S after"];
    writeln!(
        out,
        "Links: P seed of the page, S seed in the queue, B best match, C scope context and its rule\n"
    )?;
    let mut rows = vec![HEAD.map(str::to_owned)];
    let mut last = None;
    for link in &ledger.links {
        let harvest = plan::lines::harvest_of(link);
        let cells = link_cells(link, if last == Some(harvest) { "" } else { harvest });
        rows.push(cells);
        last = Some(harvest);
    }
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..HEAD.len()).map(width).collect();
    for (place, row) in rows.iter().enumerate() {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!(" {cell:<width$} "));
        writeln!(out, "|{}|", cells.collect::<Vec<String>>().join("|"))?;
        if place == 0 {
            let rules = widths.iter().map(|width| "-".repeat(width + 2));
            writeln!(out, "|{}|", rules.collect::<Vec<String>>().join("|"))?;
        }
    }
    match ledger.links_seen - ledger.links.len() {
        0 => Ok(()),
        more => writeln!(out, "… and {more} more decisions: --json has them all"),
    }
}

fn link_cells(link: &LinkTrace, harvest: &str) -> [String; 7] {
    let name = |seed: &Option<String>| seed.as_deref().map_or("–", short).to_owned();
    let context = link.context.as_ref();
    let after = match &link.owner {
        None if link.rule != Rule::F22 => format!("– ({})", link.rule),
        owner => name(owner),
    };
    [
        harvest.to_owned(),
        short(&link.url).to_owned(),
        name(&link.parent),
        name(&link.queued),
        name(&link.best),
        context.map_or_else(|| "–".to_owned(), |(seed, rule)| format!("{} ({rule})", short(seed))),
        after,
    ]
}
