//! What a profile takes in, relative to a seed (F34).
//!
//! A scope looks at a URL in a fixed order and stops at the first thing that decides: what can
//! never be harvested (scheme, length, trap), what was excluded, the seed itself, too deep, what
//! was included, page requisites, what lies `within` the seed's path, host or domain, and
//! off-domain hops. So `exclude` always wins and `include` widens `within` but not `max_depth`. The
//! verdict says which of these it was, with its numbers.

mod pattern;
mod verdict;

use serde::{Deserialize, Serialize};

use crate::model::{CHAIN_MAX, Position};
use crate::url::{CrawlUrl, REPEATS_MAX, Scheme, URL_BYTES_MAX, trap};

pub use pattern::{Pattern, REGEX_BYTES_MAX, RegexPattern};
pub use verdict::{ScopeReason, ScopeVerdict};

/// How far around the seed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Within {
    /// The seed's site, at or below the seed's path. The path of a seed that names a file
    /// (`/a/index.html`: a last segment with an extension) is the directory of that file.
    Path,
    /// The seed's site: `www.` or not, any scheme and port.
    Host,
    /// The seed's registrable domain.
    #[default]
    Domain,
    /// Anywhere.
    Any,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Scope {
    pub within: Within,
    /// Link hops from the seed; none means no limit.
    pub max_depth: Option<u32>,
    /// Links that may be followed after leaving the seed's registrable domain.
    pub off_domain_hops: u32,
    /// Whether page requisites come along wherever they are.
    pub requisites: bool,
    pub include: Vec<Pattern>,
    pub exclude: Vec<Pattern>,
    /// In bytes.
    pub max_url_length: u32,
    /// How often a path segment, or a sequence of segments, may follow itself.
    pub max_repeats: u32,
    pub schemes: Vec<Scheme>,
}

impl Default for Scope {
    fn default() -> Scope {
        Scope {
            within: Within::default(),
            max_depth: None,
            off_domain_hops: 0,
            requisites: true,
            include: Vec::new(),
            exclude: Vec::new(),
            max_url_length: u32::try_from(URL_BYTES_MAX).unwrap_or(u32::MAX),
            max_repeats: REPEATS_MAX,
            schemes: vec![Scheme::Http, Scheme::Https],
        }
    }
}

impl Scope {
    /// Whether a URL at this position from this seed is in scope, and why.
    pub fn check(&self, seed: &CrawlUrl, url: &CrawlUrl, position: &Position) -> ScopeVerdict {
        let because = self
            .never(url)
            .or_else(|| first_match(&self.exclude, url).map(|pattern| ScopeReason::Excluded { pattern }))
            .or_else(|| (seed == url).then_some(ScopeReason::SeedItself))
            .or_else(|| self.too_deep(position))
            .or_else(|| first_match(&self.include, url).map(|pattern| ScopeReason::Included { pattern }))
            .or_else(|| self.requisite(position))
            .or_else(|| self.within.holds(seed, url).then_some(ScopeReason::Within(self.within)))
            .unwrap_or_else(|| self.off_domain(position));
        ScopeVerdict::from(because)
    }

    /// What no include can bring in.
    fn never(&self, url: &CrawlUrl) -> Option<ScopeReason> {
        if !self.schemes.contains(&url.scheme()) {
            return Some(ScopeReason::Scheme(url.scheme()));
        }
        let bytes = url.as_str().len();
        if u32::try_from(bytes).is_ok_and(|bytes| bytes > self.max_url_length) {
            return Some(ScopeReason::TooLong { bytes, max: self.max_url_length });
        }
        trap(url.path(), self.max_repeats).map(ScopeReason::Trap)
    }

    fn too_deep(&self, position: &Position) -> Option<ScopeReason> {
        let max = self.max_depth.filter(|max| position.depth > *max)?;
        Some(ScopeReason::TooDeep { depth: position.depth, max })
    }

    fn requisite(&self, position: &Position) -> Option<ScopeReason> {
        let comes_along = self.requisites && position.requisite && position.chain <= CHAIN_MAX;
        comes_along.then_some(ScopeReason::Requisite)
    }

    /// Reached when the URL is not within: a sibling host in the seed's own domain (no hops) has no
    /// way in.
    fn off_domain(&self, position: &Position) -> ScopeReason {
        let (hops, max) = (position.hops, self.off_domain_hops);
        match hops {
            0 => ScopeReason::Outside(self.within),
            _ if hops <= max => ScopeReason::OffDomain { hops, max },
            _ => ScopeReason::TooFar { hops, max },
        }
    }
}

impl Within {
    fn holds(self, seed: &CrawlUrl, url: &CrawlUrl) -> bool {
        match self {
            Within::Any => true,
            Within::Domain => seed.host() == url.host() || same_domain(seed, url),
            Within::Host => seed.site() == url.site(),
            Within::Path => seed.site() == url.site() && is_below(url.path(), directory(seed.path())),
        }
    }
}

fn same_domain(seed: &CrawlUrl, url: &CrawlUrl) -> bool {
    url.is_in_domain(seed.domain())
}

/// The part of a seed's path that others must begin with, without its trailing slash.
fn directory(path: &str) -> &str {
    let (parent, last) = path.rsplit_once('/').unwrap_or(("", path));
    if last.is_empty() || names_a_file(last) { parent } else { path }
}

/// `index.html`, not `v1.2`: an extension begins with a letter and is short.
fn names_a_file(segment: &str) -> bool {
    let Some((stem, extension)) = segment.rsplit_once('.') else { return false };
    !stem.is_empty()
        && (1..=5).contains(&extension.len())
        && extension.starts_with(|c: char| c.is_ascii_alphabetic())
        && extension.bytes().all(|b| b.is_ascii_alphanumeric())
}

/// `/a` is above `/a` and `/a/b`, not above `/ab`.
fn is_below(path: &str, directory: &str) -> bool {
    path.strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn first_match(patterns: &[Pattern], url: &CrawlUrl) -> Option<usize> {
    patterns.iter().position(|pattern| pattern.matches(url))
}
