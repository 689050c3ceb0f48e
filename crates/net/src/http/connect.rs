//! From a URL to an open connection: look up, check, connect, encrypt.
//!
//! Every address passes the guard right here, whether it came from DNS, an override, or stood in
//! the URL, so that neither a redirect nor a name that changes its mind gets around it (A6). Only
//! the addresses that pass are tried, a few of them, each with a fair part of the time that is
//! left. A proxy (A17) is told the address that passed, and is none of those that are judged: it is
//! the operator's.

use std::net::SocketAddr;
use std::time::Duration;

use policy::url::{CrawlUrl, Scheme};
use policy::way::Way;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};

use super::error::{FetchErrorKind, Problem};
use super::stream::{Connection, Stream};
use super::way::{self, Blocked};
use super::{Client, Request, millis, request};
use crate::dns::{DnsError, DnsRecord};

/// Addresses of one name that are tried before giving up.
const ADDRESSES_TRIED_MAX: usize = 4;

impl Client {
    /// A new connection to one of these addresses.
    pub(super) async fn connect(
        &self,
        request: &Request<'_>,
        addresses: &[SocketAddr],
        deadline: Instant,
    ) -> Result<Connection, Problem> {
        let Request { url, limits, way, .. } = *request;
        let deadline = deadline.min(Instant::now() + millis(limits.connect));
        let late = || {
            let through = way.told().map_or_else(String::new, |way| format!(" ({way})"));
            let reason = format!("no connection within {}{through}", limits.connect);
            Problem::new(FetchErrorKind::Connect, reason)
        };
        let addresses = way::within_reach(way, addresses)?;
        let (tcp, remote) =
            first_open(way, &addresses, deadline).await.map_err(|problem| problem.unwrap_or_else(late))?;
        let (stream, tls) = match url.scheme() {
            Scheme::Http => (Stream::Plain(tcp), None),
            Scheme::Https => {
                let handshake = timeout_at(deadline, self.tls.connect(url.host(), tcp)).await;
                let (stream, tls) = handshake
                    .map_err(|_| late())?
                    .map_err(|problem| Problem::new(FetchErrorKind::Tls, problem.to_string()))?;
                (Stream::Tls(Box::new(stream)), Some(tls))
            }
        };
        Ok(Connection {
            stream,
            remote,
            tls,
            origin: request::origin(url).into(),
            way: way.clone(),
            reused: false,
        })
    }

    /// The addresses of the URL's host that may be connected to; the look-up made for it, if any,
    /// is left in `dns` whatever comes of it.
    pub(super) async fn addresses(
        &self,
        url: &CrawlUrl,
        way: &Way,
        deadline: Instant,
        dns: &mut Option<DnsRecord>,
    ) -> Result<Vec<SocketAddr>, Problem> {
        let default_port = if url.scheme() == Scheme::Https { 443 } else { 80 };
        let resolver = self.resolver(way);
        let look_up = resolver.resolve(url.host(), url.port().unwrap_or(default_port));
        let resolved = timeout_at(deadline, look_up).await.unwrap_or(Err(DnsError::Timeout));
        let resolved = resolved
            .map_err(|problem| Problem::new(FetchErrorKind::Dns, format!("`{}`: {problem}", url.host())))?;
        *dns = resolved.record;
        let mut refusal = None;
        let mut addresses = resolved.addresses;
        addresses.retain(|address| match self.guard.check(address.ip()) {
            Ok(()) => true,
            Err(refused) => {
                refusal.get_or_insert(refused);
                false
            }
        });
        match refusal {
            Some(refused) if addresses.is_empty() => {
                Err(Problem::new(FetchErrorKind::Refused, refused.to_string()))
            }
            _ => Ok(addresses),
        }
    }
}

/// The first address that answers; the problem is none where time ran out.
async fn first_open(
    way: &Way,
    addresses: &[SocketAddr],
    deadline: Instant,
) -> Result<(TcpStream, SocketAddr), Option<Problem>> {
    let tried = &addresses[..addresses.len().min(ADDRESSES_TRIED_MAX)];
    let mut problem = None;
    for (done, address) in tried.iter().enumerate() {
        let left = deadline.saturating_duration_since(Instant::now());
        let part = left / u32::try_from(tried.len() - done).unwrap_or(1);
        match timeout_at(Instant::now() + part, way::open(way, *address)).await {
            Ok(Ok(stream)) => {
                // A request is one small write: nothing is gained by waiting for more. It works without, too.
                let _ = stream.set_nodelay(true);
                return Ok((stream, *address));
            }
            Ok(Err(Blocked::Here(reason))) => problem = Some(Problem::new(FetchErrorKind::Connect, reason)),
            Ok(Err(Blocked::Everywhere(reason))) => {
                return Err(Some(Problem::new(FetchErrorKind::Connect, reason)));
            }
            Err(_) if left == Duration::ZERO => break,
            Err(_) => {}
        }
    }
    Err(problem)
}
