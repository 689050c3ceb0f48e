//! Ways out (A17): a connection straight to an address or through a proxy, from any address of this
//! machine or from one.
//!
//! Through a proxy every connection is a tunnel to the address that was looked up and judged here:
//! HTTP by CONNECT, for port 80 too, so that what comes over it are the bytes of the server; SOCKS5
//! with an address and never a name. A proxy that fails is a connection that could not be made. Its
//! credentials are in no message.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use data_encoding::BASE64;
use parking_lot::Mutex;
use policy::way::{Login, Proxy, ProxyKind, Way};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream, lookup_host};

use super::Client;
use super::error::{FetchErrorKind, Problem};
use super::head::{end_of_head, parse};
use crate::dns::Resolver;

/// Of what a proxy answers to CONNECT.
const HEAD_BYTES_MAX: usize = 16 << 10;
/// Addresses of one proxy that are tried.
const PROXY_ADDRESSES_TRIED_MAX: usize = 4;
/// Name servers that are remembered with the names they told.
const RESOLVERS_MAX: usize = 64;

/// Why there is no connection, in a sentence.
#[derive(Debug)]
pub(super) enum Blocked {
    /// To this address.
    Here(String),
    /// By this way: no other address is reached by it either.
    Everywhere(String),
}

/// The name servers that ways name, each with the names it told. The eldest goes when there are too
/// many.
#[derive(Debug, Default)]
pub(super) struct Resolvers(Mutex<Vec<(SocketAddr, Arc<Resolver>)>>);

impl Client {
    pub(super) fn resolver(&self, way: &Way) -> Arc<Resolver> {
        let Some(server) = way.resolver.map(|resolver| resolver.0) else { return Arc::clone(&self.resolver) };
        let mut known = self.resolvers.0.lock();
        if let Some((_, resolver)) = known.iter().find(|(address, _)| *address == server) {
            return Arc::clone(resolver);
        }
        let resolver = Arc::new(self.resolver.asking(server));
        if known.len() >= RESOLVERS_MAX {
            known.remove(0);
        }
        known.push((server, Arc::clone(&resolver)));
        resolver
    }
}

/// Those of the addresses that the way can lead to.
pub(super) fn within_reach(way: &Way, addresses: &[SocketAddr]) -> Result<Vec<SocketAddr>, Problem> {
    let Some(source) = way.source_address.filter(|_| way.through().is_none()) else {
        return Ok(addresses.to_vec());
    };
    let same = addresses.iter().filter(|address| address.is_ipv4() == source.is_ipv4());
    let same: Vec<SocketAddr> = same.copied().collect();
    match same.is_empty() {
        false => Ok(same),
        true => {
            let kind = if source.is_ipv4() { "IPv4" } else { "IPv6" };
            let reason = format!("it has no {kind} address, and no other is reached from {source}");
            Err(Problem::new(FetchErrorKind::Connect, reason))
        }
    }
}

/// A connection to an address.
pub(super) async fn open(way: &Way, target: SocketAddr) -> Result<TcpStream, Blocked> {
    let Some(proxy) = way.through() else {
        return connect(way.source_address, target).await.map_err(|problem| match problem {
            NoConnection::Source(reason) => Blocked::Everywhere(reason),
            NoConnection::Target(problem) => Blocked::Here(format!("no connection to {target}: {problem}")),
        });
    };
    let mut stream = reach(proxy, way.source_address).await?;
    let tunnel = match proxy.kind {
        ProxyKind::Http => by_connect(&mut stream, proxy, target).await,
        ProxyKind::Socks5 => by_socks(&mut stream, proxy, target).await,
    };
    tunnel.map(|()| stream).map_err(|refusal| refusal.told(proxy, target))
}

enum NoConnection {
    /// The address on this side is not to be had.
    Source(String),
    Target(io::Error),
}

