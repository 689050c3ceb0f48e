//! Lists with one entry a line, as `urls` and Heritrix have them.

use anyhow::Result;
use url::Host;

use super::{Imported, ImportedSeed};

/// One line that holds something: the entry, and what follows it.
pub(super) struct Line<'a> {
    pub(super) number: u32,
    pub(super) entry: &'a str,
    pub(super) rest: &'a str,
}

/// The lines of a text that hold an entry. A `#` begins a comment at the head of a line or after a
/// blank, so that a fragment is none. `first` is the number of the text's first line in its file.
pub(super) fn lines(text: &str, first: u32) -> impl Iterator<Item = Line<'_>> {
    text.split('\n').zip(first..).filter_map(|(line, number)| {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            return None;
        }
        let (entry, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        Some(Line { number, entry, rest: rest.trim() })
    })
}

impl Imported {
    /// Takes in the seed of a line, with what follows it as a note; `no_url` says why it is none.
    pub(super) fn take_line(
        &mut self,
        line: &Line<'_>,
        scheme: &str,
        no_url: impl Fn(&str) -> String,
    ) -> Result<()> {
        let Some(url) = with_scheme(line.entry, scheme) else {
            self.skip(line.number, no_url(line.entry));
            return Ok(());
        };
        let mut seed = ImportedSeed::new(&url);
        seed.label("note", line.rest.trim_start_matches('#'));
        self.take(line.number, seed)
    }
}

/// Counts the lines of a text up to a place that only moves on.
pub(super) struct LineCounter<'a> {
    text: &'a [u8],
    offset: usize,
    line: u32,
}

impl LineCounter<'_> {
    pub(super) fn new(text: &str) -> LineCounter<'_> {
        LineCounter { text: text.as_bytes(), offset: 0, line: 1 }
    }

    pub(super) fn at(&mut self, offset: usize) -> u32 {
        let offset = offset.clamp(self.offset, self.text.len());
        let newlines = self.text[self.offset..offset].iter().filter(|byte| **byte == b'\n').count();
        self.offset = offset;
        self.line = self.line.saturating_add(u32::try_from(newlines).unwrap_or(u32::MAX));
        self.line
    }
}

/// The URL an entry means: with a scheme as it is, a bare host (`vg.no`, `vg.no:81/a`, `localhost`)
/// with this one. None if it is neither.
pub(super) fn with_scheme(entry: &str, scheme: &str) -> Option<String> {
    if has_scheme(entry) {
        return Some(entry.to_owned());
    }
    let authority = entry.split(['/', '?', '#']).next().unwrap_or(entry);
    let host = authority.rsplit_once(':').map_or(authority, |(host, _)| host);
    is_bare_host(host).then(|| format!("{scheme}://{entry}"))
}

fn has_scheme(entry: &str) -> bool {
    let Some((scheme, _)) = entry.split_once("://") else { return false };
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
}

/// Stricter than the URL standard, which takes `1,google.com` for a host: letters, digits, dashes
/// and dots.
fn is_bare_host(host: &str) -> bool {
    let letters = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    let dotted = host.trim_matches('.').contains('.') || host.eq_ignore_ascii_case("localhost");
    dotted && host.chars().all(letters) && Host::parse(host).is_ok()
}
