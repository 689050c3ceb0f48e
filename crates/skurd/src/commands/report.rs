//! `skurd report`: sums over the statistics (F31–F33), as tables, JSON lines and drawings.

use std::io::Write;

use anyhow::{Context, Result};
use app::reports::{
    BudgetItem, ContractItem, DomainItem, DomainsBy, ErrorItem, FeasibilityItem, OverdueItem, ROWS_MAX,
};
use declare::text::{bytes_text, percent_text, rate_text};
use harvest::session::note;
use policy::time::Span;
use policy::unit::print_duration;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use server::client::{Call, Client};

use super::listing::{Printer, given};
use crate::args::report::{PrintArgs, ReportArgs, ReportCommand};
use crate::args::value::DataDir;
use crate::output::{Column, left, line, right, shown};

const fn contract_columns(by: &'static str) -> [Column<ContractItem>; 13] {
    [
        left(by, |row| {
            row.profile.iter().chain(&row.domain).chain(&row.hour).next().cloned().unwrap_or_default()
        }),
        right("promised", |row| shown(row.promised)),
        right("on time", |row| shown(row.on_time)),
        right("late", |row| shown(row.late)),
        right("missed", |row| shown(row.missed)),
        right("overdue", |row| shown(row.overdue)),
        right("on time %", |row| shown(row.share_on_time.map(percent_text))),
        right("late p50 ≤", |row| late(row, row.late_p50_s)),
        right("p95 ≤", |row| late(row, row.late_p95_s)),
        right("p99 ≤", |row| late(row, row.late_p99_s)),
        right("first", |row| shown(row.first)),
        right("waited p50 ≤", |row| seconds(row.first, row.wait_p50_s)),
        right("p95 ≤", |row| seconds(row.first, row.wait_p95_s)),
    ]
}

fn late(row: &ContractItem, bound: u64) -> String {
    seconds(row.on_time + row.late, bound)
}

/// An upper bound of so many.
fn seconds(of: u64, bound: u64) -> String {
    match (of, bound) {
        (0, _) => "–".to_owned(),
        (_, 0) => "0s".to_owned(),
        (_, seconds) => Span::seconds(seconds).to_string(),
    }
}

const NOW: [Column<OverdueItem>; 6] = [
    left("collection", |row| shown(&row.collection)),
    right("queued", |row| shown(row.queued)),
    right("never harvested", |row| shown(row.never_harvested)),
    right("overdue", |row| shown(row.overdue)),
    right("done", |row| shown(row.done)),
    right("blacklisted", |row| shown(row.blacklisted)),
];

const DOMAINS: [Column<DomainItem>; 16] = [
    left("time", |row| shown(&row.time)),
    left("domain", |row| shown(&row.domain)),
    right("requests", |row| shown(row.requests)),
    right("2xx", |row| of_class(row, '2')),
    right("3xx", |row| of_class(row, '3')),
    right("not found", |row| shown(row.not_found)),
    right("errors", |row| shown(row.error_answers)),
    right("no answer", |row| shown(row.errors)),
    right("bytes", |row| bytes_text(row.bytes)),
    right("saved", |row| bytes_text(row.saved_bytes)),
    right("new", |row| shown(row.new)),
    right("changed", |row| shown(row.changed)),
    right("a little", |row| shown(row.changed_little)),
    right("unchanged", |row| shown(row.unchanged)),
    right("response p50 ≤", |row| Span(row.response_p50_ms).to_string()),
    right("p95 ≤", |row| Span(row.response_p95_ms).to_string()),
];

fn of_class(row: &DomainItem, class: char) -> String {
    let counts = row.statuses.iter().filter(|(status, _)| status.starts_with(class));
    shown(counts.map(|(_, count)| count).sum::<u64>())
}

const ERRORS: [Column<ErrorItem>; 4] = [
    left("kind", |row| shown(&row.kind)),
    right("count", |row| shown(row.count)),
    right("of requests", share),
    left("domain", |row| shown(&row.domain)),
];

#[allow(clippy::cast_precision_loss, reason = "a share, shown with one decimal")]
fn share(row: &ErrorItem) -> String {
    shown((row.requests > 0).then(|| percent_text(row.count as f64 / row.requests as f64)))
}

const FEASIBILITY: [Column<FeasibilityItem>; 7] = [
    left("host or group", |row| shown(&row.unit)),
    right("urls", |row| shown(row.urls)),
    right("wanted/day", |row| rate_text(row.wanted_per_day)),
    right("possible/day", |row| rate_text(row.possible_per_day)),
    right("load", |row| percent_text(row.load.unwrap_or(f64::INFINITY))),
    right("delay", |row| Span(row.delay_ms).to_string()),
    left("verdict", |row| shown(&row.verdict)),
];

/// Rows of a report, as they came.
#[derive(Deserialize)]
struct Rows {
    #[serde(default)]
    since: String,
    items: Vec<Box<RawValue>>,
    more: usize,
    #[serde(default)]
    queue: Vec<Box<RawValue>>,
    #[serde(default)]
    summary: String,
}

pub(crate) fn run(command: &ReportCommand) -> Result<()> {
    match command {
        ReportCommand::Contract { report, by } => contract(report, by.as_str()),
        ReportCommand::Domains { report, by, step } => {
            let columns = DOMAINS.iter().filter(|column| match by {
                DomainsBy::Domain => column.name != "time",
                DomainsBy::Time => column.name != "domain",
                DomainsBy::Both => true,
            });
            let step = step.map(|step| step.as_str().to_owned());
            let rows = given([("by", Some(by.as_str().to_owned())), ("step", step)]);
            Asked::since("reports/domains", report, rows)?.print(columns, "nothing was harvested")
        }
        ReportCommand::Errors(report) => {
            Asked::since("reports/errors", report, Vec::new())?.print(&ERRORS, "nothing went wrong")
        }
        ReportCommand::Feasibility { data, print } => feasibility(data, print),
        ReportCommand::Budgets { data, limit, json } => {
            budgets(data, &PrintArgs { limit: *limit, json: *json, plot: None })
        }
        ReportCommand::Traps(args) => super::traps::list(args),
    }
}

