//! F32: what went over the wire, by domain, by time, or by both.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use declare::text::bytes_text;
use frontier::{DomainRow, Traffic, is_not_found};
use plan::plot::{BAD, GOOD, GREY, NEUTRAL, Series, Shape, WARNING};
use policy::contract::begin_of;
use policy::time::{Span, Time};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::timeline::{Timeline, drawn};
use super::{Format, Report, limit, since};
use crate::{Answer, App};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum DomainsBy {
    #[default]
    Domain,
    /// Of all domains together
    Time,
    /// Each domain at each time
    Both,
}

impl DomainsBy {
    pub const ALL: [DomainsBy; 3] = [DomainsBy::Domain, DomainsBy::Time, DomainsBy::Both];

    pub fn as_str(self) -> &'static str {
        match self {
            DomainsBy::Domain => "domain",
            DomainsBy::Time => "time",
            DomainsBy::Both => "both",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum TimeStep {
    Hour,
    Day,
}

impl TimeStep {
    pub const ALL: [TimeStep; 2] = [TimeStep::Hour, TimeStep::Day];

    pub fn as_str(self) -> &'static str {
        match self {
            TimeStep::Hour => "hour",
            TimeStep::Day => "day",
        }
    }

    pub fn span(self) -> Span {
        match self {
            TimeStep::Hour => Span::hours(1),
            TimeStep::Day => Span::days(1),
        }
    }

    /// For a report that goes back so far.
    pub fn usual(length: Span) -> TimeStep {
        if length <= Span::days(2) { TimeStep::Hour } else { TimeStep::Day }
    }
}

/// What went over the wire. Percentiles are upper bounds, exact to a power of two.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct DomainItem {
    /// To which domain; none: to all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// The beginning of the hour or day; none: of all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub time: Option<String>,
    pub requests: u64,
    pub statuses: BTreeMap<String, u64>,
    /// Answers 404 and 410.
    pub not_found: u64,
    /// Other answers 4xx and 5xx.
    pub error_answers: u64,
    /// Harvests without an answer.
    pub errors: u64,
    /// The same by kind.
    pub errors_by_kind: BTreeMap<String, u64>,
    pub bytes: u64,
    /// Of the answers with content (2xx or 304): what was not had before, is another than before,
    /// or the same.
    pub new: u64,
    pub changed: u64,
    /// Of those that changed, those whose text moved a little only.
    #[serde(default)]
    pub changed_little: u64,
    pub unchanged: u64,
    /// Of bodies that came over the wire and are archived as references to captures that have them.
    #[serde(default)]
    pub saved_bytes: u64,
    pub response_p50_ms: u64,
    pub response_p95_ms: u64,
}

#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// How far back, like `1d`; `7d` if not given.
    pub since: Option<String>,
    /// What a row stands for: a domain, an hour or day, or one of a domain.
    #[serde(default)]
    #[param(inline)]
    pub by: DomainsBy,
    /// How long a time a row stands for; by days if the report goes back further than two of them.
    #[param(inline)]
    pub step: Option<TimeStep>,
    /// How many rows at most; 1000 if not given.
    #[param(minimum = 1, maximum = 100_000)]
    pub limit: Option<usize>,
    /// As rows, or drawn.
    #[serde(default)]
    #[param(inline)]
    pub format: Format,
}

/// A drawing of the report, as SVG.
#[crate::boxed]
pub async fn drawing(app: &App, asked: &Asked) -> Answer<String> {
    limit(asked.limit)?;
    let (since, now) = since(app, asked.since.as_deref())?;
    app.heavy(async move |app| Ok(plot(&app.frontier.traffic_by_hour(since).await?, since, now))).await
}

