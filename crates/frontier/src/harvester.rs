//! The main loop (F5–F8) over the ports: reserve, fetch, archive, commit, with a bounded number of workers.
//!
//! One task reserves for all workers that are free and sweeps now and then; each order is fetched, archived and committed in a task of
//! its own. When asked to stop, it reserves no more and waits for what is in flight.

use std::sync::Arc;
use std::time::Duration;

use policy::time::Span;
use store::{Error, Result};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::Frontier;
use crate::complete::Completed;
use crate::ports::{Archive, Fetcher, Order, Report};

/// The longest sleep: somebody else may have added something.
const IDLE_MS_MAX: u64 = 1000;
/// Turns of the loop between two sweeps.
const SWEEP_EVERY: u32 = 64;

/// Drives a frontier with a fetcher and an archive.
#[derive(Debug)]
pub struct Harvester<F, A> {
    pub frontier: Arc<Frontier>,
    pub fetcher: Arc<F>,
    pub archive: Arc<A>,
    /// Fetches at the same time.
    pub workers: usize,
    /// End when nothing is queued or in flight any more.
    pub until_done: bool,
}

/// What a run of the loop did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub harvests: u64,
    pub captures: u64,
    pub added: u64,
    pub leases_lost: u64,
    /// Harvests whose archiving failed; they are tried again when their lease is taken back.
    pub archive_failures: u64,
}

impl<F, A> Harvester<F, A>
where
    F: Fetcher + 'static,
    A: Archive<F::Exchange> + 'static,
{
    /// Runs until told to stop, or, if so asked, until done.
    pub async fn run(&self, mut stop: watch::Receiver<bool>) -> Result<Tally> {
        let mut tally = Tally::default();
        let mut working: JoinSet<Result<Step>> = JoinSet::new();
        let mut turns = 0u32;
        loop {
            while let Some(done) = working.try_join_next() {
                tally.add(done)?;
            }
            if *stop.borrow() {
                break;
            }
            if turns.is_multiple_of(SWEEP_EVERY) {
                self.frontier.sweep().await?;
            }
            turns = turns.wrapping_add(1);
            let reserved = self.frontier.reserve(self.workers - working.len()).await?;
            for order in reserved.orders {
                working.spawn(harvest(
                    Arc::clone(&self.frontier),
                    Arc::clone(&self.fetcher),
                    Arc::clone(&self.archive),
                    order,
                ));
            }
            if reserved.next.is_none() && working.is_empty() && self.until_done {
                break;
            }
            let now = self.frontier.now();
            let idle = reserved.next.map_or(Span(IDLE_MS_MAX), |next| next.since(now));
            if idle == Span::ZERO && working.len() < self.workers {
                continue;
            }
            let sleep = tokio::time::sleep(Duration::from_millis(idle.0.clamp(1, IDLE_MS_MAX)));
            tokio::select! {
                () = sleep, if working.len() < self.workers => {}
                Some(done) = working.join_next() => tally.add(done)?,
                _ = stop.changed() => {}
            }
        }
        while let Some(done) = working.join_next().await {
            tally.add(done)?;
        }
        Ok(tally)
    }
}

enum Step {
    Completed(Completed, u64),
    NotArchived,
}

async fn harvest<F, A>(
    frontier: Arc<Frontier>,
    fetcher: Arc<F>,
    archive: Arc<A>,
    order: Order,
) -> Result<Step>
where
    F: Fetcher,
    A: Archive<F::Exchange>,
{
    let (report, exchange): (Report, _) = fetcher.fetch(&order).await;
    let captures = match exchange {
        None => Vec::new(),
        Some(exchange) => match archive.keep(&order, exchange).await {
            Ok(captures) => captures,
            // The slot stays until the sweeper takes it back: nothing is committed that is not archived.
            Err(_) => return Ok(Step::NotArchived),
        },
    };
    match frontier.complete(&order, &report, &captures).await {
        Ok(Completed::LeaseLost) => {
            archive.abandon(&captures).await;
            Ok(Step::Completed(Completed::LeaseLost, 0))
        }
        Ok(done) => Ok(Step::Completed(done, captures.len() as u64)),
        // It may have happened: the bytes stay, and the next start compares them with the store.
        Err(error @ Error::Undetermined(_)) => Err(error),
        Err(error) => {
            archive.abandon(&captures).await;
            Err(error)
        }
    }
}

impl Tally {
    fn add(&mut self, done: Result<Result<Step>, tokio::task::JoinError>) -> Result<()> {
        let done = done.map_err(|e| Error::Unavailable {
            reason: format!("a worker ended badly: {e}"),
            transient: false,
        })?;
        match done? {
            Step::NotArchived => self.archive_failures += 1,
            Step::Completed(Completed::LeaseLost, _) => self.leases_lost += 1,
            Step::Completed(Completed::Done(summary), captures) => {
                self.harvests += 1;
                self.captures += captures;
                self.added += summary.added;
            }
        }
        Ok(())
    }
}
