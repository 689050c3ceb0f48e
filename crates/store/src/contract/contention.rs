//! Many writers on one key: nothing is lost, everybody gets a turn, and retries end.

use std::sync::Arc;

use tokio::sync::Barrier;

use super::Subject;
use crate::error::Error;
use crate::limits::CONFLICT_ATTEMPTS_MAX;
use crate::store::Store;
use crate::table::Table;

const COUNTER: Table<(u32,), u64> = Table::new(1, "counter");

async fn increment(store: &Store, counter: u32) -> u64 {
    let bump = store.transact(|tx| async move {
        let next = COUNTER.get(&tx, (counter,)).await?.unwrap_or(0) + 1;
        COUNTER.put(&tx, (counter,), &next)?;
        Ok(next)
    });
    bump.await.unwrap()
}

pub fn counters_lose_nothing_under_contention<S: Subject>() {
    const TASKS: u32 = 16;
    const ROUNDS: u32 = 25;
    let subject = S::fresh();
    S::run(async {
        let tasks: Vec<_> = (0..TASKS)
            .map(|task| {
                let store = subject.store().clone();
                tokio::spawn(async move {
                    for round in 0..ROUNDS {
                        increment(&store, (task + round) % 3).await;
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        let tx = subject.store().begin().await.unwrap();
        let counters = COUNTER.multi_get(&tx, [(0,), (1,), (2,)]).await.unwrap();
        let total: u64 = counters.into_iter().flatten().sum();
        assert_eq!(total, u64::from(TASKS * ROUNDS));
        assert_eq!(subject.store().figures().gave_up, 0);
    });
}

/// Every task finishes its share while all others keep at it: the slowest is not far behind the
/// fastest.
pub fn nobody_starves<S: Subject>() {
    const TASKS: usize = 12;
    const TOTAL: u64 = 600;
    let subject = S::fresh();
    let shares = S::run(async {
        let start = Arc::new(Barrier::new(TASKS));
        let tasks: Vec<_> = (0..TASKS)
            .map(|_| {
                let (store, start) = (subject.store().clone(), Arc::clone(&start));
                tokio::spawn(async move {
                    start.wait().await;
                    let mut share = 0u64;
                    while increment(&store, 0).await < TOTAL {
                        share += 1;
                        // An engine that never waits would never let the next task run.
                        tokio::task::yield_now().await;
                    }
                    share
                })
            })
            .collect();
        let mut shares = Vec::new();
        for task in tasks {
            shares.push(task.await.unwrap());
        }
        shares
    });
    let even = TOTAL / TASKS as u64;
    assert!(shares.iter().all(|&share| share >= even / 10), "an even share is {even}, but: {shares:?}");
}

pub fn attempts_are_bounded<S: Subject>() {
    let subject = S::fresh();
    S::run(async {
        let store = subject.store();
        let mut runs = 0;
        let hopeless = store.transact(|tx| {
            runs += 1;
            async move {
                COUNTER.lock(&tx, (9,)).await?;
                // Somebody else is always faster.
                let rival = store.begin().await?;
                COUNTER.put(&rival, (9,), &1)?;
                store.commit(&rival).await
            }
        });
        assert!(matches!(hopeless.await, Err(Error::Conflict { .. })));
        assert_eq!(runs, CONFLICT_ATTEMPTS_MAX);
        assert_eq!(store.figures().gave_up, 1);
    });
}
