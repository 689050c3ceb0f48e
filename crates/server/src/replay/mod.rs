//! The archive as pages, on an origin of its own (R1): another port, and links to it name another host
//! than the one the dashboard was asked under.
//!
//! Only reading is possible here, nothing is remembered of who reads (no cookie is set or looked at), and nothing is
//! ever fetched. Who may look: whoever has the token, anybody on this machine where none is wanted, and whoever comes
//! by a link of the dashboard. Those have a key in front (`/~KEY/…`), because what is shown runs in a
//! sandbox, without an origin: with what it loads browsers send no cookie, and a font is only let through to any origin
//! or none. Somebody else's web page does not know the key, and reads nothing.

mod answer;
mod list;
mod pieces;
mod range;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use anyhow::{Context, Result};
use app::captures::replay::{At, find};
use app::{App, Problem};
use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use replay::memento::Site;
use replay::moment::from_http_date;
pub use replay::place::View;
use replay::place::{Prefix, Wanted};
use replay::{POLICY, bar, place};
use subtle::ConstantTimeEq;
use tokio::sync::Semaphore;

use crate::guard::{Guard, host, is_loopback_name};
use crate::sessions::drawn_key;

/// Requests at the same time; who comes later hears so.
const REQUESTS_MAX: usize = 64;

/// Where the archive is shown, and how links get there.
#[derive(Clone, Debug)]
pub struct Place {
    pub address: SocketAddr,
    /// What browsers are to call it, where something stands in between: scheme, host and port.
    public: Option<String>,
    key: String,
    /// Of the server beside it.
    dashboard: SocketAddr,
}

impl Place {
    pub fn new(address: SocketAddr, public: Option<String>, dashboard: SocketAddr) -> Result<Place> {
        let key = drawn_key().context("cannot draw a key")?;
        let public = public.map(|text| text.trim_end_matches('/').to_owned());
        Ok(Place { address, public, key, dashboard })
    }

    /// Where a browser finds it that found this server under the name in these headers.
    pub fn origin(&self, headers: &HeaderMap) -> String {
        self.public.clone().unwrap_or_else(|| beside(headers, self.address))
    }

    /// The address of a capture for who may look at the dashboard; `stamp` is digits.
    pub fn link(&self, headers: &HeaderMap, collection: &str, stamp: &str, view: View, url: &str) -> String {
        let prefix = Prefix::new(Some(&self.key), &crate::client::segment(collection));
        format!("{}{}", self.origin(headers), prefix.capture(stamp, view, url))
    }

    /// The page of the dashboard about a capture, as far as it is known where that is.
    fn back(&self, headers: &HeaderMap, id: &str) -> Option<String> {
        let is_known = self.public.is_none();
        is_known
            .then(|| format!("{}/captures/{}", beside(headers, self.dashboard), crate::client::segment(id)))
    }

    /// As the reader called it.
    fn own_origin(&self, headers: &HeaderMap) -> String {
        if let Some(public) = &self.public {
            return public.clone();
        }
        let named =
            headers.get(header::HOST).and_then(|host| host.to_str().ok()).filter(|host| is_authority(host));
        let scheme = if is_https(headers) { "https" } else { "http" };
        named.map_or_else(|| format!("http://{}", self.address), |host| format!("{scheme}://{host}"))
    }
}

/// The same machine at another port, and where that is possible by another name: cookies know no
/// ports.
fn beside(headers: &HeaderMap, address: SocketAddr) -> String {
    let name = host(headers).unwrap_or_default();
    let loopback = match address.ip() {
        ip if ip.is_loopback() => ip,
        IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
    };
    let name = match name.parse::<IpAddr>() {
        Ok(ip) if ip.is_loopback() => "localhost".to_owned(),
        Ok(ip) => SocketAddr::new(ip, 0).to_string().trim_end_matches(":0").to_owned(),
        Err(_) if is_loopback_name(name) || !is_authority(name) => {
            SocketAddr::new(loopback, 0).to_string().trim_end_matches(":0").to_owned()
        }
        Err(_) => name.to_owned(),
    };
    format!("http://{name}:{}", address.port())
}

fn is_authority(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b':' | b'[' | b']'))
}

