//! What people declared, as format 1 wrote it.
//!
//! Patterns and walks are checked when they become what they are now; one that was good then and is
//! not now makes its row unreadable.

use policy::browser::{BrowserProgram, BrowserSettings, Engine};
use policy::budget::Budget;
use policy::catalog;
use policy::model::{self, BadCertificates as Certificates, Dedup, RobotsPolicy as Robots};
use policy::scope;
use policy::time::Span;
use policy::trap::Traps;
use policy::url;
use policy::walk;
use policy::way::Way;
use serde::Deserialize;
use store::table::read;

/// Which change it is, as rows begin.
const PUT_PROFILE: u8 = 2;
pub(crate) const PUT_SETTINGS: u8 = 10;

/// The first rows had neither `max_redirects` at the end of profiles nor `certificates` and
/// `index_across` at the end of settings.
pub(crate) fn change(row: &[u8]) -> Option<catalog::Change> {
    let lacking: &[&[u8]] = match row.first() {
        Some(&PUT_PROFILE) => &[&[20]],
        Some(&PUT_SETTINGS) => &[&[0], &[0, 0]],
        _ => &[],
    };
    let first = || lacking.iter().find_map(|lacking| read::<Change>(&[row, lacking].concat()));
    read::<Change>(row).or_else(first)?.now()
}

/// A change as the last rows of the format have it.
pub(crate) fn whole_change(row: &[u8]) -> Option<catalog::Change> {
    read::<Change>(row)?.now()
}

#[derive(Deserialize)]
enum Change {
    PutCollection(Collection),
    DeleteCollection(String),
    PutProfile(Box<Profile>),
    DeleteProfile(String),
    PutSeed(Seed),
    DeleteSeed(String),
    PutGroup(HostGroup),
    DeleteGroup(String),
    PutHostPoliteness { host: String, politeness: Politeness },
    DeleteHostPoliteness(String),
    PutSettings(Box<Settings>),
    PutWalk(Box<DeclaredWalk>),
    DeleteWalk(String),
}

impl Change {
    fn now(self) -> Option<catalog::Change> {
        Some(match self {
            Change::PutCollection(old) => catalog::Change::PutCollection(Box::new(old.into())),
            Change::DeleteCollection(name) => catalog::Change::DeleteCollection(name),
            Change::PutProfile(old) => catalog::Change::PutProfile(Box::new(old.now()?)),
            Change::DeleteProfile(name) => catalog::Change::DeleteProfile(name),
            Change::PutSeed(old) => catalog::Change::PutSeed(old.into()),
            Change::DeleteSeed(key) => catalog::Change::DeleteSeed(key),
            Change::PutGroup(old) => catalog::Change::PutGroup(old.into()),
            Change::DeleteGroup(name) => catalog::Change::DeleteGroup(name),
            Change::PutHostPoliteness { host, politeness } => {
                let way = Way::default();
                catalog::Change::PutHostPoliteness { host, politeness: politeness.into(), way }
            }
            Change::DeleteHostPoliteness(host) => catalog::Change::DeleteHostPoliteness(host),
            Change::PutSettings(old) => catalog::Change::PutSettings(Box::new((*old).into())),
            Change::PutWalk(old) => catalog::Change::PutWalk(Box::new(old.now()?)),
            Change::DeleteWalk(name) => catalog::Change::DeleteWalk(name),
        })
    }
}

#[derive(Deserialize)]
struct Collection {
    name: String,
    active: bool,
    user_agent: Option<String>,
    headers: Vec<(String, String)>,
    cookies: Vec<GivenCookie>,
    warc_prefix: Option<String>,
    index: bool,
}

#[derive(Deserialize)]
struct GivenCookie {
    host: String,
    name: String,
    value: String,
    path: Option<String>,
}

impl From<Collection> for model::Collection {
    fn from(old: Collection) -> model::Collection {
        let cookie = |old: GivenCookie| model::GivenCookie {
            host: old.host,
            name: old.name,
            value: old.value,
            path: old.path,
        };
        model::Collection {
            name: old.name,
            active: old.active,
            user_agent: old.user_agent,
            headers: old.headers,
            cookies: old.cookies.into_iter().map(cookie).collect(),
            warc_prefix: old.warc_prefix,
            index: old.index,
            engine: Engine::Http,
            browser: BrowserSettings::default(),
            dedup: Dedup::Url,
            way: Way::default(),
            budget: Budget::default(),
        }
    }
}

#[derive(Deserialize)]
struct Profile {
    name: String,
    active: bool,
    collection: String,
    scope: Scope,
    every: Span,
    length: Option<u32>,
    ttl: Option<Span>,
    robots: RobotsPolicy,
    limits: Limits,
}

