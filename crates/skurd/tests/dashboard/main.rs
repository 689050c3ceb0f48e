//! The dashboard in a real browser (I5), and what of it needs none.
//!
//! A browser is Chromium with its driver (Debian's `chromium` and `chromium-driver`). Without one these tests say so and pass, unless
//! `SKURD_BROWSER_TESTS` is set: then a missing browser is a failure. Where `SKURD_SCREENSHOTS` names a directory, every page is photographed into it.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod browser;
#[path = "../serve/client.rs"]
#[allow(dead_code, reason = "shared with the tests of serve")]
mod client;
mod demo;
mod doors;
mod explore;
mod hostile;
mod operate;
#[path = "../crawl/reply.rs"]
#[allow(dead_code, reason = "shared with the tests of crawl")]
mod reply;
#[path = "../serve/served.rs"]
#[allow(dead_code, reason = "shared with the tests of serve")]
mod served;
mod shape;
mod town;
#[path = "../crawl/web.rs"]
#[allow(dead_code, reason = "shared with the tests of crawl")]
mod web;
mod wire;
#[path = "../crawl/world.rs"]
#[allow(dead_code, reason = "shared with the tests of crawl")]
mod world;
