//! Names to addresses (A2).
//!
//! A name is looked up once, with its IPv4 and IPv6 addresses in one go, and the answer is kept as
//! long as its TTL says, within [`TTL_MIN`] and [`TTL_MAX`]. Whoever asks meanwhile waits for the
//! same look-up; should the one who made it give up, the next in line makes it. Failures are kept
//! too, but briefly, so that a thousand URLs of a dead name cost one question. Each look-up
//! that found something is handed out exactly once as a [`DnsRecord`] for the archive, to the
//! caller it was made for.
//!
//! The protocol is hickory's, with its cache turned off: ours runs on the given clock and knows who
//! made the look-up. Names are asked for as they are, without search domains and without
//! `/etc/hosts`: the web does not know those of this machine. [`Overrides`] serve tests and odd
//! networks.

mod cache;
mod overrides;
mod record;

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use hickory_resolver::config::{NameServerConfigGroup, ResolveHosts, ResolverConfig, ResolverOpts};
use hickory_resolver::lookup::Lookup;
use hickory_resolver::name_server::TokioConnectionProvider;
use hickory_resolver::proto::ProtoErrorKind;
use hickory_resolver::proto::op::ResponseCode;
use hickory_resolver::proto::rr::{Name, RecordType};
use hickory_resolver::system_conf::read_system_conf;
use hickory_resolver::{ResolveError, TokioResolver};
use parking_lot::Mutex;
use policy::time::{Span, Time};
use tokio::sync::OnceCell;
use tokio::time::timeout;

use cache::Cache;

pub use overrides::{OverrideError, Overrides};
pub use record::DnsRecord;

/// What time it is.
pub type Clock = Arc<dyn Fn() -> Time + Send + Sync>;

/// Bounds of how long an answer is kept, whatever its TTL.
pub const TTL_MIN: Span = Span::seconds(10);
pub const TTL_MAX: Span = Span::hours(24);
/// Bound of how long it is remembered that a name has no address, and how long that a look-up
/// failed.
pub const NEGATIVE_TTL_MAX: Span = Span::minutes(5);
pub const FAILURE_TTL: Span = Span::seconds(10);
/// Names remembered at a time.
pub const NAMES_MAX: usize = 100_000;
/// Addresses taken from one answer, of each family.
pub const ADDRESSES_MAX: usize = 8;

/// A look-up in all, with the resolver's own retries.
const LOOKUP_MAX: Duration = Duration::from_secs(15);
/// Of a name server that is named by itself, as the system's are asked.
const SERVER_WAIT: Span = Span::seconds(5);
const SERVER_ATTEMPTS: usize = 2;
/// How long known IPv4 addresses wait for the IPv6 ones, which are only tried after them.
const IPV6_GRACE: Duration = Duration::from_millis(300);

/// Where a host is.
#[derive(Debug, PartialEq, Eq)]
pub struct Resolved {
    /// In the order to try them: IPv4, then IPv6.
    pub addresses: Vec<SocketAddr>,
    /// The look-up, if one was made for this answer.
    pub record: Option<DnsRecord>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DnsError {
    #[error("the name does not exist or has no address")]
    NoSuchName,
    #[error("the name could not be looked up: {0}")]
    Failed(String),
    #[error("no name server answered in time")]
    Timeout,
}

/// Looks names up, once per TTL.
pub struct Resolver {
    upstream: TokioResolver,
    /// The name server, where there is just one and so no doubt who answered.
    server: Option<IpAddr>,
    overrides: Overrides,
    names: Mutex<Cache<Arc<OnceCell<Answer>>>>,
    clock: Clock,
}

#[derive(Debug)]
struct Answer {
    addresses: Result<Vec<IpAddr>, DnsError>,
    /// When it came: what is still to come was told by a clock that was ahead (F40).
    since: Time,
    until: Time,
}

impl Resolver {
    /// With the name servers of `/etc/resolv.conf`, or if there are none to read, the one of this
    /// machine, as the C library does.
    pub fn system(overrides: Overrides, clock: Clock) -> Resolver {
        let (config, options) = read_system_conf().unwrap_or_else(|problem| {
            tracing::warn!(%problem, "no name servers in /etc/resolv.conf, asking 127.0.0.1");
            let local = NameServerConfigGroup::from_ips_clear(&[Ipv4Addr::LOCALHOST.into()], 53, true);
            (ResolverConfig::from_parts(None, Vec::new(), local), ResolverOpts::default())
        });
        Resolver::over(config, options, overrides, clock)
    }

