//! Load, contract, feasibility and link decisions as tables for people.

use std::io::{self, Write};

use declare::text::{percent_text, rate_text};
use frontier::{Contract, FeasibilityRow, LinkTrace};
use plan::forecast::Forecast;
use plan::ledger::Ledger;
use plan::text::{number, rounded, short, write_more};
use policy::Rule;
use policy::time::Span;
use policy::unit::print_duration;

use crate::output::{Column, Table, left, right};

/// Hosts and warnings shown unless all are asked for.
const ROWS_SHOWN: usize = 20;

pub(crate) fn write_hosts(out: &mut impl Write, ledger: &Ledger, all: bool) -> io::Result<()> {
    const COLUMNS: [Column; 7] = [
        left("host"),
        right("requests"),
        right("failed"),
        right("busy"),
        right("mean/h"),
        right("peak/h"),
        right("polite/h"),
    ];
    let elapsed = ledger.grid.length;
    let mut hosts: Vec<_> = ledger.hosts.iter().collect();
    hosts.sort_by(|(a, x), (b, y)| y.requests.cmp(&x.requests).then_with(|| a.cmp(b)));
    let shown = if all { hosts.len() } else { ROWS_SHOWN };
    let row = |(name, load): &(&String, &plan::load::HostLoad)| {
        let group = load.group.as_ref().map_or_else(String::new, |group| format!(" ({group})"));
        vec![
            format!("{name}{group}"),
            number(load.requests),
            number(load.failures),
            percent_text(load.busy_share(elapsed)),
            rate_text(load.mean_per_hour(elapsed)),
            number(load.peak_per_hour),
            rounded(load.limit_per_hour()),
        ]
    };
    writeln!(
        out,
        "Load per host (busy: asked, or left in peace after it; polite/h: what its politeness has room for)\n"
    )?;
    let rows: Vec<Vec<String>> = hosts.iter().take(shown).map(row).collect();
    Table::new(&COLUMNS).page(out, &rows)?;
    write_more(out, hosts.len().saturating_sub(shown), "hosts")
}

pub(crate) fn write_contract(out: &mut impl Write, forecast: &Forecast) -> io::Result<()> {
    const COLUMNS: [Column; 12] = [
        left("profile"),
        right("promised"),
        right("on time"),
        right("late"),
        right("missed"),
        right("overdue"),
        right("on time %"),
        right("late p95 ≤"),
        right("first"),
        right("waited p95 ≤"),
        right("queued"),
        right("never"),
    ];
    writeln!(
        out,
        "Contract forecast (first: harvests of new URLs, promised by nobody; never: queued and not harvested yet)\n"
    )?;
    let row = |(name, contract): (&String, &Contract)| {
        let waiting = forecast.waiting.get(name).copied().unwrap_or_default();
        let promises = &contract.promises;
        let span = |some: u64, span: Span| if some == 0 { "–".to_owned() } else { span.to_string() };
        vec![
            name.clone(),
            number(contract.promised()),
            number(promises.on_time),
            number(promises.late),
            number(promises.missed),
            number(contract.overdue),
            contract.share_on_time().map_or("–".to_owned(), percent_text),
            span(promises.on_time + promises.late, promises.late_percentile(0.95)),
            number(promises.first),
            span(promises.first, promises.wait_percentile(0.95)),
            number(waiting.queued),
            number(waiting.never_harvested),
        ]
    };
    let rows: Vec<Vec<String>> = forecast.contract.iter().map(row).collect();
    Table::new(&COLUMNS).page(out, &rows)
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
