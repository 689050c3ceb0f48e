//! Plain lists: one URL or domain a line.
//!
//! The first word of a line is the entry; what follows it is kept as a note, so columns after a
//! blank or tab do no harm. Commas do not separate, since URLs may hold them: `1,vg.no` is skipped,
//! and the reason says why.

use anyhow::Result;

use super::lines::lines;
use super::{Imported, text_of};
use crate::excerpt;

pub fn urls(bytes: &[u8]) -> Result<Imported> {
    let mut imported = Imported::default();
    for line in lines(text_of(bytes)?, 1) {
        imported.take_line(&line, "https", reason)?;
    }
    Ok(imported)
}

fn reason(entry: &str) -> String {
    let shown = excerpt(entry);
    match entry.contains([',', ';', '"']) {
        true => format!(
            "{shown} is neither URL nor domain; a table wants its URLs in the first column, then a tab"
        ),
        false => format!("{shown} is neither URL nor domain"),
    }
}
