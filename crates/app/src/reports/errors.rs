//! F32: what went wrong, by kind and domain.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use frontier::{DomainRow, Traffic};
use plan::plot::{PALETTE, Series, Shape};
use policy::time::Time;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::domains::by_domain;
use super::timeline::{Timeline, drawn};
use super::{Asked, Report, limit, since};
use crate::{Answer, App};

/// Kinds drawn with a colour of their own.
const KINDS_MAX: usize = 8;

/// What went wrong with a domain, and how often.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ErrorItem {
    /// `dns`, `connect`, `timeout`, `broken`, `robots`, or a status like `http 404`.
    pub kind: String,
    pub count: u64,
    /// All requests to the domain.
    pub requests: u64,
    pub domain: String,
}

/// A drawing of the report, as SVG.
#[crate::boxed]
pub async fn drawing(app: &App, asked: &Asked) -> Answer<String> {
    limit(asked.limit)?;
    let (since, now) = since(app, asked.since.as_deref())?;
    app.heavy(async move |app| Ok(plot(&app.frontier.traffic(since).await?, since, now))).await
}

/// The rows of the report.
#[crate::boxed]
pub async fn rows(app: &App, asked: &Asked) -> Answer<Report<ErrorItem>> {
    let limit = limit(asked.limit)?;
    let (since, _) = since(app, asked.since.as_deref())?;
    app.heavy(async move |app| {
        let traffic = app.frontier.traffic(since).await?;
        let sums = by_domain(&traffic);
        let of_domain = |(domain, sum): (&&str, &Traffic)| {
            let (requests, domain) = (sum.requests, (*domain).to_owned());
            let item = move |(kind, count)| ErrorItem { kind, count, requests, domain: domain.clone() };
            kinds(sum).into_iter().map(item)
        };
        let mut items: Vec<ErrorItem> = sums.iter().flat_map(of_domain).collect();
        items.sort_by_key(|item| Reverse(item.count));
        Ok(Report::new(since, items, limit))
    })
    .await
}

/// Error statuses and what kept an answer from coming.
fn kinds(sum: &Traffic) -> Vec<(String, u64)> {
    let errors = sum.errors.iter().map(|(kind, count)| (kind.as_str().to_owned(), *count));
    let statuses = sum.statuses.iter().filter(|(status, _)| *status >= 400);
    errors.chain(statuses.map(|(status, count)| (format!("http {status}"), *count))).collect()
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
