//! Plays the answers of a web over TCP.
//!
//! One task accepts; each connection is a task of its own that ends with it. A connection reads a
//! request, plays its answer and reads the next, until either side has had enough. Head bytes are
//! bounded, and so are connections and waiting where the [`Setup`](super::Setup) says so: nobody
//! can fill the memory or keep a place for ever.

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::Shared;
use super::answer::{Answer, Step, Then};
use super::ask::{Ask, Parsed, parse};

const HEAD_BYTES_MAX: usize = 64 << 10;
/// For whoever was refused to notice.
const LINGER: Duration = Duration::from_secs(1);
const LINGER_BYTES_MAX: u64 = 1 << 20;
/// After accepting failed, which it does when the system runs out of something.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// Before a reset, which takes away what is still on its way: the asker must have read what came
/// before.
const RESET_PAUSE: Duration = Duration::from_millis(30);

/// A connection, encrypted or not.
trait Wire: AsyncRead + AsyncWrite + Unpin + Send {
    const ENCRYPTED: bool;

    fn tcp(&self) -> &TcpStream;
}

impl Wire for TcpStream {
    const ENCRYPTED: bool = false;

    fn tcp(&self) -> &TcpStream {
        self
    }
}

#[cfg(feature = "tls")]
impl Wire for tokio_rustls::server::TlsStream<TcpStream> {
    const ENCRYPTED: bool = true;

    fn tcp(&self) -> &TcpStream {
        self.get_ref().0
    }
}

/// Runs until aborted, and takes its connections with it.
pub(super) async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let places = Arc::new(Semaphore::new(shared.setup.connections_max));
    let mut connections = JoinSet::new();
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        while connections.try_join_next().is_some() {}
        match listener.accept().await {
            Ok((stream, _)) => {
                let shared = Arc::clone(&shared);
                let number = shared.connections.fetch_add(1, Ordering::SeqCst);
                connections.spawn(async move {
                    // A connection that broke has nobody left to tell.
                    let _ = serve(stream, number, &shared).await;
                    drop(place);
                });
            }
            Err(_) => sleep(ACCEPT_PAUSE).await,
        }
    }
}

async fn serve(stream: TcpStream, connection: usize, shared: &Shared) -> io::Result<()> {
    stream.set_nodelay(true)?;
    #[cfg(feature = "tls")]
    if let Some(tls) = &shared.setup.tls {
        let mut first = [0];
        stream.peek(&mut first).await?;
        // A handshake begins like that, and no request does.
        if first == [0x16] {
            return converse(tls.accept(stream).await?, connection, shared).await;
        }
    }
    converse(stream, connection, shared).await
}

/// Request after request, until either side goes.
async fn converse<W: Wire>(mut wire: W, connection: usize, shared: &Shared) -> io::Result<()> {
    let mut input = Vec::new();
    for turn in 0.. {
        match within(shared.setup.request_wait, next_ask(&mut wire, &mut input)).await?? {
            Next::End => return Ok(()),
            Next::Refuse(status) => {
                play(&mut wire, refusal(status).steps, || ()).await;
                wire.shutdown().await?;
                return linger(&mut wire).await;
            }
            Next::Ask(mut ask) => {
                (ask.connection, ask.turn, ask.encrypted) = (connection, turn, W::ENCRYPTED);
                let then = answered(&mut wire, &mut ask, shared).await?;
                if then != Then::Stay || !ask.keep_alive {
                    return leave(wire, then).await;
                }
            }
        }
    }
    Ok(())
}

/// Within a time, if there is one.
async fn within<T>(wait: Option<Duration>, what: impl Future<Output = T>) -> io::Result<T> {
    match wait {
        Some(wait) => Ok(timeout(wait, what).await?),
        None => Ok(what.await),
    }
}

