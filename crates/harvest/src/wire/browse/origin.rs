//! What becomes of each request of a page (B4–B10): whether anybody is asked, what is recorded, and
//! what the browser is given.
//!
//! The first request of a page is its navigation, and gets the answer that was recorded before the
//! tab was opened (B3). Everything else passes, in this order: the page's limits, the method, the
//! archive (what was captured a moment ago is not asked for again), robots.txt, the gate of its host,
//! the guard of the client. Whatever stops it is noted with its reason, and the browser gets a 403 or
//! 502 instead. What comes over the wire is passed on while it comes, recorded, and packed at once.

use std::collections::{BTreeSet, HashMap};
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use frontier::ports::Order;
use net::dns::DnsRecord;
use net::exchange::{Exchange, Framing, Truncated};
use net::http::{FetchLimits, Fetched, Live, Method, Request, body, check_header};
use net::proxy::{After, Asked, Client, Origin, tunnel};
use net::warc::{Digest, Prepared, Reader, StoredRecord, digest, open_file};
use net::{http, surt};
use parking_lot::Mutex;
use policy::browser::{BrowserSettings, RobotsRequisites};
use policy::time::Span;
use policy::url::CrawlUrl;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use super::super::fetch::{Manner, WireFetcher, agent, limits, retry_after};
use super::super::pack::Requisite;
use super::super::robots::{Asked as Told, Failure};
use super::gate::Gates;
use super::post;

/// Pieces of an answer that the browser has not taken yet.
const PIECES: usize = 16;
/// Of what is served from the archive.
const ARCHIVED_BYTES_MAX: u64 = 16 << 20;
/// Of a request record that is looked at for its cookies.
const REQUEST_BYTES_MAX: u64 = 64 << 10;
/// Of a body that a page sent, as far as an index needs it.
const POSTED_BYTES_MAX: usize = 16 << 10;

/// One request of a page, as `urn:pageinfo:` tells it.
#[derive(Clone, Debug, Default)]
pub(super) struct Info {
    pub(super) url: String,
    pub(super) method: String,
    pub(super) status: Option<u16>,
    pub(super) mime: Option<String>,
    pub(super) kind: String,
    pub(super) bytes: u64,
    pub(super) from: Source,
    pub(super) record: Option<String>,
    pub(super) reason: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Source {
    Document,
    #[default]
    Web,
    Archive,
    Refused,
    Failed,
}

impl Source {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Source::Document => "document",
            Source::Web => "web",
            Source::Archive => "archive",
            Source::Refused => "refused",
            Source::Failed => "failed",
        }
    }
}

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
    pub(super) infos: Mutex<Vec<Info>>,
    pub(super) groups: Mutex<Vec<Prepared>>,
    pub(super) loaded: Mutex<BTreeSet<String>>,
    pub(super) retry_after: Mutex<Option<Span>>,
    /// A fault on this side.
    pub(super) fault: Mutex<Option<String>>,
    media: Mutex<HashMap<String, Arc<Exchange>>>,
    servers: Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>,
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
        let mut info = Info { url: asked.url.clone(), method: asked.method.clone(), kind, ..Info::default() };
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
        self.note(Info { url: what.to_owned(), from: Source::Refused, reason, ..Info::default() });
    }
}

