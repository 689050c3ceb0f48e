//! Who may ask (I4).
//!
//! With a token, every request brings it (`Authorization: Bearer …`), or the cookie that a browser
//! got for it. Without one the server is bound to loopback, and whoever can reach that may ask; but
//! web pages can make a browser reach it too, so the `Host` must be a loopback name (else a page
//! whose name was pointed here would be of the same origin), and whatever changes something must
//! not come from another origin; what has none (`Origin: null`, as whatever comes out of the archive)
//! may not even read. Scripts send neither `Origin` nor `Sec-Fetch-Site`, browsers
//! always do.
//!
//! The key is a second token, drawn for this run and told only in `serve.json`, which nobody else
//! can read: commands on the same data directory use it. The token itself is never written
//! anywhere.

use std::net::IpAddr;
use std::sync::Arc;

use anyhow::{Context, Result};
use app::Problem;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use subtle::ConstantTimeEq;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::sessions::{Sessions, drawn_key};
use crate::api::{Answer, Json};
use crate::failure::Failure;

/// The browser's cookie.
const COOKIE: &str = "skurd_session";
/// Asked by those who watch over the process.
const OPEN_PATHS: [&str; 2] = ["/healthz", "/readyz"];
/// What the login page is made of.
const ASSETS: &str = "/assets/";
/// Where the token itself is shown.
const TOKEN_PATHS: [&str; 2] = ["/api/v1/session", "/login"];

pub struct Guard {
    /// None: bound to loopback, and open to whoever can reach that.
    token: Option<String>,
    pub key: String,
    sessions: Sessions,
}

/// How a request showed that it may ask.
enum Caller {
    /// It brought the token or the key, which no other web page has.
    Script,
    /// A browser may have been made to ask.
    Browser,
}

impl Guard {
    pub fn new(token: Option<String>) -> Result<Guard> {
        Ok(Guard { token, key: drawn_key().context("cannot draw a key")?, sessions: Sessions::default() })
    }

    /// For commands on the same data directory and nobody else.
    pub fn of_key() -> Result<Guard> {
        Guard::new(Some(drawn_key().context("cannot draw a key")?))
    }

    pub fn wants_token(&self) -> bool {
        self.token.is_some()
    }

    /// Whether this is the token, or the key; takes equally long for every wrong one.
    pub fn admits(&self, given: &str) -> bool {
        let is = |wanted: &str| bool::from(given.as_bytes().ct_eq(wanted.as_bytes()));
        let by_token = self.token.as_deref().is_some_and(is);
        let by_key = is(&self.key);
        by_token | by_key
    }

    /// The cookie for a browser that showed the token.
    pub fn begin(&self, headers: &HeaderMap) -> std::io::Result<String> {
        Ok(set_cookie(&self.sessions.begin()?, headers))
    }

    /// Lets this browser in no more; the cookie that says so.
    pub fn end(&self, headers: &HeaderMap) -> String {
        if let Some(given) = cookie(headers) {
            self.sessions.end(given);
        }
        format!("{}; Max-Age=0", set_cookie("", headers))
    }

    /// Whether a request showed that it may ask.
    pub(super) fn knows(&self, headers: &HeaderMap) -> bool {
        self.caller(headers).is_ok()
    }

    /// Whether somebody may look at the archive on its own origin (R1). No cookie counts there.
    pub(super) fn admits_reader(&self, headers: &HeaderMap) -> Result<(), Problem> {
        match bearer(headers) {
            Some(given) if self.admits(given) => Ok(()),
            Some(_) => Err(unauthorized("this is not the token")),
            None if self.wants_token() => {
                Err(unauthorized("a token is wanted, or a link from the dashboard"))
            }
            None if host(headers).is_some_and(is_loopback_name) => Ok(()),
            None => Err(forbidden("this server is for this machine and is asked under another name")
                .hint("ask for http://localhost, or start it with a token")),
        }
    }

    fn check(&self, request: &Request) -> Result<(), Problem> {
        let path = request.uri().path();
        if is_watched(path) || path.starts_with(ASSETS) {
            return Ok(());
        }
        let headers = request.headers();
        let caller = match self.caller(headers) {
            Err(_) if self.wants_token() && TOKEN_PATHS.contains(&path) => Caller::Browser,
            caller => caller?,
        };
        match caller {
            Caller::Script => Ok(()),
            // R1: what is in a sandbox has no origin, as is what comes out of the archive.
            Caller::Browser if headers.get(header::ORIGIN).is_some_and(|origin| origin == "null") => {
                Err(forbidden("a page without an origin has nothing to ask here"))
            }
            Caller::Browser if is_safe(request.method()) => Ok(()),
            Caller::Browser => same_origin(headers),
        }
    }

    fn caller(&self, headers: &HeaderMap) -> Result<Caller, Problem> {
        if let Some(given) = bearer(headers) {
            return match self.admits(given) {
                true => Ok(Caller::Script),
                false => Err(unauthorized("this is not the token")),
            };
        }
        if cookie(headers).is_some_and(|given| self.sessions.holds(given)) {
            return Ok(Caller::Browser);
        }
        if self.wants_token() {
            return Err(unauthorized("a token is wanted"));
        }
        match host(headers).is_some_and(is_loopback_name) {
            true => Ok(Caller::Browser),
            false => Err(forbidden("this server is for this machine and is asked under another name")
                .hint("ask for http://localhost, or start it with a token")),
        }
    }
}

