//! What became of promises (F31), in the words of reports: the same for what happened and for what
//! is foretold.

use frontier::Contract;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What a row stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ContractBy {
    #[default]
    Profile,
    Domain,
    Hour,
}

impl ContractBy {
    pub const ALL: [ContractBy; 3] = [ContractBy::Profile, ContractBy::Domain, ContractBy::Hour];

    pub fn as_str(self) -> &'static str {
        match self {
            ContractBy::Profile => "profile",
            ContractBy::Domain => "domain",
            ContractBy::Hour => "hour",
        }
    }
}

/// What became of promises: of the due times that frequencies set. Percentiles are upper bounds,
/// exact to a power of two.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ContractItem {
    /// What the row stands for: `profile`, `domain` or `hour`, which is then the field with its
    /// name.
    pub kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub hour: Option<String>,
    /// Promises that fell due.
    pub promised: u64,
    /// Kept by an answer, whatever its status, and on time.
    pub on_time: u64,
    /// Kept, but late.
    pub late: u64,
    /// Not kept when the next one fell due.
    pub missed: u64,
    /// Open now, and too late to be kept on time.
    pub overdue: u64,
    /// Of those of which it is known; none where there is none.
    pub share_on_time: Option<f64>,
    /// How late those were that were kept.
    pub late_p50_s: u64,
    pub late_p95_s: u64,
    pub late_p99_s: u64,
    /// First harvests of newly found URLs, which nobody promised, and how long they waited.
    pub first: u64,
    pub wait_p50_s: u64,
    pub wait_p95_s: u64,
}

/// A row; the same for what happened and for what is foretold.
pub fn item(by: ContractBy, name: &str, sum: &Contract) -> ContractItem {
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
