//! Drawings that only the dashboard has: lateness over time, and harvests by domain and hour.

use std::collections::BTreeMap;

use app::reports::{Timeline, drawn, since as report_since};
use app::{Answer, App};
use frontier::{ContractRow, DomainRow, Promises};
use plan::plot::{BAD, GOOD, GREY, PALETTE, Series, Shape, WARNING};
use policy::time::Time;

/// Domains drawn with a colour of their own; the others are one.
const DOMAINS_MAX: usize = 7;

/// The two, in this order.
pub(super) async fn drawings(app: &App, since: &str) -> Answer<(String, String)> {
    let (since, now) = report_since(app, Some(since))?;
    app.heavy(async move |app| {
        let contract = app.frontier.contract_by_hour(since).await?;
        let traffic = app.frontier.traffic(since).await?;
        Ok((lateness(&contract, since, now), domains(&traffic, since, now)))
    })
    .await
}

fn lateness(rows: &[ContractRow], since: Time, now: Time) -> String {
    let timeline = Timeline::new(rows.iter().map(|row| row.hour), since, now);
    let mut slots: Vec<Promises> = timeline.empty();
    for row in rows {
        slots[timeline.slot(row.hour)].merge(&row.contract.promises);
    }
    #[allow(clippy::cast_precision_loss, reason = "drawn, not counted with")]
    let seconds = |slot: &Promises, share: f64| {
        (slot.on_time + slot.late > 0).then(|| slot.late_percentile(share).0 as f64 / 1000.0)
    };
    let series = |name: &str, colour, share| Series {
        name: name.to_owned(),
        colour,
        values: slots.iter().map(|slot| seconds(slot, share)).collect(),
    };
    let series = vec![
        series("half within", GOOD, 0.5),
        series("95 % within", WARNING, 0.95),
        series("99 % within", BAD, 0.99),
    ];
    let subtitle = format!(
        "seconds after they fell due, {}; upper bounds, exact to a power of two",
        timeline.per_step()
    );
    let mut plot = timeline.plot("How late harvests were", subtitle, Shape::Lines, series);
    plot.unit = " s";
    plot.to_svg()
}

fn domains(rows: &[DomainRow], since: Time, now: Time) -> String {
    let timeline = Timeline::new(rows.iter().map(|row| row.hour), since, now);
    let mut by_domain: BTreeMap<&str, u64> = BTreeMap::new();
    for row in rows {
        *by_domain.entry(&row.domain).or_default() += row.traffic.requests;
    }
    let mut busiest: Vec<(&str, u64)> = by_domain.into_iter().collect();
    busiest.sort_by_key(|(domain, requests)| (std::cmp::Reverse(*requests), *domain));
    let places: BTreeMap<&str, usize> =
        busiest.iter().take(DOMAINS_MAX).enumerate().map(|(place, (name, _))| (*name, place)).collect();
    let mut slots: Vec<Vec<u64>> = vec![timeline.empty(); DOMAINS_MAX + 1];
    for row in rows {
        let place = places.get(row.domain.as_str()).copied().unwrap_or(DOMAINS_MAX);
        slots[place][timeline.slot(row.hour)] += row.traffic.requests;
    }
    let others = busiest.len().saturating_sub(DOMAINS_MAX);
    let names = busiest.iter().take(DOMAINS_MAX).map(|(name, _)| (*name).to_owned());
    let names = names.chain((others > 0).then(|| format!("{others} others")));
    let colours = PALETTE.into_iter().take(DOMAINS_MAX).chain([GREY]);
    let series = names.zip(colours).zip(&slots);
    let series = series.map(|((name, colour), slots)| Series { name, colour, values: drawn(slots) });
    let subtitle = format!("{} domains, {}", busiest.len(), timeline.per_step());
    timeline.plot("Harvests by domain", subtitle, Shape::Stacked, series.collect()).to_svg()
}
