//! F31: what was promised, what was kept of it, and what is overdue now.

use std::collections::BTreeMap;

use axum::extract::State;
use axum::response::Response;
use frontier::schema::UrlCounts;
use frontier::{Contract, ContractRow};
use policy::time::Time;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::timeline::Timeline;
use super::{Format, drawing, limit, rows, since};
use crate::api::{Answer, App, Query};
use crate::args::ContractBy;
use crate::plot::{PALETTE, Series, Shape};

/// Profiles drawn with a line of their own.
const LINES_MAX: usize = 8;

/// What became of promises: of the due times that frequencies set. Percentiles are upper bounds, exact to a power of two.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct ContractItem {
    /// What the row stands for: `profile`, `domain` or `hour`, which is then the field with its name.
    pub(crate) kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) profile: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) domain: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub(crate) hour: Option<String>,
    /// Promises that fell due.
    pub(crate) promised: u64,
    /// Kept by an answer, whatever its status, and on time.
    pub(crate) on_time: u64,
    /// Kept, but late.
    pub(crate) late: u64,
    /// Not kept when the next one fell due.
    pub(crate) missed: u64,
    /// Open now, and too late to be kept on time.
    pub(crate) overdue: u64,
    /// Of those of which it is known; none where there is none.
    pub(crate) share_on_time: Option<f64>,
    /// How late those were that were kept.
    pub(crate) late_p50_s: u64,
    pub(crate) late_p95_s: u64,
    pub(crate) late_p99_s: u64,
    /// First harvests of newly found URLs, which nobody promised, and how long they waited.
    pub(crate) first: u64,
    pub(crate) wait_p50_s: u64,
    pub(crate) wait_p95_s: u64,
}

/// A collection now.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct OverdueItem {
    /// Always `collection`.
    pub(crate) kind: String,
    pub(crate) collection: String,
    pub(crate) queued: u64,
    pub(crate) never_harvested: u64,
    /// Promises that can only be kept late.
    pub(crate) overdue: u64,
    pub(crate) done: u64,
    pub(crate) blacklisted: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct ContractReport {
    #[schema(format = DateTime)]
    pub(crate) since: String,
    pub(crate) items: Vec<ContractItem>,
    /// Rows beyond the limit.
    pub(crate) more: usize,
    /// What waits now, by collection.
    pub(crate) queue: Vec<OverdueItem>,
}

#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct Asked {
    /// How far back, like `1d`; `7d` if not given.
    since: Option<String>,
    /// What a row stands for.
    #[serde(default)]
    #[param(inline)]
    by: ContractBy,
    /// How many rows at most; 1000 if not given.
    #[param(minimum = 1, maximum = 100_000)]
    limit: Option<usize>,
    /// As rows, or drawn: the share on time over time.
    #[serde(default)]
    #[param(inline)]
    format: Format,
}

/// Report which promised harvests were kept, late or missed, and what is overdue now
///
/// Each due time that a profile's frequency sets is a promise. It is kept by the first answered harvest at or after it and missed when the next one falls
/// due; it belongs to the hour in which it fell due.
#[utoipa::path(
    get,
    path = "/api/v1/reports/contract",
    operation_id = "report_contract",
    tag = "reports",
    params(Asked),
    responses((status = 200, content((ContractReport = "application/json"), (String = "image/svg+xml")))),
)]
pub(super) async fn report(State(app): State<App>, Query(asked): Query<Asked>) -> Answer<Response> {
    let limit = limit(asked.limit)?;
    let (since, now) = since(&app, asked.since.as_deref())?;
    app.heavy(async move |app| {
        let by_hour = app.frontier.contract_by_hour(since).await?;
        if asked.format == Format::Svg {
            return Ok(drawing(plot(&by_hour, since, now)));
        }
        let mut sums: BTreeMap<String, Contract> = BTreeMap::new();
        let profiles: BTreeMap<String, String> = app
            .look(|catalog| catalog.profiles().map(|p| (p.name.clone(), p.collection.clone())).collect())
            .await?;
        if asked.by == ContractBy::Profile {
            // Also those whose harvests have yet to come.
            sums.extend(profiles.keys().map(|name| (name.clone(), Contract::default())));
        }
        let by_domain = match asked.by {
            ContractBy::Domain => app.frontier.contract(since).await?,
            ContractBy::Profile | ContractBy::Hour => Vec::new(),
        };
        let asked_rows = if asked.by == ContractBy::Domain { &by_domain } else { &by_hour };
        for row in asked_rows {
            sums.entry(key(asked.by, row)).or_default().merge(&row.contract);
        }
        let items = sums.iter().take(limit).map(|(name, sum)| item(asked.by, name, sum)).collect();
        let mut overdue: BTreeMap<&str, u64> = BTreeMap::new();
        for row in &by_hour {
            if let Some(collection) = profiles.get(&row.profile) {
                *overdue.entry(collection).or_default() += row.contract.overdue;
            }
        }
        let counts = app.frontier.url_counts().await?;
        let queue = counts
            .iter()
            .map(|(name, counts)| collection(name, counts, overdue.get(name.as_str()).copied().unwrap_or(0)));
        let more = sums.len().saturating_sub(limit);
        Ok(rows(&ContractReport { since: since.to_string(), items, more, queue: queue.collect() }))
    })
    .await
}

