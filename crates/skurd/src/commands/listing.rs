//! Lists of the API on the command line: page by page, as a table or as JSON lines.

use std::io::{BufWriter, StdoutLock, Write};
use std::path::Path;

use anyhow::{Context, Result};
use app::page::{LIMIT_MAX, Page};
use harvest::session::{note, stdout};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use server::client::{Call, Client};

use crate::output::{Column, Table};

/// The parts of a query that were given.
pub(super) fn given<const N: usize>(parts: [(&str, Option<String>); N]) -> Vec<(&str, String)> {
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
        let mut printer = Printer::new(self.columns, self.json);
        let print = |items: &[Box<RawValue>], _: Option<&str>| printer.page(items, &row);
        let limit = self.limit.unwrap_or(u64::MAX);
        let (found, _) = print_pages(ask, self.path, &self.query, limit, None, print)?;
        printer.out.flush()?;
        Ok(!found && !self.json)
    }
}

/// Prints page after page of a list, from a cursor on and up to a limit; `print` hears also where a
/// list goes on that is cut off. Says whether there was anything, and where the list goes on.
pub(super) fn print_pages(
    ask: &Client,
    path: &str,
    query: &[(&str, String)],
    limit: u64,
    after: Option<String>,
    mut print: impl FnMut(&[Box<RawValue>], Option<&str>) -> Result<()>,
) -> Result<(bool, Option<String>)> {
    let (mut left, mut found, mut next) = (limit, false, after);
    while left > 0 {
        let limit = usize::try_from(left).unwrap_or(LIMIT_MAX).min(LIMIT_MAX);
        let place = given([("limit", Some(limit.to_string())), ("cursor", next)]);
        let page: Page<Box<RawValue>> = ask.ask(&Call::get(path, [query, &place].concat()))?;
        left = left.saturating_sub(page.items.len() as u64);
        found |= !page.items.is_empty();
        next = page.next;
        print(&page.items, next.as_deref().filter(|_| left == 0))?;
        if next.is_none() {
            break;
        }
    }
    Ok((found, next))
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