/// Asked by those who watch over the process, who need nothing for it.
pub(super) fn is_watched(path: &str) -> bool {
    OPEN_PATHS.contains(&path)
}

pub async fn guard(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    match guard.check(&request) {
        Ok(()) => next.run(request).await,
        Err(problem) => Failure(problem).into_response(),
    }
}

/// Getting in with a browser.
pub fn routes<S: Clone + Send + Sync + 'static>(guard: Arc<Guard>) -> OpenApiRouter<S> {
    OpenApiRouter::new().routes(routes!(begin_session)).with_state(guard)
}

/// What a browser shows to get in.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Credentials {
    token: String,
}

/// Exchange the token for a cookie
///
/// For browsers: the cookie lasts until the server ends, and changes nothing from pages of another
/// origin.
#[utoipa::path(
    post,
    path = "/api/v1/session",
    tag = "server",
    request_body = Credentials,
    responses((status = 204, description = "The cookie is set")),
)]
async fn begin_session(
    State(guard): State<Arc<Guard>>,
    headers: HeaderMap,
    Json(given): Json<Credentials>,
) -> Answer<Response> {
    if !guard.admits(&given.token) {
        return Err(unauthorized("this is not the token").into());
    }
    let cookie = guard.begin(&headers).map_err(|error| Problem::internal(&error))?;
    Ok((StatusCode::NO_CONTENT, [(header::SET_COOKIE, cookie)]).into_response())
}

fn unauthorized(detail: &str) -> Problem {
    Problem::new(StatusCode::UNAUTHORIZED, detail).hint("send `Authorization: Bearer TOKEN`")
}

fn forbidden(detail: &str) -> Problem {
    Problem::new(StatusCode::FORBIDDEN, detail)
}

fn is_safe(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

/// What a browser says of where a request comes from must be this server.
fn same_origin(headers: &HeaderMap) -> Result<(), Problem> {
    let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let from_here = text(header::HeaderName::from_static("sec-fetch-site"))
        .is_none_or(|site| matches!(site, "same-origin" | "none"));
    let same = text(header::ORIGIN).is_none_or(|origin| {
        let told = origin.split_once("://").map(|(_, authority)| authority);
        told.is_some() && told == headers.get(header::HOST).and_then(|host| host.to_str().ok())
    });
    let foreign = || forbidden("a page of another origin may not change anything here");
    (from_here && same).then_some(()).ok_or_else(foreign)
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let given = headers.get(header::AUTHORIZATION)?.to_str().unwrap_or_default();
    let (scheme, token) = given.split_once(' ').unwrap_or((given, ""));
    // Another scheme is a wrong token.
    Some(if scheme.eq_ignore_ascii_case("bearer") { token.trim() } else { "" })
}

fn cookie(headers: &HeaderMap) -> Option<&str> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    let mut pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(name, _)| *name == COOKIE).map(|(_, value)| value)
}

/// Without its port.
pub(super) fn host(headers: &HeaderMap) -> Option<&str> {
    let host = headers.get(header::HOST)?.to_str().ok()?;
    match host.strip_prefix('[') {
        Some(rest) => rest.split_once(']').map(|(address, _)| address),
        None => Some(host.rsplit_once(':').map_or(host, |(name, _)| name)),
    }
}

pub(super) fn is_loopback_name(name: &str) -> bool {
    let name = name.trim_end_matches('.');
    let is_local =
        name.eq_ignore_ascii_case("localhost") || name.to_ascii_lowercase().ends_with(".localhost");
    is_local || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Only over TLS where a proxy in front says that there is some.
fn set_cookie(value: &str, headers: &HeaderMap) -> String {
    let is_https = headers.get("x-forwarded-proto").is_some_and(|proto| proto.as_bytes() == b"https");
    let secure = if is_https { "; Secure" } else { "" };
    format!("{COOKIE}={value}; Path=/; HttpOnly; SameSite=Strict{secure}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i4_only_names_of_this_machine_are_loopback() {
        for (text, is) in [
            ("localhost", true),
            ("LOCALHOST:8642", true),
            ("localhost.:1", true),
            ("skurd.localhost", true),
            ("127.0.0.1:8642", true),
            ("127.9.9.9", true),
            ("[::1]:8642", true),
            ("evil.test:8642", false),
            ("localhost.evil.test", false),
            ("127.0.0.1.evil.test", false),
            ("10.0.0.1", false),
            ("[::2]", false),
            ("", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, text.parse().unwrap());
            assert_eq!(host(&headers).is_some_and(is_loopback_name), is, "{text}");
        }
    }

    #[test]
    fn i4_keys_differ_and_only_the_right_one_is_taken() {
        let guard = Guard::new(Some("the token of the test".to_owned())).unwrap();
        assert_ne!(guard.key, Guard::new(None).unwrap().key);
        for (given, is) in [
            ("the token of the test", true),
            (guard.key.as_str(), true),
            ("the token of the tesT", false),
            ("the token", false),
            ("", false),
        ] {
            assert_eq!(guard.admits(given), is, "{given}");
        }
    }
}
