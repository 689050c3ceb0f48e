//! robots.txt (A3, A15): one per scheme, host and port, read when it is due, kept in memory.
//!
//! Asking for it is a request like any other. The order that finds it missing makes that one
//! request, and has done enough with it: the URL comes again when the delay of its host has passed,
//! and finds it here. Where it redirects, the next step is taken by the next order, from where this
//! one left off: on its own slot if that leads to the same host, or the same group; else on a
//! [visit](frontier::Visit) to the other one. If that is busy or resting, the order is put off
//! until it is not; and those who wait for one host are sent there one after the other.
//! So no worker waits for anything but an answer.
//!
//! A redirect to the robots.txt of another server is that server's own: read once, it is known to
//! all who are sent there. And what was read under one name (a collection may have an agent of its
//! own) is known under all names that were asked for. What was denied before, and is allowed by
//! what was read, comes back to the queue at once (F17).
//!
//! What was read is archived with the order that read it. The sitemaps it names are told once to
//! each collection that comes by. A server that cannot be reached at all fails the order itself, in
//! its own way: whether robots deny it is then not the question.

use std::collections::{BTreeSet, HashMap};
use std::io::Read;
use std::sync::Arc;

use frontier::{Frontier, Visit, server_of};
use net::decode::decoded;
use net::dns::DnsRecord;
use net::exchange::Exchange;
use net::http::{Client, FetchError, FetchErrorKind, FetchLimits, Fetched, Request, body};
use policy::model::RobotsPolicy;
use policy::robots::{Answer, ROBOTS_BYTES_MAX, Robots, Says, Standing};
use policy::time::{Span, Time};
use policy::url::{CrawlUrl, UrlRules, normalise};

use super::identity::{Introduction, product_token};

/// Servers whose robots.txt is kept.
const SERVERS_MAX: usize = 20_000;
/// RFC 9309: at least five redirects are followed.
const REDIRECTS_MAX: u32 = 5;
/// Wire bytes read of it: what is parsed, and room for its packing.
const WIRE_BYTES_MAX: u64 = 1 << 20;
/// In all: no slot of another host is held for longer than its lease.
const TIME_MAX: Span = Span::minutes(5);
/// When to look again while another order is reading it.
const LOOK_AGAIN: Span = Span::seconds(1);
/// How long what was read waits for its first use: longer than any delay.
const UNUSED_MAX: Span = Span::hours(1);
/// Hosts that others wait for, at a time.
const AWAITED_MAX: usize = 10_000;
/// Names under which robots.txt is read: there are as many as people declare, and beyond these each
/// is read for itself.
const AGENTS_MAX: usize = 100;

/// A server, and the name it may know us by.
type Key = (String, String);

/// What is known of the robots.txt of each server.
#[derive(Default)]
pub(super) struct RobotsCache {
    servers: parking_lot::Mutex<HashMap<Key, Server>>,
    /// The names that were asked for.
    agents: parking_lot::Mutex<BTreeSet<String>>,
    /// When the last of those who wait for a host was told to come, and when that was.
    awaited: parking_lot::Mutex<HashMap<String, (Time, Time)>>,
}

#[derive(Default)]
struct Server {
    known: Option<Known>,
    /// Where the reading goes on.
    pending: Option<Pending>,
    /// An order is at it.
    reading: bool,
    /// Collections that were told of its sitemaps since it was read.
    told: BTreeSet<String>,
    /// Somebody has made use of what was read.
    used: bool,
}

#[derive(Clone)]
struct Known {
    standing: Standing,
    robots: Arc<Robots>,
}

/// A redirect that is to be followed.
#[derive(Clone)]
struct Pending {
    target: CrawlUrl,
    redirects: u32,
}

/// What came of asking.
pub(super) enum Asked {
    Known(Ruling),
    /// A request was made, which is enough for one order. There may be a ruling now.
    Read(Box<Reading>, Option<Ruling>),
    /// Nobody was asked: not before then.
    Deferred(Time),
}

/// What robots.txt says of one URL.
pub(super) struct Ruling {
    pub(super) allowed: bool,
    /// Why not, in a sentence.
    pub(super) because: Option<String>,
    pub(super) next_read: Time,
    pub(super) crawl_delay: Option<Span>,
    /// Whether the URL is one of the sitemaps it names.
    pub(super) names_as_sitemap: bool,
    /// What this collection was not told yet.
    pub(super) sitemaps: Vec<CrawlUrl>,
}

