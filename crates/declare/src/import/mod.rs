//! Seed lists from where users come from: plain lists of URLs, Heritrix, Veidemann.
//!
//! Each reader is a pure function from bytes to [`Imported`]: the seeds it found, and the lines it
//! left out with the reason. A list is somebody else's data, so one bad line never spoils the rest;
//! only a file that is not what it was called (no UTF-8, broken XML) is an error. Sizes are bounded
//! here, once for all readers.

mod cxml;
mod heritrix;
mod lines;
mod render;
mod surt;
mod urls;
mod veidemann;

use std::collections::HashMap;

use anyhow::{Result, anyhow, bail};
use policy::url::{UrlRules, normalise};

use crate::{At, excerpt};

pub use heritrix::heritrix;
pub use render::{to_json_lines, to_yaml};
pub use urls::urls;
pub use veidemann::veidemann;

/// Largest file that is taken; the list of all domains below a large TLD is a tenth of it.
pub const IMPORT_BYTES_MAX: u64 = 256 << 20;

/// Most seeds of one file.
const SEEDS_MAX: usize = 5_000_000;

/// Skipped lines that are told; the rest is counted.
const SKIPPED_TOLD_MAX: usize = 10_000;

/// Labels and notes are cut to this, in characters: they become comments.
const LABEL_CHARS_MAX: usize = 300;

#[derive(Debug, Default)]
pub struct Imported {
    pub seeds: Vec<ImportedSeed>,
    /// Line and reason, in the order of the file.
    pub skipped: Vec<(u32, String)>,
    /// Skipped lines beyond those.
    pub skipped_more: usize,
    /// Normalised URL → the line it was on.
    known: HashMap<String, u32>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedSeed {
    /// In normal form.
    pub url: String,
    pub name: Option<String>,
    pub active: bool,
    /// What else the list knew, as key and value: `entity`, `description`, `note`, labels.
    pub labels: Vec<(String, String)>,
}

impl ImportedSeed {
    fn new(url: &str) -> ImportedSeed {
        ImportedSeed { url: url.to_owned(), name: None, active: true, labels: Vec::new() }
    }

    fn label(&mut self, key: &str, value: &str) {
        let clean = |text: &str| -> String {
            let words: Vec<&str> = text
                .split(|c: char| c.is_whitespace() || c.is_control())
                .filter(|word| !word.is_empty())
                .collect();
            words.join(" ").chars().take(LABEL_CHARS_MAX).collect()
        };
        let (key, value) = (clean(key), clean(value));
        if !value.is_empty() {
            self.labels.push((key, value));
        }
    }
}

impl Imported {
    /// Where a seed was.
    pub fn line_of(&self, url: &str) -> Option<u32> {
        self.known.get(url).copied()
    }

    fn skip(&mut self, line: u32, reason: impl Into<String>) {
        match self.skipped.len() < SKIPPED_TOLD_MAX {
            true => self.skipped.push((line, reason.into())),
            false => self.skipped_more += 1,
        }
    }

    /// Takes in a seed whose URL has a scheme; one that is no URL, or was there before, is skipped.
    fn take(&mut self, line: u32, mut seed: ImportedSeed) -> Result<()> {
        let url = match normalise(&seed.url, None, &UrlRules::default()) {
            Ok(url) => url.as_str().to_owned(),
            Err(refusal) => {
                self.skip(line, format!("{}: {refusal}", excerpt(&seed.url)));
                return Ok(());
            }
        };
        if let Some(first) = self.known.get(&url) {
            self.skip(line, format!("{} is on line {first} already", excerpt(&url)));
            return Ok(());
        }
        if self.seeds.len() >= SEEDS_MAX {
            bail!("more than {SEEDS_MAX} seeds in one file: split it");
        }
        self.known.insert(url.clone(), line);
        seed.url = url;
        self.seeds.push(seed);
        Ok(())
    }
}

/// Text, with a byte order mark taken off.
fn text_of(bytes: &[u8]) -> Result<&str> {
    let text = str::from_utf8(bytes).map_err(|error| {
        let at = At::of_byte(bytes, error.valid_up_to());
        anyhow!("line {} is not UTF-8", at.line)
    })?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

#[cfg(test)]
mod tests;
