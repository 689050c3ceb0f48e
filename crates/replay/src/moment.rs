//! Times as addresses and headers spell them.
//!
//! An address has fourteen digits (`20240229123456`), fewer for a longer while (`2024`), or seventeen
//! where two captures share a second. Headers have dates of HTTP.

use net::warc::date::{digits14, digits17};
use policy::civil::{self, Civil};
use policy::time::Time;

const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const DAY_MS: i64 = 86_400_000;

/// The while that a timestamp in an address names: from its first moment to the first beyond it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct While {
    pub from: Time,
    pub to: Time,
}

impl While {
    /// Reads four to seventeen digits. None if they are no time.
    pub fn read(digits: &str) -> Option<While> {
        if !(4..=17).contains(&digits.len()) || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        // A digit alone is not yet a month, a day, an hour.
        let whole = match digits.len() {
            odd @ (5 | 7 | 9 | 11 | 13) => odd - 1,
            15 | 16 => 14,
            even => even,
        };
        let number = |from: usize, to: usize| {
            digits.get(from..to.min(whole)).and_then(|text| text.parse::<i64>().ok())
        };
        let (year, month, day) = (number(0, 4)?, number(4, 6), number(6, 8));
        let of_day = [number(8, 10), number(10, 12), number(12, 14)];
        let date = [year, month.unwrap_or(1), day.unwrap_or(1)];
        let from = civil::time(date, of_day.map(Option::unwrap_or_default), number(14, 17).unwrap_or(0))?;
        let to = match whole {
            4 => civil::time([year + 1, 1, 1], [0; 3], 0),
            6 if date[1] == 12 => civil::time([year + 1, 1, 1], [0; 3], 0),
            6 => civil::time([year, date[1] + 1, 1], [0; 3], 0),
            8 => Some(Time(from.0 + DAY_MS)),
            10 => Some(Time(from.0 + 3_600_000)),
            12 => Some(Time(from.0 + 60_000)),
            14 => Some(Time(from.0 + 1000)),
            _ => Some(Time(from.0 + 1)),
        };
        Some(While { from, to: to.unwrap_or(Time(i64::MAX)) })
    }

    pub fn has(&self, time: Time) -> bool {
        (self.from..self.to).contains(&time)
    }
}

/// A time in an address; `others` are captures that it is told from.
pub fn stamp(time: Time, others: impl IntoIterator<Item = Time>) -> String {
    let second = |time: Time| time.0.div_euclid(1000);
    let is_shared = others.into_iter().any(|other| other != time && second(other) == second(time));
    if is_shared { digits17(time) } else { digits14(time) }
}

/// `Thu, 29 Feb 2024 12:34:56 GMT`.
pub fn http_date(time: Time) -> String {
    let Civil { year, month, day, hour, minute, second, .. } = Civil::from(time);
    // The first of January 1970 was a Thursday.
    let weekday = usize::try_from((time.0.div_euclid(DAY_MS) + 3).rem_euclid(7)).unwrap_or(0);
    let month = usize::try_from(month - 1).unwrap_or(0);
    format!("{}, {day:02} {} {year:04} {hour:02}:{minute:02}:{second:02} GMT", DAYS[weekday], MONTHS[month])
}

