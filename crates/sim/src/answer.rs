//! What the fetcher and the archive would have said of a fetch.

use frontier::ports::{AnswerFacts, CaptureKey, Fetch, Outlink, Report};
use frontier::schema::{Capture, ErrorKind};
use policy::model::LinkKind;
use policy::time::{Span, Time};
use policy::url::{CrawlUrl, UrlRules, normalise};

use crate::run::Flight;

pub(crate) fn report(flight: &Flight, rules: &UrlRules, now: Time) -> (Report, Vec<(CaptureKey, Capture)>) {
    let Flight { order, response, edition, .. } = flight;
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
    let Fetch::Answer(facts) = &report.result else { return (report, Vec::new()) };
    let capture = Capture {
        url: order.url.as_str().to_owned(),
        file: "simulated".to_owned(),
        offset: order.lease,
        length: 1,
        status: facts.status,
        mime: Some("text/html".to_owned()),
        digest: facts.digest.clone().unwrap_or_default(),
        revisit: facts.unchanged,
    };
    let key = CaptureKey { surt: order.url.as_str().to_owned(), time: now };
    report.bytes = 20_000;
    report.outlinks =
        response.outlinks.iter().filter_map(|(link, kind)| outlink(link, *kind, &order.url, rules)).collect();
    (report, vec![(key, capture)])
}

fn outlink(link: &str, kind: LinkKind, base: &CrawlUrl, rules: &UrlRules) -> Option<Outlink> {
    normalise(link, Some(base), rules).ok().map(|url| Outlink { url, kind })
}
