//! What is declared, in short: what a test does not name is as usual.

use policy::catalog::Change;
use policy::model::{Collection, DeclaredWalk, Limits, Profile, RobotsPolicy, Seed, Settings};
use policy::scope::Scope;
use policy::time::Span;

pub fn collection(name: &str) -> Collection {
    Collection { name: name.to_owned(), index: false, ..Collection::default() }
}

/// Daily, without end.
pub fn profile(name: &str, collection: &str) -> Profile {
    Profile {
        name: name.to_owned(),
        active: true,
        collection: collection.to_owned(),
        scope: Scope::default(),
        every: Span::days(1),
        length: None,
        ttl: None,
        robots: RobotsPolicy::Obey,
        limits: Limits::default(),
        traps: policy::trap::Traps::Warn,
        ..Profile::default()
    }
}

pub fn seed(name: &str, url: &str, profiles: &[&str]) -> Seed {
    let profiles = profiles.iter().map(|name| (*name).to_owned()).collect();
    Seed { name: name.to_owned(), url: url.to_owned(), active: true, profiles, ..Seed::default() }
}

/// What can be declared by a change.
pub trait Declared {
    fn change(self) -> Change;
}

pub fn put(declared: impl Declared) -> Change {
    declared.change()
}

impl Declared for Collection {
    fn change(self) -> Change {
        Change::PutCollection(Box::new(self))
    }
}

impl Declared for Profile {
    fn change(self) -> Change {
        Change::PutProfile(Box::new(self))
    }
}

impl Declared for Seed {
    fn change(self) -> Change {
        Change::PutSeed(self)
    }
}

impl Declared for Settings {
    fn change(self) -> Change {
        Change::PutSettings(Box::new(self))
    }
}

impl Declared for DeclaredWalk {
    fn change(self) -> Change {
        Change::PutWalk(Box::new(self))
    }
}
