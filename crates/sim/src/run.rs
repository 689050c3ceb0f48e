//! The event loop: reserve when something may be due, let time pass, finish what is finished.

use std::collections::BTreeMap;
use std::sync::Arc;

use frontier::ports::{CaptureKey, Clock, Order, Report};
use frontier::schema::{Capture, HOST_QUEUE};
use frontier::{Completed, Frontier};
use policy::catalog::Catalog;
use policy::time::{Span, Time};
use policy::url::UrlRules;
use store::{Result, Store};

use crate::answer::report;
use crate::clock::VirtualClock;
use crate::harvest::Harvest;
use crate::web::{Response, Web};

#[derive(Clone, Debug)]
pub struct Settings {
    pub workers: usize,
    pub seed: u64,
    pub start: Time,
    /// Whether every harvest leaves a capture entry in the store, as a real one does: they grow without bound.
    pub keep_captures: bool,
    /// Whether harvests tell how each of their links was decided.
    pub trace_links: bool,
}

/// The simulated start of time: a Monday.
const MONDAY: Time = Time(1_767_571_200_000);

impl Default for Settings {
    fn default() -> Settings {
        Settings { workers: 50, seed: 1, start: MONDAY, keep_captures: true, trace_links: false }
    }
}

const SWEEP_EVERY: Span = Span::minutes(10);

/// A fetch under way.
#[derive(Clone, Debug)]
pub struct Flight {
    pub order: Order,
    pub began: Time,
    pub ends: Time,
    pub response: Response,
    /// Which of the page's answers it is: the same one again is unchanged.
    pub edition: usize,
}

pub struct Simulation {
    pub store: Store,
    pub clock: Arc<VirtualClock>,
    pub frontier: Frontier,
    pub web: Web,
    pub settings: Settings,
    /// By the time they end, and a number that keeps the order.
    pub flights: BTreeMap<(Time, u64), Flight>,
    pub harvests: Vec<Harvest>,
    launched: u64,
    restarts: u64,
    next_sweep: Time,
    /// How URLs are written, read once a run: what is declared does not change during one.
    rules: UrlRules,
}

