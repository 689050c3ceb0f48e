//! From the model back to what people read: JSON as the config file has it, and YAML.

use std::io::{self, Write};

use policy::scope::Pattern;
use policy::unit::{print_duration, print_size};
use serde_json::{Map, Value, json};

use crate::field::Record;
use crate::keys::{Kind, Table};
use crate::value::{Data, Fields};

/// What the config file would say of it.
pub fn written<R: Record>(record: &R) -> Value {
    fields(&record.fields(), R::TABLE)
}

fn fields(fields: &Fields, table: &Table) -> Value {
    let said = fields.given().filter_map(|(name, said)| {
        table.key(name).map(|key| (name.to_owned(), value(&said.data, &key.kind)))
    });
    Value::Object(said.collect())
}

pub(crate) fn value(data: &Data, kind: &Kind) -> Value {
    match (data, kind) {
        (Data::None, _) => Value::Null,
        (Data::Bool(yes), _) => json!(yes),
        (Data::Span(span), _) => print_duration(*span).into(),
        (Data::Number(bytes), Kind::Size { .. }) => print_size(*bytes).into(),
        (Data::Number(number), _) => json!(number),
        (Data::Factor(factor), _) => json!(factor),
        (Data::Text(text) | Data::Url { given: text, .. }, _) => text.as_str().into(),
        (Data::Regex(Pattern::Regex(regex)), _) => regex.source().into(),
        (Data::List(items), Kind::List { of, .. }) => {
            items.iter().map(|item| value(&item.data, of)).collect()
        }
        (Data::Fields(said), Kind::Table(table) | Kind::OneOf(table) | Kind::ChoiceOr(_, table)) => {
            fields(said, table)
        }
        (Data::Headers(headers), _) => {
            let entries = headers.iter().map(|(name, value)| (name.clone(), value.as_str().into()));
            Value::Object(entries.collect::<Map<String, Value>>())
        }
        (Data::Regex(_) | Data::List(_) | Data::Fields(_), _) => Value::Null,
    }
}

/// A default on one line, as the example writes it.
pub(crate) fn line(value: &Value) -> String {
    match value {
        Value::Bool(yes) => yes_or_no(*yes).to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) => format!("[{}]", items.iter().map(line).collect::<Vec<String>>().join(", ")),
        value => value.as_f64().map_or_else(|| value.to_string(), |number| number.to_string()),
    }
}

fn yes_or_no(yes: bool) -> &'static str {
    if yes { "yes" } else { "no" }
}

/// An object as an entry of the config file: its name first, maps last, lists and odd texts in
/// JSON, which is YAML.
pub fn to_yaml(out: &mut impl Write, object: &Value) -> io::Result<()> {
    let Value::Object(entries) = object else { return writeln!(out, "{object}") };
    let place = |key: &str, value: &Value| (value.is_object(), key != "name");
    let mut entries: Vec<(&String, &Value)> = entries.iter().collect();
    entries.sort_by_key(|(key, value)| place(key, value));
    for (key, value) in entries {
        match value {
            Value::Object(inner) if !inner.is_empty() => {
                writeln!(out, "{key}:")?;
                inner.iter().try_for_each(|(key, value)| writeln!(out, "  {key}: {}", plain(value)))?;
            }
            value => writeln!(out, "{key}: {}", plain(value))?,
        }
    }
    Ok(())
}

/// `yes`, `null`, and words without quotes where nothing in them could mean anything to YAML.
fn plain(value: &Value) -> String {
    match value {
        Value::Bool(active) => yes_or_no(*active).to_owned(),
        Value::String(text) if is_word(text) => text.clone(),
        value => value.to_string(),
    }
}

fn is_word(text: &str) -> bool {
    let harmless = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let reserved = ["yes", "no", "on", "off", "true", "false", "null", "none"];
    !text.is_empty()
        && text.chars().all(harmless)
        && text.contains(|c: char| c.is_ascii_alphabetic())
        && !reserved.contains(&text.to_ascii_lowercase().as_str())
        && !text.starts_with('-')
}
