//! The link index beside a harvest: its observers work as long as the harvest does, and at its end bring everything to rest.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::Result;
use frontier::Frontier;
use index::{Index, Workers};
use tokio::task::JoinSet;

/// Between two looks for indexes that came into being.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Works until it is dropped; ends only with an error.
pub(crate) async fn keep_current(frontier: &Frontier) -> anyhow::Error {
    let mut working = JoinSet::new();
    let mut known = BTreeSet::new();
    loop {
        match Index::names(frontier.store()).await {
            Ok(names) => {
                for name in names.into_iter().filter(|name| !known.contains(name)).collect::<Vec<_>>() {
                    match frontier.index(&name).await {
                        Ok(index) => {
                            working.spawn(async move {
                                Workers::new(&index, 1).run(std::future::pending()).await
                            });
                            known.insert(name);
                        }
                        Err(error) => return error.into(),
                    }
                }
            }
            Err(error) => return error.into(),
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

/// Until every index has taken in what it was told.
pub(crate) async fn to_rest(frontier: &Frontier) -> Result<()> {
    for name in Index::names(frontier.store()).await? {
        frontier.index(&name).await?.to_rest().await?;
    }
    Ok(())
}
