//! Dates in URLs.

use crate::civil::Civil;
use crate::time::Time;
use crate::url::CrawlUrl;

/// A month, counted from the year 0.
pub(super) type Month = i32;

pub(super) fn month_of(time: Time) -> Month {
    let civil = Civil::from(time);
    i32::try_from(civil.year * 12 + civil.month - 1).unwrap_or(i32::MAX)
}

/// `2031-04`.
pub(super) fn written(month: Month) -> String {
    format!("{:04}-{:02}", month.div_euclid(12), month.rem_euclid(12) + 1)
}

/// The month that the URL speaks of: `/2031/4/17`, `date=2031-04-17`, `20310417`, `year=2031`.
pub(super) fn month_in(url: &CrawlUrl) -> Option<Month> {
    let text = url.path_and_query();
    year_and_month(text).or_else(|| year_of_query(url.query()?))
}

fn year_and_month(text: &str) -> Option<Month> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let len = bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if len == 0 {
            at += 1;
            continue;
        }
        let run = &text[at..at + len];
        at += len;
        let found = match len {
            8 => month(&run[..4], &run[4..6]).filter(|_| in_range(&run[6..], 1, 31)),
            4 if bytes.get(at).is_some_and(|byte| matches!(byte, b'/' | b'-' | b'_' | b'.')) => {
                let rest = &text[at + 1..];
                let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
                (1..=2).contains(&digits).then(|| month(run, &rest[..digits])).flatten()
            }
            _ => None,
        };
        if found.is_some() {
            return found;
        }
    }
    None
}

fn month(year: &str, month: &str) -> Option<Month> {
    let (year, month): (i32, i32) = (year.parse().ok()?, month.parse().ok()?);
    ((1000..10_000).contains(&year) && (1..=12).contains(&month)).then(|| year * 12 + month - 1)
}

fn in_range(text: &str, from: u32, to: u32) -> bool {
    text.parse().is_ok_and(|number: u32| (from..=to).contains(&number))
}

fn year_of_query(query: &str) -> Option<Month> {
    let value_of = |names: &[&str]| {
        let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        pairs
            .find(|(name, _)| names.iter().any(|known| known.eq_ignore_ascii_case(name)))
            .map(|(_, value)| value)
    };
    let year = value_of(&["year", "yr", "y", "aar", "ar"])?;
    month(year, value_of(&["month", "mon", "m", "maaned"]).unwrap_or("1")).or_else(|| month(year, "1"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f37_dates_in_urls() {
        let table = "
            /kalender/2031/4            | 2031-04
            /cal?date=2031-04-17        | 2031-04
            /cal?month=4&year=2031      | 2031-04
            /cal?y=2031                 | 2031-01
            /a/20310417.html            | 2031-04
            /thread/20319917            | -
            /item/2031/99               | -
            /item/123456                | -
            /                           | -";
        for line in table.lines().filter(|line| line.contains('|')) {
            let (path, expected) = line.split_once('|').unwrap();
            let url = CrawlUrl::from_normal(format!("https://a.no{}", path.trim())).unwrap();
            assert_eq!(month_in(&url).map_or("-".to_owned(), written), expected.trim(), "{path}");
        }
    }
}
