//! A form for one declared thing, written from the description of the config file: each key with
//! its sentence, its default, and whatever is wrong with what stands in it.

use app::FieldProblem;
use declare::keys::{Key, Kind, Need, Table};
use maud::{Markup, html};
use serde_json::Value;

use super::super::text::shown;

/// More names than this are typed, and not chosen.
const CHOICES_MAX: usize = 100;
/// Empty rows behind those there are.
const ROWS_MORE: usize = 2;

pub(super) struct Sheet<'a> {
    pub(super) table: &'static Table,
    pub(super) says: &'a Value,
    pub(super) errors: &'a [FieldProblem],
    /// Keys whose values are names, and the names there are.
    pub(super) names: &'a [(&'static str, Vec<String>)],
    /// Keys that are seen at once; the others are behind a fold.
    pub(super) first: &'static [&'static str],
    /// Keys that are not asked for.
    pub(super) left_out: &'static [&'static str],
}

/// A key and where it stands.
struct Place<'a> {
    table: &'a Table,
    key: &'static Key,
    at: String,
    says: &'a Value,
}

const NOTHING: &Value = &Value::Null;

impl Sheet<'_> {
    pub(super) fn show(&self) -> Markup {
        let first = self.first.iter().filter(|name| !self.left_out.contains(*name));
        let first = first.filter_map(|name| self.table.key(name));
        let is_more = |key: &&Key| !self.first.contains(&key.name) && !self.left_out.contains(&key.name);
        let more: Vec<&'static Key> = self.table.keys.iter().filter(is_more).collect();
        let (folds, plain): (Vec<&'static Key>, Vec<&'static Key>) = more
            .into_iter()
            .partition(|key| matches!(key.kind, Kind::Table(_) | Kind::List { of: Kind::Table(_), .. }));
        let is_open = plain.iter().any(|key| self.is_said(&self.place(self.table, key, "", self.says)));
        html! {
            @for key in first { (self.field(&self.place(self.table, key, "", self.says))) }
            @for key in folds { (self.field(&self.place(self.table, key, "", self.says))) }
            @if !plain.is_empty() {
                details open[is_open] {
                    summary { "More settings" }
                    div.fields { @for key in plain { (self.field(&self.place(self.table, key, "", self.says))) } }
                }
            }
        }
    }

    /// What is wrong, each with a way to its field.
    pub(super) fn wrong(&self) -> Markup {
        html! {
            @if !self.errors.is_empty() {
                div.notice.bad role="alert" {
                    p { "Nothing is saved yet. What is not right:" }
                    ul.plain {
                        @for error in self.errors {
                            li {
                                a href=(format!("#{}", id(self.field_of(&error.pointer)))) { (shown(&error.detail)) }
                                @if let Some(hint) = &error.hint { "; " (shown(hint)) }
                            }
                        }
                    }
                }
            }
        }
    }

    /// The name of the field that a place in the body belongs to: that of a list has many places.
    fn field_of<'p>(&self, pointer: &'p str) -> &'p str {
        let whole = pointer.trim_start_matches('/');
        let mut table = self.table;
        let mut end = 0;
        for part in whole.split('/') {
            end = if end == 0 { part.len() } else { end + 1 + part.len() };
            if part.parse::<usize>().is_ok() {
                continue;
            }
            match table.key(part).map(|key| &key.kind) {
                Some(
                    Kind::Table(inner) | Kind::ChoiceOr(_, inner) | Kind::List { of: Kind::Table(inner), .. },
                ) => {
                    table = inner;
                }
                _ => break,
            }
        }
        whole.get(..end).unwrap_or(whole)
    }

    fn place<'p>(&self, table: &'p Table, key: &'static Key, before: &str, says: &'p Value) -> Place<'p> {
        let at = format!("{before}{}", key.name);
        Place { table, key, at, says: says.get(key.name).unwrap_or(NOTHING) }
    }

    /// Whether it says anything else than nothing, or something is wrong with it.
    fn is_said(&self, place: &Place<'_>) -> bool {
        let is_default = |table: &Table, key: &Key, says: &Value| {
            is_nothing(says) || table.default_value(key).as_ref() == Some(says)
        };
        let is_own = match (&place.key.kind, place.says) {
            (Kind::Table(inner), Value::Object(map)) => {
                inner.keys.iter().any(|key| match (&key.kind, map.get(key.name).unwrap_or(NOTHING)) {
                    (Kind::Table(deep), Value::Object(map)) => deep
                        .keys
                        .iter()
                        .any(|key| !is_default(deep, key, map.get(key.name).unwrap_or(NOTHING))),
                    (_, says) => !is_default(inner, key, says),
                })
            }
            (_, says) => !is_default(place.table, place.key, says),
        };
        is_own || self.errors.iter().any(|error| is_at_or_below(&error.pointer, &place.at))
    }

    fn field(&self, place: &Place<'_>) -> Markup {
        match &place.key.kind {
            Kind::Table(inner) => self.fold(place, |at| html! {
                @for key in inner.keys { (self.field(&self.place(inner, key, at, place.says))) }
            }),
            Kind::List { of: Kind::Table(inner), .. } => self.fold(place, |at| self.rows(place, inner, at)),
            Kind::ChoiceOr(words, inner) => html! {
                div.pair {
                    (self.labelled(place, |id, about| select(id, about, place, words, &self.spelled(place))))
                    @for key in inner.keys { (self.field(&self.place(inner, key, &format!("{}/", place.at), place.says))) }
                }
            },
            Kind::Bool => self.labelled(place, |id, about| {
                select(id, about, place, &["yes", "no"], &self.spelled(place))
            }),
            Kind::Choice(words) => {
                self.labelled(place, |id, about| select(id, about, place, words, &self.spelled(place)))
            }
            Kind::List { of: Kind::Choice(words), .. } => self.boxes(place, words.iter().copied()),
            Kind::List { .. } | Kind::Headers => match self.names_of(place.key) {
                Some(names) => self.boxes(place, names.iter().map(String::as_str)),
                None => self.labelled(place, |id, about| html! {
                    textarea #(id) name=(place.at) rows=(rows_of(place.says)) aria-describedby=(about) spellcheck="false"
                        placeholder=[example_lines(place.key)] { (text_of(place.says)) }
                }),
            },
            kind => match self.names_of(place.key) {
                Some(names) => {
                    let own = self.spelled(place);
                    let names: Vec<&str> = names.iter().map(String::as_str).collect();
                    self.labelled(place, |id, about| select(id, about, place, &names, &own))
                }
                None => self.labelled(place, |id, about| html! {
                    input #(id) type="text" name=(place.at) value=(self.spelled(place)) aria-describedby=(about)
                        placeholder=(hint(place)) autocomplete="off" spellcheck="false" maxlength="4000"
                        inputmode=[matches!(kind, Kind::Count { .. } | Kind::Id { .. }).then_some("numeric")]
                        aria-invalid=[self.is_wrong(place).then_some("true")];
                }),
            },
        }
    }

    /// What is as by default stands there as a hint.
    fn spelled(&self, place: &Place<'_>) -> String {
        let is_default = place.table.default_value(place.key).as_ref() == Some(place.says);
        if is_default { String::new() } else { spelled(place.says) }
    }

    fn names_of(&self, key: &Key) -> Option<&Vec<String>> {
        let found = self.names.iter().find(|(name, _)| *name == key.name)?;
        Some(&found.1).filter(|names| !names.is_empty() && names.len() <= CHOICES_MAX)
    }

    fn errors_at<'p>(&'p self, place: &'p Place<'_>) -> impl Iterator<Item = &'p FieldProblem> {
        self.errors.iter().filter(|error| self.field_of(&error.pointer) == place.at)
    }

    fn is_wrong(&self, place: &Place<'_>) -> bool {
        self.errors_at(place).next().is_some()
    }

    fn labelled(&self, place: &Place<'_>, control: impl FnOnce(&str, &str) -> Markup) -> Markup {
        let id = id(&place.at);
        let about = format!("{id}-about");
        html! {
            div.field.wrong[self.is_wrong(place)] {
                label for=(id) { (label(place.key)) @if is_needed(place) { " " span.faint { "(needed)" } } }
                (control(&id, &about))
                (self.about(place, &about))
            }
        }
    }

    fn about(&self, place: &Place<'_>, id: &str) -> Markup {
        html! {
            div.about #(id) {
                @for error in self.errors_at(place) {
                    p.error { @if let Some(line) = line_of(&error.pointer, &place.at) { "Line " (line) ": " }
                        (shown(&error.detail)) @if let Some(hint) = &error.hint { "; " (shown(hint)) } }
                }
                p.faint { (sentence(place.key.doc)) }
            }
        }
    }

    fn boxes<'n>(&self, place: &Place<'_>, names: impl Iterator<Item = &'n str>) -> Markup {
        let id = id(&place.at);
        let about = format!("{id}-about");
        let ticked: Vec<&str> = place
            .says
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default()
            .iter()
            .filter_map(Value::as_str)
            .collect();
        let names: Vec<&str> = names.collect();
        // Names that lead nowhere (any more) are kept, or told to be wrong.
        let others = ticked.iter().copied().filter(|name| !names.contains(name));
        html! {
            fieldset.field.wrong[self.is_wrong(place)] #(id) aria-describedby=(about) {
                legend { (label(place.key)) @if is_needed(place) { " " span.faint { "(needed)" } } }
                div.boxes {
                    @for name in names.iter().copied().chain(others) {
                        label { input type="checkbox" name=(place.at) value=(name) checked[ticked.contains(&name)]; " " (shown(name)) }
                    }
                }
                (self.about(place, &about))
            }
        }
    }

    fn fold(&self, place: &Place<'_>, inside: impl FnOnce(&str) -> Markup) -> Markup {
        html! {
            details #(id(&place.at)) open[self.is_said(place)] {
                summary { (label(place.key)) }
                @for error in self.errors_at(place) {
                    p.error { (shown(&error.detail)) @if let Some(hint) = &error.hint { "; " (shown(hint)) } }
                }
                p.faint { (sentence(place.key.doc)) }
                div.fields { (inside(&format!("{}/", place.at))) }
            }
        }
    }

    /// Of a list of maps: those there are, and room for some more.
    fn rows(&self, place: &Place<'_>, inner: &'static Table, at: &str) -> Markup {
        let said = place.says.as_array().map(Vec::as_slice).unwrap_or_default();
        html! {
            @for row in 0..said.len() + ROWS_MORE {
                @let says = said.get(row).unwrap_or(NOTHING);
                fieldset.row #(id(&format!("{at}{row}"))) {
                    legend { (first_upper(inner.name)) " " (row + 1) @if says.is_null() { " " span.faint { "(left empty, it is none)" } } }
                    @for key in inner.keys { (self.field(&self.place(inner, key, &format!("{at}{row}/"), says))) }
                }
            }
        }
    }
}

