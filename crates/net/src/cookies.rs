//! The cookies of one collection on one host (A7, RFC 6265 with the public suffix list).
//!
//! A jar is loaded before the first request to a host, asked for a `Cookie` header before each, fed the `Set-Cookie` headers of each
//! answer, and stored when it has changed. It serves a site, that is `x` and `www.x`, and tells the two apart as browsers do.
//!
//! Given cookies (a login) hold for the site with and without `www.`. A site may renew one: while a cookie of that name that it set
//! itself would be sent, the given one stays at home. It cannot take one away: when the renewal expires or is deleted, as by a
//! harvested logout page, the given one is sent again. When the operator gives another value, what the site set under that name goes.
//!
//! Own parser, since the crate `cookie` reads dates by a list of formats instead of by the algorithm of RFC 6265, and keeps no jar.
//! `SameSite` and name prefixes are for browsers that hold other people's pages, and are not looked at.

pub mod date;
mod set_cookie;

use std::cmp::Reverse;
use std::fmt;

use policy::model::GivenCookie;
use policy::time::Time;
use policy::url::{CrawlUrl, Scheme, site_of};
use serde::{Deserialize, Serialize};

pub use set_cookie::COOKIE_BYTES_MAX;
use set_cookie::SetCookie;

/// Cookies kept; the oldest goes first.
pub const COOKIES_MAX: usize = 50;

/// Longest `Cookie` header that is sent; what does not fit is left out. Servers refuse requests with more.
pub const HEADER_BYTES_MAX: usize = 16 << 10;

/// First byte of what is stored, so that a later layout is not mistaken for this one.
const LAYOUT: u8 = 1;

#[derive(Clone, Default)]
pub struct Jar {
    given: Vec<Given>,
    cookies: Vec<Cookie>,
    next_order: u64,
    changed: bool,
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Given {
    name: String,
    value: String,
    path: String,
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Cookie {
    name: String,
    value: String,
    /// A host name: only that host if `host_only`, else its subdomains too.
    domain: String,
    host_only: bool,
    path: String,
    secure: bool,
    expires: Option<Time>,
    /// Which was first.
    order: u64,
}

#[derive(Serialize, Deserialize)]
struct Stored {
    given: Vec<Given>,
    cookies: Vec<Cookie>,
}

impl Jar {
    /// What was stored for the host, and those of the given cookies that are for it. What cannot be read is forgotten.
    pub fn load(stored: Option<&[u8]>, given: &[GivenCookie], host: &str) -> Jar {
        let given: Vec<Given> = given.iter().filter(|one| is_for(one, host)).map(Given::from).collect();
        let Some(mut stored) = stored.and_then(read) else {
            return Jar { given, ..Jar::default() };
        };
        let is_new = |one: &&Given| !stored.given.contains(one);
        let renamed: Vec<&str> = given.iter().filter(is_new).map(|one| one.name.as_str()).collect();
        stored.cookies.retain(|cookie| !renamed.contains(&cookie.name.as_str()));
        stored.cookies.truncate(COOKIES_MAX);
        let next_order =
            stored.cookies.iter().map(|cookie| cookie.order).max().map_or(0, |order| order.saturating_add(1));
        let changed = stored.given != given;
        Jar { given, cookies: stored.cookies, next_order, changed }
    }

    /// The value of the `Cookie` header for a request, if there is anything to send.
    pub fn header_for(&self, url: &CrawlUrl, now: Time) -> Option<String> {
        let mut sent: Vec<&Cookie> = self.cookies.iter().filter(|cookie| cookie.is_for(url, now)).collect();
        sent.sort_by_key(|cookie| (Reverse(cookie.path.len()), cookie.order));
        let is_renewed = |given: &Given| sent.iter().any(|cookie| cookie.name == given.name);
        let given =
            self.given.iter().filter(|given| path_matches(url.path(), &given.path) && !is_renewed(given));
        let pairs = given.map(|given| (&given.name, &given.value));
        let pairs = pairs.chain(sent.iter().map(|cookie| (&cookie.name, &cookie.value)));
        let mut header = String::new();
        for (name, value) in pairs {
            push(&mut header, name, value);
        }
        (!header.is_empty()).then_some(header)
    }

    /// Takes in the `Set-Cookie` headers of an answer from this URL.
    pub fn take<'a>(&mut self, url: &CrawlUrl, set_cookie: impl Iterator<Item = &'a [u8]>, now: Time) {
        for header in set_cookie {
            if let Some(cookie) = SetCookie::parse(header, now).and_then(|set| set.accepted_from(url)) {
                self.put(cookie, now);
            }
        }
    }

    /// What to store, if it is something else than was loaded.
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        if !self.changed {
            return None;
        }
        let stored = Stored { given: self.given.clone(), cookies: self.cookies.clone() };
        postcard::to_extend(&stored, vec![LAYOUT]).ok()
    }

