//! How much is harvested at most (F36): of a collection, a seed, a profile, a host or a group of
//! hosts.
//!
//! A **holder** has a budget, and what was used of it is kept by whoever remembers ([`Spent`]); here
//! is said which budgets a URL falls under, and which of them is used up. Decided where the
//! specification leaves it open:
//!
//! - A URL falls under the budgets of its collection, of the seed that has it, of its host (of its
//!   host's group, where it is in one) and of the profiles it is harvested for.
//! - Of several profiles one that has something left is enough: the URL is harvested for that one,
//!   and counts for that one alone. Of the others each must have something left.
//! - A URL is *known* to the profiles whose frequency is in force, from when it is queued until it
//!   is forgotten: what is done or blacklisted is known, too.
//! - A start, and a link to what is known already, is never refused for `max_urls`; only what would
//!   be new is. A URL that changes hands takes its count along.
//! - A run is what a start began (F4), and each has a budget of its own. Its time counts from its
//!   first harvest. A try without an answer is a harvest, too; a name that does not resolve is none.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::catalog::Catalog;
use crate::time::{Span, Time};
use crate::url::CrawlUrl;

/// None of it is no limit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    /// Known at a time.
    pub max_urls: Option<u64>,
    /// Of a run, as are the next two.
    pub max_harvests: Option<u64>,
    pub max_bytes: Option<u64>,
    pub max_duration: Option<Span>,
}

impl Budget {
    pub fn is_none(&self) -> bool {
        *self == Budget::default()
    }

    pub fn max(&self, limit: Limit) -> Option<u64> {
        match limit {
            Limit::Urls => self.max_urls,
            Limit::Harvests => self.max_harvests,
            Limit::Bytes => self.max_bytes,
            Limit::Duration => self.max_duration.map(|span| span.0),
        }
    }
}

/// Whose budget it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Holder {
    Collection(String),
    Seed(String),
    Profile(String),
    /// By its site.
    Host(String),
    Group(String),
}

impl Holder {
    pub fn kind(&self) -> &'static str {
        match self {
            Holder::Collection(_) => "collection",
            Holder::Seed(_) => "seed",
            Holder::Profile(_) => "profile",
            Holder::Host(_) => "host",
            Holder::Group(_) => "host group",
        }
    }

    pub fn name(&self) -> &str {
        let (Holder::Collection(name)
        | Holder::Seed(name)
        | Holder::Profile(name)
        | Holder::Host(name)
        | Holder::Group(name)) = self;
        name
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} `{}`", self.kind(), self.name())
    }
}

/// One of the four.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Limit {
    Urls,
    Harvests,
    Bytes,
    Duration,
}

impl Limit {
    pub const ALL: [Limit; 4] = [Limit::Urls, Limit::Harvests, Limit::Bytes, Limit::Duration];

    /// As the config has it.
    pub fn key(self) -> &'static str {
        match self {
            Limit::Urls => "max_urls",
            Limit::Harvests => "max_harvests",
            Limit::Bytes => "max_bytes",
            Limit::Duration => "max_duration",
        }
    }

    /// An amount of it in words.
    pub fn says(self, amount: u64) -> String {
        match self {
            Limit::Urls => format!("{amount} known URLs"),
            Limit::Harvests => format!("{amount} harvests"),
            Limit::Bytes => format!("{amount} bytes"),
            Limit::Duration => Span(amount).to_string(),
        }
    }
}

/// What a URL is charged to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Charges {
    /// Those with a `max_urls`, who count it among what they know.
    pub known_to: Vec<Holder>,
    /// Whose budget was used up when it was last looked at, so that it waits.
    pub held_by: Option<Holder>,
}

/// What a run has used of a budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    pub harvests: u64,
    pub bytes: u64,
    /// Of its first harvest; none if there was none yet.
    pub since: Option<Time>,
}

impl Spent {
    pub fn of(self, limit: Limit, now: Time) -> u64 {
        match limit {
            Limit::Urls => 0,
            Limit::Harvests => self.harvests,
            Limit::Bytes => self.bytes,
            Limit::Duration => self.since.map_or(0, |since| now.since(since).0),
        }
    }

    pub fn merge(&mut self, other: &Spent) {
        self.harvests = self.harvests.saturating_add(other.harvests);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.since = self.since.into_iter().chain(other.since).min();
    }
}

