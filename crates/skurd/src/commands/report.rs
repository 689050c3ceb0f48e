//! `skurd report`: sums over the statistics (F31–F33), as tables, JSON lines and drawings.

use std::io::Write;

use anyhow::{Context, Result};
use app::reports::{
    ContractBy, ContractItem, DomainItem, DomainsBy, ErrorItem, FeasibilityItem, OverdueItem, TimeStep,
};
use declare::text::{bytes_text, percent_text, rate_text};
use harvest::session::note;
use policy::time::Span;
use policy::unit::print_duration;
use serde::Deserialize;
use serde_json::value::RawValue;
use server::client::{Call, Client};

use super::listing::Printer;
use crate::args::{DataDir, PrintArgs, ReportArgs, ReportCommand};
use crate::output::Column;

mod columns;

use columns::{BY_DOMAIN, BY_HOUR, BY_PROFILE, DOMAINS, ERRORS, FEASIBILITY, NOW, TIMES};

/// Rows of a report, as they came.
#[derive(Deserialize)]
struct Rows {
    #[serde(default)]
    since: Option<String>,
    items: Vec<Box<RawValue>>,
    more: usize,
    #[serde(default)]
    queue: Vec<Box<RawValue>>,
    #[serde(default)]
    summary: Option<String>,
}

pub(crate) fn run(command: &ReportCommand) -> Result<()> {
    match command {
        ReportCommand::Contract { report, by } => contract(report, *by),
        ReportCommand::Domains { report, by, step } => domains(report, *by, *step),
        ReportCommand::Errors(report) => errors(report),
        ReportCommand::Feasibility { data, print } => feasibility(data, print),
    }
}

/// A report that is asked for.
struct Asked<'a> {
    ask: Client,
    path: &'static str,
    query: Vec<(&'a str, String)>,
    args: &'a PrintArgs,
}

impl<'a> Asked<'a> {
    fn new(
        data: &DataDir,
        path: &'static str,
        since: Option<Span>,
        args: &'a PrintArgs,
    ) -> Result<Asked<'a>> {
        let query = since.map(|since| ("since", print_duration(since))).into_iter().collect();
        Ok(Asked { ask: Client::open(&data.dir)?, path, query, args })
    }

    fn rows(&self) -> Result<Rows> {
        let limit = self.args.limit.unwrap_or(app::reports::ROWS_MAX).clamp(1, app::reports::ROWS_MAX);
        let mut query = self.query.clone();
        query.push(("limit", limit.to_string()));
        let mut rows: Rows = self.ask.ask(&Call::get(self.path, query))?;
        rows.items.truncate(self.args.limit.unwrap_or(usize::MAX));
        Ok(rows)
    }

    /// Tells of what was left out, and draws if that is wanted.
    fn finish(&self, rows: &Rows) -> Result<()> {
        if rows.more > 0 && self.args.limit.is_none() {
            note(&format!("{} more rows are not shown", rows.more))?;
        }
        let Some(path) = &self.args.plot else { return Ok(()) };
        let mut query = self.query.clone();
        query.push(("format", "svg".to_owned()));
        let svg = self.ask.raw(&Call::get(self.path, query))?;
        std::fs::write(path, svg).with_context(|| format!("cannot write {}", path.display()))?;
        note(&format!("drawn: {}", path.display()))
    }
}

fn contract(args: &ReportArgs, by: ContractBy) -> Result<()> {
    let mut asked = Asked::new(&args.data, "reports/contract", Some(args.since), &args.print)?;
    asked.query.push(("by", by.as_str().to_owned()));
    let rows = asked.rows()?;
    let columns: &'static [Column] = match by {
        ContractBy::Profile => &BY_PROFILE,
        ContractBy::Domain => &BY_DOMAIN,
        ContractBy::Hour => &BY_HOUR,
    };
    let mut printer = Printer::new(columns, args.print.json);
    printer.page(&rows.items, contract_cells)?;
    if !args.print.json && !rows.queue.is_empty() {
        writeln!(printer.out, "\nqueue now")?;
    }
    printer.out.flush()?;
    drop(printer);
    let mut printer = Printer::new(&NOW, args.print.json);
    let shown = rows.queue.len().min(args.print.limit.unwrap_or(usize::MAX));
    printer.page(&rows.queue[..shown], overdue_cells)?;
    printer.out.flush()?;
    asked.finish(&rows)
}

