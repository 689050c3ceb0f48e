//! What servers say, read: codings, links, cookies. A test names the rule it is about.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod codings;
mod cookies;
mod encodings;
mod feeds;
mod hostile;
mod html;
mod real;
mod world;
