//! The real server on loopback: who may ask, what it answers, and that commands and API say the same.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod archive;
mod cdx;
mod client;
mod commands;
mod control;
mod declare;
mod document;
mod entrance;
#[path = "../index/fifty.rs"]
mod fifty;
mod forms;
mod index;
mod live;
#[path = "../crawl/reply.rs"]
#[allow(dead_code, reason = "shared with the tests of crawl")]
mod reply;
mod secrets;
mod served;
mod statuses;
mod things;
mod walks;
#[path = "../crawl/web.rs"]
#[allow(dead_code, reason = "shared with the tests of crawl")]
mod web;
#[path = "../crawl/world.rs"]
#[allow(dead_code, reason = "shared with the tests of crawl")]
mod world;
