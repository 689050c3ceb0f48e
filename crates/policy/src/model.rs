//! What people declare (collections, profiles, seeds, host groups, settings) and what Skurd
//! remembers of a URL.
//!
//! Plain data without behaviour of its own. Names are the identity of declared things: a seed's key
//! is its name, and a seed without a name is named by its URL. References between them go by name
//! and may dangle in a running system (a profile was deleted, a seed still names it): every rule
//! says what that means, so nothing here needs to forbid it. The config file is stricter (it
//! refuses dangling names on reading).

use serde::{Deserialize, Serialize};

use crate::browser::{BrowserProgram, BrowserSettings, Engine};
use crate::budget::{Budget, Charges};
use crate::changes::Changes;
use crate::contract::{Owed, Terms};
use crate::hint::Hint;
use crate::hours::{Hours, TimeOfDay, Weekday, Window};
use crate::owner::Via;
use crate::scope::Scope;
use crate::time::{Span, Time};
use crate::trap::Traps;
use crate::trap::text::{Moved, Sketch};
use crate::walk::WalkSettings;
use crate::way::Way;
use crate::zone::Zone;

pub type SeedKey = String;

/// Longest name of a collection or profile: names are parts of keys and file names.
pub const NAME_BYTES_MAX: usize = 200;

/// What is harvested together and apart from the rest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Collection {
    pub name: String,
    pub active: bool,
    pub user_agent: Option<String>,
    /// Request headers sent with every harvest of this collection.
    pub headers: Vec<(String, String)>,
    /// Cookies the jar starts with.
    pub cookies: Vec<GivenCookie>,
    pub warc_prefix: Option<String>,
    /// X13: whether harvests of this collection feed a link index.
    pub index: bool,
    pub engine: Engine,
    pub browser: BrowserSettings,
    pub dedup: Dedup,
    pub way: Way,
    /// F36.
    pub budget: Budget,
}

/// A16: of which captures the same payload is stored only once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Dedup {
    /// Those of one URL.
    #[default]
    Url,
    /// All of the collection.
    Payload,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GivenCookie {
    pub host: String,
    pub name: String,
    pub value: String,
    pub path: Option<String>,
}

impl Default for Collection {
    fn default() -> Collection {
        Collection {
            name: String::new(),
            active: true,
            user_agent: None,
            headers: Vec::new(),
            cookies: Vec::new(),
            warc_prefix: None,
            index: true,
            engine: Engine::default(),
            browser: BrowserSettings::default(),
            dedup: Dedup::Url,
            way: Way::default(),
            budget: Budget::default(),
        }
    }
}

/// How to harvest: one collection, a scope, a frequency.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    pub name: String,
    pub active: bool,
    pub collection: String,
    pub scope: Scope,
    /// Of an adaptive frequency (F41) the fast end.
    pub every: Span,
    /// F20: how many cycles a URL gets; none means for ever.
    pub length: Option<u32>,
    /// F20: a URL that no page has linked to for this long leaves the queue.
    pub ttl: Option<Span>,
    pub robots: RobotsPolicy,
    pub limits: Limits,
    /// F41: the slow end of an adaptive frequency; none: it is fixed.
    pub slowest: Option<Span>,
    /// F38: the moment its frequency counts from.
    pub at: Option<TimeOfDay>,
    /// The days on which it has one; none named is every day.
    pub weekdays: Vec<Weekday>,
    /// Whose clocks moment and windows are by; none: UTC.
    pub timezone: Option<Zone>,
    /// F38: when its harvests may happen; none: always.
    pub windows: Vec<Window>,
    /// F36.
    pub budget: Budget,
    /// F37: what becomes of URLs that seem to be a trap.
    pub traps: Traps,
}

