//! The fetches under way, and what keeps them in the air.
//!
//! A fetch may take longer than a lease: a file of gigabytes, a server that sends a byte a second.
//! So each lease is renewed when a third of it has passed, for as long as the fetch keeps within
//! its own limits (F6). What goes on beyond them has come to grief on our side: it is given up, as
//! an error of that page, while its lease still holds. And what cannot even be given up, because it
//! never comes to a point where it could be, is no longer renewed and loses its lease.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use policy::time::{Span, Time};
use store::Result;
use tokio::task::{AbortHandle, Id, JoinError, JoinSet};
use tokio::time::Instant;

use crate::Frontier;
use crate::lane::Lane;
use crate::ports::{Fetch, Fetcher, Order, Report};
use crate::schema::ErrorKind;
use crate::shard::Shard;

/// Whoever has not come home after this time is waiting, and no longer at work: a host that
/// answered may fall silent too.
const PATIENCE: Duration = Duration::from_secs(5);

/// Leases renewed in one transaction.
const RENEW_MAX: usize = 32;

/// Clocks are set back by less than this all the time.
const CLOCK_STEP: Span = Span::seconds(1);
/// Longer than any process lives.
const FOREVER: Duration = Duration::from_secs(10 * 365 * 86_400);

/// A fetched order on its way to the archive.
pub(super) struct Fetched<E> {
    pub(super) order: Order,
    pub(super) report: Report,
    pub(super) exchange: Option<E>,
}

/// How a task ended.
pub(super) type Landed<E> = Result<(Id, (Report, Option<E>)), JoinError>;

pub(super) struct Flights<E> {
    tasks: JoinSet<(Report, Option<E>)>,
    about: HashMap<Id, Flight>,
    /// When one of them is to be looked after, at the earliest.
    look_at: Option<Instant>,
    /// When the first of their leases ends, at the earliest: the clock may jump there.
    until: Time,
    /// What the clock showed when they were last looked after: it may go back.
    seen: Time,
}

struct Flight {
    order: Order,
    begun: Instant,
    renew_at: Instant,
    /// None once it was given up.
    limit: Option<Instant>,
    task: AbortHandle,
}