fn key(by: ContractBy, row: &ContractRow) -> String {
    match by {
        ContractBy::Profile => row.profile.clone(),
        ContractBy::Domain => row.domain.clone(),
        ContractBy::Hour => row.hour.to_string(),
    }
}

/// A row; the same for what happened and for what is foretold.
pub(crate) fn item(by: ContractBy, name: &str, sum: &Contract) -> ContractItem {
    let promises = &sum.promises;
    let late = |share: f64| promises.late_percentile(share).0 / 1000;
    let wait = |share: f64| promises.wait_percentile(share).0 / 1000;
    let named = |kind: ContractBy| (by == kind).then(|| name.to_owned());
    ContractItem {
        kind: by.as_str().to_owned(),
        profile: named(ContractBy::Profile),
        domain: named(ContractBy::Domain),
        hour: named(ContractBy::Hour),
        promised: sum.promised(),
        on_time: promises.on_time,
        late: promises.late,
        missed: promises.missed,
        overdue: sum.overdue,
        share_on_time: sum.share_on_time(),
        late_p50_s: late(0.5),
        late_p95_s: late(0.95),
        late_p99_s: late(0.99),
        first: promises.first,
        wait_p50_s: wait(0.5),
        wait_p95_s: wait(0.95),
    }
}

fn collection(name: &str, counts: &UrlCounts, overdue: u64) -> OverdueItem {
    let count = |count: i64| u64::try_from(count).unwrap_or(0);
    OverdueItem {
        kind: "collection".to_owned(),
        collection: name.to_owned(),
        queued: count(counts.queued),
        never_harvested: count(counts.unharvested),
        overdue,
        done: count(counts.done),
        blacklisted: count(counts.blacklisted),
    }
}

fn plot(rows: &[ContractRow], since: Time, now: Time) -> String {
    let timeline = Timeline::new(rows.iter().map(|row| row.hour), since, now);
    let mut profiles: BTreeMap<&str, Vec<Contract>> = BTreeMap::new();
    let mut sum = Contract::default();
    for row in rows {
        let slots = profiles.entry(&row.profile).or_insert_with(|| timeline.empty());
        slots[timeline.slot(row.hour)].merge(&row.contract);
        sum.merge(&row.contract);
    }
    let mut busiest: Vec<(&str, Vec<Contract>)> = profiles.into_iter().collect();
    busiest.sort_by_key(|(_, slots)| std::cmp::Reverse(slots.iter().map(Contract::decided).sum::<u64>()));
    let hidden = busiest.len().saturating_sub(LINES_MAX);
    let more = if hidden > 0 { format!("; {hidden} smaller profiles are not drawn") } else { String::new() };
    let (on_time, decided) = (sum.promises.on_time, sum.decided());
    let subtitle = format!("{on_time} of {decided} promises since {since}, {}{more}", timeline.per_step());
    let series = busiest.into_iter().take(LINES_MAX).zip(PALETTE).map(|((name, slots), colour)| Series {
        name: name.to_owned(),
        colour,
        values: slots.iter().map(|slot| slot.share_on_time().map(|share| share * 100.0)).collect(),
    });
    let mut plot = timeline.plot("Harvests on time", subtitle, Shape::Lines, series.collect());
    (plot.unit, plot.max) = (" %", Some(100.0));
    plot.to_svg()
}
