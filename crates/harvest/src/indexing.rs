//! The link index beside a harvest: its observers work as long as the harvest does, and at its end
//! bring everything to rest.
//!
//! Where they fall behind, the harvest is held back until they have caught up, so that the index
//! stays current within seconds.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use frontier::{Brake, Frontier};
use index::{Index, Workers};
use tokio::task::JoinSet;

/// Between two looks for indexes that came into being, and at how much waits.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Notes of a shard that are counted.
const SHARD_NOTES_MAX: usize = 16;
/// With so many notes waiting the harvest is held back, and with so few let go again.
const HOLD_NOTES: u64 = 200;
const RELEASE_NOTES: u64 = 100;

/// Works until it is dropped; ends only with an error.
pub(crate) async fn keep_current(frontier: &Arc<Frontier>) -> anyhow::Error {
    let mut working = JoinSet::new();
    let mut known: Vec<Index> = Vec::new();
    loop {
        if let Err(error) = look(frontier, &mut known, &mut working).await {
            return error;
        }
        tokio::select! {
            () = tokio::time::sleep(LOOK_EVERY) => {}
            Some(ended) = working.join_next() => match ended {
                Ok(Err(error)) => return error.into(),
                Ok(Ok(())) => {}
                Err(panic) => return panic.into(),
            }
        }
    }
}

async fn look(
    frontier: &Arc<Frontier>,
    known: &mut Vec<Index>,
    working: &mut JoinSet<store::Result<()>>,
) -> Result<()> {
    for name in Index::names(frontier.store()).await? {
        if known.iter().all(|index| index.name() != name) {
            let index = frontier.index(&name).await?;
            known.push(index.clone());
            let own = Arc::clone(frontier);
            let workers = Workers::new(&index, 1).on(move |part| own.works_on_notes(part));
            working.spawn(async move { workers.run(std::future::pending()).await });
        }
    }
    let mut waiting = 0;
    for index in known {
        waiting = waiting.max(index.waiting(SHARD_NOTES_MAX).await?);
    }
    if waiting >= HOLD_NOTES {
        frontier.hold_back(Brake::Index, true);
    } else if waiting < RELEASE_NOTES {
        frontier.hold_back(Brake::Index, false);
    }
    Ok(())
}

/// Until every index has taken in what it was told.
pub(crate) async fn to_rest(frontier: &Frontier) -> Result<()> {
    for name in Index::names(frontier.store()).await? {
        frontier.index(&name).await?.to_rest().await?;
    }
    Ok(())
}
