//! Collections that are harvested as a browser sees them (page 7 of the specification).
//!
//! The way of a page: its document is fetched as any other URL is ([`super::fetch`]); if that is a
//! whole HTML answer (B3), the page gets a tab of the [`engine`] when one is free, with a proxy of its
//! own whose [`origin`] answers for the web; the browser goes through its phases; then everything that
//! came is one haul of one order, which is archived and committed together (B18). What was seen
//! becomes links, records and a rendering ([`record`]).

mod engine;
mod gate;
mod jar;
mod origin;
mod post;
mod record;

use std::time::Duration;

use browser::{Browser, Seen, Visit};
pub(super) use engine::Engine;
pub use engine::{NoBrowser, check, is_root, try_out};
use frontier::ports::Order;
use net::exchange::Exchange;
use net::http::head::sent_header;
use net::proxy::Proxy;
use origin::{PageOrigin, State};
use policy::browser::{BrowserSettings, Ending, WhenUnchanged};
use policy::cookies::Update;
pub(super) use record::{Rendered, described};
use tokio::sync::watch;
use tokio::time::Instant;

use super::WireFetcher;
use super::manner::Manner;
use super::robots::Failure;

/// How long what is still under way at a page's end may take to be put in order.
const DRAIN: Duration = Duration::from_secs(1);
/// B15: rows of cookies that are put into a page's context.
const COOKIE_ROWS_MAX: usize = 60;

/// B3: a whole HTML answer that is no attachment.
pub(super) fn is_page(exchange: &Exchange) -> bool {
    let head = &exchange.head;
    let attached = head.header("content-disposition").unwrap_or_default().trim().to_ascii_lowercase();
    let kind = head.header("content-type").unwrap_or_default().to_ascii_lowercase();
    let is_html =
        ["text/html", "application/xhtml+xml"].iter().any(|html| kind.trim_start().starts_with(html));
    head.status == 200 && exchange.truncated.is_none() && is_html && !attached.starts_with("attachment")
}

impl WireFetcher {
    /// Renders a page, if it is one to be rendered: none if its answer stands alone. An error is the
    /// browser's, and the page is to come again.
    pub(super) async fn rendered(
        &self,
        order: &Order,
        manner: &Manner,
        document: &Exchange,
        digest: &str,
        page_id: &str,
    ) -> Result<Option<Rendered>, Failure> {
        let Some(settings) = manner.browser() else { return Ok(None) };
        let unchanged = order.digest.as_deref() == Some(digest);
        if !is_page(document) || (unchanged && settings.when_unchanged == WhenUnchanged::Skip) {
            return Ok(None);
        }
        let before = self.frontier.rendering(&order.collection, order.url.as_str()).await?;
        if before.as_ref().is_some_and(|before| !before.allows(Some(digest))) {
            return Ok(None);
        }
        let tab = self.engine.tab(&manner.program).await;
        let tab = tab.map_err(|problem| Failure::Browser(problem.told()))?;
        let rendered = self.page(order, manner, settings, document, page_id, tab.browser()).await?;
        drop(tab);
        let Some((seen, state, cookies)) = rendered else { return Ok(None) };
        if seen.ending == Ending::BrowserGone && self.engine.try_again(order) {
            return Err(Failure::Browser("the browser went down".to_owned()));
        }
        if let Some(fault) = state.fault.lock().take() {
            return Err(Failure::Local(fault));
        }
        let rendering = record::rendering(&seen, &state, digest, before.as_ref(), self.frontier.now());
        self.told(order, manner, &seen, state, rendering, cookies, page_id).map(Some)
    }

    async fn page(
        &self,
        order: &Order,
        manner: &Manner,
        settings: &BrowserSettings,
        document: &Exchange,
        page_id: &str,
        browser: &Browser,
    ) -> Result<Option<(Seen, State, Vec<Update>)>, Failure> {
        let certificates = self.engine.certificates().map_err(|problem| Failure::Browser(problem.told()))?;
        let proxy = Proxy::open().await?;
        let given = manner.collection.as_ref().map_or(&[][..], |collection| &collection.cookies);
        let hosts = record::named_hosts(order, &manner.rules, document);
        let rows = self.frontier.cookies(&order.collection, &hosts, COOKIE_ROWS_MAX).await?;
        let cookies = jar::into_context(&rows, given, self.frontier.now());
        let (stop, _) = watch::channel(false);
        let origin = PageOrigin {
            wire: self,
            gates: &self.engine.gates,
            order,
            manner,
            settings,
            document,
            page_id: page_id.to_owned(),
            cookie: sent_header(&document.request, "cookie"),
            deadline: Instant::now() + Duration::from_millis(settings.limits.total.0),
            stop,
            state: State::default(),
        };
        let visit = Visit {
            url: order.url.as_str(),
            proxy: proxy.address(),
            settings,
            user_agent: &manner.user_agent,
            cookies: cookies.clone(),
            traffic: &origin,
        };
        let seen = {
            let serving = proxy.serve(&origin, &certificates);
            tokio::pin!(serving);
            let seen = tokio::select! {
                biased;
                seen = browser.see(&visit) => seen,
                () = &mut serving => return Ok(None),
            };
            // What is still coming in is cut off where it is, and kept.
            origin.stop.send_replace(true);
            let drained = async {
                while !origin.state.is_idle() {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
                // Those that nobody waits for end within a turn or two.
                tokio::time::sleep(Duration::from_millis(5)).await;
            };
            tokio::select! {
                biased;
                () = &mut serving => {}
                _ = tokio::time::timeout(DRAIN, drained) => {}
            }
            seen
        };
        origin.note_beacons(&seen.beacons);
        let updates = match &seen.cookies {
            Some(after) => jar::out_of_context(&cookies, after, &order.host, self.frontier.now()),
            None => Vec::new(),
        };
        Ok(Some((seen, origin.state, updates)))
    }
}
