//! How data is shown to a person: lines, tables, and what stands in them.

use std::fmt::Display;
use std::io::{self, Write};

use anyhow::Result;
use harvest::session::stdout;
use serde::Serialize;
use serde_json::{Value, json};

/// Prints a line, or several.
pub(crate) fn line(text: impl Display) -> Result<()> {
    let mut out = stdout();
    writeln!(out, "{text}")?;
    Ok(out.flush()?)
}

/// A value as a person reads it.
pub(crate) fn shown(value: impl Serialize) -> String {
    fn text(value: &Value) -> String {
        match value {
            Value::Null => "–".to_owned(),
            Value::Bool(yes) => if *yes { "yes" } else { "no" }.to_owned(),
            Value::String(text) => text.clone(),
            Value::Array(items) => items.iter().map(text).collect::<Vec<_>>().join(", "),
            value => value.to_string(),
        }
    }
    text(&json!(value))
}

/// A column of a table whose rows are made of `T`.
pub(crate) struct Column<T> {
    pub(crate) name: &'static str,
    to_the_right: bool,
    cell: fn(&T) -> String,
}

pub(crate) const fn left<T>(name: &'static str, cell: fn(&T) -> String) -> Column<T> {
    Column { name, to_the_right: false, cell }
}

pub(crate) const fn right<T>(name: &'static str, cell: fn(&T) -> String) -> Column<T> {
    Column { name, to_the_right: true, cell }
}

/// A table that is printed while its rows are still being read. Columns are as wide as the widest
/// cell so far: the first page decides, and later ones may widen them.
pub(crate) struct Table<'a, T> {
    columns: Vec<&'a Column<T>>,
    widths: Vec<usize>,
    has_head: bool,
}

impl<'a, T> Table<'a, T> {
    pub(crate) fn new(columns: impl IntoIterator<Item = &'a Column<T>>) -> Table<'a, T> {
        let columns: Vec<_> = columns.into_iter().collect();
        Table { widths: vec![0; columns.len()], columns, has_head: false }
    }

    /// Prints some rows, and before the first of all the head.
    pub(crate) fn page(&mut self, out: &mut impl Write, items: &[T]) -> io::Result<()> {
        let row = |item| self.columns.iter().map(|column| (column.cell)(item)).collect();
        let mut rows: Vec<Vec<String>> = items.iter().map(row).collect();
        if !rows.is_empty() && !std::mem::replace(&mut self.has_head, true) {
            rows.insert(0, self.columns.iter().map(|column| column.name.to_owned()).collect());
        }
        for row in &rows {
            for (widest, cell) in self.widths.iter_mut().zip(row) {
                *widest = width(cell).max(*widest);
            }
        }
        rows.iter().try_for_each(|row| self.line(out, row))
    }

    fn line(&self, out: &mut impl Write, cells: &[String]) -> io::Result<()> {
        let mut line = String::new();
        for ((column, cell), wanted) in self.columns.iter().zip(cells).zip(&self.widths) {
            let blanks = " ".repeat(wanted.saturating_sub(width(cell)));
            let (first, then) = if column.to_the_right { (&blanks, cell) } else { (cell, &blanks) };
            line.extend([first, then, "  "]);
        }
        writeln!(out, "{}", line.trim_end())
    }
}

fn width(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i2_columns_line_up_and_have_one_head() {
        const COLUMNS: [Column<[&str; 3]>; 3] = [
            left("host", |row| shown(row[0])),
            right("urls", |row| shown(row[1])),
            left("note", |row| shown(row[2])),
        ];
        let mut table = Table::new(&COLUMNS);
        let mut out = Vec::new();
        table.page(&mut out, &[]).unwrap();
        table.page(&mut out, &[["å.no", "12345", "x"], ["b", "1", ""]]).unwrap();
        table.page(&mut out, &[["longer.no", "2", "y"]]).unwrap();
        let expected = "host   urls  note\nå.no  12345  x\nb         1\nlonger.no      2  y\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
