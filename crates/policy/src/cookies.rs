//! The cookies of a collection (A7, RFC 6265): which row one is kept in, and how what many answers
//! set comes together.
//!
//! A cookie without `Domain` is for its host alone and kept under that host; one with `Domain` is
//! for every host of that domain and kept under the domain (a leading `www.` goes, as everywhere).
//! A request reads the rows of its host and of the domains above it, up to the registrable one:
//! nobody may set a cookie for more than that.
//!
//! Many requests are under way at once, also to several hosts of one domain, and each knows the
//! rows as they were when it began. So an answer is not told as new rows but as [`Update`]s of
//! single cookies, and those are applied to the rows as they are when its harvest commits: nobody
//! overwrites what others set meanwhile.
//!
//! What only a browser looks at (`HttpOnly`: scripts do not see it; `SameSite`: pages of other sites
//! do not send it) is kept all the same, so that a page is rendered with the cookies that its
//! servers set (B15); a request of our own is nobody's page, and sends what RFC 6265 says.
//!
//! A row is bounded by number and bytes, whatever servers set: what has expired goes first, then
//! the oldest.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::time::Time;
use crate::url::{CrawlUrl, Scheme, domain_of, site_of};

/// Cookies kept in a row.
pub const COOKIES_MAX: usize = 50;

/// Bytes of all cookies in a row: twice what is ever sent with one request.
pub const ROW_BYTES_MAX: usize = 32 << 10;

/// Rows that a request reads: its host's, and those of the domains nearest to the registrable one.
pub const ROWS_MAX: usize = 6;

/// What a cookie takes besides its texts.
const COOKIE_BYTES: usize = 32;

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cookie {
    pub name: String,
    pub value: String,
    /// A host name: only that host if `host_only`, else its subdomains too.
    pub domain: String,
    pub host_only: bool,
    pub path: String,
    pub secure: bool,
    /// Not for scripts.
    pub http_only: bool,
    /// None: nothing was said of it, which browsers take for `Lax`.
    pub same_site: Option<SameSite>,
    pub expires: Option<Time>,
    /// When one of this name, domain and path was first set.
    pub created: Time,
}

/// With which requests a browser sends a cookie that a page of another site makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SameSite {
    Strict,
    Lax,
    None,
}

impl SameSite {
    pub const ALL: [SameSite; 3] = [SameSite::Strict, SameSite::Lax, SameSite::None];

    /// As servers and browsers spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            SameSite::Strict => "Strict",
            SameSite::Lax => "Lax",
            SameSite::None => "None",
        }
    }

    /// None: browsers do as if nothing had been said.
    pub fn parse(word: &str) -> Option<SameSite> {
        SameSite::ALL.into_iter().find(|one| one.as_str().eq_ignore_ascii_case(word))
    }
}

/// A cookie that the operator gave, as it was when the row was last written.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Given {
    pub name: String,
    pub value: String,
    pub path: String,
}

/// What is kept under one name.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    pub given: Vec<Given>,
    pub cookies: Vec<Cookie>,
}

/// A change of the row of that name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Update {
    pub row: String,
    pub change: Change,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Set by an answer; one that has expired is taken away.
    Set(Cookie),
    /// These are given now. What the site set under a name that is given anew goes.
    Give(Vec<Given>),
    /// What is set under this name goes.
    Forget(String),
}

/// The rows that a request to this host reads, its own first.
pub fn rows_for(host: &str) -> Vec<&str> {
    let registrable = domain_of(host);
    let above = host.match_indices('.').map(|(dot, _)| &host[dot + 1..]);
    let above = above.filter(|domain| domain.len() >= registrable.len() && registrable.len() < host.len());
    let mut rows = vec![row_of(host)];
    let mut domains: Vec<&str> = above.map(row_of).filter(|row| *row != rows[0]).collect();
    domains.dedup();
    rows.extend_from_slice(&domains[domains.len().saturating_sub(ROWS_MAX - 1)..]);
    rows
}

/// The row that cookies of a domain are kept in.
pub fn row_of(domain: &str) -> &str {
    site_of(domain)
}

impl Row {
    /// Whether it is another row then.
    pub fn apply(&mut self, change: &Change, now: Time) -> bool {
        match change {
            Change::Set(cookie) => self.set(cookie, now),
            Change::Give(given) => self.give(given),
            Change::Forget(name) => self.forget(name),
        }
    }

    /// Replaces the cookie of the same name, domain and path, keeping its age.
    fn set(&mut self, cookie: &Cookie, now: Time) -> bool {
        let old = self.cookies.iter().position(|old| old.is_same(cookie));
        if !cookie.is_live(now) {
            old.map(|at| self.cookies.remove(at));
            return old.is_some();
        }
        if let Some(old) = old.and_then(|at| self.cookies.get_mut(at)) {
            if old.is_hardly_renewed(cookie, now) {
                return false;
            }
            *old = Cookie { created: old.created, ..cookie.clone() };
        } else {
            self.cookies.push(cookie.clone());
        }
        self.make_room(now);
        true
    }

    fn give(&mut self, given: &[Given]) -> bool {
        let is_new = |one: &&Given| !self.given.contains(one);
        let renamed: Vec<&str> = given.iter().filter(is_new).map(|one| one.name.as_str()).collect();
        self.cookies.retain(|cookie| !renamed.contains(&cookie.name.as_str()));
        let changes = self.given != given;
        self.given = given.to_vec();
        changes
    }

    fn forget(&mut self, name: &str) -> bool {
        let before = self.cookies.len();
        self.cookies.retain(|cookie| cookie.name != name);
        self.cookies.len() < before
    }

