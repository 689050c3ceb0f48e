//! F31: how late harvests were, and what is overdue now.

use std::collections::BTreeMap;

use axum::extract::State;
use axum::response::Response;
use frontier::schema::Lateness;
use frontier::{ContractRow, OverdueCount};
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

/// How a promise was kept. Percentiles are upper bounds, exact to a power of two.
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
    pub(crate) harvests: u64,
    pub(crate) on_time: u64,
    pub(crate) share_on_time: f64,
    pub(crate) late_p50_s: u64,
    pub(crate) late_p95_s: u64,
    pub(crate) late_p99_s: u64,
}

/// The queue of a collection now.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct OverdueItem {
    /// Always `collection`.
    pub(crate) kind: String,
    pub(crate) collection: String,
    pub(crate) queued: u64,
    pub(crate) never_harvested: u64,
    /// Due for longer than what still counts as on time.
    pub(crate) overdue: u64,
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

/// Report how late harvests were, and what is overdue now
///
/// Reads the whole queue.
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
        let harvests = app.frontier.contract(since).await?;
        if asked.format == Format::Svg {
            return Ok(drawing(plot(&harvests, since, now)));
        }
        let mut sums: BTreeMap<String, Lateness> = BTreeMap::new();
        if asked.by == ContractBy::Profile {
            // Also those whose harvests have yet to come.
            let names =
                app.look(|catalog| catalog.profiles().map(|p| p.name.clone()).collect::<Vec<_>>()).await?;
            sums.extend(names.into_iter().map(|name| (name, Lateness::default())));
        }
        for row in &harvests {
            sums.entry(key(asked.by, row)).or_default().merge(&row.lateness);
        }
        let items = sums.iter().take(limit).map(|(name, sum)| item(asked.by, name, sum)).collect();
        let queue = app.frontier.overdue().await?.into_iter().map(overdue).collect();
        let more = sums.len().saturating_sub(limit);
        Ok(rows(&ContractReport { since: since.to_string(), items, more, queue }))
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

fn item(by: ContractBy, name: &str, sum: &Lateness) -> ContractItem {
    let late = |share: f64| sum.percentile(share).0 / 1000;
    let named = |kind: ContractBy| (by == kind).then(|| name.to_owned());
    ContractItem {
        kind: by.as_str().to_owned(),
        profile: named(ContractBy::Profile),
        domain: named(ContractBy::Domain),
        hour: named(ContractBy::Hour),
        harvests: sum.harvests,
        on_time: sum.on_time,
        share_on_time: sum.share_on_time(),
        late_p50_s: late(0.5),
        late_p95_s: late(0.95),
        late_p99_s: late(0.99),
    }
}

fn overdue(count: OverdueCount) -> OverdueItem {
    let OverdueCount { collection, queued, never_harvested, overdue } = count;
    OverdueItem { kind: "collection".to_owned(), collection, queued, never_harvested, overdue }
}

fn plot(rows: &[ContractRow], since: Time, now: Time) -> String {
    let timeline = Timeline::new(rows.iter().map(|row| row.hour), since, now);
    let mut profiles: BTreeMap<&str, Vec<Lateness>> = BTreeMap::new();
    for row in rows {
        let slots = profiles.entry(&row.profile).or_insert_with(|| timeline.empty());
        slots[timeline.slot(row.hour)].merge(&row.lateness);
    }
    let mut busiest: Vec<(&str, Vec<Lateness>)> = profiles.into_iter().collect();
    busiest.sort_by_key(|(_, slots)| std::cmp::Reverse(slots.iter().map(|slot| slot.harvests).sum::<u64>()));
    let harvests: u64 = rows.iter().map(|row| row.lateness.harvests).sum();
    let on_time: u64 = rows.iter().map(|row| row.lateness.on_time).sum();
    let hidden = busiest.len().saturating_sub(LINES_MAX);
    let more = if hidden > 0 { format!("; {hidden} smaller profiles are not drawn") } else { String::new() };
    let subtitle = format!("{on_time} of {harvests} harvests since {since}, {}{more}", timeline.per_step());
    let series = busiest.into_iter().take(LINES_MAX).zip(PALETTE).map(|((name, slots), colour)| Series {
        name: name.to_owned(),
        colour,
        values: slots.iter().map(|slot| (slot.harvests > 0).then(|| slot.share_on_time() * 100.0)).collect(),
    });
    let mut plot = timeline.plot("Harvests on time", subtitle, Shape::Lines, series.collect());
    (plot.unit, plot.max) = (" %", Some(100.0));
    plot.to_svg()
}
