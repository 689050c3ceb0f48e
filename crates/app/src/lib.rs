//! Everything one can ask or tell a harvest: declare, start, pause, look at queue, captures,
//! reports, walks and links, follow what happens.
//!
//! A question is a plain value, its answer is a typed one, and everything that goes wrong is a
//! [`Problem`] in the words of whoever asked. The API (`server`), the pages (`dashboard`) and the
//! commands (`skurd`) all ask here, so what they say cannot drift. Nothing here knows how a
//! question came or how its answer is shown.

#![allow(
    missing_debug_implementations,
    reason = "services with handles and locks, of which nobody prints one"
)]

pub mod archive;
pub mod blacklist;
pub mod captures;
pub mod config;
pub mod control;
pub mod declared;
pub mod event;
pub mod find;
pub mod first;
pub mod hosts;
pub mod index;
pub mod live;
mod neighbours;
pub mod nodes;
pub mod page;
mod problem;
pub mod queue;
pub mod reports;
pub mod results;
pub mod runs;
mod state;
pub mod status;
pub mod traps;
pub mod url_frontier;
mod urls;
pub mod walks;
pub mod why;

/// A future in a box is compiled here, once, and not anew in every crate that awaits it.
pub(crate) use async_recursion::async_recursion as boxed;

pub use declared::Kind;
pub use live::{Event, Live, Sample};
pub use page::{Page, Paging};
pub use problem::{Answer, FieldProblem, Problem};
pub use state::App;
