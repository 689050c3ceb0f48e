//! What the kinds of declared things have in common, and in what they differ.

use anyhow::Result;
use declare::counted;
use declare::hint::unknown;
use harvest::session::parse_url;
use policy::catalog::{Catalog, Change};
use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Seed,
    Profile,
    Collection,
    Group,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Seed => "seed",
            Kind::Profile => "profile",
            Kind::Collection => "collection",
            Kind::Group => "host group",
        })
    }
}

impl Kind {
    /// As paths of the API write it.
    pub fn path(self) -> &'static str {
        match self {
            Kind::Seed => "seeds",
            Kind::Profile => "profiles",
            Kind::Collection => "collections",
            Kind::Group => "host-groups",
        }
    }

    /// Its section of the config file.
    pub fn section(self) -> &'static str {
        match self {
            Kind::Group => "host_groups",
            kind => kind.path(),
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
        }
    }

    pub fn is_there(self, catalog: &Catalog, name: &str) -> bool {
        match self {
            Kind::Seed => catalog.seed(name).is_some(),
            Kind::Profile => catalog.profile(name).is_some(),
            Kind::Collection => catalog.collection(name).is_some(),
            Kind::Group => catalog.group(name).is_some(),
        }
    }

    /// The name of the thing that was meant: itself, or for a seed another spelling of its URL.
    pub fn resolve(self, catalog: &Catalog, name: &str) -> Result<String> {
        if self.is_there(catalog, name) {
            return Ok(name.to_owned());
        }
        if self == Kind::Seed
            && let Ok(url) = parse_url(name, catalog.url_rules())
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
                let mut seed = catalog.seed(name).filter(|entry| entry.seed.active != active)?.seed.clone();
                seed.active = active;
                Some(Change::PutSeed(seed))
            }
            Kind::Profile => {
                let mut profile = catalog.profile(name).filter(|profile| profile.active != active)?.clone();
                profile.active = active;
                Some(Change::PutProfile(Box::new(profile)))
            }
            Kind::Collection => {
                let mut collection = catalog.collection(name).filter(|found| found.active != active)?.clone();
                collection.active = active;
                Some(Change::PutCollection(collection))
            }
            Kind::Group => None,
        }
    }

    pub fn deletion(self, name: &str) -> Change {
        let name = name.to_owned();
        match self {
            Kind::Seed => Change::DeleteSeed(name),
            Kind::Profile => Change::DeleteProfile(name),
            Kind::Collection => Change::DeleteCollection(name),
            Kind::Group => Change::DeleteGroup(name),
        }
    }

    /// What still names the thing that is gone, in a sentence.
    pub fn left_dangling(self, catalog: &Catalog, name: &str) -> Option<String> {
        let (number, who) = match self {
            Kind::Profile => (catalog.seeds_of_profile(name).count(), "seed"),
            Kind::Collection => (catalog.profiles_of_collection(name).count(), "profile"),
            Kind::Seed | Kind::Group => return None,
        };
        let verb = if number == 1 { "names" } else { "name" };
        (number > 0).then(|| format!("{} still {verb} it", counted(number, who)))
    }
}
