//! What becomes of each request of a page (B4–B10): whether anybody is asked, what is recorded, and
//! what the browser is given.
//!
//! The first request of a page is its navigation, and gets the answer that was recorded before the
//! tab was opened (B3). Everything else passes, in this order: the page's limits, the patterns of the
//! blacklist, the method, the archive (what was captured a moment ago is not asked for again), robots.txt, the gate of its host,
//! the guard of the client. Whatever stops it is noted with its reason, and the browser gets a 403 or
//! 502 instead. What comes over the wire is passed on while it comes, recorded, and packed at once.
mod archived;
mod ask;
mod keep;
mod serve;

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use frontier::ports::{Order, StoredPayload};
use net::exchange::Exchange;
use net::http::Method;
use net::proxy::{After, Asked, Client, Origin};
use net::warc::Prepared;
use parking_lot::Mutex;
use policy::browser::{BrowserSettings, RobotsRequisites};
use policy::requisite::Asking;
use policy::time::Span;
use policy::url::CrawlUrl;
use tokio::sync::watch;
use tokio::time::Instant;

use super::gate::Gates;
use crate::page_info::{PageRequest, Source};
use crate::wire::WireFetcher;
use crate::wire::manner::{Manner, agent};
use crate::wire::robots::{Asked as Told, Failure};
use serve::{pass_on, slice};

/// Of a URL that a page asked for: it may be as long as a request's head.
const NOTED_URL_BYTES_MAX: usize = 8 << 10;

/// A page whose requests are served.
pub(super) struct PageOrigin<'a> {
    pub(super) wire: &'a WireFetcher,
    pub(super) gates: &'a Gates,
    pub(super) order: &'a Order,
    pub(super) manner: &'a Manner,
    pub(super) settings: &'a BrowserSettings,
    pub(super) document: &'a Exchange,
    pub(super) page_id: String,
    /// The cookies that the document was asked for with.
    pub(super) cookie: Option<String>,
    pub(super) deadline: Instant,
    pub(super) stop: watch::Sender<bool>,
    pub(super) state: State,
}

/// What has come of it so far.
#[derive(Default)]
pub(super) struct State {
    navigated: AtomicBool,
    requests: AtomicU32,
    bytes: AtomicU64,
    under_way: AtomicUsize,
    last: Mutex<Option<Instant>>,
    pub(super) over: Mutex<Option<String>>,
    pub(super) infos: Mutex<Vec<PageRequest>>,
    pub(super) groups: Mutex<Vec<Prepared>>,
    pub(super) payloads: Mutex<Vec<StoredPayload>>,
    pub(super) saved_bytes: AtomicU64,
    pub(super) loaded: Mutex<BTreeSet<String>>,
    pub(super) retry_after: Mutex<Option<Span>>,
    /// A fault on this side.
    pub(super) fault: Mutex<Option<String>>,
    media: Mutex<HashMap<String, Arc<tokio::sync::Mutex<Media>>>>,
    servers: Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>,
}

/// B6: what is known of something that was asked for in part.
#[derive(Clone, Default)]
enum Media {
    #[default]
    Unknown,
    Whole(Arc<Exchange>),
    TooLarge,
}

/// Something is under way, until it is dropped.
struct Busy<'a> {
    state: &'a State,
    counts: bool,
}

impl Busy<'_> {
    /// B7: it goes on, but nobody waits for it.
    fn rest(&mut self) {
        if std::mem::take(&mut self.counts) {
            self.state.under_way.fetch_sub(1, Ordering::AcqRel);
            self.state.touch();
        }
    }
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.rest();
    }
}

impl State {
    fn begin(&self) -> Busy<'_> {
        self.under_way.fetch_add(1, Ordering::AcqRel);
        Busy { state: self, counts: true }
    }

    fn touch(&self) {
        *self.last.lock() = Some(Instant::now());
    }

    pub(super) fn is_idle(&self) -> bool {
        self.under_way.load(Ordering::Acquire) == 0
    }
}

