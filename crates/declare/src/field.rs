//! How the keys of a table and the fields of the model belong together.
//!
//! A [`Field`] is made of what the reader read ([`Data`]), and gives it back for the writer. A
//! [`Record`] is a struct whose fields have the names of the keys; [`record!`] writes its table and
//! both directions from one list of entries, and [`Words`] are the enums that are written as one
//! word.

use std::net::IpAddr;

use policy::browser::{ColorScheme, Engine, RobotsRequisites, Screenshot, WhenUnchanged};
use policy::hours::{TimeOfDay, Weekday};
use policy::model::{BadCertificates, Dedup, RobotsPolicy};
use policy::scope::{Pattern, Within};
use policy::time::Span;
use policy::trap::Traps;
use policy::url::Scheme;
use policy::walk::{Direction, Expression, Retry, StatusRange};
use policy::way::{ResolverAddress, Through};
use policy::zone::Zone;

use crate::keys::Table;
use crate::problem::At;
use crate::value::{Data, Fields, Value};

pub trait Field: Sized {
    /// None if this says something else.
    fn of(data: &Data) -> Option<Self>;

    fn data(&self) -> Data;

    /// Overwrites with what was given.
    fn put(&mut self, data: &Data) {
        if let Some(given) = Self::of(data) {
            *self = given;
        }
    }

    /// The one order of a list in which order says nothing.
    fn tidy(list: Vec<Self>) -> Vec<Self> {
        list
    }
}

/// A struct whose fields are the keys of a table; by default, nothing is given.
pub trait Record: Default {
    const TABLE: &'static Table;

    fn put_key(&mut self, key: &str, data: &Data);

    /// None if the model has no such field: the key is for the reader alone.
    fn get_key(&self, key: &str) -> Option<Data>;

    /// What is given, and the rest as by default.
    fn of_fields(fields: &Fields) -> Self {
        let mut record = Self::default();
        record.lay(fields);
        record
    }

    /// Overwrites what is given, key by key.
    fn lay(&mut self, fields: &Fields) {
        fields.given().for_each(|(key, value)| self.put_key(key, &value.data));
    }

    fn fields(&self) -> Fields {
        let mut fields = Fields::new(At::START);
        for key in Self::TABLE.keys {
            fields.extend(key.name, self.get_key(key.name));
        }
        fields
    }
}

/// An enum that is written as one of these words.
pub(crate) trait Words {
    const WORDS: &'static [&'static str];
}

/// A table that no struct of the model belongs to.
macro_rules! table {
    ($vis:vis static $table:ident = $name:literal;
     $($key:ident : $kind:expr, $need:expr, $example:expr, $doc:expr;)*) => {
        $vis static $table: Table = Table {
            name: $name,
            keys: &[$(Key { name: stringify!($key), kind: $kind, need: $need, example: $example, doc: $doc }),*],
            default: |_| None,
        };
    };
}

/// A table and the struct it describes. `key [path]` is a key whose field has another place in the
/// struct, `key []` one that has none, `key {a, b}` one that two fields hold together.
macro_rules! record {
    ($vis:vis static $table:ident = $name:literal of $model:ty;
     $($key:ident $([$($path:tt)*])? $({$($pair:tt)*})? : $kind:expr, $need:expr, $example:expr, $doc:expr;)*) => {
        $vis static $table: Table = Table {
            name: $name,
            keys: &[$(Key { name: stringify!($key), kind: $kind, need: $need, example: $example, doc: $doc }),*],
            default: |key| <$model as ::std::default::Default>::default().get_key(key),
        };

        impl $crate::field::Record for $model {
            const TABLE: &'static Table = &$table;

            fn put_key(&mut self, key: &str, data: &Data) {
                match key {
                    $(stringify!($key) => place!(put self data $key $([$($path)*])? $({$($pair)*})?),)*
                    _ => {}
                }
            }

            fn get_key(&self, key: &str) -> Option<Data> {
                match key {
                    $(stringify!($key) => place!(get self $key $([$($path)*])? $({$($pair)*})?),)*
                    _ => None,
                }
            }
        }

        impl $crate::field::Field for $model {
            fn of(data: &Data) -> Option<Self> {
                let Data::Fields(fields) = data else { return None };
                Some(Self::of_fields(fields))
            }

            fn data(&self) -> Data {
                Data::Fields(self.fields())
            }

            fn put(&mut self, data: &Data) {
                if let Data::Fields(fields) = data {
                    self.lay(fields);
                }
            }
        }
    };
}

