//! Addresses given by the operator instead of looked up (`--resolve`).
//!
//! `host=addr[:port]` for one name, `*.domain=addr[:port]` for every name below a domain,
//! `*=addr[:port]` for all. The exact name comes before a wildcard and a longer wildcard before a
//! shorter one; several addresses for one pattern add up. A port given here is only where to
//! connect to: URL and `Host` header keep theirs. The address guard still has its say.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};

#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// By exact name, or by what follows the star (`.domain`, or nothing).
    by_pattern: HashMap<String, Vec<Target>>,
}

#[derive(Clone, Copy, Debug)]
struct Target {
    address: IpAddr,
    port: Option<u16>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OverrideError {
    #[error("`{0}` is not of the form host=address or host=address:port")]
    Form(String),
    #[error("`{0}` is neither a host name nor a wildcard such as *.example.org")]
    Pattern(String),
    #[error("`{0}` is neither an IP address nor one with a port")]
    Address(String),
}

impl Overrides {
    pub fn parse<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Overrides, OverrideError> {
        let mut overrides = Overrides::default();
        for text in texts {
            let (pattern, target) =
                text.split_once('=').ok_or_else(|| OverrideError::Form(text.to_owned()))?;
            let key = key_of(pattern.trim()).ok_or_else(|| OverrideError::Pattern(pattern.to_owned()))?;
            let target = target_of(target.trim()).ok_or_else(|| OverrideError::Address(target.to_owned()))?;
            overrides.by_pattern.entry(key).or_default().push(target);
        }
        Ok(overrides)
    }

    /// What to connect to for a lower-case name without a dot at its end.
    pub(super) fn find(&self, name: &str, port: u16) -> Option<Vec<SocketAddr>> {
        if self.by_pattern.is_empty() {
            return None;
        }
        let below = name.match_indices('.').map(|(at, _)| &name[at..]);
        let mut patterns = std::iter::once(name).chain(below).chain(std::iter::once(""));
        let targets = patterns.find_map(|pattern| self.by_pattern.get(pattern))?;
        let addresses = targets.iter().map(|t| SocketAddr::new(t.address, t.port.unwrap_or(port)));
        Some(addresses.collect())
    }
}

fn key_of(pattern: &str) -> Option<String> {
    let name = match pattern.strip_prefix('*') {
        Some("") => return Some(String::new()),
        Some(rest) => rest.strip_prefix('.')?,
        None => pattern,
    };
    let name = name.strip_suffix('.').unwrap_or(name);
    let sound = |label: &str| {
        !label.is_empty() && label.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
    };
    if !name.split('.').all(sound) {
        return None;
    }
    let dot = if pattern.starts_with('*') { "." } else { "" };
    Some(format!("{dot}{}", name.to_ascii_lowercase()))
}

fn target_of(text: &str) -> Option<Target> {
    if let Ok(with_port) = text.parse::<SocketAddr>() {
        return Some(Target { address: with_port.ip(), port: Some(with_port.port()) });
    }
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    Some(Target { address: bare.parse().ok()?, port: None })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test")]
    use super::*;

    #[test]
    fn a2_the_most_special_override_wins() {
        let given = [
            "a.test=10.0.0.1",
            "A.test=[::1]:81",
            "*.test=127.0.0.1:8080",
            "*.deep.test=127.0.0.2",
            "*.x-y_z.org.=::2",
        ];
        let overrides = Overrides::parse(given).unwrap();
        for (name, expected) in [
            ("a.test", "10.0.0.1:80 [::1]:81"),
            ("b.test", "127.0.0.1:8080"),
            ("b.a.test", "127.0.0.1:8080"),
            ("deep.test", "127.0.0.1:8080"),
            ("b.deep.test", "127.0.0.2:80"),
            ("w.x-y_z.org", "[::2]:80"),
            ("x-y_z.org", ""),
            ("test", ""),
            ("atest", ""),
        ] {
            let found = overrides.find(name, 80).unwrap_or_default();
            let found: Vec<_> = found.iter().map(ToString::to_string).collect();
            assert_eq!(found.join(" "), expected, "{name}");
        }
        let all = Overrides::parse(["*=127.0.0.1:1"]).unwrap();
        assert_eq!(all.find("any.name", 80).unwrap()[0].port(), 1);
    }

    #[test]
    fn a2_a_wrong_override_is_told() {
        for (text, expected) in [
            ("a.test", OverrideError::Form("a.test".into())),
            ("=127.0.0.1", OverrideError::Pattern(String::new())),
            ("*a.test=127.0.0.1", OverrideError::Pattern("*a.test".into())),
            ("a..b=127.0.0.1", OverrideError::Pattern("a..b".into())),
            ("*.*=127.0.0.1", OverrideError::Pattern("*.*".into())),
            ("a.test=localhost", OverrideError::Address("localhost".into())),
            ("a.test=127.0.0.1:99999", OverrideError::Address("127.0.0.1:99999".into())),
        ] {
            assert_eq!(Overrides::parse([text]).unwrap_err(), expected);
        }
    }
}