/// A budget of which nothing is left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsedUp {
    pub holder: Holder,
    pub limit: Limit,
    pub used: u64,
    pub max: u64,
    /// Of what is counted by run.
    pub run: Option<u64>,
}

impl fmt::Display for UsedUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let UsedUp { holder, limit, used, max, run } = self;
        write!(
            f,
            "the budget of {holder} is used up: {} of {} ({})",
            limit.says(*used),
            limit.says(*max),
            limit.key()
        )?;
        run.map_or(Ok(()), |run| write!(f, " in run {run}"))
    }
}

/// Those with a budget that a URL falls under, whatever the profile: its collection, its seed and
/// its host or group.
pub fn holders(catalog: &Catalog, collection: &str, seed: &str, url: &CrawlUrl) -> Vec<Holder> {
    if !catalog.has_budgets() {
        return Vec::new();
    }
    let host = match catalog.group_of(url.site()) {
        Some(group) => Holder::Group(group.name.clone()),
        None => Holder::Host(url.site().to_owned()),
    };
    let all = [Holder::Collection(collection.to_owned()), Holder::Seed(seed.to_owned()), host];
    all.into_iter().filter(|holder| catalog.budget(holder).is_some()).collect()
}

/// The same with these profiles.
pub fn holders_with<'a>(
    catalog: &Catalog,
    collection: &str,
    seed: &str,
    url: &CrawlUrl,
    profiles: impl IntoIterator<Item = &'a String>,
) -> Vec<Holder> {
    let mut all = holders(catalog, collection, seed, url);
    if catalog.has_budgets() {
        let profiles = profiles.into_iter().map(|name| Holder::Profile(name.clone()));
        all.extend(profiles.filter(|holder| catalog.budget(holder).is_some()));
    }
    all
}

/// Who of them counts the URLs it knows.
pub fn known_to(catalog: &Catalog, holders: Vec<Holder>) -> Vec<Holder> {
    let counts = |holder: &Holder| catalog.budget(holder).is_some_and(|budget| budget.max_urls.is_some());
    holders.into_iter().filter(counts).collect()
}

/// Whether one more URL may be known: the first budget that says no. Profiles say it together.
pub fn may_queue(
    catalog: &Catalog,
    profiles: &[String],
    known_to: &[Holder],
    known: impl Fn(&Holder) -> u64,
) -> Result<(), UsedUp> {
    let used_up = |holder: &Holder| {
        let max = catalog.budget(holder)?.max_urls?;
        let used = known(holder);
        let holder = holder.clone();
        (used >= max).then_some(UsedUp { holder, limit: Limit::Urls, used, max, run: None })
    };
    one_is_enough(known_to, profiles.len(), used_up).map(|_| ())
}

/// Whether a URL of a run may be harvested now, and which of the profiles must be left out because
/// they have had theirs.
pub fn may_harvest(
    catalog: &Catalog,
    profiles: &[String],
    holders: &[Holder],
    run: u64,
    spent: impl Fn(&Holder) -> Spent,
    now: Time,
) -> Result<Vec<String>, UsedUp> {
    let used_up = |holder: &Holder| {
        let budget = catalog.budget(holder)?;
        let spent = spent(holder);
        let of_run = [Limit::Harvests, Limit::Bytes, Limit::Duration];
        of_run.into_iter().find_map(|limit| {
            let (used, max) = (spent.of(limit, now), budget.max(limit)?);
            let holder = holder.clone();
            (used >= max).then_some(UsedUp { holder, limit, used, max, run: Some(run) })
        })
    };
    one_is_enough(holders, profiles.len(), used_up)
}

/// The first that is used up; of profiles, only if all that there are are. Otherwise those profiles
/// that are.
fn one_is_enough(
    holders: &[Holder],
    profiles: usize,
    used_up: impl Fn(&Holder) -> Option<UsedUp>,
) -> Result<Vec<String>, UsedUp> {
    let (mut out, mut first) = (Vec::new(), None);
    for holder in holders {
        let Some(found) = used_up(holder) else { continue };
        let Holder::Profile(name) = holder else { return Err(found) };
        out.push(name.clone());
        first.get_or_insert(found);
    }
    match first {
        Some(found) if out.len() >= profiles => Err(found),
        _ => Ok(out),
    }
}
