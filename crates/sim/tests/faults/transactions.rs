//! The transactions of the frontier against each other, as several processes would have them: many
//! harvests committed and reserved at the same moment, in every order, below the loop that does it
//! one after the other.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::pin::Pin;

use frontier::ports::{CaptureKey, Fetch, Order, Report};
use frontier::{Capture, Completed, CompletedAll, Frontier, Harvest, Reserved, Target};
use policy::catalog::Change;
use policy::time::{Span, Time};
use sim::web::Response;
use sim::{Answered, Checker, Settings, Simulation, interleave};
use store::{Error, Faults};

use crate::every_seed;
use crate::world::{self, World, small_web};

const STEPS: usize = 150;

/// One thing that happens at a moment; those of one step happen at the same time.
enum Deed {
    Reserve(usize),
    /// Together, as one transaction.
    Land(Vec<Landing>),
    Declare(Box<Change>),
    Start(Target),
    Sweep,
    Blacklist(String, bool),
}

enum Done {
    Reserved(Result<Reserved, Error>),
    Landed(Box<Landing>, Result<Completed, Error>),
    LandedTogether(Vec<Done>),
    Other,
}

/// A fetch under way.
struct Flight {
    order: Order,
    response: Response,
    /// Which of the page's answers it is: the same one again is unchanged.
    edition: usize,
}

/// A fetch that ends, with what it brought.
struct Landing {
    flight: Flight,
    report: Report,
    captures: Vec<(CaptureKey, Capture)>,
}

struct Storm {
    seed: u64,
    simulation: Simulation,
    world: World,
    checker: Checker,
    rng: fastrand::Rng,
    /// By the time they end, and a number that keeps the order.
    flights: BTreeMap<(Time, u64), Flight>,
    launched: u64,
    /// Fetches whose worker hangs: they land after their lease.
    hanging: Vec<Flight>,
    /// Committed harvests that asked for something, counted from outside.
    committed: u64,
    /// Captures that must be there.
    captures: BTreeMap<(String, CaptureKey), Capture>,
    /// Commits nobody heard of.
    unheard: HashMap<u64, Box<Landing>>,
}

/// As the harvest loop does it: whoever lost its lease is left out, and the rest done again.
async fn land(frontier: &Frontier, mut landings: Vec<Landing>) -> Vec<Done> {
    let mut done = Vec::new();
    while !landings.is_empty() {
        let harvests: Vec<Harvest<'_>> = landings
            .iter()
            .map(|landing| Harvest {
                order: &landing.flight.order,
                report: &landing.report,
                captures: &landing.captures,
            })
            .collect();
        let completed = frontier.complete_all(&harvests, &[]).await;
        let mut over = |landing: Landing, completed| done.push(Done::Landed(Box::new(landing), completed));
        match completed {
            Ok(CompletedAll::Done(summaries)) => {
                for (landing, summary) in landings.drain(..).zip(summaries) {
                    over(landing, Ok(Completed::Done(summary)));
                }
            }
            Ok(CompletedAll::LeasesLost(lost)) => {
                assert!(!lost.is_empty());
                for at in lost.into_iter().rev() {
                    over(landings.remove(at), Ok(Completed::LeaseLost));
                }
            }
            Err(error) => {
                for landing in landings.drain(..) {
                    over(landing, Err(error.clone()));
                }
            }
        }
    }
    done
}

impl Storm {
    async fn new(seed: u64) -> Storm {
        let mut rng = fastrand::Rng::with_seed(seed);
        let world = World::draw(&mut rng);
        let settings = Settings { workers: rng.usize(1..6), seed, ..Settings::default() };
        let simulation = Simulation::new(small_web(&mut rng), settings);
        simulation.frontier.declare(&world.declared()).await.unwrap();
        simulation.frontier.start(&Target::Collection("news".into())).await.unwrap();
        simulation.frontier.start(&Target::Collection("shop".into())).await.unwrap();
        simulation
            .store
            .inject(Faults {
                conflict: 0.05,
                undetermined: 0.03,
                unavailable: 0.02,
                pause: 0.3,
                ..Faults::default()
            })
            .unwrap();
        // The world ends some fetches only after a while.
        simulation.clock.advance(Span(1));
        Storm {
            seed,
            simulation,
            world,
            checker: Checker::default(),
            rng,
            flights: BTreeMap::new(),
            launched: 0,
            hanging: Vec::new(),
            committed: 0,
            captures: BTreeMap::new(),
            unheard: HashMap::new(),
        }
    }