async fn connect(source: Option<IpAddr>, target: SocketAddr) -> Result<TcpStream, NoConnection> {
    let Some(source) = source else {
        return TcpStream::connect(target).await.map_err(NoConnection::Target);
    };
    let socket = if source.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() };
    let bound = socket.and_then(|socket| socket.bind(SocketAddr::new(source, 0)).map(|()| socket));
    let socket = bound.map_err(|problem| {
        NoConnection::Source(format!("no connection from the source address {source}: {problem}"))
    })?;
    socket.connect(target).await.map_err(NoConnection::Target)
}

/// A connection to the proxy itself. Its name is one of this machine's: it is looked up as the
/// machine does it.
async fn reach(proxy: &Proxy, source: Option<IpAddr>) -> Result<TcpStream, Blocked> {
    let found = lookup_host((proxy.host.as_str(), proxy.port)).await;
    let found =
        found.map_err(|problem| Blocked::Everywhere(format!("the proxy {proxy} is not found: {problem}")))?;
    let fits = |address: &SocketAddr| source.is_none_or(|source| source.is_ipv4() == address.is_ipv4());
    let mut reason = format!("the proxy {proxy} has no address that is reached from here");
    for address in found.filter(fits).take(PROXY_ADDRESSES_TRIED_MAX) {
        match connect(source, address).await {
            Ok(stream) => return Ok(stream),
            Err(NoConnection::Source(problem)) => return Err(Blocked::Everywhere(problem)),
            Err(NoConnection::Target(problem)) => {
                reason = format!("no connection to the proxy {proxy}: {problem}");
            }
        }
    }
    Err(Blocked::Everywhere(reason))
}

/// What a proxy answered that is no tunnel.
#[derive(Debug)]
enum Refusal {
    /// The address is not reached by it, or not allowed.
    Target(String),
    /// It serves nobody like us, or is no such proxy.
    Proxy(String),
    Broken(io::Error),
}

impl From<io::Error> for Refusal {
    fn from(problem: io::Error) -> Refusal {
        Refusal::Broken(problem)
    }
}

impl Refusal {
    fn told(self, proxy: &Proxy, target: SocketAddr) -> Blocked {
        match self {
            Refusal::Target(what) => Blocked::Here(format!("the proxy {proxy} {what} ({target})")),
            Refusal::Proxy(what) => Blocked::Everywhere(format!("the proxy {proxy} {what}")),
            Refusal::Broken(problem) => {
                Blocked::Everywhere(format!("the proxy {proxy} broke the connection off: {problem}"))
            }
        }
    }
}

const WANTS_LOGIN: &str = "wants a user and a password";
const REFUSES_LOGIN: &str = "does not take the user and password";

fn login_refused(proxy: &Proxy) -> Refusal {
    let what = if proxy.login.is_some() { REFUSES_LOGIN } else { WANTS_LOGIN };
    Refusal::Proxy(what.to_owned())
}

