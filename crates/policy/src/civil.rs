//! Dates and times of day in UTC: the one place that knows months and leap years.
//!
//! By hand and not by a crate: what is needed of the calendar are the two functions of Hinnant
//! below. Each format that is read here has a grammar of its own that no crate knows (WARC dates as
//! warcio reads them, cookie dates by RFC 6265), and a time may lie beyond the year 9999, where
//! `jiff` and `time` end, without anything failing.

use crate::time::Time;

const DAY_MS: i64 = 86_400_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Civil {
    pub year: i64,
    pub month: i64,
    pub day: i64,
    pub hour: i64,
    pub minute: i64,
    pub second: i64,
    pub ms: i64,
}

impl From<Time> for Civil {
    fn from(time: Time) -> Civil {
        let (year, month, day) = date_of(time.0.div_euclid(DAY_MS));
        let ms = time.0.rem_euclid(DAY_MS);
        let (hour, minute, second) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60);
        Civil { year, month, day, hour, minute, second, ms: ms % 1000 }
    }
}

/// None if there is no such day, or no such time of a day; years have up to four digits.
pub fn time([year, month, day]: [i64; 3], [hour, minute, second]: [i64; 3], ms: i64) -> Option<Time> {
    let legal = (1..=9999).contains(&year)
        && (1..=12).contains(&month)
        && (1..=days_of_month(year, month)).contains(&day)
        && (0..24).contains(&hour)
        && (0..60).contains(&minute)
        && (0..60).contains(&second);
    let seconds = || (hour * 60 + minute) * 60 + second;
    legal.then(|| Time(days_since_1970(year, month, day) * DAY_MS + seconds() * 1000 + ms))
}

fn days_of_month(year: i64, month: i64) -> i64 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Hinnant's civil-to-days.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// Hinnant's days-to-civil: year, month and day.
fn date_of(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

/// `2024-02-29T12:34:56Z`, with fractions and offsets (RFC 3339).
pub fn rfc3339(text: &str) -> Option<Time> {
    let local = text.get(..19)?;
    let shape: String = local.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    if !matches!(shape.as_str(), "0000-00-00T00:00:00" | "0000-00-00t00:00:00" | "0000-00-00 00:00:00") {
        return None;
    }
    let number = |from: usize, to: usize| local[from..to].parse().ok();
    let rest = &text[19..];
    let (fraction, zone) = rest.split_at(rest.find(|c: char| c != '.' && !c.is_ascii_digit())?);
    let ms = match fraction.strip_prefix('.') {
        None => fraction.is_empty().then_some(0)?,
        Some(digits) if digits.is_empty() || digits.contains('.') => return None,
        Some(digits) => format!("{digits:0<3}")[..3].parse().ok()?,
    };
    let date = [number(0, 4)?, number(5, 7)?, number(8, 10)?];
    let local = time(date, [number(11, 13)?, number(14, 16)?, number(17, 19)?], ms)?;
    Some(Time(local.0.checked_sub(offset_ms(zone)?)?))
}

/// `Z`, `+01:00`.
fn offset_ms(zone: &str) -> Option<i64> {
    let number = |text: &str, max: i64| text.parse().ok().filter(|number| (0..=max).contains(number));
    match zone.as_bytes() {
        [b'Z' | b'z'] => Some(0),
        [sign @ (b'+' | b'-'), a, b, b':', c, d] if [a, b, c, d].iter().all(|byte| byte.is_ascii_digit()) => {
            let ms = (number(&zone[1..3], 23)? * 60 + number(&zone[4..6], 59)?) * 60_000;
            Some(if *sign == b'+' { ms } else { -ms })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn a_time_comes_back_from_its_date(ms in -62_135_596_800_000_i64..253_402_300_800_000) {
            let Civil { year, month, day, hour, minute, second, ms: rest } = Civil::from(Time(ms));
            let again = time([year, month, day], [hour, minute, second], rest);
            proptest::prop_assert_eq!(again, Some(Time(ms)));
            proptest::prop_assert_eq!(rfc3339(&Time(ms).to_string()), Some(Time(ms.div_euclid(1000) * 1000)));
        }

        #[test]
        fn any_text_is_no_time_or_one(text in ".{0,40}") {
            let _ = rfc3339(&text);
        }
    }
}
