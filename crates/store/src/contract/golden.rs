//! Rows as they are written, kept in a file: whoever changes the bytes of a row type is noticed.
//!
//! A line has a table, a version and the stored bytes of a sample. The newest version of each table
//! is compared with what the sample is written as now; lines of older versions stay for ever, and
//! are given back to be read.

use std::fmt::Write as _;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::key::Key;
use crate::table::{Raw, Table};
use crate::upgrade::{CLOSED_FORMAT, FORMAT};

/// Set to `write`, lets the file have the rows of the present format as they are now.
const SWITCH: &str = "SKURD_GOLDEN";

/// A row of a table with something in every field.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sample {
    pub table: &'static str,
    pub version: u8,
    pub stored: Vec<u8>,
}

impl Sample {
    pub fn of<K: Key + 'static, V: Serialize + DeserializeOwned>(table: &Table<K, V>, value: &V) -> Sample {
        let stored = table.stored(value).unwrap();
        // What is written reads, to its last byte.
        assert_eq!(table.stored(&table.value_from(&stored).unwrap()).unwrap(), stored, "{}", table.name());
        Sample { table: table.name(), version: table.newest(), stored }
    }

    pub fn raw<K: Key + 'static>(table: &Table<K, Raw>, content: &[u8]) -> Sample {
        Sample { table: table.name(), version: table.newest(), stored: table.stored_raw(content) }
    }

    fn line(&self) -> String {
        line(self.table, self.version, &self.stored)
    }
}

fn line(table: &str, version: u8, stored: &[u8]) -> String {
    let mut text = format!("{table}\t{version}\t");
    stored.iter().for_each(|byte| write!(text, "{byte:02x}").unwrap());
    text
}

/// A row of a version that is not written any more.
#[derive(Clone, Debug)]
pub struct Older {
    pub table: String,
    pub version: u8,
    pub stored: Vec<u8>,
}

/// Compares the samples of all `tables` with the file.
pub fn check(file: &Path, tables: &[(u8, &'static str, u8)], samples: &[Sample]) -> Vec<Older> {
    for (_, table, _) in tables {
        assert!(samples.iter().any(|sample| sample.table == *table), "table {table} has no sample here");
    }
    let kept = std::fs::read_to_string(file).unwrap_or_default();
    let mut kept: Vec<&str> = kept.lines().collect();
    let now: Vec<String> = samples.iter().map(Sample::line).collect();
    if std::env::var_os(SWITCH).is_some_and(|value| value == "write") {
        // What people have stays; a table that has nothing here yet gets its first lines.
        kept.retain(|line| version_of(line) <= CLOSED_FORMAT);
        let is_kept =
            |line: &&str| kept.iter().any(|kept| table_and_version(kept) == table_and_version(line));
        let mut all: Vec<&str> = now.iter().map(String::as_str).filter(|line| !is_kept(line)).collect();
        all.extend(&kept);
        all.sort_unstable();
        all.dedup();
        std::fs::write(file, all.join("\n") + "\n").unwrap();
        return Vec::new();
    }
    for (sample, line) in samples.iter().zip(&now) {
        assert!(kept.contains(&line.as_str()), "{}", advice(sample, file));
    }
    let newest = |table: &str| samples.iter().find(|s| s.table == table).map_or(0, |s| s.version);
    let older = kept.iter().filter(|line| {
        let table = line.split('\t').next().unwrap();
        version_of(line) < newest(table)
    });
    older.map(|line| older_row(line)).collect()
}

fn advice(sample: &Sample, file: &Path) -> String {
    let (table, version, file) = (sample.table, sample.version, file.display());
    let what = format!("rows of `{table}` are not written as {file} has them for version {version}");
    if version <= CLOSED_FORMAT {
        return format!(
            "{what}, and people have such rows: give the table a new version (FORMAT is {FORMAT}), and say what the old rows mean: \
             the documentation of store::table tells how"
        );
    }
    format!(
        "{what}. Format {version} is not closed yet, so say what rows of older formats mean now, and then let the file have them: \
         {SWITCH}=write cargo test golden_rows"
    )
}

fn table_and_version(line: &str) -> (&str, u8) {
    (line.split('\t').next().unwrap_or_default(), version_of(line))
}

fn version_of(line: &str) -> u8 {
    line.split('\t').nth(1).and_then(|version| version.parse().ok()).unwrap_or_else(|| panic!("{line}"))
}

fn older_row(line: &str) -> Older {
    let hex = line.split('\t').nth(2).unwrap();
    let stored = (0..hex.len() / 2).map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).unwrap());
    Older {
        table: line.split('\t').next().unwrap().into(),
        version: version_of(line),
        stored: stored.collect(),
    }
}
