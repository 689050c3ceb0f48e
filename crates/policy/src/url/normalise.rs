//! From a text on a page to a [`CrawlUrl`] (F29).
//!
//! WHATWG parsing does most of it: surrounding blanks, lower-case host, default port, dot segments.
//! On top of it the fragment goes; userinfo goes, because ownership and politeness do not look at
//! it and a password has no place in a queue key or a WARC file name; one trailing dot of the host
//! goes, because `example.no.` is the server of `example.no` and must not get a second politeness
//! slot; and session ids go where configured.

use std::borrow::Cow;

use ::url::{ParseError, Url};

use super::{CrawlUrl, Scheme, UrlRefusal, trap};
use crate::model::Settings;
use crate::url::{HOST_BYTES_MAX, URL_BYTES_MAX};

/// Longest text that is looked at at all; beyond it, it is not worth the parsing.
const RAW_BYTES_MAX: usize = 64 << 10;

/// Longest piece of an unknown scheme that a refusal repeats.
const SCHEME_BYTES_SHOWN_MAX: usize = 32;

/// How often a path segment, or a sequence of segments, may follow itself.
pub const REPEATS_MAX: u32 = 3;

/// What normalising may be told: limits and session ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrlRules {
    /// Names of query and path parameters that carry sessions, in lower case.
    pub session_ids: Vec<String>,
    /// At most [`URL_BYTES_MAX`] takes effect.
    pub max_bytes: usize,
    pub max_repeats: u32,
}

impl Default for UrlRules {
    fn default() -> UrlRules {
        UrlRules { session_ids: Vec::new(), max_bytes: URL_BYTES_MAX, max_repeats: REPEATS_MAX }
    }
}

impl From<&Settings> for UrlRules {
    fn from(settings: &Settings) -> UrlRules {
        let session_ids = settings.session_ids.iter().map(|name| name.to_ascii_lowercase()).collect();
        UrlRules { session_ids, ..UrlRules::default() }
    }
}

/// The address relative links are resolved against, parsed once for all links of a page.
#[derive(Clone, Debug)]
pub struct Base(Url);

impl Base {
    pub fn new(url: &CrawlUrl) -> Result<Base, UrlRefusal> {
        Ok(Base(Url::parse(url.as_str())?))
    }

    /// The same page after its `<base href>`, which may be any URL; one that is none changes
    /// nothing.
    #[must_use]
    pub fn declared(self, href: &str) -> Base {
        match self.0.join(href) {
            Ok(url) if !url.cannot_be_a_base() => Base(url),
            _ => self,
        }
    }
}

/// Normalises one text; `base` is the page it stood on.
pub fn normalise(raw: &str, base: Option<&CrawlUrl>, rules: &UrlRules) -> Result<CrawlUrl, UrlRefusal> {
    match base.map(Base::new).transpose()? {
        Some(base) => normalise_against(raw, &base, rules),
        None => finish(bounded(raw).and_then(|raw| Ok(Url::parse(raw)?))?, rules),
    }
}

/// Normalises one of the many links of a page.
pub fn normalise_against(raw: &str, base: &Base, rules: &UrlRules) -> Result<CrawlUrl, UrlRefusal> {
    finish(bounded(raw).and_then(|raw| Ok(base.0.join(&with_two_slashes(raw))?))?, rules)
}

/// `///host/x` is `//host/x`: before a host any number of slashes counts as two, backslashes and
/// what is skipped among them included (WHATWG, "special authority ignore slashes state"). The
/// crate `url` forgets that for links without a scheme.
pub fn with_two_slashes(raw: &str) -> Cow<'_, str> {
    let text = raw.trim_start_matches(|c: char| c <= ' ');
    if !text.starts_with(['/', '\\']) {
        return raw.into();
    }
    let is_skipped = |c: char| matches!(c, '/' | '\\' | '\t' | '\n' | '\r');
    let rest = text.trim_start_matches(is_skipped);
    let slashes = text[..text.len() - rest.len()].matches(['/', '\\']).count();
    if slashes > 2 { format!("//{rest}").into() } else { raw.into() }
}

fn bounded(raw: &str) -> Result<&str, UrlRefusal> {
    if raw.len() > RAW_BYTES_MAX {
        return Err(UrlRefusal::TooLong { bytes: raw.len(), max: RAW_BYTES_MAX });
    }
    Ok(raw)
}

fn finish(mut url: Url, rules: &UrlRules) -> Result<CrawlUrl, UrlRefusal> {
    let scheme = allowed_scheme(&url)?;
    drop_path_sessions(&mut url, rules);
    let text = write(&url, scheme, rules)?;
    let max = rules.max_bytes.min(URL_BYTES_MAX);
    if text.len() > max {
        return Err(UrlRefusal::TooLong { bytes: text.len(), max });
    }
    let url = CrawlUrl::from_normal(text)?;
    match trap(url.path(), rules.max_repeats) {
        Some(trap) => Err(trap.into()),
        None => Ok(url),
    }
}

fn allowed_scheme(url: &Url) -> Result<Scheme, UrlRefusal> {
    match url.scheme() {
        "http" => Ok(Scheme::Http),
        "https" => Ok(Scheme::Https),
        other => Err(UrlRefusal::Scheme(other.chars().take(SCHEME_BYTES_SHOWN_MAX).collect())),
    }
}

fn write(url: &Url, scheme: Scheme, rules: &UrlRules) -> Result<String, UrlRefusal> {
    let host = url.host_str().ok_or(ParseError::EmptyHost)?;
    let host = host.strip_suffix('.').unwrap_or(host);
    if host.is_empty() || host.ends_with('.') {
        return Err(UrlRefusal::Host);
    }
    if host.len() > HOST_BYTES_MAX {
        return Err(UrlRefusal::HostTooLong { bytes: host.len() });
    }
    let mut text = String::with_capacity(url.as_str().len());
    text.push_str(scheme.prefix());
    text.push_str(host);
    if let Some(port) = url.port() {
        text.push(':');
        text.push_str(&port.to_string());
    }
    text.push_str(url.path());
    if let Some(query) = url.query() {
        push_query(&mut text, query, rules);
    }
    Ok(text)
}

/// The query without session ids; one that held nothing else goes altogether.
fn push_query(text: &mut String, query: &str, rules: &UrlRules) {
    if !query.split('&').any(|part| is_session(part, rules)) {
        text.push('?');
        text.push_str(query);
        return;
    }
    let mut separator = '?';
    for part in query.split('&').filter(|part| !is_session(part, rules)) {
        text.push(separator);
        text.push_str(part);
        separator = '&';
    }
}

/// `/a;jsessionid=1/b` becomes `/a/b`. Set through the parser, since `/.;jsessionid=1` leaves a dot
/// segment.
fn drop_path_sessions(url: &mut Url, rules: &UrlRules) {
    let path = url.path();
    if rules.session_ids.is_empty() || !path.contains(';') {
        return;
    }
    let segments: Vec<String> = path.split('/').map(|segment| without_sessions(segment, rules)).collect();
    let without = segments.join("/");
    if without != path {
        url.set_path(&without);
    }
}

fn without_sessions(segment: &str, rules: &UrlRules) -> String {
    let mut parts = segment.split(';');
    let mut kept = parts.next().unwrap_or_default().to_owned();
    for part in parts.filter(|part| !is_session(part, rules)) {
        kept.push(';');
        kept.push_str(part);
    }
    kept
}

fn is_session(part: &str, rules: &UrlRules) -> bool {
    let name = part.split('=').next().unwrap_or(part);
    rules.session_ids.iter().any(|id| id.eq_ignore_ascii_case(name))
}
