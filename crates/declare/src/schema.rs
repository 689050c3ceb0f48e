//! The config's JSON Schema (draft 2020-12), for editors that complete and check while one types.
//!
//! It says what single values look like. References between names, cycles and which of two
//! durations is longer are beyond it: `skurd config check` knows those.

use policy::unit;
use policy::walk::ID_MAX;
use serde_json::{Map, Value, json};

use crate::Problems;
use crate::keys::{Key, Kind, Need, Table, TextRule};
use crate::tables::ROOT;
use crate::yaml::{Data, Documents, Node};

pub fn schema() -> Value {
    let mut schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Skurd config",
        "description": "What Skurd harvests, when, and on whose behalf.",
    });
    merge(&mut schema, of_table(&ROOT));
    schema
}

fn of_table(table: &Table) -> Value {
    let properties: Map<String, Value> =
        table.keys.iter().map(|key| (key.name.to_owned(), of_key(table, key))).collect();
    let mut schema = json!({ "type": "object", "additionalProperties": false, "properties": properties });
    let required = names(table, |need| need == Need::Required);
    if !required.is_empty() {
        merge(&mut schema, json!({ "required": required }));
    }
    let unless = table.keys.iter().find_map(|key| match key.need {
        Need::RequiredUnless(other) => Some(other),
        _ => None,
    });
    if let Some(other) = unless {
        let otherwise = names(table, |need| need == Need::RequiredUnless(other));
        merge(&mut schema, json!({ "anyOf": [{ "required": [other] }, { "required": otherwise }] }));
    }
    schema
}

fn names(table: &Table, wanted: impl Fn(Need) -> bool) -> Vec<&'static str> {
    table.keys.iter().filter(|key| wanted(key.need)).map(|key| key.name).collect()
}

fn of_key(table: &Table, key: &Key) -> Value {
    let mut schema = of_kind(&key.kind);
    if key.may_be_null() {
        schema = json!({ "anyOf": [schema, { "enum": [null, "none"] }] });
    }
    let mut about = json!({ "description": key.doc });
    if let Some(default) = table.default_text(key) {
        merge(&mut about, json!({ "default": yaml_value(&default) }));
    }
    if !key.example.is_empty() {
        merge(&mut about, json!({ "examples": [yaml_value(key.example)] }));
    }
    merge(&mut about, schema);
    about
}

