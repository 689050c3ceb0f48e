//! What a form says, as the JSON that the API takes: all of it text, for the reader of the config
//! reads figures and words out of that anyway, and knows what to say where it cannot.
//!
//! A field is called by its place: `scope/max_depth`. What is left empty is not given. An error says
//! a place as well, so it finds its field.

use declare::keys::{Kind, Need, Table};
use serde_json::{Map, Value};

use super::super::forms::Filled;

/// Entries of a list of maps; rows beyond are not read.
const ENTRIES_MAX: usize = 200;

/// The body that a form makes up.
pub(super) fn body(filled: &Filled, table: &Table) -> Value {
    Value::Object(fields(filled, table, "", true))
}

/// `is_entry`: there is such a thing, so that what it must have is missing where it is empty.
fn fields(filled: &Filled, table: &Table, before: &str, is_entry: bool) -> Map<String, Value> {
    let mut said = Map::new();
    for key in table.keys {
        let at = format!("{before}{}", key.name);
        let must = is_entry
            && match key.need {
                Need::Required => true,
                Need::RequiredUnless(other) => filled.get(&format!("{before}{other}")).trim().is_empty(),
                Need::Default | Need::Optional | Need::Empty => false,
            };
        if let Some(value) = value(filled, &key.kind, &at, must) {
            said.insert(key.name.to_owned(), value);
        }
    }
    said
}

fn value(filled: &Filled, kind: &Kind, at: &str, must: bool) -> Option<Value> {
    match kind {
        Kind::Table(inner) => some_map(fields(filled, inner, &format!("{at}/"), false)),
        Kind::ChoiceOr(_, inner) => {
            let map = fields(filled, inner, &format!("{at}/"), false);
            some_map(map).or_else(|| some_text(filled.get(at), must))
        }
        Kind::List { of, .. } => {
            let items: Vec<Value> = match of {
                Kind::Table(inner) => entries(filled, inner, at),
                Kind::OneOf(_) => lines(filled, at).map(pattern).collect(),
                _ => lines(filled, at).map(Value::from).collect(),
            };
            (must || !items.is_empty()).then_some(Value::Array(items))
        }
        Kind::Headers => some_map(lines(filled, at).map(header).collect()),
        Kind::OneOf(_) => lines(filled, at).next().map(pattern),
        _ => some_text(filled.get(at), must),
    }
}

fn some_map(map: Map<String, Value>) -> Option<Value> {
    (!map.is_empty()).then_some(Value::Object(map))
}

fn some_text(given: &str, must: bool) -> Option<Value> {
    let text = given.trim();
    (must || !text.is_empty()).then(|| Value::from(text))
}

/// Of a text field with many lines, and of boxes of one name that are ticked.
fn lines<'a>(filled: &'a Filled, at: &'a str) -> impl Iterator<Item = &'a str> {
    filled.all(at).flat_map(str::lines).map(str::trim).filter(|line| !line.is_empty())
}

/// Those that say something, whatever rows they stand in.
fn entries(filled: &Filled, table: &Table, at: &str) -> Vec<Value> {
    let rows = (0..ENTRIES_MAX).map(|row| format!("{at}/{row}/"));
    let given = rows.filter(|row| !fields(filled, table, row, false).is_empty());
    given.map(|row| Value::Object(fields(filled, table, &row, true))).collect()
}

/// `host: *.example.org`; with or without the quotes that a config file wants.
fn pattern(line: &str) -> Value {
    match line.split_once(':').map(|(key, rest)| (key.trim(), rest.trim())) {
        Some((key, rest)) if key.chars().all(|c| c.is_ascii_lowercase()) && !rest.starts_with("//") => {
            let bare = ['\'', '"']
                .into_iter()
                .find_map(|quote| rest.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)));
            Value::Object([(key.to_owned(), bare.unwrap_or(rest).into())].into_iter().collect())
        }
        _ => line.into(),
    }
}

