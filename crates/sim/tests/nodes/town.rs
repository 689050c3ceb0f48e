//! The web the nodes harvest, and what it saw of them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use frontier::Frontier;
use frontier::ports::{AnswerFacts, Clock, Fetch, Fetcher, Order, Outlink, Report};
use parking_lot::Mutex;
use policy::model::LinkKind;
use policy::time::{Span, Time};
use policy::url::CrawlUrl;
use policy::walk::Outcome;
use sim::VirtualClock;
use tokio::sync::watch;

/// Hosts of so many pages each: page N links to two further ones of its host and to the first of the
/// next host.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Town {
    pub(crate) hosts: usize,
    pub(crate) pages: usize,
}

pub(crate) fn url(host: usize, page: usize) -> String {
    format!("https://h{host}.test/{page}")
}

impl Town {
    fn links(self, host: usize, page: usize) -> Vec<String> {
        let own = [2 * page + 1, 2 * page + 2].into_iter().filter(|next| *next < self.pages);
        let mut links: Vec<String> = own.map(|next| url(host, next)).collect();
        links.push(url((host + 1) % self.hosts, 0));
        links
    }

    pub(crate) fn urls(self) -> impl Iterator<Item = String> {
        (0..self.hosts).flat_map(move |host| (0..self.pages).map(move |page| url(host, page)))
    }
}

/// A request as the web saw it.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) url: String,
    pub(crate) host: String,
    pub(crate) node: String,
    pub(crate) begin: Time,
    /// None: it goes on.
    pub(crate) end: Option<Time>,
}

pub(crate) struct Web {
    pub(crate) town: Town,
    pub(crate) clock: Arc<VirtualClock>,
    pub(crate) seen: Mutex<Vec<Seen>>,
    /// How long an answer takes, from and to.
    pub(crate) takes_ms: (u64, u64),
    pub(crate) rng: Mutex<fastrand::Rng>,
}

impl Web {
    /// M5: every breach of politeness, with hosts asked one at a time and so long after the last.
    pub(crate) fn impolite(&self, delay: Span) -> Vec<String> {
        let mut by_host: BTreeMap<String, Vec<Seen>> = BTreeMap::new();
        for seen in self.seen.lock().iter() {
            by_host.entry(seen.host.clone()).or_default().push(seen.clone());
        }
        let mut found = Vec::new();
        for requests in by_host.values_mut() {
            requests.sort_by_key(|seen| seen.begin);
            for pair in requests.windows(2) {
                let [before, after] = pair else { continue };
                if before.end.is_none_or(|end| after.begin < end.plus(delay)) {
                    found.push(format!("{after:?} after {before:?}"));
                }
            }
        }
        found
    }

    pub(crate) fn requests(&self) -> usize {
        self.seen.lock().len()
    }
}

/// The fetcher of one node.
pub(crate) struct Asker {
    pub(crate) web: Arc<Web>,
    pub(crate) node: String,
    pub(crate) frontier: Arc<Frontier>,
    pub(crate) stopped: watch::Receiver<bool>,
}

/// A request under way; dropped, it has ended.
struct UnderWay<'a> {
    web: &'a Web,
    at: usize,
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.web.seen.lock()[self.at].end = Some(self.web.clock.now());
    }
}

impl Asker {
    /// A process that is stopped does nothing.
    async fn while_stopped(&self) {
        let mut stopped = self.stopped.clone();
        let _ = stopped.wait_for(|stopped| !stopped).await;
    }
}

impl Fetcher for Asker {
    type Exchange = String;

    async fn fetch(&self, order: &Order) -> (Report, Option<String>) {
        let (from, to) = self.web.takes_ms;
        let took = self.web.rng.lock().u64(from..=to);
        // Until the name is looked up and somebody answers the call; the process may be stopped meanwhile.
        let connects = took / 4;
        tokio::time::sleep(Duration::from_millis(connects)).await;
        self.while_stopped().await;
        let now = self.frontier.now();
        if !order.is_held(now) || order.is_closed(now) {
            return (Report::bare(now, Fetch::Deferred { until: now }), None);
        }
        let at = {
            let mut seen = self.web.seen.lock();
            seen.push(Seen {
                url: order.url.as_str().to_owned(),
                host: order.host.clone(),
                node: self.node.clone(),
                begin: self.web.clock.now(),
                end: None,
            });
            seen.len() - 1
        };
        let under_way = UnderWay { web: &self.web, at };
        tokio::time::sleep(Duration::from_millis(took - connects)).await;
        drop(under_way);
        self.while_stopped().await;
        let at = self.frontier.now();
        let mut report = match order.walk {
            Some(_) => self.walked(order, at),
            None => self.page(order, at),
        };
        report.response_time = Span(took.max(1));
        (report, Some(order.url.as_str().to_owned()))
    }
}

impl Asker {
    fn page(&self, order: &Order, at: Time) -> Report {
        let number = |text: &str| text.parse::<usize>().unwrap();
        let host = number(order.host.trim_start_matches('h').trim_end_matches(".test"));
        let links = self.web.town.links(host, number(&order.url.path()[1..]));
        let mut report = answer(at, 200);
        let link = |url| Outlink::new(CrawlUrl::from_normal(url).unwrap(), LinkKind::Link);
        report.outlinks = links.into_iter().map(link).collect();
        report
    }

    /// Ids up to a hundred exist.
    fn walked(&self, order: &Order, at: Time) -> Report {
        let id = order.walk.as_ref().unwrap().id;
        let mut report = answer(at, if id <= 100 { 200 } else { 404 });
        report.existence = Some(if id <= 100 { Outcome::Exists } else { Outcome::Absent });
        report
    }
}

fn answer(at: Time, status: u16) -> Report {
    let facts = AnswerFacts { status, ..AnswerFacts::default() };
    Report::bare(at, Fetch::Answer(facts))
}
