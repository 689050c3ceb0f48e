//! The client against servers of every kind, on this machine.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod answers;
mod connections;
mod limits;
mod names;
mod server;
mod tls;
mod ways;