    /// With these name servers; each is given `wait` for an answer, `attempts` times over.
    pub fn with_servers(
        servers: &[SocketAddr],
        wait: Span,
        attempts: usize,
        overrides: Overrides,
        clock: Clock,
    ) -> Resolver {
        let mut group = NameServerConfigGroup::new();
        for server in servers {
            group.merge(NameServerConfigGroup::from_ips_clear(&[server.ip()], server.port(), true));
        }
        let mut options = ResolverOpts::default();
        options.timeout = Duration::from_millis(wait.0);
        options.attempts = attempts.saturating_sub(1);
        Resolver::over(ResolverConfig::from_parts(None, Vec::new(), group), options, overrides, clock)
    }

    /// The same with one other name server.
    pub fn asking(&self, server: SocketAddr) -> Resolver {
        let (overrides, clock) = (self.overrides.clone(), Arc::clone(&self.clock));
        Resolver::with_servers(&[server], SERVER_WAIT, SERVER_ATTEMPTS, overrides, clock)
    }

    fn over(
        config: ResolverConfig,
        mut options: ResolverOpts,
        overrides: Overrides,
        clock: Clock,
    ) -> Resolver {
        options.cache_size = 0;
        options.use_hosts_file = ResolveHosts::Never;
        options.preserve_intermediates = true;
        let mut servers = config.name_servers().iter().map(|server| server.socket_addr.ip());
        let first = servers.next();
        let server = first.filter(|first| servers.all(|other| other == *first));
        let upstream = TokioResolver::builder_with_config(config, TokioConnectionProvider::default())
            .with_options(options)
            .build();
        Resolver { upstream, server, overrides, names: Mutex::new(Cache::new(NAMES_MAX)), clock }
    }

    /// Where to connect to for a host as it stands in a URL.
    pub async fn resolve(&self, host: &str, port: u16) -> Result<Resolved, DnsError> {
        if let Some(address) = literal(host) {
            return Ok(Resolved { addresses: vec![SocketAddr::new(address, port)], record: None });
        }
        let name = host.strip_suffix('.').unwrap_or(host);
        if let Some(addresses) = self.overrides.find(name, port) {
            return Ok(Resolved { addresses, record: None });
        }
        let cell = self.cell(name);
        let mut record = None;
        let made = &mut record;
        let answer = cell.get_or_init(|| async move {
            let (answer, record) = self.look_up(name).await;
            *made = record;
            answer
        });
        let addresses = answer.await.addresses.clone()?;
        let addresses = addresses.into_iter().map(|address| SocketAddr::new(address, port)).collect();
        Ok(Resolved { addresses, record })
    }

    /// The answer to a name, or the place where it will be.
    fn cell(&self, name: &str) -> Arc<OnceCell<Answer>> {
        let now = (self.clock)();
        let mut names = self.names.lock();
        if let Some(cell) = names.get(name)
            && cell.get().is_none_or(|answer| answer.since <= now && now < answer.until)
        {
            return cell.clone();
        }
        let cell = Arc::new(OnceCell::new());
        names.insert(name.into(), cell.clone());
        cell
    }

    async fn look_up(&self, name: &str) -> (Answer, Option<DnsRecord>) {
        let found = match Name::from_ascii(format!("{name}.")) {
            Ok(name) => timeout(LOOKUP_MAX, self.both_families(name)).await.unwrap_or(Err(Miss::Timeout)),
            Err(_) => Err(Miss::Absent(TTL_MAX)),
        };
        let now = (self.clock)();
        match found {
            Ok(lookups) => {
                let addresses = addresses_of(&lookups);
                let record = DnsRecord::new(name, now, self.server, &lookups);
                let until = now.plus(ttl_of(&lookups));
                (Answer { addresses: Ok(addresses), since: now, until }, Some(record))
            }
            Err(miss) => {
                let until = now.plus(miss.ttl());
                (Answer { addresses: Err(miss.into_error()), since: now, until }, None)
            }
        }
    }

