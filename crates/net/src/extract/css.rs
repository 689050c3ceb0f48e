//! URLs in style sheets, `<style>` and `style` attributes: `url(…)` and `@import`.
//!
//! A pass over the text that knows comments, strings and escapes, so that `content: "url(x)"` is no
//! link. Not the grammar of CSS: a rule that a browser would throw away may still name a file.

use std::borrow::Cow;
use std::io::Read;
use std::ops::Range;

use super::charset::{self, Charset, Transcoded};
use super::collect::Collector;
use super::window::Window;
use policy::model::LinkKind;

/// Most of a style sheet that is read.
const CSS_BYTES_MAX: u64 = 8 << 20;

/// Reads a style sheet of its own.
pub(super) fn file(window: Window<'_>, http: Option<&str>, collector: &mut Collector) -> Charset {
    let (charset, mark) = charset::of_css(window.bytes(), http);
    let mut window = window;
    window.consume(mark);
    let mut bytes = Vec::new();
    let reader: Box<dyn Read> = if charset.needs_transcoding() {
        Box::new(Transcoded::new(window.into_reader(), &charset))
    } else {
        Box::new(window.into_reader())
    };
    // A stream that breaks off has given what it had.
    let _ = reader.take(CSS_BYTES_MAX).read_to_end(&mut bytes);
    let whole = charset.text(&bytes);
    let is_cut = bytes.len() as u64 == CSS_BYTES_MAX;
    text(if is_cut { finished(&whole) } else { &whole }, collector, "css/url()");
    charset
}

/// Of a style sheet that we cut off ourselves, what comes before the last mark that ends something:
/// half a URL is none.
pub fn finished(css: &str) -> &str {
    css.rfind([';', '}', ')']).map_or("", |end| &css[..=end])
}

/// Reads CSS wherever it stands; `how` is for what is not an import.
pub(super) fn text(css: &str, collector: &mut Collector, how: &'static str) {
    let mut scanner = Scanner { css, at: 0 };
    while let Some((raw, is_import)) = scanner.next() {
        collector.add(&unescaped(raw), LinkKind::Requisite, if is_import { "css/@import" } else { how });
    }
}

/// Every URL in a style sheet, with where it stands as written, between its quotes if it has some.
pub fn urls(css: &str) -> impl Iterator<Item = (Range<usize>, Cow<'_, str>)> {
    let mut scanner = Scanner { css, at: 0 };
    std::iter::from_fn(move || {
        let (raw, _) = scanner.next()?;
        let from = raw.as_ptr().addr() - css.as_ptr().addr();
        Some((from..from + raw.len(), unescaped(raw)))
    })
}

