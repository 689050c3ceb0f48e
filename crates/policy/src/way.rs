//! A17: by which way a collection or a host is asked: through an upstream proxy, with another
//! resolver, or from a source address.
//!
//! What a host (or its group) says goes before what the collection says, key by key. Names are
//! looked up here whatever the way, and a proxy is told the address, so that the guard judges what
//! is connected to (A6).

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A way out; what is not given is as this machine does it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Way {
    pub proxy: Option<Through>,
    pub resolver: Option<ResolverAddress>,
    pub source_address: Option<IpAddr>,
}

/// As this machine does it.
pub static STRAIGHT: Way = Way { proxy: None, resolver: None, source_address: None };

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Through {
    /// None, though the collection has one.
    Direct,
    Proxy(Proxy),
}

#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Proxy {
    pub kind: ProxyKind,
    /// A name, or an address without brackets.
    pub host: String,
    pub port: u16,
    pub login: Option<Login>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ProxyKind {
    /// HTTP, by CONNECT.
    Http,
    Socks5,
}

#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Login {
    pub user: String,
    pub password: String,
}

/// A name server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ResolverAddress(pub SocketAddr);

/// Names and passwords of SOCKS5 have their length in one byte.
const LOGIN_BYTES_MAX: usize = 255;
const HOST_BYTES_MAX: usize = 253;
const DNS_PORT: u16 = 53;

/// What is wrong with a proxy as it is written. No sentence repeats what was written: there may be
/// a password in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProxyError {
    #[error("it begins with neither http:// nor socks5://")]
    Scheme,
    #[error("names are looked up here, so that every address can be judged, and not by the proxy")]
    LooksUp,
    #[error("the way to the proxy itself is not encrypted")]
    Encrypted,
    #[error("it names no host")]
    Host,
    #[error("it names no port")]
    Port,
    #[error("something follows the port")]
    Path,
    #[error("its user name or password cannot be sent")]
    Login,
}

impl Way {
    /// Key by key: the own one's, else the other's.
    #[must_use]
    pub fn over(&self, other: &Way) -> Way {
        Way {
            proxy: self.proxy.clone().or_else(|| other.proxy.clone()),
            resolver: self.resolver.or(other.resolver),
            source_address: self.source_address.or(other.source_address),
        }
    }

    pub fn through(&self) -> Option<&Proxy> {
        match &self.proxy {
            Some(Through::Proxy(proxy)) => Some(proxy),
            Some(Through::Direct) | None => None,
        }
    }

    /// It is as this machine does it.
    pub fn is_straight(&self) -> bool {
        self.through().is_none() && self.resolver.is_none() && self.source_address.is_none()
    }

