//! The shape of a URL: what it has in common with others of its template.
//!
//! Numbers, dates and codes of a segment become `{n}`, `{date}` and `{code}`; long segments are
//! sentences (`{*}`); a query is the set of its keys, or from three on merely that there are so
//! many: what combines freely is one template. A path that says its own segments again is of one
//! shape however long it is.

use std::fmt::Write;

use crate::url::CrawlUrl;

/// Longer segments are titles.
const WORD_BYTES_MAX: usize = 40;
/// Keys of a query from which on it is a free combination.
pub(super) const KEYS_FREE: usize = 3;
/// Segments that stand in a path for the second time or more, from which on it repeats itself.
const REPEATS_MIN: usize = 2;
/// Segments of one variable shape in a row.
pub(super) const RUN_MIN: usize = 6;

pub(super) const ANY: &str = "{*}";

/// What is left of a URL without what varies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// Segment by segment; none where the path repeats itself.
    pub(super) pieces: Vec<Box<str>>,
    /// `k1&k2`, sorted; `3+`: many; none: it has no query.
    pub(super) query: Option<Box<str>>,
    pub(super) grows: bool,
}

impl Shape {
    pub(super) fn of(url: &CrawlUrl) -> Shape {
        let query = url.query().map(keys);
        if grows(url.path()) {
            return Shape { pieces: Vec::new(), query: None, grows: true };
        }
        let pieces = url.path().split('/').skip(1).map(|segment| piece(segment).into()).collect();
        Shape { pieces, query, grows: false }
    }

    /// Whether a URL of this shape is of that template.
    pub(super) fn is_of(&self, template: &Shape) -> bool {
        let fits = |own: &str, other: &str| own == other || (other == ANY && !own.is_empty());
        self.grows == template.grows
            && self.query == template.query
            && self.pieces.len() == template.pieces.len()
            && self.pieces.iter().zip(&template.pieces).all(|(own, other)| fits(own, other))
    }

    /// Where they differ, if in one literal piece only.
    pub(super) fn differs_at(&self, other: &Shape) -> Option<usize> {
        if self.query != other.query || self.grows || other.grows || self.pieces.len() != other.pieces.len() {
            return None;
        }
        let mut pairs = self.pieces.iter().zip(&other.pieces).enumerate();
        let (at, _) = pairs.find(|(_, (own, other))| own != other)?;
        let alone = pairs.all(|(_, (own, other))| own == other);
        let ends = self.pieces[at].is_empty() || other.pieces[at].is_empty();
        (alone && !ends).then_some(at)
    }

    pub(super) fn written(&self) -> String {
        if self.grows {
            return "…/a/…/a/…".to_owned();
        }
        let mut text = String::new();
        for piece in &self.pieces {
            let _ = write!(text, "/{piece}");
        }
        if let Some(query) = &self.query {
            let _ = write!(text, "?{query}");
        }
        text
    }
}

/// Sorted and once each; from [`KEYS_FREE`] on only their number counts.
fn keys(query: &str) -> Box<str> {
    let mut keys: Vec<&str> = pairs(query).map(|(key, _)| key).collect();
    keys.sort_unstable();
    keys.dedup();
    if keys.len() >= KEYS_FREE || keys.iter().any(|key| key.len() > WORD_BYTES_MAX) {
        return format!("{KEYS_FREE}+").into();
    }
    keys.join("&").into()
}

pub(super) fn pairs(query: &str) -> impl Iterator<Item = (&str, &str)> {
    query.split('&').filter(|pair| !pair.is_empty()).map(|pair| pair.split_once('=').unwrap_or((pair, "")))
}

/// A segment without what varies in it.
pub(super) fn piece(segment: &str) -> String {
    if is_date(segment) {
        return "{date}".to_owned();
    }
    if is_uuid(segment) {
        return "{code}".to_owned();
    }
    if segment.len() > WORD_BYTES_MAX {
        return ANY.to_owned();
    }
    let mut text = String::with_capacity(segment.len());
    let mut rest = segment;
    while !rest.is_empty() {
        let run = rest.bytes().take_while(u8::is_ascii_alphanumeric).count();
        if run == 0 {
            let len = rest.chars().next().map_or(1, char::len_utf8);
            text.push_str(&rest[..len]);
            rest = &rest[len..];
            continue;
        }
        if is_code(&rest[..run]) {
            text.push_str("{code}");
        } else {
            without_numbers(&rest[..run], &mut text);
        }
        rest = &rest[run..];
    }
    text
}