fn of_kind(kind: &Kind) -> Value {
    match kind {
        Kind::Bool => json!({ "enum": [true, false, "yes", "no", "on", "off"] }),
        Kind::Duration { .. } => json!({ "type": "string", "pattern": unit::DURATION_PATTERN }),
        Kind::Frequency => {
            let one = unit::DURATION_PATTERN.trim_start_matches('^').trim_end_matches('$');
            let two = one.replace("(?=.)", "(?=[^.])");
            json!({ "type": "string", "pattern": format!("^{two}( *\\.\\. *{two})?$") })
        }
        Kind::Size { max } => json!({ "anyOf": [
            { "type": "integer", "minimum": 1, "maximum": max },
            { "type": "string", "pattern": unit::SIZE_PATTERN },
        ] }),
        Kind::Count { min, max } => json!({ "type": "integer", "minimum": min, "maximum": max }),
        Kind::Id { min } => json!({ "type": "integer", "minimum": min, "maximum": ID_MAX }),
        Kind::Factor { min, max } => json!({ "type": "number", "minimum": min, "maximum": max }),
        Kind::Text(TextRule::Url) => json!({ "type": "string", "pattern": "^\\s*[Hh][Tt][Tt][Pp][Ss]?:" }),
        Kind::Text(TextRule::GroupName) => json!({ "type": "string", "pattern": "[ #/:<>?@^|%\\\\]" }),
        Kind::Text(TextRule::Template) => json!({ "type": "string", "pattern": "\\{id(:0[0-9]+)?\\}" }),
        Kind::Text(TextRule::Contact) => {
            json!({ "type": "string", "pattern": "@|^\\s*[Hh][Tt][Tt][Pp][Ss]?:" })
        }
        Kind::Text(TextRule::Path) => json!({ "type": "string", "pattern": "^/" }),
        Kind::Text(TextRule::Languages) => json!({ "type": "string", "pattern": "^[A-Za-z0-9, -]+$" }),
        Kind::Text(TextRule::TimeOfDay { .. }) => {
            json!({ "type": "string", "pattern": "^ *([01]?[0-9]|2[0-4]):[0-5][0-9] *$" })
        }
        Kind::Text(TextRule::Timezone | TextRule::Zone) => {
            json!({ "type": "string", "pattern": "^ *[A-Z][A-Za-z0-9_+-]*(/[A-Z][A-Za-z0-9_+-]*)* *$" })
        }
        Kind::Text(TextRule::Proxy) => {
            json!({ "type": "string", "pattern": "^ *([Hh][Tt][Tt][Pp]|[Ss][Oo][Cc][Kk][Ss]5)://.*:[0-9]+/? *$|^ *direct *$" })
        }
        Kind::Text(TextRule::Resolver | TextRule::Address) => {
            json!({ "type": "string", "pattern": "^[ 0-9A-Fa-f.:\\[\\]]+$" })
        }
        Kind::Text(TextRule::Status) => json!({ "anyOf": [
            { "type": "integer", "minimum": 100, "maximum": 599 },
            { "type": "string", "pattern": "^ *[1-5]([0-9][0-9](-[1-5][0-9][0-9])?|xx) *$" },
        ] }),
        // A name like 2024 is a number to YAML and a text to us.
        Kind::Text(_) => json!({ "type": ["string", "number", "boolean"], "minLength": 1 }),
        Kind::Choice(choices) => json!({ "enum": choices }),
        Kind::ChoiceOr(choices, table) => json!({ "anyOf": [{ "enum": choices }, of_table(table)] }),
        Kind::Table(table) => of_table(table),
        Kind::OneOf(table) => {
            let mut schema = of_table(table);
            merge(&mut schema, json!({ "minProperties": 1, "maxProperties": 1 }));
            schema
        }
        Kind::List { of, min } => json!({ "type": "array", "items": of_kind(of), "minItems": min }),
        Kind::Headers => {
            json!({ "type": "object", "additionalProperties": { "type": ["string", "number", "boolean"] } })
        }
    }
}

fn merge(into: &mut Value, from: Value) {
    if let (Value::Object(into), Value::Object(from)) = (into, from) {
        into.extend(from);
    }
}

/// A text of our own tables as the JSON an editor makes of it.
fn yaml_value(text: &str) -> Value {
    match Documents::new(text).next(&mut Problems::default()) {
        Ok(Some(node)) => json_of(&node),
        _ => Value::String(text.to_owned()),
    }
}

/// YAML's core schema: what is not quoted may be a number, a boolean or null.
pub fn json_of(node: &Node<'_>) -> Value {
    match &node.data {
        Data::Text { .. } if node.is_null() => Value::Null,
        Data::Text { text, plain: true } => match text.as_ref() {
            "true" | "True" | "TRUE" => Value::Bool(true),
            "false" | "False" | "FALSE" => Value::Bool(false),
            text => text
                .parse::<i64>()
                .map(Value::from)
                .ok()
                .or_else(|| text.parse::<f64>().ok().filter(|number| number.is_finite()).map(Value::from))
                .unwrap_or_else(|| Value::String(text.to_owned())),
        },
        Data::Text { text, .. } => Value::String(text.to_string()),
        Data::List(items) => items.iter().map(json_of).collect(),
        Data::Map(entries) => {
            Value::Object(entries.iter().map(|(key, value)| (key.text.to_string(), json_of(value))).collect())
        }
    }
}