/// Plays the answer; what becomes of the connection after it.
async fn answered<W: Wire>(wire: &mut W, ask: &mut Ask, shared: &Shared) -> io::Result<Then> {
    let log = &shared.log;
    log.begin(ask);
    let answer = (shared.site)(ask);
    let Answer { status, steps, then } = if ask.method == "HEAD" { answer.head_only() } else { answer };
    let ends = || log.end(ask, status);
    let played = within(shared.setup.answer_wait, play(wire, steps, ends)).await;
    let whole = *played.as_ref().unwrap_or(&false);
    log.over(ask, status, whole);
    played?;
    if whole { Ok(then) } else { Err(io::ErrorKind::BrokenPipe.into()) }
}

async fn leave<W: Wire>(mut wire: W, then: Then) -> io::Result<()> {
    match then {
        Then::Stay | Then::Close => wire.shutdown().await,
        Then::Drop => Ok(()),
        Then::Reset => {
            sleep(RESET_PAUSE).await;
            wire.tcp().set_zero_linger()
        }
        Then::Hang => std::future::pending().await,
    }
}

enum Next {
    Ask(Ask),
    Refuse(u16),
    /// The asker has gone.
    End,
}

/// Takes the next request off the input, reading on until it is whole.
async fn next_ask<W: Wire>(wire: &mut W, input: &mut Vec<u8>) -> io::Result<Next> {
    loop {
        match parse(input) {
            Parsed::Complete(ask, length) => {
                input.drain(..length);
                return Ok(Next::Ask(ask));
            }
            Parsed::Bad(status) => return Ok(Next::Refuse(status)),
            Parsed::Partial if input.len() >= HEAD_BYTES_MAX => return Ok(Next::Refuse(431)),
            Parsed::Partial => {}
        }
        let room = HEAD_BYTES_MAX - input.len();
        let mut piece = [0; 2048];
        let read = wire.read(&mut piece[..room.min(2048)]).await?;
        if read == 0 {
            return Ok(Next::End);
        }
        input.extend_from_slice(&piece[..read]);
    }
}

/// Whether it could be played to its end; says so just before the last bytes.
async fn play<W: Wire>(wire: &mut W, steps: Vec<Step>, ends: impl Fn()) -> bool {
    let count = steps.len();
    for (index, step) in steps.into_iter().enumerate() {
        let goes_on = match step {
            Step::Send(bytes) => {
                if index + 1 == count {
                    ends();
                }
                sent(wire, &bytes).await
            }
            Step::Wait(pause) => stays(wire.tcp(), pause).await,
            Step::Hear(bytes) => wire.read_exact(&mut vec![0; bytes]).await.is_ok(),
            Step::Repeat { bytes, pause, times } => repeat(wire, &bytes, pause, times).await,
        };
        if !goes_on {
            return false;
        }
    }
    true
}

async fn sent<W: Wire>(wire: &mut W, bytes: &[u8]) -> bool {
    wire.write_all(bytes).await.is_ok() && wire.flush().await.is_ok()
}

async fn repeat<W: Wire>(wire: &mut W, bytes: &[u8], pause: Duration, times: Option<u64>) -> bool {
    for _ in 0..times.unwrap_or(u64::MAX) {
        if !sent(wire, bytes).await || !stays(wire.tcp(), pause).await {
            return false;
        }
    }
    true
}

/// Whether the other side is still there after a pause.
async fn stays(stream: &TcpStream, pause: Duration) -> bool {
    if pause.is_zero() {
        return true;
    }
    let mut over = pin!(sleep(pause));
    let mut byte = [0];
    tokio::select! {
        () = &mut over => true,
        peeked = stream.peek(&mut byte) => match peeked {
            // The next request is there already.
            Ok(1..) => {
                over.await;
                true
            }
            _ => false,
        },
    }
}

/// Reads on for a while: closing with bytes unread would take the refusal back before it is read.
async fn linger<W: Wire>(wire: &mut W) -> io::Result<()> {
    let left = &mut wire.take(LINGER_BYTES_MAX);
    timeout(LINGER, tokio::io::copy(left, &mut tokio::io::sink())).await??;
    Ok(())
}

fn refusal(status: u16) -> Answer {
    let body = "This web takes GET requests of modest size with a host.\n";
    let mut answer = Answer::of(status, &[("Content-Type", "text/plain"), ("Connection", "close")], body);
    answer.then = Then::Close;
    answer
}
