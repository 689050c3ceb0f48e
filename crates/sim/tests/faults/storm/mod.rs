//! The harvester itself in a storm: its loop, walks included, is killed at any point between two
//! steps, its store loses answers and commits, its archive refuses batches and keeps what it should
//! take back, fetches hang, vanish and panic, people change everything under way. In some storms
//! the power goes too and takes the store's last commits along, older copies of the store are put
//! back, files of the archive are cut and deleted, and the clock is set forward and back. Whenever
//! something was committed, everything is looked at; at the end the wind drops, and all that waits
//! must come home.

mod checks;
mod deeds;
mod disasters;

use std::collections::BTreeSet;
use std::future::poll_fn;
use std::hash::Hasher;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use frontier::{End, Harvester, Target};
use policy::time::Span;
use sim::{Settings, ShelfFaults, Simulation};
use store::{Faults, StoreCopy};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::every_seed;
use crate::recovery;
use crate::sentry::{FetchFaults, Sentry, Watched};
use crate::world::{Ids, World, web_with_ids};

/// How long it blows, and how long everything has to come home after it.
const STORM: Span = Span::hours(4);
const CALM: Span = Span::hours(8);

enum Happening {
    /// Something was committed.
    Look,
    /// It is time for another deed.
    Deed,
    Killed,
    /// The process ended by itself.
    Ended(String),
    Over,
}

type Doing = Pin<Box<dyn Future<Output = ()>>>;

struct Storm {
    seed: u64,
    simulation: Simulation,
    sentry: Arc<Sentry>,
    world: World,
    ids: Ids,
    rng: fastrand::Rng,
    faults: Faults,
    shelf_faults: ShelfFaults,
    /// One kill in so many moments in which it could come.
    kill_one_in: u32,
    /// One restart in so many comes after a disaster; none in most storms.
    disaster_one_in: Option<u32>,
    /// As somebody kept it.
    copy: StoreCopy,
    /// Records that we destroyed ourselves, and files that we did it to.
    destroyed: BTreeSet<(String, u64)>,
    damaged: BTreeSet<String>,
    /// What the store knew was taken from it, or it was given what it had not heard of: its counts
    /// are no longer ours.
    disturbed: bool,
    /// How much the clock is wrong.
    clock_off: i64,
    /// The start after which somebody looks after what was set aside.
    asides: u32,
    looks: u32,
    /// What happened, for those who look into a failure.
    story: Vec<String>,
}

impl Storm {
    async fn new(seed: u64) -> Storm {
        let mut rng = fastrand::Rng::with_seed(seed);
        let world = World::draw_with_walks(&mut rng);
        let (web, ids) = web_with_ids(&world, &mut rng);
        let settings = Settings {
            workers: rng.usize(1..8),
            seed,
            idle_max: [Span::seconds(10), Span::minutes(1), Span::minutes(10)][rng.usize(0..3)],
            ..Settings::default()
        };
        let simulation = Simulation::new(web, settings);
        recovery::begin(&simulation.frontier).await;
        simulation.frontier.declare(&world.declared()).await.unwrap();
        for collection in ["news", "shop"] {
            simulation.frontier.start(&Target::Collection(collection.into())).await.unwrap();
        }
        let sentry = Arc::new(Sentry::new(Arc::clone(&simulation.clock), seed));
        sentry.books(|books| {
            let hang_for = Span::minutes(rng.u64(1..20));
            books.faults = FetchFaults { hang: 0.01, hang_for, lost: 0.003, panic: 0.01 };
        });
        let rough = [0.0, 0.3, 1.0][rng.usize(0..3)];
        let faults = Faults {
            conflict: 0.05 * rough,
            undetermined: 0.03 * rough,
            unavailable: 0.005 * rough,
            pause: 0.3,
            ..Faults::default()
        };
        let shelf_faults = ShelfFaults { keep: 0.01 * rough, abandon: 0.2 * rough, pause: 0.5 };
        let kill_one_in = [300, 3_000, 30_000][rng.usize(0..3)];
        let disaster_one_in = [None, Some(2), Some(6)][rng.usize(0..3)];
        let copy = simulation.store.copy().unwrap();
        Storm {
            seed,
            simulation,
            sentry,
            world,
            ids,
            rng,
            faults,
            shelf_faults,
            kill_one_in,
            disaster_one_in,
            copy,
            destroyed: BTreeSet::new(),
            damaged: BTreeSet::new(),
            disturbed: false,
            clock_off: 0,
            asides: 0,
            looks: 0,
            story: Vec::new(),
        }
    }

    fn wind(&self, blows: bool) {
        let (faults, shelf) = match blows {
            true => (self.faults, self.shelf_faults),
            false => (Faults::default(), ShelfFaults::default()),
        };
        self.simulation.store.inject(faults).unwrap();
        self.simulation.shelf.inject(shelf);
    }

    fn tell(&mut self, what: impl Into<String>) {
        let now = self.simulation.now();
        self.story.push(format!("{now} {}", what.into()));
        if self.story.len() > 20 {
            self.story.remove(0);
        }
    }

    fn fail(&self, what: &str) -> ! {
        panic!("seed {}: {what}\nbefore it:\n{}", self.seed, self.story.join("\n"));
    }

