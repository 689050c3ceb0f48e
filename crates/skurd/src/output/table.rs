//! A table that is printed while its rows are still being read.

use std::io::{self, Write};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Align {
    Left,
    Right,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    name: &'static str,
    align: Align,
}

pub(crate) const fn left(name: &'static str) -> Column {
    Column { name, align: Align::Left }
}

pub(crate) const fn right(name: &'static str) -> Column {
    Column { name, align: Align::Right }
}

/// Columns are as wide as the widest cell so far: the first page decides, and later ones may widen
/// them.
#[derive(Debug)]
pub(crate) struct Table {
    columns: &'static [Column],
    widths: Vec<usize>,
    has_head: bool,
}

impl Table {
    pub(crate) fn new(columns: &'static [Column]) -> Table {
        Table { columns, widths: columns.iter().map(|column| width(column.name)).collect(), has_head: false }
    }

    /// Prints some rows, and before the first of all the head.
    pub(crate) fn page(&mut self, out: &mut impl Write, rows: &[Vec<String>]) -> io::Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        for row in rows {
            for (widest, cell) in self.widths.iter_mut().zip(row) {
                *widest = width(cell).max(*widest);
            }
        }
        if !self.has_head {
            self.has_head = true;
            let head: Vec<String> = self.columns.iter().map(|column| column.name.to_owned()).collect();
            self.line(out, &head)?;
        }
        rows.iter().try_for_each(|row| self.line(out, row))
    }

    fn line(&self, out: &mut impl Write, cells: &[String]) -> io::Result<()> {
        let mut line = String::new();
        for ((column, cell), wanted) in self.columns.iter().zip(cells).zip(&self.widths) {
            let blanks = " ".repeat(wanted.saturating_sub(width(cell)));
            match column.align {
                Align::Left => line.extend([cell, blanks.as_str()]),
                Align::Right => line.extend([blanks.as_str(), cell]),
            }
            line.push_str("  ");
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
        const COLUMNS: [Column; 3] = [left("host"), right("urls"), left("note")];
        let mut table = Table::new(&COLUMNS);
        let row = |a: &str, b: &str, c: &str| vec![a.to_owned(), b.to_owned(), c.to_owned()];
        let mut out = Vec::new();
        table.page(&mut out, &[]).unwrap();
        table.page(&mut out, &[row("å.no", "12345", "x"), row("b", "1", "")]).unwrap();
        table.page(&mut out, &[row("longer.no", "2", "y")]).unwrap();
        let expected = "host   urls  note\nå.no  12345  x\nb         1\nlonger.no      2  y\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
