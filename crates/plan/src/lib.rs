//! `skurd simulate`: the real frontier on a virtual clock, and what is to be seen of it.
//!
//! A run's way: [`webfile`] reads the web, or `sim` makes one up; [`drive`] declares the config,
//! starts what is to be started and lets the simulated time pass; the [`ledger`] takes every
//! harvest in as it is committed and folds it into figures; [`forecast`] reads the frontier's own
//! state at the end. [`timeline`], [`picture`] and [`lines`] show what came of it: as text, as SVG
//! and as JSON lines.
//!
//! Memory does not grow with the number of harvests: a URL keeps one mark per column of the
//! [`grid`], a host and a profile a few counters, the link table its first rows. Nothing here is
//! random or depends on the order of a hash map, so the same seed gives the same output, byte by
//! byte.

pub mod adaptive;
pub mod contract;
pub mod drive;
pub mod forecast;
mod grid;
pub mod ledger;
pub mod lines;
pub mod load;
mod mark;
pub mod picture;
pub mod plot;
mod rows;
pub mod text;
pub mod timeline;
pub mod webfile;

pub use grid::Grid;