fn is_https(headers: &HeaderMap) -> bool {
    headers.get("x-forwarded-proto").is_some_and(|proto| proto.as_bytes() == b"https")
}

/// What all requests share.
#[derive(Clone)]
struct Replay {
    app: App,
    guard: Arc<Guard>,
    place: Arc<Place>,
    turns: Arc<Semaphore>,
}

/// Everything at this address.
pub(crate) fn router(app: App, guard: Arc<Guard>, place: Arc<Place>) -> Router {
    let turns = Arc::new(Semaphore::new(REQUESTS_MAX));
    Router::new().fallback(entrance).with_state(Replay { app, guard, place, turns })
}

/// One request, as far as it is understood.
struct Visit<'a> {
    replay: &'a Replay,
    headers: &'a HeaderMap,
    origin: String,
    prefix: Prefix,
    collection: String,
}

impl Visit<'_> {
    fn site<'s>(&'s self, url: &'s str) -> Site<'s> {
        Site { origin: &self.origin, prefix: &self.prefix, url }
    }
}

async fn entrance(State(replay): State<Replay>, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
    let (key, rest) = place::split_key(path);
    let mut response = if matches!(parts.method, Method::GET | Method::HEAD) {
        match replay.turns.try_acquire() {
            Ok(_turn) => {
                answered(&replay, &parts.headers, key, rest).await.unwrap_or_else(|problem| shown(&problem))
            }
            Err(_) => shown(&Problem::unavailable("too many requests at once")),
        }
    } else {
        shown(&Problem::new(StatusCode::METHOD_NOT_ALLOWED, "the archive is only read here"))
    };
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_DNS_PREFETCH_CONTROL, "off"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if key.is_some()
        && parts.headers.contains_key(header::ORIGIN)
        && response.status() != StatusCode::FORBIDDEN
    {
        response.headers_mut().insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    }
    response
}

async fn answered(
    replay: &Replay,
    headers: &HeaderMap,
    key: Option<&str>,
    rest: &str,
) -> app::Answer<Response> {
    match key {
        Some(key) if bool::from(key.as_bytes().ct_eq(replay.place.key.as_bytes())) => {}
        Some(_) => {
            return Err(Problem::new(StatusCode::FORBIDDEN, "this link is not of this run of the server")
                .hint("follow it from the dashboard again"));
        }
        None => replay.guard.admits_reader(headers)?,
    }
    match rest.split('?').next() {
        Some("/robots.txt") => return Ok("User-agent: *\nDisallow: /\n".into_response()),
        Some("/") => return about(replay).await,
        _ => {}
    }
    let nothing = || {
        Problem::new(StatusCode::NOT_FOUND, "there is nothing at this address")
            .hint("captures are at /COLLECTION/TIME/URL")
    };
    let (collection, behind) = place::split_collection(rest).ok_or_else(nothing)?;
    let Some(prefix) = known(replay, key, collection).await? else { return Err(nothing()) };
    let (prefix, collection) = prefix;
    let origin = replay.place.own_origin(headers);
    let visit = Visit { replay, headers, origin, prefix, collection };
    let wanted = place::read(behind).ok_or_else(nothing)?;
    let Some(url) = place::web_url(wanted.url()) else {
        return Err(Problem::bad_request("only addresses of the web are shown: http and https"));
    };
    match wanted {
        Wanted::Capture { at, view, .. } => answer::capture(&visit, at, view, &url).await,
        Wanted::Latest { .. } => {
            let found = find(&replay.app, &visit.collection, &url, At::Last).await?;
            Ok(found.map_or_else(|| missing(&visit, &url), |found| answer::moved(&visit, &found, View::Page)))
        }
        Wanted::TimeGate { .. } => gate(&visit, &url).await,
        Wanted::TimeMap { format, .. } => list::list(&visit, &url, format).await,
    }
}

/// The collection of that name, as it is written in addresses, if it has captures.
async fn known(replay: &Replay, key: Option<&str>, written: &str) -> app::Answer<Option<(Prefix, String)>> {
    let all = replay.app.frontier.collections_with_captures().await?;
    let found = all.into_iter().find(|name| crate::client::segment(name) == written || name == written);
    Ok(found.map(|name| (Prefix::new(key, &crate::client::segment(&name)), name)))
}

