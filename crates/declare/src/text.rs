//! Amounts, names and pieces of text as people read them: the one spelling of files, API, pages and
//! commands.

use std::fmt::Display;

use policy::time::Time;
use serde_json::Value;

/// Longest piece of a file that a message repeats, in characters.
const EXCERPT_CHARS_MAX: usize = 60;

/// `1 seed`, `2 seeds`.
pub fn counted(number: impl Display, thing: &str) -> String {
    let number = number.to_string();
    let plural = if number == "1" { "" } else { "s" };
    format!("{number} {thing}{plural}")
}

/// A piece of the file on one line, in backticks.
pub fn excerpt(text: &str) -> String {
    let mut shown: String = text
        .chars()
        .take(EXCERPT_CHARS_MAX)
        .flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] })
        .collect();
    if text.chars().nth(EXCERPT_CHARS_MAX).is_some() {
        shown.push('…');
    }
    format!("`{shown}`")
}

/// The nearest name, with at most a third of its letters wrong; what is longer than any name is not
/// compared.
pub fn nearest<'a>(wrong: &str, right: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    const NAME_BYTES_MAX: usize = 64;
    if wrong.len() > NAME_BYTES_MAX {
        return None;
    }
    let wrong = wrong.to_lowercase().replace(['-', ' '], "_");
    right
        .filter(|name| name.len() <= NAME_BYTES_MAX)
        .map(|name| (strsim::damerau_levenshtein(&wrong, &name.to_lowercase().replace('-', "_")), name))
        .filter(|(distance, name)| *distance <= name.len() / 3)
        .min()
        .map(|(_, name)| name)
}

/// `2024-02-29T12:00:00Z`, or null.
pub fn time_json(time: Option<Time>) -> Value {
    time.map_or(Value::Null, |time| Value::from(time.to_string()))
}

/// Control characters, and the marks that reorder the text around them: what a terminal might obey.
pub fn is_harmful(c: char) -> bool {
    c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// `1.2 MB`: three digits are enough to compare.
#[allow(clippy::cast_precision_loss, reason = "shown with one decimal")]
pub fn bytes_text(bytes: u64) -> String {
    const UNITS: [&str; 7] = ["B", "kB", "MB", "GB", "TB", "PB", "EB"];
    let (mut amount, mut unit) = (bytes as f64, 0);
    while amount >= 999.95 && unit + 1 < UNITS.len() {
        amount /= 1000.0;
        unit += 1;
    }
    if unit == 0 { format!("{bytes} B") } else { format!("{amount:.1} {}", UNITS[unit]) }
}

/// `99.3 %`; never 100 unless it is.
pub fn percent_text(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        p if !p.is_finite() => "∞".to_owned(),
        p if p < 100.0 && p > 99.9 => "99.9 %".to_owned(),
        p if p >= 1000.0 => format!("{p:.0} %"),
        p => format!("{p:.1} %"),
    }
}

/// A rate with as many digits as tell something.
pub fn rate_text(rate: f64) -> String {
    if rate >= 100.0 || rate == 0.0 { format!("{rate:.0}") } else { format!("{rate:.1}") }
}

/// A key as a JSON pointer writes it.
pub fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i3_the_nearest_name_is_suggested_and_a_far_one_is_not() {
        let keys = ["every", "extends", "max_depth", "within", "ttl"];
        let table = [
            ("evry", Some("every")),
            ("Every", Some("every")),
            ("max-depth", Some("max_depth")),
            ("maxdepth", Some("max_depth")),
            ("tlt", Some("ttl")),
            ("extend", Some("extends")),
            ("politeness", None),
            ("", None),
            ("x", None),
        ];
        for (wrong, right) in table {
            assert_eq!(nearest(wrong, keys.into_iter()), right, "{wrong}");
        }
        assert_eq!(nearest(&"e".repeat(1 << 20), keys.into_iter()), None);
    }

    #[test]
    fn i3_excerpts_stay_on_one_line() {
        assert_eq!(excerpt("a\nb\u{1b}"), "`a\\nb\\u{1b}`");
        assert_eq!(excerpt(&"å".repeat(61)), format!("`{}…`", "å".repeat(60)));
    }

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
