//! Skurd's decisions as pure and total functions over plain data: what is harvested, when, and for
//! whom.
//!
//! Nothing here reads a clock, does IO, awaits or knows the store: time comes in as an argument,
//! and every answer is a value that also names the rule of the specification that decided, so that
//! the same code runs in production, under the simulator's virtual clock and behind `skurd why`.
//!
//! The life of a URL, module by module: [`url`] gives it its one spelling (F29); [`outlink`]
//! decides whether the page that named it brings it into the queue (F22–F28), with [`position`] and
//! [`scope`] saying how far from its seed it may be (F34) and [`owner`] whose it is (O1–O9);
//! [`evaluate`] decides once more when its time has come (F9–F17); [`outcome`] says what a harvest
//! made of it (F18–F21, F30); [`schedule`] and [`rhythm`] when it comes again, by the clock on the wall
//! too ([`hours`], [`zone`]: F38) and as often as it changes ([`changes`], [`hint`]: F41), and [`contract`] whether it
//! came when it was promised (F31); [`browser`] how pages are rendered, and [`requisite`] what they may ask
//! for themselves (B1–B13). [`way`] says by which way a host is asked (A17). [`budget`] says what has been
//! harvested enough of (F36), and [`blacklist`] what is left alone by pattern (F39). [`clock`] puts right what a clock that was wrong has written (F40).
//! All of them ask the [`catalog`] what people have declared, and name their [`rule`]. Times and
//! durations have one spelling, in [`civil`] and [`unit`].

pub mod blacklist;
pub mod browser;
pub mod budget;
pub mod catalog;
pub mod changes;
pub mod civil;
pub mod clock;
pub mod contract;
pub mod cookies;
pub mod evaluate;
pub mod hint;
pub mod hours;
pub mod model;
pub mod outcome;
pub mod outlink;
pub mod owner;
pub mod position;
pub mod requisite;
pub mod rhythm;
pub mod robots;
pub mod rule;
pub mod schedule;
pub mod scope;
pub mod standing;
pub mod time;
pub mod trap;
pub mod unit;
pub mod url;
pub mod walk;
pub mod way;
pub mod zone;

pub use rule::Rule;
