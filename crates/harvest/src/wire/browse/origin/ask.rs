//! Asking the web on behalf of a page: within its limits, through the gate of the host (B8), passed on
//! while it comes.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use net::exchange::{Exchange, Truncated};
use net::http::{FetchLimits, Fetched, Live, Method, Request, check_header};
use net::proxy::{After, Asked, Client, tunnel};
use policy::time::Span;
use policy::url::CrawlUrl;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use super::super::gate::Leave;
use super::serve::{Passed, after, announced, pass_on};
use super::{Busy, Media, PageOrigin, Stop};
use crate::page_info::{PageRequest, Source};
use crate::wire::manner::limits;

/// Pieces of an answer that the browser has not taken yet.
const PIECES: usize = 16;

impl PageOrigin<'_> {
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
        // Workers that belong to no tab say what the browser would say by itself.
        let own = asked.headers.iter().map(|(name, value)| match name.as_str() {
            name if name.eq_ignore_ascii_case("user-agent") => (name, self.manner.user_agent.as_str()),
            name => (name, value.as_str()),
        });
        let own = own.filter(|(name, _)| !is_given(name) && (range || !name.eq_ignore_ascii_case("range")));
        let says_none = asked.header("accept-language").is_none() && asked.method != "OPTIONS";
        let language = self.settings.language.as_deref();
        let language = language.filter(|_| says_none && !is_given("accept-language"));
        let own = own.chain(language.map(|language| ("Accept-Language", language)));
        let all = own.chain(given.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        all.filter(|(name, value)| check_header(name, value).is_ok()).collect()
    }

    /// M5: an order that is another's by now asks nobody.
    fn held(&self) -> Result<(), Stop> {
        let held = self.order.is_held(self.wire.frontier.now());
        if held { Ok(()) } else { Err(Stop::Refused("the page's time is over".to_owned())) }
    }

    /// F38: the windows of a host hold for what pages need of it, too.
    fn open(&self, url: &CrawlUrl) -> Result<(), Stop> {
        let now = self.wire.frontier.now();
        self.wire.frontier.peek_catalog(|catalog| {
            let hours = catalog.politeness(url.site()).hours();
            match hours.is_open(now) {
                true => Ok(()),
                false => Err(Stop::Refused(format!("its host is asked only within its windows: {hours}"))),
            }
        })
    }

    async fn leave(&self, url: &CrawlUrl) -> Result<Leave, Stop> {
        let left = || Stop::Refused("its host asked to be left alone for now".to_owned());
        let leave = self.gates.enter(url.host()).await.ok_or_else(left)?;
        self.held()?;
        self.open(url)?;
        Ok(leave)
    }

    /// B6: what a part is asked of, if it is not too large; what is noted is the part.
    pub(super) async fn media(
        &self,
        url: &CrawlUrl,
        asked: &Asked,
        info: &mut PageRequest,
    ) -> Result<Option<Arc<Exchange>>, Stop> {
        let known = Arc::clone(self.state.media.lock().entry(asked.url.clone()).or_default());
        // One of the page's requests asks for it, the others wait for that one.
        let mut known = known.lock().await;
        if let Media::Unknown = *known {
            let (media, exchange) = self.whole_media(url, asked, info).await?;
            *known = media;
            if let Media::Unknown = *known {
                return Ok(exchange);
            }
        }
        let Media::Whole(whole) = &*known else { return Ok(None) };
        info.status = Some(206);
        Ok(Some(Arc::clone(whole)))
    }

    /// Asked for whole, up to its limit.
    async fn whole_media(
        &self,
        url: &CrawlUrl,
        asked: &Asked,
        info: &mut PageRequest,
    ) -> Result<(Media, Option<Arc<Exchange>>), Stop> {
        let limits = self.limits()?;
        let limits = FetchLimits { bytes: limits.bytes.min(self.settings.limits.media_bytes), ..limits };
        let leave = self.leave(url).await?;
        let (tap, mut pieces) = mpsc::channel(PIECES);
        let (enough, stop) = watch::channel(false);
        let live = Live { tap, stop };
        let headers = self.headers(asked, false);
        let way = self.wire.way(&self.order.collection, url);
        let request = Request { live: Some(&live), way: &way, ..Request::get(url, &headers, &limits) };
        let fetch = self.wire.client.fetch(&request);
        tokio::pin!(fetch);
        let mut page_ends = self.stop.subscribe();
        let mut too_large = false;
        let Fetched { result, dns } = loop {
            tokio::select! {
                biased;
                // What says itself that it is too much need not come.
                Some(piece) = pieces.recv() => {
                    pieces.close();
                    too_large |= announced(&piece).is_some_and(|length| length > limits.bytes);
                    if too_large {
                        enough.send_replace(true);
                    }
                }
                _ = page_ends.wait_for(|ends| *ends), if !*enough.borrow() => {
                    enough.send_replace(true);
                }
                fetched = &mut fetch => break fetched,
            }
        };
        drop(leave);
        let exchange = result.map_err(|error| Stop::Failed(error.reason))?;
        self.took(exchange.response.len());
        if too_large || exchange.truncated == Some(Truncated::Length) {
            return Ok((Media::TooLarge, None));
        }
        self.keep(url, Method::Get, asked, &exchange, dns.as_ref(), info).await;
        let whole = exchange.head.status == 200
            && exchange.truncated.is_none()
            && exchange.head.all("content-encoding").next().is_none();
        let exchange = Arc::new(exchange);
        Ok((if whole { Media::Whole(Arc::clone(&exchange)) } else { Media::Unknown }, Some(exchange)))
    }

    /// B11: so much came over the wire. Beyond the limit, what is under way ends where it is.
    fn took(&self, bytes: u64) {
        let most = self.settings.limits.bytes;
        if self.state.bytes.fetch_add(bytes, Ordering::AcqRel).saturating_add(bytes) > most {
            self.over(format!("more than {most} bytes"));
            self.stop.send_replace(true);
        }
    }

    pub(super) async fn fetch(
        &self,
        url: &CrawlUrl,
        method: Method,
        asked: &Asked,
        to: &mut Client,
        info: &mut PageRequest,
        busy: &mut Busy<'_>,
    ) -> Result<io::Result<After>, Stop> {
        let limits = self.limits()?;
        let leave = self.leave(url).await?;
        let (tap, mut pieces) = mpsc::channel(PIECES);
        let live = Live { tap, stop: self.stop.subscribe() };
        let headers = self.headers(asked, true);
        let way = self.wire.way(&self.order.collection, url);
        let get = Request::get(url, &headers, &limits);
        let request = Request { method, body: &asked.body, live: Some(&live), way: &way, ..get };
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
                    self.took(piece.len() as u64);
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
            self.took(piece.len() as u64);
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
        // What came after the browser had hung up.
        self.took(exchange.response.len().saturating_sub(passed.bytes));
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
        info: &mut PageRequest,
        busy: &mut Busy<'_>,
    ) -> Result<io::Result<After>, Stop> {
        let (Fetched { result, dns }, upgraded) =
            self.wire.client.upgrade(&Request { live: None, ..*request }).await;
        let exchange = result.map_err(|error| Stop::Failed(error.reason))?;
        self.took(exchange.response.len());
        self.keep(url, Method::Upgrade, asked, &exchange, dns.as_ref(), info).await;
        let passed = pass_on(&exchange, to).await;
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
}
