//! A harvest from the command line: the store, the wire and the loop put together, and everything that is told about it.

pub(crate) mod figures;
mod indexing;
mod run;
mod summary;
mod tell;

pub(crate) use run::{Harvest, Until};
pub(crate) use summary::summarise;
pub(crate) use tell::harvest_json;
