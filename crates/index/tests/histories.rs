//! X5, X10, X11: random histories of loads and deletions, from two processes, with conflicts, lost
//! answers, outages and crashes, and observers in between in every order. At rest the index is what
//! a batch job would make of the last pages.
//!
//! `SKURD_SIM_SEED=n` replays one history. On a cluster (`store::contract::fresh`) there are few of them, whose
//! conflicts are real and nothing else goes wrong.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod common;

use std::cell::{Cell, RefCell};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use common::{Model, assert_same, dump};
use index::{By, Index, Load, Page, Repair, Uri};
use policy::time::Time;
use store::Faults;
use store::contract::fresh;

const HISTORIES: u64 = 60;
const HISTORIES_ON_CLUSTER: u64 = 3;
const LOADERS: usize = 2;
const WORKERS: usize = 4;
const ROUNDS: usize = 40;

fn urls() -> Vec<Uri> {
    let hosts =
        ["http://a.com", "https://a.com", "http://www.b.co.uk", "http://c.github.io", "http://10.0.0.1:81"];
    let paths = ["/", "/x", "/x/y?z"];
    hosts.iter().flat_map(|host| paths.map(|path| Uri::of_url(&format!("{host}{path}")).unwrap())).collect()
}

/// With their anchor texts, as they stand on a page.
type Links = Vec<(Uri, String)>;

/// The pages of a loader are its own, so that the last load of each is known.
struct Loader<'a> {
    index: &'a Index,
    model: &'a RefCell<Model>,
    urls: &'a [Uri],
    number: usize,
    rng: fastrand::Rng,
}

impl Loader<'_> {
    async fn run(mut self) {
        for round in 0..ROUNDS {
            let own: Vec<&Uri> = self.urls.iter().skip(self.number).step_by(LOADERS).collect();
            let count = self.rng.usize(1..4);
            let chosen: Vec<(&Uri, Option<Links>)> =
                (0..count).map(|_| (own[self.rng.usize(0..own.len())], self.page())).collect();
            let pages: Vec<Option<Page>> =
                chosen.iter().map(|(_, links)| links.clone().map(Page::new)).collect();
            let loads: Vec<Load<'_>> = chosen
                .iter()
                .zip(&pages)
                .map(|((uri, _), page)| Load { uri, page: page.as_ref(), at: Time(round as i64) })
                .collect();
            let (index, loads) = (self.index, &loads);
            let load =
                || index.store().transact_idempotent(|tx| async move { index.load_many(&tx, loads).await });
            while load().await.is_err() {
                tokio::task::yield_now().await;
            }
            let mut model = self.model.borrow_mut();
            for (uri, links) in chosen {
                match links {
                    None => drop(model.pages.remove(uri.as_str())),
                    Some(links) => {
                        let page = model.pages.entry(uri.as_str().to_owned()).or_default();
                        page.clear();
                        for (target, anchor) in links {
                            page.entry(target.as_str().to_owned()).or_insert(anchor);
                        }
                    }
                }
            }
        }
    }

    fn page(&mut self) -> Option<Links> {
        if self.rng.u8(0..5) == 0 {
            return None;
        }
        let links = (0..self.rng.usize(0..6)).map(|_| {
            let target = self.urls[self.rng.usize(0..self.urls.len())].clone();
            (target, ["", "text", "tab\tand\nline", "back\\slash"][self.rng.usize(0..4)].to_owned())
        });
        Some(links.collect())
    }
}

/// Runs futures on this thread, a random one each time.
fn interleave(futures: Vec<Pin<Box<dyn Future<Output = ()> + '_>>>, rng: &mut fastrand::Rng) {
    let mut cx = Context::from_waker(Waker::noop());
    let mut running: Vec<_> =
        futures.into_iter().map(|future| Box::pin(tokio::task::unconstrained(future))).collect();
    while !running.is_empty() {
        let at = rng.usize(0..running.len());
        if running[at].as_mut().poll(&mut cx) == Poll::Ready(()) {
            drop(running.swap_remove(at));
        }
    }
}

