//! `skurd serve`: a harvest without an end, and a server beside it. (Beside `crawl` and `linear` the
//! same server answers the other commands of whoever owns the directory, and nobody else.)
//!
//! The data directory is opened and everything declared and started as `skurd crawl` does it; then
//! the server listens and says where in `serve.json` ([`running_server`](harvest::running_server)).
//! It has threads of its own, so that a long report does not hold up the harvest. A request passes
//! [`limits`] and [`guard`] before it reaches the [API](crate::api). What was captured is [shown](replay)
//! at an address of its own. A signal stops the harvest
//! first; the server answers until what is in flight has come home, and then ends within seconds.

#![allow(
    missing_debug_implementations,
    reason = "services with handles and locks, of which nobody prints one"
)]

pub mod api;
pub mod client;
pub mod failure;
pub mod guard;
mod limits;
mod listen;
pub mod replay;
mod sessions;

use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use app::App;
pub use app::{Event, Live, Sample};
use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
pub use failure::{Answer, Failure};
pub use guard::Guard;
use harvest::running_server::RunningServer;
pub use replay::Place;
pub use sessions::drawn_key;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// Threads that answer; beside them, the few that read much.
const THREADS: usize = 2;
const BLOCKING_THREADS_MAX: usize = 14;
/// How long work that nobody waits for any more has to end.
const END_WITHIN: Duration = Duration::from_secs(3);

/// A server that listens.
pub struct Server {
    runtime: Runtime,
    listening: JoinHandle<()>,
    stop: watch::Sender<bool>,
    app: App,
    pub address: SocketAddr,
    /// Where the archive is shown, if it is.
    pub replay: Option<SocketAddr>,
    notice: PathBuf,
}

/// The archive, to be shown at an address of its own.
pub struct Shown {
    pub listener: TcpListener,
    /// What browsers are to call it, where that is something else.
    pub public: Option<String>,
}

impl Shown {
    fn place(&self, dashboard: SocketAddr) -> Result<Place> {
        self.listener.set_nonblocking(true)?;
        Place::new(self.listener.local_addr()?, self.public.clone(), dashboard)
    }
}

impl Server {
    /// Answers at once, and says so in the data directory.
    pub fn start(
        listener: TcpListener,
        shown: Option<Shown>,
        guard: Guard,
        app: App,
        pages: MakePages,
    ) -> Result<Server> {
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let guard = Arc::new(guard);
        let place = shown.as_ref().map(|shown| shown.place(address)).transpose()?.map(Arc::new);
        let replay = place.as_ref().map(|place| place.address);
        let notice = RunningServer { address, replay, pid: std::process::id(), key: guard.key.clone() };
        let runtime = Builder::new_multi_thread()
            .worker_threads(THREADS)
            .max_blocking_threads(BLOCKING_THREADS_MAX)
            .thread_name("skurd-serve")
            .enable_all()
            .build()?;
        let (stop, stopped) = watch::channel(false);
        let router = entrance(app.clone(), Arc::clone(&guard), place.clone(), pages)?;
        let inside = runtime.enter();
        if let (Some(shown), Some(place)) = (shown, place) {
            let listener = tokio::net::TcpListener::from_std(shown.listener)?;
            let router = replay::router(app.clone(), guard, place);
            runtime.spawn(listen::listen(listener, router, stopped.clone()));
        }
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let listening = runtime.spawn(listen::listen(listener, router, stopped));
        let live = Arc::clone(&app.live);
        runtime.spawn(async move { live.run().await });
        drop(inside);
        let notice = notice.write(&app.data)?;
        Ok(Server { runtime, listening, stop, app, address, replay, notice })
    }

    /// Ends all streams, waits shortly for the answers under way, and takes the notice back.
    pub fn stop(self) {
        self.app.live.end();
        let _ = std::fs::remove_file(&self.notice);
        let _ = self.stop.send(true);
        let _ = self.runtime.block_on(async { tokio::time::timeout(END_WITHIN, self.listening).await });
        self.runtime.shutdown_timeout(END_WITHIN);
    }
}

/// Pages for people beside the API.
pub struct Pages {
    pub routes: Router,
    /// Outermost: what of all answers a person sees as a page.
    pub outermost: Box<dyn FnOnce(Router) -> Router>,
}

/// Where only commands ask.
pub fn no_pages(_: App, _: Arc<Guard>, _: Option<Arc<Place>>) -> Result<Pages> {
    Ok(Pages { routes: Router::new(), outermost: Box::new(|router| router) })
}

/// How the pages of a server are made.
pub type MakePages = fn(App, Arc<Guard>, Option<Arc<Place>>) -> Result<Pages>;

/// All routes, behind what every request has to pass. Pages for people are merged in here too.
fn entrance(app: App, guard: Arc<Guard>, place: Option<Arc<Place>>, pages: MakePages) -> Result<Router> {
    let turns = Arc::new(limits::Turns::new(Arc::clone(&guard)));
    let pages = pages(app.clone(), Arc::clone(&guard), place)?;
    let routes = api::routes().with_state(app).merge(guard::routes(Arc::clone(&guard)));
    let router = api::router(routes)
        .merge(pages.routes)
        .layer(from_fn_with_state(guard, guard::guard))
        .layer(from_fn_with_state(turns, limits::bounded));
    Ok((pages.outermost)(router).layer(from_fn(limits::harmless)))
}
