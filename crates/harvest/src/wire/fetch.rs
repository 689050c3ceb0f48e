//! One order: robots, request, answer, links, records.

use std::collections::HashSet;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use frontier::ports::{AnswerFacts, Fetch, Fetcher, Order, Outlink, PageNow, Report};
use frontier::{ErrorKind, Frontier};
use net::cookies::Jar;
use net::decode;
use net::dns::DnsRecord;
use net::exchange::{Exchange, Framing, Head};
use net::extract::{self, Extracted, Page};
use net::http::head::Layout;
use net::http::{
    Client, Dechunk, FetchError, FetchErrorKind, FetchLimits, Fetched, Request, body, check_header,
    is_validator, validator,
};
use net::surt;
use net::warc::{Digest, Prepared, StoredRecord, digest};
use policy::browser::{BrowserProgram, BrowserSettings, Engine as Engines, WhenUnchanged};
use policy::model::{Collection, LinkKind, RobotsPolicy};
use policy::schedule::RETRY_AFTER_MAX;
use policy::time::{Span, Time};
use policy::url::{Scheme, UrlRules};
use policy::walk::{Outcome, Seen};

use super::browse::{Engine, Rendered};
use super::identity::{Identity, product_token};
use super::pack::{Answer, Original, PackedAnswer, Packers, Requisite};
use super::robots::{Asked, Asker, Failure, Reading, RobotsCache, Ruling};

/// Answers up to this size are read for links and packed right away; larger ones where they keep
/// nobody waiting.
const AT_ONCE_BYTES_MAX: u64 = 256 << 10;
/// When a collection whose browser is not to be had is looked at again.
const BROWSER_RETRY: Span = Span::minutes(1);
/// Of a body, decoded, in which the patterns of a walk are looked for.
const LOOKED_AT_BYTES_MAX: u64 = 1 << 20;

pub struct WireFetcher {
    pub(super) frontier: Arc<Frontier>,
    pub(super) client: Client,
    identity: Identity,
    pub(super) robots: RobotsCache,
    /// None: nothing is archived.
    shelf: Option<Arc<Shelf>>,
    pub(super) engine: Engine,
}

/// What is archived, and how.
pub(super) struct Shelf {
    pub(super) packers: Packers,
    /// Where the files of the archive are.
    pub(super) dir: PathBuf,
}

/// What the catalog says about how to ask.
pub(super) struct Manner {
    /// As it is sent.
    pub(super) user_agent: String,
    /// The name by which robots.txt knows us.
    token: String,
    pub(super) collection: Option<Collection>,
    pub(super) rules: UrlRules,
    robots_cache: Span,
    pub(super) program: BrowserProgram,
}

impl Manner {
    /// How the collection's browser is set up; none if it has none.
    pub(super) fn browser(&self) -> Option<&BrowserSettings> {
        let collection = self.collection.as_ref()?;
        (collection.engine == Engines::Browser).then_some(&collection.browser)
    }

    /// Those of the collection.
    pub(super) fn headers(&self) -> &[(String, String)] {
        self.collection.as_ref().map_or(&[], |collection| &collection.headers)
    }
}

impl WireFetcher {
    pub(super) fn new(
        frontier: Arc<Frontier>,
        client: Client,
        identity: Identity,
        shelf: Option<Shelf>,
        engine: Engine,
    ) -> WireFetcher {
        let (robots, shelf) = (RobotsCache::default(), shelf.map(Arc::new));
        WireFetcher { frontier, client, identity, robots, shelf, engine }
    }

    /// Where the files of the archive are; none: nothing is archived.
    pub(super) fn archive_dir(&self) -> Option<&Path> {
        self.shelf.as_ref().map(|shelf| shelf.dir.as_path())
    }

    pub(super) fn packed_aside(
        &self,
        exchange: &Exchange,
        dns: Option<&DnsRecord>,
    ) -> std::io::Result<Option<Prepared>> {
        self.shelf.as_ref().map(|shelf| shelf.packers.aside(exchange, dns)).transpose()
    }