    /// In words, without credentials; none where it is the straight one.
    pub fn told(&self) -> Option<String> {
        let parts = [
            self.through().map(|proxy| format!("through the proxy {proxy}")),
            self.resolver.map(|resolver| format!("names looked up by {resolver}")),
            self.source_address.map(|address| format!("from the address {address}")),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

impl FromStr for Through {
    type Err = ProxyError;

    fn from_str(text: &str) -> Result<Through, ProxyError> {
        match text.trim() {
            "direct" => Ok(Through::Direct),
            text => text.parse().map(Through::Proxy),
        }
    }
}

impl Through {
    /// As the config has it, with the password.
    pub fn written(&self) -> String {
        match self {
            Through::Direct => "direct".to_owned(),
            Through::Proxy(proxy) => proxy.written(),
        }
    }
}

impl FromStr for Proxy {
    type Err = ProxyError;

    fn from_str(text: &str) -> Result<Proxy, ProxyError> {
        let (scheme, rest) = text.trim().split_once("://").ok_or(ProxyError::Scheme)?;
        let kind = match scheme.to_ascii_lowercase().as_str() {
            "http" => ProxyKind::Http,
            "socks5" => ProxyKind::Socks5,
            "socks5h" => return Err(ProxyError::LooksUp),
            "https" => return Err(ProxyError::Encrypted),
            _ => return Err(ProxyError::Scheme),
        };
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        let (login, place) = match rest.rsplit_once('@') {
            Some((login, place)) => (Some(Login::read(login, kind)?), place),
            None => (None, rest),
        };
        if place.contains(['/', '?', '#']) {
            return Err(ProxyError::Path);
        }
        let (host, port) = place.rsplit_once(':').ok_or(ProxyError::Port)?;
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        let host = match bare {
            Some(bare) if bare.parse::<std::net::Ipv6Addr>().is_ok() => bare,
            None if is_host(host) => host,
            _ => return Err(ProxyError::Host),
        };
        let port = port.parse().ok().filter(|port| *port > 0).ok_or(ProxyError::Port)?;
        Ok(Proxy { kind, host: host.to_ascii_lowercase(), port, login })
    }
}

fn is_host(host: &str) -> bool {
    let letters = |b: u8| b.is_ascii_alphanumeric() || b"._-".contains(&b);
    !host.is_empty() && host.len() <= HOST_BYTES_MAX && host.bytes().all(letters)
}

impl Login {
    fn read(text: &str, kind: ProxyKind) -> Result<Login, ProxyError> {
        let (user, password) = text.split_once(':').unwrap_or((text, ""));
        let (user, password) = (decoded(user)?, decoded(password)?);
        let sound = |text: &str| text.len() <= LOGIN_BYTES_MAX && !text.chars().any(char::is_control);
        // In HTTP the colon ends the name.
        let divided = kind == ProxyKind::Http && user.contains(':');
        match sound(&user) && sound(&password) && !user.is_empty() && !divided {
            true => Ok(Login { user, password }),
            false => Err(ProxyError::Login),
        }
    }
}

/// With `%40` for `@`.
fn decoded(text: &str) -> Result<String, ProxyError> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let digits = digits.filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()));
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()).ok_or(ProxyError::Login)?;
        bytes.push(byte);
        rest = &after[2..];
    }
    String::from_utf8(bytes).map_err(|_| ProxyError::Login)
}

fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '%' | ':' | '@' | '/' | '?' | '#' | '[' | ']' | ' ' => {
                out.push_str(&format!("%{:02X}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out
}

impl Proxy {
    fn scheme(&self) -> &'static str {
        match self.kind {
            ProxyKind::Http => "http",
            ProxyKind::Socks5 => "socks5",
        }
    }

    fn place(&self) -> String {
        match self.host.contains(':') {
            true => format!("[{}]:{}", self.host, self.port),
            false => format!("{}:{}", self.host, self.port),
        }
    }

    /// As the config has it, with the password.
    pub fn written(&self) -> String {
        let login = self.login.as_ref().map_or_else(String::new, |login| match login.password.as_str() {
            "" => format!("{}@", encoded(&login.user)),
            password => format!("{}:{}@", encoded(&login.user), encoded(password)),
        });
        format!("{}://{login}{}", self.scheme(), self.place())
    }
}

/// Without credentials: this is what messages, logs and records name it by.
impl fmt::Display for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme(), self.place())
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Proxy").field(&self.to_string()).finish()
    }
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Login(…)")
    }
}

/// An address, with a port where it is not that of DNS.
impl FromStr for ResolverAddress {
    type Err = std::net::AddrParseError;

    fn from_str(text: &str) -> Result<ResolverAddress, Self::Err> {
        let text = text.trim();
        match text.parse::<IpAddr>() {
            Ok(address) => Ok(ResolverAddress(SocketAddr::new(address, DNS_PORT))),
            Err(_) => text.parse().map(ResolverAddress),
        }
    }
}

impl fmt::Display for ResolverAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.port() {
            DNS_PORT => self.0.ip().fmt(f),
            _ => self.0.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test")]
    use super::*;

