//! Walks from the command line (spec 3): what was asked for, what is told while they go, and what
//! is written besides the archive.
//!
//! [`arguments`] makes walks of the command line, or says what is wrong with it. While they go,
//! [`Teller`] hears of every result: it tells it, has it [written](Outputs), and stops the run when
//! the walks have ended. [`harvest::walk::map`] draws what is known of the ids, [`events`] says it
//! in JSON, in the same [words](harvest::walk::Standing) as the API.

mod arguments;
mod body;
pub(crate) mod events;
mod files;
mod lines;
mod outputs;
mod progress;
mod ranges;

pub(crate) use arguments::{LINEAR, asked, refused};
pub(crate) use outputs::{Outputs, Wanted};
pub(crate) use progress::Teller;
