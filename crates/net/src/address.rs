//! Addresses a harvester has no business with (A6).
//!
//! A page may link to `http://127.0.0.1/`, redirect to a metadata service, or have its name resolve to a printer by the second
//! look-up. Names and URLs prove nothing, so the [`Guard`] judges the address itself, right before
//! each connection is made. What is not public is refused, unless a configured network contains it.
//! An IPv6 address that carries an IPv4 address (mapped, compatible, translated, NAT64, 6to4) is
//! judged by what it carries: some gateway may well take it there.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ipnet::IpNet;

/// Refuses every address that is not public, except in the networks it was told to allow.
#[derive(Clone, Debug, Default)]
pub struct Guard {
    allowed: Vec<IpNet>,
    /// While it says no, public addresses are refused too.
    unless: Option<Arc<AtomicBool>>,
}

/// Why an address is not connected to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub address: IpAddr,
    /// The IPv4 address inside, where that is what was judged.
    pub carries: Option<Ipv4Addr>,
    pub range: Range,
}

/// The kinds of addresses that are not public.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Range {
    Unspecified,
    Loopback,
    Private,
    LinkLocal,
    Metadata,
    /// 100.64.0.0/10, between a provider and its customers.
    CarrierNat,
    Multicast,
    Broadcast,
    Documentation,
    Benchmark,
    Reserved,
    /// Anybody's, who would like to know who is asking.
    Public,
}

impl Guard {
    pub fn allowing(networks: impl IntoIterator<Item = IpNet>) -> Guard {
        Guard { allowed: networks.into_iter().collect(), unless: None }
    }

    /// Refuses public addresses too, for as long as nobody says who asks (A1).
    #[must_use]
    pub fn only_allowed_unless(self, is_known: Arc<AtomicBool>) -> Guard {
        Guard { unless: Some(is_known), ..self }
    }

    fn nothing_else(&self) -> bool {
        self.unless.as_ref().is_some_and(|is_known| !is_known.load(Ordering::Relaxed))
    }

    pub fn check(&self, address: IpAddr) -> Result<(), Refusal> {
        let canonical = address.to_canonical();
        let (range, carries) = match canonical {
            IpAddr::V4(v4) => (v4_range(v4), address.is_ipv6().then_some(v4)),
            IpAddr::V6(v6) => match carried(v6) {
                Some(v4) => (v4_range(v4), Some(v4)),
                None => (v6_range(v6), None),
            },
        };
        match range {
            Some(range) if !self.allows(address) && !self.allows(canonical) => {
                Err(Refusal { address, carries, range })
            }
            None if self.nothing_else() && !self.allows(address) && !self.allows(canonical) => {
                Err(Refusal { address, carries, range: Range::Public })
            }
            _ => Ok(()),
        }
    }

    fn allows(&self, address: IpAddr) -> bool {
        self.allowed.iter().any(|network| network.contains(&address))
    }
}

/// More special networks stand before the ones that contain them.
const V4: &[([u8; 4], u32, Range)] = &[
    ([0, 0, 0, 0], 32, Range::Unspecified),
    ([0, 0, 0, 0], 8, Range::Reserved),
    ([10, 0, 0, 0], 8, Range::Private),
    ([100, 64, 0, 0], 10, Range::CarrierNat),
    ([127, 0, 0, 0], 8, Range::Loopback),
    ([168, 63, 129, 16], 32, Range::Metadata),
    ([169, 254, 169, 254], 32, Range::Metadata),
    ([169, 254, 0, 0], 16, Range::LinkLocal),
    ([172, 16, 0, 0], 12, Range::Private),
    ([192, 0, 0, 0], 24, Range::Reserved),
    ([192, 0, 2, 0], 24, Range::Documentation),
    ([192, 88, 99, 0], 24, Range::Reserved),
    ([192, 168, 0, 0], 16, Range::Private),
    ([198, 18, 0, 0], 15, Range::Benchmark),
    ([198, 51, 100, 0], 24, Range::Documentation),
    ([203, 0, 113, 0], 24, Range::Documentation),
    ([224, 0, 0, 0], 4, Range::Multicast),
    ([255, 255, 255, 255], 32, Range::Broadcast),
    ([240, 0, 0, 0], 4, Range::Reserved),
];

