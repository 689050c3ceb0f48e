//! The frontier of a world itself, for what needs a harvest without a web.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use frontier::Frontier;
use frontier::ports::{AnswerFacts, Clock, Fetch, Order, Outlink, Report};
use policy::model::LinkKind;
use policy::time::{Span, Time};
use policy::url::{UrlRules, normalise};
use store::{Options, Store};

use super::World;
use crate::clock::ManualClock;

impl World {
    /// Works on the frontier itself, under a clock that stands at `at`.
    pub fn work(&self, at: Time, work: impl AsyncFnOnce(&Frontier, &ManualClock)) {
        let store = Store::open(&self.data(), &Options::default()).unwrap();
        let clock = Arc::new(ManualClock::at(at));
        let frontier = Frontier::new(store, Arc::clone(&clock) as Arc<dyn Clock>, 7);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(work(&frontier, &clock));
    }

    /// Harvests each URL that is due in a minute, once, as `answer` says.
    pub fn harvest(&self, answer: impl Fn(&Order) -> Report) {
        self.work(now().plus(Span::minutes(1)), async |frontier, _| {
            for order in frontier.reserve(100).await.unwrap().orders {
                frontier.complete(&order, &answer(&order), &[]).await.unwrap();
            }
        });
    }
}

#[allow(clippy::disallowed_methods, reason = "the binary looks at the same clock")]
pub fn now() -> Time {
    Time(i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap())
}

pub fn before_now(span: Span) -> Time {
    Time(now().0 - i64::try_from(span.0).unwrap())
}

/// An answer with this status and these links.
pub fn page(at: Time, status: u16, links: &[&str]) -> Report {
    let facts = AnswerFacts { status, digest: Some(format!("d{status}")), ..AnswerFacts::default() };
    let link = |url: &&str| Outlink::new(normalise(url, None, &UrlRules::default()).unwrap(), LinkKind::Link);
    Report {
        response_time: Span(120),
        bytes: 20_000,
        outlinks: links.iter().map(link).collect(),
        ..Report::bare(at, Fetch::Answer(facts))
    }
}

pub fn failure(result: Fetch) -> Report {
    Report::bare(now().plus(Span::minutes(1)), result)
}