    pub(super) fn packed_requisite(
        &self,
        requisite: &Requisite<'_>,
    ) -> std::io::Result<Option<(Prepared, String)>> {
        self.shelf.as_ref().map(|shelf| shelf.packers.requisite(requisite)).transpose()
    }

    pub(super) fn packed_resources(
        &self,
        resources: &[(String, &str, &[u8])],
        at: Time,
    ) -> std::io::Result<Option<Prepared>> {
        self.shelf.as_ref().map(|shelf| shelf.packers.resources(resources, at)).transpose()
    }

    /// B2: what the browser says of itself, with who asks and how to reach them (A1).
    async fn as_browser(&self, manner: &mut Manner) {
        let Some(settings) = manner.browser() else { return };
        let own = match &settings.user_agent {
            Some(own) => own.clone(),
            None => self.engine.user_agent().await.unwrap_or_default(),
        };
        if !own.is_empty() && !own.contains(&manner.user_agent) {
            manner.user_agent = format!("{own} {}", manner.user_agent);
        }
    }

    pub(super) fn manner(&self, order: &Order) -> Manner {
        self.frontier.peek_catalog(|catalog| {
            let collection = catalog.collection(&order.collection).cloned();
            let user_agent = self.identity.user_agent(collection.as_ref());
            let settings = catalog.settings();
            Manner {
                token: product_token(&user_agent).to_owned(),
                user_agent,
                collection,
                rules: catalog.url_rules().clone(),
                robots_cache: settings.robots_cache,
                program: settings.browser.clone(),
            }
        })
    }

    /// What robots.txt says; none where it is not asked.
    async fn ask_robots(&self, order: &Order, manner: &Manner) -> Result<Option<Asked>, Failure> {
        let Some(agent) = agent(&order.plan.robots, manner) else { return Ok(None) };
        self.robots.ask(&self.asker(order, manner, agent), &order.url).await.map(Some)
    }

    pub(super) fn asker<'a>(&'a self, order: &'a Order, manner: &'a Manner, agent: &'a str) -> Asker<'a> {
        Asker {
            frontier: &self.frontier,
            client: &self.client,
            identity: &self.identity,
            user_agent: &manner.user_agent,
            agent,
            collection: &order.collection,
            unit: &order.unit,
            limits: limits(order),
            cache: manner.robots_cache,
            now: self.frontier.now(),
        }
    }

    /// robots.txt was asked for: what is said of that, and of the URL if it is denied by it.
    fn after_reading(
        &self,
        order: &Order,
        manner: &Manner,
        reading: &Reading,
        ruling: Option<Ruling>,
    ) -> Result<Haul, Failure> {
        let packed = match (&self.shelf, &reading.exchange) {
            (Some(shelf), Some((exchange, dns))) => vec![shelf.packers.aside(exchange, dns.as_ref())?],
            _ => Vec::new(),
        };
        let mut report = match ruling {
            Some(ruling) if !ruling.allowed => denied(&ruling, self.frontier.now()),
            Some(ruling) => Report {
                crawl_delay: ruling.crawl_delay,
                outlinks: self.sitemaps(order, manner, &ruling),
                ..Report::bare(self.frontier.now(), Fetch::RobotsRead)
            },
            None => Report::bare(self.frontier.now(), Fetch::RobotsRead),
        };
        report.response_time = reading.took.unwrap_or(Span::ZERO);
        report.answered = reading.took.is_some() && reading.exchange.is_some();
        Ok((report, packed))
    }

    /// The sitemaps that the collection was not told of yet; from now on it was.
    fn sitemaps(&self, order: &Order, manner: &Manner, ruling: &Ruling) -> Vec<Outlink> {
        if order.walk.is_none()
            && !ruling.sitemaps.is_empty()
            && let Some(agent) = agent(&order.plan.robots, manner)
        {
            self.robots.told(&order.url, agent, &order.collection);
        }
        ruling.sitemaps.iter().map(|url| Outlink { url: url.clone(), kind: LinkKind::Link }).collect()
    }

