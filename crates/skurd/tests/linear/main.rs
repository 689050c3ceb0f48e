//! Walks with the real binary against a small web on loopback: which ids are asked for, in which order, and what is known of them after.

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

#[path = "../crawl/reply.rs"]
#[allow(dead_code, reason = "shared with other tests")]
mod reply;
#[path = "../crawl/web.rs"]
#[allow(dead_code, reason = "shared with other tests")]
mod web;
#[path = "../crawl/world.rs"]
#[allow(dead_code, reason = "shared with other tests")]
mod world;
