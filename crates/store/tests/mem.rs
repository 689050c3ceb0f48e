//! The in-memory engine: the contract, and the faults it injects.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use store::contract::Subject;
use store::{Durability, Error, Faults, Store};

struct InMemory(Store);

impl Subject for InMemory {
    fn fresh() -> InMemory {
        InMemory(Store::in_memory(1))
    }
    fn store(&self) -> &Store {
        &self.0
    }
    fn restart(self) -> InMemory {
        self.0.crash().unwrap();
        self
    }
}

store::contract!(InMemory);

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

async fn count_ok(store: &Store, commits: u32) -> (u32, Vec<String>) {
    let mut acknowledged = 0;
    let mut log = Vec::new();
    for n in 0..commits {
        let put = async {
            let tx = store.begin().await?;
            tx.put(n.to_be_bytes(), *b"x")?;
            store.commit(&tx).await
        };
        match put.await {
            Ok(()) => acknowledged += 1,
            Err(error) => log.push(format!("{n}: {error}")),
        }
    }
    (acknowledged, log)
}

#[test]
fn faults_come_as_often_as_asked_and_replay_from_the_seed() {
    let faults =
        Faults { conflict: 0.1, undetermined: 0.1, unavailable: 0.05, pause: 0.0, ..Faults::default() };
    let once = |seed| {
        let store = Store::in_memory(seed);
        store.inject(faults).unwrap();
        run(count_ok(&store, 1000))
    };
    let (acknowledged, log) = once(42);
    assert_eq!((acknowledged, &log), (once(42).0, &once(42).1));
    assert_ne!(log, once(43).1);
    for (kind, about) in
        [("another transaction", 90), ("it did happen", 45), ("did not happen", 45), ("unavailable", 98)]
    {
        let seen = log.iter().filter(|line| line.contains(kind)).count();
        assert!((about / 2..about * 2).contains(&seen), "{kind}: {seen} of about {about}");
    }
}

#[test]
fn undetermined_commits_happened_or_not_as_a_later_read_tells() {
    let store = Store::in_memory(3);
    store.inject(Faults { undetermined: 1.0, ..Faults::default() }).unwrap();
    run(async {
        for n in 0..50u8 {
            let tx = store.begin().await.unwrap();
            tx.put([n], *b"x").unwrap();
            let Err(Error::Undetermined(story)) = store.commit(&tx).await else { panic!("acknowledged") };
            let there = store.begin().await.unwrap().get(&[n]).await.unwrap().is_some();
            assert_eq!(there, story.contains("did happen"));
        }
    });
}

#[test]
fn transact_returns_undetermined_and_the_idempotent_one_runs_again() {
    let store = Store::in_memory(3);
    store.inject(Faults { undetermined: 0.5, ..Faults::default() }).unwrap();
    run(async {
        let mut returned = 0;
        for n in 0..50u8 {
            let put = store.transact(|tx| async move { tx.put([n], *b"x") });
            returned += u32::from(matches!(put.await, Err(Error::Undetermined(_))));
        }
        assert!((10..40).contains(&returned), "{returned}");
        let mut runs = 0;
        for n in 50..100u8 {
            let put = store.transact_idempotent(|tx| {
                runs += 1;
                async move {
                    if tx.get(&[n]).await?.is_none() {
                        tx.put([n], *b"x")?;
                    }
                    Ok(())
                }
            });
            put.await.unwrap();
        }
        assert!(runs > 60, "{runs}");
    });
}

#[test]
fn a_crash_ends_open_transactions_and_keeps_the_committed() {
    let store = Store::in_memory(0);
    run(async {
        let committed = store.begin().await.unwrap();
        committed.put(*b"a", *b"1").unwrap();
        store.commit(&committed).await.unwrap();
        let open = store.begin().await.unwrap();
        open.put(*b"b", *b"1").unwrap();
        store.crash().unwrap();
        assert!(open.get(b"a").await.is_err());
        assert!(store.commit(&open).await.is_err());
        let after = store.begin().await.unwrap();
        assert!(after.get(b"a").await.unwrap().is_some() && after.get(b"b").await.unwrap().is_none());
    });
}

#[test]
fn who_gives_up_after_an_undetermined_commit_does_not_say_that_nothing_happened() {
    let store = Store::in_memory(5);
    run(async {
        let mut runs = 0;
        let outcome = store.transact_idempotent(|tx| {
            runs += 1;
            // The first commit gets no answer; after that the store is gone.
            let faults = match runs {
                1 => Faults { undetermined: 1.0, ..Faults::default() },
                _ => Faults { unavailable: 1.0, ..Faults::default() },
            };
            store.inject(faults).unwrap();
            async move { tx.put(*b"a", *b"1") }
        });
        let outcome = outcome.await;
        assert!(matches!(outcome, Err(Error::Undetermined(_))), "{outcome:?}");
    });
}

/// Commits numbers one after the other, each over the one before; those of the list synced.
async fn count_up(store: &Store, synced: &[u32]) {
    for n in 0..10u32 {
        let tx = store.begin().await.unwrap();
        tx.set_durability(if synced.contains(&n) { Durability::Synced } else { Durability::Relaxed });
        tx.put(*b"last", n.to_be_bytes()).unwrap();
        tx.put(n.to_be_bytes(), *b"x").unwrap();
        store.commit(&tx).await.unwrap();
    }
}

/// How many are there, which must be the first ones.
async fn counted(store: &Store) -> u32 {
    let tx = store.begin().await.unwrap();
    let mut there = 0u32;
    while tx.get(&there.to_be_bytes()).await.unwrap().is_some() {
        there += 1;
    }
    for n in there..10 {
        assert!(tx.get(&n.to_be_bytes()).await.unwrap().is_none(), "{n} is there without {there}");
    }
    let last = tx.get(b"last").await.unwrap().map(|last| last.to_vec());
    assert_eq!(last, there.checked_sub(1).map(|last| last.to_be_bytes().to_vec()));
    there
}

#[test]
fn a_power_cut_takes_back_the_last_relaxed_commits_and_none_that_was_synced() {
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..100 {
        run(async {
            let store = Store::in_memory(seed);
            count_up(&store, &[3, 5]).await;
            let open = store.begin().await.unwrap();
            open.put(*b"late", *b"x").unwrap();
            let progress = store.progress();
            assert_eq!(progress.committed - progress.durable, 4, "6 to 9 are relaxed");
            let lost = store.power_cut().unwrap();
            let there = counted(&store).await;
            assert_eq!(there, 10 - u32::try_from(lost).unwrap());
            seen.insert(there);
            assert!(store.commit(&open).await.is_err(), "whoever was at work is dead");
            assert_eq!(store.power_cut().unwrap(), 0, "what came through it is on disk");
            count_up(&store, &[]).await;
            store.sync().await.unwrap();
            assert_eq!((store.power_cut().unwrap(), counted(&store).await), (0, 10), "as is what was synced");
        });
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), [6, 7, 8, 9, 10]);
}

#[test]
fn a_copy_that_is_put_back_is_all_there_is() {
    run(async {
        let store = Store::in_memory(1);
        let empty = store.copy().unwrap();
        count_up(&store, &[]).await;
        let full = store.copy().unwrap();
        store.put_back(&empty).unwrap();
        assert_eq!(counted(&store).await, 0);
        store.put_back(&full).unwrap();
        assert_eq!(counted(&store).await, 10);
    });
}
