//! When a URL comes again (F21) and how long a host is left in peace (F8).
//!
//! The regular schedule is a comb of slots: each harvest takes the slot it was due at and the next
//! is one `every` later, however late the harvest was, so a daily seed stays at its hour. Only
//! where the next slot has already gone by does the comb start anew from the harvest. Errors step
//! off the comb: retries come by backoff while the slot is remembered, and the first answer steps
//! back onto it.

use std::time::Duration;

use crate::model::{LastFetch, Politeness};
use crate::time::{Span, Time};

/// How far jitter moves a backoff to either side, in percent.
const JITTER_PERCENT: u64 = 25;

/// F8: a Retry-After beyond this is taken for a mistake.
pub const RETRY_AFTER_MAX: Span = Span::days(1);

/// F21: the slot after the last one; where that has gone by before the harvest was over, `every`
/// after it.
pub fn next_due(last: LastFetch, every: Span) -> Time {
    let slot = last.due.plus(every);
    if slot > last.at { slot } else { last.at.plus(every) }
}

/// The shortest of the frequencies, if there is any.
pub fn shortest_every(all: impl IntoIterator<Item = Span>) -> Option<Span> {
    all.into_iter().min()
}

/// F21: `base` × 2^(errors − 1), moved by up to a quarter by the salt, at most `cap` and never
/// nothing.
pub fn backoff(errors: u32, base: Span, cap: Span, salt: u64) -> Span {
    let doublings = errors.saturating_sub(1);
    let factor = 1u64.checked_shl(doublings).unwrap_or(u64::MAX);
    let plain = base.0.saturating_mul(factor).min(cap.0);
    let percent = 100 - JITTER_PERCENT + mix(salt ^ u64::from(errors)) % (2 * JITTER_PERCENT + 1);
    let moved = u128::from(plain) * u128::from(percent) / 100;
    Span(u64::try_from(moved).unwrap_or(u64::MAX).min(cap.0).max(1))
}

/// F21: after an error backoff first, but never later than the normal time + cap.
pub fn after_error(at: Time, backoff: Span, normal: Time, cap: Span) -> Time {
    at.plus(backoff).min(normal.plus(cap))
}

/// F8: clamp(response time × factor, min, max), at least the crawl-delay (given where obeyed) and
/// Retry-After.
pub fn politeness_delay(
    response_time: Span,
    politeness: &Politeness,
    crawl_delay: Option<Span>,
    retry_after: Option<Span>,
) -> Span {
    scaled(response_time, politeness.factor)
        .min(politeness.max)
        .max(politeness.min)
        .max(crawl_delay.unwrap_or_default())
        .max(retry_after.unwrap_or_default())
}

/// A factor from outside may be anything: what is no length of time is none, what is too long is
/// the longest.
fn scaled(span: Span, factor: f64) -> Span {
    let seconds = Duration::from_millis(span.0).as_secs_f64() * factor;
    if seconds.is_nan() || seconds <= 0.0 {
        return Span::ZERO;
    }
    let length = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
    Span(u64::try_from(length.as_millis()).unwrap_or(u64::MAX))
}

/// SplitMix64: neighbouring salts give unrelated numbers.
fn mix(salt: u64) -> u64 {
    let mut z = salt.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
