//! The rules of the linear crawl (spec 3), one file a subject. A test names the rule it is about.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod driver;
mod existence;
mod reference;
mod resume;
mod rows;
mod scenario;
mod settings;
mod steps;
mod turns;
mod view;
mod world;
