//! The list of all captures of a URL (R3), made as it is taken.

use app::captures::replay::{At, Times, find};
use axum::body::{Body, Bytes};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use replay::memento::{List, Site};
use replay::place::ListFormat;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use super::{Visit, missing};

const PIECES_AHEAD: usize = 2;

pub(super) async fn list(visit: &Visit<'_>, url: &str, format: ListFormat) -> app::Answer<Response> {
    let app = visit.replay.app.clone();
    let Some(found) = find(&app, &visit.collection, url, At::Last).await? else {
        return Ok(missing(visit, url));
    };
    let ends = (found.beside.first.unwrap_or(found.time), found.time);
    let (origin, prefix, url) = (visit.origin.clone(), visit.prefix.clone(), found.url.clone());
    let (send, receive) = mpsc::channel::<std::io::Result<Bytes>>(PIECES_AHEAD);
    tokio::spawn(async move {
        let mut list = List::new(Site { origin: &origin, prefix: &prefix, url: &url }, format, ends);
        let mut times = Times::of(&found);
        let mut piece = list.begin();
        loop {
            match times.next(&app).await {
                Ok(Some(page)) => page
                    .into_iter()
                    // What came in the meantime is in the next list.
                    .filter(|time| *time <= ends.1)
                    .for_each(|time| piece.push_str(&list.add(time))),
                Ok(None) => break,
                Err(problem) => return drop(send.send(Err(std::io::Error::other(problem))).await),
            }
            if send.send(Ok(std::mem::take(&mut piece).into())).await.is_err() {
                return;
            }
        }
        piece.push_str(&list.end());
        let _ = send.send(Ok(piece.into())).await;
    });
    let kind = match format {
        ListFormat::Link => "application/link-format",
        ListFormat::Json => "application/json",
    };
    Ok(([(header::CONTENT_TYPE, kind)], Body::from_stream(ReceiverStream::new(receive))).into_response())
}
