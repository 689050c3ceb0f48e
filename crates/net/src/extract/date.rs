//! Dates as sitemaps and feeds write them: those of W3C, of RFC 3339, and of letters (RFC 822).

use policy::civil;
use policy::hint::Said;
use policy::time::{Span, Time};

/// Longest text that is taken for a date.
const DATE_BYTES_MAX: usize = 64;

const DAY: Span = Span::days(1);

/// None if it is no date, or of a month or year only, which says too little.
pub(super) fn read(text: &str) -> Option<Said> {
    let text = text.trim();
    if text.len() > DATE_BYTES_MAX || !text.is_ascii() {
        return None;
    }
    let is_day = text.len() == 10 && !text.contains(' ');
    if is_day {
        let from = civil::rfc3339(&format!("{text}T00:00:00Z"))?;
        return Some(Said { from, until: Time(from.plus(DAY).0 - 1) });
    }
    // W3C allows a time without its seconds.
    let whole = match text.as_bytes().get(16) {
        Some(b'Z' | b'z' | b'+' | b'-') => civil::rfc3339(&format!("{}:00{}", &text[..16], &text[16..])),
        _ => civil::rfc3339(text),
    };
    whole.or_else(|| letter(text)).map(Said::at)
}

/// `Wed, 02 Oct 2002 13:00:00 GMT`, with or without the day of the week and the seconds.
fn letter(text: &str) -> Option<Time> {
    const MONTHS: [&str; 12] =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let text = text.split_once(',').map_or(text, |(_, date)| date);
    let mut words = text.split_ascii_whitespace();
    let day = number(words.next()?)?;
    let month = words.next()?.get(..3)?.to_ascii_lowercase();
    let month = MONTHS.iter().zip(1..).find(|(name, _)| **name == month).map(|(_, number)| number)?;
    let year = match number(words.next()?)? {
        year @ 0..50 => year + 2000,
        year @ 50..100 => year + 1900,
        year => year,
    };
    let mut clock = words.next()?.split(':').map(number);
    let (hour, minute) = (clock.next()??, clock.next()??);
    let second = clock.next().unwrap_or(Some(0))?;
    let local = civil::time([year, month, day], [hour, minute, second], 0)?;
    Some(Time(local.0 - minutes_ahead(words.next().unwrap_or("GMT"))? * 60_000))
}

fn number(text: &str) -> Option<i64> {
    text.parse().ok().filter(|number| (0..10_000).contains(number))
}

/// Minutes that clocks there are ahead.
fn minutes_ahead(zone: &str) -> Option<i64> {
    let hours = match zone.to_ascii_uppercase().as_str() {
        "GMT" | "UT" | "UTC" | "Z" => 0,
        "EDT" => -4,
        "EST" | "CDT" => -5,
        "CST" | "MDT" => -6,
        "MST" | "PDT" => -7,
        "PST" => -8,
        "CET" => 1,
        "CEST" => 2,
        _ => {
            let (sign, digits) = zone.split_at_checked(1)?;
            let sign = match sign {
                "+" => 1,
                "-" => -1,
                _ => return None,
            };
            let digits: String = digits.chars().filter(|c| *c != ':').collect();
            let at = number(&digits).filter(|at| digits.len() == 4 && at / 100 < 24 && at % 100 < 60)?;
            return Some(sign * (at / 100 * 60 + at % 100));
        }
    };
    Some(hours * 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f41_dates_are_read_as_sitemaps_and_feeds_write_them() {
        let at = |text: &str| civil::rfc3339(text).map(Said::at);
        for (text, expected) in [
            ("2026-03-01T12:30:00Z", at("2026-03-01T12:30:00Z")),
            (" 2026-03-01T12:30+01:00 ", at("2026-03-01T11:30:00Z")),
            ("2026-03-01T12:30:00.250-05:00", at("2026-03-01T17:30:00.250Z")),
            ("Sun, 01 Mar 2026 12:30:00 GMT", at("2026-03-01T12:30:00Z")),
            ("1 March 26 12:30 +0130", at("2026-03-01T11:00:00Z")),
            ("Sun, 01 Mar 2026 12:30:00 EST", at("2026-03-01T17:30:00Z")),
            ("2026-03", None),
            ("2026", None),
            ("yesterday", None),
            ("2026-02-30", None),
            ("Sun, 01 Mar 2026 12:30:00 somewhere", None),
            ("01 Mar 2026 12:30:00 +\u{e9}\u{e9}", None),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
        let day = read("2026-03-01").unwrap();
        assert_eq!(Some(day.from), civil::rfc3339("2026-03-01T00:00:00Z"));
        assert_eq!(day.until.since(day.from), Span(86_399_999));
    }

    proptest::proptest! {
        #[test]
        fn f41_any_text_is_a_date_or_none(text in "[0-9A-Za-z:,+ .\\-\u{e9}]{0,40}") {
            if let Some(said) = read(&text) {
                proptest::prop_assert!(said.from <= said.until);
            }
        }
    }
}
