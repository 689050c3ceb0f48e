//! The frontier, and the harvester on it, with everything going wrong at once: conflicts,
//! undetermined commits, crashes, lost and late workers, clock jumps, power cuts, older stores,
//! damaged archives, live changes, deactivation and deletion in mid-harvest. After every step the
//! checkers look at everything.
//!
//! `SKURD_SIM_SEED=n` replays one seed; `SKURD_SIM_RUNS=n` runs that many.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod recovery;
mod reference;
mod sentry;
mod storm;
mod transactions;
mod world;

/// One storm after the other; each gives its harvests, which are many on average.
fn every_seed(usually: u64, harvests_min: u64, storm: impl Fn(u64) -> u64) {
    let given = |name| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    if let Some(seed) = given("SKURD_SIM_SEED") {
        println!("seed {seed}: {} harvests", storm(seed));
        return;
    }
    let runs = given("SKURD_SIM_RUNS").unwrap_or(usually);
    let harvests: u64 = (0..runs).map(storm).sum();
    assert!(harvests > runs * harvests_min, "only {harvests} harvests in {runs} storms");
}
