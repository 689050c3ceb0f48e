//! What a host had to bear.

use policy::model::Politeness;
use policy::schedule::politeness_delay;
use policy::time::Span;
use sim::Harvest;

const HOUR_MS: i64 = 3_600_000;

#[derive(Clone, Debug, Default)]
pub struct HostLoad {
    politeness: Politeness,
    pub group: Option<String>,
    pub requests: u64,
    pub failures: u64,
    /// Asked, or left in peace after it.
    busy: Span,
    hour: i64,
    in_hour: u64,
    pub peak_per_hour: u64,
}

impl HostLoad {
    pub fn new(politeness: Politeness, group: Option<String>) -> HostLoad {
        HostLoad { politeness, group, ..HostLoad::default() }
    }

    /// Harvests come in the order in which they ended.
    pub fn harvested(&mut self, harvest: &Harvest) {
        self.requests += 1;
        self.failures += u64::from(harvest.status.is_none_or(|status| status == 429 || status >= 500));
        let response = harvest.ended.since(harvest.began);
        let rest = politeness_delay(response, &self.politeness, None, None);
        self.busy = self.busy.plus(response).plus(rest);
        let hour = harvest.ended.0.div_euclid(HOUR_MS);
        self.in_hour = if hour == self.hour { self.in_hour + 1 } else { 1 };
        self.hour = hour;
        self.peak_per_hour = self.peak_per_hour.max(self.in_hour);
    }

    /// The share of the time in which it could not have been asked once more.
    #[allow(clippy::cast_precision_loss, reason = "a share, shown with a few digits")]
    pub fn busy_share(&self, elapsed: Span) -> f64 {
        let slots = f64::from(self.politeness.parallel.max(1));
        (self.busy.0 as f64 / (elapsed.0.max(1) as f64 * slots)).min(1.0)
    }

    #[allow(clippy::cast_precision_loss, reason = "a mean, shown with a few digits")]
    pub fn mean_per_hour(&self, elapsed: Span) -> f64 {
        self.requests as f64 * Span::hours(1).0 as f64 / elapsed.0.max(1) as f64
    }

    /// Harvests an hour that its politeness has room for, with answers as they were on average.
    #[allow(clippy::cast_precision_loss, reason = "an estimate")]
    pub fn limit_per_hour(&self) -> f64 {
        let mean = self.busy.0 as f64 / self.requests.max(1) as f64;
        Span::hours(1).0 as f64 * f64::from(self.politeness.parallel.max(1)) / mean.max(1.0)
    }
}
