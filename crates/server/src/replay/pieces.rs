//! What is written on a thread of its own becomes the body of an answer, a few pieces ahead and no
//! more.

use std::io::{self, Write};
use std::time::Duration;

use app::{Answer, Problem};
use axum::body::{Body, Bytes};
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio_stream::wrappers::ReceiverStream;

/// Bodies at the same time: each has a thread. Pages load a handful of things at once, so the others
/// wait for their turn.
const AT_ONCE: usize = 6;
const TURN_WITHIN: Duration = Duration::from_secs(20);
const PIECE_BYTES: usize = 32 << 10;
const PIECES_AHEAD: usize = 4;
/// Who does not take a piece for so long wants no more.
const TAKEN_WITHIN: Duration = Duration::from_secs(30);

static TURNS: Semaphore = Semaphore::const_new(AT_ONCE);

/// What `work` writes, once it has said what that is.
pub(super) async fn written<T: Send + 'static>(
    work: impl FnOnce(Teller<T>) + Send + 'static,
) -> Answer<(T, Body)> {
    let turn = tokio::time::timeout(TURN_WITHIN, TURNS.acquire()).await;
    let turn = turn.ok().and_then(Result::ok).ok_or_else(|| Problem::unavailable("too many at once"))?;
    let (send, receive) = mpsc::channel(PIECES_AHEAD);
    let (say, told) = oneshot::channel();
    let handle = Handle::current();
    tokio::task::spawn_blocking(move || {
        let _turn = turn;
        work(Teller { say, out: Pieces { send, handle, buffer: Vec::new() } });
    });
    let said = told.await.map_err(|error| Problem::internal(&error))??;
    Ok((said, Body::from_stream(ReceiverStream::new(receive))))
}

/// Says what comes, or why nothing does.
pub(super) struct Teller<T> {
    say: oneshot::Sender<Answer<T>>,
    out: Pieces,
}

impl<T> Teller<T> {
    /// What is written afterwards is the body. None where nobody waits for it any more.
    pub(super) fn begin(self, what: T) -> Option<Pieces> {
        self.say.send(Ok(what)).ok().map(|()| self.out)
    }

    pub(super) fn fail(self, problem: Problem) {
        let _ = self.say.send(Err(problem));
    }
}

pub(super) struct Pieces {
    send: mpsc::Sender<io::Result<Bytes>>,
    handle: Handle,
    buffer: Vec<u8>,
}

impl Pieces {
    /// The rest of it; what failed on the way is cut off without its last chunk, so that no part is
    /// taken for the whole.
    pub(super) fn end(mut self, written: io::Result<()>) {
        match written.and_then(|()| self.flush()) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
            Err(error) => drop(self.pass(Err(error))),
        }
    }

    fn pass(&self, piece: io::Result<Bytes>) -> io::Result<()> {
        let sent =
            self.handle.block_on(async { tokio::time::timeout(TAKEN_WITHIN, self.send.send(piece)).await });
        match sent {
            Ok(Ok(())) => Ok(()),
            _ => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }
}

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= PIECE_BYTES {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let piece = std::mem::replace(&mut self.buffer, Vec::with_capacity(PIECE_BYTES));
        self.pass(Ok(piece.into()))
    }
}
