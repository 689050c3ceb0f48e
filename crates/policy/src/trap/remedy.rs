//! The expressions that end a trap.

use std::fmt::Write;

use super::shape::{ANY, KEYS_FREE, Shape};

/// Everything up to the path, of all spellings of the host.
pub(super) fn host(site: &str) -> String {
    format!(r"^https?://(?:www\.)?{}(?::[0-9]+)?", regex::escape(site))
}

/// All URLs of a template.
pub(super) fn template(site: &str, shape: &Shape) -> String {
    let mut text = host(site);
    path(shape, &mut text);
    match shape.query.as_deref() {
        None => text.push('$'),
        Some("") => text.push_str(r"\?$"),
        Some(keys) if is_free(keys) => text.push_str(&many_keys(KEYS_FREE)),
        Some(keys) => {
            let keys: Vec<String> = keys.split('&').map(regex::escape).collect();
            let _ = write!(text, r"\?(?:&*(?:{})(?:=[^&]*)?(?:&|$))+$", keys.join("|"));
        }
    }
    text
}

pub(super) fn path(shape: &Shape, text: &mut String) {
    for piece in &shape.pieces {
        text.push('/');
        text.push_str(&segment(piece));
    }
}

fn is_free(keys: &str) -> bool {
    keys == format!("{KEYS_FREE}+")
}

/// A query of so many parameters or more.
pub(super) fn many_keys(keys: usize) -> String {
    format!(r"\?[^&]+(?:&+[^&]+){{{},}}", keys.saturating_sub(1))
}

/// What a piece of a shape stands for.
pub(super) fn segment(piece: &str) -> String {
    if piece == ANY {
        return "[^/?]+".to_owned();
    }
    let mut text = String::new();
    let mut rest = piece;
    while let Some(at) = rest.find('{') {
        text.push_str(&regex::escape(&rest[..at]));
        rest = &rest[at..];
        let end = rest.find('}').map_or(rest.len(), |end| end + 1);
        text.push_str(match &rest[..end] {
            "{n}" => "[0-9]+",
            "{date}" => "[0-9]{4}[-_.][0-9]{1,2}[-_.][0-9]{1,2}",
            _ => "[0-9A-Za-z-]+",
        });
        rest = &rest[end..];
    }
    text.push_str(&regex::escape(rest));
    text
}

/// Paths that say one of these segments twice.
pub(super) fn repeating(site: &str, segments: &[&str]) -> String {
    let twice = |segment: &&str| {
        let segment = regex::escape(segment);
        format!("{segment}/(?:[^?]*/)?{segment}(?:[/?]|$)")
    };
    let all: Vec<String> = segments.iter().map(twice).collect();
    format!("{}/(?:[^?]*/)?(?:{})", host(site), all.join("|"))
}

/// Paths that have a run of like segments.
pub(super) fn running(site: &str, piece: &str, times: usize) -> String {
    format!("{}[^?]*(?:/{}){{{times},}}", host(site), segment(piece))
}