    async fn request(&self, order: &Order, manner: &Manner, jar: &Jar) -> (Fetched, Option<Original>) {
        let original = self.original(order).await;
        let cookie = jar.header_for(&order.url, self.frontier.now());
        let mut headers = vec![
            ("User-Agent", manner.user_agent.as_str()),
            ("Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"),
            ("Accept-Encoding", encodings(order, manner)),
        ];
        let language = manner.browser().and_then(|browser| browser.language.as_deref());
        headers.extend(language.map(|language| ("Accept-Language", language)));
        if let Some(collection) = &manner.collection {
            headers.retain(|(name, _)| {
                !collection.headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(name))
            });
            let own = collection.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
            // Such as can no longer be declared may be there from before.
            headers.extend(own.filter(|(name, value)| check_header(name, value).is_ok()));
        }
        headers.extend(cookie.as_deref().map(|cookie| ("Cookie", cookie)));
        // What is to be rendered is asked for as a whole.
        let renders = manner.browser().is_some_and(|own| own.when_unchanged == WhenUnchanged::Render);
        if original.is_some() && !renders {
            let kept = [("If-None-Match", &order.etag), ("If-Modified-Since", &order.last_modified)];
            let kept = kept.into_iter().filter_map(|(name, value)| Some((name, value.as_deref()?)));
            headers.extend(kept.filter(|(_, value)| is_validator(value)));
        }
        let limits = limits(order);
        let request = Request::get(&order.url, &headers, &limits);
        (self.client.fetch(&request).await, original)
    }

    /// The capture that holds what the URL last gave; none if it was never fetched or never
    /// archived, or lies there no more.
    async fn original(&self, order: &Order) -> Option<Original> {
        order.digest.as_ref()?;
        self.captured(&order.collection, order.url.as_str()).await
    }

    /// The last capture of a URL that holds content.
    pub(super) async fn captured(&self, collection: &str, url: &str) -> Option<Original> {
        let shelf = self.shelf.as_ref()?;
        let key = surt::key(url);
        // A store that cannot be read is noticed by the commit: here it only means a full copy instead of a
        // reference.
        let (time, capture) = self.frontier.original(collection, &key, url).await.ok()??;
        let digest::Parsed::Sum(payload) = Digest::parse(&capture.digest)? else { return None };
        let path = shelf.dir.join(&capture.file);
        let (offset, length) = (capture.offset, capture.length);
        Some(Original { url: capture.url, time, payload, path, offset, length }).filter(Original::is_there)
    }
}

/// What there is to say, and to archive.
type Haul = (Report, Vec<Prepared>);

impl Fetcher for WireFetcher {
    type Exchange = PackedAnswer;

    async fn fetch(&self, order: &Order) -> (Report, Option<PackedAnswer>) {
        match self.fetched(order).await {
            Ok((report, groups)) => (report, (!groups.is_empty()).then_some(PackedAnswer::Groups(groups))),
            Err(Failure::Fetch(error)) => (failed(&error, self.frontier.now()), None),
            // The fault is ours, not the URL's: the archive refuses the batch, and the run ends before
            // anything is counted.
            Err(Failure::Local(reason)) => {
                let report = Report::bare(self.frontier.now(), Fetch::NoAnswer(ErrorKind::Broken));
                (report, Some(PackedAnswer::Failed(reason)))
            }
            Err(Failure::Browser(reason)) => {
                let until = self.frontier.now().plus(BROWSER_RETRY);
                let report = Report::bare(self.frontier.now(), Fetch::Deferred { until });
                (Report { problem: Some(reason), ..report }, None)
            }
        }
    }
}

