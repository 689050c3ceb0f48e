//! Reads nodes by their description: one function per kind of thing, none of which knows any key.
//!
//! A wrong value is told and left out; what surrounds it is read on, so that all problems of a file
//! come to light at once. Reading takes the nodes apart as it goes: memory is not needed twice.

use policy::url::UrlRules;

use crate::hint::Hinted;
use crate::keys::{Key, Kind, Need, Table, TextRule};
use crate::problem::{At, Problems};
use crate::scalar::{
    check_header, read_bool, read_choice, read_count, read_duration, read_factor, read_frequency, read_id,
    read_size, read_text,
};
use crate::text::excerpt;
use crate::value::{Data, Fields, Value};
use crate::yaml::{self, Node};

/// Regular expressions in one file: each may take a megabyte when compiled.
pub const REGEXES_MAX: usize = 2000;

#[derive(Debug, Default)]
pub struct Reader {
    pub problems: Problems,
    pub rules: UrlRules,
    /// Of a JSON body: the pointers that stand for places.
    pointers: Option<Vec<String>>,
    /// Names of the catalog that were compared with ones that lead nowhere.
    pub(crate) names_compared: usize,
    regexes: usize,
}

impl Reader {
    /// For nodes that come from JSON, with the pointer to each.
    pub(crate) fn of_json(pointers: Vec<String>) -> Reader {
        Reader { pointers: Some(pointers), ..Reader::default() }
    }

    /// Another place, as a message mentions it.
    pub(crate) fn mentioned(&self, at: At) -> String {
        match &self.pointers {
            None => format!("on line {}", at.line),
            Some(_) => format!("at {}", self.pointer(at)),
        }
    }

    pub(crate) fn pointer(&self, at: At) -> &str {
        let place = usize::try_from(at.line).unwrap_or(usize::MAX);
        let pointers = self.pointers.as_deref().unwrap_or_default();
        pointers.get(place.wrapping_sub(1)).map_or("", String::as_str)
    }

    /// The fields of a map; none if it is no map. `of` is the key it stands under.
    pub fn fields(&mut self, node: Node<'_>, table: &'static Table, of: &Key) -> Option<Fields> {
        let mut fields = Fields::new(node.at);
        let yaml::Data::Map(entries) = node.data else {
            return self.wrong_type(&node, of, &Kind::Table(table));
        };
        for (name, node) in entries {
            match table.key(&name.text) {
                Some(key) => {
                    let value = self.value(node, key);
                    fields.put(key.name, value);
                }
                None => self.unknown(&name, table),
            }
        }
        self.missing(&fields, table);
        Some(fields)
    }

    /// The value of a key.
    pub fn value(&mut self, node: Node<'_>, key: &Key) -> Option<Value> {
        if is_none(&node, key) {
            return Some(Value { at: node.at, data: Data::None });
        }
        if node.is_null() {
            self.problems.add(node.at, format!("`{}` has no value", key.name), example(key));
            return None;
        }
        self.of_kind(node, key, &key.kind)
    }

