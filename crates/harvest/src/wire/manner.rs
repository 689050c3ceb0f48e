//! How a collection asks: what it says of itself, whose rules of robots.txt it obeys, and how much it
//! takes.

use std::sync::atomic::Ordering;

use frontier::ports::Order;
use net::exchange::Exchange;
use net::http::FetchLimits;
use policy::browser::{BrowserProgram, BrowserSettings, Engine as Engines};
use policy::model::{Collection, Dedup, RobotsPolicy};
use policy::schedule::RETRY_AFTER_MAX;
use policy::time::Span;
use policy::url::{CrawlUrl, Scheme, UrlRules};
use policy::way::Way;

use super::WireFetcher;
use super::identity::product_token;

/// What the catalog says about how to ask.
pub(super) struct Manner {
    /// As it is sent.
    pub(super) user_agent: String,
    /// The name by which robots.txt knows us.
    token: String,
    pub(super) collection: Option<Collection>,
    pub(super) rules: UrlRules,
    pub(super) robots_cache: Span,
    pub(super) program: BrowserProgram,
    /// A17: of the URL's host.
    pub(super) way: Way,
}

impl Manner {
    /// How the collection's browser is set up; none if it has none.
    pub(super) fn browser(&self) -> Option<&BrowserSettings> {
        let collection = self.collection.as_ref()?;
        (collection.engine == Engines::Browser).then_some(&collection.browser)
    }

    /// A16: whether a payload is stored once whatever its URL.
    pub(super) fn dedup(&self) -> bool {
        self.collection.as_ref().is_some_and(|collection| collection.dedup == Dedup::Payload)
    }

    /// Those of the collection.
    pub(super) fn headers(&self) -> &[(String, String)] {
        self.collection.as_ref().map_or(&[], |collection| &collection.headers)
    }
}

impl WireFetcher {
    /// B2: what the browser says of itself, with who asks and how to reach them (A1).
    pub(super) async fn as_browser(&self, manner: &mut Manner) {
        let Some(settings) = manner.browser() else { return };
        let own = match &settings.user_agent {
            Some(own) => own.clone(),
            None => self.engine.user_agent().await.unwrap_or_default(),
        };
        if !own.is_empty() && !own.contains(&manner.user_agent) {
            manner.user_agent = format!("{own} {}", manner.user_agent);
        }
    }

    /// A17: by which way a collection asks for a URL.
    pub(super) fn way(&self, collection: &str, url: &CrawlUrl) -> Way {
        self.frontier.peek_catalog(|catalog| catalog.way(collection, url.site()))
    }

    pub(super) fn manner(&self, order: &Order) -> Manner {
        self.frontier.peek_catalog(|catalog| {
            let collection = catalog.collection(&order.collection).cloned();
            let settings = catalog.settings();
            let identity = self.who.said.with(settings);
            self.who.is_reachable.store(identity.is_reachable(), Ordering::Relaxed);
            let user_agent = identity.user_agent(collection.as_ref());
            Manner {
                token: product_token(&user_agent).to_owned(),
                user_agent,
                collection,
                rules: catalog.url_rules().clone(),
                robots_cache: settings.robots_cache,
                program: settings.browser.clone(),
                way: catalog.way(&order.collection, order.url.site()),
            }
        })
    }
}

/// Browsers unpack no more than that where a connection is not encrypted.
pub(super) fn encodings(order: &Order, manner: &Manner) -> &'static str {
    match order.url.scheme() {
        Scheme::Http if manner.browser().is_some() => "gzip, deflate",
        _ => "gzip, deflate, br, zstd",
    }
}

/// The name whose rules are obeyed; none: robots are not asked.
pub(super) fn agent<'a>(policy: &'a RobotsPolicy, manner: &'a Manner) -> Option<&'a str> {
    match policy {
        RobotsPolicy::Ignore => None,
        RobotsPolicy::Obey => Some(&manner.token),
        RobotsPolicy::ObeyAs(agent) => Some(agent),
    }
}

pub(super) fn limits(order: &Order) -> FetchLimits {
    let limits = &order.plan.limits;
    FetchLimits {
        connect: limits.connect_timeout,
        first_byte: limits.first_byte_timeout,
        total: limits.total_timeout,
        bytes: limits.max_bytes,
        header_bytes: limits.max_header_bytes,
    }
}

/// Seconds, or a date, of a 429 or 503.
pub(super) fn retry_after(exchange: &Exchange) -> Option<Span> {
    if !matches!(exchange.head.status, 429 | 503) {
        return None;
    }
    let value = exchange.head.header("retry-after")?;
    let span = match value.trim().parse::<u64>() {
        Ok(seconds) => Span(seconds.saturating_mul(1000)),
        Err(_) => net::cookies::date::parse(value.trim())?.since(exchange.at),
    };
    Some(span.min(RETRY_AFTER_MAX))
}