#[derive(Deserialize)]
enum RobotsPolicy {
    Obey,
    Ignore,
    ObeyAs(String),
}

impl Profile {
    fn now(self) -> Option<model::Profile> {
        Some(model::Profile {
            name: self.name,
            active: self.active,
            collection: self.collection,
            scope: self.scope.now()?,
            every: self.every,
            length: self.length,
            ttl: self.ttl,
            robots: match self.robots {
                RobotsPolicy::Obey => Robots::Obey,
                RobotsPolicy::Ignore => Robots::Ignore,
                RobotsPolicy::ObeyAs(agent) => Robots::ObeyAs(agent),
            },
            limits: self.limits.into(),
            slowest: None,
            at: None,
            weekdays: Vec::new(),
            timezone: None,
            windows: Vec::new(),
            budget: Budget::default(),
            traps: Traps::Warn,
        })
    }
}

#[derive(Deserialize)]
struct Scope {
    within: Within,
    max_depth: Option<u32>,
    off_domain_hops: u32,
    requisites: bool,
    include: Vec<Pattern>,
    exclude: Vec<Pattern>,
    max_url_length: u32,
    max_repeats: u32,
    schemes: Vec<Scheme>,
}

#[derive(Deserialize)]
enum Within {
    Path,
    Host,
    Domain,
    Any,
}

#[derive(Deserialize)]
enum Pattern {
    Prefix(String),
    Host(String),
    Regex(String),
}

#[derive(Deserialize)]
enum Scheme {
    Http,
    Https,
}

impl Scope {
    fn now(self) -> Option<scope::Scope> {
        Some(scope::Scope {
            within: match self.within {
                Within::Path => scope::Within::Path,
                Within::Host => scope::Within::Host,
                Within::Domain => scope::Within::Domain,
                Within::Any => scope::Within::Any,
            },
            max_depth: self.max_depth,
            off_domain_hops: self.off_domain_hops,
            requisites: self.requisites,
            include: self.include.into_iter().map(Pattern::now).collect::<Option<_>>()?,
            exclude: self.exclude.into_iter().map(Pattern::now).collect::<Option<_>>()?,
            max_url_length: self.max_url_length,
            max_repeats: self.max_repeats,
            schemes: self.schemes.into_iter().map(Into::into).collect(),
        })
    }
}

impl Pattern {
    fn now(self) -> Option<scope::Pattern> {
        Some(match self {
            Pattern::Prefix(prefix) => scope::Pattern::Prefix(prefix),
            Pattern::Host(host) => scope::Pattern::Host(host),
            Pattern::Regex(source) => scope::Pattern::regex(&source).ok()?,
        })
    }
}

impl From<Scheme> for url::Scheme {
    fn from(old: Scheme) -> url::Scheme {
        match old {
            Scheme::Http => url::Scheme::Http,
            Scheme::Https => url::Scheme::Https,
        }
    }
}

#[derive(Deserialize)]
struct Limits {
    max_errors: u32,
    max_not_found: u32,
    blacklist_for: Option<Span>,
    backoff_base: Span,
    backoff_cap: Span,
    max_bytes: u64,
    max_decoded_bytes: u64,
    max_header_bytes: u32,
    connect_timeout: Span,
    first_byte_timeout: Span,
    total_timeout: Span,
    max_outlinks: u32,
    max_redirects: u32,
}

impl From<Limits> for model::Limits {
    fn from(old: Limits) -> model::Limits {
        model::Limits {
            max_errors: old.max_errors,
            max_not_found: old.max_not_found,
            blacklist_for: old.blacklist_for,
            backoff_base: old.backoff_base,
            backoff_cap: old.backoff_cap,
            max_bytes: old.max_bytes,
            max_decoded_bytes: old.max_decoded_bytes,
            max_header_bytes: old.max_header_bytes,
            connect_timeout: old.connect_timeout,
            first_byte_timeout: old.first_byte_timeout,
            total_timeout: old.total_timeout,
            max_outlinks: old.max_outlinks,
            max_redirects: old.max_redirects,
        }
    }
}

#[derive(Deserialize)]
struct Seed {
    name: String,
    url: String,
    active: bool,
    profiles: Vec<String>,
}

impl From<Seed> for model::Seed {
    fn from(old: Seed) -> model::Seed {
        model::Seed {
            name: old.name,
            url: old.url,
            active: old.active,
            profiles: old.profiles,
            ..model::Seed::default()
        }
    }
}

#[derive(Deserialize)]
struct HostGroup {
    name: String,
    hosts: Vec<String>,
    politeness: Politeness,
}

