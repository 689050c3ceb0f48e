//! Declared things as rows of a table.

use std::collections::BTreeMap;

use anyhow::Result;
use app::Kind;
use serde_json::Value;
use server::client::Client;

/// How many profiles each collection has.
pub(super) fn profiles_by_collection(ask: &Client) -> Result<BTreeMap<String, usize>> {
    let mut counts = BTreeMap::new();
    ask.pages(Kind::Profile.path(), Vec::new(), |profiles| {
        for profile in profiles {
            let profile: Value = serde_json::from_str(profile.get())?;
            *counts.entry(text(&profile["collection"])).or_default() += 1;
        }
        Ok(true)
    })?;
    Ok(counts)
}

/// The cells of [`Kind::columns`].
pub(super) fn of(kind: Kind, thing: &Value, profiles: &BTreeMap<String, usize>) -> Vec<String> {
    let cell = |key: &str| text(&thing[key]);
    match kind {
        Kind::Seed => vec![cell("name"), cell("active"), cell("profiles"), cell("url")],
        Kind::Profile => {
            let scope = |key: &str| text(&thing["scope"][key]);
            vec![
                cell("name"),
                cell("active"),
                cell("collection"),
                cell("every"),
                scope("within"),
                scope("max_depth"),
                scope("off_domain_hops"),
                cell("length"),
                cell("ttl"),
                match &thing["robots"]["as"] {
                    Value::String(agent) => format!("as {agent}"),
                    _ => cell("robots"),
                },
            ]
        }
        Kind::Collection => {
            let count = profiles.get(&cell("name")).copied().unwrap_or_default();
            vec![cell("name"), cell("active"), count.to_string(), cell("warc_prefix")]
        }
        Kind::Group => {
            let polite = |key: &str| text(&thing["politeness"][key]);
            let delay = format!("{}..{}", polite("min"), polite("max"));
            vec![cell("name"), polite("parallel"), delay, cell("hosts")]
        }
    }
}

/// A value as a person reads it.
fn text(value: &Value) -> String {
    match value {
        Value::Null => "–".to_owned(),
        Value::Bool(yes) => if *yes { "yes" } else { "no" }.to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(text).collect::<Vec<_>>().join(", "),
        value => value.to_string(),
    }
}
