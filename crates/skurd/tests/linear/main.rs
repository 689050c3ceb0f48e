//! Walks with the real binary against a small web on loopback: which ids are asked for, in which
//! order, and what is known of them after.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod config;
mod judged;
mod kill;
mod margin;
mod outputs;
mod share;
mod told;
mod turns;
mod walker;
mod ways;
mod wrong;

const SKURD: &str = env!("CARGO_BIN_EXE_skurd");
