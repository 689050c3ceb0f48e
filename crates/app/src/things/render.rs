//! Declared things as the config file writes them, in JSON or YAML, and as rows of a table.

use super::Kind;
use declare::secret::{MASK, shown_header};
use declare::{print_duration, print_size};
use policy::catalog::Catalog;
use policy::model::{
    BadCertificates, Collection, HostGroup, Limits, Politeness, Profile, RobotsPolicy, Seed, Settings,
};
use policy::scope::{Pattern, Scope, Within};
use policy::time::Span;
use serde_json::{Map, Value, json};
use std::io::{self, Write};

/// What the config file would say of it, as it is shown: secrets are masked (I7). Null if it is not there.
pub fn json(catalog: &Catalog, kind: Kind, name: &str) -> Value {
    match kind {
        Kind::Collection => catalog.collection(name).map(masked).unwrap_or_default(),
        _ => whole(catalog, kind, name),
    }
}

/// All of it, for nobody to see.
pub(crate) fn whole(catalog: &Catalog, kind: Kind, name: &str) -> Value {
    match kind {
        Kind::Seed => catalog.seed(name).map(|entry| seed(&entry.seed)),
        Kind::Profile => catalog.profile(name).map(profile),
        Kind::Collection => catalog.collection(name).map(collection),
        Kind::Group => catalog.group(name).map(group),
    }
    .unwrap_or_default()
}

pub fn seed(seed: &Seed) -> Value {
    json!({ "name": seed.name, "url": seed.url, "active": seed.active, "profiles": seed.profiles })
}

fn masked(found: &Collection) -> Value {
    let mut shown = found.clone();
    for (name, value) in &mut shown.headers {
        *value = shown_header(name, value).to_owned();
    }
    shown.cookies.iter_mut().for_each(|cookie| cookie.value = MASK.to_owned());
    collection(&shown)
}

pub fn collection(found: &Collection) -> Value {
    let headers: Map<String, Value> =
        found.headers.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str()))).collect();
    let cookies: Vec<Value> = found
        .cookies
        .iter()
        .map(|cookie| json!({ "host": cookie.host, "name": cookie.name, "value": cookie.value, "path": cookie.path }))
        .collect();
    json!({
        "name": found.name,
        "active": found.active,
        "user_agent": found.user_agent,
        "headers": headers,
        "cookies": cookies,
        "warc_prefix": found.warc_prefix,
        "index": found.index,
    })
}

pub fn profile(profile: &Profile) -> Value {
    json!({
        "name": profile.name,
        "active": profile.active,
        "collection": profile.collection,
        "every": print_duration(profile.every),
        "length": profile.length,
        "ttl": optional(profile.ttl),
        "robots": match &profile.robots {
            RobotsPolicy::Obey => json!("obey"),
            RobotsPolicy::Ignore => json!("ignore"),
            RobotsPolicy::ObeyAs(agent) => json!({ "as": agent }),
        },
        "scope": scope(&profile.scope),
        "limits": limits(&profile.limits),
    })
}

fn scope(scope: &Scope) -> Value {
    let patterns = |list: &[Pattern]| -> Vec<Value> { list.iter().map(pattern).collect() };
    let schemes: Vec<&str> = scope.schemes.iter().map(|scheme| scheme.as_str()).collect();
    json!({
        "within": within(scope.within),
        "max_depth": scope.max_depth,
        "off_domain_hops": scope.off_domain_hops,
        "requisites": scope.requisites,
        "include": patterns(&scope.include),
        "exclude": patterns(&scope.exclude),
        "max_url_length": scope.max_url_length,
        "max_repeats": scope.max_repeats,
        "schemes": schemes,
    })
}

fn pattern(pattern: &Pattern) -> Value {
    serde_json::to_value(pattern).unwrap_or_default()
}

fn limits(limits: &Limits) -> Value {
    json!({
        "max_errors": limits.max_errors,
        "max_not_found": limits.max_not_found,
        "blacklist_for": optional(limits.blacklist_for),
        "backoff_base": print_duration(limits.backoff_base),
        "backoff_cap": print_duration(limits.backoff_cap),
        "max_bytes": print_size(limits.max_bytes),
        "max_decoded_bytes": print_size(limits.max_decoded_bytes),
        "max_header_bytes": print_size(u64::from(limits.max_header_bytes)),
        "connect_timeout": print_duration(limits.connect_timeout),
        "first_byte_timeout": print_duration(limits.first_byte_timeout),
        "total_timeout": print_duration(limits.total_timeout),
        "max_outlinks": limits.max_outlinks,
        "max_redirects": limits.max_redirects,
    })
}

pub fn group(group: &HostGroup) -> Value {
    json!({ "name": group.name, "hosts": group.hosts, "politeness": politeness(&group.politeness) })
}

pub fn settings(settings: &Settings) -> Value {
    json!({
        "recheck": print_duration(settings.recheck),
        "lease": print_duration(settings.lease),
        "on_time": print_duration(settings.on_time),
        "robots_cache": print_duration(settings.robots_cache),
        "session_ids": settings.session_ids,
        "user_agent": settings.user_agent,
        "contact": settings.contact,
        "certificates": match settings.certificates {
            BadCertificates::Accept => "accept",
            BadCertificates::Refuse => "refuse",
        },
        "index_across": settings.index_across,
        "politeness": politeness(&settings.politeness),
    })
}

pub fn politeness(politeness: &Politeness) -> Value {
    let Politeness { factor, min, max, parallel } = politeness;
    json!({
        "factor": factor, "min": print_duration(*min), "max": print_duration(*max), "parallel": parallel,
    })
}

fn optional(span: Option<Span>) -> Option<String> {
    span.map(print_duration)
}

fn within(within: Within) -> &'static str {
    match within {
        Within::Path => "path",
        Within::Host => "host",
        Within::Domain => "domain",
        Within::Any => "any",
    }
}

fn yes(active: bool) -> String {
    if active { "yes" } else { "no" }.to_owned()
}

/// An object as an entry of the config file: its name first, maps last, lists and odd texts in JSON, which is YAML.
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
        Value::Null => "null".to_owned(),
        Value::Bool(active) => yes(*active),
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
