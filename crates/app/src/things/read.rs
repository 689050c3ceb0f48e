//! A thing in a request, read by the very rules of the config file: it becomes the one entry of its section in a config that has, beside it,
//! only the names it refers to. What is wrong is told with the place in the body.

use super::{Kind, render};
use crate::{Answer, FieldProblem, Problem};
use declare::hint::unknown;
use declare::secret::{Lost, restore};
use declare::text::escaped;
use declare::{self, ConfigError, excerpt};
use http::StatusCode;
use policy::catalog::{Catalog, Change};
use policy::model::{Profile, Settings};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Makes the change that puts what the body says under this name.
pub(crate) fn thing(catalog: &Catalog, kind: Kind, name: &str, mut body: Value) -> Answer<Change> {
    let Value::Object(fields) = &mut body else {
        return Err(Problem::invalid("a JSON object is wanted"));
    };
    match fields.get("name") {
        Some(Value::String(own)) if own != name => {
            let what = format!("the body calls it {}, the path {}", excerpt(own), excerpt(name));
            return Err(Problem::invalid(what.clone()).field("/name", what));
        }
        _ => drop(fields.insert("name".to_owned(), Value::from(name))),
    }
    refers(catalog, kind, name, &body)?;
    let rest = json!({
        "settings": render::settings(catalog.settings()),
        "collections": if kind == Kind::Collection { json!([]) } else { collections(catalog, kind, &body) },
        "profiles": if kind == Kind::Seed { profiles(catalog, &body) } else { json!([]) },
    });
    let mut declared = config_of(kind.section(), true, &body, rest)?;
    let change = match kind {
        Kind::Seed => declared.seeds.pop().map(Change::PutSeed),
        Kind::Profile => declared.profiles.pop().map(|profile| Change::PutProfile(Box::new(profile))),
        Kind::Collection => match declared.collections.pop() {
            Some(mut collection) => {
                restore(&mut collection, catalog).map_err(|lost| masked(&lost))?;
                Some(Change::PutCollection(collection))
            }
            None => None,
        },
        Kind::Group => declared.groups.pop().map(Change::PutGroup),
    };
    change.ok_or_else(|| Problem::invalid("this says nothing"))
}

pub fn settings(body: &Value) -> Answer<Settings> {
    if !body.is_object() {
        return Err(Problem::invalid("a JSON object is wanted"));
    }
    Ok(config_of("settings", false, body, json!({}))?.settings)
}

/// A mask that nobody was shown.
pub(crate) fn masked(lost: &Lost) -> Problem {
    Problem::invalid(lost.to_string()).hint(Lost::HINT).field(lost.pointer.clone(), lost.to_string())
}

/// Names that lead nowhere, told with those there are.
fn refers(catalog: &Catalog, kind: Kind, own: &str, body: &Value) -> Answer<()> {
    let nowhere = |kind: Kind, name: &str, pointer: String| {
        let error = unknown(&kind.to_string(), name, kind.names(catalog).into_iter());
        let problem = Problem::from_error(StatusCode::UNPROCESSABLE_ENTITY, &error);
        let detail = problem.detail.clone();
        Err(problem.field(pointer, detail))
    };
    match kind {
        Kind::Seed => {
            for (place, name) in texts(body, "profiles").enumerate() {
                if !Kind::Profile.is_there(catalog, name) {
                    return nowhere(Kind::Profile, name, format!("/profiles/{place}"));
                }
            }
        }
        Kind::Profile => {
            if let Some(name) = body["collection"].as_str()
                && !Kind::Collection.is_there(catalog, name)
            {
                return nowhere(Kind::Collection, name, "/collection".to_owned());
            }
        }
        Kind::Group => {
            for (place, host) in texts(body, "hosts").enumerate() {
                let other = catalog.group_of(host).filter(|other| other.name != own);
                if let Some(other) = other {
                    let what =
                        format!("host {} is in host group {} already", excerpt(host), excerpt(&other.name));
                    let hint =
                        "a host is in one group: leave it out here, or replace the other group without it";
                    return Err(Problem::invalid(what.clone())
                        .hint(hint)
                        .field(format!("/hosts/{place}"), what));
                }
            }
        }
        Kind::Collection => {}
    }
    Ok(())
}

fn texts<'a>(body: &'a Value, key: &str) -> impl Iterator<Item = &'a str> {
    body[key].as_array().into_iter().flatten().map(|item| item.as_str().unwrap_or_default())
}

