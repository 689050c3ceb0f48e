//! One collection, profile, seed, host group or host, or the settings, as a request has it: JSON that is
//! read by the description of the config file and written by it. References lead to what is
//! declared already.

use std::fmt;

use anyhow::Result;
use policy::catalog::{Catalog, Change};
use policy::model::{Collection, HostGroup, Politeness, Profile, Seed, Settings};
use policy::url::normalise;
use policy::way::Way;
use serde_json::Value;

use crate::declare::{self, Known, Named, section};
use crate::field::Record;
use crate::hint::{unknown, with_hint};
use crate::hosts::{Groups, add_host};
use crate::keys::Table;
use crate::read::Reader;
use crate::secret;
use crate::text::{counted, excerpt};
use crate::value::Fields;
use crate::write::{self, written};
use crate::{json, profile};

/// What can be declared one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Seed,
    Profile,
    Collection,
    Group,
    /// What holds for a single host.
    Host,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Seed => "seed",
            Kind::Profile => "profile",
            Kind::Collection => "collection",
            Kind::Group => "host group",
            Kind::Host => "host",
        })
    }
}

impl Kind {
    /// As paths of the API write it. (`hosts` are those that have URLs.)
    pub fn path(self) -> &'static str {
        match self {
            Kind::Seed => "seeds",
            Kind::Profile => "profiles",
            Kind::Collection => "collections",
            Kind::Group => "host-groups",
            Kind::Host => "host-settings",
        }
    }

    /// Its section of the config file.
    pub fn section(self) -> String {
        match self {
            Kind::Host => "hosts".to_owned(),
            _ => self.path().replace('-', "_"),
        }
    }

    /// The key that says which one it is.
    fn key(self) -> &'static str {
        if self == Kind::Host { "host" } else { "name" }
    }

    /// Its keys.
    pub fn table(self) -> &'static Table {
        match self {
            Kind::Seed => Seed::TABLE,
            Kind::Profile => Profile::TABLE,
            Kind::Collection => Collection::TABLE,
            Kind::Group => HostGroup::TABLE,
            Kind::Host => <(String, Politeness, Way)>::TABLE,
        }
    }

    pub fn command(self) -> String {
        self.to_string().replace(' ', "-")
    }

    /// In no particular order.
    pub fn names(self, catalog: &Catalog) -> Vec<&str> {
        match self {
            Kind::Seed => catalog.seeds().map(|entry| entry.seed.name.as_str()).collect(),
            Kind::Profile => catalog.profiles().map(|profile| profile.name.as_str()).collect(),
            Kind::Collection => catalog.collections().map(|collection| collection.name.as_str()).collect(),
            Kind::Group => catalog.groups().map(|group| group.name.as_str()).collect(),
            Kind::Host => catalog.host_overrides().map(|(host, _)| host).collect(),
        }
    }

    pub fn is_there(self, catalog: &Catalog, name: &str) -> bool {
        match self {
            Kind::Seed => catalog.seed(name).is_some(),
            Kind::Profile => catalog.profile(name).is_some(),
            Kind::Collection => catalog.collection(name).is_some(),
            Kind::Group => catalog.group(name).is_some(),
            Kind::Host => catalog.host_override(name).is_some(),
        }
    }

    /// The name of the one that was meant: itself, or for a seed another spelling of its URL.
    pub fn resolve(self, catalog: &Catalog, name: &str) -> Result<String> {
        if self.is_there(catalog, name) {
            return Ok(name.to_owned());
        }
        if self == Kind::Seed
            && let Ok(url) = normalise(name, None, catalog.url_rules())
            && let Some(entry) = catalog.seeds().find(|entry| entry.url == url)
        {
            return Ok(entry.seed.name.clone());
        }
        Err(unknown(&self.to_string(), name, self.names(catalog).into_iter()))
    }

    /// The change that switches it; none if it is so already.
    pub fn switch(self, catalog: &Catalog, name: &str, active: bool) -> Option<Change> {
        match self {
            Kind::Seed => {
                let seed = &catalog.seed(name).filter(|entry| entry.seed.active != active)?.seed;
                Some(Change::PutSeed(Seed { active, ..seed.clone() }))
            }
            Kind::Profile => {
                let profile = catalog.profile(name).filter(|profile| profile.active != active)?;
                Some(Change::PutProfile(Box::new(Profile { active, ..profile.clone() })))
            }
            Kind::Collection => {
                let collection = catalog.collection(name).filter(|found| found.active != active)?;
                Some(Change::PutCollection(Box::new(Collection { active, ..collection.clone() })))
            }
            Kind::Group | Kind::Host => None,
        }
    }

    /// The change that would put what is there.
    pub fn as_it_is(self, catalog: &Catalog, name: &str) -> Option<Change> {
        Some(match self {
            Kind::Seed => Change::PutSeed(catalog.seed(name)?.seed.clone()),
            Kind::Profile => Change::PutProfile(Box::new(catalog.profile(name)?.clone())),
            Kind::Collection => Change::PutCollection(Box::new(catalog.collection(name)?.clone())),
            Kind::Group => Change::PutGroup(catalog.group(name)?.clone()),
            Kind::Host => {
                let (politeness, way) = catalog.host_override(name)?;
                let (politeness, way) = (politeness.clone(), way.clone());
                Change::PutHostPoliteness { host: name.to_owned(), politeness, way }
            }
        })
    }

    pub fn deletion(self, name: &str) -> Change {
        let name = name.to_owned();
        match self {
            Kind::Seed => Change::DeleteSeed(name),
            Kind::Profile => Change::DeleteProfile(name),
            Kind::Collection => Change::DeleteCollection(name),
            Kind::Group => Change::DeleteGroup(name),
            Kind::Host => Change::DeleteHostPoliteness(name),
        }
    }

    /// What still names the one that is gone, in a sentence.
    pub fn left_dangling(self, catalog: &Catalog, name: &str) -> Option<String> {
        let (number, who) = match self {
            Kind::Profile => (catalog.seeds_of_profile(name).count(), "seed"),
            Kind::Collection => (catalog.profiles_of_collection(name).count(), "profile"),
            Kind::Seed | Kind::Group | Kind::Host => return None,
        };
        let verb = if number == 1 { "names" } else { "name" };
        (number > 0).then(|| format!("{} still {verb} it", counted(number, who)))
    }
}