impl WireFetcher {
    /// M5: what a process that was stopped says of an order that is another's by now.
    fn too_late(&self, order: &Order) -> Option<Haul> {
        let now = self.frontier.now();
        (!order.is_held(now)).then(|| (Report::bare(now, Fetch::Deferred { until: now }), Vec::new()))
    }

    async fn fetched(&self, order: &Order) -> Result<Haul, Failure> {
        let mut manner = self.manner(order);
        if manner.browser().is_some() {
            // B20: without a browser nobody is asked.
            let ready = self.engine.ready(&manner.program).await;
            ready.map_err(|problem| Failure::Browser(problem.reason))?;
            self.as_browser(&mut manner).await;
        }
        if let Some(late) = self.too_late(order) {
            return Ok(late);
        }
        let ruling = match self.ask_robots(order, &manner).await? {
            None => None,
            Some(Asked::Known(ruling)) => Some(ruling),
            Some(Asked::Read(reading, ruling)) => {
                return self.after_reading(order, &manner, &reading, ruling);
            }
            Some(Asked::Deferred(until)) => {
                return Ok((Report::bare(self.frontier.now(), Fetch::Deferred { until }), Vec::new()));
            }
        };
        if let Some(ruling) = ruling.as_ref().filter(|ruling| !ruling.allowed) {
            return Ok((denied(ruling, self.frontier.now()), Vec::new()));
        }
        let crawl_delay = ruling.as_ref().and_then(|ruling| ruling.crawl_delay);
        let given = manner.collection.as_ref().map_or(&[][..], |collection| &collection.cookies);
        let mut jar = Jar::load(&order.cookies, given, &order.host, self.frontier.now());
        if let Some(late) = self.too_late(order) {
            return Ok(late);
        }
        let (fetched, original) = self.request(order, &manner, &jar).await;
        let exchange = match fetched.result.map_err(Failure::from) {
            Ok(exchange) => exchange,
            Err(Failure::Fetch(error)) => {
                return Ok((Report { crawl_delay, ..failed(&error, self.frontier.now()) }, Vec::new()));
            }
            Err(failure) => return Err(failure),
        };
        let at = self.frontier.now();
        jar.take(&order.url, exchange.head.all("set-cookie"), at);
        let retry_after = retry_after(&exchange);
        let again = self.evaluate_again(order, ruling.as_ref(), &exchange, retry_after).await?;
        let ruling = again.ruling.or(ruling);
        let denied = ruling.as_ref().filter(|ruling| !ruling.allowed);
        let work = Work {
            order: order.clone(),
            exchange,
            at,
            dns: fetched.dns.into_iter().chain(again.dns).collect(),
            original,
            rules: manner.rules.clone(),
            shelf: self.shelf.clone(),
            announced: ruling.as_ref().is_some_and(|ruling| ruling.names_as_sitemap),
            indexed: self.frontier.feeds_index(&order.collection),
            dns_failed: again.dns_failed,
            denied_until: denied.map(|ruling| ruling.next_read),
            page_id: manner.browser().map(|_| random_id()),
        };
        let rendered = match (&work.page_id, denied) {
            (Some(page_id), None) => {
                let entity = work.entity()?.to_string();
                match self.rendered(order, &manner, &work.exchange, &entity, page_id).await {
                    // The host was asked, and has its pause; the URL comes again after it.
                    Err(Failure::Browser(reason)) => {
                        let mut report = Report::bare(at, Fetch::RobotsRead);
                        report.response_time = work.exchange.total.max(Span(1));
                        (report.answered, report.crawl_delay) = (true, crawl_delay);
                        report.problem = Some(reason);
                        return Ok((report, Vec::new()));
                    }
                    rendered => rendered?,
                }
            }
            _ => None,
        };
        let done = match work.exchange.response.len() {
            0..=AT_ONCE_BYTES_MAX if work.exchange.head.status != 304 => work.done(),
            _ => aside(move || work.done()).await,
        };
        let (mut report, group) = done?;
        let mut groups: Vec<Prepared> = group.into_iter().collect();
        if let Some(shelf) = &self.shelf {
            for (exchange, dns) in &again.readings {
                groups.push(shelf.packers.aside(exchange, dns.as_ref())?);
            }
        }
        if let Some(because) = denied.and_then(|ruling| ruling.because.clone()) {
            report.problem = Some(because);
        }
        if let Some(ruling) = &ruling {
            report.outlinks.splice(0..0, self.sitemaps(order, &manner, ruling));
        }
        report.crawl_delay = ruling.as_ref().map_or(crawl_delay, |ruling| ruling.crawl_delay);
        report.retry_after = retry_after;
        report.cookies = jar.into_updates();
        if let Some(rendered) = rendered {
            report.retry_after = report.retry_after.max(rendered.retry_after);
            groups.extend(add(rendered, &mut report, self.frontier.feeds_index(&order.collection)));
        }
        Ok((report, groups))
    }
}