impl<E: Send + 'static> Flights<E> {
    pub(super) fn new() -> Flights<E> {
        Flights {
            tasks: JoinSet::new(),
            about: HashMap::new(),
            look_at: None,
            until: Time(i64::MAX),
            seen: Time(i64::MIN),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.tasks.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    pub(super) fn start<F>(&mut self, fetcher: &Arc<F>, order: Order, now: Time)
    where
        F: Fetcher<Exchange = E> + 'static,
    {
        let begun = Instant::now();
        let renew_at = begun + third(order.held.ends(), now);
        let limit = begun + duration(order.time_limit());
        let fetcher = Arc::clone(fetcher);
        let own = order.clone();
        let task = self.tasks.spawn(async move { fetcher.fetch(&own).await });
        self.until = self.until.min(order.held.ends());
        let look_at = renew_at.min(limit).min(begun + PATIENCE);
        self.look_at = Some(self.look_at.map_or(look_at, |at| at.min(look_at)));
        self.about.insert(task.id(), Flight { order, begun, renew_at, limit: Some(limit), task });
    }

    /// The shards of what is in flight.
    pub(super) fn shards(&self) -> BTreeSet<Shard> {
        let claims = self.about.values().filter_map(|flight| flight.order.claim);
        claims.map(|claim| claim.shard).collect()
    }

    /// How many wait for a host that has not answered.
    pub(super) fn waiting(&self) -> usize {
        let now = Instant::now();
        self.about.values().filter(|flight| flight.waits(now)).count()
    }

    /// The next that comes home.
    pub(super) async fn next(&mut self) -> Option<Landed<E>> {
        self.tasks.join_next_with_id().await
    }

    /// What is home, up to so many.
    pub(super) fn home(&mut self, first: Option<Landed<E>>, now: Time, max: usize) -> Vec<Fetched<E>> {
        let mut batch = Vec::new();
        let mut next = first.or_else(|| self.tasks.try_join_next_with_id());
        while let Some(landed) = next {
            let id = match &landed {
                Ok((id, _)) => *id,
                Err(error) => error.id(),
            };
            if let Some(Flight { order, .. }) = self.about.remove(&id) {
                let (report, exchange) = match landed {
                    Ok((_, fetched)) => fetched,
                    Err(error) => (crashed(&error, now), None),
                };
                batch.push(Fetched { order, report, exchange });
            }
            next = if batch.len() < max { self.tasks.try_join_next_with_id() } else { None };
        }
        batch
    }

    /// When to look after them at the latest.
    pub(super) fn look_at(&self) -> Option<Instant> {
        self.look_at
    }

    /// Renews what is a third into its lease and gives up what is beyond its limits.
    pub(super) async fn look_after(&mut self, frontier: &Frontier) -> Result<()> {
        let (now, clock) = (Instant::now(), frontier.now());
        // F40: a lease must not hold for as long as the clock was ahead, nor an order believe that it does.
        let went_back = clock.plus(CLOCK_STEP) < std::mem::replace(&mut self.seen, clock);
        let jumped = clock >= self.until || went_back;
        if !jumped && self.look_at.is_none_or(|at| now < at) {
            return Ok(());
        }
        let mut due = Vec::new();
        for (id, flight) in &mut self.about {
            if flight.limit.is_none_or(|limit| now >= limit) {
                flight.task.abort();
                flight.limit = None;
            } else if jumped || now >= flight.renew_at {
                due.push(*id);
            }
        }
        // In one order, whatever order they lie in.
        due.sort_unstable_by_key(|id| self.about.get(id).map(|flight| flight.order.lease));
        for some in due.chunks(RENEW_MAX) {
            let orders: Vec<&Order> = some.iter().filter_map(|id| Some(&self.about.get(id)?.order)).collect();
            let renewed = frontier.renew(&orders).await?;
            for (id, until) in some.iter().zip(renewed) {
                let Some(flight) = self.about.get_mut(id) else { continue };
                // One that was taken back is home too late, whenever that is: there is nothing to renew any
                // more.
                until.into_iter().for_each(|until| flight.order.held.renew(until));
                flight.renew_at = now + until.map_or(FOREVER, |end| third(end, clock));
            }
        }
        let flying = || self.about.values().filter(|flight| flight.limit.is_some());
        let times = |flight: &Flight| {
            let waits_from = (!flight.waits(now)).then_some(flight.begun + PATIENCE);
            [Some(flight.renew_at), flight.limit, waits_from]
        };
        self.look_at = flying().flat_map(times).flatten().min();
        self.until = flying()
            .map(|flight| flight.order.held.ends())
            .filter(|until| *until > clock)
            .min()
            .unwrap_or(Time(i64::MAX));
        Ok(())
    }
}

impl Flight {
    fn waits(&self, now: Instant) -> bool {
        self.order.lane == Lane::Silent || now >= self.begun + PATIENCE
    }
}

/// Of a lease that ends then.
fn third(until: Time, now: Time) -> Duration {
    duration(Span(until.since(now).0 / 3))
}

/// Not so long that adding it to the present overflows.
fn duration(span: Span) -> Duration {
    Duration::from_millis(span.0).min(FOREVER)
}

/// A page that makes the fetcher panic, or keeps it beyond all limits, is a broken page (A11).
fn crashed(error: &JoinError, now: Time) -> Report {
    let (kind, problem) = if error.is_cancelled() {
        (ErrorKind::Timeout, "given up: reading it took longer than the limits allow")
    } else {
        (ErrorKind::Broken, "reading it failed on this side, with a fault of the program")
    };
    let mut report = Report::bare(now, Fetch::NoAnswer(kind));
    report.problem = Some(problem.to_owned());
    report
}
