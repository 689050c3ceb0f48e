//! The main loop (F5–F8) over the ports: reserve, fetch, archive, commit, with a bounded number of workers.
//!
//! Each order is fetched in a task of its own. Everything else is done in turns by one task: take what has been fetched
//! since last time → archive it, one sync for all → commit it, one transaction for all → reserve for the workers that
//! are free. So nobody fights for the head of the host queue or for the row of a host that answers on several connections; a slow disk makes
//! the turns larger, and fetching waits for it; and what is archived but not committed is always the last thing in its file.
//!
//! Whatever happens at the same moment happens in one order (stop, what was fetched, time), so that on paused time the same
//! orders and answers give the same run: the simulator drives this very loop.
//!
//! When asked to stop, it reserves no more and commits what is in flight, as far as that comes home soon; the reservations of the rest
//! are taken back at the next start.

mod commit;
mod flights;

use std::sync::Arc;
use std::time::Duration;

use policy::time::{Span, Time};
use store::Result;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::Frontier;
use crate::complete::Summary;
use crate::ports::{Archive, CaptureKey, Fetcher, Order, Report};
use crate::schema::Capture;
use flights::Flights;

/// The longest sleep where others may add something, or set the clock, without telling.
pub const IDLE_MAX: Span = Span::seconds(1);
/// Time between two sweeps.
const SWEEP_EVERY: Span = Span::seconds(1);
/// How long a run that is to stop waits for what is in flight.
const STOP_WITHIN: Duration = Duration::from_secs(10);
/// Harvests committed together.
const BATCH_MAX: usize = 128;

/// Drives a frontier with a fetcher and an archive.
#[derive(Debug)]
pub struct Harvester<F, A, W> {
    pub frontier: Arc<Frontier>,
    pub fetcher: Arc<F>,
    pub archive: Arc<A>,
    /// Hears of every harvest that was committed.
    pub witness: Arc<W>,
    /// Fetches at the same time.
    pub workers: usize,
    /// The longest sleep while nothing is due.
    pub idle_max: Span,
    pub end: End,
}

/// For as long as that, but not for ever.
fn wait(span: Span) -> Duration {
    Duration::from_millis(span.min(Span::days(1)).0.max(1))
}

/// When a run ends, if nobody stops it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct End {
    /// When nothing is in flight and no URL comes due within this time.
    pub idle_for: Option<Span>,
    pub max_harvests: Option<u64>,
}

/// Hears of harvests.
pub trait Witness: Send + Sync {
    fn harvested(&self, harvested: &Harvested<'_>);

    /// A URL was not tried yet, but something may have been archived on the way: robots.txt was read first.
    fn put_off(&self, _harvested: &Harvested<'_>) {}

    /// What waits and what works, once a turn.
    fn turn(&self, in_flight: usize);
}

/// A harvest that was committed.
#[derive(Clone, Copy, Debug)]
pub struct Harvested<'a> {
    pub order: &'a Order,
    pub report: &'a Report,
    pub captures: &'a [(CaptureKey, Capture)],
    pub summary: &'a Summary,
}

/// What a run of the loop did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub harvests: u64,
    pub captures: u64,
    pub added: u64,
    pub leases_lost: u64,
}

impl<F, A, W> Harvester<F, A, W>
where
    F: Fetcher + 'static,
    F::Exchange: 'static,
    A: Archive<F::Exchange>,
    W: Witness,
{
    /// Runs until told to stop, or until its end is reached.
    pub async fn run(&self, mut stop: watch::Receiver<bool>) -> Result<Tally> {
        let mut tally = Tally::default();
        let mut flights = Flights::new();
        let mut swept = None;
        let mut first = None;
        let mut deadline = None;
        loop {
            let batch = flights.home(first.take(), self.frontier.now(), BATCH_MAX);
            if !batch.is_empty() {
                self.commit(batch, &mut tally).await?;
            }
            let stopping = *stop.borrow();
            if stopping {
                let deadline = *deadline.get_or_insert_with(|| Instant::now() + STOP_WITHIN);
                if Instant::now() >= deadline {
                    return Ok(tally);
                }
            }
            // Whoever lives keeps what it holds, before anything is taken back.
            flights.look_after(&self.frontier).await?;
            if !stopping {
                self.sweep(&mut swept).await?;
            }
            let unsettled = !stopping && self.frontier.settle_clock().await?;
            let free = if stopping { 0 } else { self.free(&flights, &tally) };
            let mut next = None;
            if free > 0 {
                let reserved = self.frontier.reserve(free).await?;
                next = reserved.next;
                let now = self.frontier.now();
                for order in reserved.orders {
                    flights.start(&self.fetcher, order, now);
                }
            }
            self.witness.turn(flights.len());
            if flights.is_empty() && (stopping || self.is_over(&tally).await?) {
                return Ok(tally);
            }
            let now = self.frontier.now();
            let idle = next.map_or(self.idle_max, |next| next.since(now));
            if free > 0 && idle == Span::ZERO && self.free(&flights, &tally) > 0 {
                tokio::task::yield_now().await;
                continue;
            }
            let idle = if unsettled { Span::ZERO } else { idle.min(self.idle_max) };
            let idle = Duration::from_millis(idle.0.max(1));
            let wake = (free > 0 || stopping || unsettled).then(|| Instant::now() + idle);
            let ends = self.frontier.next_end().filter(|_| free > 0);
            let ends = ends.map(|end| Instant::now() + wait(end.since(now)));
            let wake = wake.into_iter().chain(flights.look_at()).chain(ends).min();
            let sleep = tokio::time::sleep_until(wake.unwrap_or_else(Instant::now));
            tokio::select! {
                biased;
                _ = stop.changed(), if !stopping => {}
                Some(landed) = flights.next() => first = Some(landed),
                () = self.frontier.rest_begun() => {}
                () = sleep, if wake.is_some() => {}
            }
        }
    }

    /// Now and then; at once if a blacklisting has ended, or the clock went back.
    async fn sweep(&self, swept: &mut Option<Time>) -> Result<()> {
        let now = self.frontier.now();
        let due = swept.is_none_or(|at| now < at || now >= at.plus(SWEEP_EVERY));
        if due || self.frontier.next_end().is_some_and(|end| now >= end) {
            self.frontier.sweep().await?;
            *swept = Some(now);
        }
        Ok(())
    }

    /// Workers that may start something.
    fn free(&self, flights: &Flights<F::Exchange>, tally: &Tally) -> usize {
        // Who rests between two requests holds nobody (A15).
        let busy = flights.len().saturating_sub(self.frontier.resting());
        let free = self.workers.saturating_sub(busy);
        let Some(max) = self.end.max_harvests else { return free };
        let left = max.saturating_sub(tally.harvests + flights.len() as u64);
        free.min(usize::try_from(left).unwrap_or(usize::MAX))
    }

    async fn is_over(&self, tally: &Tally) -> Result<bool> {
        if self.end.max_harvests.is_some_and(|max| tally.harvests >= max) {
            return Ok(true);
        }
        match self.end.idle_for {
            Some(grace) => self.frontier.is_idle(grace).await,
            None => Ok(false),
        }
    }
}
