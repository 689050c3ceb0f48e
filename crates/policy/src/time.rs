//! Points and lengths of time as plain numbers: this crate never asks what time it is.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::civil::Civil;

/// Milliseconds since the Unix epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Time(pub i64);

/// A length of time in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Span(pub u64);

impl Time {
    pub fn plus(self, span: Span) -> Time {
        Time(self.0.saturating_add(i64::try_from(span.0).unwrap_or(i64::MAX)))
    }

    pub fn minus(self, span: Span) -> Time {
        Time(self.0.saturating_sub(i64::try_from(span.0).unwrap_or(i64::MAX)))
    }

    /// How long `self` is after `earlier`; zero when it is not after it.
    pub fn since(self, earlier: Time) -> Span {
        Span(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

impl Span {
    pub const ZERO: Span = Span(0);
    pub const MAX: Span = Span(u64::MAX);

    pub const fn seconds(n: u64) -> Span {
        Span(n * 1000)
    }

    pub const fn minutes(n: u64) -> Span {
        Span::seconds(n * 60)
    }

    pub const fn hours(n: u64) -> Span {
        Span::minutes(n * 60)
    }

    pub const fn days(n: u64) -> Span {
        Span::hours(n * 24)
    }

    pub fn plus(self, other: Span) -> Span {
        Span(self.0.saturating_add(other.0))
    }
}

/// `2024-02-29T12:00:00Z`, to the second.
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Civil { year, month, day, hour, minute, second, .. } = Civil::from(*self);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
    }
}

/// `2d 3h`: the two largest units, exact to the smaller.
impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [(86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1000, "s"), (1, "ms")];
        let first = units.iter().position(|(ms, _)| self.0 >= *ms).unwrap_or(units.len() - 1);
        let (ms, name) = units[first];
        write!(f, "{}{name}", self.0 / ms)?;
        match units.get(first + 1) {
            Some((smaller, name)) if self.0 % ms >= *smaller => write!(f, " {}{name}", self.0 % ms / smaller),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_spans_are_readable() {
        let times = [
            (0, "1970-01-01T00:00:00Z"),
            (-1, "1969-12-31T23:59:59Z"),
            (951_782_400_000, "2000-02-29T00:00:00Z"),
            (1_709_210_096_789, "2024-02-29T12:34:56Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00Z"),
        ];
        for (ms, expected) in times {
            assert_eq!(Time(ms).to_string(), expected);
        }
        assert_eq!(Time(i64::MAX).to_string().len(), "+292278994-08-17T07:12:55Z".len() - 1);
        assert!(Time(i64::MIN).to_string().starts_with('-'));
        let spans =
            [(0, "0ms"), (999, "999ms"), (61_000, "1min 1s"), (86_400_000, "1d"), (93_600_000, "1d 2h")];
        for (ms, expected) in spans {
            assert_eq!(Span(ms).to_string(), expected);
        }
    }

    #[test]
    fn time_saturates() {
        assert_eq!(Time(i64::MAX).plus(Span(1)), Time(i64::MAX));
        assert_eq!(Time(0).plus(Span::MAX), Time(i64::MAX));
        assert_eq!(Time(i64::MAX).since(Time(i64::MIN)), Span(i64::MAX.unsigned_abs()));
        assert_eq!(Time(1).since(Time(2)), Span::ZERO);
    }
}