/// Takes what the browser saw into the report of its page (B17); gives what is to be archived of it.
fn add(rendered: Rendered, report: &mut Report, indexed: bool) -> Vec<Prepared> {
    let Rendered { rendering, groups, cookies, documents, outlinks, loaded, bytes, .. } = rendered;
    if let Some(own) = documents.first().filter(|_| indexed) {
        report.page = Some(PageNow::Links(indexed_links(own)));
    }
    let mut known: HashSet<String> =
        report.outlinks.iter().map(|link| link.url.as_str().to_owned()).collect();
    let found = documents.into_iter().flat_map(|document| document.links);
    let found = found.map(|link| Outlink { url: link.url, kind: link.kind });
    for link in found.chain(outlinks) {
        if known.insert(link.url.as_str().to_owned()) {
            report.outlinks.push(link);
        }
    }
    report.outlinks.retain(|link| link.kind != LinkKind::Requisite || !loaded.contains(link.url.as_str()));
    report.cookies.extend(cookies);
    report.bytes += bytes;
    if !rendering.ending.is_capture() {
        report.problem.get_or_insert_with(|| format!("rendering it ended: {}", rendering.ending.as_str()));
    }
    report.rendering = Some(rendering);
    groups
}

/// The links a person could click.
fn indexed_links(extracted: &Extracted) -> index::Page {
    let mut page = index::PageBuilder::default();
    for link in extracted.links.iter().filter(|link| link.is_indexed()) {
        page.link(link.url.as_str(), &link.anchor);
    }
    page.finish().0
}

/// Browsers unpack no more than that where a connection is not encrypted.
fn encodings(order: &Order, manner: &Manner) -> &'static str {
    match order.url.scheme() {
        Scheme::Http if manner.browser().is_some() => "gzip, deflate",
        _ => "gzip, deflate, br, zstd",
    }
}

/// A random UUID (version 4).
fn random_id() -> String {
    let bits = fastrand::u128(..) & !(0xf << 76) & !(0x3 << 62) | 0x4 << 76 | 0x2 << 62;
    let hex = format!("{bits:032x}");
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

/// The name whose rules are obeyed; none: robots are not asked.
pub(super) fn agent<'a>(policy: &'a RobotsPolicy, manner: &'a Manner) -> Option<&'a str> {
    match policy {
        RobotsPolicy::Ignore => None,
        RobotsPolicy::Obey => Some(&manner.token),
        RobotsPolicy::ObeyAs(agent) => Some(agent),
    }
}

fn denied(ruling: &Ruling, now: Time) -> Report {
    Report {
        problem: ruling.because.clone(),
        crawl_delay: ruling.crawl_delay,
        ..Report::bare(now, Fetch::RobotsDenied { until: ruling.next_read })
    }
}

/// Does it where it keeps nobody waiting. A page that makes us panic does so here as it would have
/// done there: it is a broken page, and no fault of the disk (A12).
async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // Only where everything ends: nobody waits for this any more.
            Err(_) => std::future::pending().await,
        },
    }
}

