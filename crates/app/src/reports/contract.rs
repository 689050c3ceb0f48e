//! F31: what was promised, what was kept of it, and what is overdue now.

use std::collections::BTreeMap;

use frontier::{Contract, ContractRow, UrlCounts};
use plan::contract::{ContractBy, ContractItem, item};
use plan::plot::{PALETTE, Series, Shape};
use policy::time::Time;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::timeline::Timeline;
use super::{Format, limit, since};
use crate::{Answer, App};

/// Profiles drawn with a line of their own.
const LINES_MAX: usize = 8;

/// A collection now.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct OverdueItem {
    /// Always `collection`.
    pub kind: String,
    pub collection: String,
    pub queued: u64,
    pub never_harvested: u64,
    /// Promises that can only be kept late.
    pub overdue: u64,
    pub done: u64,
    pub blacklisted: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ContractReport {
    #[schema(format = DateTime)]
    pub since: String,
    pub items: Vec<ContractItem>,
    /// Rows beyond the limit.
    pub more: usize,
    /// What waits now, by collection.
    pub queue: Vec<OverdueItem>,
}

#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// How far back, like `1d`; `7d` if not given.
    pub since: Option<String>,
    /// What a row stands for.
    #[serde(default)]
    #[param(inline)]
    pub by: ContractBy,
    /// How many rows at most; 1000 if not given.
    #[param(minimum = 1, maximum = 100_000)]
    pub limit: Option<usize>,
    /// As rows, or drawn: the share on time over time.
    #[serde(default)]
    #[param(inline)]
    pub format: Format,
}

/// A drawing of the report, as SVG.
#[crate::boxed]
pub async fn drawing(app: &App, asked: &Asked) -> Answer<String> {
    limit(asked.limit)?;
    let (since, now) = since(app, asked.since.as_deref())?;
    app.heavy(async move |app| Ok(plot(&app.frontier.contract_by_hour(since).await?, since, now))).await
}

/// The rows of the report.
#[crate::boxed]
pub async fn rows(app: &App, asked: &Asked) -> Answer<ContractReport> {
    let (limit, by) = (limit(asked.limit)?, asked.by);
    let (since, _) = since(app, asked.since.as_deref())?;
    app.heavy(async move |app| {
        let by_hour = app.frontier.contract_by_hour(since).await?;
        let mut sums: BTreeMap<String, Contract> = BTreeMap::new();
        let profiles: BTreeMap<String, String> = app
            .look(|catalog| catalog.profiles().map(|p| (p.name.clone(), p.collection.clone())).collect())
            .await?;
        if by == ContractBy::Profile {
            // Also those whose harvests have yet to come.
            sums.extend(profiles.keys().map(|name| (name.clone(), Contract::default())));
        }
        let by_domain = match by {
            ContractBy::Domain => app.frontier.contract(since).await?,
            ContractBy::Profile | ContractBy::Hour => Vec::new(),
        };
        for row in if by == ContractBy::Domain { &by_domain } else { &by_hour } {
            sums.entry(key(by, row)).or_default().merge(&row.contract);
        }
        let items = sums.iter().take(limit).map(|(name, sum)| item(by, name, sum)).collect();
        let mut overdue: BTreeMap<&str, u64> = BTreeMap::new();
        for row in &by_hour {
            if let Some(collection) = profiles.get(&row.profile) {
                *overdue.entry(collection).or_default() += row.contract.overdue;
            }
        }
        let counts = app.frontier.url_counts().await?;
        let overdue = |name: &str| overdue.get(name).copied().unwrap_or(0);
        let queue = counts.iter().map(|(name, counts)| collection(name, counts, overdue(name)));
        let more = sums.len().saturating_sub(limit);
        Ok(ContractReport { since: since.to_string(), items, more, queue: queue.collect() })
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