/// What came over the wire.
#[derive(Default)]
pub(super) struct Reading {
    pub(super) exchange: Option<(Exchange, Option<DnsRecord>)>,
    /// How long it took the host that the order has a slot of; none if another was asked.
    pub(super) took: Option<Span>,
}

/// Who asks, and how.
pub(super) struct Asker<'a> {
    pub(super) frontier: &'a Frontier,
    pub(super) client: &'a Client,
    pub(super) introduction: &'a Introduction,
    pub(super) user_agent: &'a str,
    /// The name whose rules are obeyed.
    pub(super) agent: &'a str,
    pub(super) collection: &'a str,
    /// The politeness unit that the order has a slot of.
    pub(super) unit: &'a str,
    pub(super) limits: FetchLimits,
    /// A3: how long an answer is cached.
    pub(super) cache: Span,
    pub(super) now: Time,
}

/// Why there is nothing to say.
pub(super) enum Failure {
    /// The host's own, and the order's.
    Fetch(FetchError),
    /// On this side.
    Local(String),
    /// The browser's: nobody is blamed, and the URL comes again.
    Browser(String),
}

impl From<FetchError> for Failure {
    fn from(error: FetchError) -> Failure {
        match error.kind {
            FetchErrorKind::Local => Failure::Local(error.reason),
            _ => Failure::Fetch(error),
        }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Failure {
        Failure::Local(error.to_string())
    }
}

impl From<store::Error> for Failure {
    fn from(error: store::Error) -> Failure {
        Failure::Local(error.to_string())
    }
}

impl RobotsCache {
    pub(super) async fn ask(&self, asker: &Asker<'_>, url: &CrawlUrl) -> Result<Asked, Failure> {
        let key = (server_of(url).to_owned(), asker.agent.to_owned());
        let step = match self.begin(&key, asker, url) {
            Begun::Known(ruling) => return Ok(Asked::Known(ruling)),
            Begun::Elsewhere => return Ok(Asked::Deferred(asker.now.plus(LOOK_AGAIN))),
            Begun::Read(step) => step,
        };
        let _reading = InReading { cache: self, key: &key };
        let target = step.target.clone();
        if let Some(known) = self.of_another(&key, &target, asker) {
            self.learn(&key, known);
            return Ok(self.ruling(&key, asker, url).map_or(Asked::Deferred(asker.now), Asked::Known));
        }
        let own = is_same_unit(asker, &target);
        let mut reading = Reading::default();
        let fetched = if own {
            read(asker, &target).await
        } else {
            match self.visit(asker, &target, &key, &step).await? {
                Ok(fetched) => fetched,
                Err(until) => return Ok(Asked::Deferred(until)),
            }
        };
        let (answer, text, next) = match fetched.result {
            Ok(exchange) => {
                reading.took = own.then_some(exchange.total.max(Span(1)));
                let read = taken_in(&exchange, &target);
                reading.exchange = Some((exchange, fetched.dns));
                read
            }
            Err(error) if error.kind == FetchErrorKind::Local => return Err(error.into()),
            Err(error) if own && step.redirects == 0 && !says_something(error.kind) => {
                return Err(error.into());
            }
            Err(error) => {
                reading.took = own.then_some(error.elapsed.max(Span(1)));
                (Answer::None, Vec::new(), None)
            }
        };
        if let Some(target) = next
            && step.redirects < REDIRECTS_MAX
        {
            self.put_off(&key, Pending { target, redirects: step.redirects + 1 });
            return Ok(Asked::Read(Box::new(reading), None));
        }
        for server in self.conclude(&key, &target, asker, answer, &text) {
            readmit(asker, &server, answer, &text).await?;
        }
        let ruling = self.ruling(&key, asker, url);
        // Who is denied has made use of it: it does not come back for it.
        if ruling.as_ref().is_some_and(|ruling| !ruling.allowed)
            && let Some(server) = self.servers.lock().get_mut(&key)
        {
            server.used = true;
        }
        Ok(Asked::Read(Box::new(reading), ruling))
    }

