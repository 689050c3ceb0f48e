//! F32: what went wrong, by kind and domain.

use std::collections::BTreeMap;
use std::io::Write;

use anyhow::Result;
use frontier::DomainRow;
use frontier::schema::{ErrorKind, Traffic};
use policy::time::Time;
use serde_json::json;

use super::timeline::{Timeline, drawn};
use super::{Row, draw, open, print, since};
use crate::args::ReportArgs;
use crate::output::{Column, left, percent_text, right};
use crate::plot::{PALETTE, Series, Shape};
use crate::session::{note, stdout};

const COLUMNS: [Column; 4] = [left("kind"), right("count"), right("of requests"), left("domain")];

/// Kinds drawn with a colour of their own.
const KINDS_MAX: usize = 8;

pub(super) fn run(args: &ReportArgs) -> Result<()> {
    let session = open(&args.data)?;
    let (since, now) = (since(&session, args), session.frontier.now());
    let rows = session.wait(session.frontier.traffic(since))?;
    let mut sums: BTreeMap<&str, Traffic> = BTreeMap::new();
    for row in &rows {
        sums.entry(&row.domain).or_default().merge(&row.traffic);
    }
    let of_domain = |(domain, sum): (&&str, &Traffic)| -> Vec<(u64, Row)> {
        kinds(sum)
            .into_iter()
            .map(|(kind, count)| (count, line(domain, &kind, count, sum.requests)))
            .collect()
    };
    let mut lines: Vec<(u64, Row)> = sums.iter().flat_map(of_domain).collect();
    lines.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    let is_empty = lines.is_empty();
    let mut out = stdout();
    print(&mut out, &COLUMNS, lines.into_iter().map(|(_, row)| row).collect(), &args.print)?;
    out.flush()?;
    if is_empty && !args.print.json {
        note(&format!("nothing went wrong since {since}"))?;
    }
    draw(&args.print, || plot(&rows, since, now))
}

/// Error statuses and what kept an answer from coming.
fn kinds(sum: &Traffic) -> Vec<(String, u64)> {
    let errors = sum.errors.iter().map(|(kind, count)| (word(*kind).to_owned(), *count));
    let statuses = sum.statuses.iter().filter(|(status, _)| *status >= 400);
    errors.chain(statuses.map(|(status, count)| (format!("http {status}"), *count))).collect()
}

fn word(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Dns => "dns",
        ErrorKind::Connect => "connect",
        ErrorKind::Timeout => "timeout",
        ErrorKind::Broken => "broken",
        ErrorKind::Robots => "robots",
    }
}

#[allow(clippy::cast_precision_loss, reason = "a share, shown with one decimal")]
fn line(domain: &str, kind: &str, count: u64, requests: u64) -> Row {
    let share = if requests == 0 { "–".to_owned() } else { percent_text(count as f64 / requests as f64) };
    Row {
        object: json!({ "kind": kind, "count": count, "requests": requests, "domain": domain }),
        cells: vec![kind.to_owned(), count.to_string(), share, domain.to_owned()],
    }
}

fn plot(rows: &[DomainRow], since: Time, now: Time) -> String {
    let timeline = Timeline::new(rows.iter().map(|row| row.hour), since, now);
    let mut by_kind: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for row in rows {
        for (kind, count) in kinds(&row.traffic) {
            by_kind.entry(kind).or_insert_with(|| timeline.empty())[timeline.slot(row.hour)] += count;
        }
    }
    let mut by_kind: Vec<(String, Vec<u64>)> = by_kind.into_iter().collect();
    by_kind.sort_by_key(|(_, slots)| std::cmp::Reverse(slots.iter().sum::<u64>()));
    let total: u64 = by_kind.iter().flat_map(|(_, slots)| slots).sum();
    let hidden = by_kind.len().saturating_sub(KINDS_MAX);
    let more = if hidden > 0 { format!("; {hidden} rarer kinds are not drawn") } else { String::new() };
    let series = by_kind.into_iter().zip(PALETTE).map(|((name, slots), colour)| Series {
        name,
        colour,
        values: drawn(&slots),
    });
    let subtitle = format!("{total} since {since}, {}{more}", timeline.per_step());
    timeline.plot("Errors by kind", subtitle, Shape::Stacked, series.collect()).to_svg()
}