    /// An unknown key, with the one that was probably meant.
    pub fn unknown(&mut self, name: &yaml::Key<'_>, table: &Table) {
        let what = format!("unknown key {} in {}", excerpt(&name.text), with_article(table.name));
        let near = self.problems.suggest(&name.text, table.keys.iter().map(|key| key.name));
        let hint = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None if name.text == "<<" => "merge keys are not taken; profiles share with `extends`".to_owned(),
            None => format!("the keys here are: {}", table.names()),
        };
        self.problems.add(name.at, what, hint);
    }

    /// `kind` is that of the key, or of an element of its list.
    fn of_kind(&mut self, node: Node<'_>, key: &Key, kind: &Kind) -> Option<Value> {
        let at = node.at;
        let data = match kind {
            Kind::Table(table) => Data::Fields(self.fields(node, table, key)?),
            Kind::OneOf(table) => Data::Fields(self.one_of(node, table, key)?),
            Kind::ChoiceOr(_, table) if matches!(node.data, yaml::Data::Map(_)) => {
                Data::Fields(self.fields(node, table, key)?)
            }
            Kind::List { of, min } => Data::List(self.list(node, key, of, *min)?),
            Kind::Headers => Data::Headers(self.headers(node, key)?),
            _ => self.scalar(&node, key, kind)?,
        };
        Some(Value { at, data })
    }

    /// A list whose wrong elements are left out; none if one was wrong, so that nothing is read
    /// into the rest.
    fn list(&mut self, node: Node<'_>, key: &Key, of: &'static Kind, min: usize) -> Option<Vec<Value>> {
        let at = node.at;
        let yaml::Data::List(nodes) = node.data else {
            return self.wrong_type(&node, key, &key.kind);
        };
        if nodes.len() < min {
            self.problems.add(at, format!("`{}` is an empty list", key.name), example(key));
            return None;
        }
        let read: Vec<Option<Value>> = nodes.into_iter().map(|node| self.of_kind(node, key, of)).collect();
        read.into_iter().collect()
    }

    fn one_of(&mut self, node: Node<'_>, table: &'static Table, key: &Key) -> Option<Fields> {
        let yaml::Data::Map(entries) = &node.data else {
            return self.wrong_type(&node, key, &Kind::OneOf(table));
        };
        if entries.len() != 1 {
            let what = format!("a {} has exactly one key", table.name);
            self.problems.add(node.at, what, format!("one of: {}", table.names()));
            return None;
        }
        self.fields(node, table, key)
    }

    fn headers(&mut self, node: Node<'_>, key: &Key) -> Option<Vec<(String, String)>> {
        let yaml::Data::Map(entries) = node.data else {
            return self.wrong_type(&node, key, &key.kind);
        };
        let mut headers = Vec::with_capacity(entries.len());
        for (name, node) in entries {
            let yaml::Data::Text { text, .. } = &node.data else {
                let _: Option<()> = self.wrong_type(&node, key, &Kind::Text(TextRule::Line));
                continue;
            };
            match check_header(&name.text, text) {
                Ok(()) => headers.push((name.text.into_owned(), text.clone().into_owned())),
                Err(wrong) => self.wrong(name.at, key, wrong),
            }
        }
        Some(headers)
    }

    fn scalar(&mut self, node: &Node<'_>, key: &Key, kind: &Kind) -> Option<Data> {
        let text = match &node.data {
            yaml::Data::Text { text, .. } if !node.is_null() => text,
            _ => return self.wrong_type(node, key, kind),
        };
        let read = match kind {
            Kind::Bool => read_bool(text),
            Kind::Duration { zero } => read_duration(text, *zero),
            Kind::Frequency => read_frequency(text),
            Kind::Size { max } => read_size(text, *max),
            Kind::Count { min, max } => read_count(text, *min, *max),
            Kind::Id { min } => read_id(text, *min),
            Kind::Factor { min, max } => read_factor(text, *min, *max),
            Kind::Choice(choices) | Kind::ChoiceOr(choices, _) => read_choice(text, choices),
            Kind::Text(rule) => read_text(text, *rule, &self.rules),
            Kind::Table(_) | Kind::OneOf(_) | Kind::List { .. } | Kind::Headers => return None,
        };
        match read {
            Ok(Data::Regex(_)) if self.too_many_regexes(node.at) => None,
            Ok(data) => Some(data),
            Err(wrong) => {
                self.wrong(node.at, key, wrong);
                None
            }
        }
    }

    fn too_many_regexes(&mut self, at: At) -> bool {
        self.regexes += 1;
        if self.regexes == REGEXES_MAX + 1 {
            let what = format!("more than {REGEXES_MAX} regular expressions in one file");
            self.problems.add(at, what, "use prefix or host patterns, or join some with `|`");
        }
        self.regexes > REGEXES_MAX
    }

    fn wrong(&mut self, at: At, key: &Key, wrong: Hinted) {
        let hint = if wrong.hint.is_empty() { example(key) } else { wrong.hint };
        self.problems.add(at, format!("`{}`: {}", key.name, wrong.what), hint);
    }

    /// Tells it; there is nothing to be read.
    fn wrong_type<T>(&mut self, node: &Node<'_>, key: &Key, kind: &Kind) -> Option<T> {
        let found = match &node.data {
            yaml::Data::Text { .. } if node.is_null() => "nothing".to_owned(),
            yaml::Data::Text { text, .. } => excerpt(text),
            yaml::Data::List(_) => "a list".to_owned(),
            yaml::Data::Map(_) => "a map".to_owned(),
        };
        let in_list = matches!(key.kind, Kind::List { .. }) && !matches!(kind, Kind::List { .. });
        let place = if in_list { format!("an entry of `{}`", key.name) } else { format!("`{}`", key.name) };
        self.problems.add(node.at, format!("{place} wants {}, not {found}", kind.wanted()), shape(key, kind));
        None
    }

    fn missing(&mut self, fields: &Fields, table: &Table) {
        for key in table.keys.iter().filter(|key| !fields.mentions(key.name)) {
            let needed = match key.need {
                Need::Required => true,
                Need::RequiredUnless(other) => !fields.mentions(other),
                Need::Default | Need::Optional | Need::Empty => false,
            };
            if needed {
                let what = format!("{} lacks `{}`", named(fields, table), key.name);
                self.problems.add(fields.at, what, example(key));
            }
        }
    }
}

/// Explicitly none, where a key may be: null, or the word where no text is wanted.
fn is_none(node: &Node<'_>, key: &Key) -> bool {
    let word = matches!(&node.data, yaml::Data::Text { text, plain: true } if text == "none");
    let by_word = key.need == Need::Optional && !matches!(key.kind, Kind::Text(_));
    (node.is_null() && key.may_be_null()) || (word && by_word)
}

/// `profile `daily`` where it has a name.
fn named(fields: &Fields, table: &Table) -> String {
    match fields.text("name") {
        Some(name) => format!("{} {}", table.name, excerpt(&name)),
        None => match with_article(table.name) {
            name if name.starts_with('`') => name,
            _ => format!("this {}", table.name),
        },
    }
}

fn with_article(name: &str) -> String {
    match name {
        "settings" | "politeness" | "limits" | "robots" | "browser" | "viewport" | "device"
        | "behaviours" => {
            format!("`{name}`")
        }
        "config" => "the config".to_owned(),
        name => format!("a {name}"),
    }
}

fn example(key: &Key) -> String {
    match key.example {
        "" => format!("give `{}` what it holds, or leave it out", key.name),
        example => format!("for example `{}: {example}`", key.name),
    }
}

/// What would have been of the right type.
fn shape(key: &Key, kind: &Kind) -> String {
    match kind {
        Kind::OneOf(table) => {
            let forms: Vec<String> =
                table.keys.iter().map(|key| format!("{{{}: {}}}", key.name, key.example)).collect();
            format!("write one of: {}", forms.join(", "))
        }
        Kind::Table(table) if key.example.is_empty() => format!("write keys and values: {}", table.names()),
        Kind::List { .. } if key.example.is_empty() => "begin each entry with `- `".to_owned(),
        _ => example(key),
    }
}
