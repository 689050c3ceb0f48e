//! The main loop (F5–F8) over the ports: reserve, fetch, archive, commit, with a bounded number of
//! workers.
//!
//! Each order is fetched in a task of its own. Everything else is done in turns by one task: take
//! what has been fetched since last time → archive it, one sync for all, and meanwhile put together
//! the one transaction for all → commit it → reserve for the workers that are free. So nobody fights for the head of
//! the host queue or for the row of a host that answers on several connections; a slow disk makes
//! the turns larger, and fetching waits for it; and what is archived but not committed is always
//! the last thing in its file.
//!
//! Waiting is no work: whoever asks a host that has not answered yet, or not the last time, does so
//! beside the workers, in a [lane](crate::lane) of its own that is bounded too; and a fetch that
//! takes long moves over to that lane, as far as there is room. So hosts that answer keep the
//! workers, however many do not (A15).
//!
//! Whatever happens at the same moment happens in one order (stop, what was fetched, time), so that
//! on paused time the same orders and answers give the same run: the simulator drives this very
//! loop.
//!
//! When asked to stop, it reserves no more and commits what is in flight, as far as that comes home
//! soon; the reservations of the rest are taken back at the next start.

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
use crate::lane::Room;
use crate::ports::{Archive, CaptureKey, Fetcher, Order, Report};
use crate::schema::{Capture, NodeFigures};
use flights::Flights;

/// The longest sleep where others may add something, or set the clock, without telling.
pub const IDLE_MAX: Span = Span::seconds(1);
/// Time between two sweeps.
const SWEEP_EVERY: Span = Span::seconds(1);
/// How long a run that is to stop waits for what is in flight.
const STOP_WITHIN: Duration = Duration::from_secs(10);
/// Harvests committed together.
const BATCH_MAX: usize = 128;

/// Hosts that are waited for, beside the workers, for each of them and in all: each is a task and a
/// socket or two, and no more.
const WAITING_PER_WORKER: usize = 8;
const WAITING_MAX: usize = 1024;

/// How many may wait for hosts that have not answered, beside so many workers.
pub fn waiting_max(workers: usize) -> usize {
    workers.saturating_mul(WAITING_PER_WORKER).min(WAITING_MAX)
}

/// Drives a frontier with a fetcher and an archive.
#[derive(Debug)]
pub struct Harvester<F, A, W> {
    pub frontier: Arc<Frontier>,
    pub fetcher: Arc<F>,
    pub archive: Arc<A>,
    /// Hears of every harvest that was committed.
    pub witness: Arc<W>,
    /// Fetches at the same time, of hosts that answer.
    pub workers: usize,
    /// The longest sleep while nothing is due.
    pub idle_max: Span,
    pub end: End,
}

/// What can be done in the next turn as well. Who lost to other nodes again and again leaves it at
/// that for now (the store counts it), and does not end a harvest for it.
fn or_next_turn<T>(done: Result<T>) -> Result<Option<T>> {
    match done {
        Err(store::Error::Conflict { .. }) => Ok(None),
        done => done.map(Some),
    }
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

    /// A URL was not tried yet, but something may have been archived on the way: robots.txt was
    /// read first.
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

/// Why the loop ended before it was told to.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error(transparent)]
    Store(#[from] store::Error),
    /// What was fetched could not be put on disk, so it was not committed either.
    #[error("the archive cannot be written: {0}")]
    Archive(String),
}

/// What a run of the loop did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub harvests: u64,
    pub captures: u64,
    pub added: u64,
    pub bytes: u64,
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
    pub async fn run(&self, mut stop: watch::Receiver<bool>) -> Result<Tally, RunError> {
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
            let figures =
                NodeFigures { in_flight: flights.len() as u64, harvests: tally.harvests, bytes: tally.bytes };
            self.frontier.beat_if_due(|| flights.shards(), figures).await?;
            if !stopping {
                self.sweep(&mut swept).await?;
            }
            let unsettled = !stopping && self.frontier.settle_clock().await?;
            let room = if stopping { Room::of(0) } else { self.room(&flights, &tally) };
            let mut next = None;
            if room.is_some()
                && let Some(reserved) = or_next_turn(self.frontier.reserve_in(room).await)?
            {
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
            if room.is_some() && idle == Span::ZERO && self.room(&flights, &tally).is_some() {
                tokio::task::yield_now().await;
                continue;
            }
            let idle = if unsettled { Span::ZERO } else { idle.min(self.idle_max) };
            let idle = Duration::from_millis(idle.0.max(1));
            let wake = (room.is_some() || stopping || unsettled).then(|| Instant::now() + idle);
            let ends = self.frontier.next_end().filter(|_| room.is_some());
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
            or_next_turn(self.frontier.sweep().await)?;
            *swept = Some(now);
        }
        Ok(())
    }

    /// Who may start something. Who rests between two requests holds nobody either (A15); after a
    /// while it counts among those that wait.
    fn room(&self, flights: &Flights<F::Exchange>, tally: &Tally) -> Room {
        let (all, waiting, waiting_max) = (flights.len(), flights.waiting(), waiting_max(self.workers));
        let aside = waiting.min(waiting_max).max(self.frontier.resting());
        let live = self.workers.saturating_sub(all.saturating_sub(aside));
        let silent = waiting_max.saturating_sub(waiting);
        let left = match self.end.max_harvests {
            Some(max) => max.saturating_sub(tally.harvests + all as u64),
            None => u64::MAX,
        };
        let total = live.saturating_add(silent).min(usize::try_from(left).unwrap_or(usize::MAX));
        Room { live, silent, total }
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