/// An answer to be read and packed.
struct Work {
    order: Order,
    exchange: Exchange,
    at: Time,
    dns: Vec<net::dns::DnsRecord>,
    original: Option<Original>,
    rules: UrlRules,
    shelf: Option<Arc<Shelf>>,
    announced: bool,
    /// The link index wants to know of it.
    indexed: bool,
    /// What holds by now.
    dns_failed: bool,
    denied_until: Option<Time>,
    /// Where its page is rendered.
    page_id: Option<String>,
}

impl Work {
    /// The sum of the body without its chunks.
    fn entity(&self) -> std::io::Result<Digest> {
        match self.exchange.framing {
            Framing::Plain => digest::payload(&self.exchange),
            Framing::Chunked => digest::entity(&self.exchange),
        }
    }

    fn done(&self) -> std::io::Result<(Report, Option<Prepared>)> {
        let Work { order, exchange, .. } = self;
        let head = &exchange.head;
        let payload = digest::payload(exchange)?;
        let entity = match exchange.framing {
            Framing::Plain => payload,
            Framing::Chunked => digest::entity(exchange)?,
        };
        let not_modified = head.status == 304;
        let same = order.digest.as_deref() == Some(entity.to_string().as_str());
        let has_content = (200..300).contains(&head.status);
        let unchanged = not_modified || (same && has_content);
        let extracted = self.extract(&exchange.head, &mut body(exchange));
        let reread = if not_modified { self.reread() } else { Ok(None) };
        let original = self.original.as_ref().filter(|_| unchanged && exchange.truncated.is_none());
        let group = match &self.shelf {
            None => None,
            Some(shelf) => Some(shelf.packers.answer(&Answer {
                order,
                exchange,
                dns: &self.dns,
                payload,
                original,
                extracted: Some(&extracted),
                page_id: self.page_id.as_deref(),
            })?),
        };
        let mut facts = AnswerFacts {
            status: head.status,
            digest: if not_modified { order.digest.clone() } else { Some(entity.to_string()) },
            etag: validator(head, "etag"),
            last_modified: validator(head, "last-modified"),
            unchanged,
            dns_failed: self.dns_failed,
            robots_denied_until: self.denied_until,
        };
        let existence = self.existence(&extracted);
        let page = self.page(&extracted, unchanged);
        let (found, unreadable) = match reread {
            Ok(reread) => (reread.unwrap_or(extracted), None),
            Err(error) => {
                // Asked for as a whole next time, and then it has its links again.
                facts.digest = None;
                let why = format!("its last capture cannot be read ({error}): its links are not known");
                (extracted, Some(why))
            }
        };
        let mut problem = exchange.truncated.map(|why| format!("cut off: {}", told(why)));
        if let Some(reason) = unreadable.or(found.problem) {
            problem.get_or_insert(reason);
        }
        let mut links = found.links;
        let limit = order.plan.limits.max_redirects;
        if order.position.chain >= limit && links.iter().any(|link| link.kind == LinkKind::Redirect) {
            links.retain(|link| link.kind != LinkKind::Redirect);
            problem.get_or_insert_with(|| format!("more than {limit} redirects in a row"));
        }
        let report = Report {
            outlinks: links.into_iter().map(|link| Outlink { url: link.url, kind: link.kind }).collect(),
            bytes: exchange.response.len(),
            response_time: exchange.total,
            problem,
            existence,
            page,
            ..Report::bare(self.at, Fetch::Answer(facts))
        };
        Ok((report, group))
    }

    /// What the link index is told: the links a person could click. What is no page but was
    /// captured is known to be there, and has none.
    fn page(&self, extracted: &Extracted, unchanged: bool) -> Option<PageNow> {
        match self.exchange.head.status {
            _ if !self.indexed || unchanged => None,
            404 | 410 => Some(PageNow::Gone),
            200..=399 => Some(PageNow::Links(indexed_links(extracted))),
            _ => None,
        }
    }

