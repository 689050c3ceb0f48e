//! What `include` and `exclude` lists are made of.

use std::fmt;

use regex::{Regex, RegexBuilder};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::url::{CrawlUrl, site_of};

/// Most memory a compiled expression may take; beyond it the pattern is refused.
pub const REGEX_BYTES_MAX: usize = 1 << 20;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pattern {
    /// The URL begins with it. Without a scheme (`vg.no/sport`) it is compared from the host on,
    /// `www.` or not.
    Prefix(String),
    /// This host, `www.` or not; written `*.vg.no` or `.vg.no`, its subdomains too.
    Host(String),
    /// Found somewhere in the URL.
    Regex(RegexPattern),
}

impl Pattern {
    pub fn regex(source: &str) -> Result<Pattern, regex::Error> {
        RegexPattern::new(source).map(Pattern::Regex)
    }

    pub fn matches(&self, url: &CrawlUrl) -> bool {
        match self {
            Pattern::Prefix(prefix) => begins_with(url, prefix),
            Pattern::Host(host) => host_matches(url, host),
            Pattern::Regex(regex) => regex.0.is_match(url.as_str()),
        }
    }
}

/// As commands and messages spell it: `host:vg.no`.
impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pattern::Prefix(prefix) => write!(f, "prefix:{prefix}"),
            Pattern::Host(host) => write!(f, "host:{host}"),
            Pattern::Regex(regex) => write!(f, "regex:{}", regex.source()),
        }
    }
}

fn begins_with(url: &CrawlUrl, prefix: &str) -> bool {
    if prefix.contains("://") {
        return url.as_str().starts_with(prefix);
    }
    let from_host = url.as_str().split_once("://").map_or("", |(_, rest)| rest);
    from_host.starts_with(prefix) || site_of(from_host).starts_with(prefix)
}

fn host_matches(url: &CrawlUrl, pattern: &str) -> bool {
    let subdomains_of = pattern.strip_prefix("*.").or_else(|| pattern.strip_prefix('.'));
    match subdomains_of {
        None => url.site().eq_ignore_ascii_case(site_of_any_case(pattern)),
        Some(domain) => is_or_is_below(url.host(), domain),
    }
}

fn site_of_any_case(pattern: &str) -> &str {
    match pattern.get(..4) {
        Some(head) if head.eq_ignore_ascii_case("www.") => &pattern[4..],
        _ => pattern,
    }
}

fn is_or_is_below(host: &str, domain: &str) -> bool {
    let Some(start) = host.len().checked_sub(domain.len()) else { return false };
    host.get(start..).is_some_and(|tail| tail.eq_ignore_ascii_case(domain))
        && (start == 0 || host[..start].ends_with('.'))
}

/// A regular expression that is equal to another with the same source, and is stored as it.
#[derive(Clone, Debug)]
pub struct RegexPattern(Regex);

impl RegexPattern {
    pub fn new(source: &str) -> Result<RegexPattern, regex::Error> {
        let regex =
            RegexBuilder::new(source).size_limit(REGEX_BYTES_MAX).dfa_size_limit(REGEX_BYTES_MAX).build()?;
        Ok(RegexPattern(regex))
    }

    pub fn source(&self) -> &str {
        self.0.as_str()
    }
}

impl PartialEq for RegexPattern {
    fn eq(&self, other: &RegexPattern) -> bool {
        self.source() == other.source()
    }
}

impl Eq for RegexPattern {}

impl Serialize for RegexPattern {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.source())
    }
}

impl<'de> Deserialize<'de> for RegexPattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RegexPattern, D::Error> {
        RegexPattern::new(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::url::{UrlRules, normalise};

    fn pattern(text: &str) -> Pattern {
        match text.split_once(' ').unwrap() {
            ("prefix", rest) => Pattern::Prefix(rest.to_owned()),
            ("host", rest) => Pattern::Host(rest.to_owned()),
            ("regex", rest) => Pattern::regex(rest).unwrap(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn f34_patterns_match() {
        let table = "
            prefix https://vg.no/a | https://vg.no/abc       | yes
            prefix https://vg.no/a | http://vg.no/abc        | no
            prefix vg.no/a         | https://www.vg.no/abc   | yes
            prefix www.vg.no/a     | https://www.vg.no/abc   | yes
            prefix vg.no/a         | https://x.vg.no/a       | no
            host vg.no             | https://vg.no/          | yes
            host vg.no             | https://www.vg.no:81/   | yes
            host WWW.VG.no         | https://vg.no/          | yes
            host vg.no             | https://tv.vg.no/       | no
            host *.vg.no           | https://tv.vg.no/       | yes
            host .vg.no            | https://a.tv.vg.no/     | yes
            host *.vg.no           | https://vg.no/          | yes
            host *.vg.no           | https://avg.no/         | no
            host *.vg.no           | https://g.no/           | no
            regex /print/\\d+$      | https://vg.no/print/12  | yes
            regex /print/\\d+$      | https://vg.no/print/12a | no";
        for line in table.lines().filter(|line| line.contains('|')) {
            let cells: Vec<&str> = line.split(" | ").map(str::trim).collect();
            let url = normalise(cells[1], None, &UrlRules::default()).unwrap();
            assert_eq!(pattern(cells[0]).matches(&url), cells[2] == "yes", "{line}");
        }
    }

    #[test]
    fn f34_a_regex_is_bounded_and_stored_as_its_source() {
        assert!(Pattern::regex("(").is_err());
        assert!(Pattern::regex("((a{100}){100}){100}").is_err());
        let one = Pattern::regex("^https://vg").unwrap();
        let stored = serde_json::to_string(&one).unwrap();
        assert_eq!(stored, r#"{"regex":"^https://vg"}"#);
        assert_eq!(serde_json::from_str::<Pattern>(&stored).unwrap(), one);
        assert_ne!(one, Pattern::regex("^http://vg").unwrap());
        assert!(serde_json::from_str::<Pattern>(r#"{"regex":"("}"#).is_err());
    }
}
