//! Heritrix 3: `seeds.txt`, and job files (`crawler-beans.cxml`), which are told apart by their
//! content.
//!
//! As in Heritrix, a bare host is an http URL and a line that begins with `+` is no seed but a SURT
//! prefix that widens the scope. Scope belongs to profiles here, so such lines are skipped, and the
//! reason gives the pattern to add to a profile.

use anyhow::Result;

use super::cxml::seed_texts;
use super::lines::{Line, lines};
use super::surt::include_of;
use super::{Imported, text_of};
use crate::excerpt;

pub fn heritrix(bytes: &[u8]) -> Result<Imported> {
    let text = text_of(bytes)?;
    let mut imported = Imported::default();
    if text.trim_start().starts_with('<') {
        for (first, text) in seed_texts(text, &mut imported)? {
            read_lines(&text, first, &mut imported)?;
        }
    } else {
        read_lines(text, 1, &mut imported)?;
    }
    Ok(imported)
}

fn read_lines(text: &str, first: u32, imported: &mut Imported) -> Result<()> {
    for line in lines(text, first) {
        match line.entry.strip_prefix(['+', '-']) {
            Some(directive) => imported.skip(line.number, directive_reason(&line, directive)),
            None => imported
                .take_line(&line, "http", |entry| format!("{} is neither URL nor host", excerpt(entry)))?,
        }
    }
    Ok(())
}

fn directive_reason(line: &Line<'_>, directive: &str) -> String {
    let list = if line.entry.starts_with('+') { "include" } else { "exclude" };
    let directive = if directive.is_empty() { line.rest } else { directive };
    match include_of(directive) {
        Some(pattern) => {
            format!("a SURT directive, no seed; the profile's scope says it with `{list}: [{pattern}]`")
        }
        None => format!("a SURT directive, no seed; say it with `{list}` in the profile's scope"),
    }
}