    /// What is known of a URL without asking anybody; none where it is to be read first.
    pub(super) fn known(&self, asker: &Asker<'_>, url: &CrawlUrl) -> Option<Ruling> {
        let key = (server_of(url).to_owned(), asker.agent.to_owned());
        let servers = self.servers.lock();
        let server = servers.get(&key)?;
        let known = server.known.as_ref().filter(|known| !known.standing.is_due(asker.now, asker.cache))?;
        Some(known.ruling(url, !server.told.contains(asker.collection), asker.cache))
    }

    /// The sitemaps of a server are in the queue of this collection.
    pub(super) fn told(&self, url: &CrawlUrl, agent: &str, collection: &str) {
        let key = (server_of(url).to_owned(), agent.to_owned());
        if let Some(server) = self.servers.lock().get_mut(&key) {
            server.told.insert(collection.to_owned());
        }
    }

    fn begin(&self, key: &Key, asker: &Asker<'_>, url: &CrawlUrl) -> Begun {
        let mut servers = self.servers.lock();
        if servers.len() >= SERVERS_MAX && !servers.contains_key(key) {
            make_room(&mut servers);
        }
        let server = servers.entry(key.clone()).or_default();
        // What was read for somebody is good for that one, however short it is cached: the delay of the
        // host comes in between.
        let unused = !server.used;
        let fresh = |known: &&Known| {
            let read = known.standing.read;
            let is_for_this = unused && read <= asker.now && asker.now < read.plus(UNUSED_MAX);
            is_for_this || !known.standing.is_due(asker.now, asker.cache)
        };
        if let Some(known) = server.known.as_ref().filter(fresh) {
            server.used = true;
            return Begun::Known(known.ruling(url, !server.told.contains(asker.collection), asker.cache));
        }
        if server.reading {
            return Begun::Elsewhere;
        }
        let first = || CrawlUrl::from_normal(format!("{}/robots.txt", key.0)).ok();
        let first = || first().map(|target| Pending { target, redirects: 0 });
        let Some(step) = server.pending.take().or_else(first) else {
            // A server with a name that leaves no room for it has none.
            let standing = Standing::after(Answer::LostInRedirects, asker.now, None, asker.cache);
            let known = Known { standing, robots: Arc::new(Robots::parse(b"", "")) };
            let ruling = known.ruling(url, false, asker.cache);
            server.known = Some(known);
            return Begun::Known(ruling);
        };
        server.reading = true;
        Begun::Read(step)
    }

    /// What is known of the server whose robots.txt this one's redirects to.
    fn of_another(&self, key: &Key, target: &CrawlUrl, asker: &Asker<'_>) -> Option<Known> {
        let other = (server_of(target).to_owned(), asker.agent.to_owned());
        if other == *key || target.path_and_query() != "/robots.txt" {
            return None;
        }
        let servers = self.servers.lock();
        let known = servers.get(&other)?.known.clone()?;
        (!known.standing.is_due(asker.now, asker.cache)).then_some(known)
    }

    /// Asks on another host, if that may be; else says when.
    async fn visit(
        &self,
        asker: &Asker<'_>,
        target: &CrawlUrl,
        key: &Key,
        step: &Pending,
    ) -> Result<Result<Fetched, Time>, Failure> {
        let host = target.site();
        match asker.frontier.visit(host, target.as_str()).await? {
            Visit::Wait(free) => {
                self.put_off(key, step.clone());
                let delay = asker.frontier.peek_catalog(|catalog| catalog.politeness(host).min);
                Ok(Err(self.in_line(host, free, delay, asker.now)))
            }
            Visit::Go(visiting) => {
                let fetched = read(asker, target).await;
                let took = match &fetched.result {
                    Ok(exchange) => exchange.total,
                    Err(error) => error.elapsed,
                };
                asker.frontier.leave(&visiting, Some(took)).await?;
                Ok(Ok(fetched))
            }
        }
    }

