//! What people declare (I3): in one YAML file, in JSON, on the command line or in the list of
//! another crawler ([`import`]), read into the plain data of `policy::model` by one description.
//!
//! A file's way: [`yaml`] makes nodes of the text that know their place; [`read`] makes values of
//! the nodes by the description in [`tables`]; [`declare`] puts the values together to the plain
//! data of `policy::model`, fills in what profiles inherit ([`profile`]) and follows every
//! reference. Each step adds what it finds wrong to one list of [`problem`]s, so that a person sees
//! all of them at once, in the order of the file.
//!
//! The description is the only place that knows the keys: [`field`] puts what was read into the
//! model and takes it out again, [`write`] makes JSON and YAML of it, and [`schema`] and
//! [`example`] are written from it too. What a request says of one entry ([`entry`]) goes the same
//! way, from nodes that [`json`] makes.
//!
//! Hostile files end in a problem: size, depth, aliases, regular expressions and the number of
//! profiles and of problems told are bounded, each where it is read.

mod declare;
pub mod entry;
mod example;
mod field;
pub mod given;
pub mod hint;
mod hosts;
pub mod import;
mod json;
pub mod keys;
mod problem;
mod profile;
pub mod read;
mod scalar;
mod schema;
pub mod secret;
mod tables;
pub mod text;
pub mod value;
mod walks;
mod write;
pub mod yaml;

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use anyhow::{Context, Result};
use policy::browser::{BrowserSettings, Engine};
use policy::budget::Limit;
use policy::catalog::{Catalog, Change};
use policy::model::{Collection, DeclaredWalk, HostGroup, Politeness, Profile, Seed, Settings};
use policy::way::Way;
use serde_json::{Value, json};
use walks::WalkDraft;

pub use declare::{nobody_takes, one_document};
pub use example::example;
pub use keys::TextRule;
pub use problem::{At, ConfigError, Problems};
pub use scalar::read_text;
pub use schema::{json_of, schema};
pub use text::{counted, excerpt, nearest};
pub use value::Data;
pub use write::{to_yaml, written};

/// A million seeds fit; what is larger belongs into an import.
pub const CONFIG_BYTES_MAX: u64 = 64 << 20;

/// What a file declares, sound in itself: every reference leads somewhere, every seed has a URL.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Declared {
    pub settings: Settings,
    pub collections: Vec<Collection>,
    pub profiles: Vec<Profile>,
    pub seeds: Vec<Seed>,
    pub groups: Vec<HostGroup>,
    /// Politeness and way per host.
    pub hosts: Vec<(String, Politeness, Way)>,
    pub walks: Vec<DeclaredWalk>,
}

impl Declared {
    /// What is no mistake for certain, but hardly meant: a sentence each, with its hint.
    pub fn warnings(&self) -> Vec<(String, &'static str)> {
        let mut warnings = Vec::new();
        if self.seeds.is_empty() && self.walks.is_empty() {
            let hint = "declare where to start under `seeds:`, or with `skurd seed add`";
            warnings.push(("no seeds and no walks: nothing would be harvested".to_owned(), hint));
        }
        let unused =
            |own: &&Collection| own.engine == Engine::Http && own.browser != BrowserSettings::default();
        if let Some(first) = self.collections.iter().find(unused) {
            let what = match self.collections.iter().filter(unused).count() - 1 {
                0 => format!("collection {} has", excerpt(&first.name)),
                more => format!("collection {} and {} have", excerpt(&first.name), counted(more, "other")),
            };
            let hint = "give `engine: browser`, or leave the settings out";
            warnings.push((format!("{what} `browser` settings that nothing uses: the engine is http"), hint));
        }
        warnings.extend(self.budgets_never_met());
        warnings
    }

    /// F36: budgets of profiles that can never be met, since that of their collection comes first.
    fn budgets_never_met(&self) -> Option<(String, &'static str)> {
        let beyond = |profile: &&Profile| {
            let of = self.collections.iter().find(|collection| collection.name == profile.collection);
            of.is_some_and(|collection| {
                Limit::ALL.into_iter().any(|limit| {
                    let both = profile.budget.max(limit).zip(collection.budget.max(limit));
                    both.is_some_and(|(own, all)| own > all)
                })
            })
        };
        let first = self.profiles.iter().find(beyond)?;
        let what = format!(
            "profile {} has a larger budget than its collection {}, which is used up before",
            excerpt(&first.name),
            excerpt(&first.collection)
        );
        Some((what, "give the profile less, or the collection more"))
    }

