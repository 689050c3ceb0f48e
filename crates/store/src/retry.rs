//! The only retry loop.
//!
//! A run that lost to another writer runs again on a fresh snapshot, in its [turn](crate::turn).
//! After a few losses (writers in other processes do not stand in our queues) it also pauses for
//! random, growing moments. Attempts are bounded; the last error is returned.

use std::sync::Arc;
use std::time::Duration;

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::limits::{CONFLICT_ATTEMPTS_MAX, RETRY_PAUSE_MS_MAX, UNAVAILABLE_ATTEMPTS_MAX};
use crate::stats::Stats;
use crate::turn::{Turn, Turns};
use crate::txn::Tx;

/// Losses without a pause.
const PAUSE_AFTER: u32 = 4;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum WhenUndetermined {
    Return,
    RunAgain,
}

pub(crate) struct Retry<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) turns: &'a Arc<Turns>,
    pub(crate) stats: &'a Stats,
    pub(crate) undetermined: WhenUndetermined,
}

impl Retry<'_> {
    pub(crate) async fn transact<T, F, Fut>(&self, mut run: F) -> Result<T>
    where
        F: FnMut(Tx) -> Fut,
        Fut: Future<Output = Result<T>>,
    {
        let mut conflicts = 0;
        let mut unavailable = 0;
        let mut turn: Option<Turn> = None;
        // An earlier run may have been committed: whatever stops a later one, nobody can say that nothing
        // happened.
        let mut unsure: Option<String> = None;
        loop {
            let error = match self.attempt(&mut run, &mut turn).await {
                Ok(value) => return Ok(value),
                Err(error) => error,
            };
            let (tries, tries_max) = match &error {
                Error::Conflict { .. } => {
                    Stats::add(&self.stats.conflicts);
                    conflicts += 1;
                    (conflicts, CONFLICT_ATTEMPTS_MAX)
                }
                Error::Undetermined(story) => {
                    Stats::add(&self.stats.undetermined);
                    if self.undetermined == WhenUndetermined::Return {
                        return Err(error);
                    }
                    unsure = Some(story.clone());
                    unavailable += 1;
                    (unavailable, UNAVAILABLE_ATTEMPTS_MAX)
                }
                Error::Unavailable { transient, .. } => {
                    Stats::add(&self.stats.unavailable);
                    if !transient {
                        return Err(unsure.map_or(error, Error::Undetermined));
                    }
                    unavailable += 1;
                    (unavailable, UNAVAILABLE_ATTEMPTS_MAX)
                }
                Error::Corrupt(_) | Error::TooLarge { .. } => return Err(error),
            };
            // A cluster that is away for minutes is waited for; who begins anew is told so, and waits there.
            let waits = self.engine.is_far() && !matches!(error, Error::Conflict { .. });
            if tries >= tries_max && !waits {
                Stats::add(&self.stats.gave_up);
                return Err(unsure.map_or(error, Error::Undetermined));
            }
            if let Error::Conflict { key_hash } = error {
                turn = Some(self.turns.take(key_hash, turn.take()).await);
            }
            self.pause(tries).await;
        }
    }

    async fn attempt<T, F, Fut>(&self, run: &mut F, turn: &mut Option<Turn>) -> Result<T>
    where
        F: FnMut(Tx) -> Fut,
        Fut: Future<Output = Result<T>>,
    {
        let tx = Tx::begin(self.engine.clone(), self.engine.snapshot().await?);
        let value = run(tx.clone()).await?;
        let set = tx.finish()?;
        if set.writes.is_empty() {
            return Ok(value);
        }
        if turn.is_none()
            && let Some(key_hash) = self.turns.contended(&set.hashes)
        {
            *turn = Some(self.turns.take(key_hash, None).await);
        }
        self.engine.commit(tx.snapshot(), set).await?;
        Stats::add(&self.stats.commits);
        Ok(value)
    }

    async fn pause(&self, tries: u32) {
        match self.engine {
            // Time is virtual where this engine is used: give others a turn instead.
            Engine::Mem(_) => tokio::task::yield_now().await,
            // Where nobody else is on it, and over the network.
            _ => {
                // The first losses cost nothing: the next snapshot already has what won.
                if let Some(exponent) = tries.checked_sub(PAUSE_AFTER) {
                    let ceiling = (1u64 << exponent.min(16)).min(RETRY_PAUSE_MS_MAX);
                    tokio::time::sleep(Duration::from_micros(fastrand::u64(0..=ceiling * 1000))).await;
                }
            }
        }
    }
}