impl browser::Traffic for PageOrigin<'_> {
    fn is_quiet(&self, span: Duration) -> bool {
        self.state.is_idle() && self.state.last.lock().is_none_or(|last| last.elapsed() >= span)
    }

    fn touch(&self) {
        self.state.touch();
    }

    fn is_over(&self) -> bool {
        self.state.over.lock().is_some()
    }
}

/// Why a request goes no further.
enum Stop {
    Refused(String),
    Failed(String),
}

impl Origin for PageOrigin<'_> {
    async fn serve(&self, asked: Asked, to: &mut Client) -> io::Result<After> {
        let mut busy = self.state.begin();
        let kind = kind_of(&asked);
        let mut info = PageRequest {
            url: asked.url.clone(),
            method: asked.method.clone(),
            kind,
            ..PageRequest::default()
        };
        let after = match self.answer(&asked, to, &mut info, &mut busy).await {
            Ok(after) => after?,
            Err(stop) => {
                let (source, status, word, reason) = match stop {
                    Stop::Refused(reason) => (Source::Refused, 403, "Forbidden", reason),
                    Stop::Failed(reason) => (Source::Failed, 502, "Bad Gateway", reason),
                };
                info.from = source;
                let written = to.answer(status, word, &reason).await;
                info.reason = Some(reason);
                self.note(info);
                return written.map(|()| After::Keep);
            }
        };
        self.note(info);
        Ok(after)
    }

    fn odd(&self, what: &str, why: &str) {
        let reason = Some(why.to_owned());
        self.note(PageRequest {
            url: what.to_owned(),
            from: Source::Refused,
            reason,
            ..PageRequest::default()
        });
    }
}

