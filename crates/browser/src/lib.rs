//! A browser that is driven: Chromium over a pipe, one tab for one page.
//!
//! The life of a [`Browser`]: it is [found](find) and launched with a profile directory of its own
//! and no way to the network but the proxies it is told of; commands and events go over a pipe
//! ([`pipe`]); the end of the pipe is the end of the browser, and every page ends with it.
//!
//! The life of a page ([`page`]): a browser context of its own (cookies, storage and proxy are
//! nobody else's), a tab in it, set up before anything runs; then the phases of B11: load, quiet,
//! behaviours, quiet, collect. It ends in one of the ways of B12, within its time in all cases, and
//! its context goes with it: nothing survives a page (B15).
//!
//! What goes over the wire is not known here: the proxy records it, and only says when it is
//! [quiet](Traffic).

mod cookies;
pub mod find;
mod launch;
mod page;
mod pipe;
mod protocol;
mod script;

pub use launch::{Browser, Launch, LaunchError};
pub use page::{Frame, Phases, Picture, Seen, Traffic, Visit};
