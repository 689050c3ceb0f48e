use frontier::ports::Fetch;
use frontier::{ErrorKind, Harvested, LinkTrace};
use policy::time::Time;

use crate::web::EDITIONS;

/// A committed harvest.
#[derive(Clone, Debug)]
pub struct Harvest {
    pub collection: String,
    pub url: String,
    pub host: String,
    pub seed: String,
    /// The walk whose id it was.
    pub walk: Option<String>,
    pub due: Time,
    pub began: Time,
    pub ended: Time,
    /// None: no answer.
    pub status: Option<u16>,
    /// Why there was no answer.
    pub error: Option<ErrorKind>,
    pub unchanged: bool,
    /// How often the page had changed by itself.
    pub version: usize,
    /// When the URL comes again; none: it left the queue.
    pub next_due: Option<Time>,
    /// The profiles on whose behalf it was harvested.
    pub profiles: Vec<String>,
    pub added: u64,
    /// How its links were decided, where the settings ask for it.
    pub links: Vec<LinkTrace>,
}

/// As its digest says.
fn version(result: &Fetch) -> usize {
    let Fetch::Answer(facts) = result else { return 0 };
    let edition = facts.digest.as_deref().and_then(|digest| digest.rsplit_once('#'));
    edition.and_then(|(_, edition)| edition.parse::<usize>().ok()).unwrap_or(0) / EDITIONS
}

impl Harvest {
    pub(crate) fn of(harvested: &Harvested<'_>, links: Vec<LinkTrace>) -> Harvest {
        let Harvested { order, report, summary, .. } = *harvested;
        let (status, error, unchanged) = match &report.result {
            Fetch::Answer(facts) => (Some(facts.status), None, facts.unchanged),
            Fetch::NoAnswer(kind) => (None, Some(*kind), false),
            Fetch::DnsFailed => (None, Some(ErrorKind::Dns), false),
            Fetch::RobotsDenied { .. } | Fetch::HostAsked | Fetch::Deferred { .. } => {
                (None, Some(ErrorKind::Robots), false)
            }
        };
        let took = i64::try_from(report.response_time.0).unwrap_or(i64::MAX);
        Harvest {
            collection: order.collection.clone(),
            url: order.url.as_str().to_owned(),
            host: order.host.clone(),
            seed: order.seed.clone(),
            walk: order.walk.as_ref().map(|own| own.walk.clone()),
            due: order.due,
            began: Time(report.at.0.saturating_sub(took)),
            ended: report.at,
            status,
            error,
            unchanged,
            version: version(&report.result),
            next_due: summary.next_due,
            profiles: order.plan.profiles.clone(),
            added: summary.added,
            links,
        }
    }
}
