//! From a JSON value to the nodes that YAML gives, so that one reader reads both. A place is the
//! number of a pointer.

use serde_json::Value;

use crate::problem::At;
use crate::text::escaped;
use crate::yaml::{Data, Key, Node};

/// The nodes of a value, and the JSON pointer to each of them by its line, counted from 1.
pub(crate) fn nodes(value: &Value) -> (Node<'_>, Vec<String>) {
    let mut pointers = Vec::new();
    let root = node(value, "", &mut pointers);
    (root, pointers)
}

fn node<'a>(value: &'a Value, pointer: &str, pointers: &mut Vec<String>) -> Node<'a> {
    let at = At::new(pointers.len() + 1, 1);
    pointers.push(pointer.to_owned());
    let data = match value {
        Value::Object(entries) => {
            let entries = entries.iter().map(|(name, value)| {
                let value = node(value, &format!("{pointer}/{}", escaped(name)), pointers);
                (Key { at: value.at, text: name.into() }, value)
            });
            Data::Map(entries.collect())
        }
        Value::Array(items) => {
            let items = items.iter().enumerate();
            let items = items.map(|(place, item)| node(item, &format!("{pointer}/{place}"), pointers));
            Data::List(items.collect())
        }
        Value::String(text) => Data::Text { text: text.into(), plain: false },
        Value::Null | Value::Bool(_) | Value::Number(_) => {
            Data::Text { text: value.to_string().into(), plain: true }
        }
    };
    Node { at, data }
}
