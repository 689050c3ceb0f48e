//! How data is shown to a person: tables, and numbers and times in them.

mod table;

use policy::time::Time;
use serde_json::Value;

pub(crate) use table::{Column, Table, left, right};

/// `2024-02-29T12:00:00Z`, or null.
pub(crate) fn time_json(time: Option<Time>) -> Value {
    time.map_or(Value::Null, |time| Value::from(time.to_string()))
}

/// Control characters, and the marks that reorder the text around them: what a terminal might obey.
pub(crate) fn is_harmful(c: char) -> bool {
    c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

pub(crate) fn text_or_dash(text: Option<&str>) -> String {
    text.unwrap_or("–").to_owned()
}

pub(crate) fn number_or_dash(number: Option<impl ToString>) -> String {
    number.map_or_else(|| "–".to_owned(), |number| number.to_string())
}

/// `1.2 MB`: three digits are enough to compare.
#[allow(clippy::cast_precision_loss, reason = "shown with one decimal")]
pub(crate) fn bytes_text(bytes: u64) -> String {
    const UNITS: [&str; 7] = ["B", "kB", "MB", "GB", "TB", "PB", "EB"];
    let (mut amount, mut unit) = (bytes as f64, 0);
    while amount >= 999.95 && unit + 1 < UNITS.len() {
        amount /= 1000.0;
        unit += 1;
    }
    if unit == 0 { format!("{bytes} B") } else { format!("{amount:.1} {}", UNITS[unit]) }
}

/// `99.3 %`; never 100 unless it is.
pub(crate) fn percent_text(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        p if !p.is_finite() => "∞".to_owned(),
        p if p < 100.0 && p > 99.9 => "99.9 %".to_owned(),
        p if p >= 1000.0 => format!("{p:.0} %"),
        p => format!("{p:.1} %"),
    }
}

/// A rate with as many digits as tell something.
pub(crate) fn rate_text(rate: f64) -> String {
    if rate >= 100.0 || rate == 0.0 { format!("{rate:.0}") } else { format!("{rate:.1}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i2_amounts_are_readable() {
        for (bytes, text) in
            [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (999_960, "1.0 MB"), (u64::MAX, "18.4 EB")]
        {
            assert_eq!(bytes_text(bytes), text);
        }
        for (share, text) in
            [(1.0, "100.0 %"), (0.99999, "99.9 %"), (0.0, "0.0 %"), (12.5, "1250 %"), (f64::INFINITY, "∞")]
        {
            assert_eq!(percent_text(share), text);
        }
    }
}
