//! From the model back to what people read: JSON as the config file has it, and YAML.

use std::io::{self, Write};

use policy::model::{Collection, Profile, Seed, Settings};
use policy::scope::Pattern;
use policy::unit::{print_duration, print_size};
use serde_json::{Map, Value, json};

use crate::Declared;
use crate::field::Record;
use crate::keys::{Kind, Table};
use crate::value::{Data, Fields};
use crate::walks::WalkDraft;

/// Longer lists get a line for each entry.
const LISTED_ON_ONE_LINE: usize = 4;

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
        (Data::Range(fast, slow), _) => {
            format!("{}..{}", print_duration(*fast), print_duration(*slow)).into()
        }
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

/// A config file that declares it. What is as it would be without a word is not said, but for the
/// politeness of hosts and groups, which would be as in the settings.
pub(crate) fn write_config(out: &mut impl Write, declared: &Declared) -> io::Result<()> {
    if *declared == Declared::default() {
        // An empty file is no config.
        return writeln!(out, "collections: []");
    }
    let settings = terse(&written(&declared.settings), &written(&Settings::default()));
    if let Value::Object(said) = &settings
        && !said.is_empty()
    {
        writeln!(out, "settings:")?;
        block(out, said, 2, false)?;
    }
    let collection = written(&Collection::default());
    let collections = declared.collections.iter().map(|own| terse(&written(own), &collection));
    section(out, "collections", collections)?;
    let profile = written(&Profile::default());
    section(out, "profiles", declared.profiles.iter().map(|own| terse(&written(own), &profile)))?;
    let seed = written(&Seed::default());
    section(out, "seeds", declared.seeds.iter().map(|own| terse(&written(own), &seed)))?;
    let whole = Value::Null;
    section(out, "host_groups", declared.groups.iter().map(|own| terse(&written(own), &whole)))?;
    section(out, "hosts", declared.hosts.iter().map(|own| terse(&written(own), &whole)))?;
    let walk = written(&WalkDraft::default());
    let walks = declared.walks.iter().map(|own| terse(&written(&WalkDraft::from(own)), &walk));
    section(out, "walks", walks)
}

/// Without what is as by default, and what there is none of.
pub(crate) fn terse(value: &Value, default: &Value) -> Value {
    let Value::Object(entries) = value else { return value.clone() };
    let is_nothing = |value: &Value| match value {
        Value::Null => true,
        Value::Object(inner) => inner.is_empty(),
        _ => false,
    };
    let said = entries.iter().filter(|(key, value)| default.get(key) != Some(value));
    let said = said.map(|(key, value)| (key.clone(), terse(value, default.get(key).unwrap_or(&Value::Null))));
    Value::Object(said.filter(|(_, value)| !is_nothing(value)).collect())
}

fn section(out: &mut impl Write, name: &str, entries: impl Iterator<Item = Value>) -> io::Result<()> {
    let mut entries = entries.peekable();
    if entries.peek().is_some() {
        writeln!(out, "{name}:")?;
    }
    entries.try_for_each(|entry| match &entry {
        Value::Object(entry) => block(out, entry, 4, true),
        entry => writeln!(out, "  - {}", plain(entry)),
    })
}

/// A map, what names it first; `bullet`: as an entry of a list.
fn block(out: &mut impl Write, map: &Map<String, Value>, indent: usize, bullet: bool) -> io::Result<()> {
    const NAMING: [&str; 4] = ["name", "host", "template", "url"];
    let place = |key: &str, value: &Value| {
        let naming = NAMING.iter().position(|first| *first == key).unwrap_or(NAMING.len());
        (value.is_object(), naming)
    };
    let mut entries: Vec<(&String, &Value)> = map.iter().collect();
    entries.sort_by_key(|(key, value)| place(key, value));
    for (number, (key, value)) in entries.into_iter().enumerate() {
        let before = match bullet && number == 0 {
            true => format!("{}- ", " ".repeat(indent - 2)),
            false => " ".repeat(indent),
        };
        let key = plain(&Value::from(key.as_str()));
        match value {
            Value::Object(inner) if !inner.is_empty() => {
                writeln!(out, "{before}{key}:")?;
                block(out, inner, indent + 2, false)?;
            }
            Value::Array(items) if items.len() > LISTED_ON_ONE_LINE => {
                writeln!(out, "{before}{key}:")?;
                let after = " ".repeat(indent + 2);
                items.iter().try_for_each(|item| writeln!(out, "{after}- {}", plain(item)))?;
            }
            value => writeln!(out, "{before}{key}: {}", plain(value))?,
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