fn select(id: &str, about: &str, place: &Place<'_>, words: &[&str], own: &str) -> Markup {
    let default = place.table.default_text(place.key);
    html! {
        select #(id) name=(place.at) aria-describedby=(about) {
            option value="" selected[own.is_empty()] {
                @match default { Some(default) => { "As by default: " (default) }, None => "–" }
            }
            @for word in words { option value=(word) selected[own == *word] { (word) } }
            @if !own.is_empty() && !words.contains(&own) { option value=(own) selected { (own) } }
        }
    }
}

/// What a map within must have is needed only if there is one.
fn is_needed(place: &Place<'_>) -> bool {
    !place.at.contains('/') && matches!(place.key.need, Need::Required | Need::RequiredUnless(_))
}

fn hint(place: &Place<'_>) -> String {
    match place.table.default_text(place.key) {
        Some(default) => default,
        None if place.key.example.is_empty() => String::new(),
        None => format!("like {}", place.key.example.trim_matches(['"', '\''])),
    }
}

fn example_lines(key: &Key) -> Option<&'static str> {
    match &key.kind {
        Kind::List { of: Kind::OneOf(_), .. } => {
            Some("host: *.example.org\nprefix: example.org/news\nregex: \\.pdf$")
        }
        Kind::Headers => Some("Accept-Language: nb, nn;q=0.8"),
        _ => None,
    }
}