macro_rules! place {
    (put $own:ident $data:ident $key:ident) => { $own.$key.put($data) };
    (put $own:ident $data:ident $key:ident []) => {{}};
    (put $own:ident $data:ident $key:ident [$($path:tt)+]) => { $own.$($path)+.put($data) };
    (put $own:ident $data:ident $key:ident {$fast:ident, $slow:ident}) => {
        $crate::field::put_range(&mut $own.$fast, &mut $own.$slow, $data)
    };
    (get $own:ident $key:ident {$fast:ident, $slow:ident}) => {
        Some($crate::field::range_data($own.$fast, $own.$slow))
    };
    (get $own:ident $key:ident) => { Some($own.$key.data()) };
    (get $own:ident $key:ident []) => { None };
    (get $own:ident $key:ident [$($path:tt)+]) => { Some($own.$($path)+.data()) };
}

pub(crate) use {place, record, table};

/// F41: a fixed frequency has no slow end.
pub(crate) fn put_range(fast: &mut Span, slow: &mut Option<Span>, data: &Data) {
    match data {
        Data::Span(span) => (*fast, *slow) = (*span, None),
        Data::Range(from, to) => (*fast, *slow) = (*from, Some(*to)),
        _ => {}
    }
}

pub(crate) fn range_data(fast: Span, slow: Option<Span>) -> Data {
    slow.map_or(Data::Span(fast), |slow| Data::Range(fast, slow))
}

/// A type that one kind of data holds.
macro_rules! held {
    ($($type:ty: $data:pat => $given:expr, $own:ident => $said:expr;)*) => {
        $(impl Field for $type {
            fn of(data: &Data) -> Option<$type> {
                match data {
                    $data => $given,
                    _ => None,
                }
            }

            fn data(&self) -> Data {
                let $own = self;
                $said
            }
        })*
    };
}

held! {
    bool: Data::Bool(yes) => Some(*yes), yes => Data::Bool(*yes);
    Span: Data::Span(span) => Some(*span), span => Data::Span(*span);
    u64: Data::Number(number) => Some(*number), number => Data::Number(*number);
    u32: Data::Number(number) => u32::try_from(*number).ok(), number => Data::Number(u64::from(*number));
    f64: Data::Factor(factor) => Some(*factor), factor => Data::Factor(*factor);
    String: Data::Text(text) | Data::Url { given: text, .. } => Some(text.clone()), text => Data::Text(text.clone());
    Through: Data::Text(text) => text.parse().ok(), through => Data::Text(through.written());
    ResolverAddress: Data::Text(text) => text.parse().ok(), resolver => Data::Text(resolver.to_string());
    IpAddr: Data::Text(text) => text.parse().ok(), address => Data::Text(address.to_string());
    TimeOfDay: Data::Text(text) => text.parse().ok(), time => Data::Text(time.to_string());
    Zone: Data::Text(text) => Zone::named(text), zone => Data::Text(zone.name().to_owned());
    StatusRange: Data::Text(text) => text.parse().ok(), range => Data::Text(range.to_string());
    Vec<(String, String)>: Data::Headers(all) => Some(all.clone()), all => Data::Headers(all.clone());
    Expression: Data::Regex(Pattern::Regex(regex)) => Expression::new(regex.source()).ok(),
        expression => Data::Text(expression.source().to_owned());
}

impl<T: Field> Field for Option<T> {
    fn of(data: &Data) -> Option<Option<T>> {
        match data {
            Data::None => Some(None),
            data => T::of(data).map(Some),
        }
    }