impl Default for Profile {
    fn default() -> Profile {
        Profile {
            name: String::new(),
            active: true,
            collection: String::new(),
            scope: Scope::default(),
            every: Span::ZERO,
            length: None,
            ttl: None,
            robots: RobotsPolicy::Obey,
            limits: Limits::default(),
            slowest: None,
            at: None,
            weekdays: Vec::new(),
            timezone: None,
            windows: Vec::new(),
            budget: Budget::default(),
            traps: Traps::default(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RobotsPolicy {
    Obey,
    Ignore,
    /// Obey the group of this agent instead of our own.
    ObeyAs(String),
}

/// Patience with a URL (F21) and bounds of one fetch (A5).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Consecutive errors after which a URL is blacklisted.
    pub max_errors: u32,
    /// Consecutive not-founds after which a URL is blacklisted.
    pub max_not_found: u32,
    /// How long such a blacklisting lasts; none means until an operator lifts it.
    pub blacklist_for: Option<Span>,
    pub backoff_base: Span,
    pub backoff_cap: Span,
    pub max_bytes: u64,
    pub max_decoded_bytes: u64,
    pub max_header_bytes: u32,
    pub connect_timeout: Span,
    pub first_byte_timeout: Span,
    pub total_timeout: Span,
    /// Outlinks taken from one page; the rest is counted and dropped.
    pub max_outlinks: u32,
    /// Redirects followed in a row.
    pub max_redirects: u32,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            max_errors: 10,
            max_not_found: 3,
            blacklist_for: None,
            backoff_base: Span::minutes(1),
            backoff_cap: Span::days(1),
            max_bytes: 1 << 30,
            max_decoded_bytes: 64 << 20,
            max_header_bytes: 256 << 10,
            connect_timeout: Span::seconds(20),
            first_byte_timeout: Span::seconds(60),
            total_timeout: Span::minutes(20),
            max_outlinks: 10_000,
            max_redirects: 20,
        }
    }
}

/// Where to start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seed {
    pub name: SeedKey,
    /// As declared; normalised when the catalog takes it in.
    pub url: String,
    pub active: bool,
    pub profiles: Vec<String>,
    /// F36.
    pub budget: Budget,
}

impl Default for Seed {
    fn default() -> Seed {
        Seed {
            name: String::new(),
            url: String::new(),
            active: true,
            profiles: Vec::new(),
            budget: Budget::default(),
        }
    }
}

/// Hosts that share one politeness slot (one server behind many names).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostGroup {
    /// Not a valid domain name, so that it can never be mistaken for a host.
    pub name: String,
    pub hosts: Vec<String>,
    pub politeness: Politeness,
    pub way: Way,
}

/// F8: the delay between two requests is `clamp(response time × factor, min, max)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Politeness {
    pub factor: f64,
    pub min: Span,
    pub max: Span,
    /// Simultaneous requests the host or group takes.
    pub parallel: u32,
    /// F38: when it may be asked at all; none: always.
    pub windows: Vec<Window>,
    /// Whose clocks the windows are by; none: UTC.
    pub timezone: Option<Zone>,
    /// F36: how much is asked of the host or group in all; the settings have none.
    pub budget: Budget,
}

impl Politeness {
    /// When the host or group may be asked.
    pub fn hours(&self) -> Hours<'_> {
        Hours { windows: &self.windows, zone: self.timezone.as_ref().unwrap_or(Zone::utc()) }
    }
}

impl Default for Politeness {
    fn default() -> Politeness {
        Politeness {
            factor: 5.0,
            min: Span::seconds(1),
            max: Span::seconds(30),
            parallel: 1,
            windows: Vec::new(),
            timezone: None,
            budget: Budget::default(),
        }
    }
}

/// Ids to be walked (spec 3), and on whose terms.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeclaredWalk {
    pub name: String,
    pub active: bool,
    /// Says to which collection it belongs, whether robots are asked, and how far a fetch may go.
    /// Its scope and frequency say nothing here.
    pub profile: String,
    /// On whose behalf the links of its pages are followed; none: they are not.
    pub seed: Option<SeedKey>,
    /// L8: walks that name the same round take turns; one that names none walks on its own.
    pub round: Option<String>,
    /// The order in which they do; those of one place, by their names.
    pub place: u32,
    pub settings: WalkSettings,
}

