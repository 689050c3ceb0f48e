//! Small things about text: short URLs, numbers that can be read, what is not shown.

use std::io::{self, Write};

/// As page 2 of the specification writes URLs: without `https://`, and without the slash of a front page.
pub fn short(url: &str) -> &str {
    let bare = url.strip_prefix("https://").unwrap_or(url);
    match bare.strip_suffix('/') {
        Some(host) if !host.trim_start_matches("http://").contains('/') => host,
        _ => bare,
    }
}

/// Cut in the middle, where URLs are most alike.
pub fn cut(text: &str, width: usize) -> String {
    let length = text.chars().count();
    if length <= width {
        return text.to_owned();
    }
    let kept = width.saturating_sub(1);
    let head: String = text.chars().take(kept.div_ceil(2)).collect();
    let tail: String = text.chars().skip(length - kept / 2).collect();
    format!("{head}…{tail}")
}

/// `1,234,567`.
pub fn number(value: u64) -> String {
    grouped(value, ',')
}

/// With something between each three digits.
pub fn grouped(value: u64, between: char) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(between);
        }
        text.push(digit);
    }
    text
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rounded figure for people")]
pub fn rounded(value: f64) -> String {
    if value.is_finite() { number(value.round().max(0.0) as u64) } else { "∞".to_owned() }
}

/// What a list leaves out, if it does.
pub fn write_more(out: &mut impl Write, more: usize, things: &str) -> io::Result<()> {
    match u64::try_from(more).unwrap_or(u64::MAX) {
        0 => Ok(()),
        more => writeln!(out, "… and {} more {things}: --all shows them", number(more)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_written_as_in_the_specification() {
        let table = [
            ("https://vg.no/", "vg.no"),
            ("https://vg.no/artikkel", "vg.no/artikkel"),
            ("https://vg.no/a/", "vg.no/a/"),
            ("http://vg.no/", "http://vg.no"),
            ("vg.no", "vg.no"),
        ];
        for (url, expected) in table {
            assert_eq!(short(url), expected);
        }
    }

    #[test]
    fn texts_are_cut_in_the_middle_and_numbers_are_grouped() {
        assert_eq!(cut("abcdefghij", 5), "ab…ij");
        assert_eq!(cut("åæø", 3), "åæø");
        assert_eq!(cut("åæø", 1), "…");
        for (value, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(number(value), text);
        }
    }
}