/// As [`V4`]; what lies outside 2000::/3 is not public in any case.
const V6: &[([u16; 8], u32, Range)] = &[
    ([0, 0, 0, 0, 0, 0, 0, 0], 128, Range::Unspecified),
    ([0, 0, 0, 0, 0, 0, 0, 1], 128, Range::Loopback),
    ([0x64, 0xff9b, 1, 0, 0, 0, 0, 0], 48, Range::Private),
    ([0x2001, 2, 0, 0, 0, 0, 0, 0], 48, Range::Benchmark),
    ([0x2001, 0, 0, 0, 0, 0, 0, 0], 23, Range::Reserved),
    ([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32, Range::Documentation),
    ([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20, Range::Documentation),
    ([0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254], 128, Range::Metadata),
    ([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7, Range::Private),
    ([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10, Range::LinkLocal),
    ([0xfec0, 0, 0, 0, 0, 0, 0, 0], 10, Range::Private),
    ([0xff00, 0, 0, 0, 0, 0, 0, 0], 8, Range::Multicast),
];

fn v4_range(address: Ipv4Addr) -> Option<Range> {
    let within =
        |base: [u8; 4], bits: u32| (address.to_bits() ^ u32::from_be_bytes(base)) >> (32 - bits) == 0;
    V4.iter().find(|(base, bits, _)| within(*base, *bits)).map(|(_, _, range)| *range)
}

fn v6_range(address: Ipv6Addr) -> Option<Range> {
    let within =
        |base: [u16; 8], bits: u32| (address.to_bits() ^ Ipv6Addr::from(base).to_bits()) >> (128 - bits) == 0;
    let special = V6.iter().find(|(base, bits, _)| within(*base, *bits)).map(|(_, _, range)| *range);
    special.or((address.segments()[0] >> 13 != 1).then_some(Range::Reserved))
}

/// The IPv4 address that a translator or tunnel would take this one to.
fn carried(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let [.., a, b] = address.segments();
    let last = Ipv4Addr::from_bits(u32::from(a) << 16 | u32::from(b));
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => None,
        [0, 0, 0, 0, 0, 0, _, _] | [0, 0, 0, 0, 0xffff, 0, _, _] | [0x64, 0xff9b, 0, 0, 0, 0, _, _] => {
            Some(last)
        }
        [0x2002, a, b, ..] => Some(Ipv4Addr::from_bits(u32::from(a) << 16 | u32::from(b))),
        _ => None,
    }
}

impl Range {
    fn as_str(self) -> &'static str {
        match self {
            Range::Unspecified => "an unspecified address",
            Range::Loopback => "a loopback address",
            Range::Private => "a private address",
            Range::LinkLocal => "a link-local address",
            Range::Metadata => "the address of a cloud's metadata service",
            Range::CarrierNat => "a carrier-grade NAT address",
            Range::Multicast => "a multicast address",
            Range::Broadcast => "the broadcast address",
            Range::Documentation => "a documentation address",
            Range::Benchmark => "a benchmarking address",
            Range::Reserved => "a reserved address",
            Range::Public => "a public address",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.carries {
            Some(inner) => write!(f, "{} carries {inner}, {}", self.address, self.range.as_str())?,
            None => write!(f, "{} is {}", self.address, self.range.as_str())?,
        }
        match self.range {
            Range::Public => f.write_str(", which is not asked unless --contact says who asks"),
            _ => f.write_str(", which is refused unless --allow-net names it"),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test")]
    use super::*;

    #[test]
    fn a1_public_addresses_are_not_asked_by_nobody() {
        let is_known = Arc::new(AtomicBool::new(false));
        let guard = Guard::allowing(["127.0.0.0/8".parse().unwrap()]);
        let guard = guard.only_allowed_unless(Arc::clone(&is_known));
        assert!(guard.check("127.0.0.1".parse().unwrap()).is_ok());
        for public in ["8.8.8.8", "2606:4700::1111", "10.0.0.1"] {
            assert!(guard.check(public.parse().unwrap()).is_err(), "{public}");
        }
        let refusal = guard.check("8.8.8.8".parse().unwrap()).unwrap_err();
        assert!(refusal.to_string().contains("--contact"), "{refusal}");
        is_known.store(true, Ordering::Relaxed);
        assert!(guard.check("8.8.8.8".parse().unwrap()).is_ok());
        assert!(guard.check("10.0.0.1".parse().unwrap()).is_err());
    }

    #[test]
    fn a6_every_range_that_is_not_public_is_refused_by_name() {
        let cases = "
            0.0.0.0 Unspecified|0.1.2.3 Reserved|10.0.0.0 Private|10.255.255.255 Private|100.64.0.1 CarrierNat
            100.127.255.255 CarrierNat|127.0.0.1 Loopback|127.255.255.255 Loopback|169.254.169.254 Metadata
            168.63.129.16 Metadata|169.254.1.1 LinkLocal|172.16.0.1 Private|172.31.255.255 Private|192.0.0.192 Reserved
            192.0.2.1 Documentation|192.88.99.1 Reserved|192.168.1.1 Private|198.18.0.1 Benchmark
            198.19.255.255 Benchmark|198.51.100.7 Documentation|203.0.113.7 Documentation|224.0.0.1 Multicast
            239.255.255.255 Multicast|240.0.0.1 Reserved|255.255.255.255 Broadcast|:: Unspecified|::1 Loopback
            fd00:ec2::254 Metadata|fd12::1 Private|fc00::1 Private|fe80::1 LinkLocal|febf::1 LinkLocal|fec0::1 Private
            ff02::1 Multicast|2001:db8::1 Documentation|3fff:0fff::1 Documentation|2001:2::1 Benchmark
            2001::1 Reserved|2001:20::1 Reserved|100::1 Reserved|5f00::1 Reserved|4000::1 Reserved
            64:ff9b:1::7f00:1 Private|::ffff:127.0.0.1 Loopback|::ffff:10.1.2.3 Private|::127.0.0.1 Loopback
            ::ffff:0:192.168.0.1 Private|64:ff9b::169.254.169.254 Metadata|2002:7f00:1:: Loopback
            2002:c0a8:101::5 Private|::0.0.0.2 Reserved";
        for case in cases.split(['|', '\n']).map(str::trim).filter(|case| !case.is_empty()) {
            let (address, range) = case.split_once(' ').unwrap();
            let refusal = Guard::default().check(address.parse().unwrap()).unwrap_err();
            assert_eq!(format!("{:?}", refusal.range), range, "{address}");
        }
    }

    #[test]
    fn a6_public_addresses_pass() {
        let public = "1.1.1.1 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 172.15.255.255
            172.32.0.0 192.0.1.0 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 223.255.255.255 2606:4700::1111
            2a00:1450::1 2001:200::1 2001:67c::1 64:ff9b::1.1.1.1 2002:101:101::1 ::ffff:8.8.8.8 3ffe::1";
        for address in public.split_whitespace() {
            assert_eq!(Guard::default().check(address.parse().unwrap()), Ok(()), "{address}");
        }
    }

    #[test]
    fn a6_an_allowed_network_lets_its_own_addresses_pass_and_no_others() {
        let guard = Guard::allowing(["127.0.0.0/8", "fd00::/16"].map(|network| network.parse().unwrap()));
        for (address, passes) in [
            ("127.0.0.1", true),
            ("::ffff:127.0.0.1", true),
            ("fd00::7", true),
            ("fd01::7", false),
            ("10.0.0.1", false),
            ("2002:7f00:1::", false),
            ("::1", false),
        ] {
            assert_eq!(guard.check(address.parse().unwrap()).is_ok(), passes, "{address}");
        }
    }

    #[test]
    fn a6_the_refusal_is_a_sentence() {
        let sentence =
            |address: &str| Guard::default().check(address.parse().unwrap()).unwrap_err().to_string();
        assert_eq!(
            sentence("127.0.0.1"),
            "127.0.0.1 is a loopback address, which is refused unless --allow-net names it"
        );
        assert!(sentence("2002:a00:1::").starts_with("2002:a00:1:: carries 10.0.0.1, a private address, "));
    }
}