    async fn step(&mut self, number: usize) {
        match self.rng.u32(0..100) {
            0..2 => self.crash().await,
            2..5 => self.lose_a_worker(),
            5..8 => self.hang_a_worker(),
            8..10 => self.jump(),
            _ => self.busy_moment().await,
        }
        let findings = self.audit().await;
        let complaints = std::mem::take(&mut self.checker.complaints);
        assert!(
            findings.is_empty() && complaints.is_empty(),
            "seed {}, step {number}: {findings:#?} {complaints:#?}",
            self.seed
        );
    }

    /// Several things at once, their transactions interleaved.
    async fn busy_moment(&mut self) {
        let next_end = self.flights.keys().next().map(|(ends, _)| *ends);
        let step = Span(self.rng.u64(0..3_000) * if self.rng.u32(0..10) == 0 { 3_000 } else { 1 });
        let next = self.simulation.now().plus(step);
        self.simulation.clock.set(
            next_end
                .map_or(next, |ends| if self.rng.bool() { ends.max(self.simulation.now()) } else { next }),
        );
        let mut deeds = Vec::new();
        let mut together = Vec::new();
        let landing: Vec<_> =
            self.flights.range(..=(self.simulation.now(), u64::MAX)).map(|(key, _)| *key).collect();
        for key in landing {
            if self.rng.u32(0..4) > 0
                && let Some(flight) = self.flights.remove(&key)
            {
                together.push(self.landing(flight).await);
            }
        }
        let now = self.simulation.now();
        let (late, still): (Vec<_>, Vec<_>) = std::mem::take(&mut self.hanging)
            .into_iter()
            .partition(|f| f.order.held.ends().plus(Span::minutes(1)) < now);
        self.hanging = still;
        for flight in late {
            together.push(self.landing(flight).await);
        }
        while !together.is_empty() {
            let some = self.rng.usize(1..=together.len());
            deeds.push(Deed::Land(together.split_off(together.len() - some)));
        }
        let idle = self.simulation.settings.workers.saturating_sub(self.flights.len());
        if idle > 0 {
            deeds.push(Deed::Reserve(idle));
        }
        if self.rng.u32(0..6) == 0 {
            deeds.push(Deed::Declare(Box::new(self.world.change(&mut self.rng))));
            self.checker.forget_contract();
        }
        if self.rng.u32(0..12) == 0 {
            deeds.push(Deed::Start(self.world.target(&mut self.rng)));
            self.checker.forget_contract();
        }
        let starts = deeds.iter().any(|deed| matches!(deed, Deed::Start(_)));
        if self.rng.u32(0..5) == 0 {
            deeds.push(Deed::Sweep);
        }
        if self.rng.u32(0..15) == 0 {
            deeds.push(Deed::Blacklist(world::some_url(&mut self.rng), self.rng.bool()));
            self.checker.forget_contract();
        }
        // What was given out in this moment must have been free before any request ended in it: there is a
        // delay to keep. Only where nobody was asked anything, there is none.
        let mut done: Vec<Done> = Vec::new();
        for one in self.all_at_once(deeds) {
            match one {
                Done::LandedTogether(all) => done.extend(all),
                one => done.push(one),
            }
        }
        done.sort_by_key(|done| match done {
            Done::Landed(landing, _) if asked_nobody(&landing.report) => 0,
            Done::Reserved(_) => 1,
            _ => 2,
        });
        for done in done {
            self.take_in(done).await;
        }
        // F2: what was harvested in this moment may have been started after that, and given out again.
        if starts {
            self.checker.forget_contract();
        }
    }

    async fn landing(&self, flight: Flight) -> Landing {
        // Reading what is declared may be made to fail, too.
        loop {
            let rules = self.simulation.frontier.with_catalog(|catalog| catalog.url_rules().clone()).await;
            let Ok(rules) = rules else { continue };
            let Flight { order, response, edition } = &flight;
            let report = sim::report(order, response, *edition, &rules, self.simulation.now());
            let captures =
                Answered::of(order, &report).map(|answered| (answered.key.clone(), capture(order, answered)));
            return Landing { flight, report, captures: captures.into_iter().collect() };
        }
    }

