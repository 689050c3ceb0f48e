//! One declared thing put, replaced or deleted, and what that does to the indexes.

use serde::{Deserialize, Serialize};

use crate::blacklist::Barred;
use crate::catalog::{Catalog, site_key};
use crate::model::{Collection, DeclaredWalk, HostGroup, Politeness, Profile, Seed, SeedKey, Settings};
use crate::url::{UrlRefusal, UrlRules, normalise};
use crate::way::Way;

/// A put replaces what has the same name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Change {
    PutCollection(Box<Collection>),
    DeleteCollection(String),
    PutProfile(Box<Profile>),
    DeleteProfile(String),
    PutSeed(Seed),
    DeleteSeed(SeedKey),
    PutGroup(HostGroup),
    DeleteGroup(String),
    PutHostPoliteness {
        host: String,
        politeness: Politeness,
        way: Way,
    },
    DeleteHostPoliteness(String),
    PutSettings(Box<Settings>),
    PutWalk(Box<DeclaredWalk>),
    DeleteWalk(String),
    PutBarred(Box<Barred>),
    /// By its name.
    DeleteBarred(String),
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CatalogError {
    #[error("seed `{seed}` has no usable URL `{url}`")]
    SeedUrl {
        seed: SeedKey,
        url: String,
        #[source]
        refusal: UrlRefusal,
    },
}

impl Catalog {
    /// Takes in one change. On an error nothing has changed.
    pub fn apply(&mut self, change: Change) -> Result<(), CatalogError> {
        self.count_budget(&change);
        match change {
            Change::PutCollection(collection) => {
                self.collections.insert(collection.name.clone(), *collection);
            }
            Change::DeleteCollection(name) => {
                self.collections.remove(&name);
            }
            Change::PutProfile(profile) => self.put_profile(*profile),
            Change::DeleteProfile(name) => self.delete_profile(&name),
            Change::PutSeed(seed) => self.put_seed(seed)?,
            Change::DeleteSeed(key) => self.seeds.remove(&key),
            Change::PutGroup(group) => self.put_group(group),
            Change::DeleteGroup(name) => self.delete_group(&name),
            Change::PutHostPoliteness { host, politeness, way } => {
                self.hosts.insert(site_key(&host), (politeness, way));
            }
            Change::DeleteHostPoliteness(host) => {
                self.hosts.remove(&site_key(&host));
            }
            Change::PutSettings(settings) => self.put_settings(*settings),
            Change::PutWalk(walk) => {
                self.walks.insert(walk.name.clone(), *walk);
            }
            Change::DeleteWalk(name) => {
                self.walks.remove(&name);
            }
            Change::PutBarred(barred) => self.barred.put(*barred),
            Change::DeleteBarred(name) => self.barred.remove(&name),
        }
        Ok(())
    }

    fn put_profile(&mut self, profile: Profile) {
        self.delete_profile(&profile.name);
        self.profiles_of.entry(profile.collection.clone()).or_default().insert(profile.name.clone());
        self.profiles.insert(profile.name.clone(), profile);
    }

    fn delete_profile(&mut self, name: &str) {
        let Some(old) = self.profiles.remove(name) else { return };
        if let Some(names) = self.profiles_of.get_mut(&old.collection) {
            names.remove(name);
            if names.is_empty() {
                self.profiles_of.remove(&old.collection);
            }
        }
    }

    fn put_seed(&mut self, seed: Seed) -> Result<(), CatalogError> {
        match normalise(&seed.url, None, &self.url_rules) {
            Ok(url) => {
                self.seeds.put(seed, url);
                Ok(())
            }
            Err(refusal) => Err(CatalogError::SeedUrl { seed: seed.name, url: seed.url, refusal }),
        }
    }

    fn put_group(&mut self, group: HostGroup) {
        self.delete_group(&group.name);
        for host in &group.hosts {
            self.groups_of.entry(site_key(host)).or_default().insert(group.name.clone());
        }
        self.groups.insert(group.name.clone(), group);
    }

    fn delete_group(&mut self, name: &str) {
        let Some(old) = self.groups.remove(name) else { return };
        for host in old.hosts.iter().map(|host| site_key(host)) {
            let Some(names) = self.groups_of.get_mut(&host) else { continue };
            names.remove(name);
            if names.is_empty() {
                self.groups_of.remove(&host);
            }
        }
    }

    /// Seeds keep the spelling they got when they were put: a setting never rebuilds the catalog.
    fn put_settings(&mut self, settings: Settings) {
        self.url_rules = UrlRules::from(&settings);
        self.settings = settings;
    }
}
