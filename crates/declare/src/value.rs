//! What the reader made of a node by its description: right in itself, with its place, not yet put
//! together.

use policy::scope::Pattern;
use policy::time::Span;

use crate::field::Field;
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
    /// The fast and the slow end of a frequency.
    Range(Span, Span),
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

/// The keys of a map that were given.
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

    /// One key and what it says.
    pub(crate) fn one(name: &'static str, data: Data) -> Data {
        let mut fields = Fields::new(At::START);
        fields.extend(name, Some(data));
        Data::Fields(fields)
    }

    pub(crate) fn extend(&mut self, name: &'static str, data: Option<Data>) {
        self.given.extend(data.map(|data| (name, Value { at: At::START, data })));
    }

    pub fn put(&mut self, name: &'static str, value: Option<Value>) {
        match value {
            Some(value) => self.given.push((name, value)),
            None => self.wrong.push(name),
        }
    }

    pub fn given(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        self.given.iter().map(|(name, value)| (*name, value))
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

    /// None for a key that was not given or was wrong.
    pub fn read<T: Field>(&self, name: &str) -> Option<T> {
        T::of(&self.get(name)?.data)
    }

    pub fn text(&self, name: &str) -> Option<String> {
        self.get(name)?.text().map(str::to_owned)
    }

    pub fn list(&self, name: &str) -> &[Value] {
        match self.get(name).map(|value| &value.data) {
            Some(Data::List(items)) => items,
            _ => &[],
        }
    }

    pub fn fields(&self, name: &str) -> Option<&Fields> {
        match &self.get(name)?.data {
            Data::Fields(fields) => Some(fields),
            _ => None,
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
