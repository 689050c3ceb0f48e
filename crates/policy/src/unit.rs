//! Durations and sizes as people write them: `1d12h`, `500ms`, `1GiB`, `10MB`.
//!
//! What is printed can be read again and gives the same value; a value has one printed form, the
//! shortest in whole units (`90m` is printed `1h30m`, `14d` is printed `2w`).

use crate::time::Span;

/// A hundred years: nobody waits longer, and sums of such spans never overflow.
pub const DURATION_MAX: Span = Span::days(36_500);

pub const DURATION_HINT: &str =
    "write whole numbers with units from large to small (w, d, h, m, s, ms), like 1d12h, 90m or 500ms";

pub const SIZE_HINT: &str = "write a number of bytes, or a whole number with a unit: 10MB, 64KiB, 1GiB";

/// The same for JSON Schema, which cannot say that zero or too much is wrong.
pub const DURATION_PATTERN: &str = "^(?=.)(\\d+w *)?(\\d+d *)?(\\d+h *)?(\\d+m *)?(\\d+s *)?(\\d+ms)?$";

pub const SIZE_PATTERN: &str = "^\\d+ *([kKmMgGtT]?[iI]?[bB])?$";

const DURATION_UNITS: [(&str, u64); 6] =
    [("w", 604_800_000), ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)];

const SIZE_UNITS: [(&str, u64); 9] = [
    ("TiB", 1 << 40),
    ("TB", 1_000_000_000_000),
    ("GiB", 1 << 30),
    ("GB", 1_000_000_000),
    ("MiB", 1 << 20),
    ("MB", 1_000_000),
    ("KiB", 1 << 10),
    ("kB", 1000),
    ("B", 1),
];

/// Reads `1d12h`; the error says what is wrong with it.
pub fn parse_duration(text: &str) -> Result<Span, String> {
    let (mut rest, mut total, mut smallest) = (text.trim(), 0u64, u64::MAX);
    if rest.is_empty() {
        return Err("it is empty".to_owned());
    }
    while !rest.is_empty() {
        let (number, unit, after) = split_unit(rest)?;
        let ms = match DURATION_UNITS.iter().find(|(name, _)| *name == unit) {
            Some((_, ms)) => *ms,
            None if unit.is_empty() => return Err(format!("`{number}` has no unit")),
            None => return Err(format!("`{unit}` is no unit")),
        };
        if ms >= smallest {
            return Err(format!("`{unit}` comes after a unit that is not larger"));
        }
        smallest = ms;
        total = number.checked_mul(ms).and_then(|part| total.checked_add(part)).unwrap_or(u64::MAX);
        if total > DURATION_MAX.0 {
            return Err("it is longer than a hundred years".to_owned());
        }
        rest = after.trim_start();
    }
    Ok(Span(total))
}

pub fn print_duration(span: Span) -> String {
    let week = DURATION_UNITS[0].1;
    if span.0 == 0 {
        return "0s".to_owned();
    }
    if span.0.is_multiple_of(week) {
        return format!("{}w", span.0 / week);
    }
    let (mut rest, mut text) = (span.0, String::new());
    for (unit, ms) in &DURATION_UNITS[1..] {
        if rest >= *ms {
            text.push_str(&format!("{}{unit}", rest / ms));
            rest %= ms;
        }
    }
    text
}

/// Reads `1GiB`, `10MB` or a number of bytes; units in any case.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let (number, unit, rest) = split_unit(text.trim())?;
    if !rest.trim().is_empty() {
        return Err(format!("`{}` after the unit", rest.trim()));
    }
    let bytes = match SIZE_UNITS.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit)) {
        Some((_, bytes)) => *bytes,
        None if unit.is_empty() => 1,
        None => return Err(format!("`{unit}` is no unit")),
    };
    number.checked_mul(bytes).ok_or_else(|| "it is larger than any file".to_owned())
}