    /// All of it as a config in JSON, which is YAML, with everything spelled out.
    pub fn to_json(&self) -> Value {
        json!({
            "settings": written(&self.settings),
            "collections": self.collections.iter().map(written).collect::<Value>(),
            "profiles": self.profiles.iter().map(written).collect::<Value>(),
            "seeds": self.seeds.iter().map(written).collect::<Value>(),
            "host_groups": self.groups.iter().map(written).collect::<Value>(),
            "hosts": self.hosts.iter().map(written).collect::<Value>(),
            "walks": self.walks.iter().map(|walk| written(&WalkDraft::from(walk))).collect::<Value>(),
        })
    }

    /// Everything that is declared, in one order, with masks before secrets (I7).
    pub fn of(catalog: &Catalog) -> Declared {
        let mut hosts: Vec<(String, Politeness, Way)> = catalog
            .host_overrides()
            .map(|(host, (politeness, way))| (host.to_owned(), politeness.clone(), secret::masked_way(way)))
            .collect();
        hosts.sort_by(|one, other| one.0.cmp(&other.0));
        Declared {
            settings: catalog.settings().clone(),
            collections: sorted(catalog.collections().map(secret::masked), |own| own.name.clone()),
            profiles: sorted(catalog.profiles().cloned(), |own| own.name.clone()),
            seeds: sorted(catalog.seeds().map(|entry| entry.seed.clone()), |own| own.name.clone()),
            groups: sorted(catalog.groups().map(secret::masked_group), |own| own.name.clone()),
            hosts,
            // Their order says who goes first.
            walks: sorted(catalog.walks().cloned(), |own| (own.place, own.name.clone())),
        }
    }

    /// The config file that declares it.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        write::write_config(out, self)
    }

    /// What to tell the catalog, in an order in which no reference ever dangles.
    pub fn into_changes(self) -> Vec<Change> {
        let mut changes = vec![Change::PutSettings(Box::new(self.settings))];
        changes.extend(self.collections.into_iter().map(|own| Change::PutCollection(Box::new(own))));
        changes.extend(self.profiles.into_iter().map(|profile| Change::PutProfile(Box::new(profile))));
        changes.extend(self.groups.into_iter().map(Change::PutGroup));
        let hosts = self.hosts.into_iter();
        changes.extend(hosts.map(|(host, politeness, way)| Change::PutHostPoliteness {
            host,
            politeness,
            way,
        }));
        changes.extend(self.seeds.into_iter().map(Change::PutSeed));
        changes.extend(self.walks.into_iter().map(|walk| Change::PutWalk(Box::new(walk))));
        changes
    }
}

fn sorted<T, K: Ord>(things: impl Iterator<Item = T>, key: impl Fn(&T) -> K) -> Vec<T> {
    let mut things: Vec<T> = things.collect();
    things.sort_by_cached_key(key);
    things
}

/// Reads a config file from disk. The error of a file with problems is a [`ConfigError`].
pub fn load(path: &Path) -> Result<Declared> {
    let bytes = read_bounded(path, CONFIG_BYTES_MAX).map_err(|error| {
        let is_missing =
            error.downcast_ref().is_some_and(|cause: &io::Error| cause.kind() == io::ErrorKind::NotFound);
        let hint = format!("`skurd config example > {}` writes one to begin with", path.display());
        if is_missing { hint::hinted(format!("{error:#}"), hint) } else { error }
    })?;
    Ok(parse(&path.display().to_string(), &bytes)?)
}

/// A whole file, unless it is larger than it may be; the size is not asked for, since a pipe has
/// none.
pub fn read_bounded(path: &Path, bytes_max: u64) -> Result<Vec<u8>> {
    let cannot = || format!("cannot read {}", path.display());
    let file = File::open(path).with_context(cannot)?;
    let mut bytes = Vec::new();
    file.take(bytes_max + 1).read_to_end(&mut bytes).with_context(cannot)?;
    if u64::try_from(bytes.len()).is_ok_and(|read| read > bytes_max) {
        anyhow::bail!("{} is larger than {} MiB", path.display(), bytes_max >> 20);
    }
    Ok(bytes)
}

/// Reads a config; `file` is what messages call it.
pub fn parse(file: &str, bytes: &[u8]) -> Result<Declared, ConfigError> {
    declare::declare(file, text_of(file, bytes)?)
}

/// A file's bytes as text, or what is wrong with them.
pub fn text_of<'a>(file: &str, bytes: &'a [u8]) -> Result<&'a str, ConfigError> {
    str::from_utf8(bytes).map_err(|error| {
        let at = At::of_byte(bytes, error.valid_up_to());
        ConfigError::one(file, at, "this is not UTF-8", "save the file as UTF-8")
    })
}

#[cfg(test)]
mod tests;