/// The collection that a profile names, or those of a seed's profiles.
fn collections(catalog: &Catalog, kind: Kind, body: &Value) -> Value {
    let names: BTreeSet<&str> = match kind {
        Kind::Profile => body["collection"].as_str().into_iter().collect(),
        Kind::Seed => named(catalog, body).map(|profile| profile.collection.as_str()).collect(),
        _ => BTreeSet::new(),
    };
    names.iter().map(|name| json!({ "name": name })).collect()
}

/// The profiles that a seed names, as they are.
fn profiles(catalog: &Catalog, body: &Value) -> Value {
    let mut seen = BTreeSet::new();
    let once = named(catalog, body).filter(|profile| seen.insert(profile.name.as_str()));
    once.map(render::profile).collect()
}

fn named<'a>(catalog: &'a Catalog, body: &'a Value) -> impl Iterator<Item = &'a Profile> {
    texts(body, "profiles").filter_map(|name| catalog.profile(name))
}

/// Reads the body as (an entry of) a section, with the rest of a config behind it.
fn config_of(section: &str, in_list: bool, body: &Value, mut rest: Value) -> Answer<declare::Declared> {
    let text = format!("{{{}: {}\n", Value::from(section), if in_list { "[" } else { "" });
    let mut layout = Layout { text, pointers: vec![String::new(); 2] };
    layout.add(body, &mut String::new());
    layout.line("");
    layout.text.push_str(if in_list { "]" } else { "" });
    if let Value::Object(rest) = &mut rest {
        rest.remove(section);
        for (key, value) in rest {
            layout.text.push_str(&format!(", {}: {value}", Value::from(key.as_str())));
        }
    }
    layout.text.push('}');
    declare::parse("body", layout.text.as_bytes()).map_err(|error| layout.explain(&error))
}

/// JSON as lines, and which part of it each line holds.
struct Layout {
    text: String,
    /// By line, counted from 1 as problems do.
    pointers: Vec<String>,
}

impl Layout {
    fn line(&mut self, pointer: &str) {
        self.text.push('\n');
        self.pointers.push(pointer.to_owned());
    }

    fn add(&mut self, value: &Value, pointer: &mut String) {
        let before = pointer.len();
        match value {
            Value::Object(fields) => {
                self.text.push('{');
                for (place, (key, value)) in fields.iter().enumerate() {
                    pointer.push_str(&format!("/{}", escaped(key)));
                    self.line(pointer);
                    self.text.push_str(&format!(
                        "{}{}: ",
                        if place > 0 { "," } else { "" },
                        Value::from(key.as_str())
                    ));
                    self.add(value, pointer);
                    pointer.truncate(before);
                }
                self.line(pointer);
                self.text.push('}');
            }
            Value::Array(items) => {
                self.text.push('[');
                for (place, value) in items.iter().enumerate() {
                    pointer.push_str(&format!("/{place}"));
                    self.line(pointer);
                    self.text.push_str(if place > 0 { "," } else { "" });
                    self.add(value, pointer);
                    pointer.truncate(before);
                }
                self.line(pointer);
                self.text.push(']');
            }
            scalar => self.text.push_str(&scalar.to_string()),
        }
    }

    fn explain(&self, error: &ConfigError) -> Problem {
        let errors: Vec<FieldProblem> = error
            .problems
            .iter()
            .map(|problem| FieldProblem {
                pointer: self.pointer(problem.at.line),
                detail: problem.what.clone(),
                hint: Some(problem.hint.clone()),
            })
            .collect();
        let first = error.problems.first();
        let detail = first.map_or("this cannot be taken in", |problem| problem.what.as_str());
        let problem = Problem::invalid(detail);
        Problem { hint: first.map(|problem| problem.hint.clone()), errors, ..problem }
    }