    /// Replaces the cookie of the same name, domain and path, keeping its age; one that has expired only takes away.
    fn put(&mut self, mut cookie: Cookie, now: Time) {
        let old = self.cookies.iter().position(|old| old.is_same(&cookie)).map(|at| self.cookies.remove(at));
        if !cookie.is_live(now) {
            self.changed |= old.is_some();
            return;
        }
        cookie.order = old.as_ref().map_or(self.next_order, |old| old.order);
        self.changed |= old.is_none_or(|old| !old.is_hardly_renewed(&cookie, now));
        self.next_order = self.next_order.saturating_add(1);
        self.make_room(now);
        self.cookies.push(cookie);
    }

    fn make_room(&mut self, now: Time) {
        if self.cookies.len() < COOKIES_MAX {
            return;
        }
        self.cookies.retain(|cookie| cookie.is_live(now));
        while self.cookies.len() >= COOKIES_MAX {
            let oldest = (0..self.cookies.len()).min_by_key(|at| self.cookies[*at].order);
            oldest.map(|at| self.cookies.remove(at));
        }
    }
}

/// Without the cookies themselves: they are as good as passwords, and logs are read by many.
impl fmt::Debug for Jar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (given, cookies) = (self.given.len(), self.cookies.len());
        f.debug_struct("Jar").field("given", &given).field("cookies", &cookies).finish_non_exhaustive()
    }
}

impl Cookie {
    fn is_for(&self, url: &CrawlUrl, now: Time) -> bool {
        let host = url.host();
        (if self.host_only { host == self.domain } else { domain_matches(host, &self.domain) })
            && path_matches(url.path(), &self.path)
            && (!self.secure || url.scheme() == Scheme::Https)
            && self.is_live(now)
    }

    fn is_live(&self, now: Time) -> bool {
        self.expires.is_none_or(|expires| now < expires)
    }

    fn is_same(&self, other: &Cookie) -> bool {
        (&self.name, &self.domain, self.host_only, &self.path)
            == (&other.name, &other.domain, other.host_only, &other.path)
    }

    /// Nothing new but an expiry moved by less than a tenth of the time left: many sites do so with every page, and storing the jar
    /// each time is not worth it.
    fn is_hardly_renewed(&self, new: &Cookie, now: Time) -> bool {
        let same_end = match (self.expires, new.expires) {
            (Some(old), Some(new)) => old <= new && new.since(old).0 <= old.since(now).0 / 10,
            (old, new) => old == new,
        };
        same_end && (&self.value, self.secure) == (&new.value, new.secure)
    }
}

impl From<&GivenCookie> for Given {
    fn from(given: &GivenCookie) -> Given {
        let path = given.path.as_deref().filter(|path| path.starts_with('/')).unwrap_or("/");
        Given { name: given.name.clone(), value: given.value.clone(), path: path.to_owned() }
    }
}

/// For this site, and nothing that would break the header.
fn is_for(given: &GivenCookie, host: &str) -> bool {
    let site = |host: &str| site_of(&host.to_ascii_lowercase()).to_owned();
    let sound = |text: &str| !text.contains(|c: char| c.is_control() || c == ';');
    site(&given.host) == site(host) && sound(&given.name) && sound(&given.value) && !given.name.is_empty()
}

fn read(bytes: &[u8]) -> Option<Stored> {
    let (layout, rest) = bytes.split_first()?;
    if *layout != LAYOUT {
        return None;
    }
    postcard::from_bytes(rest).ok()
}

fn push(header: &mut String, name: &str, value: &str) {
    if header.len() + name.len() + value.len() + 3 > HEADER_BYTES_MAX {
        return;
    }
    if !header.is_empty() {
        header.push_str("; ");
    }
    header.push_str(name);
    header.push('=');
    header.push_str(value);
}

/// RFC 6265, 5.1.3.
fn domain_matches(host: &str, domain: &str) -> bool {
    if host == domain {
        return true;
    }
    let below = host.strip_suffix(domain).is_some_and(|head| head.ends_with('.'));
    below && !host.starts_with('[') && host.parse::<std::net::Ipv4Addr>().is_err()
}

/// RFC 6265, 5.1.4.
fn path_matches(path: &str, cookie_path: &str) -> bool {
    path.strip_prefix(cookie_path)
        .is_some_and(|rest| rest.is_empty() || cookie_path.ends_with('/') || rest.starts_with('/'))
}
