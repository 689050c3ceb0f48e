//! The real server on loopback: who may ask, what it answers, and that commands and API say the
//! same.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod archive;
mod cdx;
mod commands;
mod control;
mod declare;
mod document;
mod entrance;
mod forms;
mod index;
mod live;
mod replay;
mod runs;
mod secrets;
mod site;
mod statuses;
mod things;
mod traps;
mod walks;

const SKURD: &str = env!("CARGO_BIN_EXE_skurd");