    fn make_room(&mut self, now: Time) {
        let is_over = |cookies: &[Cookie]| {
            cookies.len() > COOKIES_MAX || cookies.iter().map(Cookie::bytes).sum::<usize>() > ROW_BYTES_MAX
        };
        if is_over(&self.cookies) {
            self.cookies.retain(|cookie| cookie.is_live(now));
        }
        while is_over(&self.cookies) {
            let oldest = (0..self.cookies.len()).min_by_key(|at| self.cookies[*at].created);
            oldest.map(|at| self.cookies.remove(at));
        }
    }
}

impl Cookie {
    /// Whether it is sent with a request to this URL.
    pub fn is_for(&self, url: &CrawlUrl, now: Time) -> bool {
        let host = url.host();
        (if self.host_only { host == self.domain } else { domain_matches(host, &self.domain) })
            && path_matches(url.path(), &self.path)
            && (!self.secure || url.scheme() == Scheme::Https)
            && self.is_live(now)
    }

    pub fn is_live(&self, now: Time) -> bool {
        self.expires.is_none_or(|expires| now < expires)
    }

    /// Of two of these there is only one.
    pub fn is_same(&self, other: &Cookie) -> bool {
        (&self.name, &self.domain, self.host_only, &self.path)
            == (&other.name, &other.domain, other.host_only, &other.path)
    }

    /// Nothing new but an expiry moved by less than a tenth of the time left: many sites do so with
    /// every page, and storing the row each time is not worth it.
    fn is_hardly_renewed(&self, new: &Cookie, now: Time) -> bool {
        let same_end = match (self.expires, new.expires) {
            (Some(old), Some(new)) => old <= new && new.since(old).0 <= old.since(now).0 / 10,
            (old, new) => old == new,
        };
        let for_whom = |cookie: &Cookie| (cookie.secure, cookie.http_only, cookie.same_site);
        same_end && self.value == new.value && for_whom(self) == for_whom(new)
    }

    fn bytes(&self) -> usize {
        COOKIE_BYTES + self.name.len() + self.value.len() + self.domain.len() + self.path.len()
    }
}

/// RFC 6265, 5.1.3.
pub fn domain_matches(host: &str, domain: &str) -> bool {
    if host == domain {
        return true;
    }
    let below = host.strip_suffix(domain).is_some_and(|head| head.ends_with('.'));
    below && !host.starts_with('[') && host.parse::<std::net::Ipv4Addr>().is_err()
}

/// RFC 6265, 5.1.4.
pub fn path_matches(path: &str, cookie_path: &str) -> bool {
    path.strip_prefix(cookie_path)
        .is_some_and(|rest| rest.is_empty() || cookie_path.ends_with('/') || rest.starts_with('/'))
}

// Cookies are as good as passwords, and logs are read by many: names, but no values.

impl fmt::Debug for Cookie {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cookie({} of {}{})", self.name, self.domain, self.path)
    }
}

impl fmt::Debug for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Given({} of {})", self.name, self.path)
    }
}

impl fmt::Debug for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (given, cookies) = (self.given.len(), self.cookies.len());
        f.debug_struct("Row").field("given", &given).field("cookies", &cookies).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a7_a_request_reads_its_host_and_the_domains_above_it() {
        let table = "
            vg.no             | vg.no
            www.vg.no         | vg.no
            a.vg.no           | a.vg.no vg.no
            a.b.vg.no         | a.b.vg.no b.vg.no vg.no
            a.www.vg.no       | a.www.vg.no vg.no
            vg.co.uk          | vg.co.uk
            a.vg.co.uk        | a.vg.co.uk vg.co.uk
            co.uk             | co.uk
            a.github.io       | a.github.io
            b.a.github.io     | b.a.github.io a.github.io
            www.github.io     | github.io
            127.0.0.1         | 127.0.0.1
            [::1]             | [::1]
            localhost         | localhost
            7.6.5.4.3.2.1.vg.no | 7.6.5.4.3.2.1.vg.no 4.3.2.1.vg.no 3.2.1.vg.no 2.1.vg.no 1.vg.no vg.no";
        for line in table.lines().filter(|line| line.contains('|')) {
            let (host, rows) = line.split_once('|').unwrap();
            assert_eq!(rows_for(host.trim()).join(" "), rows.trim(), "{host}");
        }
    }

    #[test]
    fn a11_a_row_is_bounded() {
        let cookie = |name: &str, bytes: usize, created: i64| Cookie {
            name: name.to_owned(),
            value: "v".repeat(bytes),
            domain: "a.no".to_owned(),
            host_only: false,
            path: "/".to_owned(),
            secure: false,
            http_only: false,
            same_site: None,
            expires: (created == 0).then_some(Time(5)),
            created: Time(created),
        };
        let names = |row: &Row| row.cookies.iter().map(|one| one.name.clone()).collect::<Vec<_>>();
        let mut many = Row::default();
        for n in 0..COOKIES_MAX + 10 {
            let at = Time(i64::try_from(n).unwrap());
            assert!(many.apply(&Change::Set(cookie(&format!("c{n}"), 1, at.0)), at));
            assert!(many.cookies.len() <= COOKIES_MAX);
        }
        assert_eq!(names(&many), (10..COOKIES_MAX + 10).map(|n| format!("c{n}")).collect::<Vec<_>>());
        let mut large = Row::default();
        for n in 0..40 {
            large.apply(&Change::Set(cookie(&format!("c{n}"), 4000, n)), Time(n));
            assert!(large.cookies.iter().map(Cookie::bytes).sum::<usize>() <= ROW_BYTES_MAX);
        }
        assert_eq!(names(&large), (32..40).map(|n| format!("c{n}")).collect::<Vec<_>>());
    }
}
