//! F36: what is used of every budget, and what it keeps back.

use frontier::{BudgetRow, Ending, PlaceRow};
use policy::time::Time;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::limit;
use crate::{Answer, App};

/// Places of one budget.
const PLACES_MAX: usize = 20;
/// Runs that ended by a budget.
const ENDINGS_MAX: usize = 100;

/// One limit of one budget.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct BudgetItem {
    /// `collection`, `seed`, `profile`, `host` or `host group`.
    pub holder: String,
    pub name: String,
    /// `max_urls`, `max_harvests`, `max_bytes` or `max_duration` (in milliseconds).
    pub limit: String,
    /// The run that is told of: the latest; none for what is not counted by run.
    pub run: Option<u64>,
    pub used: u64,
    pub max: u64,
    /// Since when nothing is left; none while something is.
    #[schema(format = DateTime)]
    pub used_up: Option<String>,
    /// URLs that wait until it is raised or lifted.
    pub held: u64,
    /// Links that were not queued: once it is raised, the next link to each brings it.
    pub refused: u64,
    /// Both of them by host and path, the most first.
    pub places: Vec<BudgetPlace>,
    /// The same in words: `left` or `USED UP`.
    pub verdict: String,
}

/// What a budget keeps back below one path of a host.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct BudgetPlace {
    pub host: String,
    pub path: String,
    pub held: u64,
    pub refused: u64,
    pub examples: Vec<String>,
}

/// A run that came to the end of a budget.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct BudgetEnding {
    pub holder: String,
    pub name: String,
    pub limit: String,
    pub run: u64,
    #[schema(format = DateTime)]
    pub at: String,
    pub used: u64,
    pub max: u64,
}

/// All budgets that are declared.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct BudgetReport {
    pub items: Vec<BudgetItem>,
    /// Rows beyond the limit.
    pub more: usize,
    /// Runs that came to the end of one, the latest first.
    pub endings: Vec<BudgetEnding>,
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
}

/// Report what is used of every budget, and what it keeps back
#[crate::boxed]
pub async fn report_budgets(app: &App, asked: Asked) -> Answer<BudgetReport> {
    let limit = limit(asked.limit)?;
    app.heavy(async move |app| {
        let mut rows = app.frontier.budgets().await?;
        // What is used up first.
        rows.sort_by_key(|row| row.used_up.is_none());
        Ok(BudgetReport {
            items: rows.iter().take(limit).map(item).collect(),
            more: rows.len().saturating_sub(limit),
            endings: endings(&app).await?,
            summary: summary(&rows),
        })
    })
    .await
}

/// Runs that came to the end of a budget, the latest first.
pub(crate) async fn endings(app: &App) -> Answer<Vec<BudgetEnding>> {
    let found = app.frontier.budget_endings(Time(i64::MIN)).await?;
    Ok(found.into_iter().rev().take(ENDINGS_MAX).map(BudgetEnding::from).collect())
}

fn item(row: &BudgetRow) -> BudgetItem {
    BudgetItem {
        holder: row.holder.kind().to_owned(),
        name: row.holder.name().to_owned(),
        limit: row.limit.key().to_owned(),
        run: row.run,
        used: row.used,
        max: row.max,
        used_up: row.used_up.map(|at| at.to_string()),
        held: row.held,
        refused: row.refused,
        places: row.places.iter().take(PLACES_MAX).cloned().map(BudgetPlace::from).collect(),
        verdict: if row.used_up.is_some() { "USED UP" } else { "left" }.to_owned(),
    }
}

impl From<PlaceRow> for BudgetPlace {
    fn from(row: PlaceRow) -> BudgetPlace {
        let PlaceRow { host, path, held, refused, examples } = row;
        BudgetPlace { host, path, held, refused, examples }
    }
}

impl From<Ending> for BudgetEnding {
    fn from(ending: Ending) -> BudgetEnding {
        BudgetEnding {
            holder: ending.holder.kind().to_owned(),
            name: ending.holder.name().to_owned(),
            limit: ending.limit.key().to_owned(),
            run: ending.run,
            at: ending.at.to_string(),
            used: ending.used,
            max: ending.max,
        }
    }
}

fn summary(rows: &[BudgetRow]) -> String {
    let over = rows.iter().filter(|row| row.used_up.is_some()).count();
    let (held, refused) =
        (rows.iter().map(|row| row.held).sum::<u64>(), rows.iter().map(|row| row.refused).sum::<u64>());
    match over {
        0 => format!("something is left of all {}", rows.len()),
        _ => format!(
            "{over} of {} used up: {held} URLs wait, {refused} links were not queued; raise a budget, or leave \
             it out, and what waits goes on at once",
            rows.len()
        ),
    }
}