struct Scanner<'a> {
    css: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    /// The next URL as written, and whether it is imported.
    fn next(&mut self) -> Option<(&'a str, bool)> {
        loop {
            let rest = &self.css.as_bytes()[self.at..];
            self.at +=
                rest.iter().position(|byte| matches!(byte, b'/' | b'"' | b'\'' | b'@' | b'(' | b'\\'))?;
            match self.css.as_bytes()[self.at] {
                b'/' => self.comment(),
                b'\\' => self.at += 2,
                b'@' => {
                    if let Some(import) = self.at_rule() {
                        return Some((import, true));
                    }
                }
                b'(' if self.is_url_function() => {
                    self.at += 1;
                    return Some((self.url(), false));
                }
                b'(' => self.at += 1,
                _ => {
                    self.string();
                }
            }
            self.at = self.boundary(self.at);
            if self.at >= self.css.len() {
                return None;
            }
        }
    }

    /// The next place from `at` on where a character begins.
    fn boundary(&self, at: usize) -> usize {
        (at..self.css.len()).find(|at| self.css.is_char_boundary(*at)).unwrap_or(self.css.len())
    }

    fn comment(&mut self) {
        let rest = &self.css.as_bytes()[self.at..];
        self.at += match rest.starts_with(b"/*") {
            true => memchr::memmem::find(&rest[2..], b"*/").map_or(rest.len(), |end| end + 4),
            false => 1,
        };
    }

    fn blanks(&mut self) {
        loop {
            let rest = &self.css[self.at..];
            self.at += rest.len() - rest.trim_ascii_start().len();
            if !self.css[self.at..].starts_with("/*") {
                return;
            }
            self.comment();
        }
    }

    /// Over a string and its quotes; an unescaped line end breaks it off.
    fn string(&mut self) -> &'a str {
        let bytes = self.css.as_bytes();
        let (quote, from) = (bytes[self.at], self.at + 1);
        let mut at = from;
        while let Some(byte) = bytes.get(at) {
            match *byte {
                b'\\' => at += 2,
                b'\n' => break,
                byte if byte == quote => break,
                _ => at += 1,
            }
        }
        let end = self.boundary(at.min(bytes.len()));
        self.at = (end + 1).min(bytes.len());
        &self.css[from..end]
    }

    /// What an `@import` names. A namespace looks like a URL and is none.
    fn at_rule(&mut self) -> Option<&'a str> {
        self.at += 1;
        let rest = &self.css[self.at..];
        let is = |name: &str| rest.get(..name.len()).is_some_and(|head| head.eq_ignore_ascii_case(name));
        if is("namespace") {
            self.at += rest.find(';').unwrap_or(rest.len());
            return None;
        }
        if !is("import") {
            return None;
        }
        self.at += "import".len();
        self.blanks();
        let rest = &self.css[self.at..];
        if rest.starts_with(['"', '\'']) {
            return Some(self.string());
        }
        if rest.get(..4).is_some_and(|head| head.eq_ignore_ascii_case("url(")) {
            self.at += 4;
            return Some(self.url());
        }
        None
    }

    /// Whether the parenthesis is that of `url(`.
    fn is_url_function(&self) -> bool {
        let before = &self.css.as_bytes()[..self.at];
        let Some((head, name)) = before.split_at_checked(before.len().wrapping_sub(3)) else { return false };
        let in_word =
            head.last().is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
        name.eq_ignore_ascii_case(b"url") && !in_word
    }

    /// After `url(`: a string, or everything up to the parenthesis.
    fn url(&mut self) -> &'a str {
        let rest = &self.css[self.at..];
        self.at += rest.len() - rest.trim_ascii_start().len();
        let rest = &self.css[self.at..];
        if rest.starts_with(['"', '\'']) {
            return self.string();
        }
        let mut escaped = false;
        let end = rest.bytes().position(|byte| {
            let ends = byte == b')' && !escaped;
            escaped = byte == b'\\' && !escaped;
            ends
        });
        let end = end.unwrap_or(rest.len());
        self.at = (self.at + end + 1).min(self.css.len());
        rest[..end].trim_ascii_end()
    }
}

/// `\29` and `\)` are a parenthesis, an escaped line end is nothing.
fn unescaped(raw: &str) -> Cow<'_, str> {
    if !raw.contains('\\') {
        return raw.into();
    }
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some((before, after)) = rest.split_once('\\') {
        text.push_str(before);
        let digits = after.bytes().take(6).take_while(u8::is_ascii_hexdigit).count();
        if digits > 0 {
            let code = u32::from_str_radix(&after[..digits], 16).unwrap_or(0);
            text.push(char::from_u32(code).filter(|c| *c != '\0').unwrap_or(char::REPLACEMENT_CHARACTER));
            rest = after[digits..].strip_prefix([' ', '\t', '\n']).unwrap_or(&after[digits..]);
        } else {
            rest = after.strip_prefix('\n').unwrap_or(after);
            if let Some(c) = rest.chars().next().filter(|_| rest.len() == after.len()) {
                text.push(c);
                rest = &rest[c.len_utf8()..];
            }
        }
    }
    text.push_str(rest);
    text.into()
}
