//! From what was fetched to what is archived and committed.
//!
//! A batch is archived with one sync and committed in one transaction, or not at all: then what was
//! archived of it is cut off again, and it is done anew in another shape. The transaction is worked
//! out while the disk syncs, and committed when it has. Whoever lost its lease is
//! left out. What weighs too much for one transaction is split before; and should a batch turn out
//! too large all the same, it is halved until it fits. A page that does not fit alone, whatever is
//! left out of it, is an error of that page (A12): the harvest goes on.

use store::Error;

use super::flights::Fetched;
use super::{Harvested, Harvester, RunError, Tally, Witness};
use crate::complete::{CompletedAll, Harvest};
use crate::ports::{Archive, Fetch, Fetcher, Kept, Report};
use crate::schema::ErrorKind;
use crate::size::{batch_bytes_max, weight};

/// What became of a batch.
enum Committed {
    Done,
    /// None of it, since these had lost their leases.
    LeasesLost(Vec<usize>),
    /// None of it.
    TooLarge(Error),
}

impl<F, A, W> Harvester<F, A, W>
where
    F: Fetcher + 'static,
    F::Exchange: 'static,
    A: Archive<F::Exchange>,
    W: Witness,
{
    /// Archives and commits, in as many transactions as it takes.
    pub(super) async fn commit(
        &self,
        batch: Vec<Fetched<F::Exchange>>,
        tally: &mut Tally,
    ) -> Result<(), RunError> {
        // The last comes first.
        let mut waiting = apart(batch, batch_bytes_max(self.frontier.store().txn_bytes_max()));
        waiting.reverse();
        while let Some(mut batch) = waiting.pop() {
            match self.commit_together(&batch, tally).await? {
                Committed::Done => {}
                Committed::LeasesLost(lost) => {
                    tally.leases_lost += lost.len() as u64;
                    let mut at = 0..;
                    batch.retain(|_| at.next().is_some_and(|at| !lost.contains(&at)));
                    waiting.push(batch);
                }
                Committed::TooLarge(_) if batch.len() > 1 => {
                    let second = batch.split_off(batch.len() / 2);
                    waiting.extend([second, batch]);
                }
                Committed::TooLarge(error) => {
                    let Some(own) = batch.first_mut().filter(|own| !own.is_bare()) else {
                        return Err(error.into());
                    };
                    own.make_bare(&error);
                    waiting.push(batch);
                }
            }
        }
        Ok(())
    }

    async fn commit_together(
        &self,
        batch: &[Fetched<F::Exchange>],
        tally: &mut Tally,
    ) -> Result<Committed, RunError> {
        if batch.is_empty() {
            return Ok(Committed::Done);
        }
        let kept = self.keep(batch).await?;
        let mut captures = kept.captures.into_iter();
        let captures: Vec<_> = batch
            .iter()
            .map(|fetched| fetched.exchange.as_ref().and_then(|_| captures.next()).unwrap_or_default())
            .collect();
        let harvests: Vec<Harvest<'_>> = batch
            .iter()
            .zip(&captures)
            .map(|(fetched, captures)| Harvest { order: &fetched.order, report: &fetched.report, captures })
            .collect();
        let unkept = parking_lot::Mutex::new(None);
        let on_disk = Box::pin(async {
            let synced = self.archive.synced().await;
            synced.inspect_err(|reason| *unkept.lock() = Some(reason.clone()))
        });
        let refused = match self.frontier.complete_once(&harvests, &kept.files, on_disk).await {
            Ok(CompletedAll::Done(summaries)) => {
                self.archive.settled();
                for (harvest, summary) in harvests.iter().zip(&summaries) {
                    let Harvest { order, report, captures } = *harvest;
                    tally.captures += captures.len() as u64;
                    tally.added += summary.added;
                    tally.bytes += report.bytes;
                    let harvested = Harvested { order, report, captures, summary };
                    if report.result.is_harvest() {
                        tally.harvests += 1;
                        self.witness.harvested(&harvested);
                    } else {
                        self.witness.put_off(&harvested);
                    }
                }
                return Ok(Committed::Done);
            }
            Ok(CompletedAll::LeasesLost(lost)) => Ok(Committed::LeasesLost(lost)),
            // It may have happened: the bytes stay, and the next start compares them with the store.
            Err(error @ Error::Undetermined(_)) => return Err(error.into()),
            Err(error @ Error::TooLarge { .. }) => Ok(Committed::TooLarge(error)),
            Err(error) => match unkept.into_inner() {
                // The archive has taken it back.
                Some(reason) => return Err(RunError::Archive(reason)),
                None => Err(error.into()),
            },
        };
        self.archive.abandon().await.map_err(RunError::Archive)?;
        refused
    }

    /// A harvest that cannot be archived is not committed either: the run ends, and the next one
    /// harvests it again.
    async fn keep(&self, batch: &[Fetched<F::Exchange>]) -> Result<Kept, RunError> {
        let exchanges: Vec<_> = batch
            .iter()
            .filter_map(|fetched| fetched.exchange.as_ref().map(|exchange| (&fetched.order, exchange)))
            .collect();
        // Also with nothing to keep: from then on `abandon` is about this batch, and no longer about the
        // one before.
        self.archive.keep(&exchanges).await.map_err(RunError::Archive)
    }
}

/// Batches that fit into a transaction each, as far as can be told.
fn apart<E>(batch: Vec<Fetched<E>>, bytes_max: usize) -> Vec<Vec<Fetched<E>>> {
    let mut batches: Vec<Vec<Fetched<E>>> = Vec::new();
    let mut sum = 0;
    for fetched in batch {
        let own = weight(&fetched.order, &fetched.report);
        match batches.last_mut() {
            Some(last) if sum + own <= bytes_max => {
                sum += own;
                last.push(fetched);
            }
            _ => {
                sum = own;
                batches.push(vec![fetched]);
            }
        }
    }
    batches
}

impl<E> Fetched<E> {
    /// Nothing is left of it that could be left out.
    fn is_bare(&self) -> bool {
        self.exchange.is_none() && self.report.outlinks.is_empty() && self.report.page.is_none()
    }

    fn make_bare(&mut self, error: &Error) {
        let mut report = Report::bare(self.report.at, Fetch::NoAnswer(ErrorKind::Broken));
        report.response_time = self.report.response_time;
        report.problem = Some(format!("what is to be written of it does not fit: {error}"));
        self.report = report;
        self.exchange = None;
    }
}