/// What stands between backquotes is to be typed.
fn sentence(doc: &str) -> Markup {
    html! { @for (number, part) in doc.split('`').enumerate() { @if number % 2 == 1 { code { (part) } } @else { (part) } } }
}

/// `Max depth` for `max_depth`.
fn label(key: &Key) -> String {
    // It stands behind the words there are.
    if key.name == "as" {
        return "Or as the agent".to_owned();
    }
    first_upper(&key.name.replace('_', " "))
        .replace("Url", "URL")
        .replace("urls", "URLs")
        .replace("url ", "URL ")
}

fn first_upper(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}

/// Of the field of this name.
pub(super) fn id(at: &str) -> String {
    let safe = at.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' });
    format!("f-{}", safe.collect::<String>())
}

fn is_at_or_below(pointer: &str, at: &str) -> bool {
    let rest = pointer.trim_start_matches('/').strip_prefix(at);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The line of a text field that a place below it is on.
fn line_of(pointer: &str, at: &str) -> Option<usize> {
    let rest = pointer.trim_start_matches('/').strip_prefix(at)?.strip_prefix('/')?;
    rest.split('/').next()?.parse().ok().map(|line: usize| line + 1)
}

fn is_nothing(says: &Value) -> bool {
    match says {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::String(text) => text.is_empty(),
        _ => false,
    }
}

fn spelled(says: &Value) -> String {
    match says {
        Value::String(text) => text.clone(),
        Value::Bool(yes) => if *yes { "yes" } else { "no" }.to_owned(),
        // Without a fraction that says nothing.
        Value::Number(number) if number.is_f64() => number.as_f64().unwrap_or_default().to_string(),
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    }
}

/// A list, or headers, with a line for each.
fn text_of(says: &Value) -> String {
    let pair = |(name, value): (&String, &Value)| format!("{name}: {}", spelled(value));
    let lines: Vec<String> = match says {
        Value::Array(items) => items
            .iter()
            .map(|item| match item {
                Value::Object(map) => map.iter().map(pair).collect(),
                item => spelled(item),
            })
            .collect(),
        Value::Object(map) => map.iter().map(pair).collect(),
        says => vec![spelled(says)],
    };
    lines.join("\n")
}

fn rows_of(says: &Value) -> usize {
    (text_of(says).lines().count() + 1).clamp(3, 20)
}