    /// The fetch begins; what it will find is settled now.
    fn launch(&mut self, order: Order) {
        let (response, edition) = self.simulation.web.lock().ask(order.url.as_str());
        let ends = self.simulation.now().plus(response.delay);
        self.launched += 1;
        self.flights.insert((ends, self.launched), Flight { order, response, edition });
    }

    fn all_at_once(&mut self, deeds: Vec<Deed>) -> Vec<Done> {
        let frontier = &self.simulation.frontier;
        let running = deeds.into_iter().map(|deed| {
            let doing: Pin<Box<dyn Future<Output = Done> + '_>> = Box::pin(async move {
                match deed {
                    Deed::Reserve(wanted) => Done::Reserved(frontier.reserve(wanted).await),
                    Deed::Land(landings) => Done::LandedTogether(land(frontier, landings).await),
                    Deed::Declare(change) => {
                        let _ = frontier.declare(&[*change]).await;
                        Done::Other
                    }
                    Deed::Start(target) => {
                        let _ = frontier.start(&target).await;
                        Done::Other
                    }
                    Deed::Sweep => {
                        let _ = frontier.sweep().await;
                        Done::Other
                    }
                    Deed::Blacklist(url, add) => {
                        let url = policy::url::CrawlUrl::from_normal(url).unwrap();
                        if add {
                            let until = frontier.now().plus(Span::hours(1));
                            let _ = frontier.blacklist_add("news", &url, "too loud", Some(until)).await;
                        } else {
                            let _ = frontier.blacklist_lift("news", &url).await;
                        }
                        Done::Other
                    }
                }
            });
            doing
        });
        let running = running.collect();
        interleave(running, &mut self.rng)
    }

    async fn take_in(&mut self, done: Done) {
        match done {
            Done::Reserved(Ok(reserved)) => {
                for order in reserved.orders {
                    self.give_out(order).await;
                }
            }
            Done::Reserved(Err(_)) | Done::Other => {}
            Done::Landed(landing, completed) => self.landing_over(landing, &completed),
            Done::LandedTogether(all) => unreachable!("{} landings were taken apart before", all.len()),
        }
    }

    fn landing_over(&mut self, landing: Box<Landing>, completed: &Result<Completed, Error>) {
        match completed {
            Ok(Completed::Done(_)) => {
                let result = &landing.report.result;
                let answered =
                    matches!(result, Fetch::Answer(facts) if facts.status < 500 && facts.status != 429);
                self.landed(&landing.flight, &landing.report, answered);
                self.count(&landing);
            }
            // Its host has been given to others since.
            Ok(Completed::LeaseLost) => self.checker.lost(&landing.flight.order),
            Err(Error::Undetermined(_)) => {
                self.landed(&landing.flight, &landing.report, false);
                self.unheard.insert(landing.flight.order.lease, landing);
            }
            // Not committed: the worker tries no more, and the lease runs out.
            Err(_) => self.landed(&landing.flight, &landing.report, false),
        }
    }

    async fn give_out(&mut self, order: Order) {
        let now = self.simulation.now();
        let checker = &mut self.checker;
        checker.expire(now);
        self.simulation.store.inject(Faults::default()).unwrap();
        // What is declared may have changed in the same moment, before or after: only what holds for both
        // is checked.
        if !self.world.just_changed {
            self.simulation
                .frontier
                .with_catalog(|catalog| checker.reserved(catalog, &order, now))
                .await
                .unwrap();
        }
        self.faults_on();
        self.launch(order);
    }

    fn faults_on(&self) {
        self.simulation
            .store
            .inject(Faults {
                conflict: 0.05,
                undetermined: 0.03,
                unavailable: 0.02,
                pause: 0.3,
                ..Faults::default()
            })
            .unwrap();
    }

    /// `counts`: it was answered and committed.
    fn landed(&mut self, flight: &Flight, report: &Report, counts: bool) {
        if asked_nobody(report) {
            return self.checker.lost(&flight.order);
        }
        self.checker.ended(&flight.order, self.simulation.now());
        self.checker.counted(&flight.order, counts, report.at);
    }

    fn count(&mut self, landing: &Landing) {
        self.committed += u64::from(!asked_nobody(&landing.report));
        for (key, capture) in &landing.captures {
            let key = (landing.flight.order.collection.clone(), key.clone());
            let again = self.captures.insert(key, capture.clone());
            assert!(again.is_none(), "seed {}: two harvests have the same capture", self.seed);
        }
    }

    async fn crash(&mut self) {
        for flight in self.flights.values() {
            self.checker.lost(&flight.order);
        }
        // Whoever hung in the dead process hangs no more.
        for flight in std::mem::take(&mut self.hanging) {
            self.checker.lost(&flight.order);
        }
        self.flights.clear();
        self.simulation.store.inject(Faults::default()).unwrap();
        self.simulation.restart().await.unwrap();
        self.faults_on();
    }

    fn lose_a_worker(&mut self) {
        if let Some((_, flight)) = self.flights.pop_first() {
            self.checker.lost(&flight.order);
        }
    }

    fn hang_a_worker(&mut self) {
        if let Some((_, flight)) = self.flights.pop_last() {
            self.hanging.push(flight);
        }
    }

    fn jump(&mut self) {
        let forward = self.rng.u64(0..2 * 3_600_000);
        self.simulation.clock.advance(Span(forward));
    }

    async fn audit(&mut self) -> Vec<String> {
        self.simulation.store.inject(Faults::default()).unwrap();
        let ledger = self.simulation.frontier.audit().await.unwrap();
        self.world.just_changed = false;
        self.faults_on();
        ledger.findings
    }

    /// F6, F7: nothing counted twice and nothing lost, seen from outside.
    async fn settle_accounts(&mut self) {
        self.simulation.store.inject(Faults::default()).unwrap();
        let mut stored = BTreeMap::new();
        for collection in ["news", "shop"] {
            let (rows, rest) = self.simulation.frontier.captures(collection, None, 10_000).await.unwrap();
            assert!(rest.is_none());
            stored.extend(
                rows.into_iter()
                    .map(|(surt, time, row)| ((collection.to_owned(), CaptureKey { surt, time }), row)),
            );
        }
        let unheard: Vec<_> = std::mem::take(&mut self.unheard).into_values().collect();
        for landing in unheard {
            let collection = &landing.flight.order.collection;
            let stored = |(key, capture): &(CaptureKey, Capture)| {
                stored.get(&(collection.clone(), key.clone())) == Some(capture)
            };
            if landing.captures.iter().any(stored) {
                self.count(&landing);
            }
        }
        let missing: BTreeSet<_> = self.captures.keys().filter(|key| !stored.contains_key(key)).collect();
        let surplus: BTreeSet<_> = stored.keys().filter(|key| !self.captures.contains_key(key)).collect();
        assert!(
            missing.is_empty() && surplus.is_empty(),
            "seed {}: captures missing {missing:?}, surplus {surplus:?}",
            self.seed
        );
        let counted: u64 = self
            .simulation
            .frontier
            .traffic(Time(0))
            .await
            .unwrap()
            .iter()
            .map(|row| row.traffic.requests)
            .sum();
        let answered: u64 = u64::try_from(self.captures.len()).unwrap();
        assert!(
            counted >= answered && counted <= self.committed + 40,
            "seed {}: {counted} requests counted, {} seen",
            self.seed,
            self.committed
        );
    }
}

fn capture(order: &Order, answered: Answered) -> Capture {
    Capture {
        url: order.url.as_str().to_owned(),
        file: "simulated".to_owned(),
        offset: order.lease,
        length: 1,
        status: answered.status,
        mime: Some("text/html".to_owned()),
        digest: answered.digest,
        revisit: answered.unchanged,
        ..Capture::default()
    }
}

fn asked_nobody(report: &Report) -> bool {
    matches!(report.result, Fetch::DnsFailed | Fetch::RobotsDenied { .. })
}

fn storm(seed: u64) -> u64 {
    sim::virtual_time(async {
        let mut storm = Storm::new(seed).await;
        for number in 0..STEPS {
            storm.step(number).await;
        }
        storm.settle_accounts().await;
        storm.committed
    })
    .unwrap()
}

#[test]
fn f5_f6_f7_f11_f12_f14_f15_transactions_do_not_break_each_other() {
    every_seed(60, 10, storm);
}

#[test]
fn the_same_seed_gives_the_same_storm() {
    assert_eq!(storm(7), storm(7));
}
