//! Where a store on many machines is: the address, taken apart.
//!
//! `tikv://PD1:2379,PD2:2379/PREFIX?ca=FILE&cert=FILE&key=FILE&gc=off`. The placement drivers come
//! first: any of them knows the others and every server with data. The prefix begins every key, so
//! that several installations can share a cluster and never meet. Certificates are files; without
//! them the cluster is spoken to in the clear. `gc=off` leaves the removal of old versions to
//! somebody else, as where TiDB lives on the same cluster.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

const SCHEME: &str = "tikv://";
/// So that the longest key of ours still fits into what TiKV takes.
const PREFIX_BYTES_MAX: usize = 32;
const PLACEMENT_DRIVERS_MAX: usize = 16;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// `host:port` each.
    pub placement_drivers: Vec<String>,
    pub prefix: String,
    pub tls: Option<Certificates>,
    /// Whether old versions are removed from here.
    pub collects_garbage: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificates {
    pub ca: PathBuf,
    pub cert: PathBuf,
    pub key: PathBuf,
}

/// Why a text is no address, in one sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no address of a store: {problem}")]
pub struct BadAddress {
    text: String,
    problem: String,
}

impl Address {
    /// Whether a text means to be such an address, right or wrong; otherwise it is a directory.
    pub fn is_meant_by(text: &str) -> bool {
        text.contains("://")
    }
}

impl FromStr for Address {
    type Err = BadAddress;

    fn from_str(text: &str) -> Result<Address, BadAddress> {
        parse(text).map_err(|problem| BadAddress { text: text.to_owned(), problem })
    }
}

fn parse(text: &str) -> Result<Address, String> {
    let rest = text.strip_prefix(SCHEME).ok_or("it begins with tikv://")?;
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (hosts, prefix) = rest
        .split_once('/')
        .ok_or("after the placement drivers comes the prefix of its keys, as in tikv://pd:2379/skurd")?;
    let placement_drivers: Vec<String> = hosts.split(',').map(endpoint).collect::<Result<_, _>>()?;
    if placement_drivers.len() > PLACEMENT_DRIVERS_MAX {
        return Err(format!("it names more than {PLACEMENT_DRIVERS_MAX} placement drivers"));
    }
    check_prefix(prefix)?;
    let mut address =
        Address { placement_drivers, prefix: prefix.to_owned(), tls: None, collects_garbage: true };
    let (mut ca, mut cert, mut key) = (None, None, None);
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').ok_or_else(|| format!("{pair:?} has no value"))?;
        match (name, value) {
            (_, "") => return Err(format!("{name} has no value")),
            ("ca", file) => ca = Some(PathBuf::from(file)),
            ("cert", file) => cert = Some(PathBuf::from(file)),
            ("key", file) => key = Some(PathBuf::from(file)),
            ("gc", "on") => address.collects_garbage = true,
            ("gc", "off") => address.collects_garbage = false,
            ("gc", other) => return Err(format!("gc is on or off, not {other:?}")),
            (other, _) => return Err(format!("there is no {other:?}, only ca, cert, key and gc")),
        }
    }
    address.tls = match (ca, cert, key) {
        (None, None, None) => None,
        (Some(ca), Some(cert), Some(key)) => Some(Certificates { ca, cert, key }),
        _ => return Err("ca, cert and key go together".to_owned()),
    };
    Ok(address)
}

fn endpoint(text: &str) -> Result<String, String> {
    let missing = || format!("{text:?} is no placement driver: it is host:port, as in pd:2379");
    let (host, port) = text.rsplit_once(':').ok_or_else(missing)?;
    let is_bare_ipv6 = host.contains(':') && !(host.starts_with('[') && host.ends_with(']'));
    let odd = |c: char| c.is_whitespace() || matches!(c, '@' | '/' | '#');
    if host.is_empty() || is_bare_ipv6 || host.contains(odd) || port.parse::<u16>().is_err() {
        return Err(missing());
    }
    Ok(text.to_owned())
}

fn check_prefix(prefix: &str) -> Result<(), String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if prefix.is_empty() || prefix.len() > PREFIX_BYTES_MAX || !prefix.chars().all(plain) {
        return Err(format!(
            "its prefix {prefix:?} is not 1 to {PREFIX_BYTES_MAX} letters, digits, '-', '_' or '.'"
        ));
    }
    Ok(())
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEME}{}/{}", self.placement_drivers.join(","), self.prefix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn m1_addresses_are_taken_apart() {
        let address: Address = "tikv://pd1:2379,10.0.0.7:2379,[::1]:2379/skurd".parse().unwrap();
        assert_eq!(address.placement_drivers, ["pd1:2379", "10.0.0.7:2379", "[::1]:2379"]);
        assert_eq!(address.to_string(), "tikv://pd1:2379,10.0.0.7:2379,[::1]:2379/skurd");
        assert!(address.tls.is_none() && address.collects_garbage);
        let address: Address =
            "tikv://pd:1/a.b-c_D?ca=/c/ca.pem&cert=c.pem&key=k.pem&gc=off".parse().unwrap();
        assert_eq!(address.tls.unwrap().ca, PathBuf::from("/c/ca.pem"));
        assert!(!address.collects_garbage);
    }

    #[test]
    fn m1_wrong_addresses_are_told_in_one_sentence() {
        let long = format!("tikv://pd:2379/{}", "p".repeat(33));
        for (text, told) in [
            ("tkv://pd:2379/skurd", "it begins with tikv://"),
            ("tikv://pd:2379", "after the placement drivers comes the prefix"),
            ("tikv://pd/skurd", "\"pd\" is no placement driver"),
            ("tikv:///skurd", "\"\" is no placement driver"),
            ("tikv://pd:2379,,x:1/skurd", "\"\" is no placement driver"),
            ("tikv://pd:99999/skurd", "\"pd:99999\" is no placement driver"),
            ("tikv://::1:2379/skurd", "\"::1:2379\" is no placement driver"),
            ("tikv://user@pd:2379/skurd", "\"user@pd:2379\" is no placement driver"),
            ("tikv://pd:2379/", "its prefix \"\" is not 1 to 32 letters"),
            ("tikv://pd:2379/a/b", "its prefix \"a/b\" is not"),
            (&long, "is not 1 to 32 letters"),
            ("tikv://pd:2379/skurd?ca=x", "ca, cert and key go together"),
            ("tikv://pd:2379/skurd?ca=", "ca has no value"),
            ("tikv://pd:2379/skurd?gc", "\"gc\" has no value"),
            ("tikv://pd:2379/skurd?gc=maybe", "gc is on or off, not \"maybe\""),
            ("tikv://pd:2379/skurd?tls=on", "there is no \"tls\", only ca, cert, key and gc"),
        ] {
            let sentence = text.parse::<Address>().unwrap_err().to_string();
            assert!(sentence.contains(told) && sentence.contains("no address of a store"), "{sentence}");
        }
    }
}