fn contract(args: &ReportArgs, by: &'static str) -> Result<()> {
    let asked = Asked::since("reports/contract", args, vec![("by", by.to_owned())])?;
    let rows = asked.rows()?;
    asked.table(&contract_columns(by), &rows.items)?;
    if !args.print.json && !rows.queue.is_empty() {
        line("\nqueue now")?;
    }
    let shown = rows.queue.len().min(args.print.limit.unwrap_or(usize::MAX));
    asked.table(&NOW, &rows.queue[..shown])?;
    asked.finish(&rows)
}

fn feasibility(data: &DataDir, args: &PrintArgs) -> Result<()> {
    let ask = Client::open(&data.dir)?;
    let asked = Asked { ask, path: "reports/feasibility", query: Vec::new(), args };
    let rows = asked.rows()?;
    asked.table(&FEASIBILITY, &rows.items)?;
    match (args.json, rows.items.is_empty()) {
        (true, _) => {}
        (false, true) => note("no host has URLs; `skurd start` queues the seeds")?,
        (false, false) => line(format!("\n{}", rows.summary))?,
    }
    asked.finish(&rows)
}

const BUDGETS: [Column<BudgetItem>; 8] = [
    left("budget of", |row| format!("{} {}", row.holder, row.name)),
    left("limit", |row| shown(&row.limit)),
    right("run", |row| shown(row.run)),
    right("used", |row| amount(row, row.used)),
    right("of", |row| amount(row, row.max)),
    right("waiting", |row| shown(row.held)),
    right("not queued", |row| shown(row.refused)),
    left("verdict", |row| shown(&row.verdict)),
];

fn amount(row: &BudgetItem, amount: u64) -> String {
    match row.limit.as_str() {
        "max_bytes" => bytes_text(amount),
        "max_duration" => Span(amount).to_string(),
        _ => shown(amount),
    }
}

fn budgets(data: &DataDir, args: &PrintArgs) -> Result<()> {
    let ask = Client::open(&data.dir)?;
    let asked = Asked { ask, path: "reports/budgets", query: Vec::new(), args };
    let rows = asked.rows()?;
    asked.table(&BUDGETS, &rows.items)?;
    if args.json {
        return asked.finish(&rows);
    }
    if rows.items.is_empty() {
        note("nothing has a budget: `budget` in the config, or --max-urls and the like, give one")?;
        return asked.finish(&rows);
    }
    for item in &rows.items {
        let item: BudgetItem = serde_json::from_str(item.get())?;
        for place in &item.places {
            let (waiting, refused) = (place.held, place.refused);
            let what = if waiting > 0 { format!("{waiting} wait") } else { format!("{refused} not queued") };
            let examples = place.examples.join(" ");
            line(format!("  {} {}{}: {what}, like {examples}", item.name, place.host, place.path))?;
        }
    }
    line(format!("\n{}", rows.summary))?;
    asked.finish(&rows)
}

/// A report that is asked for.
struct Asked<'a> {
    ask: Client,
    path: &'static str,
    query: Vec<(&'static str, String)>,
    args: &'a PrintArgs,
}

impl<'a> Asked<'a> {
    fn since(
        path: &'static str,
        args: &'a ReportArgs,
        mut query: Vec<(&'static str, String)>,
    ) -> Result<Asked<'a>> {
        query.push(("since", print_duration(args.since)));
        Ok(Asked { ask: Client::open(&args.data.dir)?, path, query, args: &args.print })
    }

    /// Prints a report that is one table.
    fn print<'c, T: DeserializeOwned + 'c>(
        &self,
        columns: impl IntoIterator<Item = &'c Column<T>>,
        nothing: &str,
    ) -> Result<()> {
        let rows = self.rows()?;
        self.table(columns, &rows.items)?;
        if rows.items.is_empty() && !self.args.json {
            note(&format!("{nothing} since {}", rows.since))?;
        }
        self.finish(&rows)
    }

    fn rows(&self) -> Result<Rows> {
        let limit = self.args.limit.unwrap_or(ROWS_MAX).clamp(1, ROWS_MAX);
        let query = [self.query.as_slice(), &[("limit", limit.to_string())]].concat();
        let mut rows: Rows = self.ask.ask(&Call::get(self.path, query))?;
        rows.items.truncate(self.args.limit.unwrap_or(usize::MAX));
        Ok(rows)
    }

    fn table<'c, T: DeserializeOwned + 'c>(
        &self,
        columns: impl IntoIterator<Item = &'c Column<T>>,
        items: &[Box<RawValue>],
    ) -> Result<()> {
        let mut printer = Printer::new(columns, self.args.json);
        printer.page(items, |row: T| row)?;
        Ok(printer.out.flush()?)
    }

    /// Tells of what was left out, and draws if that is wanted.
    fn finish(&self, rows: &Rows) -> Result<()> {
        if rows.more > 0 && self.args.limit.is_none() {
            note(&format!("{} more rows are not shown", rows.more))?;
        }
        let Some(path) = &self.args.plot else { return Ok(()) };
        let query = [self.query.as_slice(), &[("format", "svg".to_owned())]].concat();
        let svg = self.ask.raw(&Call::get(self.path, query))?;
        std::fs::write(path, svg).with_context(|| format!("cannot write {}", path.display()))?;
        note(&format!("drawn: {}", path.display()))
    }
}
