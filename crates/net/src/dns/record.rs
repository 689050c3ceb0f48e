//! A look-up as the archive keeps it: `text/dns` after RFC 4027, as web archives have written it
//! for twenty years.
//!
//! ```text
//! 20261115123000
//! example.org.    300     IN      A       192.0.2.1
//! ```

use std::fmt::Write;
use std::net::IpAddr;

use hickory_resolver::lookup::Lookup;
use policy::time::Time;

/// Records written down of one look-up.
const RECORDS_MAX: usize = 64;

/// The look-up that led to an address, for a `resource` record of the URI `dns:host`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DnsRecord {
    pub host: String,
    pub at: Time,
    /// When, and then each record that came as an answer, CNAMEs included.
    pub text: String,
    /// Who answered, where that is known.
    pub server: Option<IpAddr>,
}

impl DnsRecord {
    pub(super) fn new(host: &str, at: Time, server: Option<IpAddr>, lookups: &[Lookup]) -> DnsRecord {
        let mut text: String = at.to_string().chars().filter(char::is_ascii_digit).collect();
        text.push('\n');
        let mut seen = Vec::new();
        for record in lookups.iter().flat_map(Lookup::record_iter) {
            // Both families came by the same CNAMEs.
            if seen.len() < RECORDS_MAX && !seen.contains(&record) {
                let (name, ttl, class) = (record.name(), record.ttl(), record.dns_class());
                let (kind, data) = (record.record_type(), record.data());
                // Writing into a string does not fail.
                let _ = writeln!(text, "{name}\t{ttl}\t{class}\t{kind}\t{data}");
                seen.push(record);
            }
        }
        DnsRecord { host: host.to_owned(), at, text, server }
    }
}