    /// One after the other: nobody is told to come when somebody else was.
    fn in_line(&self, host: &str, free: Time, delay: Span, now: Time) -> Time {
        let mut awaited = self.awaited.lock();
        if awaited.len() >= AWAITED_MAX {
            awaited.retain(|_, (last, _)| *last > now);
        }
        // F40: what was said later than now was said by a clock that was ahead.
        let last = awaited.get(host).filter(|(_, said)| *said <= now).map(|(last, _)| *last);
        let turn = last.map_or(free, |last| free.max(last.plus(delay)));
        if awaited.len() < AWAITED_MAX {
            awaited.insert(host.to_owned(), (turn, now));
        }
        turn
    }

    fn put_off(&self, key: &Key, pending: Pending) {
        if let Some(server) = self.servers.lock().get_mut(key) {
            server.pending = Some(pending);
        }
    }

    fn learn(&self, key: &Key, known: Known) {
        if let Some(server) = self.servers.lock().get_mut(key) {
            *server = Server { known: Some(known), reading: server.reading, ..Server::default() };
        }
    }

    /// The last redirect was followed: what holds from now on, for this server and for the one it
    /// was read from, and whoever asks. Gives the servers that said something.
    fn conclude(
        &self,
        key: &Key,
        target: &CrawlUrl,
        asker: &Asker<'_>,
        answer: Answer,
        text: &[u8],
    ) -> BTreeSet<String> {
        let (own, other) = (key.0.as_str(), server_of(target));
        let shared = other != own && target.path_and_query() == "/robots.txt";
        let mut said = BTreeSet::new();
        for server in std::iter::once(own).chain(shared.then_some(other)) {
            for agent in self.agents_with(asker.agent) {
                let key = (server.to_owned(), agent);
                let mut servers = self.servers.lock();
                if key.1 != asker.agent && !servers.contains_key(&key) {
                    continue;
                }
                let before = servers.entry(key.clone()).or_default().known.take();
                let known = Known::after(answer, text, &key.1, asker, before);
                drop(servers);
                if known.standing.is_answer() {
                    said.insert(server.to_owned());
                }
                self.learn(&key, known);
            }
        }
        said
    }

    /// This name, and all others that were asked for.
    fn agents_with(&self, agent: &str) -> BTreeSet<String> {
        let mut agents = self.agents.lock();
        if agents.len() < AGENTS_MAX {
            agents.insert(agent.to_owned());
        }
        let mut all = agents.clone();
        all.insert(agent.to_owned());
        all
    }

    fn ruling(&self, key: &Key, asker: &Asker<'_>, url: &CrawlUrl) -> Option<Ruling> {
        let servers = self.servers.lock();
        let server = servers.get(key)?;
        Some(server.known.as_ref()?.ruling(url, !server.told.contains(asker.collection), asker.cache))
    }
}

/// What is to be done.
enum Begun {
    Known(Ruling),
    /// Another order is reading it.
    Elsewhere,
    Read(Pending),
}

/// The server is being read until this goes.
struct InReading<'a> {
    cache: &'a RobotsCache,
    key: &'a Key,
}

impl Drop for InReading<'_> {
    fn drop(&mut self) {
        if let Some(server) = self.cache.servers.lock().get_mut(self.key) {
            server.reading = false;
        }
    }
}

/// Half of those that were made use of; if that is not enough, others too. What was read and not
/// used yet would only be read again.
fn make_room(servers: &mut HashMap<Key, Server>) {
    let mut keep = false;
    servers.retain(|_, server| {
        keep = !keep;
        keep || server.reading || !server.used
    });
    if servers.len() >= SERVERS_MAX {
        servers.retain(|_, server| {
            keep = !keep;
            keep || server.reading
        });
    }
}

/// F17: what the server denied and does not any more is due again, under whatever name it is asked
/// for.
async fn readmit(asker: &Asker<'_>, server: &str, answer: Answer, text: &[u8]) -> store::Result<usize> {
    let rules = matches!(answer, Answer::Status(200..=299));
    let own = |collection: &str| {
        asker.frontier.peek_catalog(|catalog| {
            asker.introduction.with(catalog.settings()).user_agent(catalog.collection(collection))
        })
    };
    let parsed: parking_lot::Mutex<HashMap<String, Arc<Robots>>> = parking_lot::Mutex::default();
    let allows = |collection: &str, policy: &RobotsPolicy, url: &CrawlUrl| {
        let agent = match policy {
            RobotsPolicy::Ignore => return true,
            RobotsPolicy::Obey => product_token(&own(collection)).to_owned(),
            RobotsPolicy::ObeyAs(agent) => agent.clone(),
        };
        if !rules {
            return true;
        }
        let robots = {
            let mut parsed = parsed.lock();
            let robots = parsed.entry(agent).or_insert_with_key(|agent| Arc::new(Robots::parse(text, agent)));
            Arc::clone(robots)
        };
        robots.verdict(url.path_and_query()).is_allowed()
    };
    asker.frontier.readmit(server, &allows).await
}