fn contract_cells(item: &ContractItem) -> Vec<String> {
    let name = item.profile.as_ref().or(item.domain.as_ref()).or(item.hour.as_ref());
    let mut cells = vec![name.cloned().unwrap_or_default()];
    let counts = [item.promised, item.on_time, item.late, item.missed, item.overdue];
    cells.extend(counts.map(|count| count.to_string()));
    cells.push(item.share_on_time.map_or("–".to_owned(), percent_text));
    let spans = |some: bool, seconds: &[u64]| -> Vec<String> {
        let text = |seconds: &u64| match (some, seconds) {
            (false, _) => "–".to_owned(),
            (true, 0) => "0s".to_owned(),
            (true, seconds) => Span::seconds(*seconds).to_string(),
        };
        seconds.iter().map(text).collect()
    };
    cells.extend(spans(item.on_time + item.late > 0, &[item.late_p50_s, item.late_p95_s, item.late_p99_s]));
    cells.push(item.first.to_string());
    cells.extend(spans(item.first > 0, &[item.wait_p50_s, item.wait_p95_s]));
    cells
}

fn overdue_cells(item: &OverdueItem) -> Vec<String> {
    let numbers = [item.queued, item.never_harvested, item.overdue, item.done, item.blacklisted];
    let numbers = numbers.map(|number| number.to_string());
    std::iter::once(item.collection.clone()).chain(numbers).collect()
}

fn domains(args: &ReportArgs, by: DomainsBy, step: Option<TimeStep>) -> Result<()> {
    let mut asked = Asked::new(&args.data, "reports/domains", Some(args.since), &args.print)?;
    asked.query.push(("by", by.as_str().to_owned()));
    asked.query.extend(step.map(|step| ("step", step.as_str().to_owned())));
    let rows = asked.rows()?;
    let columns: &'static [Column] = match by {
        DomainsBy::Domain => &DOMAINS[1..],
        DomainsBy::Time => &TIMES,
        DomainsBy::Both => &DOMAINS,
    };
    print(&rows, columns, args.print.json, domain_cells)?;
    if rows.items.is_empty() && !args.print.json {
        note(&format!("nothing was harvested since {}", rows.since.as_deref().unwrap_or_default()))?;
    }
    asked.finish(&rows)
}

fn domain_cells(item: &DomainItem) -> Vec<String> {
    let of_class = |class: char| {
        let counts = item.statuses.iter().filter(|(status, _)| status.starts_with(class));
        counts.map(|(_, count)| count).sum::<u64>().to_string()
    };
    let mut cells: Vec<String> = item.time.iter().chain(&item.domain).cloned().collect();
    cells.push(item.requests.to_string());
    cells.extend(['2', '3'].map(of_class));
    cells.extend([item.not_found, item.error_answers, item.errors].map(|count| count.to_string()));
    cells.push(bytes_text(item.bytes));
    cells.extend([item.new, item.changed, item.unchanged].map(|count| count.to_string()));
    cells.extend([item.response_p50_ms, item.response_p95_ms].map(|span| Span(span).to_string()));
    cells
}

fn errors(args: &ReportArgs) -> Result<()> {
    let asked = Asked::new(&args.data, "reports/errors", Some(args.since), &args.print)?;
    let rows = asked.rows()?;
    print(&rows, &ERRORS, args.print.json, error_cells)?;
    if rows.items.is_empty() && !args.print.json {
        note(&format!("nothing went wrong since {}", rows.since.as_deref().unwrap_or_default()))?;
    }
    asked.finish(&rows)
}

#[allow(clippy::cast_precision_loss, reason = "a share, shown with one decimal")]
fn error_cells(item: &ErrorItem) -> Vec<String> {
    let share = match item.requests {
        0 => "–".to_owned(),
        requests => percent_text(item.count as f64 / requests as f64),
    };
    vec![item.kind.clone(), item.count.to_string(), share, item.domain.clone()]
}

fn feasibility(data: &DataDir, args: &PrintArgs) -> Result<()> {
    let asked = Asked::new(data, "reports/feasibility", None, args)?;
    let rows = asked.rows()?;
    print(&rows, &FEASIBILITY, args.json, feasibility_cells)?;
    match (args.json, rows.items.is_empty()) {
        (true, _) => {}
        (false, true) => note("no host has URLs; `skurd start` queues the seeds")?,
        (false, false) => {
            let mut out = harvest::session::stdout();
            writeln!(out, "\n{}", rows.summary.as_deref().unwrap_or_default())?;
            out.flush()?;
        }
    }
    asked.finish(&rows)
}

fn feasibility_cells(item: &FeasibilityItem) -> Vec<String> {
    vec![
        item.unit.clone(),
        item.urls.to_string(),
        rate_text(item.wanted_per_day),
        rate_text(item.possible_per_day),
        percent_text(item.load.unwrap_or(f64::INFINITY)),
        Span(item.delay_ms).to_string(),
        item.verdict.clone(),
    ]
}

fn print<T: serde::de::DeserializeOwned>(
    rows: &Rows,
    columns: &'static [Column],
    as_json: bool,
    cells: impl Fn(&T) -> Vec<String>,
) -> Result<()> {
    let mut printer = Printer::new(columns, as_json);
    printer.page(&rows.items, cells)?;
    Ok(printer.out.flush()?)
}
