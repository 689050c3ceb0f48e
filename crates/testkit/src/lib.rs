//! Webs to harvest, and what tests and benches share.
//!
//! [`web`] is a web on loopback whose sites are functions; [`town`] is the one that `skurd demo`
//! harvests. That is all the shipped binary has of this crate.
//!
//! The rest is behind features, which only tests and benches switch on. `catalog` makes what is
//! declared, and numbers that are the same each time; `clock` has clocks for the frontier; `tls`
//! encrypts a web and has little proxies; `world` is a directory with the real binary in it, and a reader of archive files
//! that has none of the code under test.

#![cfg_attr(
    any(feature = "catalog", feature = "tls"),
    allow(clippy::unwrap_used, clippy::expect_used, reason = "what tests are made of may fail as they do")
)]

#[cfg(feature = "catalog")]
pub mod catalog;
#[cfg(feature = "clock")]
pub mod clock;
pub mod coding;
#[cfg(feature = "world")]
pub mod gzip;
#[cfg(feature = "tls")]
pub mod proxy;
#[cfg(feature = "catalog")]
pub mod random;
pub mod town;
pub mod web;
#[cfg(feature = "world")]
pub mod world;

pub use town::{Demo, HOSTS, config};
pub use web::Seen;

#[cfg(test)]
mod tests;
