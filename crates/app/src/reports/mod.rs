//! Reports (F31–F33): sums over the statistics, as rows and as drawings.

pub mod budgets;
pub mod contract;
pub mod domains;
pub mod errors;
pub mod feasibility;
mod timeline;

pub use budgets::{BudgetItem, BudgetReport};
pub use contract::OverdueItem;
use declare::given::duration;
pub use domains::{DomainItem, DomainsBy, TimeStep};
pub use errors::ErrorItem;
pub use feasibility::FeasibilityItem;
pub use plan::contract::{ContractBy, ContractItem};
use policy::time::{Span, Time};
use serde::{Deserialize, Serialize};
pub use timeline::{Timeline, drawn};
use utoipa::{IntoParams, ToSchema};

use super::{Answer, App, Problem};
use crate::page::within;

/// The most rows of a report, and how many there are if nobody says. The rows of a report are
/// summed in one go, and so they come in one.
pub const ROWS_MAX: usize = 100_000;

const ROWS_USUAL: usize = 1000;

/// Rows, or a drawing of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    #[default]
    Json,
    Svg,
}

/// Over which time.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// How far back, like `1d`; `7d` if not given.
    pub since: Option<String>,
    /// How many rows at most; 1000 if not given.
    #[param(minimum = 1, maximum = 100_000)]
    pub limit: Option<usize>,
    /// As rows, or drawn.
    #[serde(default)]
    #[param(inline)]
    pub format: Format,
}

/// The rows of a report.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Report<T> {
    /// What the sums begin with.
    #[schema(format = DateTime)]
    pub since: String,
    pub items: Vec<T>,
    /// Rows beyond the limit.
    pub more: usize,
}

impl<T> Report<T> {
    fn new(since: Time, mut items: Vec<T>, limit: usize) -> Report<T> {
        let more = items.len().saturating_sub(limit);
        items.truncate(limit);
        Report { since: since.to_string(), items, more }
    }
}

/// How many rows are wanted.
fn limit(given: Option<usize>) -> Answer<usize> {
    within(given.unwrap_or(ROWS_USUAL), ROWS_MAX)
}

/// The moment a report begins at.
pub fn since(app: &App, given: Option<&str>) -> Answer<(Time, Time)> {
    let span = given.map_or(Ok(Span::days(7)), duration).map_err(Problem::bad_request)?;
    let now = app.frontier.now();
    Ok((Time(now.0.saturating_sub(i64::try_from(span.0).unwrap_or(i64::MAX))), now))
}
