//! F32: what went over the wire, by domain.

use std::collections::BTreeMap;
use std::io::Write;

use anyhow::Result;
use frontier::DomainRow;
use frontier::schema::Traffic;
use policy::time::Time;
use serde_json::json;

use super::timeline::{Timeline, drawn};
use super::{Row, draw, open, print, since};
use crate::args::ReportArgs;
use crate::output::{Column, bytes_text, left, right};
use crate::plot::{BAD, GOOD, GREY, NEUTRAL, Series, Shape, WARNING};
use crate::session::{note, stdout};

const COLUMNS: [Column; 13] = [
    left("domain"),
    right("requests"),
    right("2xx"),
    right("3xx"),
    right("4xx"),
    right("5xx"),
    right("errors"),
    right("bytes"),
    right("new"),
    right("changed"),
    right("unchanged"),
    right("response p50 ≤"),
    right("p95 ≤"),
];

pub(super) fn run(args: &ReportArgs) -> Result<()> {
    let session = open(&args.data)?;
    let (since, now) = (since(&session, args), session.frontier.now());
    let rows = session.wait(session.frontier.traffic(since))?;
    let mut sums: BTreeMap<&str, Traffic> = BTreeMap::new();
    for row in &rows {
        sums.entry(&row.domain).or_default().merge(&row.traffic);
    }
    let mut sums: Vec<(&str, Traffic)> = sums.into_iter().collect();
    sums.sort_by_key(|(domain, sum)| (std::cmp::Reverse(sum.requests), *domain));
    let mut out = stdout();
    print(&mut out, &COLUMNS, sums.iter().map(|(domain, sum)| line(domain, sum)).collect(), &args.print)?;
    out.flush()?;
    if sums.is_empty() && !args.print.json {
        note(&format!("nothing was harvested since {since}"))?;
    }
    draw(&args.print, || plot(&rows, since, now))
}

fn line(domain: &str, sum: &Traffic) -> Row {
    let classes = [2, 3, 4, 5].map(|class| of_class(sum, class));
    let errors = no_answers(sum);
    let statuses: serde_json::Map<String, serde_json::Value> =
        sum.statuses.iter().map(|(status, count)| (status.to_string(), json!(count))).collect();
    let (p50, p95) = (sum.response_percentile(0.5), sum.response_percentile(0.95));
    let object = json!({
        "domain": domain,
        "requests": sum.requests,
        "statuses": statuses,
        "errors": errors,
        "bytes": sum.bytes,
        "new": sum.new,
        "changed": sum.changed,
        "unchanged": sum.unchanged,
        "response_p50_ms": p50.0,
        "response_p95_ms": p95.0,
    });
    let mut cells = vec![domain.to_owned(), sum.requests.to_string()];
    cells.extend(classes.map(|count| count.to_string()));
    cells.push(errors.to_string());
    cells.push(bytes_text(sum.bytes));
    cells.extend([sum.new, sum.changed, sum.unchanged].map(|count| count.to_string()));
    cells.extend([p50, p95].map(|span| span.to_string()));
    Row { object, cells }
}

fn of_class(sum: &Traffic, class: u16) -> u64 {
    sum.statuses.iter().filter(|(status, _)| status / 100 == class).map(|(_, count)| count).sum()
}

/// Harvests without an answer, whatever kept it from coming.
fn no_answers(sum: &Traffic) -> u64 {
    sum.errors.iter().map(|(_, count)| count).sum()
}

fn plot(rows: &[DomainRow], since: Time, now: Time) -> String {
    let timeline = Timeline::new(rows.iter().map(|row| row.hour), since, now);
    let mut slots: Vec<Traffic> = timeline.empty();
    for row in rows {
        slots[timeline.slot(row.hour)].merge(&row.traffic);
    }
    let series = |name: &str, colour: &'static str, count: &dyn Fn(&Traffic) -> u64| Series {
        name: name.to_owned(),
        colour,
        values: drawn(&slots.iter().map(count).collect::<Vec<u64>>()),
    };
    let series = vec![
        series("2xx answers", GOOD, &|sum| of_class(sum, 2)),
        series("3xx", NEUTRAL, &|sum| of_class(sum, 3)),
        series("4xx", WARNING, &|sum| of_class(sum, 4)),
        series("5xx", BAD, &|sum| of_class(sum, 5)),
        series("no answer", GREY, &no_answers),
    ];
    let requests: u64 = rows.iter().map(|row| row.traffic.requests).sum();
    let bytes: u64 = rows.iter().map(|row| row.traffic.bytes).sum();
    let subtitle =
        format!("{requests} requests and {} since {since}, {}", bytes_text(bytes), timeline.per_step());
    timeline.plot("Requests by answer", subtitle, Shape::Stacked, series).to_svg()
}