/// The inverse of [`http_date`], and nothing else: RFC 7089 allows clients no other spelling.
pub fn from_http_date(text: &str) -> Option<Time> {
    let (weekday, rest) = text.trim().split_once(", ")?;
    let parts: Vec<&str> = rest.split([' ', ':']).collect();
    let [day, month, year, hour, minute, second, "GMT"] = parts[..] else { return None };
    let number = |text: &str, digits: usize| {
        (text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit()))
            .then(|| text.parse::<i64>().ok())?
    };
    let month = i64::try_from(MONTHS.iter().position(|name| *name == month)?).ok()? + 1;
    let date = [number(year, 4)?, month, number(day, 2)?];
    let time = civil::time(date, [number(hour, 2)?, number(minute, 2)?, number(second, 2)?], 0)?;
    (DAYS.contains(&weekday) && http_date(time).starts_with(weekday)).then_some(time)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test")]
    use net::warc::date::parse;

    use super::*;

    #[test]
    fn r2_a_timestamp_names_a_while() {
        for (digits, from, to) in [
            ("2024", "2024-01-01T00:00:00Z", "2025-01-01T00:00:00Z"),
            ("20241", "2024-01-01T00:00:00Z", "2025-01-01T00:00:00Z"),
            ("202412", "2024-12-01T00:00:00Z", "2025-01-01T00:00:00Z"),
            ("202402", "2024-02-01T00:00:00Z", "2024-03-01T00:00:00Z"),
            ("20240229", "2024-02-29T00:00:00Z", "2024-03-01T00:00:00Z"),
            ("2024022912", "2024-02-29T12:00:00Z", "2024-02-29T13:00:00Z"),
            ("202402291234", "2024-02-29T12:34:00Z", "2024-02-29T12:35:00Z"),
            ("20240229123456", "2024-02-29T12:34:56Z", "2024-02-29T12:34:57Z"),
            ("2024022912345678", "2024-02-29T12:34:56Z", "2024-02-29T12:34:57Z"),
            ("20240229123456789", "2024-02-29T12:34:56.789Z", "2024-02-29T12:34:56.790Z"),
        ] {
            let time = |text| parse(text).unwrap();
            assert_eq!(While::read(digits), Some(While { from: time(from), to: time(to) }), "{digits}");
        }
        for digits in [
            "",
            "202",
            "0000",
            "20241301",
            "20240230",
            "2024022925",
            "2024a",
            "202402291234567890",
            "+2024",
            "-2024",
        ] {
            assert_eq!(While::read(digits), None, "{digits}");
        }
    }

    #[test]
    fn r2_captures_of_one_second_are_told_apart() {
        let time = parse("2024-02-29T12:34:56.789Z").unwrap();
        let other = |ms: i64| Time(time.0 + ms);
        assert_eq!(stamp(time, []), "20240229123456");
        assert_eq!(stamp(time, [time, other(-800), other(300)]), "20240229123456");
        assert_eq!(stamp(time, [other(-1)]), "20240229123456789");
        assert!(While::read(&stamp(time, [other(-1)])).unwrap().has(time));
    }

    #[test]
    fn r3_dates_are_those_of_http() {
        for (text, iso) in [
            ("Thu, 31 May 2007 20:35:00 GMT", Some("2007-05-31T20:35:00Z")),
            ("Tue, 11 Sep 2001 20:30:51 GMT", Some("2001-09-11T20:30:51Z")),
            ("Thu, 01 Jan 1970 00:00:00 GMT", Some("1970-01-01T00:00:00Z")),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some("1994-11-06T08:49:37Z")),
            ("Mon, 06 Nov 1994 08:49:37 GMT", None),
            ("Sun, 6 Nov 1994 08:49:37 GMT", None),
            ("Sun, 06 Nov 1994 08:49:37 CET", None),
            ("Sunday, 06-Nov-94 08:49:37 GMT", None),
            ("Sun Nov  6 08:49:37 1994", None),
            ("Sun, 31 Feb 1994 08:49:37 GMT", None),
            ("now", None),
            ("", None),
        ] {
            assert_eq!(from_http_date(text), iso.and_then(parse), "{text}");
            assert_eq!(iso.and_then(parse).map(http_date).as_deref(), iso.map(|_| text));
        }
    }

    proptest::proptest! {
        #[test]
        fn r3_a_date_comes_back(second in -62_135_596_800_i64..253_402_300_800) {
            let time = Time(second * 1000);
            proptest::prop_assert_eq!(from_http_date(&http_date(time)), Some(time));
            proptest::prop_assert!(While::read(&stamp(time, [])).is_some_and(|found| found.has(time)));
        }

        #[test]
        fn r8_any_text_is_a_time_or_none(text in ".{0,40}") {
            let _ = (While::read(&text), from_http_date(&text));
        }
    }
}
