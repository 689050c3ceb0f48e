//! The fetcher of the simulator: it asks the table of pages, and takes as long as that says.

use std::sync::Arc;
use std::time::Duration;

use frontier::ports::{AnswerFacts, Clock, Fetch, Fetcher, Order, Outlink, Report};
use frontier::{ErrorKind, Frontier};
use parking_lot::Mutex;
use policy::model::LinkKind;
use policy::time::{Span, Time};
use policy::url::{CrawlUrl, UrlRules, normalise};
use policy::walk::{Existence, ExistenceDraft, Seen};

use crate::clock::VirtualClock;
use crate::shelf::Answered;
use crate::web::{EDITIONS, Response, Web};

/// Bytes of an answer.
const ANSWER_BYTES: u64 = 20_000;

#[derive(Clone, Debug)]
pub struct WebFetcher {
    pub(crate) web: Arc<Mutex<Web>>,
    pub(crate) clock: Arc<VirtualClock>,
    pub(crate) frontier: Arc<Frontier>,
    /// Whether answers go to the archive.
    pub(crate) keeps: bool,
}

impl Fetcher for WebFetcher {
    type Exchange = Answered;

    /// What it will find is settled when it begins.
    async fn fetch(&self, order: &Order) -> (Report, Option<Answered>) {
        let (response, edition) = {
            let mut web = self.web.lock();
            let (response, edition) = web.ask(order.url.as_str());
            (response, edition + EDITIONS * web.changed(order.url.as_str(), self.clock.now()))
        };
        tokio::time::sleep(Duration::from_millis(response.delay.0)).await;
        let now = self.clock.now();
        let report =
            self.frontier.peek_catalog(|catalog| report(order, &response, edition, catalog.url_rules(), now));
        let answered = Answered::of(order, &report).filter(|_| self.keeps);
        (report, answered)
    }
}

/// What a fetcher would say of the answer.
pub fn report(order: &Order, response: &Response, edition: usize, rules: &UrlRules, now: Time) -> Report {
    let result = match response.error {
        Some(ErrorKind::Dns) => Fetch::DnsFailed,
        Some(ErrorKind::Robots) => Fetch::RobotsDenied { until: now.plus(Span::days(1)) },
        Some(kind) => Fetch::NoAnswer(kind),
        None => {
            let digest = format!("{}#{edition}", order.url);
            let unchanged = order.digest.as_ref() == Some(&digest);
            Fetch::Answer(AnswerFacts {
                status: response.status,
                digest: Some(digest),
                unchanged,
                ..AnswerFacts::default()
            })
        }
    };
    let mut report = Report::bare(now, result);
    report.response_time = response.delay;
    if matches!(report.result, Fetch::Answer(_)) {
        report.bytes = ANSWER_BYTES;
        let outlink = |(link, kind): &(String, LinkKind)| outlink(link, *kind, &order.url, rules);
        report.outlinks = response.outlinks.iter().filter_map(outlink).collect();
        report.existence = order.walk.as_ref().map(|walk| {
            let location = response.outlinks.iter().find(|(_, kind)| *kind == LinkKind::Redirect);
            let seen = Seen {
                status: Some(response.status),
                location: location.map(|(target, _)| target.as_str()),
                ..Seen::default()
            };
            without_text(&walk.exists).judge(&seen)
        });
    }
    report
}

/// A page that is only a row of a table has no text: what a walk looks for in it is taken to be
/// there.
fn without_text(exists: &Existence) -> Existence {
    if !exists.needs_body() {
        return exists.clone();
    }
    let draft = ExistenceDraft { body_has: Vec::new(), body_lacks: Vec::new(), ..exists.draft().clone() };
    Existence::new(draft).unwrap_or_default()
}

fn outlink(link: &str, kind: LinkKind, base: &CrawlUrl, rules: &UrlRules) -> Option<Outlink> {
    normalise(link, Some(base), rules).ok().map(|url| Outlink::new(url, kind))
}
