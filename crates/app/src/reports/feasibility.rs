//! F33: what is asked of each host, and what its politeness allows.

use declare::text::rate_text;
use frontier::FeasibilityRow;
use plan::plot::{BAD, Bar, BarPlot, GOOD, WARNING};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{Format, limit};
use crate::{Answer, App};

/// From here on the host has little room left.
const LOAD_TIGHT: f64 = 0.8;

const BARS_MAX: usize = 25;

/// What is asked of a host or group, and what its politeness allows.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct FeasibilityItem {
    /// The host, or its group.
    pub unit: String,
    pub urls: u64,
    pub wanted_per_day: f64,
    pub possible_per_day: f64,
    /// Wanted of possible; none where nothing is possible.
    pub load: Option<f64>,
    /// The delay this was computed with.
    pub delay_ms: u64,
    /// Whether all that is wanted can be had.
    pub kept: bool,
    /// The same in words: `fits`, `tight` or `CANNOT BE KEPT`.
    pub verdict: String,
}

/// The load of all hosts, the most loaded first.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct FeasibilityReport {
    pub items: Vec<FeasibilityItem>,
    /// Rows beyond the limit.
    pub more: usize,
    /// All of them in a sentence.
    pub summary: String,
}

#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// How many rows at most; 1000 if not given.
    #[param(minimum = 1, maximum = 100_000)]
    pub limit: Option<usize>,
    /// As rows, or drawn: the load of the most loaded hosts.
    #[serde(default)]
    #[param(inline)]
    pub format: Format,
}

/// A drawing of the report, as SVG.
#[crate::boxed]
pub async fn drawing(app: &App, asked: &Asked) -> Answer<String> {
    limit(asked.limit)?;
    app.heavy(async move |app| Ok(plot(&app.frontier.feasibility().await?))).await
}

/// The rows of the report.
#[crate::boxed]
pub async fn rows(app: &App, asked: &Asked) -> Answer<FeasibilityReport> {
    let limit = limit(asked.limit)?;
    app.heavy(async move |app| {
        let found = app.frontier.feasibility().await?;
        Ok(FeasibilityReport {
            items: found.iter().take(limit).map(item).collect(),
            more: found.len().saturating_sub(limit),
            summary: summary(&found),
        })
    })
    .await
}

fn is_kept(row: &FeasibilityRow) -> bool {
    row.load() <= 1.0
}

/// What is to be said of it, and its colour.
fn verdict(row: &FeasibilityRow) -> (&'static str, &'static str) {
    match row.load() {
        load if load > 1.0 => ("CANNOT BE KEPT", BAD),
        load if load >= LOAD_TIGHT => ("tight", WARNING),
        _ => ("fits", GOOD),
    }
}

fn item(row: &FeasibilityRow) -> FeasibilityItem {
    FeasibilityItem {
        unit: row.unit.clone(),
        urls: row.urls,
        wanted_per_day: row.wanted_per_day,
        possible_per_day: row.possible_per_day,
        load: Some(row.load()).filter(|load| load.is_finite()),
        delay_ms: row.delay.0,
        kept: is_kept(row),
        verdict: verdict(row).0.to_owned(),
    }
}

fn summary(rows: &[FeasibilityRow]) -> String {
    match rows.iter().all(is_kept) {
        true => format!("all {} can be kept", rows.len()),
        false => format!(
            "{}: harvest more seldom, narrow the scope, or agree on a shorter delay",
            summary_short(rows)
        ),
    }
}

fn plot(rows: &[FeasibilityRow]) -> String {
    let bar = |row: &FeasibilityRow| Bar {
        name: row.unit.clone(),
        value: row.load() * 100.0,
        colour: verdict(row).1,
        note: format!("{} of {} a day", rate_text(row.wanted_per_day), rate_text(row.possible_per_day)),
    };
    let most = if rows.len() > BARS_MAX { format!("; the {BARS_MAX} most loaded") } else { String::new() };
    BarPlot {
        title: "Load of hosts".to_owned(),
        subtitle: format!(
            "harvests wanted against those that politeness allows; {}{most}",
            summary_short(rows)
        ),
        unit: " %",
        limit: (100.0, "what politeness allows"),
        legend: vec![("fits", GOOD), ("tight", WARNING), ("cannot be kept", BAD)],
        bars: rows.iter().take(BARS_MAX).map(bar).collect(),
    }
    .to_svg()
}

fn summary_short(rows: &[FeasibilityRow]) -> String {
    let over = rows.iter().filter(|row| !is_kept(row)).count();
    format!("{over} of {} cannot be kept", rows.len())
}
