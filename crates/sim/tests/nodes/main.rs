//! Several nodes on one store that is itself far away (M1–M10): real harvesters, each with a
//! frontier, a clock and an archive of its own, on the in-memory engine with round trips, conflicts
//! and undetermined commits. Nodes are killed and come back, are stopped and go on, join and
//! depart; their clocks are apart. What counts is what the web saw and what is in the store.
//!
//! `SKURD_SIM_SEED=n` replays one seed; `SKURD_SIM_RUNS=n` runs that many.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod budget;
mod commits;
mod fleet;
mod plain;
mod scale;
mod storm;
mod town;
