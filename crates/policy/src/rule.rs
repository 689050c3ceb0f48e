//! The rules of the specification by number, so that a decision can say which of them made it.
//!
//! `F` rules are page 1 (the frontier), `O` rules page 2 (which seed a URL belongs to).

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! rules {
    ($($name:ident $says:literal)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum Rule { $(#[doc = $says] $name,)* }

        impl Rule {
            pub const ALL: &[Rule] = &[$(Rule::$name,)*];

            /// The rule in a few words.
            pub fn says(self) -> &'static str {
                match self { $(Rule::$name => $says,)* }
            }

            /// Its number: `F13`.
            pub fn as_str(self) -> &'static str {
                match self { $(Rule::$name => stringify!($name),)* }
            }
        }
    };
}

rules! {
    F1 "a seed is started in the context of its profiles"
    F2 "a start is an outlink without a parent"
    F3 "a seed is queued once per collection"
    F4 "a new run makes the done eligible again"
    F5 "reserve the earliest free host"
    F6 "release the host after its politeness delay"
    F7 "one harvest, one transaction"
    F8 "politeness delay"
    F9 "a seed that does not exist: remove"
    F10 "a collection that does not exist: remove"
    F11 "an inactive seed: postpone"
    F12 "an inactive collection: postpone"
    F13 "out of scope of all profiles: remove"
    F14 "in scope of inactive profiles only: postpone"
    F15 "its next due, worked out anew, is still ahead: postpone"
    F16 "blacklisted, past its ttl or through its cycles: remove"
    F17 "the name does not resolve, or robots deny: not harvested"
    F18 "last fetch is now, depth stays"
    F19 "not-found and error counts"
    F20 "cycles, length and ttl"
    F21 "next due, backoff and blacklisting"
    F22 "in scope, not queued: add"
    F23 "in scope, queued with the same seed: update"
    F24 "in scope, queued with another seed: owner rules"
    F25 "out of scope, queued with the same seed: remove if its stored position is out too"
    F26 "out of scope, queued with another seed: ignore"
    F27 "out of scope, not queued: ignore"
    F28 "done in this run, or blacklisted: ignore"
    F29 "normalising of URLs"
    F30 "the fourteen variants"
    F31 "frequency contract"
    F32 "reports by domain and time"
    F33 "feasibility"
    F34 "scope of a profile"
    F36 "a budget is used up: not queued, or not harvested"
    F37 "seems to be a trap: held until somebody decides"
    F38 "outside the windows of its profiles: postpone"
    F39 "blacklisted by a pattern"
    F41 "as often as it changes"
    O1 "started: the URL's own seed"
    O2 "no seed matches the URL: the seed of the page"
    O3 "the seed of the page is the best match"
    O4 "in scope of the seed of the page"
    O5 "not in scope of the seed of the page: the best match"
    O6 "the scope context is the best match: it owns"
    O7 "the queued seed is the best match: it stays"
    O8 "neither is the best match: the earlier next due owns"
    O9 "the owner does not depend on the order of the links"
    O10 "a page's new claim takes the place of its old one"
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_written_as_the_specification_numbers_them() {
        assert_eq!(Rule::F13.to_string(), "F13");
        assert_eq!(Rule::O8.to_string(), "O8");
        assert_eq!(Rule::ALL.len(), 39 + 10);
        assert_eq!(Rule::ALL[33], Rule::F34);
    }
}
