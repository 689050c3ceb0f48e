//! A walk as it is shown: how it stands in the [words](Standing) of API, pages and commands, and
//! the [map] of its ids.

pub mod map;
mod standing;
pub mod words;

pub use standing::{Standing, Stopped, WalkCell, WalkCounts, WalkHead, WalkLeg};
