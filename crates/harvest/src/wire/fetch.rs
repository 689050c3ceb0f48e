//! One order: robots, request, answer, links, records.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use frontier::ports::{Fetch, Fetcher, Order, Outlink, Report};
use frontier::{ErrorKind, Frontier};
use net::cookies::Jar;
use net::dns::DnsRecord;
use net::exchange::Exchange;
use net::http::{Client, FetchError, FetchErrorKind, Fetched, Request, check_header, is_validator};
use net::warc::{Prepared, uuid};
use policy::browser::WhenUnchanged;
use policy::model::LinkKind;
use policy::time::{Span, Time};

use super::answer::Work;
use super::browse::Engine;
use super::identity::Introduction;
use super::manner::{Manner, agent, encodings, limits, retry_after};
use super::pack::{Original, PackedAnswer, Packers, Requisite};
use super::robots::{Asked, Asker, Failure, Reading, RobotsCache, Ruling};

/// When a collection whose browser is not to be had is looked at again.
const BROWSER_RETRY: Span = Span::minutes(1);

pub struct WireFetcher {
    pub(super) frontier: Arc<Frontier>,
    pub(super) client: Client,
    pub(super) who: Who,
    pub(super) robots: RobotsCache,
    /// None: nothing is archived.
    shelf: Option<Arc<Shelf>>,
    pub(super) engine: Engine,
}

/// Who asks.
pub(super) struct Who {
    pub(super) said: Introduction,
    /// Whether a site owner could find them, by what is declared now: the guard looks at it.
    pub(super) is_reachable: Arc<AtomicBool>,
}

/// What is archived, and how.
pub(super) struct Shelf {
    pub(super) packers: Packers,
    /// Where the files of the archive are.
    pub(super) dir: PathBuf,
}

impl WireFetcher {
    pub(super) fn new(
        frontier: Arc<Frontier>,
        client: Client,
        who: Who,
        shelf: Option<Shelf>,
        engine: Engine,
    ) -> WireFetcher {
        let (robots, shelf) = (RobotsCache::default(), shelf.map(Arc::new));
        WireFetcher { frontier, client, who, robots, shelf, engine }
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

    /// What robots.txt says; none where it is not asked.
    async fn ask_robots(&self, order: &Order, manner: &Manner) -> Result<Option<Asked>, Failure> {
        let Some(agent) = agent(&order.plan.robots, manner) else { return Ok(None) };
        self.robots.ask(&self.asker(order, manner, agent), &order.url).await.map(Some)
    }

    pub(super) fn asker<'a>(&'a self, order: &'a Order, manner: &'a Manner, agent: &'a str) -> Asker<'a> {
        Asker {
            frontier: &self.frontier,
            client: &self.client,
            introduction: &self.who.said,
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
                ..Report::bare(self.frontier.now(), Fetch::HostAsked)
            },
            None => Report::bare(self.frontier.now(), Fetch::HostAsked),
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
        ruling.sitemaps.iter().map(|url| Outlink::new(url.clone(), LinkKind::Link)).collect()
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
        let request = Request { way: &manner.way, ..Request::get(&order.url, &headers, &limits) };
        (self.client.fetch(&request).await, original)
    }

    /// The capture that holds what the URL last gave; none if it was never fetched or never
    /// archived, or lies there no more.
    async fn original(&self, order: &Order) -> Option<Original> {
        order.digest.as_ref()?;
        self.captured(&order.collection, order.url.as_str()).await
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
    /// M5: what a process that was stopped says of an order that is another's by now. F38: or of one
    /// whose window has closed; it is looked at once more, and put where the next one opens.
    fn too_late(&self, order: &Order) -> Option<Haul> {
        let now = self.frontier.now();
        (!order.is_held(now) || order.is_closed(now))
            .then(|| (Report::bare(now, Fetch::Deferred { until: now }), Vec::new()))
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
            page_id: manner.browser().map(|_| uuid(&mut fastrand::Rng::new())),
            dedup: manner.dedup(),
            sums: None,
            twin: None,
        };
        let work = self.deduplicated(work).await?;
        let rendered = match (&work.page_id, denied) {
            (Some(page_id), None) => {
                let entity = work.entity()?.to_string();
                match self.rendered(order, &manner, &work.exchange, &entity, page_id).await {
                    Err(Failure::Browser(reason)) => {
                        return Ok((Report { crawl_delay, ..went_down(&work, reason) }, Vec::new()));
                    }
                    rendered => rendered?,
                }
            }
            _ => None,
        };
        let (mut report, group) = work.finish().await?;
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
            groups.extend(rendered.take_into(&mut report, self.frontier.feeds_index(&order.collection)));
        }
        Ok((report, groups))
    }
}

/// The browser went down with a page: its host was asked, and has its pause; the URL comes again
/// after it.
fn went_down(work: &Work, reason: String) -> Report {
    Report {
        response_time: work.exchange.total.max(Span(1)),
        answered: true,
        problem: Some(reason),
        ..Report::bare(work.at, Fetch::HostAsked)
    }
}

fn denied(ruling: &Ruling, now: Time) -> Report {
    Report {
        problem: ruling.because.clone(),
        crawl_delay: ruling.crawl_delay,
        ..Report::bare(now, Fetch::RobotsDenied { until: ruling.next_read })
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