/// Settings of the whole installation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    pub politeness: Politeness,
    /// F11, F12, F14: when a postponed URL is looked at again.
    pub recheck: Span,
    /// F5: how long a reservation holds without being renewed.
    pub lease: Span,
    /// F31: a harvest this late or less is on time.
    pub on_time: Span,
    /// F29: query parameters that carry sessions (`PHPSESSID`, …) and are dropped; empty: none.
    pub session_ids: Vec<String>,
    pub user_agent: Option<String>,
    pub contact: Option<String>,
    pub certificates: BadCertificates,
    /// X13: whether there is a link index across all collections that have one, too.
    pub index_across: bool,
    /// A3: how long what a server says in its robots.txt is relied on before it is asked again.
    pub robots_cache: Span,
    pub browser: BrowserProgram,
    /// G11: whether a host rests after other crawlers that this frontier serves, and they after us.
    pub share_hosts: bool,
}

/// A4: what a certificate that is expired, or of nobody known, or of somebody else, is taken for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum BadCertificates {
    /// A page all the same, with a note in the archive.
    #[default]
    Accept,
    /// No answer.
    Refuse,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            politeness: Politeness::default(),
            recheck: Span::hours(1),
            lease: Span::minutes(30),
            on_time: Span::minutes(10),
            session_ids: Vec::new(),
            user_agent: None,
            contact: None,
            certificates: BadCertificates::Accept,
            index_across: false,
            robots_cache: Span::hours(24),
            browser: BrowserProgram::default(),
            share_hosts: false,
        }
    }
}

/// How a link was found; the archive keeps it and scope depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum LinkKind {
    /// Something a person would click.
    Link,
    /// Something the page needs: image, style, script, frame.
    Requisite,
    Redirect,
}

/// Where a URL stands relative to its seed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Position {
    /// Link hops from the seed; redirects and requisites keep the depth of the page that named
    /// them.
    pub depth: u32,
    /// Links since the path from the seed left the seed's registrable domain; 0 inside it.
    pub hops: u32,
    /// Redirects and requisites in a row that led here; at most [`CHAIN_MAX`] keep the depth.
    pub chain: u32,
    /// Reached as a page requisite.
    pub requisite: bool,
}

/// How many redirects or requisites in a row keep the depth of the page that named them.
pub const CHAIN_MAX: u32 = 5;

/// What Skurd remembers of one URL in one collection. The URL and collection are its key and not
/// repeated here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The owner (page 2 of the spec).
    pub seed: SeedKey,
    pub position: Position,
    /// Whose claim made it the owner, at that position (O10).
    pub via: Via,
    pub due: Time,
    /// Which start this belongs to (F4); grows with every start.
    pub run: u64,
    /// Answered harvests in this run (F20).
    pub cycles: u32,
    /// When a page last linked here (or it was started): its ttl counts from then (F20).
    pub linked: Time,
    pub last: Option<LastFetch>,
    pub errors: u32,
    pub not_found: u32,
    /// Payload digest, ETag and Last-Modified of the last answer with content, for conditional
    /// requests and revisits.
    pub digest: Option<String>,
    pub etag: Option<String>,
    pub last_modified: Option<String>,
    /// What was wrong with the last fetch, in a sentence.
    pub problem: Option<String>,
    /// What the frequency contract waits for (F31).
    pub owed: Owed,
    /// The frequency in force when its schedule was last worked out, and whose it is; none: nobody
    /// wants it at present. A promise is never without.
    pub terms: Option<Terms>,
    /// F41: what was observed of its changes.
    pub changes: Changes,
    /// F36: whose budgets know it, and whose keeps it waiting.
    pub charges: Charges,
    /// Of the text of the last answer with content, if there was any (F37).
    pub sketch: Option<Sketch>,
    /// F41: what its host's pages say of when it changed.
    pub hint: Option<Hint>,
    /// F37: how far its text moved when it last changed.
    pub moved: Option<Moved>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastFetch {
    pub at: Time,
    /// The due time that harvest had: the next is counted from it, so that a daily seed does not
    /// drift (F21).
    pub due: Time,
}

/// Why a URL is blacklisted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BlacklistReason {
    Robots,
    NotFound,
    Errors,
    Operator(String),
    /// F39: a pattern holds it, as it is spelled.
    Pattern(String),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlacklistEntry {
    pub reason: BlacklistReason,
    pub since: Time,
    pub until: Option<Time>,
}