/// All that is wrong with a body, in its order; printed, it is the first.
#[derive(Debug)]
pub struct Invalid(pub Vec<InvalidField>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidField {
    /// Where it is in the body: a JSON pointer (RFC 6901).
    pub pointer: String,
    pub what: String,
    /// Empty where there is nothing to add.
    pub hint: String,
}

impl Invalid {
    pub(crate) fn one(pointer: &str, what: impl Into<String>, hint: &str) -> Invalid {
        Invalid(vec![InvalidField { pointer: pointer.to_owned(), what: what.into(), hint: hint.to_owned() }])
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.first().map_or(Ok(()), |first| f.write_str(&with_hint(&first.what, &first.hint)))
    }
}

impl std::error::Error for Invalid {}

/// The change that puts what the body says under this name.
pub fn read(catalog: &Catalog, kind: Kind, name: &str, mut body: Value) -> Result<Change, Invalid> {
    let Value::Object(given) = &mut body else {
        return Err(Invalid::one("", "a JSON object is wanted", ""));
    };
    let key = kind.key();
    match given.get(key) {
        Some(Value::String(own)) if own != name => {
            let what = format!("the body calls it {}, the path {}", excerpt(own), excerpt(name));
            return Err(Invalid::one(&format!("/{key}"), what, ""));
        }
        _ => drop(given.insert(key.to_owned(), Value::from(name))),
    }
    let (node, pointers) = json::nodes(&body);
    let mut reader = Reader::of_json(pointers);
    reader.rules = catalog.url_rules().clone();
    let fields = section(&kind.section()).and_then(|(key, table)| reader.fields(node, table, key));
    let change = fields.and_then(|fields| change(catalog, kind, fields, &mut reader));
    match finish(reader, change)? {
        Some(Change::PutCollection(mut collection)) => {
            secret::restore(&mut collection, catalog)?;
            Ok(Change::PutCollection(collection))
        }
        Some(Change::PutGroup(mut group)) => {
            secret::restore_group(&mut group, catalog)?;
            Ok(Change::PutGroup(group))
        }
        Some(Change::PutHostPoliteness { host, .. }) if host != name => {
            let what = format!("host {} is declared as {}", excerpt(name), excerpt(&host));
            Err(Invalid::one("/host", what, "without scheme and port, `www.` or not being the same"))
        }
        Some(Change::PutHostPoliteness { host, politeness, mut way }) => {
            secret::restore_host(&host, &mut way, catalog)?;
            Ok(Change::PutHostPoliteness { host, politeness, way })
        }
        change => change.ok_or_else(|| Invalid::one("", "this says nothing", "")),
    }
}

fn change(catalog: &Catalog, kind: Kind, fields: Fields, reader: &mut Reader) -> Option<Change> {
    let known = |kind| Known::Declared(kind, catalog);
    match kind {
        Kind::Seed => {
            let profile = |name: &str| catalog.profile(name);
            declare::seed(&fields, &known(Kind::Profile), profile, reader).map(Change::PutSeed)
        }
        Kind::Profile => {
            let (mut profiles, _) = profile::resolve(&[fields], &known(Kind::Collection), reader);
            profiles.pop().map(|profile| Change::PutProfile(Box::new(profile)))
        }
        Kind::Collection => Some(Change::PutCollection(Box::new(declare::collection(&fields, reader)))),
        Kind::Group => {
            let own = fields.text("name").unwrap_or_default();
            for value in fields.list("hosts") {
                let host = value.text().unwrap_or_default();
                if let Some(other) = catalog.group_of(host).filter(|other| other.name != own) {
                    let what =
                        format!("host {} is in host group {} already", excerpt(host), excerpt(&other.name));
                    reader.problems.add(value.at, what, ONE_GROUP);
                }
            }
            let mut groups = Groups::default();
            groups.add(&fields, catalog.settings(), reader);
            groups.groups.things.pop().map(Change::PutGroup)
        }
        Kind::Host => {
            let host = fields.text("host").unwrap_or_default();
            if let Some(group) = catalog.group_of(&host) {
                let (host, group) = (excerpt(&host), excerpt(&group.name));
                let what = format!("host {host} is in host group {group}, whose politeness counts");
                reader.problems.add(fields.at("host"), what, GROUP_COUNTS);
            }
            let mut hosts = Named::new("host");
            add_host(&mut hosts, &fields, catalog.settings(), &Groups::default(), reader);
            let (host, politeness, way) = hosts.things.pop()?;
            Some(Change::PutHostPoliteness { host, politeness, way })
        }
    }
}

const GROUP_COUNTS: &str = "declare it for the group, or take the host out of that";
const ONE_GROUP: &str = "a host is in one group: leave it out here, or replace the other group without it";

pub fn read_settings(body: &Value) -> Result<Settings, Invalid> {
    if !body.is_object() {
        return Err(Invalid::one("", "a JSON object is wanted", ""));
    }
    let (node, pointers) = json::nodes(body);
    let mut reader = Reader::of_json(pointers);
    let settings = declare::settings(node, &mut reader);
    finish(reader, settings)
}

fn finish<T>(mut reader: Reader, read: T) -> Result<T, Invalid> {
    let problems = std::mem::take(&mut reader.problems);
    problems.finish("body", read).map_err(|error| {
        let fields = error.problems.into_iter().map(|problem| InvalidField {
            pointer: reader.pointer(problem.at).to_owned(),
            what: problem.what,
            hint: problem.hint,
        });
        Invalid(fields.collect())
    })
}

/// What the config file would say of it, as it is shown: secrets are masked (I7). Null if it is not
/// there.
pub fn shown(catalog: &Catalog, kind: Kind, name: &str) -> Value {
    match kind {
        Kind::Collection => catalog.collection(name).map(|found| written(&secret::masked(found))),
        Kind::Group => catalog.group(name).map(|found| written(&secret::masked_group(found))),
        Kind::Host => catalog.host_override(name).map(|(politeness, way)| {
            written(&(name.to_owned(), politeness.clone(), secret::masked_way(way)))
        }),
        _ => Some(whole(catalog, kind, name)),
    }
    .unwrap_or_default()
}

/// All of it, for nobody to see.
pub fn whole(catalog: &Catalog, kind: Kind, name: &str) -> Value {
    match kind {
        Kind::Seed => catalog.seed(name).map(|entry| written(&entry.seed)),
        Kind::Profile => catalog.profile(name).map(written),
        Kind::Collection => catalog.collection(name).map(written),
        Kind::Group => catalog.group(name).map(written),
        Kind::Host => {
            let own = catalog.host_override(name).cloned();
            own.map(|(politeness, way)| written(&(name.to_owned(), politeness, way)))
        }
    }
    .unwrap_or_default()
}

/// All that a change puts, for nobody to see; null if it takes something away.
pub fn whole_of(change: &Change) -> Value {
    match change {
        Change::PutCollection(collection) => written(&**collection),
        Change::PutProfile(profile) => written(&**profile),
        Change::PutSeed(seed) => written(seed),
        Change::PutGroup(group) => written(group),
        Change::PutHostPoliteness { host, politeness, way } => {
            written(&(host.clone(), politeness.clone(), way.clone()))
        }
        _ => Value::Null,
    }
}

/// What the config file would say of what a change puts, as it is shown (I7).
pub fn shown_of(change: &Change) -> Value {
    match change {
        Change::PutCollection(collection) => written(&secret::masked(collection)),
        Change::PutGroup(group) => written(&secret::masked_group(group)),
        Change::PutHostPoliteness { host, politeness, way } => {
            written(&(host.clone(), politeness.clone(), secret::masked_way(way)))
        }
        change => whole_of(change),
    }
}

/// Without what is as it would be without a word.
pub fn terse(kind: Kind, says: &Value) -> Value {
    let default = match kind {
        Kind::Seed => written(&Seed::default()),
        Kind::Profile => written(&Profile::default()),
        Kind::Collection => written(&Collection::default()),
        Kind::Group | Kind::Host => Value::Null,
    };
    write::terse(says, &default)
}

#[cfg(test)]
mod tests;
