//! Veidemann config objects: multi-document YAML, or JSON (one object, an array, or one object a
//! line).
//!
//! A seed's URL is its `meta.name`, and the crawlEntity it refers to has the name of whose it is.
//! Entities may come after their seeds or in another file, so seeds wait until all objects are
//! read; an entity that is not in the file is named by its id. Objects of other kinds are skipped
//! with a reason.

use std::collections::HashMap;

use anyhow::{Result, anyhow};
use serde::de::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::lines::{LineCounter, with_scheme};
use super::{Imported, ImportedSeed, text_of};
use crate::yaml::{Data, Documents, Node};
use crate::{Problems, excerpt, json_of};

/// The part of a config object that matters here.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Object {
    #[serde(deserialize_with = "text")]
    kind: String,
    #[serde(deserialize_with = "text")]
    id: String,
    #[serde(deserialize_with = "or_default")]
    meta: Meta,
    #[serde(deserialize_with = "or_default")]
    seed: SeedSpec,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
struct Meta {
    #[serde(deserialize_with = "text")]
    name: String,
    #[serde(deserialize_with = "text")]
    description: String,
    #[serde(deserialize_with = "or_default")]
    label: Vec<Label>,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
struct Label {
    #[serde(deserialize_with = "text")]
    key: String,
    #[serde(deserialize_with = "text")]
    value: String,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct SeedSpec {
    #[serde(deserialize_with = "or_default")]
    entity_ref: Reference,
    #[serde(deserialize_with = "or_default")]
    job_ref: Vec<Reference>,
    #[serde(deserialize_with = "or_default")]
    disabled: bool,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
struct Reference {
    #[serde(deserialize_with = "text")]
    id: String,
}

/// Null means what leaving out means.
fn or_default<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(input: D) -> Result<T, D::Error> {
    Ok(Option::deserialize(input)?.unwrap_or_default())
}

/// A text may look like a number or a boolean to YAML.
fn text<'de, D: Deserializer<'de>>(input: D) -> Result<String, D::Error> {
    match Value::deserialize(input)? {
        Value::Null => Ok(String::new()),
        Value::String(text) => Ok(text),
        Value::Array(_) | Value::Object(_) => Err(serde::de::Error::custom("a text was expected")),
        other => Ok(other.to_string()),
    }
}

#[derive(Default)]
struct Objects {
    /// Id → name.
    entities: HashMap<String, String>,
    seeds: Vec<(u32, Object)>,
    imported: Imported,
}

pub fn veidemann(bytes: &[u8]) -> Result<Imported> {
    let text = text_of(bytes)?;
    let mut objects = Objects::default();
    match text.trim_start().starts_with(['{', '[']) {
        true => read_json(text, &mut objects)?,
        false => read_yaml(text, &mut objects)?,
    }
    objects.finish()
}

/// Objects are found as raw text first: its place gives the line, and what is wrong with one spoils
/// no other.
fn read_json(text: &str, objects: &mut Objects) -> Result<()> {
    let mut lines = LineCounter::new(text);
    let mut line_of = |piece: &str| lines.at(piece.as_ptr().addr().saturating_sub(text.as_ptr().addr()));
    for value in serde_json::Deserializer::from_str(text).into_iter::<&RawValue>() {
        let value = value.map_err(|error| anyhow!("this is not JSON: {error}"))?.get();
        let line = line_of(value);
        if !value.starts_with('[') {
            objects.add(line, serde_json::from_str(value));
            continue;
        }
        let items: Vec<&RawValue> =
            serde_json::from_str(value).map_err(|error| anyhow!("bad array on line {line}: {error}"))?;
        for item in items {
            objects.add(line_of(item.get()), serde_json::from_str(item.get()));
        }
    }
    Ok(())
}

fn read_yaml(text: &str, objects: &mut Objects) -> Result<()> {
    let mut documents = Documents::new(text);
    loop {
        let mut problems = Problems::default();
        let document = documents.next(&mut problems);
        let document = document.map_err(|problem| anyhow!("line {}: {}", problem.at.line, problem.what))?;
        let Some(document) = document else { return Ok(()) };
        match document.data {
            Data::List(items) => items.iter().for_each(|node| objects.add_node(node)),
            _ => objects.add_node(&document),
        }
    }
}

impl Objects {
    fn add_node(&mut self, node: &Node<'_>) {
        if !node.is_null() {
            self.add(node.at.line, serde_json::from_value(json_of(node)));
        }
    }

    fn add(&mut self, line: u32, object: serde_json::Result<Object>) {
        match object {
            Ok(object) if object.kind == "seed" => self.seeds.push((line, object)),
            Ok(object) if object.kind == "crawlEntity" => {
                self.entities.insert(object.id, object.meta.name);
            }
            Ok(object) if object.kind.is_empty() => self.imported.skip(line, "an object without a kind"),
            Ok(object) => self.imported.skip(line, format!("an object of kind {}", excerpt(&object.kind))),
            Err(error) => {
                // Its line is counted from where the object begins: ours says more.
                let error = error.to_string();
                let what = error.split(" at line ").next().unwrap_or(&error);
                self.imported.skip(line, format!("not a config object: {}", excerpt(what)));
            }
        }
    }

    fn finish(mut self) -> Result<Imported> {
        for (line, object) in std::mem::take(&mut self.seeds) {
            let given = object.meta.name.trim();
            match with_scheme(given, "https") {
                Some(url) => self.imported.take(line, seed(&url, &object, &self.entities))?,
                None => self.imported.skip(line, format!("a seed whose name {} is no URL", excerpt(given))),
            }
        }
        self.imported.skipped.sort_by_key(|(line, _)| *line);
        Ok(self.imported)
    }
}

fn seed(url: &str, object: &Object, entities: &HashMap<String, String>) -> ImportedSeed {
    let mut seed = ImportedSeed { active: !object.seed.disabled, ..ImportedSeed::new(url) };
    let entity = &object.seed.entity_ref.id;
    seed.label("entity", entities.get(entity).unwrap_or(entity));
    seed.label("description", &object.meta.description);
    for label in &object.meta.label {
        seed.label(&label.key, &label.value);
    }
    for job in &object.seed.job_ref {
        seed.label("job", &job.id);
    }
    seed
}
