//! How data is shown to a person: tables, and what stands in them.

mod table;

pub(crate) use table::{Column, Table, left, right};

pub(crate) fn text_or_dash(text: Option<&str>) -> String {
    text.unwrap_or("–").to_owned()
}

pub(crate) fn number_or_dash(number: Option<impl ToString>) -> String {
    number.map_or_else(|| "–".to_owned(), |number| number.to_string())
}