impl PageOrigin<'_> {
    fn note(&self, info: Info) {
        let mut infos = self.state.infos.lock();
        // Beyond its limit a page may go on asking.
        if infos.len() <= self.settings.limits.requests as usize {
            infos.push(info);
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
        info: &mut Info,
        busy: &mut Busy<'_>,
    ) -> Result<io::Result<After>, Stop> {
        let is_get = asked.method == "GET";
        if is_get && self.is_document(asked) {
            info.from = Source::Document;
            info.status = Some(self.document.head.status);
            return Ok(self.pass_on(self.document, to).await);
        }
        let limits = &self.settings.limits;
        if self.state.requests.fetch_add(1, Ordering::AcqRel) >= limits.requests {
            return Err(self.over(format!("more than {} requests", limits.requests)));
        }
        let url = CrawlUrl::from_normal(asked.url.as_str()).map_err(|why| Stop::Refused(why.to_string()))?;
        let method = method_of(asked).map_err(|why| Stop::Refused(why.to_owned()))?;
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
        if let Some(range) = media {
            let whole = self.state.media.lock().get(&asked.url).cloned();
            let whole = match whole {
                Some(whole) => Some(whole),
                None => self.whole_media(&url, asked, info).await?,
            };
            if let Some(whole) = whole {
                info.status = Some(206);
                return Ok(slice(&whole, range, to).await);
            }
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

    async fn pass_on(&self, exchange: &Exchange, to: &mut Client) -> io::Result<After> {
        let mut reader = exchange.response.reader(0);
        let mut piece = vec![0; 64 << 10];
        loop {
            let read = reader.read(&mut piece)?;
            if read == 0 {
                return Ok(After::Close);
            }
            to.write(&piece[..read]).await?;
        }
    }

    /// B10: what was captured in this collection a moment ago, for the same cookies.
    async fn archived(&self, url: &CrawlUrl, asked: &Asked) -> Option<(Vec<u8>, u16)> {
        let dir = self.wire.archive_dir()?;
        let fresh = self.settings.fresh;
        let now = self.wire.frontier.now();
        let key = surt::key(url.as_str());
        let found = self.wire.frontier.original(&self.order.collection, &key, url.as_str()).await.ok()??;
        let (time, capture) = found;
        if fresh == Span::ZERO || now.since(time) > fresh || time > now {
            return None;
        }
        let path = dir.join(&capture.file);
        let (cookie, status) = (asked.header("cookie"), capture.status);
        let read = || -> io::Result<Option<Vec<u8>>> {
            let record = StoredRecord::open(open_file(&path)?, capture.offset, capture.length)?;
            if record.head.kind() != "response" || record.head.get("WARC-Truncated").is_some() {
                return Ok(None);
            }
            let mut bytes = Vec::new();
            record.take(ARCHIVED_BYTES_MAX + 1).read_to_end(&mut bytes)?;
            let mut file = open_file(&path)?;
            io::Seek::seek(&mut file, io::SeekFrom::Start(capture.offset + capture.length))?;
            let mut reader = Reader::new(file.take(REQUEST_BYTES_MAX)).map_err(io::Error::other)?;
            let head = reader.next().map_err(io::Error::other)?;
            if head.is_none_or(|head| head.kind() != "request") {
                return Ok(None);
            }
            let mut request = Vec::new();
            while let Some(piece) = reader.piece().map_err(io::Error::other)? {
                request.extend_from_slice(piece);
            }
            let sent = String::from_utf8_lossy(&request);
            let sent = sent.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                name.eq_ignore_ascii_case("cookie").then(|| value.trim().to_owned())
            });
            let is_same = sent.as_deref() == cookie && bytes.len() as u64 <= ARCHIVED_BYTES_MAX;
            Ok(is_same.then_some(bytes))
        };
        // What cannot be read is asked for.
        Some((read().ok()??, status))
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

    fn keep_aside(&self, exchange: &Exchange, dns: Option<&DnsRecord>) {
        match self.wire.packed_aside(exchange, dns) {
            Ok(Some(group)) => self.state.groups.lock().push(group),
            Ok(None) => {}
            Err(problem) => *self.state.fault.lock() = Some(problem.to_string()),
        }
    }

    fn limits(&self) -> Result<FetchLimits, Stop> {
        let most = self.settings.limits.bytes;
        let left = most.saturating_sub(self.state.bytes.load(Ordering::Acquire));
        if left == 0 {
            return Err(self.over(format!("more than {most} bytes")));
        }
        let limits = limits(self.order);
        let time = self.deadline.saturating_duration_since(Instant::now()).as_millis();
        let total = limits.total.min(Span(u64::try_from(time).unwrap_or(u64::MAX).max(1)));
        Ok(FetchLimits { bytes: limits.bytes.min(left), total, ..limits })
    }

    /// The headers of the browser, with those of the collection in their place.
    fn headers<'h>(&'h self, asked: &'h Asked, range: bool) -> Vec<(&'h str, &'h str)> {
        let given = self.manner.headers();
        let is_given = |name: &str| given.iter().any(|(own, _)| own.eq_ignore_ascii_case(name));
        let own = asked.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let own = own.filter(|(name, _)| !is_given(name) && (range || !name.eq_ignore_ascii_case("range")));
        let all = own.chain(given.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        all.filter(|(name, value)| check_header(name, value).is_ok()).collect()
    }

    /// M5: an order that is another's by now asks nobody.
    fn held(&self) -> Result<(), Stop> {
        let held = self.order.is_held(self.wire.frontier.now());
        if held { Ok(()) } else { Err(Stop::Refused("the page's time is over".to_owned())) }
    }

    async fn leave(&self, url: &CrawlUrl) -> Result<super::gate::Leave, Stop> {
        let left = || Stop::Refused("its host asked to be left alone for now".to_owned());
        let leave = self.gates.enter(url.host()).await.ok_or_else(left)?;
        self.held()?;
        Ok(leave)
    }

    /// B6: asked for whole; none where that is too much.
    async fn whole_media(
        &self,
        url: &CrawlUrl,
        asked: &Asked,
        info: &mut Info,
    ) -> Result<Option<Arc<Exchange>>, Stop> {
        let limits = self.limits()?;
        let limits = FetchLimits { bytes: limits.bytes.min(self.settings.limits.media_bytes), ..limits };
        let leave = self.leave(url).await?;
        let (tap, _) = mpsc::channel(1);
        let live = Live { tap, stop: self.stop.subscribe() };
        let headers = self.headers(asked, false);
        let request = Request { live: Some(&live), ..Request::get(url, &headers, &limits) };
        let Fetched { result, dns } = self.wire.client.fetch(&request).await;
        drop(leave);
        let exchange = result.map_err(|error| Stop::Failed(error.reason))?;
        if exchange.truncated == Some(Truncated::Length) {
            return Ok(None);
        }
        self.keep(url, Method::Get, asked, &exchange, dns.as_ref(), info).await;
        let whole = exchange.head.status == 200
            && exchange.truncated.is_none()
            && exchange.head.all("content-encoding").next().is_none();
        let exchange = Arc::new(exchange);
        if whole {
            self.state.media.lock().insert(asked.url.clone(), Arc::clone(&exchange));
        }
        Ok(Some(exchange))
    }

    async fn fetch(
        &self,
        url: &CrawlUrl,
        method: Method,
        asked: &Asked,
        to: &mut Client,
        info: &mut Info,
        busy: &mut Busy<'_>,
    ) -> Result<io::Result<After>, Stop> {
        let limits = self.limits()?;
        let leave = self.leave(url).await?;
        let (tap, mut pieces) = mpsc::channel(PIECES);
        let live = Live { tap, stop: self.stop.subscribe() };
        let headers = self.headers(asked, true);
        let request =
            Request { method, body: &asked.body, live: Some(&live), ..Request::get(url, &headers, &limits) };
        if method == Method::Upgrade {
            return self.upgrade(url, &request, asked, to, info, busy).await;
        }
        let fetch = self.wire.client.fetch(&request);
        tokio::pin!(fetch);
        let mut passed = Passed::default();
        let Fetched { result, dns } = loop {
            tokio::select! {
                biased;
                Some(piece) = pieces.recv(), if !passed.hung_up => {
                    passed.piece(&piece, to).await;
                    if passed.hung_up {
                        pieces.close();
                    }
                    if passed.is_event_stream {
                        busy.rest();
                    }
                }
                fetched = &mut fetch => break fetched,
            }
        };
        while let Ok(piece) = pieces.try_recv() {
            passed.piece(&piece, to).await;
        }
        drop(leave);
        let exchange = match result {
            Ok(exchange) => exchange,
            Err(error) if passed.bytes == 0 => return Err(Stop::Failed(error.reason)),
            Err(error) => {
                (info.from, info.reason) = (Source::Failed, Some(error.reason));
                return Ok(Ok(After::Close));
            }
        };
        self.keep(url, method, asked, &exchange, dns.as_ref(), info).await;
        Ok(if passed.hung_up { Err(io::ErrorKind::BrokenPipe.into()) } else { Ok(after(&exchange, method)) })
    }

    /// B7: the handshake is archived, frames are counted.
    async fn upgrade(
        &self,
        url: &CrawlUrl,
        request: &Request<'_>,
        asked: &Asked,
        to: &mut Client,
        info: &mut Info,
        busy: &mut Busy<'_>,
    ) -> Result<io::Result<After>, Stop> {
        let (Fetched { result, dns }, upgraded) =
            self.wire.client.upgrade(&Request { live: None, ..*request }).await;
        let exchange = result.map_err(|error| Stop::Failed(error.reason))?;
        self.keep(url, Method::Upgrade, asked, &exchange, dns.as_ref(), info).await;
        let passed = self.pass_on(&exchange, to).await;
        let Some(upgraded) = upgraded else { return Ok(passed) };
        busy.rest();
        if passed.is_ok() {
            let mut stop = self.stop.subscribe();
            match tunnel(to, upgraded, &mut stop).await {
                Ok(counted) => {
                    let (sent, received, bytes) = (counted.sent, counted.received, counted.bytes);
                    info.reason = Some(format!("{sent} frames sent, {received} received, {bytes} bytes"));
                }
                Err(problem) => info.reason = Some(problem.to_string()),
            }
        }
        Ok(Ok(After::Close))
    }

    /// Records what came of a request, and packs it.
    async fn keep(
        &self,
        url: &CrawlUrl,
        method: Method,
        asked: &Asked,
        exchange: &Exchange,
        dns: Option<&DnsRecord>,
        info: &mut Info,
    ) {
        let head = &exchange.head;
        info.status = Some(head.status);
        info.bytes = exchange.response.len();
        info.mime = head
            .header("content-type")
            .map(|value| value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase());
        self.state.bytes.fetch_add(exchange.response.len(), Ordering::AcqRel);
        if let Some(span) = retry_after(exchange) {
            self.gates.close(url.host(), Duration::from_millis(span.0));
            if url.host() == self.order.host {
                let mut longest = self.state.retry_after.lock();
                *longest = longest.max(Some(span));
            }
        }
        // They say what a GET would say, or nothing.
        if matches!(method, Method::Head | Method::Options) {
            return;
        }
        if method == Method::Get {
            self.state.loaded.lock().insert(asked.url.clone());
        }
        let packed = async {
            let payload = digest::payload(exchange)?;
            let indexed_as = (method == Method::Post).then(|| {
                let kind = asked.header("content-type").unwrap_or_default();
                let sent = &asked.body[..asked.body.len().min(POSTED_BYTES_MAX)];
                post::indexed_as(&asked.url, kind, sent)
            });
            let original = match method {
                Method::Get if head.status == 200 => self.same_payload(url, payload).await,
                _ => None,
            };
            self.wire.packed_requisite(&Requisite {
                exchange,
                dns,
                payload,
                original: original.as_ref(),
                page_id: &self.page_id,
                kind: &info.kind,
                indexed_as: indexed_as.as_deref(),
            })
        };
        match packed.await {
            Ok(Some((group, id))) => {
                info.record = Some(id);
                self.state.groups.lock().push(group);
            }
            Ok(None) => {}
            Err(problem) => *self.state.fault.lock() = Some(problem.to_string()),
        }
    }

    /// B10: an equal payload becomes a revisit.
    async fn same_payload(&self, url: &CrawlUrl, payload: Digest) -> Option<super::super::pack::Original> {
        let original = self.wire.captured(&self.order.collection, url.as_str()).await?;
        (original.payload == payload).then_some(original)
    }
}

/// What the browser was given so far.
#[derive(Default)]
struct Passed {
    bytes: u64,
    hung_up: bool,
    is_event_stream: bool,
}

impl Passed {
    async fn piece(&mut self, piece: &[u8], to: &mut Client) {
        if self.bytes == 0
            && let Some(parsed) = http::head::parse(piece)
        {
            let kind = parsed.head.header("content-type").unwrap_or_default().to_ascii_lowercase();
            self.is_event_stream = kind.trim_start().starts_with("text/event-stream");
        }
        self.bytes += piece.len() as u64;
        self.hung_up = self.hung_up || to.write(piece).await.is_err();
    }
}

/// Whether the browser's connection goes on.
fn after(exchange: &Exchange, method: Method) -> After {
    let head = &exchange.head;
    let has_end = exchange.framing == Framing::Chunked
        || head.all("content-length").next().is_some()
        || matches!(head.status, 204 | 304)
        || method == Method::Head;
    let closes = head.all("connection").any(|value| value.eq_ignore_ascii_case(b"close"));
    if has_end && !closes && exchange.truncated.is_none() { After::Keep } else { After::Close }
}

/// B5.
fn method_of(asked: &Asked) -> Result<Method, &'static str> {
    let is_beacon = asked.header("sec-fetch-mode") == Some("no-cors")
        && matches!(asked.header("sec-fetch-dest"), None | Some("empty"));
    match asked.method.as_str() {
        "GET" if asked.upgrade.as_deref().is_some_and(|to| to.eq_ignore_ascii_case("websocket")) => {
            Ok(Method::Upgrade)
        }
        "GET" => Ok(Method::Get),
        "HEAD" => Ok(Method::Head),
        "OPTIONS" => Ok(Method::Options),
        "POST" if asked.header("ping-to").is_some() || is_beacon => Err("a beacon"),
        "POST" => Ok(Method::Post),
        _ => Err("a method that is not asked with"),
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

/// B6: the part that is asked for, of a whole answer.
async fn slice(whole: &Exchange, range: &str, to: &mut Client) -> io::Result<After> {
    if whole.head.status != 200 || whole.head.all("content-encoding").next().is_some() {
        let mut all = Vec::new();
        whole.response.reader(0).read_to_end(&mut all)?;
        to.write(&all).await?;
        return Ok(After::Close);
    }
    let mut length = 0;
    let mut piece = vec![0; 64 << 10];
    let mut counting = body(whole);
    loop {
        match counting.read(&mut piece)? {
            0 => break,
            read => length += read as u64,
        }
    }
    let Some((first, last)) = part(range, length) else {
        let head = format!(
            "HTTP/1.1 416 Range Not Satisfiable\r\nContent-Range: bytes */{length}\r\nContent-Length: 0\r\n\r\n"
        );
        to.write(head.as_bytes()).await?;
        return Ok(After::Keep);
    };
    let mut head = format!(
        "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes {first}-{last}/{length}\r\nContent-Length: {}\r\nAccept-Ranges: bytes\r\n",
        last - first + 1
    )
    .into_bytes();
    let of_framing = ["content-length", "content-range", "accept-ranges", "transfer-encoding", "connection"];
    for (name, value) in &whole.head.headers {
        if !of_framing.iter().any(|own| own.eq_ignore_ascii_case(name)) {
            head.extend([name.as_bytes(), b": ", value, b"\r\n"].concat());
        }
    }
    head.extend_from_slice(b"\r\n");
    to.write(&head).await?;
    let mut reader = body(whole);
    io::copy(&mut reader.by_ref().take(first), &mut io::sink())?;
    let mut left = reader.take(last - first + 1);
    loop {
        let read = left.read(&mut piece)?;
        if read == 0 {
            return Ok(After::Keep);
        }
        to.write(&piece[..read]).await?;
    }
}

/// First and last byte of a single range; of several, all of it.
fn part(range: &str, length: u64) -> Option<(u64, u64)> {
    let last = length.checked_sub(1)?;
    let Some((from, to)) = range.strip_prefix("bytes=").and_then(|range| range.split_once('-')) else {
        return Some((0, last));
    };
    let (first, end) = match (from.trim().parse::<u64>(), to.trim().parse::<u64>()) {
        (Ok(first), Ok(end)) => (first, end.min(last)),
        (Ok(first), Err(_)) if to.trim().is_empty() => (first, last),
        (Err(_), Ok(0)) => return None,
        (Err(_), Ok(count)) if from.trim().is_empty() => (length.saturating_sub(count), last),
        _ => return Some((0, last)),
    };
    (first <= end).then_some((first, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b6_parts_of_a_whole_are_what_was_asked_for() {
        for (range, length, expected) in [
            ("bytes=0-", 10, Some((0, 9))),
            ("bytes=2-3", 10, Some((2, 3))),
            ("bytes=2-99", 10, Some((2, 9))),
            ("bytes=-3", 10, Some((7, 9))),
            ("bytes=-99", 10, Some((0, 9))),
            ("bytes=10-", 10, None),
            ("bytes=-0", 10, None),
            ("bytes=0-", 0, None),
            ("bytes=1-2,4-5", 10, Some((0, 9))),
            ("lines=1-2", 10, Some((0, 9))),
        ] {
            assert_eq!(part(range, length), expected, "{range} of {length}");
        }
    }

    #[test]
    fn b5_methods_and_beacons() {
        let asked = |method: &str, headers: &[(&str, &str)]| Asked {
            method: method.to_owned(),
            headers: headers.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect(),
            ..Asked::default()
        };
        for (method, headers, expected) in [
            ("GET", &[][..], Ok(Method::Get)),
            ("HEAD", &[], Ok(Method::Head)),
            ("OPTIONS", &[], Ok(Method::Options)),
            ("POST", &[], Ok(Method::Post)),
            ("POST", &[("Sec-Fetch-Mode", "cors"), ("Sec-Fetch-Dest", "empty")], Ok(Method::Post)),
            ("POST", &[("Sec-Fetch-Mode", "no-cors"), ("Sec-Fetch-Dest", "empty")], Err("a beacon")),
            ("POST", &[("Ping-To", "x")], Err("a beacon")),
            ("PUT", &[], Err("a method that is not asked with")),
            ("DELETE", &[], Err("a method that is not asked with")),
        ] {
            assert_eq!(method_of(&asked(method, headers)), expected, "{method} {headers:?}");
        }
        let socket = Asked { upgrade: Some("WebSocket".to_owned()), ..asked("GET", &[]) };
        assert_eq!(method_of(&socket), Ok(Method::Upgrade));
    }
}
