//! Plays the answers of the web over TCP.
//!
//! One task accepts; each connection is a task of its own that ends with it. A connection reads a request,
//! plays its answer and reads the next, until either side has had enough. Connections, head bytes and waiting
//! are bounded, so nobody can fill the memory or keep a place for ever.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::answer::{Answer, Reply, Step};
use crate::ask::{Ask, Parsed, parse};
use crate::log::{Log, Request};
use crate::web::{self, Memory};

const CONNECTIONS_MAX: usize = 512;
const HEAD_BYTES_MAX: usize = 16 << 10;
/// For a request to come in whole, on a connection that may be idle.
const REQUEST_WAIT: Duration = Duration::from_secs(30);
/// For an answer to be played; the longest script takes a minute.
const ANSWER_WAIT: Duration = Duration::from_secs(90);
/// For whoever was refused to notice.
const LINGER: Duration = Duration::from_secs(1);
const LINGER_BYTES_MAX: u64 = 1 << 20;
/// After accepting failed, which it does when the system runs out of something.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// What all connections have in common.
#[derive(Debug, Default)]
pub(super) struct Shared {
    pub(super) log: Log,
    memory: Memory,
}

/// Runs until aborted, and takes its connections with it.
pub(super) async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let mut connections = JoinSet::new();
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        while connections.try_join_next().is_some() {}
        match listener.accept().await {
            Ok((stream, _)) => {
                let shared = Arc::clone(&shared);
                connections.spawn(async move {
                    // A connection that broke has nobody left to tell.
                    let _ = converse(stream, &shared).await;
                    drop(place);
                });
            }
            Err(_) => sleep(ACCEPT_PAUSE).await,
        }
    }
}

async fn converse(mut stream: TcpStream, shared: &Shared) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut input = Vec::new();
    loop {
        match timeout(REQUEST_WAIT, next_ask(&mut stream, &mut input)).await?? {
            Next::End => return Ok(()),
            Next::Refuse(status) => {
                play(&mut stream, &refusal(status)).await?;
                stream.shutdown().await?;
                return linger(&mut stream).await;
            }
            Next::Ask(ask) if !answered(&mut stream, &ask, shared).await? => return stream.shutdown().await,
            Next::Ask(_) => {}
        }
    }
}

/// Whether the connection goes on after it.
async fn answered(stream: &mut TcpStream, ask: &Ask, shared: &Shared) -> io::Result<bool> {
    let began = shared.memory.elapsed();
    let answer = web::answer(ask, &shared.memory);
    let played = timeout(ANSWER_WAIT, play(stream, &answer)).await;
    shared.log.add(Request {
        host: ask.host.clone(),
        path: ask.target(),
        began,
        ended: shared.memory.elapsed(),
        cookie: ask.header("cookie").is_some(),
        status: answer.status,
    });
    played??;
    Ok(ask.keep_alive && !answer.close)
}

enum Next {
    Ask(Ask),
    Refuse(u16),
    /// The asker has gone.
    End,
}

/// Takes the next request off the input, reading on until it is whole.
async fn next_ask(stream: &mut TcpStream, input: &mut Vec<u8>) -> io::Result<Next> {
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
        let read = stream.read(&mut piece[..room.min(2048)]).await?;
        if read == 0 {
            return Ok(Next::End);
        }
        input.extend_from_slice(&piece[..read]);
    }
}

async fn play(stream: &mut TcpStream, answer: &Answer) -> io::Result<()> {
    for step in &answer.steps {
        match step {
            Step::Wait(pause) => sleep(*pause).await,
            Step::Send(bytes) => stream.write_all(bytes).await?,
        }
    }
    Ok(())
}

/// Reads on for a while: closing with bytes unread would take the refusal back before it is read.
async fn linger(stream: &mut TcpStream) -> io::Result<()> {
    let left = &mut stream.take(LINGER_BYTES_MAX);
    timeout(LINGER, tokio::io::copy(left, &mut tokio::io::sink())).await??;
    Ok(())
}

fn refusal(status: u16) -> Answer {
    Reply::text("Skurdvik takes GET requests of modest size with a host.\n").status(status).until_close()
}
