//! Imported seeds as a piece of config, or as JSON lines.

use std::io::{self, Write};

use serde_json::{Map, Value, json};

use super::ImportedSeed;

/// A `seeds:` section; labels become comments.
pub fn to_yaml(out: &mut impl Write, seeds: &[ImportedSeed], profiles: &[String]) -> io::Result<()> {
    let profiles: Vec<String> = profiles.iter().map(|profile| scalar(profile)).collect();
    let profiles = profiles.join(", ");
    writeln!(out, "seeds:")?;
    for seed in seeds {
        for (key, value) in &seed.labels {
            writeln!(out, "  # {key}: {value}")?;
        }
        writeln!(out, "  - url: {}", scalar(&seed.url))?;
        if let Some(name) = &seed.name {
            writeln!(out, "    name: {}", scalar(name))?;
        }
        if !seed.active {
            writeln!(out, "    active: no")?;
        }
        writeln!(out, "    profiles: [{profiles}]")?;
    }
    Ok(())
}

pub fn to_json_lines(out: &mut impl Write, seeds: &[ImportedSeed], profiles: &[String]) -> io::Result<()> {
    for seed in seeds {
        let labels: Map<String, Value> =
            seed.labels.iter().map(|(key, value)| (key.clone(), Value::from(value.as_str()))).collect();
        let object = json!({
            "url": seed.url,
            "name": seed.name,
            "active": seed.active,
            "profiles": profiles,
            "labels": labels,
        });
        writeln!(out, "{object}")?;
    }
    Ok(())
}

/// Plain where nothing in it could mean anything to YAML, else quoted as in JSON, which YAML reads
/// the same way.
fn scalar(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/.-_~%=&+:?".contains(c);
    let begins_well = text.starts_with(|c: char| c.is_ascii_alphabetic());
    if begins_well && text.chars().all(plain) && !text.ends_with(':') && !text.contains(": ") {
        return text.to_owned();
    }
    Value::from(text).to_string()
}
