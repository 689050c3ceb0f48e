//! Texts from the web, made harmless for a terminal.

use declare::text::is_harmful;
use serde_json::Value;

/// Longer anchor texts are cut in tables.
const ANCHOR_CHARS_SHOWN_MAX: usize = 80;

/// Anchor texts as a cell: one line, nothing that moves the cursor or turns the writing direction.
pub(super) fn cell(anchor: &str) -> String {
    let harmless = |c: char| if is_harmful(c) || c.is_whitespace() { ' ' } else { c };
    let clean: String = anchor.chars().map(harmless).collect();
    let one_line = clean.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    match one_line.char_indices().nth(ANCHOR_CHARS_SHOWN_MAX) {
        Some((end, _)) => format!("{}…", &one_line[..end]),
        None => one_line,
    }
}

/// JSON in which every character that a terminal might obey is escaped; it reads as the same value.
pub(super) fn json_line(value: &Value) -> String {
    let text = value.to_string();
    if !text.contains(is_harmful) {
        return text;
    }
    let mut line = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            c if is_harmful(c) => line.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => line.push(c),
        }
    }
    line
}

/// A word of a command that can be typed again.
pub(super) fn quoted(word: &str) -> String {
    let clean: String = word.chars().filter(|c| !is_harmful(*c)).collect();
    format!("'{}'", clean.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test")]
    use serde_json::json;

    use super::*;

    #[test]
    fn i2_no_control_character_reaches_a_terminal() {
        let hostile = "a\x1b[2J\x07\r\nb\u{9b}31m\u{202e}c\u{7f}  d";
        assert_eq!(cell(hostile), "a [2J b 31m c d");
        assert_eq!(cell(&"æ".repeat(90)), format!("{}…", "æ".repeat(80)));
        let value = json!({ "anchor": hostile });
        let line = json_line(&value);
        assert!(!line.contains(is_harmful), "{line:?}");
        assert_eq!(serde_json::from_str::<Value>(&line).unwrap(), value);
    }
}
