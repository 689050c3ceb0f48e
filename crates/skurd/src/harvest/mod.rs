//! A harvest from the command line: the store, the wire and the loop put together, and everything that is told about it.

pub(crate) mod figures;
mod indexing;
mod nothing;
mod run;
mod signals;
mod summary;
mod tell;

pub(crate) use figures::error_word;
pub(crate) use nothing::{achieved, unanswered};
pub(crate) use run::{Harvest, Outcome, Until};
pub(crate) use signals::{Stopped, signal};
pub(crate) use summary::{data_flag, summarise};
pub(crate) use tell::harvest_json;
