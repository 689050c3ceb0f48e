//! One `Set-Cookie` header (RFC 6265, 5.2 and 5.3).

use policy::cookies::{Cookie, SameSite, domain_matches};
use policy::time::{Span, Time};
use policy::url::CrawlUrl;

use super::date;

/// Longest name and value together; a longer cookie is not taken.
pub const COOKIE_BYTES_MAX: usize = 4096;

/// Longest value of an attribute; a longer attribute is as good as absent.
const ATTRIBUTE_BYTES_MAX: usize = 1024;

/// As the server said it, before anybody asked whether it may.
#[derive(Debug, Default)]
pub(super) struct SetCookie<'a> {
    name: &'a str,
    value: &'a str,
    domain: Option<&'a str>,
    path: Option<&'a str>,
    secure: bool,
    http_only: bool,
    same_site: Option<SameSite>,
    expires: Option<Time>,
    /// Outranks `expires`.
    max_age_until: Option<Time>,
}

impl<'a> SetCookie<'a> {
    /// None if there is no name, or something in it that could not be sent back: control
    /// characters, bytes that are no text.
    pub(super) fn parse(header: &'a [u8], now: Time) -> Option<SetCookie<'a>> {
        let header = std::str::from_utf8(header).ok()?;
        let (pair, attributes) = header.split_once(';').unwrap_or((header, ""));
        let (name, value) = pair.split_once('=')?;
        let (name, value) = (trim(name), trim(value));
        let unsound = |text: &str| text.contains(|c: char| c.is_control() && c != '\t');
        if name.is_empty() || name.len() + value.len() > COOKIE_BYTES_MAX || unsound(name) || unsound(value) {
            return None;
        }
        let mut cookie = SetCookie { name, value, ..SetCookie::default() };
        for attribute in attributes.split(';') {
            let (key, value) = attribute.split_once('=').unwrap_or((attribute, ""));
            let (key, value) = (trim(key), trim(value));
            if value.len() <= ATTRIBUTE_BYTES_MAX {
                cookie.attribute(key, value, now);
            }
        }
        Some(cookie)
    }

    fn attribute(&mut self, key: &str, value: &'a str, now: Time) {
        if key.eq_ignore_ascii_case("expires") {
            self.expires = date::parse(value).or(self.expires);
        } else if key.eq_ignore_ascii_case("max-age") {
            self.max_age_until = max_age(value, now).or(self.max_age_until);
        } else if key.eq_ignore_ascii_case("domain") {
            self.domain = Some(value.strip_prefix('.').unwrap_or(value)).filter(|domain| !domain.is_empty());
        } else if key.eq_ignore_ascii_case("path") {
            self.path = Some(value).filter(|path| path.starts_with('/'));
        } else if key.eq_ignore_ascii_case("secure") {
            self.secure = true;
        } else if key.eq_ignore_ascii_case("httponly") {
            self.http_only = true;
        } else if key.eq_ignore_ascii_case("samesite") {
            self.same_site = SameSite::parse(value);
        }
    }

    /// The cookie, if this server may set it.
    pub(super) fn accepted_from(self, url: &CrawlUrl, now: Time) -> Option<Cookie> {
        let (domain, host_only) = domain_for(self.domain, url.host())?;
        Some(Cookie {
            name: self.name.to_owned(),
            value: self.value.to_owned(),
            domain,
            host_only,
            path: self.path.unwrap_or_else(|| default_path(url.path())).to_owned(),
            secure: self.secure,
            http_only: self.http_only,
            same_site: self.same_site,
            expires: self.max_age_until.or(self.expires),
            created: now,
        })
    }
}

/// The domain it holds for, and whether for that host only. A server speaks for itself and the
/// domains above it, and not for a public suffix, unless it is one.
fn domain_for(wanted: Option<&str>, host: &str) -> Option<(String, bool)> {
    let Some(wanted) = wanted else { return Some((host.to_owned(), true)) };
    let url::Host::Domain(domain) = url::Host::parse(wanted).ok()? else {
        return (wanted == host).then(|| (host.to_owned(), true));
    };
    if psl::suffix_str(&domain).is_some_and(|suffix| suffix == domain) {
        return (domain == host).then_some((domain, true));
    }
    domain_matches(host, &domain).then_some((domain, false))
}

/// Up to the last slash of the path it was set on (5.1.4).
fn default_path(path: &str) -> &str {
    match path.rfind('/') {
        None | Some(0) => "/",
        Some(end) => &path[..end],
    }
}

/// A number of seconds, which may be negative; beyond what fits it lasts for ever.
fn max_age(value: &str, now: Time) -> Option<Time> {
    let digits = value.strip_prefix('-').unwrap_or(value);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    if digits.len() < value.len() {
        return Some(Time(i64::MIN));
    }
    let seconds: u64 = digits.parse().unwrap_or(u64::MAX);
    let until = now.plus(Span(seconds.saturating_mul(1000)));
    Some(if seconds == 0 { Time(i64::MIN) } else { until })
}

fn trim(text: &str) -> &str {
    text.trim_matches([' ', '\t'])
}
