//! Traps are noticed (F37): webs that are functions, walked as a harvest would, from start to end.
//! Five kinds of traps must be found within a stated number of harvests, and large honest sites
//! must never be suspected.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod honest;
mod traps;
mod walk;
