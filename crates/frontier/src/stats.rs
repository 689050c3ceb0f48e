//! Statistics (F31, F32): the arithmetic of their rows. They are counted with the harvest, in the
//! same transaction ([`crate::counts`]), and summed when read.
//!
//! Histograms have a bucket per power of two: enough for percentiles within a factor of two in a
//! few bytes a row.

use policy::contract::begin_of;
use policy::time::{Span, Time};
use policy::trap::text::Moved;

use crate::complete::Summary;
use crate::ports::{Fetch, Order, Report};
use crate::schema::{ErrorKind, Promises, RunTraffic, RunUrls, Totals, Traffic, UrlCounts};

pub(crate) const BUCKET: Span = Span::hours(1);

/// The beginning of the time bucket.
pub(crate) fn bucket(time: Time) -> Time {
    begin_of(time, BUCKET)
}

impl Promises {
    /// A promise was kept, so late; `on_time` is how late still counts as on time.
    pub(crate) fn keep(&mut self, late: Span, on_time: Span) {
        let counter = if late <= on_time { &mut self.on_time } else { &mut self.late };
        *counter += 1;
        raise(&mut self.late_s_log2, late.0 / 1000);
    }

    /// A newly found URL was harvested for the first time.
    pub(crate) fn first_after(&mut self, waited: Span) {
        self.first += 1;
        raise(&mut self.wait_s_log2, waited.0 / 1000);
    }

    pub fn merge(&mut self, other: &Promises) {
        self.on_time += other.on_time;
        self.late += other.late;
        self.missed += other.missed;
        self.first += other.first;
        merge(&mut self.late_s_log2, &other.late_s_log2);
        merge(&mut self.wait_s_log2, &other.wait_s_log2);
    }

    /// At most this late was the given share of the promises that were kept; exact to a power of
    /// two.
    pub fn late_percentile(&self, share: f64) -> Span {
        Span::seconds(percentile(&self.late_s_log2, share))
    }

    /// At most this long waited the given share of the new URLs; exact to a power of two.
    pub fn wait_percentile(&self, share: f64) -> Span {
        Span::seconds(percentile(&self.wait_s_log2, share))
    }
}

impl RunUrls {
    pub fn merge(&mut self, other: &RunUrls) {
        self.queued += other.queued;
        self.waiting += other.waiting;
        self.done += other.done;
        self.blacklisted += other.blacklisted;
    }

    pub fn all(&self) -> i64 {
        self.queued + self.done + self.blacklisted
    }
}

impl RunTraffic {
    pub fn merge(&mut self, other: &RunTraffic) {
        self.traffic.merge(&other.traffic);
        self.first = [self.first, other.first].into_iter().flatten().min();
        self.last = self.last.max(other.last);
    }
}

impl UrlCounts {
    pub fn merge(&mut self, other: &UrlCounts) {
        self.queued += other.queued;
        self.unharvested += other.unharvested;
        self.done += other.done;
        self.blacklisted += other.blacklisted;
        self.captures += other.captures;
    }
}

impl Totals {
    pub fn merge(&mut self, other: &Totals) {
        self.traffic.merge(&other.traffic);
        self.promises.merge(&other.promises);
    }
}

impl Traffic {
    pub(crate) fn add(&mut self, order: &Order, report: &Report, summary: &Summary) {
        match &report.result {
            Fetch::Answer(facts) => {
                self.requests += 1;
                raise_key(&mut self.statuses, facts.status);
                raise(&mut self.response_ms_log2, report.response_time.0);
                // Of an error, or of a page that is gone, nothing is new.
                if summary.captured && is_content(facts.status) {
                    match (facts.unchanged, &order.digest) {
                        (true, _) => self.unchanged += 1,
                        (false, None) => self.new += 1,
                        (false, Some(_)) => {
                            self.changed += 1;
                            self.changed_little += u64::from(summary.moved.is_some_and(Moved::is_little));
                        }
                    }
                }
            }
            Fetch::NoAnswer(kind) => {
                self.requests += 1;
                raise_key(&mut self.errors, *kind);
            }
            Fetch::DnsFailed => raise_key(&mut self.errors, ErrorKind::Dns),
            Fetch::RobotsDenied { .. } => raise_key(&mut self.errors, ErrorKind::Robots),
            Fetch::HostAsked | Fetch::Deferred { .. } => {}
        }
        self.bytes += report.bytes;
        self.saved_bytes += report.saved_bytes;
    }

    pub fn merge(&mut self, other: &Traffic) {
        self.requests += other.requests;
        self.bytes += other.bytes;
        self.new += other.new;
        self.changed += other.changed;
        self.changed_little += other.changed_little;
        self.unchanged += other.unchanged;
        self.saved_bytes += other.saved_bytes;
        for (status, count) in &other.statuses {
            raise_key_by(&mut self.statuses, *status, *count);
        }
        for (kind, count) in &other.errors {
            raise_key_by(&mut self.errors, *kind, *count);
        }
        merge(&mut self.response_ms_log2, &other.response_ms_log2);
    }

    /// Answers by what their status says.
    pub fn answers(&self, which: impl Fn(u16) -> bool) -> u64 {
        self.statuses.iter().filter(|(status, _)| which(*status)).map(|(_, count)| count).sum()
    }

    /// Harvests without an answer, whatever kept it from coming.
    pub fn no_answers(&self) -> u64 {
        self.errors.iter().map(|(_, count)| count).sum()
    }

    pub fn response_percentile(&self, share: f64) -> Span {
        Span(percentile(&self.response_ms_log2, share))
    }
}

/// An answer that brought the page, or said that it is as it was (F32).
pub fn is_content(status: u16) -> bool {
    matches!(status, 200..=299 | 304)
}

/// F19.
pub fn is_not_found(status: u16) -> bool {
    matches!(status, 404 | 410)
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
        let mut sum = Promises::default();
        for seconds in [0, 0, 3, 700] {
            sum.keep(Span::seconds(seconds), Span::minutes(10));
        }
        assert_eq!((sum.on_time, sum.late), (3, 1));
        assert_eq!(sum.late_percentile(0.5), Span::ZERO);
        assert_eq!(sum.late_percentile(0.75), Span::seconds(3));
        assert_eq!(sum.late_percentile(0.99), Span::seconds(1023));
        let mut twice = sum.clone();
        twice.merge(&sum);
        assert_eq!((twice.on_time, twice.late, twice.late_percentile(0.75)), (6, 2, Span::seconds(3)));
        assert_eq!(Promises::default().late_percentile(0.5), Span::ZERO);
    }

    #[test]
    fn buckets_are_hours_also_before_the_epoch() {
        assert_eq!(bucket(Time(3_600_000 * 5 + 17)), Time(3_600_000 * 5));
        assert_eq!(bucket(Time(-1)), Time(-3_600_000));
    }
}