    #[test]
    fn a17_a_proxy_is_read_as_it_is_written() {
        for (text, shown, user, password) in [
            ("http://proxy.example:3128", "http://proxy.example:3128", None, None),
            ("HTTP://Proxy.example:3128/", "http://proxy.example:3128", None, None),
            ("socks5://10.0.0.1:1080", "socks5://10.0.0.1:1080", None, None),
            ("socks5://[::1]:1080", "socks5://[::1]:1080", None, None),
            ("http://u:p@h:1", "http://h:1", Some("u"), Some("p")),
            ("http://u%40a:p%3A%2f%25@h:1", "http://h:1", Some("u@a"), Some("p:/%")),
            ("socks5://u:a@b@h:1", "socks5://h:1", Some("u"), Some("a@b")),
            ("socks5://a%3Ab:é@h:1", "socks5://h:1", Some("a:b"), Some("é")),
            ("http://only@h:1", "http://h:1", Some("only"), Some("")),
        ] {
            let proxy: Proxy = text.parse().unwrap();
            assert_eq!(proxy.to_string(), shown);
            let login = proxy.login.as_ref();
            assert_eq!(login.map(|login| login.user.as_str()), user, "{text}");
            assert_eq!(login.map(|login| login.password.as_str()), password, "{text}");
            assert_eq!(proxy.written().parse::<Proxy>().as_ref(), Ok(&proxy), "{text}");
            let hidden = if login.is_some() { "Some(Login(…))" } else { "None" };
            assert_eq!(format!("{proxy:?} {login:?}"), format!("Proxy({shown:?}) {hidden}"));
        }
    }

    #[test]
    fn a17_what_is_no_proxy_is_told_without_its_password() {
        for (text, error) in [
            ("proxy:3128", ProxyError::Scheme),
            ("ftp://u:s3cret@h:1", ProxyError::Scheme),
            ("socks5h://h:1", ProxyError::LooksUp),
            ("https://h:1", ProxyError::Encrypted),
            ("http://u:s3cret@h", ProxyError::Port),
            ("http://h:0", ProxyError::Port),
            ("http://h:65536", ProxyError::Port),
            ("http://:3128", ProxyError::Host),
            ("http://::1:3128", ProxyError::Host),
            ("http://[::g]:3128", ProxyError::Host),
            ("http://a b:3128", ProxyError::Host),
            ("http://h:1/path", ProxyError::Path),
            ("http://u%:s3cret@h:1", ProxyError::Login),
            ("http://:s3cret@h:1", ProxyError::Login),
            ("http://a%3Ab:s3cret@h:1", ProxyError::Login),
            ("http://u:s3cret%0d%0a@h:1", ProxyError::Login),
            ("http://u:%ff@h:1", ProxyError::Login),
        ] {
            let found = text.parse::<Proxy>().unwrap_err();
            assert_eq!(found, error, "{text}");
            assert!(!found.to_string().contains("s3cret"));
        }
        let long = format!("socks5://{}:p@h:1", "u".repeat(256));
        assert_eq!(long.parse::<Proxy>(), Err(ProxyError::Login));
    }

    #[test]
    fn a17_a_host_goes_before_its_collection_key_by_key() {
        let collection = Way {
            proxy: Some("http://u:p@h:1".parse().unwrap()),
            resolver: Some("9.9.9.9".parse().unwrap()),
            source_address: None,
        };
        let host = Way {
            proxy: Some(Through::Direct),
            source_address: Some("192.0.2.1".parse().unwrap()),
            ..Way::default()
        };
        let both = host.over(&collection);
        assert_eq!(both.through(), None);
        assert_eq!(both.told().unwrap(), "names looked up by 9.9.9.9, from the address 192.0.2.1");
        assert_eq!(Way::default().over(&collection), collection);
        assert!(STRAIGHT.is_straight() && STRAIGHT.told().is_none());
        assert_eq!("[::1]:5353".parse::<ResolverAddress>().unwrap().to_string(), "[::1]:5353");
        assert!("dns.example".parse::<ResolverAddress>().is_err());
    }
}