/// The rows of the report.
#[crate::boxed]
pub async fn rows(app: &App, asked: &Asked) -> Answer<Report<DomainItem>> {
    let (limit, by) = (limit(asked.limit)?, asked.by);
    let (since, now) = since(app, asked.since.as_deref())?;
    let step = asked.step.unwrap_or_else(|| TimeStep::usual(now.since(since))).span();
    app.heavy(async move |app| {
        let items = match by {
            DomainsBy::Time => {
                let hours = app.frontier.traffic_by_hour(since).await?;
                items(hours.iter().map(|(hour, sum)| (None, Some(begin_of(*hour, step)), sum)))
            }
            DomainsBy::Domain | DomainsBy::Both => {
                let rows = app.frontier.traffic(since).await?;
                let time = |row: &DomainRow| (by == DomainsBy::Both).then(|| begin_of(row.hour, step));
                items(rows.iter().map(|row| (Some(row.domain.as_str()), time(row), &row.traffic)))
            }
        };
        Ok(Report::new(since, items, limit))
    })
    .await
}

pub(crate) fn by_domain(rows: &[DomainRow]) -> BTreeMap<&str, Traffic> {
    let mut sums: BTreeMap<&str, Traffic> = BTreeMap::new();
    for row in rows {
        sums.entry(&row.domain).or_default().merge(&row.traffic);
    }
    sums
}

/// Sums by domain and time, those of the busiest domain first, times in their order.
fn items<'a>(rows: impl Iterator<Item = (Option<&'a str>, Option<Time>, &'a Traffic)>) -> Vec<DomainItem> {
    let mut requests: BTreeMap<Option<&str>, u64> = BTreeMap::new();
    let mut sums: BTreeMap<(Option<&str>, Option<Time>), Traffic> = BTreeMap::new();
    for (domain, time, traffic) in rows {
        *requests.entry(domain).or_default() += traffic.requests;
        sums.entry((domain, time)).or_default().merge(traffic);
    }
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_by_key(|((domain, time), _)| (Reverse(requests.get(domain)), *domain, *time));
    sums.iter().map(|((domain, time), sum)| item(*domain, *time, sum)).collect()
}

fn item(domain: Option<&str>, time: Option<Time>, sum: &Traffic) -> DomainItem {
    let is_error = |status: u16| status >= 400 && !is_not_found(status);
    DomainItem {
        domain: domain.map(str::to_owned),
        time: time.map(|time| time.to_string()),
        requests: sum.requests,
        statuses: sum.statuses.iter().map(|(status, count)| (status.to_string(), *count)).collect(),
        not_found: sum.answers(is_not_found),
        error_answers: sum.answers(is_error),
        errors: sum.no_answers(),
        errors_by_kind: sum.errors.iter().map(|(kind, count)| (kind.as_str().to_owned(), *count)).collect(),
        bytes: sum.bytes,
        new: sum.new,
        changed: sum.changed,
        changed_little: sum.changed_little,
        unchanged: sum.unchanged,
        saved_bytes: sum.saved_bytes,
        response_p50_ms: sum.response_percentile(0.5).0,
        response_p95_ms: sum.response_percentile(0.95).0,
    }
}

fn of_class(sum: &Traffic, class: u16) -> u64 {
    sum.answers(|status| status / 100 == class)
}

fn plot(hours: &BTreeMap<Time, Traffic>, since: Time, now: Time) -> String {
    let timeline = Timeline::new(hours.keys().copied(), since, now);
    let mut slots: Vec<Traffic> = timeline.empty();
    for (hour, traffic) in hours {
        slots[timeline.slot(*hour)].merge(traffic);
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
        series("no answer", GREY, &Traffic::no_answers),
    ];
    let requests: u64 = hours.values().map(|hour| hour.requests).sum();
    let bytes: u64 = hours.values().map(|hour| hour.bytes).sum();
    let subtitle =
        format!("{requests} requests and {} since {since}, {}", bytes_text(bytes), timeline.per_step());
    timeline.plot("Requests by answer", subtitle, Shape::Stacked, series).to_svg()
}