impl PageOrigin<'_> {
    fn note(&self, mut info: PageRequest) {
        info.url.truncate(info.url.floor_char_boundary(NOTED_URL_BYTES_MAX));
        let mut infos = self.state.infos.lock();
        // Beyond its limit a page may go on asking: what it was refused then does not take the place of
        // what was asked for.
        if info.from != Source::Refused || infos.len() <= self.settings.limits.requests as usize {
            infos.push(info);
        }
    }

    /// B5: those that the browser was told not to send.
    pub(super) fn note_beacons(&self, urls: &[String]) {
        for url in urls {
            let (method, kind) = ("POST".to_owned(), "ping".to_owned());
            let reason = Some(policy::requisite::BEACON.to_owned());
            let from = Source::Refused;
            self.note(PageRequest { url: url.clone(), method, kind, from, reason, ..PageRequest::default() });
        }
    }

    fn over(&self, why: String) -> Stop {
        self.state.over.lock().get_or_insert_with(|| why.clone());
        Stop::Refused(why)
    }

    async fn answer(
        &self,
        asked: &Asked,
        to: &mut Client,
        info: &mut PageRequest,
        busy: &mut Busy<'_>,
    ) -> Result<io::Result<After>, Stop> {
        let is_get = asked.method == "GET";
        if is_get && self.is_document(asked) {
            info.from = Source::Document;
            info.kind = "document".to_owned();
            keep::answered(info, self.document);
            return Ok(pass_on(self.document, to).await);
        }
        let limits = &self.settings.limits;
        if self.state.requests.fetch_add(1, Ordering::AcqRel) >= limits.requests {
            return Err(self.over(format!("more than {} requests", limits.requests)));
        }
        let url = CrawlUrl::from_normal(asked.url.as_str()).map_err(|why| Stop::Refused(why.to_string()))?;
        // F39: what nobody is to ask for, a page does not ask for either, be it in the archive or not.
        if let Some(barred) = self.wire.frontier.barred(&self.order.collection, &url) {
            return Err(Stop::Refused(format!("the blacklist holds it: {barred}")));
        }
        let method = asking(asked).method().map_err(|why| Stop::Refused(why.to_owned()))?;
        if method == Method::Get
            && asked.header("range").is_none()
            && let Some((bytes, status)) = self.archived(&url, asked).await
        {
            (info.from, info.status, info.bytes) = (Source::Archive, Some(status), bytes.len() as u64);
            self.state.loaded.lock().insert(asked.url.clone());
            return Ok(to.write(&bytes).await.map(|()| After::Close));
        }
        self.robots_allow(&url).await?;
        let media = (method == Method::Get).then(|| asked.header("range")).flatten();
        if let Some(range) = media
            && let Some(whole) = self.media(&url, asked, info).await?
        {
            return Ok(slice(&whole, range, to).await);
        }
        self.fetch(&url, method, asked, to, info, busy).await
    }

    /// B3: the navigation, and whoever asks for the same with the same cookies.
    fn is_document(&self, asked: &Asked) -> bool {
        if !self.state.navigated.swap(true, Ordering::AcqRel) {
            return true;
        }
        asked.url == self.order.url.as_str()
            && asked.header("range").is_none()
            && asked.header("cookie") == self.cookie.as_deref()
    }

    /// B9.
    async fn robots_allow(&self, url: &CrawlUrl) -> Result<(), Stop> {
        if self.settings.robots_requisites == RobotsRequisites::Ignore {
            return Ok(());
        }
        let Some(agent) = agent(&self.order.plan.robots, self.manner) else { return Ok(()) };
        let server = frontier::server_of(url).to_owned();
        // One of the page's requests asks for it, the others wait for that one.
        let turn = Arc::clone(self.state.servers.lock().entry(server).or_default());
        let _turn = turn.lock().await;
        loop {
            let asker = self.wire.asker(self.order, self.manner, agent);
            let ruling = match self.wire.robots.ask(&asker, url).await {
                Ok(Told::Known(ruling)) => Some(ruling),
                Ok(Told::Read(reading, ruling)) => {
                    if let Some((exchange, dns)) = &reading.exchange {
                        self.keep_aside(exchange, dns.as_ref());
                    }
                    ruling
                }
                Ok(Told::Deferred(until)) => {
                    let wait = until.since(self.wire.frontier.now()).0.max(10);
                    let wake = Instant::now() + Duration::from_millis(wait);
                    if wake >= self.deadline {
                        return Err(Stop::Refused("its robots.txt could not be had in time".to_owned()));
                    }
                    tokio::time::sleep_until(wake).await;
                    None
                }
                Err(Failure::Fetch(error)) => return Err(Stop::Failed(error.reason)),
                Err(Failure::Local(reason) | Failure::Browser(reason)) => {
                    self.state.fault.lock().get_or_insert_with(|| reason.clone());
                    return Err(Stop::Failed(reason));
                }
            };
            match ruling {
                Some(ruling) if ruling.allowed => return Ok(()),
                Some(ruling) => {
                    let because = ruling.because.unwrap_or_else(|| "robots.txt denies it".to_owned());
                    return Err(Stop::Refused(because));
                }
                None => {}
            }
        }
    }
}

/// As far as B5 asks.
fn asking(asked: &Asked) -> Asking<'_> {
    Asking {
        method: &asked.method,
        upgrade: asked.upgrade.as_deref(),
        mode: asked.header("sec-fetch-mode"),
        destination: asked.header("sec-fetch-dest"),
        ping_to: asked.header("ping-to"),
    }
}

/// What the browser wants it for. To servers that are not trustworthy it does not say.
fn kind_of(asked: &Asked) -> String {
    let says = asked.header("sec-fetch-dest").filter(|dest| *dest != "empty");
    let accepts = asked.header("accept").unwrap_or_default();
    match says {
        Some(dest) => dest.to_owned(),
        None if asked.upgrade.is_some() => "websocket".to_owned(),
        None if accepts.starts_with("text/html") => "iframe".to_owned(),
        None if accepts.starts_with("text/css") => "style".to_owned(),
        None if accepts.starts_with("image/") => "image".to_owned(),
        None if accepts.starts_with("text/event-stream") => "eventsource".to_owned(),
        None if asked.header("sec-fetch-dest").is_some() => "fetch".to_owned(),
        None => "other".to_owned(),
    }
}
