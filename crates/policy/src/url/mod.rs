//! A URL in the one spelling Skurd knows it by (F29).
//!
//! A URL comes to life as a piece of text on a page, is [normalised](normalise) against that page's
//! address, and from then on is a [`CrawlUrl`]: a string that is its own key in every table, with
//! the offsets of its parts beside it, so that asking for host, site or path is slicing and never
//! parsing. Two spellings of one address are one URL; what cannot be harvested (another scheme, a
//! trap, a monster) never becomes one, and the [refusal](UrlRefusal) says why.

mod identity;
mod normalise;
mod trap;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use normalise::{Base, REPEATS_MAX, UrlRules, normalise, normalise_against, with_two_slashes};
pub use trap::{SEGMENTS_MAX, Trap, trap};

/// Longest URL there is, so that a key made of it stays below the store's 4 KiB.
pub const URL_BYTES_MAX: usize = 3000;

/// Longest host name there is (RFC 1035); a key may hold it beside the URL it is part of.
pub const HOST_BYTES_MAX: usize = 253;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scheme {
    Http,
    Https,
}

impl Scheme {
    pub fn as_str(self) -> &'static str {
        match self {
            Scheme::Http => "http",
            Scheme::Https => "https",
        }
    }

    fn prefix(self) -> &'static str {
        match self {
            Scheme::Http => "http://",
            Scheme::Https => "https://",
        }
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why a text is no URL for us.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlRefusal {
    #[error("not a URL: {0}")]
    Syntax(#[from] ::url::ParseError),
    #[error("scheme `{0}` is not harvested, only http and https")]
    Scheme(String),
    #[error("the host name is empty or ends in several dots")]
    Host,
    #[error("the host name is {bytes} bytes long, and no name has more than {HOST_BYTES_MAX}")]
    HostTooLong { bytes: usize },
    #[error("{bytes} bytes long, {max} are allowed")]
    TooLong { bytes: usize, max: usize },
    #[error("looks like a trap: {0}")]
    Trap(#[from] Trap),
    #[error("not in normal form: {0}")]
    NotNormal(&'static str),
}

/// A normalised http(s) URL: no userinfo, no fragment, no default port, path never empty.
#[derive(Clone)]
pub struct CrawlUrl {
    text: Box<str>,
    scheme: Scheme,
    host_end: u16,
    path_start: u16,
    path_end: u16,
}

impl CrawlUrl {
    /// Reads back what [`CrawlUrl::as_str`] gave: finds the parts, resolves nothing.
    pub fn from_normal(text: impl Into<Box<str>>) -> Result<CrawlUrl, UrlRefusal> {
        let text = text.into();
        let scheme = scheme_of(&text).ok_or(UrlRefusal::NotNormal("no http:// or https:// at its head"))?;
        if text.len() > URL_BYTES_MAX {
            return Err(UrlRefusal::TooLong { bytes: text.len(), max: URL_BYTES_MAX });
        }
        let host_start = scheme.prefix().len();
        let path_start = find(&text, host_start, b"/").ok_or(UrlRefusal::NotNormal("no path"))?;
        let authority = &text[host_start..path_start];
        let host_end = host_start + host_len(authority);
        check_authority(authority, host_end - host_start)?;
        let path_end = find(&text, path_start, b"?").unwrap_or(text.len());
        Ok(CrawlUrl {
            scheme,
            host_end: offset(host_end)?,
            path_start: offset(path_start)?,
            path_end: offset(path_end)?,
            text,
        })
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// Lower-case host name, IPv4 address, or IPv6 address in brackets.
    pub fn host(&self) -> &str {
        &self.text[self.host_start()..self.host_end()]
    }

    /// The port where it is not the scheme's own.
    pub fn port(&self) -> Option<u16> {
        self.text.get(self.host_end() + 1..self.path_start())?.parse().ok()
    }

    /// From the slash after the authority up to the query.
    pub fn path(&self) -> &str {
        &self.text[self.path_start()..self.path_end()]
    }

    pub fn query(&self) -> Option<&str> {
        self.text.get(self.path_end() + 1..)
    }

    /// Everything after the authority: what a request line and a robots rule are about.
    pub fn path_and_query(&self) -> &str {
        &self.text[self.path_start()..]
    }

    /// The host as the unit of politeness: without one leading `www.`, whatever the scheme and
    /// port.
    pub fn site(&self) -> &str {
        site_of(self.host())
    }

    /// The registrable domain by the public suffix list (ICANN and private part). A host that is
    /// itself a suffix, and an IP address, is its own domain.
    pub fn domain(&self) -> &str {
        domain_of(self.host())
    }

    /// Whether the registrable domain is this one, sparing the suffix list where the names rule it
    /// out.
    pub fn is_in_domain(&self, domain: &str) -> bool {
        self.host().ends_with(domain) && self.domain() == domain
    }

    /// `site/path` where it is one piece of the text, that is where there is no port.
    pub(crate) fn site_and_path(&self) -> Option<&str> {
        if self.host_end != self.path_start {
            return None;
        }
        Some(&self.text[self.host_end() - self.site().len()..self.path_end()])
    }

    /// Bytes up to the host: `https://`.
    fn host_start(&self) -> usize {
        self.scheme.prefix().len()
    }

    fn host_end(&self) -> usize {
        usize::from(self.host_end)
    }

    fn path_start(&self) -> usize {
        usize::from(self.path_start)
    }

    fn path_end(&self) -> usize {
        usize::from(self.path_end)
    }
}

/// A host name as the unit of politeness: without one leading `www.`.
pub fn site_of(host: &str) -> &str {
    match host.strip_prefix("www.") {
        Some(rest) if !rest.is_empty() => rest,
        _ => host,
    }
}

/// The registrable domain of a lower-case host name.
pub fn domain_of(host: &str) -> &str {
    if is_address(host) {
        return host;
    }
    psl::domain_str(host).unwrap_or(host)
}

/// Only an IPv4 address has a last label that is a number (WHATWG), only an IPv6 address has
/// brackets.
fn is_address(host: &str) -> bool {
    let last = host.rsplit('.').next().unwrap_or(host);
    host.starts_with('[') || (!last.is_empty() && last.bytes().all(|b| b.is_ascii_digit()))
}

fn scheme_of(text: &str) -> Option<Scheme> {
    [Scheme::Https, Scheme::Http].into_iter().find(|scheme| text.starts_with(scheme.prefix()))
}

fn find(text: &str, from: usize, wanted: &[u8; 1]) -> Option<usize> {
    text.as_bytes()[from..].iter().position(|byte| *byte == wanted[0]).map(|at| from + at)
}

/// Up to the port; an IPv6 address keeps the colons inside its brackets.
fn host_len(authority: &str) -> usize {
    let from = if authority.starts_with('[') { authority.find(']').unwrap_or(0) } else { 0 };
    find(authority, from, b":").unwrap_or(authority.len())
}

fn check_authority(authority: &str, host_len: usize) -> Result<(), UrlRefusal> {
    let (host, port) = authority.split_at(host_len);
    if host.is_empty() {
        return Err(UrlRefusal::NotNormal("no host"));
    }
    if authority.bytes().any(|b| b.is_ascii_uppercase() || matches!(b, b'@' | b'#' | b'?' | b'\\')) {
        return Err(UrlRefusal::NotNormal("capitals or userinfo before the path"));
    }
    if !port.is_empty() && port[1..].parse::<u16>().is_err() {
        return Err(UrlRefusal::NotNormal("the port is no number"));
    }
    Ok(())
}

fn offset(at: usize) -> Result<u16, UrlRefusal> {
    u16::try_from(at).map_err(|_| UrlRefusal::TooLong { bytes: at, max: URL_BYTES_MAX })
}