async fn work(index: &Index, number: usize, loading: &Cell<usize>) {
    loop {
        // An error is an outage or a crash: the next step begins anew.
        let worked = index.step(number).await.unwrap_or(true);
        if !worked && loading.get() == 0 && index.waiting(1).await.is_ok_and(|notes| notes == 0) {
            return;
        }
        tokio::task::yield_now().await;
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
}

fn history(seed: u64) {
    let mut rng = fastrand::Rng::with_seed(seed);
    let store = fresh(seed);
    let takes_faults = store.inject(Faults::default()).is_ok();
    // Who waits for a cluster does so by a clock.
    let clock = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_time().build().unwrap();
    let _waits = (!takes_faults).then(|| clock.enter());
    // Two processes: each with a handle of its own, and nothing shared but the store.
    let handles: Vec<Index> = (0..2).map(|_| block_on(Index::open(&store, "history")).unwrap()).collect();
    let model = RefCell::new(Model::default());
    let urls = urls();
    for round in 0..3 {
        let share = |rng: &mut fastrand::Rng, max: f64| rng.f64() * max;
        let faults = Faults {
            conflict: share(&mut rng, 0.3),
            undetermined: share(&mut rng, 0.2),
            unavailable: share(&mut rng, 0.1),
            pause: 0.5,
            ..Faults::default()
        };
        if takes_faults {
            store.inject(faults).unwrap();
        }
        let loading = Cell::new(LOADERS);
        let crashes = if takes_faults { rng.u32(0..8) } else { 0 };
        let mut futures: Vec<Pin<Box<dyn Future<Output = ()> + '_>>> = Vec::new();
        for number in 0..LOADERS {
            let (index, rng) = (&handles[number % 2], fastrand::Rng::with_seed(rng.u64(..)));
            let loader = Loader { index, model: &model, urls: &urls, number, rng };
            let loading = &loading;
            futures.push(Box::pin(async move {
                loader.run().await;
                loading.set(loading.get() - 1);
            }));
        }
        for number in 0..WORKERS {
            futures.push(Box::pin(work(&handles[number % 2], number, &loading)));
        }
        let mut crash_rng = fastrand::Rng::with_seed(rng.u64(..));
        let store = &store;
        futures.push(Box::pin(async move {
            for _ in 0..crashes {
                let moments = crash_rng.u32(0..400);
                for _ in 0..moments {
                    tokio::task::yield_now().await;
                }
                store.crash().unwrap();
            }
        }));
        interleave(futures, &mut rng);
        if takes_faults {
            store.inject(Faults::default()).unwrap();
        }
        block_on(compare(&handles[round % 2], &model.borrow(), seed));
    }
}

async fn compare(index: &Index, model: &Model, seed: u64) {
    assert_eq!(index.waiting(1).await.unwrap(), 0, "seed {seed}");
    let expected = model.dump();
    assert_same(&dump(index).await, &expected, &format!("seed {seed}"));
    let report = index.verify(Repair::Report).await.unwrap();
    assert_eq!(report.first, [], "seed {seed}");
    let totals = index.totals().await.unwrap();
    assert_eq!(totals, report.totals, "seed {seed}");
    assert_eq!((totals.links, totals.loaded), (model.links(), model.pages.len() as u64), "seed {seed}");
    let all = index.top(By::Score, None, 1000).await.unwrap().items;
    assert_eq!(all.iter().map(|page| page.incount).sum::<u64>(), totals.links, "seed {seed}");
    assert_eq!(all.iter().map(|page| page.score).sum::<u64>(), totals.links + totals.loaded, "seed {seed}");
}

#[test]
fn x11_any_history_ends_as_a_batch_job_would() {
    match std::env::var("SKURD_SIM_SEED").ok().and_then(|seed| seed.parse().ok()) {
        Some(seed) => history(seed),
        None if fresh(0).inject(Faults::default()).is_err() => (0..HISTORIES_ON_CLUSTER).for_each(history),
        None => (0..HISTORIES).for_each(history),
    }
}