fn without_numbers(run: &str, text: &mut String) {
    let mut in_number = false;
    for c in run.chars() {
        if c.is_ascii_digit() {
            if !in_number {
                text.push_str("{n}");
            }
            in_number = true;
        } else {
            text.push(c);
            in_number = false;
        }
    }
}

/// Hexadecimal, or letters and digits as if drawn.
pub(super) fn is_code(run: &str) -> bool {
    let digits = run.bytes().filter(u8::is_ascii_digit).count();
    let letters = run.len() - digits;
    if digits == 0 || letters == 0 {
        return false;
    }
    let is_hex = run.len() >= 8 && run.bytes().all(|byte| byte.is_ascii_hexdigit());
    let turns = run.as_bytes().windows(2).filter(|pair| pair[0].is_ascii_digit() != pair[1].is_ascii_digit());
    is_hex || (run.len() >= 12 && turns.count() >= 3)
}

fn is_uuid(segment: &str) -> bool {
    segment.len() == 36
        && segment.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// `2031-04-17`.
fn is_date(segment: &str) -> bool {
    let mut parts = segment.split(['-', '_', '.']);
    let mut next = |lens: std::ops::RangeInclusive<usize>| {
        parts
            .next()
            .is_some_and(|part| lens.contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit()))
    };
    next(4..=4) && next(1..=2) && next(1..=2) && parts.next().is_none()
}

/// Segments that the path has said before: those that are no numbers.
pub(super) fn repeated(path: &str) -> Vec<&str> {
    let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
    let said = |at: usize| segments[..at].contains(&segments[at]);
    let is_word = |segment: &str| segment.bytes().any(|byte| !byte.is_ascii_digit());
    (0..segments.len()).filter(|at| is_word(segments[*at]) && said(*at)).map(|at| segments[at]).collect()
}

fn grows(path: &str) -> bool {
    let depth = path.bytes().filter(|byte| *byte == b'/').count();
    if depth <= REPEATS_MIN {
        return false;
    }
    repeated(path).len() >= REPEATS_MIN || (depth >= RUN_MIN && variable_run(path).is_some())
}

/// The shape that [`RUN_MIN`] segments in a row have, if there are.
pub(super) fn variable_run(path: &str) -> Option<String> {
    let mut run = 0;
    let mut before = String::new();
    for segment in path.split('/').skip(1) {
        let piece = piece(segment);
        run = if piece == before && piece.contains('{') { run + 1 } else { 1 };
        if run >= RUN_MIN {
            return Some(piece);
        }
        before = piece;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f37_shapes_of_urls() {
        let table = "
            /                                  | /
            /a/b.html                          | /a/b.html
            /kalender/2031/4/17                | /kalender/{n}/{n}/{n}
            /d/2031-04-17/                     | /d/{date}/
            /item-123-x                        | /item-{n}-x
            /item123                           | /item{n}
            /f/0123abcd89                      | /f/{code}
            /f/6ba7b810-9dad-11d1-80b4-00c04fd430c8 | /f/{code}
            /f/x8k2m4p9q1z7                    | /f/{code}
            /f/facade                          | /f/facade
            /a-title-that-is-longer-than-forty-bytes-is | /{*}
            /x?b=1&a=2                         | /x?a&b
            /x?b=1&a=2&c=3                     | /x?3+
            /s;jsessionid=0A1B2C3D4E           | /s;jsessionid={code}
            /a/b/a/b                           | …/a/…/a/…
            /a/a/a                             | …/a/…/a/…
            /a/b/c/d/b/a                       | …/a/…/a/…
            /2024/01/01/01                     | /{n}/{n}/{n}/{n}
            /1/2/3/4/5/6                       | …/a/…/a/…
            /wiki/Oslo/wiki                    | /wiki/Oslo/wiki";
        for line in table.lines().filter(|line| line.contains('|')) {
            let (path, expected) = line.split_once('|').unwrap();
            let url = CrawlUrl::from_normal(format!("https://a.no{}", path.trim())).unwrap();
            assert_eq!(Shape::of(&url).written(), expected.trim(), "{path}");
        }
    }
}
