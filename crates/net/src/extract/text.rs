//! Text for people: without character references, in one line, and not too long.

use std::borrow::Cow;

use super::charset::Charset;

/// Longest title that is kept.
pub(super) const TITLE_BYTES_MAX: usize = 1024;

/// An attribute's value as it is meant.
pub(super) fn attribute(charset: Charset, raw: &[u8]) -> Cow<'_, str> {
    let text = charset.text(raw);
    if memchr::memchr(b'&', raw).is_none() { text } else { htmlize::unescape_attribute(text) }
}

/// Text between tags as a reader sees it.
pub(super) fn shown(charset: Charset, raw: &[u8], bytes_max: usize) -> String {
    let text = charset.text(raw);
    collapsed(&if memchr::memchr(b'&', raw).is_none() { text } else { htmlize::unescape(text) }, bytes_max)
}

/// How much of the page to read for so much text: there are blanks and references in it.
pub(super) fn raw_bytes_for(bytes_max: usize) -> usize {
    bytes_max.saturating_mul(4)
}

/// With single blanks, cut between two characters.
pub(super) fn collapsed(text: &str, bytes_max: usize) -> String {
    let mut line = String::with_capacity(text.len().min(bytes_max));
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.len() > bytes_max {
            let end = (0..=bytes_max).rev().find(|at| line.is_char_boundary(*at)).unwrap_or(0);
            line.truncate(end);
            break;
        }
    }
    line.truncate(line.trim_end().len());
    line
}