/// RFC 9110, 9.3.6.
async fn by_connect(stream: &mut TcpStream, proxy: &Proxy, target: SocketAddr) -> Result<(), Refusal> {
    let mut request = format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n");
    if let Some(Login { user, password }) = &proxy.login {
        let credentials = BASE64.encode(format!("{user}:{password}").as_bytes());
        request.push_str(&format!("Proxy-Authorization: Basic {credentials}\r\n"));
    }
    request.push_str("\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::with_capacity(1 << 10);
    let end = loop {
        let searched = answer.len().saturating_sub(3);
        if stream.read_buf(&mut answer).await? == 0 {
            return Err(Refusal::Proxy("closed the connection without an answer".to_owned()));
        }
        match end_of_head(&answer, searched) {
            Some(end) => break end,
            None if answer.len() > HEAD_BYTES_MAX => {
                return Err(Refusal::Proxy(format!(
                    "answered with more than {HEAD_BYTES_MAX} bytes of headers"
                )));
            }
            None => {}
        }
    };
    let status = parse(&answer[..end]).map(|parsed| parsed.head.status);
    match status {
        // Who is connected to speaks second: what came already is not from there.
        Some(200..=299) if answer.len() > end || stream.try_read(&mut [0]).is_ok_and(|read| read > 0) => {
            Err(Refusal::Proxy("sent something of its own into the connection".to_owned()))
        }
        Some(200..=299) => Ok(()),
        Some(407) => Err(login_refused(proxy)),
        Some(403 | 405) if target.port() != 443 => Err(Refusal::Target(
            "does not allow this connection: CONNECT must be allowed to this port too".to_owned(),
        )),
        Some(403 | 405) => Err(Refusal::Target("does not allow this connection".to_owned())),
        Some(status) => Err(Refusal::Target(format!("made no connection and answered {status}"))),
        None => Err(Refusal::Proxy("gave an answer that is none of HTTP".to_owned())),
    }
}

const SOCKS: u8 = 5;
const NO_LOGIN: u8 = 0;
const BY_PASSWORD: u8 = 2;

/// RFC 1928, and RFC 1929 for the login.
async fn by_socks(stream: &mut TcpStream, proxy: &Proxy, target: SocketAddr) -> Result<(), Refusal> {
    let methods: &[u8] = if proxy.login.is_some() { &[NO_LOGIN, BY_PASSWORD] } else { &[NO_LOGIN] };
    let count = if proxy.login.is_some() { 2 } else { 1 };
    stream.write_all(&[&[SOCKS, count], methods].concat()).await?;
    let mut chosen = [0; 2];
    stream.read_exact(&mut chosen).await?;
    match (chosen, &proxy.login) {
        ([SOCKS, NO_LOGIN], _) => {}
        ([SOCKS, BY_PASSWORD], Some(login)) => {
            let mut message = vec![1];
            for text in [&login.user, &login.password] {
                // Both are no longer than that when they are read.
                message.push(u8::try_from(text.len()).unwrap_or(u8::MAX));
                message.extend_from_slice(text.as_bytes());
            }
            stream.write_all(&message).await?;
            let mut verdict = [0; 2];
            stream.read_exact(&mut verdict).await?;
            if verdict[1] != 0 {
                return Err(login_refused(proxy));
            }
        }
        ([SOCKS, _], _) => return Err(login_refused(proxy)),
        _ => return Err(Refusal::Proxy("does not speak SOCKS5".to_owned())),
    }
    let mut message = vec![SOCKS, 1, 0];
    match target.ip() {
        IpAddr::V4(address) => {
            message.push(1);
            message.extend_from_slice(&address.octets());
        }
        IpAddr::V6(address) => {
            message.push(4);
            message.extend_from_slice(&address.octets());
        }
    }
    message.extend_from_slice(&target.port().to_be_bytes());
    stream.write_all(&message).await?;
    let mut answer = [0; 4];
    stream.read_exact(&mut answer).await?;
    let [version, verdict, _, kind] = answer;
    if version != SOCKS {
        return Err(Refusal::Proxy("does not speak SOCKS5".to_owned()));
    }
    if verdict != 0 {
        return Err(refused(verdict));
    }
    // The address it speaks from, which nobody wants to know.
    let rest = match kind {
        1 => 4,
        4 => 16,
        3 => usize::from(stream.read_u8().await?),
        _ => return Err(Refusal::Proxy("does not speak SOCKS5".to_owned())),
    };
    let mut bound = vec![0; rest + 2];
    stream.read_exact(&mut bound).await?;
    Ok(())
}

fn refused(verdict: u8) -> Refusal {
    let what = match verdict {
        2 => "does not allow this connection",
        3 => "does not reach its network",
        4 => "does not reach its host",
        5 => "was refused the connection",
        6 => "found it too far away",
        7 | 8 => return Refusal::Proxy("makes no connections to addresses".to_owned()),
        _ => "made no connection",
    };
    Refusal::Target(what.to_owned())
}
