//! Observers at work while the process runs.
//!
//! A worker does what is worth a full batch at once. The rest it leaves lying for a moment, so that
//! there is more of it: pages until the next look, their links until there are no more pages, or for
//! a few looks, and ranks for a few times that. So while much comes in, batches are large, and what
//! trickles in is in the index after a second, and in its ranks after a few.

use std::sync::Arc;
use std::time::Duration;

use store::{Error, Result};
use tokio::task::JoinSet;

use super::step::WorksOn;
use crate::handle::Index;

/// Between two looks at what trickles in: at first, and at most when there is nothing.
const LOOK_MIN: Duration = Duration::from_millis(100);
const LOOK_MAX: Duration = Duration::from_secs(1);
/// Looks after which the links of thin shards are worked on whether there are pages or not.
const LINKS_AFTER_LOOKS: u32 = 8;
/// Rounds of links after which ranks are, likewise.
const RANKS_AFTER_ROUNDS: u32 = 2;

/// What was left lying, and for how long.
#[derive(Default)]
struct Left {
    looks: u32,
    rounds: u32,
}

/// Workers that bring an index to rest as things come.
#[derive(Clone)]
pub struct Workers {
    index: Index,
    count: usize,
    works_on: Arc<WorksOn>,
}

impl std::fmt::Debug for Workers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Workers")
            .field("index", &self.index)
            .field("count", &self.count)
            .finish_non_exhaustive()
    }
}

impl Workers {
    pub fn new(index: &Index, count: usize) -> Workers {
        Workers { index: index.clone(), count: count.max(1), works_on: Arc::new(|_| true) }
    }

    /// Only parts of the notes, where others look after the rest (M7).
    #[must_use]
    pub fn on(self, works_on: impl Fn(u64) -> bool + Send + Sync + 'static) -> Workers {
        Workers { works_on: Arc::new(works_on), ..self }
    }

    /// Works until `stop` is ready, or the store fails for good. Batches that are under way then
    /// are given up; their notes wait for the next workers.
    pub async fn run(&self, stop: impl Future<Output = ()>) -> Result<()> {
        let mut workers = JoinSet::new();
        for number in 0..self.count {
            workers.spawn(work(self.index.clone(), number, Arc::clone(&self.works_on)));
        }
        let result = tokio::select! {
            () = stop => Ok(()),
            ended = workers.join_next() => match ended {
                Some(Ok(error)) => Err(error),
                Some(Err(panic)) => Err(Error::lasting(format!("an observer ended: {panic}"))),
                None => Ok(()),
            },
        };
        workers.shutdown().await;
        result
    }
}

/// Ends only with an error that waiting does not mend.
async fn work(index: Index, number: usize, works_on: Arc<WorksOn>) -> Error {
    // Workers begin far apart.
    let number = number * 3;
    let (mut pause, mut left) = (LOOK_MIN, Left::default());
    loop {
        match look(&index, number, &*works_on, &mut left).await {
            Ok(true) => pause = LOOK_MIN,
            Ok(false) => pause = (pause * 2).min(LOOK_MAX),
            Err(
                Error::Conflict { .. } | Error::Undetermined(_) | Error::Unavailable { transient: true, .. },
            ) => {}
            Err(error) => return error,
        }
        tokio::time::sleep(pause).await;
    }
}

/// Works while there is something worth it, then takes what little there is; whether there was
/// anything.
async fn look(index: &Index, number: usize, own: &WorksOn, left: &mut Left) -> Result<bool> {
    let mut worked = false;
    while index.step_full(number, own).await? {
        worked = true;
        tokio::task::yield_now().await;
    }
    let mut came = false;
    while index.step_pages(number, own).await? {
        (worked, came) = (true, true);
        left.looks += 1;
        if left.looks < LINKS_AFTER_LOOKS {
            return Ok(true);
        }
    }
    left.looks = 0;
    while index.step_links(number, own).await? {
        worked = true;
        tokio::task::yield_now().await;
    }
    left.rounds += 1;
    if came && left.rounds < RANKS_AFTER_ROUNDS {
        return Ok(true);
    }
    left.rounds = 0;
    while index.step_ranks(number, own).await? {
        worked = true;
        tokio::task::yield_now().await;
    }
    Ok(worked)
}
