//! How one URL stands with one seed: what each of its profiles says, and what that adds up to.
//!
//! Three kinds of profile count for three different things. **In scope** are all profiles whose
//! scope takes the URL, active or not: they keep it in the queue, so that a switched-off profile
//! never deletes anything. **Active** are those of them that are switched on (under a seed that
//! is): they make a seed's claim to the URL (O8). **Live** are those of them that have cycles left:
//! they say when it is due (F21), for a profile that has had its `length` wants no more harvests,
//! however short its `every`.

use std::fmt;

use crate::catalog::{Catalog, SeedEntry};
use crate::changes::Changes;
use crate::model::{Position, Profile, Record};
use crate::owner::Claim;
use crate::schedule::shortest_every;
use crate::scope::ScopeVerdict;
use crate::time::Span;
use crate::url::CrawlUrl;

/// One URL in one collection, before the catalog.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    pub catalog: &'a Catalog,
    pub collection: &'a str,
    pub url: &'a CrawlUrl,
}

/// What a URL has behind it, as far as profiles look at it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Past {
    /// In this run.
    pub cycles: u32,
    pub changes: Changes,
}

impl From<&Record> for Past {
    fn from(record: &Record) -> Past {
        Past { cycles: record.cycles, changes: record.changes }
    }
}

/// What one profile says of the URL.
#[derive(Clone, Copy, Debug)]
pub struct ProfileVerdict<'a> {
    pub profile: &'a Profile,
    pub verdict: ScopeVerdict,
}

/// What all profiles that a seed has with the collection add up to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Profiles the seed has with the collection.
    pub profiles: u32,
    /// Those that have the URL in scope.
    pub in_scope: u32,
    pub claim: Claim,
    /// The shortest frequency in force of the live profiles: none, and nothing asks for a harvest.
    pub every: Option<Span>,
    /// One of those has a moment or windows (F38), so that this is not all there is to its due times.
    pub timed: bool,
    /// In-scope profiles, active or not, that have not had their `length` cycles.
    pub unfinished: u32,
    /// The longest ttl of the in-scope profiles; none if one of them has none.
    pub ttl: Option<Span>,
    /// The shortest ttl of the in-scope profiles that have one.
    pub shortest_ttl: Option<Span>,
    /// The verdict of the first profile that takes the URL, else of the last that does not.
    pub because: Option<ScopeVerdict>,
}

impl<'a> Subject<'a> {
    /// Each profile's verdict on the URL at this position from the seed.
    pub fn verdicts(
        self,
        entry: &'a SeedEntry,
        position: Position,
    ) -> impl Iterator<Item = ProfileVerdict<'a>> {
        self.catalog.profiles_in(entry, self.collection).map(move |profile| {
            let verdict = profile.scope.check(&entry.url, self.url, &position);
            ProfileVerdict { profile, verdict }
        })
    }

    /// The sum of the verdicts, for a URL with this past.
    pub fn standing(self, entry: &'a SeedEntry, position: Position, past: &Past) -> Standing {
        let mut standing = Standing::NONE;
        for verdict in self.verdicts(entry, position) {
            standing.add(verdict, entry.seed.active, past);
        }
        standing
    }

    /// The same by key; a seed that does not exist has no say.
    pub fn standing_with(self, seed: &str, position: Position, past: &Past) -> Standing {
        self.catalog.seed(seed).map_or(Standing::NONE, |entry| self.standing(entry, position, past))
    }
}

impl Standing {
    /// With no seed, or with a seed that has no profile with the collection.
    pub const NONE: Standing = Standing {
        profiles: 0,
        in_scope: 0,
        claim: Claim::None,
        every: None,
        timed: false,
        unfinished: 0,
        ttl: None,
        shortest_ttl: None,
        because: None,
    };

    pub fn is_in_scope(&self) -> bool {
        self.in_scope > 0
    }

    /// F16: every in-scope profile has had its `length` cycles.
    pub fn is_finished(&self) -> bool {
        self.in_scope > 0 && self.unfinished == 0
    }

    pub(crate) fn add(&mut self, given: ProfileVerdict<'_>, seed_active: bool, past: &Past) {
        let ProfileVerdict { profile, verdict } = given;
        self.profiles += 1;
        if self.in_scope == 0 {
            self.because = Some(verdict);
        }
        if !verdict.in_scope {
            return;
        }
        let active = profile.active && seed_active;
        let unfinished = has_cycles_left(profile, past.cycles);
        self.ttl =
            if self.in_scope == 0 { profile.ttl } else { self.ttl.zip(profile.ttl).map(|(a, b)| a.max(b)) };
        self.shortest_ttl = shortest_every(self.shortest_ttl.into_iter().chain(profile.ttl));
        self.in_scope += 1;
        self.unfinished += u32::from(unfinished);
        // The owner must not depend on what was harvested when (O9): a range counts as its middle.
        let claimed = profile.frequency(&Changes::default());
        self.claim = self.claim.min(if active { Claim::Every(claimed) } else { Claim::Inactive });
        if active && unfinished {
            self.every = shortest_every(self.every.into_iter().chain([profile.frequency(&past.changes)]));
            self.timed |= profile.is_timed();
        }
    }
}

/// F20: a profile without `length` always has.
pub(crate) fn has_cycles_left(profile: &Profile, cycles: u32) -> bool {
    profile.length.is_none_or(|length| cycles < length)
}

impl fmt::Display for ProfileVerdict<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = if self.profile.active { "active" } else { "inactive" };
        write!(f, "profile `{}` ({state}): {}", self.profile.name, self.verdict)
    }
}