pub fn print_size(bytes: u64) -> String {
    let fits = |size: u64| bytes >= size && bytes.is_multiple_of(size);
    match SIZE_UNITS.iter().find(|(name, size)| *name != "B" && fits(*size)) {
        Some((unit, size)) => format!("{}{unit}", bytes / size),
        None => bytes.to_string(),
    }
}

/// A number, the letters after it, and what follows.
fn split_unit(text: &str) -> Result<(u64, &str, &str), String> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, rest) = text.split_at(digits);
    if number.is_empty() {
        return Err("a number is missing".to_owned());
    }
    if rest.starts_with(['.', ',']) {
        return Err("it is not a whole number".to_owned());
    }
    let number = number.parse().map_err(|_| "the number is too large".to_owned())?;
    let rest = rest.trim_start_matches(' ');
    let letters = rest.find(|c: char| !c.is_alphabetic()).unwrap_or(rest.len());
    let (unit, rest) = rest.split_at(letters);
    Ok((number, unit, rest))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn i3_durations_are_read_and_printed() {
        let table = [
            ("1d12h", 129_600_000, "1d12h"),
            ("30s", 30_000, "30s"),
            ("90m", 5_400_000, "1h30m"),
            ("500ms", 500, "500ms"),
            ("2w", 1_209_600_000, "2w"),
            ("14d", 1_209_600_000, "2w"),
            ("8d", 691_200_000, "8d"),
            ("1d 12h", 129_600_000, "1d12h"),
            (" 1h ", 3_600_000, "1h"),
            ("0s", 0, "0s"),
            ("1m1ms", 60_001, "1m1ms"),
        ];
        for (text, ms, printed) in table {
            assert_eq!(parse_duration(text), Ok(Span(ms)), "{text}");
            assert_eq!(print_duration(Span(ms)), printed);
        }
    }

    #[test]
    fn i3_bad_durations_say_why() {
        let table = [
            ("", "it is empty"),
            ("30", "`30` has no unit"),
            ("1x", "`x` is no unit"),
            ("1 day", "`day` is no unit"),
            ("h", "a number is missing"),
            ("-1h", "a number is missing"),
            ("1.5h", "it is not a whole number"),
            ("1h1d", "`d` comes after a unit that is not larger"),
            ("1h1h", "`h` comes after a unit that is not larger"),
            ("99999999999999999999d", "the number is too large"),
            ("9999999999999d", "it is longer than a hundred years"),
            ("36501d", "it is longer than a hundred years"),
            ("1h, 2m", "a number is missing"),
            ("é", "a number is missing"),
        ];
        for (text, why) in table {
            assert_eq!(parse_duration(text), Err(why.to_owned()), "{text}");
        }
    }

    #[test]
    fn i3_sizes_are_read_and_printed() {
        let table = [
            ("1GiB", 1 << 30, "1GiB"),
            ("10MB", 10_000_000, "10MB"),
            ("64 KiB", 65_536, "64KiB"),
            ("512", 512, "512"),
            ("1kb", 1000, "1kB"),
            ("7b", 7, "7"),
            ("0", 0, "0"),
        ];
        for (text, bytes, printed) in table {
            assert_eq!(parse_size(text), Ok(bytes), "{text}");
            assert_eq!(print_size(bytes), printed);
        }
        for (text, why) in [
            ("1G", "`G` is no unit"),
            ("1.5GB", "it is not a whole number"),
            ("MB", "a number is missing"),
            ("1MB2", "`2` after the unit"),
            ("99999999TiB", "it is larger than any file"),
        ] {
            assert_eq!(parse_size(text), Err(why.to_owned()), "{text}");
        }
    }

    proptest! {
        #[test]
        fn i3_what_is_printed_is_read_again(ms in 0..=DURATION_MAX.0, bytes: u64) {
            prop_assert_eq!(parse_duration(&print_duration(Span(ms))), Ok(Span(ms)));
            prop_assert_eq!(parse_size(&print_size(bytes)), Ok(bytes));
        }

        #[test]
        fn i3_no_text_is_too_much(text: String) {
            let _ = (parse_duration(&text), parse_size(&text));
        }
    }
}
