//! The archive held against the captures: as a stream, since it may take hours.

use std::ops::ControlFlow;

use harvest::wire::archive::check::{Finding, Summary, check};
use harvest::wire::archive::{Damage, Loss};
use serde::Deserialize;
use serde_json::{Value, json};
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
            let hear = async |finding: Finding| match send.send(Ok(finding_json(&finding))).await {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            };
            let last = match check(&app.frontier, &app.data, full, hear).await {
                Ok(Some(summary)) => Ok(summary_json(&summary)),
                Ok(None) => return,
                Err(error) => {
                    tracing::error!("the archive could not be checked: {error:#}");
                    Err(error)
                }
            };
            let _ = send.send(last).await;
        });
    });
    Ok(receive)
}

fn finding_json(finding: &Finding) -> Value {
    match finding {
        Finding::Lost(Loss { file, damage, captures }) => {
            let (bytes, known) = match damage {
                Damage::Missing => (None, None),
                Damage::Short { bytes, known } => (Some(bytes), Some(known)),
            };
            json!({ "event": "file", "problem": damage.word(), "file": file, "captures": captures, "bytes": bytes, "known": known })
        }
        Finding::Unknown { file, bytes } => {
            json!({ "event": "file", "problem": "unknown", "file": file, "bytes": bytes })
        }
        Finding::Aside { file, bytes } => {
            json!({ "event": "file", "problem": "set aside", "file": file, "bytes": bytes })
        }
        Finding::Damaged { file, from, to, reason } => {
            json!({ "event": "file", "problem": "damaged", "file": file, "from": from, "to": to, "reason": reason })
        }
        Finding::Behind { what, hint } => json!({ "event": "behind", "problem": what, "hint": hint }),
        Finding::Uncaptured { file, offset, url } => {
            json!({ "event": "record", "problem": "no capture", "file": file, "offset": offset, "url": url })
        }
        Finding::Capture { collection, time, capture, reason } => json!({
            "event": "capture",
            "problem": reason,
            "collection": collection,
            "url": capture.url,
            "time": time.to_string(),
            "file": capture.file,
            "offset": capture.offset,
            "length": capture.length,
        }),
        Finding::Progress { files, bytes } => json!({ "event": "progress", "files": files, "bytes": bytes }),
    }
}

fn summary_json(summary: &Summary) -> Value {
    json!({
        "event": "summary",
        "sound": summary.sound,
        "files": summary.files,
        "files_wrong": summary.files_wrong,
        "captures": summary.captures,
        "captures_wrong": summary.captures_wrong,
        "uncaptured": summary.uncaptured,
        "bytes": summary.bytes,
    })
}
