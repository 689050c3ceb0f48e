//! What a page says of its own encoding: the prescan of the HTML standard (13.2.3.2), and its likes
//! for XML and CSS. It reads a declaration only if all of it is there, so a page cut in the middle
//! of one declares nothing. Browsers that meet a declaration after the first kilobyte begin anew
//! with it; looking further right away comes to the same.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};

use super::charset::label;
use super::tag::is_space;

/// How far a declaration is looked for.
const PRESCAN_BYTES: usize = 16 << 10;

/// By `<meta>`, else by an XML declaration.
pub(super) fn html(head: &[u8]) -> Option<&'static Encoding> {
    let head = &head[..head.len().min(PRESCAN_BYTES)];
    if let Some(wide) = wide(head) {
        return Some(wide);
    }
    // Pages that declare nothing do not have the word, and need no closer look.
    let declared = if has_charset(head) { meta(head) } else { None };
    declared.or_else(|| declaration(head))
}

/// Whether `charset =` stands anywhere, in whatever letters: React writes `charSet`.
fn has_charset(head: &[u8]) -> bool {
    const WORD: &[u8] = b"charset";
    memchr::memchr_iter(b'=', head).any(|at| {
        let before = head[..at].trim_ascii_end();
        before.len().checked_sub(WORD.len()).is_some_and(|from| before[from..].eq_ignore_ascii_case(WORD))
    })
}

/// By its XML declaration.
pub(super) fn xml(head: &[u8]) -> Option<&'static Encoding> {
    wide(head).or_else(|| declaration(&head[..head.len().min(PRESCAN_BYTES)]))
}

/// By `@charset "…";` at its very beginning.
pub(super) fn css(head: &[u8]) -> Option<&'static Encoding> {
    let rest = head.strip_prefix(b"@charset \"")?;
    let end = rest.iter().take(PRESCAN_BYTES).position(|byte| *byte == b'"')?;
    std::str::from_utf8(&rest[..end]).ok().and_then(label).map(not_wide)
}

/// `<?x` in two bytes a letter, without byte order mark.
fn wide(head: &[u8]) -> Option<&'static Encoding> {
    match head {
        [b'<', 0, b'?', 0, b'x', 0, ..] => Some(UTF_16LE),
        [0, b'<', 0, b'?', 0, b'x', ..] => Some(UTF_16BE),
        _ => None,
    }
}

/// What could be read as ASCII is not UTF-16, whatever it says.
fn not_wide(encoding: &'static Encoding) -> &'static Encoding {
    match encoding {
        wide if wide == UTF_16LE || wide == UTF_16BE => UTF_8,
        private if private == X_USER_DEFINED => WINDOWS_1252,
        other => other,
    }
}

/// `<?xml … encoding="…"?>`.
fn declaration(head: &[u8]) -> Option<&'static Encoding> {
    let rest = head.strip_prefix(b"<?xml")?;
    let end = rest.iter().position(|byte| *byte == b'>')?;
    let text = std::str::from_utf8(&rest[..end]).ok()?;
    let value = text.split_once("encoding")?.1.trim_start().strip_prefix('=')?.trim_start();
    let quote = value.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    label(value[1..].split_once(quote)?.0).map(not_wide)
}

fn meta(head: &[u8]) -> Option<&'static Encoding> {
    let mut at = 0;
    loop {
        let rest = head.get(at..).filter(|rest| !rest.is_empty())?;
        let mut reader = Reader { bytes: head, at };
        if rest.starts_with(b"<!--") {
            at += 2 + memchr::memmem::find(&rest[2..], b"-->")? + 3;
        } else if is_meta(rest) {
            reader.at = at + b"<meta".len();
            if let Some(encoding) = reader.meta()? {
                return Some(encoding);
            }
            at = reader.at + 1;
        } else if is_tag(rest) {
            reader.tag()?;
            at = reader.at + 1;
        } else if rest.starts_with(b"<!") || rest.starts_with(b"</") || rest.starts_with(b"<?") {
            at += memchr::memchr(b'>', rest)? + 1;
        } else {
            at += 1 + memchr::memchr(b'<', &rest[1..])?;
        }
    }
}