impl Known {
    fn after(answer: Answer, text: &[u8], agent: &str, asker: &Asker<'_>, before: Option<Known>) -> Known {
        let standing = before.as_ref().map(|before| before.standing);
        let standing = Standing::after(answer, asker.now, standing, asker.cache);
        let robots = match before {
            Some(before) if !matches!(answer, Answer::Status(200..=299)) => before.robots,
            _ => Arc::new(Robots::parse(text, agent)),
        };
        Known { standing, robots }
    }

    fn ruling(&self, url: &CrawlUrl, tell_sitemaps: bool, cache: Span) -> Ruling {
        let verdict = self.robots.verdict(url.path_and_query());
        let (allowed, because) = match self.standing.says {
            Says::AllowAll => (true, None),
            Says::DenyAll => (false, Some("robots.txt cannot be had, so nothing may be fetched".to_owned())),
            Says::Rules => (verdict.is_allowed(), (!verdict.is_allowed()).then(|| verdict.to_string())),
        };
        let rules = self.standing.says == Says::Rules;
        // They may be relative, and this is what they are relative to.
        let sitemaps = self.robots.sitemaps().iter().filter(|_| rules);
        let mut sitemaps: Vec<CrawlUrl> =
            sitemaps.filter_map(|sitemap| normalise(sitemap, Some(url), &UrlRules::default()).ok()).collect();
        let names_as_sitemap = sitemaps.contains(url);
        if !tell_sitemaps {
            sitemaps.clear();
        }
        Ruling {
            allowed,
            because,
            next_read: self.standing.next_read(cache),
            crawl_delay: self.robots.crawl_delay().filter(|_| rules),
            names_as_sitemap,
            sitemaps,
        }
    }
}

async fn read(asker: &Asker<'_>, target: &CrawlUrl) -> Fetched {
    let headers =
        [("User-Agent", asker.user_agent), ("Accept", "text/plain,*/*;q=0.5"), ("Accept-Encoding", "gzip")];
    let limits = FetchLimits {
        bytes: asker.limits.bytes.min(WIRE_BYTES_MAX),
        total: asker.limits.total.min(TIME_MAX),
        ..asker.limits
    };
    let way = asker.frontier.peek_catalog(|catalog| catalog.way(asker.collection, target.site()));
    asker.client.fetch(&Request { way: &way, ..Request::get(target, &headers, &limits) }).await
}

/// What an answer means, its text, and where it leads.
fn taken_in(exchange: &Exchange, target: &CrawlUrl) -> (Answer, Vec<u8>, Option<CrawlUrl>) {
    let status = exchange.head.status;
    let mut text = Vec::new();
    if (200..300).contains(&status) {
        let max = ROBOTS_BYTES_MAX as u64;
        let unpacked = decoded(exchange.head.all("content-encoding"), body(exchange), max);
        // What cannot be read any further is no reason to refuse what could.
        let _ = unpacked.take(max).read_to_end(&mut text);
    }
    let is_redirect = matches!(status, 301 | 302 | 303 | 307 | 308);
    match exchange.head.header("location").filter(|_| is_redirect) {
        Some(to) => (Answer::LostInRedirects, text, normalise(&to, Some(target), &UrlRules::default()).ok()),
        None => (Answer::Status(status), text, None),
    }
}

/// Whether the slot of the order serves for this URL, too.
fn is_same_unit(asker: &Asker<'_>, target: &CrawlUrl) -> bool {
    asker.frontier.unit_of(target.site()) == asker.unit
}

/// Whether a failure to read robots.txt tells anything about robots; if not, it is the host's.
fn says_something(kind: FetchErrorKind) -> bool {
    matches!(kind, FetchErrorKind::Timeout | FetchErrorKind::Broken | FetchErrorKind::Limit)
}
