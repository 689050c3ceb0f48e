//! Being asked to stop: Ctrl-C, what a service manager sends, and a terminal that is closed.
//!
//! Who opens a data directory listens from the first moment on, so that a signal while it is
//! opened, recovered or checked ends cleanly too: between two steps, with nothing fetched and
//! nothing left behind. During a harvest the first signal lets what is under way come home. The
//! second ends at once, as a power cut would, which loses nothing either.
//!
//! Hanging up is asking to stop as well, and reads nothing anew: `skurd config apply` changes what
//! is declared while a server runs. Where it was ignored when we began (`nohup`), it stays so.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::future::select_all;
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal as listen};
use tokio::sync::watch;

/// Asked to stop before there was anything to stop: done.
#[derive(Debug)]
pub struct Stopped;

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("stopped before the harvest began; nothing was fetched")
    }
}

impl std::error::Error for Stopped {}

/// How often this process was asked to stop.
#[derive(Clone)]
pub(crate) struct Signals {
    times: watch::Receiver<u32>,
    /// Nobody waits for signals yet.
    starting: Arc<AtomicBool>,
}

impl Signals {
    pub(crate) fn listen(runtime: &Runtime) -> io::Result<Signals> {
        let _inside = runtime.enter();
        let mut streams = streams()?;
        let (tell, times) = watch::channel(0u32);
        let starting = Arc::new(AtomicBool::new(true));
        let begins = Arc::clone(&starting);
        runtime.spawn(async move {
            loop {
                next(&mut streams).await;
                tell.send_modify(|times| *times = times.saturating_add(1));
                if *tell.borrow() > 1 && begins.load(Ordering::Acquire) {
                    at_once();
                }
            }
        });
        Ok(Signals { times, starting })
    }

    /// Goes on, unless somebody wants it to stop.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        if *self.times.borrow() == 0 { Ok(()) } else { Err(Stopped.into()) }
    }

    /// From now on it is waited for.
    pub(crate) fn begin(&self) {
        self.starting.store(false, Ordering::Release);
    }

    /// Waits until it was asked so often, since the process began.
    pub(crate) async fn asked(&self, times: u32) {
        let mut asked = self.times.clone();
        if asked.wait_for(|asked| *asked >= times).await.is_err() {
            // Whoever tells of signals is gone: there will be none.
            std::future::pending::<()>().await;
        }
    }
}

/// Waits for one signal.
#[crate::boxed]
pub async fn signal() -> io::Result<()> {
    let mut streams = streams()?;
    next(&mut streams).await;
    Ok(())
}

fn streams() -> io::Result<Vec<Signal>> {
    let mut kinds = vec![SignalKind::interrupt(), SignalKind::terminate()];
    if !hangup_is_ignored() {
        kinds.push(SignalKind::hangup());
    }
    kinds.into_iter().map(listen).collect()
}

async fn next(streams: &mut [Signal]) {
    select_all(streams.iter_mut().map(|stream| Box::pin(stream.recv()))).await;
}

/// The second time, while a step of the start takes its time.
#[allow(
    clippy::disallowed_methods,
    reason = "there is nothing to flush yet, and who asks twice does not want to wait"
)]
fn at_once() {
    eprintln!("stopped at once");
    std::process::exit(1);
}

/// Whether whoever began this process wants it to outlive its terminal: the first bit of the mask
/// in `/proc/self/status`.
fn hangup_is_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}
