//! The URL itself, evaluated once more when its answer is processed (F30): by what is declared by
//! now, and by what DNS and robots.txt say by now.
//!
//! Both are known from before the request, as a rule, and nobody is asked. Where what was known has
//! run out while the answer was under way, it is asked for anew: DNS at once, robots.txt when the
//! delay of its host has passed, for that is a request (A15). Meanwhile the order
//! [rests](Frontier::rest), and holds nobody. Where that would take too long, or where robots.txt
//! cannot be had, what held when the URL was asked for goes on holding: it is evaluated before its
//! next harvest anyway.
//!
//! Scope is the commit's business: it has the declarations of that very moment.

use std::time::Duration;

use frontier::Frontier;
use frontier::ports::{Order, REST_MAX};
use net::dns::DnsRecord;
use net::exchange::Exchange;
use net::http::FetchErrorKind;
use policy::evaluate::robots_policy;
use policy::standing::Subject;
use policy::time::{Span, Time};
use tokio::time::Instant;

use super::fetch::WireFetcher;
use super::manner::agent;
use super::robots::{Asked, Failure, Ruling};

/// Requests for robots.txt that one order makes: as many as there may be redirects, and the first.
const ASKS_MAX: usize = 6;

/// What holds by now.
#[derive(Default)]
pub(super) struct Again {
    /// What robots.txt says; none where it is not obeyed, or says nothing new.
    pub(super) ruling: Option<Ruling>,
    pub(super) dns_failed: bool,
    /// The look-up that was made, if one was.
    pub(super) dns: Option<DnsRecord>,
    /// What came over the wire on the way.
    pub(super) readings: Vec<(Exchange, Option<DnsRecord>)>,
}

/// A request of the order that is over.
struct Asking {
    took: Span,
    crawl_delay: Option<Span>,
    retry_after: Option<Span>,
}

impl WireFetcher {
    /// After the answer. `before` is what robots.txt said before it.
    pub(super) async fn evaluate_again(
        &self,
        order: &Order,
        before: Option<&Ruling>,
        exchange: &Exchange,
        retry_after: Option<Span>,
    ) -> Result<Again, Failure> {
        let mut again = Again::default();
        // An id of a walk is in no queue.
        if order.walk.is_some() {
            return Ok(again);
        }
        match self.client.look_up(&order.url, &self.way(&order.collection, &order.url)).await {
            Ok(record) => again.dns = record,
            Err(_) => {
                again.dns_failed = true;
                return Ok(again);
            }
        }
        let crawl_delay = before.and_then(|ruling| ruling.crawl_delay);
        let over = Asking { took: exchange.total, crawl_delay, retry_after };
        self.robots_again(order, over, &mut again).await?;
        Ok(again)
    }

    async fn robots_again(&self, order: &Order, mut over: Asking, again: &mut Again) -> Result<(), Failure> {
        let policy = self.frontier.peek_catalog(|catalog| {
            let subject = Subject { catalog, collection: &order.collection, url: &order.url };
            robots_policy(subject, &order.seed, order.position)
        });
        // Nobody has it in scope: then robots are not the question.
        let Some(policy) = policy else { return Ok(()) };
        let manner = self.manner(order);
        let Some(agent) = agent(&policy, &manner) else { return Ok(()) };
        let deadline = Instant::now() + Duration::from_millis(REST_MAX.0);
        for _ in 0..ASKS_MAX {
            again.ruling = self.robots.known(&self.asker(order, &manner, agent), &order.url);
            if again.ruling.is_some() {
                return Ok(());
            }
            let Asking { took, crawl_delay, retry_after } = over;
            let at = self.frontier.another_request(order, took, crawl_delay, retry_after).await?;
            // F38: what was known before has to do where no window is open for another request.
            let Some(at) = at.filter(|at| !order.is_closed(*at)) else { return Ok(()) };
            if !rested(&self.frontier, at, deadline).await {
                return Ok(());
            }
            over = Asking { took: Span::ZERO, crawl_delay, retry_after: None };
            match self.robots.ask(&self.asker(order, &manner, agent), &order.url).await {
                Ok(Asked::Known(ruling)) => {
                    again.ruling = Some(ruling);
                    return Ok(());
                }
                Ok(Asked::Read(reading, ruling)) => {
                    again.readings.extend(reading.exchange);
                    again.ruling = ruling;
                    over.took = reading.took.unwrap_or_default();
                    if again.ruling.is_some() {
                        return Ok(());
                    }
                }
                Ok(Asked::Deferred(until)) => {
                    if order.is_closed(until) || !rested(&self.frontier, until, deadline).await {
                        return Ok(());
                    }
                }
                Err(Failure::Fetch(error)) => {
                    again.dns_failed = error.kind == FetchErrorKind::Dns;
                    return Ok(());
                }
                Err(failure) => return Err(failure),
            }
        }
        Ok(())
    }
}

/// Whether it could be waited for.
async fn rested(frontier: &Frontier, until: Time, deadline: Instant) -> bool {
    let wake = Instant::now() + Duration::from_millis(until.since(frontier.now()).0);
    if wake > deadline {
        return false;
    }
    let Some(_rest) = frontier.rest() else { return false };
    tokio::time::sleep_until(wake).await;
    true
}
