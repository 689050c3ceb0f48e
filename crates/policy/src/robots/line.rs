//! The file as lines that mean something.

use std::borrow::Cow;

use crate::time::Span;

/// Beyond a day a delay is a day: it is capped anyway.
const DELAY_SECONDS_MAX: f64 = 86_400.0;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Line<'a> {
    Agent(&'a [u8]),
    Rule {
        allows: bool,
        path: &'a [u8],
    },
    /// None if it is no time.
    CrawlDelay(Option<Span>),
    Sitemap(&'a [u8]),
}

/// The first `max` bytes as something like UTF-8, without byte order mark and without a line that
/// is cut by the bound.
pub(super) fn text(bytes: &[u8], max: usize) -> Cow<'_, [u8]> {
    let head = &bytes[..bytes.len().min(max)];
    let text = match head {
        [0xEF, 0xBB, 0xBF, rest @ ..] => Cow::Borrowed(rest),
        [0xFF, 0xFE, rest @ ..] => Cow::Owned(utf16(rest, u16::from_le_bytes)),
        [0xFE, 0xFF, rest @ ..] => Cow::Owned(utf16(rest, u16::from_be_bytes)),
        _ => Cow::Borrowed(head),
    };
    if bytes.len() <= max {
        return text;
    }
    let end = text.iter().rposition(|byte| is_line_end(*byte)).unwrap_or(0);
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(&text[..end]),
        Cow::Owned(mut text) => {
            text.truncate(end);
            Cow::Owned(text)
        }
    }
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Vec<u8> {
    let units = bytes.as_chunks::<2>().0.iter().map(|pair| unit(*pair));
    let decoded = char::decode_utf16(units).map(|one| one.unwrap_or(char::REPLACEMENT_CHARACTER));
    decoded.collect::<String>().into_bytes()
}

fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// The meaningful lines with their numbers and their text without comment.
pub(super) fn lines(text: &[u8]) -> impl Iterator<Item = (u32, &[u8], Line<'_>)> {
    let mut number = 0;
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let now = rest?;
        let end = now.iter().position(|byte| is_line_end(*byte));
        let (line, after) = now.split_at(end.unwrap_or(now.len()));
        rest = end.map(|_| after.strip_prefix(b"\r\n").unwrap_or(&after[1..]));
        number += 1;
        Some((number, line))
    })
    .filter_map(|(number, line)| {
        let line = line.split(|byte| *byte == b'#').next().unwrap_or(line).trim_ascii();
        Some((number, line, meaning(line)?))
    })
}

/// `key: value`; where the colon is forgotten, `key value`.
fn meaning(line: &[u8]) -> Option<Line<'_>> {
    let at = |is: fn(&u8) -> bool| {
        let at = line.iter().position(is)?;
        known(line[..at].trim_ascii(), line[at + 1..].trim_ascii())
    };
    at(|byte| *byte == b':').or_else(|| at(u8::is_ascii_whitespace))
}

fn known<'a>(key: &[u8], value: &'a [u8]) -> Option<Line<'a>> {
    const AGENT: [&[u8]; 5] = [b"user-agent", b"useragent", b"user agent", b"user_agent", b"useg-agent"];
    const DISALLOW: [&[u8]; 8] = [
        b"disallow",
        b"dissallow",
        b"dissalow",
        b"disalow",
        b"diasllow",
        b"disallaw",
        b"desallow",
        b"disallows",
    ];
    const DELAY: [&[u8]; 2] = [b"crawl-delay", b"crawldelay"];
    const SITEMAP: [&[u8]; 3] = [b"sitemap", b"site-map", b"sitemaps"];
    let is = |names: &[&[u8]]| names.iter().any(|name| name.eq_ignore_ascii_case(key));
    match value {
        path if is(&DISALLOW) => Some(Line::Rule { allows: false, path }),
        path if is(&[b"allow"]) => Some(Line::Rule { allows: true, path }),
        name if is(&AGENT) => Some(Line::Agent(name)),
        seconds if is(&DELAY) => Some(Line::CrawlDelay(delay(seconds))),
        url if is(&SITEMAP) && !url.is_empty() => Some(Line::Sitemap(url)),
        _ => None,
    }
}

fn delay(seconds: &[u8]) -> Option<Span> {
    let seconds: f64 = std::str::from_utf8(seconds).ok()?.parse().ok()?;
    if seconds.is_nan() || seconds < 0.0 {
        return None;
    }
    let length = std::time::Duration::from_secs_f64(seconds.min(DELAY_SECONDS_MAX));
    u64::try_from(length.as_millis()).ok().map(Span)
}

/// The product token an agent's name begins with: `Skurd/1.0 (+https://…)` is `Skurd`.
pub(super) fn token(name: &[u8]) -> &[u8] {
    let name = name.trim_ascii();
    let end = name.iter().position(|byte| byte.is_ascii_whitespace() || b"/(;,".contains(byte));
    &name[..end.unwrap_or(name.len())]
}
