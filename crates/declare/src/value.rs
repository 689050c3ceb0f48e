//! What the reader made of a node by its description: right in itself, with its place, not yet put together.

use policy::scope::Pattern;
use policy::time::Span;

use crate::problem::At;

#[derive(Clone, Debug)]
pub struct Value {
    pub at: At,
    pub data: Data,
}

#[derive(Clone, Debug)]
pub enum Data {
    /// Null, where that is allowed: explicitly none.
    None,
    Bool(bool),
    Span(Span),
    Number(u64),
    Factor(f64),
    Text(String),
    Url {
        given: String,
        normal: String,
    },
    Regex(Pattern),
    List(Vec<Value>),
    Fields(Fields),
    Headers(Vec<(String, String)>),
}

/// The keys of a map that were given. Getters return none for a key that was not given or was wrong.
#[derive(Clone, Debug)]
pub struct Fields {
    pub at: At,
    given: Vec<(&'static str, Value)>,
    /// Given, but wrong: told already, and so not missing.
    wrong: Vec<&'static str>,
}

impl Fields {
    pub fn new(at: At) -> Fields {
        Fields { at, given: Vec::new(), wrong: Vec::new() }
    }

    pub fn put(&mut self, name: &'static str, value: Option<Value>) {
        match value {
            Some(value) => self.given.push((name, value)),
            None => self.wrong.push(name),
        }
    }

    /// Given, rightly or wrongly.
    pub fn mentions(&self, name: &str) -> bool {
        self.get(name).is_some() || self.wrong.contains(&name)
    }

    pub fn is_wrong(&self, name: &str) -> bool {
        self.wrong.contains(&name)
    }

    pub fn get(&self, name: &str) -> Option<&Value> {
        self.given.iter().find(|(key, _)| *key == name).map(|(_, value)| value)
    }

    pub fn at(&self, name: &str) -> At {
        self.get(name).map_or(self.at, |value| value.at)
    }

    pub fn text(&self, name: &str) -> Option<String> {
        match &self.get(name)?.data {
            Data::Text(text) => Some(text.clone()),
            _ => None,
        }
    }

    pub fn bool(&self, name: &str) -> Option<bool> {
        match self.get(name)?.data {
            Data::Bool(value) => Some(value),
            _ => None,
        }
    }

    pub fn span(&self, name: &str) -> Option<Span> {
        match self.get(name)?.data {
            Data::Span(span) => Some(span),
            _ => None,
        }
    }

    pub fn number(&self, name: &str) -> Option<u64> {
        match self.get(name)?.data {
            Data::Number(number) => Some(number),
            _ => None,
        }
    }

    /// A number that its description keeps within 32 bits.
    pub fn count(&self, name: &str) -> Option<u32> {
        self.number(name).map(|number| u32::try_from(number).unwrap_or(u32::MAX))
    }

    pub fn factor(&self, name: &str) -> Option<f64> {
        match self.get(name)?.data {
            Data::Factor(factor) => Some(factor),
            _ => None,
        }
    }

    pub fn list(&self, name: &str) -> Option<&[Value]> {
        match &self.get(name)?.data {
            Data::List(items) => Some(items),
            Data::None => Some(&[]),
            _ => None,
        }
    }

    pub fn texts(&self, name: &str) -> Option<Vec<String>> {
        Some(self.list(name)?.iter().filter_map(Value::text).map(str::to_owned).collect())
    }

    /// The sources of regular expressions.
    pub fn regexes(&self, name: &str) -> Vec<(At, &str)> {
        let values = self.list(name).unwrap_or_default().iter();
        values
            .filter_map(|value| match &value.data {
                Data::Regex(Pattern::Regex(regex)) => Some((value.at, regex.source())),
                _ => None,
            })
            .collect()
    }

    pub fn fields(&self, name: &str) -> Option<&Fields> {
        match &self.get(name)?.data {
            Data::Fields(fields) => Some(fields),
            _ => None,
        }
    }

    /// For what may be none: not given, none, or some.
    pub fn optional<T>(&self, name: &str, get: impl Fn(&Fields, &str) -> Option<T>) -> Option<Option<T>> {
        match self.get(name)?.data {
            Data::None => Some(None),
            _ => get(self, name).map(Some),
        }
    }
}

impl Value {
    pub fn text(&self) -> Option<&str> {
        match &self.data {
            Data::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// Overwrites what was given.
pub fn set<T>(place: &mut T, given: Option<T>) {
    if let Some(value) = given {
        *place = value;
    }
}
