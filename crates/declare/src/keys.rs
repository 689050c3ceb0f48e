//! How the config file is described: one description for reading, writing, suggestions, the JSON
//! Schema and the commented example, so that they cannot drift apart. The description itself is in
//! [`super::tables`].

use serde_json::Value;

use crate::value::Data;
use crate::write;

/// A map with fixed keys.
#[derive(Debug)]
pub struct Table {
    /// As messages call one of it: `profile`.
    pub name: &'static str,
    pub keys: &'static [Key],
    /// What a key of it is where it is left out.
    pub default: fn(&str) -> Option<Data>,
}

#[derive(Debug)]
pub struct Key {
    pub name: &'static str,
    pub kind: Kind,
    pub need: Need,
    /// One or two sentences, for schema and example.
    pub doc: &'static str,
    /// A good value in YAML on one line, for hints and example; empty where the keys below make it
    /// up.
    pub example: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    Required,
    /// Required unless this other key is there.
    RequiredUnless(&'static str),
    /// May be left out, and is then as in [`Table::default`].
    Default,
    /// May be left out or null: there is none.
    Optional,
    /// May be left out or null: nothing of it is given.
    Empty,
}

#[derive(Clone, Copy, Debug)]
pub enum Kind {
    Bool,
    Duration {
        zero: bool,
    },
    /// A duration, or two with `..` between them.
    Frequency,
    Size {
        max: u64,
    },
    Count {
        min: u32,
        max: u32,
    },
    /// A whole number up to the highest id a walk knows.
    Id {
        min: u64,
    },
    /// A number with a fraction; never negative.
    Factor {
        min: f64,
        max: f64,
    },
    Text(TextRule),
    Choice(&'static [&'static str]),
    /// One of these words, or a map.
    ChoiceOr(&'static [&'static str], &'static Table),
    Table(&'static Table),
    /// A map with exactly one of the keys.
    OneOf(&'static Table),
    List {
        of: &'static Kind,
        min: usize,
    },
    /// Header names and their values.
    Headers,
}

/// What a text must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextRule {
    /// One line that is not empty.
    Line,
    Name {
        bytes_max: usize,
    },
    Url,
    Host,
    /// A host, or `*.host` for its subdomains too.
    HostPattern,
    /// A name that no host can have.
    GroupName,
    Regex,
    /// A URL with `{id}` in it.
    Template,
    /// An HTTP status, a range or a class of them.
    Status,
    /// The beginning of a file name.
    FilePrefix,
    /// Where somebody can be reached: a web page or a mail address.
    Contact,
    /// A line without any of these characters.
    Without(&'static str),
    /// A path, from its slash on.
    Path,
    /// Language tags with commas between them.
    Languages,
    /// A name of the tz database, as browsers know it.
    Timezone,
    /// A proxy with its scheme and port, or `direct`.
    Proxy,
    /// The address of a name server, with or without a port.
    Resolver,
    /// An IP address.
    Address,
    /// One that is in the database.
    Zone,
    /// Hours and minutes.
    TimeOfDay {
        /// Whether 24:00 is one.
        end: bool,
    },
}

impl Table {
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }

    /// What a key with a default means where it is left out, as YAML on one line.
    pub fn default_text(&self, key: &Key) -> Option<String> {
        self.default_value(key).map(|value| write::line(&value))
    }

    /// The same as it is written in JSON.
    pub fn default_value(&self, key: &Key) -> Option<Value> {
        let default = (self.default)(key.name).filter(|_| key.need == Need::Default)?;
        Some(write::value(&default, &key.kind))
    }

    /// The names of its keys, as messages list them.
    pub fn names(&self) -> String {
        self.keys.iter().map(|key| key.name).collect::<Vec<&str>>().join(", ")
    }
}

impl Key {
    /// Whether null says that there is none of it.
    pub fn may_be_null(&self) -> bool {
        let empty_list = matches!(self.kind, Kind::List { min: 0, .. });
        matches!(self.need, Need::Optional | Need::Empty) || (self.need == Need::Default && empty_list)
    }
}

impl Kind {
    /// As a message names it: "wants …".
    pub fn wanted(&self) -> &'static str {
        match self {
            Kind::Bool => "yes or no",
            Kind::Duration { .. } => "a duration",
            Kind::Frequency => "a duration, or two with `..` between them",
            Kind::Size { .. } => "a size",
            Kind::Count { .. } | Kind::Id { .. } => "a whole number",
            Kind::Factor { .. } => "a number",
            Kind::Text(rule) => rule.wanted(),
            Kind::Choice(_) => "one word",
            Kind::ChoiceOr(..) => "one word or a map",
            Kind::Table(_) | Kind::OneOf(_) | Kind::Headers => "a map",
            Kind::List { .. } => "a list",
        }
    }
}

impl TextRule {
    pub fn wanted(self) -> &'static str {
        match self {
            TextRule::Line => "a text",
            TextRule::Name { .. } | TextRule::GroupName => "a name",
            TextRule::Url => "a URL",
            TextRule::Host | TextRule::HostPattern => "a host",
            TextRule::Regex => "a regular expression",
            TextRule::Template => "a URL with `{id}` in it",
            TextRule::Status => "a status",
            TextRule::FilePrefix => "the beginning of a file name",
            TextRule::Contact => "a web page or a mail address",
            TextRule::Without(_) => "a text",
            TextRule::Path => "a path",
            TextRule::Languages => "languages",
            TextRule::Timezone | TextRule::Zone => "a time zone",
            TextRule::Proxy => "a proxy",
            TextRule::Resolver | TextRule::Address => "an address",
            TextRule::TimeOfDay { .. } => "a time of day",
        }
    }
}
