//! How commands ask the API.
//!
//! A data directory that is free is opened, and its API is asked without a network in between; one
//! that a server has is reached over loopback, with the key that only its owner can read. The
//! command does not see the difference.

pub(crate) mod wire;

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, anyhow};
use app::{App, Problem};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{Method, Request, StatusCode, header};
use frontier::Frontier;
use harvest::data_dir::{self, explain};
use harvest::figures::Figures;
use harvest::running_server::RunningServer;
use harvest::session::frontier_of;
use http_body_util::{BodyExt, Limited};
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;
use store::{OpenError, Options, Store};
use tokio::runtime::{Builder, Runtime};
use tower::ServiceExt;
use url::form_urlencoded;

use crate::Live;
use crate::api::extract::{LARGE_BYTES_MAX, Own, config_too_large};
use crate::api::{router, routes};

pub const NOT_UNDERSTOOD: &str = "the answer of the server is not understood: is it another version?";

/// The largest answer that is taken in.
const ANSWER_BYTES_MAX: usize = 512 << 20;

/// The API of a data directory.
pub struct Client {
    way: Way,
    runtime: Runtime,
}

enum Way {
    /// In this process.
    Here(Router),
    /// At the server that has the directory.
    There(RunningServer),
}

/// A question.
pub struct Call<'a> {
    pub method: Method,
    pub path: String,
    pub query: Vec<(&'a str, String)>,
    /// Only if there is nothing yet at the path.
    pub only_new: bool,
    /// With its content type.
    pub body: Option<(&'static str, Bytes)>,
}

impl<'a> Call<'a> {
    pub fn get(path: &str, query: Vec<(&'a str, String)>) -> Call<'a> {
        Call { query, ..Call::new(Method::GET, path) }
    }

    pub fn new(method: Method, path: &str) -> Call<'a> {
        Call { method, path: format!("/api/v1/{path}"), query: Vec::new(), only_new: false, body: None }
    }

    pub fn body(mut self, body: &Value) -> Call<'a> {
        self.body = Some(("application/json", body.to_string().into()));
        self
    }

    pub fn yaml(mut self, text: Vec<u8>) -> Call<'a> {
        self.body = Some(("application/yaml", text.into()));
        self
    }

    fn request(&self) -> Result<Request<Body>> {
        let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(&self.query).finish();
        let target = if query.is_empty() { self.path.clone() } else { format!("{}?{query}", self.path) };
        let mut request = Request::builder().method(&self.method).uri(target);
        if self.only_new {
            request = request.header(header::IF_NONE_MATCH, "*");
        }
        let body = match &self.body {
            Some((kind, body)) => {
                request = request.header(header::CONTENT_TYPE, *kind);
                Body::from(body.clone())
            }
            None => Body::empty(),
        };
        Ok(request.body(body)?)
    }
}

impl Client {
    /// For commands that look: a directory without a store is an error.
    pub fn open(dir: &Path) -> Result<Client> {
        Client::of(dir, data_dir::open(dir))
    }

    /// For commands that declare: makes the store if it is not there.
    pub fn create(dir: &Path) -> Result<Client> {
        Client::of(dir, data_dir::create(dir, Options::default()))
    }

    fn of(dir: &Path, opened: Result<Store, OpenError>) -> Result<Client> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let way = match opened {
            Ok(store) => Way::Here(router(routes().with_state(app(frontier_of(store), dir)))),
            Err(error) => match RunningServer::read(dir).filter(|_| matches!(error, OpenError::InUse { .. }))
            {
                Some(notice) if runtime.block_on(wire::answers(&notice)) => Way::There(notice),
                _ => return Err(explain(dir, error)),
            },
        };
        Ok(Client { way, runtime })
    }

    /// Asks, and gives the answer as it came; a problem is an error.
    pub fn raw(&self, question: &Call<'_>) -> Result<Bytes> {
        self.runtime.block_on(async { whole(self.answer(question).await?).await })
    }

    /// Writes the answer as it comes, whatever its length; `out` is opened when it begins.
    pub fn copy<W: Write>(&self, question: &Call<'_>, out: impl FnOnce() -> Result<W>) -> Result<()> {
        self.runtime.block_on(async {
            let mut body = self.answer(question).await?;
            let mut out = out()?;
            while let Some(frame) = wire::in_time(body.frame()).await? {
                let frame = frame.map_err(|error| broke_off(&error))?;
                out.write_all(frame.data_ref().map_or(&[][..], |data| data))?;
            }
            Ok(out.flush()?)
        })
    }

    /// What is answered, once it is known to be no problem.
    async fn answer(&self, question: &Call<'_>) -> Result<Body> {
        let mut request = question.request()?;
        let (status, body) = match &self.way {
            Way::Here(router) => {
                request.extensions_mut().insert(Own);
                let response = router.clone().oneshot(request).await?;
                (response.status(), response.into_body())
            }
            // Who hangs up in the middle of a body is not always heard.
            Way::There(_) if question.body.as_ref().is_some_and(|(_, body)| body.len() > LARGE_BYTES_MAX) => {
                return Err(config_too_large().into());
            }
            Way::There(notice) => {
                let response = wire::send(notice, request).await;
                let response =
                    response.with_context(|| format!("the server at {} does not answer", notice.address))?;
                (response.status(), Body::new(response.into_body()))
            }
        };
        match status.is_success() {
            true => Ok(body),
            false => Err(failed(status, &whole(body).await?)),
        }
    }

    pub fn ask<T: DeserializeOwned>(&self, question: &Call<'_>) -> Result<T> {
        let bytes = self.raw(question)?;
        serde_json::from_slice(&bytes).context(NOT_UNDERSTOOD)
    }

    /// All pages of a list, as they come; ends when `take` has enough.
    pub fn pages(
        &self,
        path: &str,
        mut query: Vec<(&str, String)>,
        mut take: impl FnMut(&[Box<RawValue>]) -> Result<bool>,
    ) -> Result<()> {
        query.push(("limit", app::page::LIMIT_MAX.to_string()));
        let mut question = Call::get(path, query);
        let filters = question.query.len();
        loop {
            let page: app::page::Page<Box<RawValue>> = self.ask(&question)?;
            if !take(&page.items)? {
                return Ok(());
            }
            let Some(next) = page.next else { return Ok(()) };
            question.query.truncate(filters);
            question.query.push(("cursor", next));
        }
    }
}

fn app(frontier: Frontier, dir: &Path) -> App {
    let live = Live::new(Arc::new(Figures::default()), Arc::default());
    App::new(Arc::new(frontier), dir.to_owned(), Arc::new(live))
}

/// The API over a frontier of this process, without its description, which takes longer than many a
/// request.
pub fn in_process(frontier: Frontier, dir: &Path) -> Router {
    routes().with_state(app(frontier, dir)).split_for_parts().0
}

async fn whole(body: Body) -> Result<Bytes> {
    let collected = Limited::new(body, ANSWER_BYTES_MAX).collect().await;
    Ok(collected.map_err(|error| broke_off(&error))?.to_bytes())
}

fn broke_off(error: &impl std::fmt::Display) -> anyhow::Error {
    anyhow!("the answer broke off: {error}")
}

fn failed(status: StatusCode, bytes: &[u8]) -> anyhow::Error {
    match serde_json::from_slice::<Problem>(bytes) {
        Ok(problem) => problem.into(),
        Err(_) => anyhow!("the server answers {status}"),
    }
}

/// A text as one segment of a path.
pub fn segment(text: &str) -> String {
    let safe = text.bytes().map(|byte| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'~' => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    });
    safe.collect()
}