    /// L3: what the answer says of the id a walk asked for.
    fn existence(&self, extracted: &Extracted) -> Option<Outcome> {
        let Work { order, exchange, .. } = self;
        let walk = order.walk.as_ref()?;
        let mut looked_at = Vec::new();
        let wanted = if walk.exists.needs_body() { LOOKED_AT_BYTES_MAX } else { 1 };
        let mut raw = body(exchange);
        let mut decoded = decode::decoded(exchange.head.all("content-encoding"), &mut raw, wanted);
        // What cannot be decoded is looked at as far as it can.
        let _ = decoded.by_ref().take(wanted).read_to_end(&mut looked_at);
        let target = extracted.links.iter().find(|link| link.how == "header/location");
        Some(walk.exists.judge(&Seen {
            status: Some(exchange.head.status),
            location: target.map(|link| link.url.as_str()),
            body_is_empty: looked_at.is_empty(),
            body: Some(&looked_at),
        }))
    }

    /// F35: a page that was not modified names all the links it had, as its last capture has them.
    /// None where there is no capture.
    fn reread(&self) -> std::io::Result<Option<Extracted>> {
        let Some(original) = &self.original else { return Ok(None) };
        let file = net::warc::open_file(&original.path)?;
        let mut record = StoredRecord::open(file, original.offset, original.length)?;
        let parsed = record.http_head()?.ok_or_else(|| std::io::Error::other("it is no answer"))?;
        Ok(Some(match parsed.layout {
            Layout::Chunked => self.extract(&parsed.head, &mut Dechunk::new(record)),
            _ => self.extract(&parsed.head, &mut record),
        }))
    }

    fn extract(&self, head: &Head, body: &mut dyn Read) -> Extracted {
        let order = &self.order;
        let limits = &order.plan.limits;
        let page = Page {
            url: &order.url,
            head,
            limits: extract::Limits {
                links_max: usize::try_from(limits.max_outlinks).unwrap_or(usize::MAX),
                decoded_bytes_max: limits.max_decoded_bytes,
                ..extract::Limits::default()
            },
            rules: &self.rules,
            forms: false,
            announced_as_sitemap: self.announced,
        };
        let mut found = extract::links(&page, body);
        let fit = order.links_that_fit(found.links.iter().map(|link| &link.url));
        let left_out = found.dropped + (found.links.len() - fit) as u64;
        found.links.truncate(fit);
        if left_out > 0 {
            let cut = format!("{left_out} links beyond the first {fit} were left out");
            found.problem = Some(found.problem.map_or(cut.clone(), |problem| format!("{problem}; {cut}")));
        }
        found
    }
}

fn told(why: net::exchange::Truncated) -> &'static str {
    match why {
        net::exchange::Truncated::Length => "more bytes than the limit",
        net::exchange::Truncated::Time => "more time than the limit",
        net::exchange::Truncated::Disconnect => "the server ended the connection too early",
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

fn failed(error: &FetchError, now: Time) -> Report {
    let result = match error.kind {
        FetchErrorKind::Dns => Fetch::DnsFailed,
        FetchErrorKind::Connect | FetchErrorKind::Refused | FetchErrorKind::Tls => {
            Fetch::NoAnswer(ErrorKind::Connect)
        }
        FetchErrorKind::Timeout => Fetch::NoAnswer(ErrorKind::Timeout),
        FetchErrorKind::Broken | FetchErrorKind::Limit | FetchErrorKind::Local => {
            Fetch::NoAnswer(ErrorKind::Broken)
        }
    };
    Report { response_time: error.elapsed, problem: Some(error.reason.clone()), ..Report::bare(now, result) }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a12_a_page_that_makes_us_panic_is_a_broken_page_whatever_its_size() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let ended = runtime.block_on(async {
            let page = tokio::spawn(aside(|| -> std::io::Result<()> { panic!("this page") }));
            page.await.expect_err("as where a small page does so: the harvester hears of it")
        });
        assert!(ended.is_panic());
    }
}
