//! Lists with one entry a line, as `urls` and Heritrix have them.

use url::Host;

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
