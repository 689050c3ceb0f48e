//! The dashboard in a real browser (I5), and what of it needs none.
//!
//! A browser is Chromium with its driver (Debian's `chromium` and `chromium-driver`). Without one
//! these tests say so and pass, unless `SKURD_BROWSER_TESTS` is set: then a missing browser is a
//! failure. Where `SKURD_SCREENSHOTS` names a directory, every page is photographed into it.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod browser;
mod demo;
mod doors;
mod edit;
mod explore;
mod hostile;
mod operate;
mod replay;
mod shape;
mod town;
mod wire;

const SKURD: &str = env!("CARGO_BIN_EXE_skurd");
