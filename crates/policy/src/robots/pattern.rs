//! Path patterns: literal text, `*` for anything, `$` for the end (RFC 9309, 2.2.2 and 2.2.3).
//!
//! Both sides of a comparison are first brought to one spelling: unreserved characters bare, all
//! other escapes in capitals, everything that may not stand in a URL escaped. A `*` or `$` that is
//! meant literally is `%2A` or `%24` on both sides.

use std::borrow::Cow;

/// Literal pieces with anything between them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pattern {
    /// In the one spelling, with `*` between the pieces.
    text: Box<str>,
    /// Whether the last piece must be the end of the path.
    to_end: bool,
}

impl Pattern {
    pub(super) fn new(path: &[u8]) -> Pattern {
        let to_end = path.last() == Some(&b'$');
        let path = if to_end { &path[..path.len() - 1] } else { path };
        Pattern { text: canonical(path, |byte| byte == b'*').into(), to_end }
    }

    /// How specific it is.
    pub(super) fn bytes(&self) -> usize {
        self.text.len() + usize::from(self.to_end)
    }

    /// Whether it matches a [canonical path](canonical_path). Taking the first place for every
    /// piece between the first and the last is enough: a later place never leaves more room for
    /// what follows.
    pub(super) fn matches(&self, path: &str) -> bool {
        let Some((first, later)) = self.text.split_once('*') else {
            return if self.to_end { path == &*self.text } else { path.starts_with(&*self.text) };
        };
        let Some(mut rest) = path.strip_prefix(first) else { return false };
        let (between, last) = later.rsplit_once('*').unwrap_or(("", later));
        for piece in between.split('*').filter(|piece| !piece.is_empty()) {
            match rest.find(piece) {
                Some(at) => rest = &rest[at + piece.len()..],
                None => return false,
            }
        }
        if self.to_end { rest.ends_with(last) } else { rest.contains(last) }
    }
}

/// The path of a URL in the one spelling.
pub(super) fn canonical_path(path: &str) -> Cow<'_, str> {
    let plain = |byte: u8| is_unreserved(byte) || (is_reserved(byte) && !matches!(byte, b'*' | b'$'));
    if path.bytes().all(plain) {
        return Cow::Borrowed(path);
    }
    Cow::Owned(canonical(path.as_bytes(), |_| false))
}

fn canonical(path: &[u8], is_special: impl Fn(u8) -> bool) -> String {
    let mut text = String::with_capacity(path.len());
    let mut rest = path;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if let (b'%', Some((escaped, later))) = (byte, escape(after)) {
            push(&mut text, escaped, is_unreserved(escaped));
            rest = later;
        } else {
            let literal = matches!(byte, b'*' | b'$') && !is_special(byte);
            push(&mut text, byte, byte == b'%' || is_unreserved(byte) || (is_reserved(byte) && !literal));
        }
    }
    text
}

fn push(text: &mut String, byte: u8, bare: bool) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    if bare {
        return text.push(char::from(byte));
    }
    let digits = [HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]];
    text.push('%');
    text.extend(digits.map(char::from));
}

/// The byte that the two digits at the head stand for, and what follows them.
fn escape(after: &[u8]) -> Option<(u8, &[u8])> {
    let (digits, later) = after.split_at_checked(2)?;
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    Some((digit(digits[0])? << 4 | digit(digits[1])?, later))
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

fn is_reserved(byte: u8) -> bool {
    b":/?#[]@!$&'()*+,;=".contains(&byte)
}