fn is_meta(rest: &[u8]) -> bool {
    rest.get(..5).is_some_and(|head| head.eq_ignore_ascii_case(b"<meta"))
        && rest.get(5).is_some_and(|after| is_space(*after) || *after == b'/')
}

fn is_tag(rest: &[u8]) -> bool {
    matches!(rest, [b'<', b'/', letter, ..] | [b'<', letter, ..] if letter.is_ascii_alphabetic())
}

/// Every step is none where the head ends: then there is nothing more to find.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

struct Attribute {
    name: Vec<u8>,
    value: Vec<u8>,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn skip(&mut self, is: impl Fn(u8) -> bool) -> Option<u8> {
        while is(self.peek()?) {
            self.at += 1;
        }
        self.peek()
    }

    /// Over a tag that is not `<meta>`.
    fn tag(&mut self) -> Option<()> {
        self.skip(|byte| !is_space(byte) && byte != b'>')?;
        while self.attribute()?.is_some() {}
        Some(())
    }

    /// What a `<meta>` declares, if it does.
    fn meta(&mut self) -> Option<Option<&'static Encoding>> {
        let mut seen: Vec<Vec<u8>> = Vec::new();
        let (mut is_pragma, mut needs_pragma, mut encoding) = (false, None, None);
        while let Some(Attribute { name, value }) = self.attribute()? {
            if seen.contains(&name) {
                continue;
            }
            match name.as_slice() {
                b"http-equiv" => is_pragma |= value == b"content-type",
                b"content" if encoding.is_none() => {
                    if let Some(found) = in_content(&value) {
                        (encoding, needs_pragma) = (Some(found), Some(true));
                    }
                }
                b"charset" => {
                    encoding = std::str::from_utf8(&value).ok().and_then(label);
                    needs_pragma = Some(false);
                }
                _ => {}
            }
            seen.push(name);
        }
        let counts = needs_pragma.is_some_and(|needs| !needs || is_pragma);
        Some(encoding.filter(|_| counts).map(not_wide))
    }

    /// The next attribute in lower case; none at the end of the tag.
    fn attribute(&mut self) -> Option<Option<Attribute>> {
        if self.skip(|byte| is_space(byte) || byte == b'/')? == b'>' {
            return Some(None);
        }
        let from = self.at;
        self.at += 1;
        self.skip(|byte| !is_space(byte) && !matches!(byte, b'/' | b'>' | b'='))?;
        let name = self.bytes[from..self.at].to_ascii_lowercase();
        if self.skip(is_space)? != b'=' {
            return Some(Some(Attribute { name, value: Vec::new() }));
        }
        self.at += 1;
        let value = match self.skip(is_space)? {
            quote @ (b'"' | b'\'') => {
                self.at += 1;
                let from = self.at;
                self.skip(|byte| byte != quote)?;
                self.at += 1;
                &self.bytes[from..self.at - 1]
            }
            _ => {
                let from = self.at;
                self.skip(|byte| !is_space(byte) && byte != b'>')?;
                &self.bytes[from..self.at]
            }
        };
        Some(Some(Attribute { name, value: value.to_ascii_lowercase() }))
    }
}

/// `text/html; charset=utf-8`, by the standard's way of finding it.
fn in_content(content: &[u8]) -> Option<&'static Encoding> {
    let mut text = std::str::from_utf8(content).ok()?;
    loop {
        text = text.split_once("charset")?.1;
        let Some(value) = text.trim_ascii_start().strip_prefix('=') else { continue };
        let value = value.trim_ascii_start();
        return match value.as_bytes().first()? {
            quote @ (b'"' | b'\'') => label(value[1..].split_once(char::from(*quote))?.0),
            _ => label(value.split([';', ' ', '\t', '\n', '\r', '\x0C']).next()?),
        };
    }
}
