//! Times as archives spell them.
//!
//! `WARC-Date` is written with milliseconds, so that a capture's time can be had back from the
//! file; warcio, cdxj-indexer and pywb read that. Their index keys have fourteen digits and end at
//! the second.

use policy::civil::{self, Civil};
use policy::time::Time;

/// `2024-02-29T12:34:56.789Z`.
pub fn iso(time: Time) -> String {
    let Civil { year, month, day, hour, minute, second, ms } = Civil::from(time);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z")
}

/// `20240229123456`.
pub fn digits14(time: Time) -> String {
    let Civil { year, month, day, hour, minute, second, .. } = Civil::from(time);
    format!("{:04}{month:02}{day:02}{hour:02}{minute:02}{second:02}", year.abs())
}

/// `20240229123456789`.
pub fn digits17(time: Time) -> String {
    format!("{}{:03}", digits14(time), time.0.rem_euclid(1000))
}

/// The inverse of [`digits17`].
pub fn from_digits17(digits: &str) -> Option<Time> {
    if digits.len() != 17 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number = |from: usize, to: usize| digits[from..to].parse().ok();
    let date = [number(0, 4)?, number(4, 6)?, number(6, 8)?];
    civil::time(date, [number(8, 10)?, number(10, 12)?, number(12, 14)?], number(14, 17)?)
}

/// Reads a date as warcio does: numbers between anything else, from year and day at least to
/// fractions of a second.
pub fn parse(text: &str) -> Option<Time> {
    let text = text.strip_suffix(|c: char| !c.is_ascii_digit()).unwrap_or(text);
    let parts: Vec<&str> = text.splitn(9, |c: char| !c.is_ascii_digit()).collect();
    if !(3..=7).contains(&parts.len()) {
        return None;
    }
    let number = |i: usize| parts.get(i).map_or(Some(0), |part| part.parse().ok());
    let fraction: String = parts.get(6).unwrap_or(&"").chars().chain("000".chars()).take(3).collect();
    let date = [number(0)?, number(1)?, number(2)?];
    civil::time(date, [number(3)?, number(4)?, number(5)?], fraction.parse().ok()?)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test")]
    use super::*;

    #[test]
    fn a8_dates_are_read_as_warcio_reads_them() {
        let cases = [
            ("2013-12-26T10:11:12Z", Some("20131226101112000")),
            ("2013-12-26T10:11:12.3Z", Some("20131226101112300")),
            ("2013-12-26T10:11:12.4567890Z", Some("20131226101112456")),
            ("2013-12-26T10:11:12", Some("20131226101112000")),
            ("20131226101112", None),
            ("2013-12-26", Some("20131226000000000")),
            ("2000-02-29T00:00:00Z", Some("20000229000000000")),
            ("1900-02-29T00:00:00Z", None),
            ("2008-10-294T05:21:46-0700", None),
            ("2013-13-01T00:00:00Z", None),
            ("2013-12-26T24:00:00Z", None),
            ("99999999999999999999-1-1", None),
            ("", None),
            ("Thu, 26 Dec 2013", None),
        ];
        for (text, expected) in cases {
            assert_eq!(parse(text).map(digits17).as_deref(), expected, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn a8_a_time_comes_back_from_its_date(ms in -62_135_596_800_000_i64..253_402_300_800_000) {
            proptest::prop_assert_eq!(parse(&iso(Time(ms))), Some(Time(ms)));
            proptest::prop_assert_eq!(from_digits17(&digits17(Time(ms))), Some(Time(ms)));
        }

        #[test]
        fn a11_any_text_is_no_date_or_one(text in ".{0,40}") {
            let _ = parse(&text);
            let _ = from_digits17(&text);
        }
    }
}
