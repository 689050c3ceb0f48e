//! Statistics (F31, F32): counted with the harvest, in the same transaction, and summed when read.
//!
//! `CONTRACT` is keyed by profile, hour, domain and stripe, `TRAFFIC` by hour, domain and stripe. The stripe is the transaction's own, so that harvests of
//! one domain that commit at the same time seldom write the same row. Histograms have a bucket per power of two: enough for
//! percentiles within a factor of two in a few bytes a row.

use policy::time::{Span, Time};
use store::Result;

use crate::complete::Summary;
use crate::desk::Desk;
use crate::ports::{Fetch, Order, Report};
use crate::schema::{CONTRACT, ErrorKind, Lateness, TRAFFIC, Traffic};

/// Rows per key: enough that harvests of one domain seldom meet, few enough that rows do not outnumber harvests.
const STRIPES: u32 = 8;

pub(crate) const BUCKET: Span = Span::hours(1);

/// The beginning of the time bucket.
pub(crate) fn bucket(time: Time) -> Time {
    let width = i64::try_from(BUCKET.0).unwrap_or(i64::MAX);
    Time(time.0.div_euclid(width) * width)
}

impl Desk<'_> {
    pub(crate) async fn count(&self, order: &Order, report: &Report, summary: &Summary) -> Result<()> {
        let hour = bucket(report.at).0;
        let domain = order.url.domain();
        let fetched = !matches!(report.result, Fetch::RobotsDenied { .. });
        if fetched {
            let late = report.at.since(order.due);
            let on_time = late <= self.catalog().settings().on_time;
            for profile in &order.plan.profiles {
                let key = (profile.as_str(), hour, domain, self.stripe % STRIPES);
                let mut row = CONTRACT.get(self.tx, key).await?.unwrap_or_default();
                row.add(late, on_time);
                CONTRACT.put(self.tx, key, &row)?;
            }
        }
        let key = (hour, domain, self.stripe % STRIPES);
        let mut row = TRAFFIC.get(self.tx, key).await?.unwrap_or_default();
        row.add(order, report, summary);
        TRAFFIC.put(self.tx, key, &row)
    }
}

impl Lateness {
    pub fn add(&mut self, late: Span, on_time: bool) {
        self.harvests += 1;
        self.on_time += u64::from(on_time);
        raise(&mut self.seconds_log2, late.0 / 1000);
    }

    pub fn merge(&mut self, other: &Lateness) {
        self.harvests += other.harvests;
        self.on_time += other.on_time;
        merge(&mut self.seconds_log2, &other.seconds_log2);
    }

    /// Share on time, 1 where nothing fell due.
    #[allow(clippy::cast_precision_loss, reason = "a share, shown with a few digits")]
    pub fn share_on_time(&self) -> f64 {
        if self.harvests == 0 { 1.0 } else { self.on_time as f64 / self.harvests as f64 }
    }

    /// At most this late was the given share of the harvests; exact to a power of two.
    pub fn percentile(&self, share: f64) -> Span {
        Span::seconds(percentile(&self.seconds_log2, share))
    }
}

impl Traffic {
    fn add(&mut self, order: &Order, report: &Report, summary: &Summary) {
        match &report.result {
            Fetch::Answer(facts) => {
                self.requests += 1;
                raise_key(&mut self.statuses, facts.status);
                raise(&mut self.response_ms_log2, report.response_time.0);
                if summary.captured {
                    match (facts.unchanged, &order.digest) {
                        (true, _) => self.unchanged += 1,
                        (false, None) => self.new += 1,
                        (false, Some(_)) => self.changed += 1,
                    }
                }
            }
            Fetch::NoAnswer(kind) => {
                self.requests += 1;
                raise_key(&mut self.errors, *kind);
            }
            Fetch::DnsFailed => raise_key(&mut self.errors, ErrorKind::Dns),
            Fetch::RobotsDenied { .. } => raise_key(&mut self.errors, ErrorKind::Robots),
            Fetch::RobotsRead | Fetch::Deferred { .. } => {}
        }
        self.bytes += report.bytes;
    }

    pub fn merge(&mut self, other: &Traffic) {
        self.requests += other.requests;
        self.bytes += other.bytes;
        self.new += other.new;
        self.changed += other.changed;
        self.unchanged += other.unchanged;
        for (status, count) in &other.statuses {
            raise_key_by(&mut self.statuses, *status, *count);
        }
        for (kind, count) in &other.errors {
            raise_key_by(&mut self.errors, *kind, *count);
        }
        merge(&mut self.response_ms_log2, &other.response_ms_log2);
    }

    pub fn response_percentile(&self, share: f64) -> Span {
        Span(percentile(&self.response_ms_log2, share))
    }
}

fn raise_key<K: Ord + Copy>(counts: &mut Vec<(K, u64)>, key: K) {
    raise_key_by(counts, key, 1);
}

fn raise_key_by<K: Ord + Copy>(counts: &mut Vec<(K, u64)>, key: K, by: u64) {
    match counts.binary_search_by_key(&key, |(key, _)| *key) {
        Ok(at) => counts[at].1 += by,
        Err(at) => counts.insert(at, (key, by)),
    }
}

fn raise(histogram: &mut Vec<u64>, value: u64) {
    let at = usize::try_from(u64::BITS - value.leading_zeros()).unwrap_or(0);
    if histogram.len() <= at {
        histogram.resize(at + 1, 0);
    }
    histogram[at] += 1;
}

fn merge(into: &mut Vec<u64>, from: &[u64]) {
    if into.len() < from.len() {
        into.resize(from.len(), 0);
    }
    for (sum, count) in into.iter_mut().zip(from) {
        *sum += count;
    }
}

/// The upper end of the bucket in which the share falls.
#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a rank among counts"
)]
fn percentile(histogram: &[u64], share: f64) -> u64 {
    let total: u64 = histogram.iter().sum();
    let rank = (total as f64 * share.clamp(0.0, 1.0)).ceil().max(1.0) as u64;
    let mut seen = 0;
    for (at, count) in histogram.iter().enumerate() {
        seen += count;
        if seen >= rank {
            return (1u64 << at.min(63)) - 1;
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f31_lateness_is_counted_in_powers_of_two() {
        let mut sum = Lateness::default();
        for (seconds, on_time) in [(0, true), (0, true), (3, true), (700, false)] {
            sum.add(Span::seconds(seconds), on_time);
        }
        assert_eq!((sum.harvests, sum.on_time), (4, 3));
        assert!((sum.share_on_time() - 0.75).abs() < 1e-9);
        assert_eq!(sum.percentile(0.5), Span::ZERO);
        assert_eq!(sum.percentile(0.75), Span::seconds(3));
        assert_eq!(sum.percentile(0.99), Span::seconds(1023));
        let mut twice = sum.clone();
        twice.merge(&sum);
        assert_eq!((twice.harvests, twice.percentile(0.75)), (8, Span::seconds(3)));
        assert_eq!(Lateness::default().percentile(0.5), Span::ZERO);
    }

    #[test]
    fn buckets_are_hours_also_before_the_epoch() {
        assert_eq!(bucket(Time(3_600_000 * 5 + 17)), Time(3_600_000 * 5));
        assert_eq!(bucket(Time(-1)), Time(-3_600_000));
    }
}