impl std::fmt::Debug for Simulation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Simulation").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl Simulation {
    pub fn new(web: Web, settings: Settings) -> Simulation {
        let store = Store::in_memory(settings.seed);
        let clock = Arc::new(VirtualClock::at(settings.start));
        let frontier = Frontier::new(store.clone(), Arc::clone(&clock) as Arc<dyn Clock>, settings.seed);
        if settings.trace_links {
            frontier.trace_links();
        }
        Simulation {
            next_sweep: settings.start,
            rules: UrlRules::default(),
            store,
            clock,
            frontier,
            web,
            settings,
            flights: BTreeMap::new(),
            harvests: Vec::new(),
            launched: 0,
            restarts: 0,
        }
    }

    pub fn now(&self) -> Time {
        self.clock.now()
    }

    /// Lets the world run up to `end`, or until nothing is left to do.
    pub async fn run_until(&mut self, end: Time) -> Result<()> {
        self.begin_run().await?;
        while self.step(end).await? {}
        Ok(())
    }

    /// To be called before the first [`step`](Simulation::step), and again after a declaration.
    pub async fn begin_run(&mut self) -> Result<()> {
        self.next_sweep = self.now();
        self.rules = self.frontier.with_catalog(|catalog: &Catalog| catalog.url_rules().clone()).await?;
        Ok(())
    }

    /// Until the clock has moved once: false when it stands at `end`, or when nothing is left to do. A step adds at most as many
    /// harvests as there are workers, so whoever takes them out between steps needs no memory for the whole run.
    pub async fn step(&mut self, end: Time) -> Result<bool> {
        if self.now() >= self.next_sweep {
            self.frontier.sweep().await?;
            self.next_sweep = self.now().plus(SWEEP_EVERY);
        }
        let reserved_next = self.reserve_all().await?;
        let next_flight = self.flights.keys().next().map(|(ends, _)| *ends);
        let next_host = reserved_next.filter(|_| self.flights.len() < self.settings.workers);
        let next = match (next_flight, next_host) {
            (None, None) if self.nothing_will_come().await? => return Ok(false),
            (None, None) => self.next_sweep,
            (a, b) => a.into_iter().chain(b).min().unwrap_or(self.next_sweep),
        };
        if next >= end {
            self.clock.set(end);
            return Ok(false);
        }
        if next > self.now() {
            self.clock.set(next);
        }
        while let Some(entry) = self.flights.first_entry()
            && entry.key().0 <= self.clock.now()
        {
            let flight = entry.remove();
            self.land(flight).await?;
        }
        Ok(true)
    }

    /// Gives every idle worker an order, as far as there are any; says when to look again. Mostly there is one or none: asking for
    /// few, and for more while all came, spares reading the host queue far ahead.
    async fn reserve_all(&mut self) -> Result<Option<Time>> {
        let mut wanted = 1;
        loop {
            let idle = self.settings.workers.saturating_sub(self.flights.len());
            if idle == 0 {
                return Ok(None);
            }
            let head = self.host_queue_head().await?;
            if head.is_none_or(|at| at > self.now()) {
                return Ok(head);
            }
            let reserved = self.frontier.reserve(wanted.min(idle)).await?;
            wanted = if reserved.orders.len() == wanted { wanted * 2 } else { wanted };
            if reserved.orders.is_empty() {
                return Ok(reserved.next);
            }
            for order in reserved.orders {
                self.launch(order);
            }
        }
    }

    /// When the first host can next be used: a look that costs a fraction of a reservation in vain.
    async fn host_queue_head(&self) -> Result<Option<Time>> {
        let tx = self.store.begin().await?;
        let first = HOST_QUEUE.first(&tx, &HOST_QUEUE.range(())).await?;
        Ok(first.map(|((at, _), ())| Time(at)))
    }

    /// Nothing queued: only a blacklisting with an end could bring something back.
    async fn nothing_will_come(&self) -> Result<bool> {
        let (rows, _) = self.frontier.blacklist(None, None, 1000).await?;
        Ok(rows.iter().all(|row| row.entry.until.is_none()))
    }

    /// The fetch begins; what it will find is settled now.
    pub fn launch(&mut self, order: Order) -> (Time, u64) {
        let (response, edition) = self.web.ask(order.url.as_str());
        let began = self.now();
        let ends = began.plus(response.delay);
        self.launched += 1;
        let key = (ends, self.launched);
        self.flights.insert(key, Flight { order, began, ends, response, edition });
        key
    }

    /// The fetch ends, and the harvest is committed.
    pub async fn land(&mut self, flight: Flight) -> Result<Completed> {
        let (report, mut captures) = report(&flight, &self.rules, self.now());
        if !self.settings.keep_captures {
            captures.clear();
        }
        let completed = self.frontier.complete(&flight.order, &report, &captures).await?;
        self.note(&flight, &report, &completed);
        Ok(completed)
    }

    pub fn note(&mut self, flight: &Flight, report: &Report, completed: &Completed) {
        let Completed::Done(summary) = completed else { return };
        let links = if self.settings.trace_links { self.frontier.take_traces() } else { Vec::new() };
        self.harvests.push(Harvest::of(flight, report, summary, links));
    }

    /// What the fetcher and the archive would say of it.
    pub async fn report(&self, flight: &Flight) -> Result<(Report, Vec<(CaptureKey, Capture)>)> {
        let rules = self.frontier.with_catalog(|catalog: &Catalog| catalog.url_rules().clone()).await?;
        Ok(report(flight, &rules, self.now()))
    }

    /// The process dies and another takes its place: what was in flight is gone, what was committed is there.
    pub async fn restart(&mut self) -> Result<usize> {
        self.store.crash()?;
        self.flights.clear();
        self.restarts += 1;
        let seed = self.settings.seed ^ (self.restarts << 32);
        self.frontier = Frontier::new(self.store.clone(), Arc::clone(&self.clock) as Arc<dyn Clock>, seed);
        self.frontier.recover().await
    }
}