impl From<HostGroup> for model::HostGroup {
    fn from(old: HostGroup) -> model::HostGroup {
        let way = Way::default();
        model::HostGroup { name: old.name, hosts: old.hosts, politeness: old.politeness.into(), way }
    }
}

#[derive(Deserialize)]
struct Politeness {
    factor: f64,
    min: Span,
    max: Span,
    parallel: u32,
}

impl From<Politeness> for model::Politeness {
    fn from(old: Politeness) -> model::Politeness {
        model::Politeness {
            factor: old.factor,
            min: old.min,
            max: old.max,
            parallel: old.parallel,
            windows: Vec::new(),
            timezone: None,
            ..model::Politeness::default()
        }
    }
}

#[derive(Deserialize)]
pub(crate) struct Settings {
    politeness: Politeness,
    recheck: Span,
    lease: Span,
    on_time: Span,
    session_ids: Vec<String>,
    user_agent: Option<String>,
    contact: Option<String>,
    certificates: BadCertificates,
    index_across: bool,
}

#[derive(Deserialize)]
enum BadCertificates {
    Accept,
    Refuse,
}

impl From<Settings> for model::Settings {
    fn from(old: Settings) -> model::Settings {
        model::Settings {
            politeness: old.politeness.into(),
            recheck: old.recheck,
            lease: old.lease,
            on_time: old.on_time,
            session_ids: old.session_ids,
            user_agent: old.user_agent,
            contact: old.contact,
            certificates: match old.certificates {
                BadCertificates::Accept => Certificates::Accept,
                BadCertificates::Refuse => Certificates::Refuse,
            },
            index_across: old.index_across,
            robots_cache: Span::hours(24),
            browser: BrowserProgram::default(),
            share_hosts: false,
        }
    }
}

#[derive(Deserialize)]
struct DeclaredWalk {
    name: String,
    active: bool,
    profile: String,
    seed: Option<String>,
    round: Option<String>,
    place: u32,
    settings: WalkSettings,
}

#[derive(Deserialize)]
struct WalkSettings {
    template: String,
    min: Option<u64>,
    max: Option<u64>,
    from: Option<u64>,
    direction: Option<Direction>,
    step: Option<u64>,
    margin: Option<u32>,
    attempts: Option<u32>,
    cooldown: Option<Span>,
    retry: Option<Retry>,
    rate: Option<u32>,
    exists: Existence,
}

#[derive(Deserialize)]
enum Direction {
    Up,
    Down,
    Both,
}

#[derive(Deserialize)]
enum Retry {
    All,
    Failed,
}

#[derive(Deserialize)]
struct Existence {
    exists: Vec<String>,
    absent: Vec<String>,
    failed: Vec<String>,
    redirect_exists: Vec<String>,
    redirect_absent: Vec<String>,
    body_has: Vec<String>,
    body_lacks: Vec<String>,
}

impl DeclaredWalk {
    fn now(self) -> Option<model::DeclaredWalk> {
        Some(model::DeclaredWalk {
            name: self.name,
            active: self.active,
            profile: self.profile,
            seed: self.seed,
            round: self.round,
            place: self.place,
            settings: self.settings.now()?,
        })
    }
}

impl WalkSettings {
    fn now(self) -> Option<walk::WalkSettings> {
        let direction = |old| match old {
            Direction::Up => walk::Direction::Up,
            Direction::Down => walk::Direction::Down,
            Direction::Both => walk::Direction::Both,
        };
        let retry = |old| match old {
            Retry::All => walk::Retry::All,
            Retry::Failed => walk::Retry::Failed,
        };
        let draft = walk::Draft {
            template: self.template,
            min: self.min,
            max: self.max,
            from: self.from,
            direction: self.direction.map(direction),
            step: self.step,
            margin: self.margin,
            attempts: self.attempts,
            cooldown: self.cooldown,
            retry: self.retry.map(retry),
            rate: self.rate,
            exists: self.exists.now()?,
        };
        walk::WalkSettings::new(draft).ok()
    }
}

impl Existence {
    fn now(self) -> Option<walk::Existence> {
        let statuses =
            |old: Vec<String>| old.into_iter().map(|text| text.parse().ok()).collect::<Option<_>>();
        let expressions = |old: Vec<String>| {
            old.into_iter().map(|source| walk::Expression::new(&source).ok()).collect::<Option<_>>()
        };
        let draft = walk::ExistenceDraft {
            exists: statuses(self.exists)?,
            absent: statuses(self.absent)?,
            failed: statuses(self.failed)?,
            redirect_exists: expressions(self.redirect_exists)?,
            redirect_absent: expressions(self.redirect_absent)?,
            body_has: expressions(self.body_has)?,
            body_lacks: expressions(self.body_lacks)?,
        };
        walk::Existence::new(draft).ok()
    }
}
