//! Lists of the API on the command line: page by page, as a table or as JSON lines.

use std::io::Write;

use anyhow::{Context, Result};
use harvest::session::stdout;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use server::client::Client;

use crate::output::{Column, Table};

/// What is listed, and how.
pub(super) struct Listing<'a> {
    pub(super) path: &'a str,
    pub(super) query: Vec<(&'a str, String)>,
    pub(super) limit: Option<u64>,
    pub(super) json: bool,
    pub(super) columns: &'static [Column],
}

impl Listing<'_> {
    /// Prints it; says whether there was anything.
    pub(super) fn print<T: DeserializeOwned>(
        self,
        ask: &Client,
        cells: impl Fn(&T) -> Vec<String>,
    ) -> Result<bool> {
        let mut left = usize::try_from(self.limit.unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
        if left == 0 {
            return Ok(false);
        }
        let mut printer = Printer::new(self.columns, self.json);
        let mut found = false;
        ask.pages(self.path, self.query, |items| {
            let items = &items[..items.len().min(left)];
            left -= items.len();
            found |= !items.is_empty();
            printer.page(items, &cells)?;
            Ok(left > 0)
        })?;
        printer.out.flush()?;
        Ok(found)
    }
}

/// Rows as a person or a program wants them.
pub(super) struct Printer<W> {
    pub(super) out: W,
    table: Table,
    json: bool,
}

impl Printer<std::io::BufWriter<std::io::StdoutLock<'static>>> {
    pub(super) fn new(columns: &'static [Column], json: bool) -> Self {
        Printer { out: stdout(), table: Table::new(columns), json }
    }
}

impl<W: Write> Printer<W> {
    pub(super) fn page<T: DeserializeOwned>(
        &mut self,
        items: &[Box<RawValue>],
        cells: impl Fn(&T) -> Vec<String>,
    ) -> Result<()> {
        if self.json {
            return Ok(items.iter().try_for_each(|item| writeln!(self.out, "{item}"))?);
        }
        let mut rows = Vec::with_capacity(items.len());
        for item in items {
            let item =
                serde_json::from_str(item.get()).context("the answer of the server is not understood")?;
            rows.push(cells(&item));
        }
        Ok(self.table.page(&mut self.out, &rows)?)
    }
}
