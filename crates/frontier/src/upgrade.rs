//! What stores of older formats go through before the frontier works with them.
//!
//! Rows of older versions are read as they are (see [`crate::format1`]), so there is seldom anything here: only what concerns more than one row.
//! A table whose keys change is rewritten by a step, and a counter that did not use to be kept is counted by one, each in pieces that commit
//! together with how far they have come ([`store::upgrade`]).

use store::upgrade::Step;

/// In the order they are run.
pub const UPGRADES: &[Step] = &[];
