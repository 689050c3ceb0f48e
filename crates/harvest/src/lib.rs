//! A harvest put together: the ports of the frontier over the network and the archive ([`wire`]), a
//! data directory that is opened ([`data_dir`], [`session`]), and a run from its start to its end
//! with its figures ([`run`], [`figures`]).

#![allow(
    missing_debug_implementations,
    reason = "services with handles and locks, of which nobody prints one"
)]

pub mod clock;
pub mod data_dir;
pub mod figures;
mod indexing;
pub mod node;
mod nothing;
pub mod page_info;
mod room;
mod run;
pub mod running_server;
pub mod session;
mod signals;
pub mod walk;
pub mod wire;

/// A future in a box is compiled here, once, and not anew in every crate that awaits it.
pub(crate) use async_recursion::async_recursion as boxed;

pub use figures::error_word;
pub use nothing::{achieved, unanswered};
pub use run::{Harvest, Outcome, Until, Wanted};
pub use signals::{Stopped, signal};
