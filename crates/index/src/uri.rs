//! A URI as the index knows it (X1): host labels reversed, so that names sort by domain.
//!
//! | URL | URI |
//! |---|---|
//! | `http://c.com/` | `com.c` |
//! | `https://www.a.com/p?q` | `com.a.www:443/p?q` |
//! | `http://a.com:8080/` | `com.a:8080` |
//! | `https://a.com:8443/` | `com.a:8443` |
//! | `https://a.com:9000/` | `com.a:9000s` |
//! | `http://a.com:8443/` | `com.a:8443h` |
//! | `http://127.0.0.1/x` | `127.0.0.1/x` |
//!
//! The URL can be read back. The letter after a port stands only where the scheme is not the one
//! that the port suggests. A reversed name begins with a top-level domain and that is never a
//! number, so addresses are told apart.

use std::fmt;

use policy::url::{CrawlUrl, Scheme};
use psl::Psl;
use url::{Position, Url};

/// Longest URI there is: two of them and what stands around them fit in a key of the store.
pub const URI_BYTES_MAX: usize = 2040;

/// Longest text that is parsed at all.
const URL_BYTES_MAX: usize = 64 << 10;

const HTTPS_PORT: u16 = 443;

/// Why a link is not in the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Skip {
    #[error("not http or https")]
    NotHttp,
    #[error("it carries user info")]
    UserInfo,
    #[error("it does not parse")]
    Unparsable,
    #[error("longer than {URI_BYTES_MAX} bytes")]
    TooLong,
}

/// The X1 spelling of an http(s) URL without fragment.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uri(Box<str>);

impl Uri {
    pub fn of_url(url: &str) -> Result<Uri, Skip> {
        if url.len() > URL_BYTES_MAX {
            return Err(Skip::TooLong);
        }
        let url = Url::parse(url).map_err(|_| Skip::Unparsable)?;
        let scheme = match url.scheme() {
            "http" => Scheme::Http,
            "https" => Scheme::Https,
            _ => return Err(Skip::NotHttp),
        };
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Skip::UserInfo);
        }
        let host = url.host_str().ok_or(Skip::Unparsable)?;
        let host = host.strip_suffix('.').unwrap_or(host);
        if host.is_empty() || host.ends_with('.') {
            return Err(Skip::Unparsable);
        }
        Uri::of_parts(scheme, host, url.port(), &url[Position::BeforePath..Position::AfterQuery])
    }

    /// The same for a URL that is normalised already.
    pub fn of_crawl_url(url: &CrawlUrl) -> Result<Uri, Skip> {
        Uri::of_parts(url.scheme(), url.host(), url.port(), url.path_and_query())
    }

    /// Reads what [`Uri::as_str`] gave; any other text is `None`.
    pub fn read(text: &str) -> Option<Uri> {
        let uri = Uri(text.into());
        let again = Uri::of_url(&uri.to_url()).ok()?;
        (again == uri).then_some(uri)
    }

    /// A text out of the store.
    pub(crate) fn known(text: &str) -> Uri {
        Uri(text.into())
    }

    fn of_parts(scheme: Scheme, host: &str, port: Option<u16>, path_and_query: &str) -> Result<Uri, Skip> {
        let mut text = String::with_capacity(host.len() + path_and_query.len() + 4);
        push_host(&mut text, host);
        push_port(&mut text, scheme, port);
        if path_and_query != "/" {
            text.push_str(path_and_query);
        }
        if text.len() > URI_BYTES_MAX { Err(Skip::TooLong) } else { Ok(Uri(text.into())) }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn to_url(&self) -> String {
        let (host, rest) = self.0.split_at(host_len(&self.0));
        let path_at = rest.find(['/', '?']).unwrap_or(rest.len());
        let (port, path) = rest.split_at(path_at);
        let (scheme, port) = match port.strip_prefix(':') {
            None => (Scheme::Http, ""),
            Some("443") => (Scheme::Https, ""),
            Some(port) => match (port.strip_suffix('s'), port.strip_suffix('h')) {
                (Some(port), _) => (Scheme::Https, port),
                (_, Some(port)) => (Scheme::Http, port),
                _ if port.parse().is_ok_and(is_https_like) => (Scheme::Https, port),
                _ => (Scheme::Http, port),
            },
        };
        let mut url = format!("{scheme}://");
        push_host(&mut url, host);
        if !port.is_empty() {
            url.push(':');
            url.push_str(port);
        }
        url.push_str(if path.is_empty() { "/" } else { path });
        url
    }

    /// The registrable domain, spelt as the URI is: `com.c`. It is the head of the URI.
    pub fn domain(&self) -> &str {
        domain_of(&self.0)
    }
}

/// The domain at the head of a URI in X1 form.
pub(crate) fn domain_of(uri: &str) -> &str {
    let host = &uri[..host_len(uri)];
    if is_address(host) {
        return host;
    }
    let suffix = psl::List.find(host.split('.').map(str::as_bytes)).len;
    match host.get(suffix + 1..) {
        Some(rest) if suffix > 0 => &host[..suffix + 1 + rest.find('.').unwrap_or(rest.len())],
        _ => host,
    }
}

/// Up to the port, path or query; an IPv6 address keeps the colons inside its brackets.
fn host_len(uri: &str) -> usize {
    let from = if uri.starts_with('[') { uri.find(']').unwrap_or(0) } else { 0 };
    uri[from..].find([':', '/', '?']).map_or(uri.len(), |at| from + at)
}

/// Reversing twice gives the host back.
fn push_host(out: &mut String, host: &str) {
    if is_address(host) {
        out.push_str(host);
        return;
    }
    for (n, label) in host.rsplit('.').enumerate() {
        if n > 0 {
            out.push('.');
        }
        out.push_str(label);
    }
}

/// Four numbers, or brackets: never true for a name, in either direction.
fn is_address(host: &str) -> bool {
    host.starts_with('[') || host.parse::<std::net::Ipv4Addr>().is_ok()
}

fn push_port(out: &mut String, scheme: Scheme, port: Option<u16>) {
    match (scheme, port) {
        (Scheme::Http, None) => {}
        (Scheme::Https, None) => out.push_str(":443"),
        (Scheme::Http, Some(port)) if is_https_like(port) => out.push_str(&format!(":{port}h")),
        (Scheme::Https, Some(port)) if !is_https_like(port) => out.push_str(&format!(":{port}s")),
        (_, Some(port)) => out.push_str(&format!(":{port}")),
    }
}

/// 443, 8443, 10443: a port where https is expected.
fn is_https_like(port: u16) -> bool {
    port % 1000 == HTTPS_PORT
}

impl fmt::Display for Uri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Uri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl AsRef<str> for Uri {
    fn as_ref(&self) -> &str {
        &self.0
    }
}