    /// The answers that have addresses; a family that failed is no matter as long as the other did
    /// not.
    async fn both_families(&self, name: Name) -> Result<Vec<Lookup>, Miss> {
        let v4 = self.upstream.lookup(name.clone(), RecordType::A);
        let v6 = self.upstream.lookup(name, RecordType::AAAA);
        tokio::pin!(v4, v6);
        let (v4, v6) = tokio::select! {
            biased;
            first = &mut v4 => match has_address(first) {
                Ok(found) => (Ok(found), timeout(IPV6_GRACE, v6).await.ok().map(has_address)),
                Err(miss) => (Err(miss), Some(has_address(v6.await))),
            },
            first = &mut v6 => (has_address(v4.await), Some(has_address(first))),
        };
        match (v4, v6) {
            (Ok(v4), Some(Ok(v6))) => Ok(vec![v4, v6]),
            (Ok(only), _) | (Err(_), Some(Ok(only))) => Ok(vec![only]),
            (Err(Miss::Absent(_)), Some(Err(miss))) | (Err(miss), _) => Err(miss),
        }
    }
}

impl fmt::Debug for Resolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resolver").field("server", &self.server).finish_non_exhaustive()
    }
}

/// Why there is no address.
#[derive(Debug)]
enum Miss {
    Absent(Span),
    Failed(String),
    Timeout,
}

impl Miss {
    fn ttl(&self) -> Span {
        match self {
            Miss::Absent(ttl) => (*ttl).clamp(TTL_MIN, NEGATIVE_TTL_MAX),
            Miss::Failed(_) | Miss::Timeout => FAILURE_TTL,
        }
    }

    fn into_error(self) -> DnsError {
        match self {
            Miss::Absent(_) => DnsError::NoSuchName,
            Miss::Failed(reason) => DnsError::Failed(reason),
            Miss::Timeout => DnsError::Timeout,
        }
    }
}

fn has_address(answer: Result<Lookup, ResolveError>) -> Result<Lookup, Miss> {
    let problem = match answer {
        Ok(lookup) if lookup.iter().any(|data| data.ip_addr().is_some()) => return Ok(lookup),
        Ok(_) => return Err(Miss::Absent(Span::ZERO)),
        Err(problem) => problem,
    };
    Err(match problem.proto().map(|proto| proto.kind()) {
        Some(ProtoErrorKind::Timeout) => Miss::Timeout,
        Some(ProtoErrorKind::NoRecordsFound { negative_ttl, response_code, .. }) => match response_code {
            ResponseCode::NoError | ResponseCode::NXDomain => {
                Miss::Absent(Span::seconds(negative_ttl.unwrap_or(0).into()))
            }
            code => Miss::Failed(format!("the name server says \"{code}\"")),
        },
        _ => Miss::Failed(problem.to_string()),
    })
}

fn addresses_of(lookups: &[Lookup]) -> Vec<IpAddr> {
    let of_one =
        |lookup: &Lookup| lookup.iter().filter_map(|data| data.ip_addr()).take(ADDRESSES_MAX).collect();
    lookups.iter().flat_map(|lookup| -> Vec<IpAddr> { of_one(lookup) }).collect()
}

fn ttl_of(lookups: &[Lookup]) -> Span {
    let ttls = lookups.iter().flat_map(|lookup| lookup.record_iter().map(|record| record.ttl()));
    Span::seconds(ttls.min().unwrap_or(0).into()).clamp(TTL_MIN, TTL_MAX)
}

/// The address a host in a URL is, if it is no name.
fn literal(host: &str) -> Option<IpAddr> {
    let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    bare.parse().ok()
}
