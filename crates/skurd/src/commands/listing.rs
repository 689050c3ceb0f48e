//! Lists of the API on the command line: page by page, as a table or as JSON lines.

use std::io::{BufWriter, StdoutLock, Write};
use std::path::Path;

use anyhow::{Context, Result};
use harvest::session::{note, stdout};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use server::client::Client;

use crate::output::{Column, Table};

/// The parts of a query that were given.
pub(super) fn given<'a, const N: usize>(parts: [(&'a str, Option<String>); N]) -> Vec<(&'a str, String)> {
    parts.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// What is listed, and how.
pub(super) struct Listing<'a, T> {
    pub(super) path: &'a str,
    pub(super) query: Vec<(&'a str, String)>,
    pub(super) limit: Option<u64>,
    pub(super) json: bool,
    pub(super) columns: &'a [Column<T>],
}

impl<T: DeserializeOwned> Listing<'_, T> {
    /// Prints it; true if a person is to be told that there is nothing.
    pub(super) fn print(self, dir: &Path) -> Result<bool> {
        self.print_as(&Client::open(dir)?, |item: T| item)
    }

    /// Prints it, or says that there is nothing.
    pub(super) fn print_or(self, dir: &Path, nothing: &str) -> Result<()> {
        if self.print(dir)? { note(nothing) } else { Ok(()) }
    }
}

impl<T> Listing<'_, T> {
    /// The same where a row is made of what is listed.
    pub(super) fn print_as<I: DeserializeOwned>(self, ask: &Client, row: impl Fn(I) -> T) -> Result<bool> {
        let mut left = usize::try_from(self.limit.unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
        let mut printer = Printer::new(self.columns, self.json);
        let mut found = false;
        if left > 0 {
            ask.pages(self.path, self.query, |items| {
                let items = &items[..items.len().min(left)];
                left -= items.len();
                found |= !items.is_empty();
                printer.page(items, &row)?;
                Ok(left > 0)
            })?;
        }
        printer.out.flush()?;
        Ok(!found && !self.json)
    }
}

/// Rows as a person or a program wants them.
pub(super) struct Printer<'a, T> {
    pub(super) out: BufWriter<StdoutLock<'static>>,
    table: Table<'a, T>,
    json: bool,
}

impl<'a, T> Printer<'a, T> {
    pub(super) fn new(columns: impl IntoIterator<Item = &'a Column<T>>, json: bool) -> Self {
        Printer { out: stdout(), table: Table::new(columns), json }
    }

    pub(super) fn page<I: DeserializeOwned>(
        &mut self,
        items: &[Box<RawValue>],
        row: impl Fn(I) -> T,
    ) -> Result<()> {
        if self.json {
            return Ok(items.iter().try_for_each(|item| writeln!(self.out, "{item}"))?);
        }
        let rows: serde_json::Result<Vec<T>> =
            items.iter().map(|item| serde_json::from_str(item.get()).map(&row)).collect();
        Ok(self.table.page(&mut self.out, &rows.context("the answer of the server is not understood")?)?)
    }
}
