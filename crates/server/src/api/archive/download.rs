//! Bytes of a file on their way to somebody, a few pieces ahead and no more.

use std::io::Read;
use std::time::Duration;

use app::{Answer, Problem};
use axum::body::{Body, Bytes};
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, mpsc};
use tokio_stream::wrappers::ReceiverStream;

/// Downloads at the same time: each has a thread.
const AT_ONCE: usize = 4;
const PIECE_BYTES: usize = 64 << 10;
const PIECES_AHEAD: usize = 4;
/// Who does not take a piece for so long wants no more.
const TAKEN_WITHIN: Duration = Duration::from_secs(30);

static TURNS: Semaphore = Semaphore::const_new(AT_ONCE);

/// What `open` opens, read on a thread of its own. Also gives what `open` found out.
pub(super) async fn stream<T, R>(open: impl FnOnce() -> Answer<(T, R)> + Send + 'static) -> Answer<(T, Body)>
where
    T: Send + 'static,
    R: Read,
{
    let turn = TURNS.try_acquire().map_err(|_| Problem::unavailable("too many downloads at once"))?;
    let (send, receive) = mpsc::channel(PIECES_AHEAD);
    let (opened, is_open) = tokio::sync::oneshot::channel();
    let handle = Handle::current();
    tokio::task::spawn_blocking(move || {
        let _turn = turn;
        match open() {
            Err(problem) => drop(opened.send(Err(problem))),
            Ok((found, source)) => {
                if opened.send(Ok(found)).is_ok() {
                    pump(source, &send, &handle);
                }
            }
        }
    });
    let found = is_open.await.map_err(|error| Problem::internal(&error))??;
    Ok((found, Body::from_stream(ReceiverStream::new(receive))))
}

type Piece = std::io::Result<Bytes>;

fn pump(mut source: impl Read, send: &mpsc::Sender<Piece>, handle: &Handle) {
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        let read = match source.read(&mut piece) {
            Ok(0) => return,
            Ok(read) => Ok(Bytes::copy_from_slice(&piece[..read])),
            Err(error) => Err(error),
        };
        let failed = read.is_err();
        let sent = handle.block_on(async { tokio::time::timeout(TAKEN_WITHIN, send.send(read)).await });
        if failed || !matches!(sent, Ok(Ok(()))) {
            return;
        }
    }
}
