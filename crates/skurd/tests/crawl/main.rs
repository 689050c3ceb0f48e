//! The real binary against a small web on loopback, from the first request to the last byte on
//! disk.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod again;
mod asking;
mod damage;
mod dedup;
mod disk;
mod hostile;
mod input;
mod kill;
mod login;
mod members;
mod nothing;
mod odd;
mod out;
mod polite;
mod robots;
mod stop;
mod ways;

const SKURD: &str = env!("CARGO_BIN_EXE_skurd");
