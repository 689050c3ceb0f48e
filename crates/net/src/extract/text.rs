//! Text for people: without character references, in one line, and not too long.

use std::borrow::Cow;

use super::charset::Charset;

/// Longest title that is kept.
pub(super) const TITLE_BYTES_MAX: usize = 1024;

/// Longest character reference that is looked for where text was cut.
const REFERENCE_BYTES_MAX: usize = 32;

/// Text of the page that is being gathered, up to a bound.
#[derive(Default)]
pub(super) struct Gathered {
    bytes: Vec<u8>,
    bytes_max: usize,
    /// There was more than fits.
    cut: bool,
}

impl Gathered {
    /// Begins anew.
    pub(super) fn begin(&mut self, bytes_max: usize) {
        self.bytes.clear();
        (self.bytes_max, self.cut) = (bytes_max, false);
    }

    pub(super) fn has_room(&self) -> bool {
        !self.cut
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        let room = self.bytes_max.saturating_sub(self.bytes.len());
        self.cut |= bytes.len() > room;
        self.bytes.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    /// Text in which nothing is a reference, among other text in which they are.
    pub(super) fn push_literal(&mut self, bytes: &[u8]) {
        for (n, piece) in bytes.split(|byte| *byte == b'&').enumerate() {
            if n > 0 {
                self.push(b"&amp;");
            }
            self.push(piece);
        }
    }

    /// As it stands, without a last character that was cut.
    pub(super) fn text(&self, charset: &Charset) -> Cow<'_, str> {
        if self.cut { charset.text_of_cut(&self.bytes).into() } else { charset.text(&self.bytes) }
    }

    /// With its references resolved, and none that was cut.
    pub(super) fn unescaped(&self, charset: &Charset) -> Cow<'_, str> {
        let mut text = self.text(charset);
        if memchr::memchr(b'&', &self.bytes).is_none() {
            return text;
        }
        if self.cut
            && let Some(at) = text.rfind('&')
            && text.len() - at < REFERENCE_BYTES_MAX
            && !text[at..].contains(';')
        {
            text.to_mut().truncate(at);
        }
        htmlize::unescape(text)
    }

    /// As a reader sees it.
    pub(super) fn shown(&self, charset: &Charset, bytes_max: usize) -> String {
        collapsed(&self.unescaped(charset), bytes_max)
    }

    pub(super) fn is_cut(&self) -> bool {
        self.cut
    }
}

/// An attribute's value as it is meant.
pub(super) fn attribute<'b>(charset: &Charset, raw: &'b [u8]) -> Cow<'b, str> {
    let text = charset.text(raw);
    if memchr::memchr(b'&', raw).is_none() { text } else { htmlize::unescape_attribute(text) }
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
