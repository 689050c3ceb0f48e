//! A harvester, and all it needs, in a world of our own.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use frontier::ports::Clock;
use frontier::{End, Frontier, Harvester, RunError};
use parking_lot::Mutex;
use policy::time::{Span, Time};
use store::{Result, Store};
use tokio::sync::watch;

use crate::clock::VirtualClock;
use crate::ear::Ear;
use crate::fetch::WebFetcher;
use crate::harvest::Harvest;
use crate::shelf::Shelf;
use crate::web::Web;

#[derive(Clone, Debug)]
pub struct Settings {
    pub workers: usize,
    pub seed: u64,
    pub start: Time,
    /// Whether every harvest leaves a capture, as a real one does: they grow without bound.
    pub keep_captures: bool,
    /// Whether harvests tell how each of their links was decided.
    pub trace_links: bool,
    /// The longest sleep of the harvester: long where nobody sets the clock.
    pub idle_max: Span,
}

/// The simulated start of time: a Monday.
const MONDAY: Time = Time(1_767_571_200_000);

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            workers: 50,
            seed: 1,
            start: MONDAY,
            keep_captures: true,
            trace_links: false,
            idle_max: Span::minutes(10),
        }
    }
}

/// What is told of a run, in the order in which it happens.
#[derive(Debug)]
pub enum Moment {
    Harvested(Box<Harvest>),
    /// It is that time now.
    Passed(Time),
}

pub struct Simulation {
    pub store: Store,
    pub clock: Arc<VirtualClock>,
    pub frontier: Arc<Frontier>,
    pub web: Arc<Mutex<Web>>,
    pub shelf: Arc<Shelf>,
    pub settings: Settings,
    restarts: u64,
}

impl std::fmt::Debug for Simulation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Simulation").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl Simulation {
    /// To be made in [virtual time](crate::virtual_time), and used only there.
    pub fn new(web: Web, settings: Settings) -> Simulation {
        let store = Store::in_memory(settings.seed);
        let clock = Arc::new(VirtualClock::at(settings.start));
        let frontier = frontier(&store, &clock, settings.seed, &settings);
        let shelf = Arc::new(Shelf::new(settings.seed, store.clone()));
        Simulation { store, clock, frontier, web: Arc::new(Mutex::new(web)), shelf, settings, restarts: 0 }
    }

    pub fn now(&self) -> Time {
        self.clock.now()
    }

    /// Lets the world run up to `end`.
    pub async fn run_until(&self, end: Time) -> Result<(), RunError> {
        self.run_while(self.clock.sleep_until(end), |_| Ok(())).await
    }

    /// Harvests for as long as `script` goes on, which may do meanwhile what people do; what is in
    /// flight at its end stays so. Both are steps of one task, the script first, so that the
    /// same script gives the same run.
    pub async fn run_while<T, E: From<RunError>>(
        &self,
        script: impl Future<Output = T>,
        mut tell: impl FnMut(Moment) -> Result<(), E>,
    ) -> Result<T, E> {
        let ear = Arc::new(Ear::new(Arc::clone(&self.frontier), self.settings.trace_links));
        let harvester = self.harvester(&ear);
        // Nobody stops it; it ends with the script.
        let (_stop, stopped) = watch::channel(false);
        let mut run = pin!(harvester.run(stopped));
        let mut script = pin!(script);
        let mut over = false;
        poll_fn(|context| {
            if let Poll::Ready(value) = script.as_mut().poll(context) {
                return Poll::Ready(Ok(value));
            }
            if over {
                return Poll::Pending;
            }
            let ran = run.as_mut().poll(context);
            for harvest in ear.take() {
                tell(Moment::Harvested(Box::new(harvest)))?;
            }
            tell(Moment::Passed(self.now()))?;
            match ran {
                Poll::Ready(ended) => over = ended.map(|_| true)?,
                Poll::Pending => {}
            }
            Poll::Pending
        })
        .await
    }

    fn harvester(&self, ear: &Arc<Ear>) -> Harvester<WebFetcher, Shelf, Ear> {
        Harvester {
            frontier: Arc::clone(&self.frontier),
            fetcher: Arc::new(self.fetcher()),
            archive: Arc::clone(&self.shelf),
            witness: Arc::clone(ear),
            workers: self.settings.workers,
            idle_max: self.settings.idle_max,
            end: End::default(),
        }
    }

    /// For whoever drives a harvester by hand.
    pub fn fetcher(&self) -> WebFetcher {
        WebFetcher {
            web: Arc::clone(&self.web),
            clock: Arc::clone(&self.clock),
            frontier: Arc::clone(&self.frontier),
            keeps: self.settings.keep_captures,
        }
    }

    /// The process dies and another takes its place: what was in flight is gone, what was committed
    /// is there.
    pub async fn restart(&mut self) -> Result<()> {
        self.store.crash()?;
        self.begin_anew().await
    }

    /// A new process on what the last one left of the store. What it left of the archive is to be
    /// put right before anything is written.
    pub async fn begin_anew(&mut self) -> Result<()> {
        self.restarts += 1;
        let seed = self.settings.seed ^ (self.restarts << 32);
        self.frontier = frontier(&self.store, &self.clock, seed, &self.settings);
        self.frontier.recover().await.map(drop)
    }
}

fn frontier(store: &Store, clock: &Arc<VirtualClock>, seed: u64, settings: &Settings) -> Arc<Frontier> {
    let frontier = Frontier::new(store.clone(), Arc::clone(clock) as Arc<dyn Clock>, seed);
    if settings.trace_links {
        frontier.trace_links();
    }
    Arc::new(frontier)
}