/// R3: from a time to the capture nearest to it.
async fn gate(visit: &Visit<'_>, url: &str) -> app::Answer<Response> {
    let asked = visit.headers.get("accept-datetime");
    let at = match asked.map(|value| value.to_str().ok().and_then(from_http_date)) {
        None => At::Last,
        Some(Some(time)) => At::Nearest(time),
        Some(None) => {
            return Err(Problem::bad_request(
                "Accept-Datetime is a date like `Thu, 31 May 2007 20:35:00 GMT`",
            ));
        }
    };
    let found = find(&visit.replay.app, &visit.collection, url, at).await?;
    let mut response = match found {
        None => missing(visit, url),
        Some(found) => {
            let site = visit.site(&found.url);
            let beside = [found.beside.prev, found.beside.next].into_iter().flatten();
            let link = site.link_of_gate(&found.beside);
            answer::redirect(StatusCode::FOUND, &site.capture(found.time, beside), &link)
        }
    };
    response.headers_mut().insert(header::VARY, HeaderValue::from_static("accept-datetime"));
    Ok(response)
}

/// What one is told who comes to the root.
async fn about(replay: &Replay) -> app::Answer<Response> {
    let collections = replay.app.frontier.collections_with_captures().await?;
    let list: Vec<String> = collections.iter().map(|name| format!("/{name}/TIME/URL")).collect();
    let text = format!(
        "This is the archive as it is shown: pages come from captures, and nothing is asked of the web.\n\n{}\n",
        if list.is_empty() { "Nothing was captured yet.".to_owned() } else { list.join("\n") }
    );
    Ok(([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response())
}

fn missing(visit: &Visit<'_>, url: &str) -> Response {
    (StatusCode::NOT_FOUND, html_type(), bar::missing(&visit.collection, url, None)).into_response()
}

/// What went wrong, as a page.
fn shown(problem: &Problem) -> Response {
    let hint = problem.hint.as_deref().map(|hint| format!(" ({hint})")).unwrap_or_default();
    let page = bar::message(&problem.title, &format!("{}{hint}", problem.detail));
    let mut response = (problem.status(), html_type(), page).into_response();
    if problem.status() == StatusCode::UNAUTHORIZED {
        let wants = HeaderValue::from_static("Bearer realm=\"skurd\"");
        response.headers_mut().insert(header::WWW_AUTHENTICATE, wants);
    }
    response
}

fn html_type() -> [(header::HeaderName, &'static str); 1] {
    [(header::CONTENT_TYPE, "text/html; charset=utf-8")]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r1_links_lead_to_another_port_and_where_there_is_one_another_name() {
        for (asked, address, origin) in [
            ("127.0.0.1:8642", "127.0.0.1:8643", "http://localhost:8643"),
            ("localhost:8642", "127.0.0.1:8643", "http://127.0.0.1:8643"),
            ("skurd.localhost", "127.0.0.1:8643", "http://127.0.0.1:8643"),
            ("[::1]:8642", "[::1]:8643", "http://localhost:8643"),
            ("localhost:8642", "[::1]:8643", "http://[::1]:8643"),
            ("localhost:8642", "0.0.0.0:8643", "http://127.0.0.1:8643"),
            ("archive.example.org", "0.0.0.0:8643", "http://archive.example.org:8643"),
            ("192.0.2.7:80", "0.0.0.0:8643", "http://192.0.2.7:8643"),
            ("[2001:db8::1]:80", "[::]:8643", "http://[2001:db8::1]:8643"),
            ("", "127.0.0.1:8643", "http://127.0.0.1:8643"),
            ("evil\"><b>", "127.0.0.1:8643", "http://127.0.0.1:8643"),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, asked.parse().unwrap());
            assert_eq!(beside(&headers, address.parse().unwrap()), origin, "{asked}");
        }
        let dashboard = "127.0.0.1:1".parse().unwrap();
        let place = Place::new(dashboard, Some("https://replay.example.org/".to_owned()), dashboard).unwrap();
        let link = place.link(&HeaderMap::new(), "a b", "2024", View::Page, "http://a.test/?b");
        assert_eq!(link, format!("https://replay.example.org/~{}/a%20b/2024/http://a.test/?b", place.key));
        assert_eq!(place.back(&HeaderMap::new(), "x"), None);
    }
}
