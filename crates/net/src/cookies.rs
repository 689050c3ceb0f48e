//! The cookies of one request and its answer (A7, RFC 6265 with the public suffix list).
//!
//! A jar is made of the rows that the request's host reads (see [`policy::cookies`]), asked for a
//! `Cookie` header, fed the `Set-Cookie` headers of the answer, and at the end gives the updates
//! that are to be committed with it.
//!
//! Given cookies (a login) hold for the site with and without `www.`. A site may renew one: while a
//! cookie of that name that it set itself would be sent, the given one stays at home. It cannot
//! take one away: when the renewal expires or is deleted, as by a harvested logout page, the given
//! one is sent again. When the operator gives another value, what the site set under that name
//! goes.
//!
//! Own parser, since the crate `cookie` reads dates by a list of formats instead of by the
//! algorithm of RFC 6265, and keeps no jar. `SameSite` and `HttpOnly` are for browsers that hold other
//! people's pages: they are kept for the pages that are rendered, and not looked at here; name
//! prefixes are not looked at.

pub mod date;
mod set_cookie;

use std::cmp::Reverse;
use std::fmt;

use policy::cookies::{Change, Cookie, Given, Row, Update, path_matches, row_of, rows_for};
use policy::model::GivenCookie;
use policy::time::Time;
use policy::url::{CrawlUrl, site_of};

pub use set_cookie::COOKIE_BYTES_MAX;
use set_cookie::SetCookie;

/// Longest `Cookie` header that is sent; what does not fit is left out. Servers refuse requests
/// with more.
pub const HEADER_BYTES_MAX: usize = 16 << 10;

pub struct Jar {
    given: Vec<Given>,
    /// Those of the host, its own first, whether there is anything in them or not.
    rows: Vec<(String, Row)>,
    /// The host's own row does not say yet what is given: it has to as soon as anything is set.
    untold: bool,
    updates: Vec<Update>,
}

impl Jar {
    /// What is kept for a host, and those of the given cookies that are for it.
    pub fn load(kept: &[(String, Row)], given: &[GivenCookie], host: &str, now: Time) -> Jar {
        let given: Vec<Given> = given.iter().filter(|one| is_for(one, host)).map(as_given).collect();
        let find = |name: &str| kept.iter().find(|(row, _)| row == name).map(|(_, row)| row.clone());
        let rows: Vec<(String, Row)> = rows_for(host)
            .into_iter()
            .map(|name| (name.to_owned(), find(name).unwrap_or_default()))
            .collect();
        let before = rows.first().and_then(|(name, _)| find(name)).map(|row| row.given);
        let mut jar = Jar { given, rows, untold: before.is_none(), updates: Vec::new() };
        if let Some(before) = before.filter(|before| *before != jar.given) {
            jar.given_anew(&before, now);
        }
        jar
    }

    /// The operator says something else than when the rows were written.
    fn given_anew(&mut self, before: &[Given], now: Time) {
        let is_new = |one: &&Given| !before.contains(one);
        let names: Vec<String> = self.given.iter().filter(is_new).map(|one| one.name.clone()).collect();
        self.change(0, Change::Give(self.given.clone()), now);
        for at in 1..self.rows.len() {
            for name in &names {
                self.change(at, Change::Forget(name.clone()), now);
            }
        }
    }

    /// The value of the `Cookie` header for a request, if there is anything to send.
    pub fn header_for(&self, url: &CrawlUrl, now: Time) -> Option<String> {
        let mut sent: Vec<&Cookie> = Vec::new();
        // Of two that are the same, the one in the row it belongs to: rows once held all cookies that a
        // host had set.
        for (_, row) in self.rows.iter().rev() {
            let fresh = row.cookies.iter().filter(|cookie| cookie.is_for(url, now));
            let fresh: Vec<&Cookie> = fresh.filter(|new| !sent.iter().any(|old| old.is_same(new))).collect();
            sent.extend(fresh);
        }
        sent.sort_by_key(|cookie| (Reverse(cookie.path.len()), cookie.created));
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
            let cookie = SetCookie::parse(header, now).and_then(|set| set.accepted_from(url, now));
            let Some(cookie) = cookie else { continue };
            let row = row_of(&cookie.domain);
            // None: a domain so deep below the registrable one that nobody reads its row.
            let Some(at) = self.rows.iter().position(|(name, _)| name == row) else { continue };
            self.change(at, Change::Set(cookie), now);
        }
    }

    /// What is to be committed.
    pub fn into_updates(self) -> Vec<Update> {
        self.updates
    }

    /// Keeps the change if it is one.
    fn change(&mut self, at: usize, change: Change, now: Time) {
        let Some((name, row)) = self.rows.get_mut(at) else { return };
        if !row.apply(&change, now) {
            return;
        }
        let update = Update { row: name.clone(), change };
        if std::mem::take(&mut self.untold)
            && let Some((own, _)) = self.rows.first()
        {
            let told = Change::Give(self.given.clone());
            self.updates.push(Update { row: own.clone(), change: told });
        }
        self.updates.push(update);
    }
}

/// Without the cookies themselves: they are as good as passwords, and logs are read by many.
impl fmt::Debug for Jar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Jar")
            .field("given", &self.given.len())
            .field("rows", &self.rows)
            .finish_non_exhaustive()
    }
}

fn as_given(given: &GivenCookie) -> Given {
    let path = given.path.as_deref().filter(|path| path.starts_with('/')).unwrap_or("/");
    Given { name: given.name.clone(), value: given.value.clone(), path: path.to_owned() }
}

/// For this site, and nothing that would break the header.
fn is_for(given: &GivenCookie, host: &str) -> bool {
    let site = |host: &str| site_of(&host.to_ascii_lowercase()).to_owned();
    let sound = |text: &str| !text.contains(|c: char| c.is_control() || c == ';');
    site(&given.host) == site(host) && sound(&given.name) && sound(&given.value) && !given.name.is_empty()
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
