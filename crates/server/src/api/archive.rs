//! The archive held against the captures: as a stream, since it may take hours.

use std::io;
use std::ops::ControlFlow;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, mpsc};
use tokio_stream::wrappers::ReceiverStream;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{Answer, App, Problem, Query};
use harvest::wire::archive::check::{Finding, Summary, check};
use harvest::wire::archive::{Damage, Loss};

/// Findings a reader may be behind.
const AHEAD: usize = 64;
/// Checks at the same time: each reads as fast as the disk can.
const AT_ONCE: usize = 1;

static TURNS: Semaphore = Semaphore::const_new(AT_ONCE);

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(check_archive))
}

#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct How {
    /// Only whether each file is there and as long as it was.
    #[serde(default)]
    #[param(inline)]
    quick: bool,
}

/// Hold the captures against the files of the archive: JSON lines, the last of them a summary
///
/// `file` for a file that is missing, cut off, damaged, not known to the store or set aside; `record` for one that no capture points to;
/// `capture` for one that is not where it should be or not what it was; `behind` if the store knows less than it should; `progress` in
/// between; `summary` at the end, with `sound`. An answer without it is not the whole.
#[utoipa::path(
    get,
    path = "/api/v1/archive/check",
    tag = "archive",
    params(How),
    responses(
        (status = 200, description = "One line a finding", body = String, content_type = "application/x-ndjson"),
        (status = 503, description = "Another check is under way"),
    ),
)]
async fn check_archive(State(app): State<App>, Query(how): Query<How>) -> Answer<Response> {
    let turn = TURNS.try_acquire().map_err(|_| Problem::unavailable("another check is under way"))?;
    let (send, receive) = mpsc::channel(AHEAD);
    let handle = Handle::current();
    tokio::task::spawn_blocking(move || {
        let _turn = turn;
        handle.block_on(async {
            let hear = async |finding: Finding| match send.send(Ok(line(&finding_json(&finding)))).await {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            };
            let last = match check(&app.frontier, &app.data, !how.quick, hear).await {
                Ok(Some(summary)) => Ok(line(&summary_json(&summary))),
                Ok(None) => return,
                Err(error) => {
                    tracing::error!("the archive could not be checked: {error:#}");
                    Err(io::Error::other(error))
                }
            };
            let _ = send.send(last).await;
        });
    });
    let body = Body::from_stream(ReceiverStream::new(receive));
    Ok(([(header::CONTENT_TYPE, "application/x-ndjson")], body).into_response())
}

fn line(event: &Value) -> Bytes {
    format!("{event}\n").into()
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
