//! The archive held against the captures: as a stream, since it may take hours.

use anyhow::Context;
use harvest::wire::archive::check::{Finding, check};
use serde::Deserialize;
use serde_json::Value;
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, mpsc};
use utoipa::IntoParams;

use super::{Answer, App, Problem};

/// Findings a reader may be behind.
const AHEAD: usize = 64;

/// Checks at the same time: each reads as fast as the disk can.
const AT_ONCE: usize = 1;

static TURNS: Semaphore = Semaphore::const_new(AT_ONCE);

#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct How {
    /// Only whether each file is there and as long as it was.
    #[serde(default)]
    #[param(inline)]
    pub quick: bool,
}

/// Holds the captures against the files of the archive. The findings come as they are made, as
/// events; the last of them is the summary.
pub fn check_archive(app: &App, how: &How) -> Answer<mpsc::Receiver<anyhow::Result<Value>>> {
    let turn = TURNS.try_acquire().map_err(|_| Problem::unavailable("another check is under way"))?;
    let (send, receive) = mpsc::channel(AHEAD);
    let (handle, app, full) = (Handle::current(), app.clone(), !how.quick);
    tokio::task::spawn_blocking(move || {
        let _turn = turn;
        handle.block_on(async {
            let hear = async |finding: Finding| -> anyhow::Result<()> {
                send.send(serde_json::to_value(finding).map_err(Into::into)).await.context("nobody listens")
            };
            let last = check(&app.frontier, &app.data, full, hear).await;
            let last = last.and_then(|summary| Ok(serde_json::to_value(summary)?));
            if let Err(error) = &last
                && !send.is_closed()
            {
                tracing::error!("the archive could not be checked: {error:#}");
            }
            // Who had enough of it does not hear this either.
            let _ = send.send(last).await;
        });
    });
    Ok(receive)
}