    fn data(&self) -> Data {
        self.as_ref().map_or(Data::None, T::data)
    }
}

impl<T: Field> Field for Vec<T> {
    fn of(data: &Data) -> Option<Vec<T>> {
        match data {
            Data::List(items) => Some(T::tidy(items.iter().filter_map(|item| T::of(&item.data)).collect())),
            Data::None => Some(Vec::new()),
            _ => None,
        }
    }

    fn data(&self) -> Data {
        Data::List(self.iter().map(|item| Value { at: At::START, data: item.data() }).collect())
    }
}

macro_rules! words {
    ($($type:ident { $($variant:ident = $word:literal),* } $({ $($more:item)* })?)*) => {
        $(impl Words for $type {
            const WORDS: &'static [&'static str] = &[$($word),*];
        }

        impl Field for $type {
            fn of(data: &Data) -> Option<$type> {
                match data {
                    $(Data::Text(word) if word == $word => Some($type::$variant),)*
                    _ => None,
                }
            }

            fn data(&self) -> Data {
                Data::Text(match self { $($type::$variant => $word),* }.to_owned())
            }

            $($($more)*)?
        })*
    };
}

words! {
    BadCertificates { Accept = "accept", Refuse = "refuse" }
    Engine { Http = "http", Browser = "browser" }
    Dedup { Url = "url", Payload = "payload" }
    ColorScheme { Light = "light", Dark = "dark" }
    Screenshot { View = "view", Full = "full", None = "none" }
    WhenUnchanged { Render = "render", Skip = "skip" }
    RobotsRequisites { Obey = "obey", Ignore = "ignore" }
    Within { Path = "path", Host = "host", Domain = "domain", Any = "any" }
    Direction { Up = "up", Down = "down", Both = "both" }
    Traps { Warn = "warn", Hold = "hold" }
    Retry { All = "all", Failed = "failed" }
    Weekday { Mon = "mon", Tue = "tue", Wed = "wed", Thu = "thu", Fri = "fri", Sat = "sat", Sun = "sun" } {
        fn tidy(mut list: Vec<Weekday>) -> Vec<Weekday> {
            list.sort_unstable();
            list.dedup();
            list
        }
    }
    Scheme { Http = "http", Https = "https" } {
        fn tidy(mut list: Vec<Scheme>) -> Vec<Scheme> {
            list.sort_unstable();
            list.dedup();
            list
        }
    }
}

impl Field for RobotsPolicy {
    fn of(data: &Data) -> Option<RobotsPolicy> {
        match data {
            Data::Text(word) if word == "ignore" => Some(RobotsPolicy::Ignore),
            Data::Text(_) => Some(RobotsPolicy::Obey),
            Data::Fields(fields) => fields.text("as").map(RobotsPolicy::ObeyAs),
            _ => None,
        }
    }

    fn data(&self) -> Data {
        match self {
            RobotsPolicy::Obey => Data::Text("obey".to_owned()),
            RobotsPolicy::Ignore => Data::Text("ignore".to_owned()),
            RobotsPolicy::ObeyAs(agent) => Fields::one("as", Data::Text(agent.clone())),
        }
    }
}

impl Field for Pattern {
    fn of(data: &Data) -> Option<Pattern> {
        let (key, value) = match data {
            Data::Regex(pattern) => return Some(pattern.clone()),
            Data::Fields(fields) => fields.given().next()?,
            _ => return None,
        };
        match key {
            "regex" => Pattern::of(&value.data),
            "prefix" => value.text().map(|text| Pattern::Prefix(text.to_owned())),
            _ => value.text().map(|text| Pattern::Host(text.to_owned())),
        }
    }

    fn data(&self) -> Data {
        match self {
            Pattern::Prefix(prefix) => Fields::one("prefix", Data::Text(prefix.clone())),
            Pattern::Host(host) => Fields::one("host", Data::Text(host.clone())),
            Pattern::Regex(_) => Fields::one("regex", Data::Regex(self.clone())),
        }
    }
}
