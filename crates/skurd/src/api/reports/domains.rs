//! F32: what went over the wire, by domain.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use axum::extract::State;
use axum::response::Response;
use frontier::DomainRow;
use frontier::schema::Traffic;
use policy::time::Time;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::timeline::{Timeline, drawn};
use super::{Asked, Format, Report, drawing, limit, rows, since};
use crate::api::{Answer, App, Query};
use crate::output::bytes_text;
use crate::plot::{BAD, GOOD, GREY, NEUTRAL, Series, Shape, WARNING};

/// What went over the wire to a domain. Percentiles are upper bounds, exact to a power of two.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct DomainItem {
    pub(crate) domain: String,
    pub(crate) requests: u64,
    pub(crate) statuses: BTreeMap<String, u64>,
    /// Harvests without an answer.
    pub(crate) errors: u64,
    pub(crate) bytes: u64,
    pub(crate) new: u64,
    pub(crate) changed: u64,
    pub(crate) unchanged: u64,
    pub(crate) response_p50_ms: u64,
    pub(crate) response_p95_ms: u64,
}

/// Report requests, statuses, bytes, what changed, errors and response times of each domain
///
/// The drawing shows requests over time by kind of answer.
#[utoipa::path(
    get,
    path = "/api/v1/reports/domains",
    operation_id = "report_domains",
    tag = "reports",
    params(Asked),
    responses((status = 200, content((Report<DomainItem> = "application/json"), (String = "image/svg+xml")))),
)]
pub(super) async fn report(State(app): State<App>, Query(asked): Query<Asked>) -> Answer<Response> {
    let limit = limit(asked.limit)?;
    let (since, now) = since(&app, asked.since.as_deref())?;
    app.heavy(async move |app| {
        let traffic = app.frontier.traffic(since).await?;
        if asked.format == Format::Svg {
            return Ok(drawing(plot(&traffic, since, now)));
        }
        let mut sums: Vec<(&str, Traffic)> = by_domain(&traffic).into_iter().collect();
        sums.sort_by_key(|(domain, sum)| (Reverse(sum.requests), *domain));
        let items = sums.iter().map(|(domain, sum)| item(domain, sum)).collect();
        Ok(rows(&Report::<DomainItem>::new(since, items, limit)))
    })
    .await
}

pub(super) fn by_domain(rows: &[DomainRow]) -> BTreeMap<&str, Traffic> {
    let mut sums: BTreeMap<&str, Traffic> = BTreeMap::new();
    for row in rows {
        sums.entry(&row.domain).or_default().merge(&row.traffic);
    }
    sums
}

fn item(domain: &str, sum: &Traffic) -> DomainItem {
    DomainItem {
        domain: domain.to_owned(),
        requests: sum.requests,
        statuses: sum.statuses.iter().map(|(status, count)| (status.to_string(), *count)).collect(),
        errors: no_answers(sum),
        bytes: sum.bytes,
        new: sum.new,
        changed: sum.changed,
        unchanged: sum.unchanged,
        response_p50_ms: sum.response_percentile(0.5).0,
        response_p95_ms: sum.response_percentile(0.95).0,
    }
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
