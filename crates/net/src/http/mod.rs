//! Fetching one URL over HTTP/1.1, with every byte of the exchange kept (A4, A5).
//!
//! The life of a fetch: a resting connection to the origin is taken, or the host is looked up, its
//! addresses are checked against the [guard](Guard), and a new one is opened. The request goes out;
//! the answer comes in, straight into a [`Recording`]. After a clean end the connection rests for
//! the next fetch, otherwise it is closed. A resting connection that the server closed before a
//! single byte came back is no error: the fetch begins again on a new one, once.
//!
//! The recording is the answer and nothing else: from the first byte of its status line to the last
//! of its body or trailers, however odd its spelling, and not a byte that came after.
//!
//! Why not hyper: it hands out a parsed answer, so the bytes would have to be caught underneath and
//! its framing done a second time to know which of them belong to it; it refuses much of what the
//! web sends and archives want (bytes in headers, lengths that disagree, bodies that are not as
//! chunked as they say) and loses what had arrived by then; and it needs a task per connection. A
//! crawler sends one request at a time and reads to the end, for which a socket, a scan for the
//! empty line and a small state machine suffice. The price is that [`head`] and the chunk scanner
//! are our own; they are bounded, and tested with what is odd.
//!
//! [`Recording`]: crate::exchange::Recording

mod body;
mod chunked;
mod client;
mod connect;
mod error;
pub mod head;
mod pool;
mod receive;
mod request;
mod stream;
mod way;

use std::time::Duration;

use policy::time::Span;
use policy::url::CrawlUrl;
use policy::way::{STRAIGHT, Way};

use crate::dns::DnsRecord;
use crate::exchange::Exchange;

pub use crate::address::Guard;
pub use crate::dns::Clock;
pub use body::{Body, body};
pub use chunked::Dechunk;
pub use client::{Client, Setup, Upgraded};
pub use error::{FetchError, FetchErrorKind};
pub use policy::requisite::Method;
pub use pool::PoolLimits;
pub use receive::{Received, received};
pub use request::{HeaderError, check_header, is_validator, validator};

/// How long and how much a fetch may be (A5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FetchLimits {
    /// To an open connection, encryption included.
    pub connect: Span,
    /// From sending the request to the first byte of an answer.
    pub first_byte: Span,
    /// In all, from looking up the name to the last byte.
    pub total: Span,
    /// Of the body, as it comes over the wire.
    pub bytes: u64,
    /// Of the head, with any interim ones before it.
    pub header_bytes: u32,
}

impl Default for FetchLimits {
    fn default() -> FetchLimits {
        FetchLimits {
            connect: Span::seconds(20),
            first_byte: Span::seconds(60),
            total: Span::minutes(20),
            bytes: 1 << 30,
            header_bytes: 64 * 1024,
        }
    }
}

/// What to fetch, and how.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    pub url: &'a CrawlUrl,
    /// Sent after `Host`, in this order.
    pub headers: &'a [(&'a str, &'a str)],
    pub limits: &'a FetchLimits,
    pub method: Method,
    /// Sent after the head, of a [`Method::Post`].
    pub body: &'a [u8],
    /// Whoever takes part while the answer comes in; none: nobody does.
    pub live: Option<&'a Live>,
    /// A17: by which it is asked.
    pub way: &'a Way,
}

impl<'a> Request<'a> {
    /// A plain GET.
    pub fn get(url: &'a CrawlUrl, headers: &'a [(&'a str, &'a str)], limits: &'a FetchLimits) -> Request<'a> {
        Request { url, headers, limits, method: Method::Get, body: &[], live: None, way: &STRAIGHT }
    }
}

/// Somebody who is given the answer while it comes in, and may end it.
#[derive(Debug)]
pub struct Live {
    /// Gets the bytes as they are recorded. Who is slow slows the answer; who has gone misses it.
    pub tap: tokio::sync::mpsc::Sender<Vec<u8>>,
    /// Once it is true, no more is waited for: what came so far is the answer, truncated by time.
    pub stop: tokio::sync::watch::Receiver<bool>,
}

/// What came of a request.
#[derive(Debug)]
pub struct Fetched {
    pub result: Result<Exchange, FetchError>,
    /// The look-up that was made for it, also if it was in vain: the next fetch may succeed by the
    /// same answer.
    pub dns: Option<DnsRecord>,
}

fn millis(span: Span) -> Duration {
    // Far beyond any crawl, but not so far that adding it to the present overflows.
    const FOREVER_MS: u64 = 100 * 365 * 86_400_000;
    Duration::from_millis(span.0.min(FOREVER_MS))
}