    fn pointer(&self, line: u32) -> String {
        let line = usize::try_from(line).unwrap_or(usize::MAX);
        self.pointers.get(line.saturating_sub(1)).cloned().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn catalog() -> Catalog {
        let text = "
settings: {session_ids: [sid], contact: 'https://a.test/', on_time: 0s, robots_cache: 90m}
collections: [{name: c, user_agent: 'x/1', headers: {A: b}, cookies: [{host: vg.no, name: a, value: b}], warc_prefix: P, index: no}, {name: d}]
profiles:
  - {name: daily, collection: c, every: 1d12h, length: 3, ttl: 4w, robots: {as: Bot}, scope: {within: host, max_depth: 3, include: [{regex: 'a\\d'}], exclude: [{host: '*.x.no'}, {prefix: vg.no/a}], schemes: [https]}, limits: {blacklist_for: 30d, max_bytes: 5MB}}
  - {name: plain, collection: d, every: 1h, robots: ignore, active: no}
seeds: [{url: 'https://vg.no/', name: 'a \"seed\": #1', profiles: [daily, plain]}, {url: 'https://nrk.no/?sid=1', profiles: [plain], active: no}]
host_groups: [{name: 'group:a', hosts: [a.no, b.no], politeness: {min: 0s, max: 1m, factor: 0.5, parallel: 2}}]
";
        let mut catalog = Catalog::new();
        for change in declare::parse("t", text.as_bytes()).unwrap().into_changes() {
            catalog.apply(change).unwrap();
        }
        catalog
    }

    #[test]
    fn i4_what_is_shown_can_be_put_back_and_is_the_same() {
        let catalog = catalog();
        for kind in [Kind::Seed, Kind::Profile, Kind::Collection, Kind::Group] {
            for name in kind.names(&catalog) {
                let shown = render::json(&catalog, kind, name);
                let mut again = self::catalog();
                again.apply(thing(&catalog, kind, name, shown.clone()).unwrap()).unwrap();
                assert_eq!(render::json(&again, kind, name), shown);
                match kind {
                    Kind::Seed => {
                        assert_eq!(again.seed(name).unwrap().seed, catalog.seed(name).unwrap().seed);
                    }
                    Kind::Profile => assert_eq!(again.profile(name), catalog.profile(name)),
                    Kind::Collection => assert_eq!(again.collection(name), catalog.collection(name)),
                    Kind::Group => assert_eq!(again.group(name), catalog.group(name)),
                }
            }
        }
        let shown = render::settings(catalog.settings());
        assert_eq!(settings(&shown).unwrap(), *catalog.settings());
    }

    #[test]
    fn i4_problems_point_to_the_field() {
        let catalog = catalog();
        let table = [
            (Kind::Seed, json!({}), "", "url"),
            (Kind::Seed, json!({"url": "ftp://a", "profiles": ["daily"]}), "/url", ""),
            (Kind::Seed, json!({"url": "https://a.no/", "profiles": ["dayly"]}), "/profiles/0", "daily"),
            (
                Kind::Seed,
                json!({"url": "https://a.no/", "profiles": ["daily", "daily"]}),
                "/profiles/1",
                "twice",
            ),
            (
                Kind::Seed,
                json!({"url": "https://a.no/", "profiles": ["daily"], "activ": true}),
                "/activ",
                "active",
            ),
            (
                Kind::Seed,
                json!({"url": "https://a.no/", "profiles": ["daily"], "name": "other"}),
                "/name",
                "other",
            ),
            (
                Kind::Seed,
                json!({"url": "http://a.no/", "profiles": ["daily"]}),
                "/url",
                "`daily`: scheme http is not allowed",
            ),
            (Kind::Profile, json!({"collection": "c", "every": "soon"}), "/every", ""),
            (Kind::Profile, json!({"collection": "x", "every": "1d"}), "/collection", "x"),
            (
                Kind::Profile,
                json!({"collection": "c", "every": "1d", "scope": {"include": [{"host": "a.no"}, {"regex": "["}]}}),
                "/scope/include/1/regex",
                "",
            ),
            (Kind::Profile, json!({"extends": "daily"}), "/extends", "daily"),
            (Kind::Collection, json!({"a/b~": 1}), "/a~1b~0", ""),
            (Kind::Group, json!({"hosts": ["c.no", "b.no"]}), "/hosts/1", "group:a"),
        ];
        for (kind, body, pointer, word) in table {
            let name = if kind == Kind::Group { "group:new" } else { "new" };
            let problem = thing(&catalog, kind, name, body.clone()).expect_err(&body.to_string());
            assert_eq!(problem.status, 422);
            assert_eq!(problem.errors[0].pointer, pointer, "{body}: {problem:?}");
            assert!(format!("{problem:?}").contains(word), "{body}: {problem:?}");
        }
        assert!(thing(&catalog, Kind::Collection, "", json!({})).is_err());
        assert!(thing(&catalog, Kind::Group, "no.group", json!({"hosts": ["x.no"]})).is_err());
        assert_eq!(
            settings(&json!({"politeness": {"min": "1m", "max": "1s"}})).unwrap_err().errors[0].pointer,
            "/politeness/max"
        );
    }
}