    /// Until then, with as many processes as it takes.
    async fn until(&mut self, end: Instant, calm: bool) {
        while Instant::now() < end {
            self.wind(!calm);
            let ended = self.live(end, calm).await;
            self.wind(false);
            // What the dead process had under way ends with it.
            while self.sentry.books(|books| books.under_way) > 0 {
                tokio::task::yield_now().await;
            }
            match ended {
                Happening::Over => self.tell("the process is stopped"),
                Happening::Ended(why) if calm => self.fail(&format!("ended in the calm: {why}")),
                Happening::Ended(why) => {
                    let deleted = why.contains("was deleted while it was being written");
                    if deleted && !self.damaged.iter().any(|name| why.contains(name)) {
                        self.fail(&format!("A14: {why}"));
                    }
                    self.tell(format!("ended: {why}"));
                }
                _ => self.tell("killed"),
            }
            let disaster = if calm { None } else { self.disaster() };
            self.restart(disaster).await;
        }
    }

    /// One process, from its start to its end.
    async fn live(&mut self, end: Instant, calm: bool) -> Happening {
        let frontier = Arc::clone(&self.simulation.frontier);
        let (inner, sentry) = (self.simulation.fetcher(), Arc::clone(&self.sentry));
        let harvester = Harvester {
            fetcher: Arc::new(Watched { inner, frontier: Arc::clone(&frontier), sentry }),
            frontier: Arc::clone(&frontier),
            archive: Arc::clone(&self.simulation.shelf),
            witness: Arc::clone(&self.sentry),
            workers: self.simulation.settings.workers,
            idle_max: self.simulation.settings.idle_max,
            end: End::default(),
        };
        let (_stop, stopped) = watch::channel(false);
        let mut run = pin!(harvester.run(stopped));
        let mut over = pin!(tokio::time::sleep_until(end));
        let mut deeds: Vec<Doing> = Vec::new();
        let mut next_deed = Box::pin(tokio::time::sleep(self.pause_between_deeds()));
        loop {
            let store = self.simulation.store.clone();
            let commits = store.figures().commits;
            let (rng, kill_one_in) = (&mut self.rng, self.kill_one_in);
            let happening = poll_fn(|context| {
                if over.as_mut().poll(context).is_ready() {
                    return Poll::Ready(Happening::Over);
                }
                if !calm && next_deed.as_mut().poll(context).is_ready() {
                    return Poll::Ready(Happening::Deed);
                }
                // Whose step comes first is drawn anew each time.
                let turn = rng.usize(0..=deeds.len());
                let mut later = deeds.split_off(turn);
                deeds.retain_mut(|deed| deed.as_mut().poll(context).is_pending());
                let ran = run.as_mut().poll(context);
                later.retain_mut(|deed| deed.as_mut().poll(context).is_pending());
                deeds.extend(later);
                match ran {
                    Poll::Ready(Ok(_)) => return Poll::Ready(Happening::Ended("well".into())),
                    Poll::Ready(Err(error)) => return Poll::Ready(Happening::Ended(error.to_string())),
                    Poll::Pending => {}
                }
                if !calm && rng.u32(0..kill_one_in) == 0 {
                    return Poll::Ready(Happening::Killed);
                }
                if store.figures().commits == commits { Poll::Pending } else { Poll::Ready(Happening::Look) }
            })
            .await;
            match happening {
                Happening::Look => {
                    self.wind(false);
                    self.look().await;
                    self.wind(!calm);
                }
                Happening::Deed => {
                    deeds.extend(self.deed(&frontier));
                    next_deed = Box::pin(tokio::time::sleep(self.pause_between_deeds()));
                }
                ended => return ended,
            }
        }
    }

    /// The wind drops: everything is switched on, and has time to come home.
    async fn calm_down(&mut self) {
        self.wind(false);
        self.sentry.books(|books| {
            books.faults = FetchFaults::default();
            books.checker.forget_contract();
        });
        let frontier = Arc::clone(&self.simulation.frontier);
        frontier.declare(&self.world.all_on()).await.unwrap();
        for (pause, _) in frontier.paused().await.unwrap() {
            frontier.resume(&pause).await.unwrap();
        }
        self.tell("calm");
        self.set_clock(0);
        let end = Instant::now() + Duration::from_millis(CALM.0);
        self.until(end, true).await;
        self.nothing_is_frozen().await;
        self.walks_are_complete().await;
        self.accounts_agree().await;
    }
}

/// Its harvests, and what nothing but the same storm comes to.
fn storm(seed: u64) -> (u64, u64) {
    let blow = async {
        let mut storm = Storm::new(seed).await;
        let end = Instant::now() + Duration::from_millis(STORM.0);
        storm.until(end, false).await;
        storm.calm_down().await;
        storm.sentry.books(|books| (books.committed, books.fingerprint.finish()))
    };
    sim::virtual_time(blow).unwrap()
}

#[test]
fn f5_f6_f7_l9_the_harvester_keeps_everything_in_a_storm() {
    every_seed(30, 50, |seed| storm(seed).0);
}

#[test]
fn the_same_seed_gives_the_same_storm() {
    for seed in [4, 7] {
        assert_eq!(storm(seed), storm(seed));
    }
}