fn header(line: &str) -> (String, Value) {
    let (name, value) = line.split_once(':').unwrap_or((line, ""));
    (name.trim().to_owned(), value.trim().into())
}

#[cfg(test)]
mod tests {
    use declare::entry;
    use policy::catalog::{Catalog, Change};
    use serde_json::json;

    use super::super::super::forms::Filled;
    use super::*;

    fn catalog() -> Catalog {
        let text = "
collections: [{name: c}]
profiles:
  - name: p
    collection: c
    every: 1h..30d
    robots: {as: Googlebot}
    windows: [{from: '22:00', to: '06:00', weekdays: [mon, fri]}, {from: '12:00', to: '13:00'}]
    timezone: Europe/Oslo
    scope: {within: host, max_depth: 4, include: [{host: '*.a.no'}, {regex: '\\.pdf$'}], schemes: [https]}
    limits: {max_bytes: 10MB, blacklist_for: 30d}
    budget: {max_urls: 100}
";
        let mut catalog = Catalog::new();
        for change in declare::parse("t", text.as_bytes()).unwrap().into_changes() {
            catalog.apply(change).unwrap();
        }
        catalog
    }

    fn filled(pairs: &[(&str, &str)]) -> Filled {
        Filled::of(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }

    #[test]
    fn i8_what_a_form_says_is_read_as_the_file_is() {
        let form = filled(&[
            ("name", "p"),
            ("collection", "c"),
            ("every", " 1h..30d "),
            ("robots/as", "Googlebot"),
            ("windows/0/from", "22:00"),
            ("windows/0/to", "06:00"),
            ("windows/0/weekdays", "mon"),
            ("windows/0/weekdays", "fri"),
            ("windows/1/from", ""),
            ("windows/7/from", "12:00"),
            ("windows/7/to", "13:00"),
            ("timezone", "Europe/Oslo"),
            ("scope/within", "host"),
            ("scope/max_depth", "4"),
            ("scope/include", "host: *.a.no\r\n\r\n regex: '\\.pdf$' \r\n"),
            ("scope/schemes", "https"),
            ("limits/max_bytes", "10MB"),
            ("limits/blacklist_for", "30d"),
            ("budget/max_urls", "100"),
        ]);
        let body = body(&form, entry::Kind::Profile.table());
        let catalog = catalog();
        let Change::PutProfile(read) = entry::read(&catalog, entry::Kind::Profile, "p", body).unwrap() else {
            panic!("a profile")
        };
        assert_eq!(*read, *catalog.profile("p").unwrap());
    }

    #[test]
    fn i8_what_is_wrong_in_a_form_has_the_place_of_its_field() {
        let form = filled(&[
            ("name", "q"),
            ("collection", ""),
            ("every", "soon"),
            ("windows/3/from", "22:00"),
            ("scope/include", "host: a.no\nnonsense"),
            ("scope/exclude", "https://a.no/x"),
            ("limits/max_errors", "many"),
        ]);
        let body = body(&form, entry::Kind::Profile.table());
        let wrong = entry::read(&catalog(), entry::Kind::Profile, "q", body).unwrap_err();
        let places: Vec<&str> = wrong.0.iter().map(|field| field.pointer.as_str()).collect();
        let expected = [
            "/collection",
            "/every",
            "/scope/include/1",
            "/scope/exclude/0",
            "/limits/max_errors",
            "/windows/0/to",
        ];
        for place in expected {
            assert!(places.contains(&place), "{place}: {:#?}", wrong.0);
        }
    }

    #[test]
    fn i8_patterns_are_lines() {
        for (line, read) in [
            ("host: *.a.no", json!({"host": "*.a.no"})),
            ("prefix: https://a.no/x", json!({"prefix": "https://a.no/x"})),
            ("regex: \"a:b\"", json!({"regex": "a:b"})),
            ("hots: x", json!({"hots": "x"})),
            ("https://a.no/x", json!("https://a.no/x")),
            ("a.no", json!("a.no")),
        ] {
            assert_eq!(pattern(line), read, "{line}");
        }
    }
}
