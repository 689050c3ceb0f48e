//! The rules of the specification as tables, one file a subject. A test or row names the rule it is
//! about.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod access;
mod adaptive;
mod barred;
mod budgets;
mod catalog;
mod clock;
mod contest;
mod contract;
mod dates;
mod evaluation;
mod examples;
mod order;
mod outcomes;
mod outlinks;
mod robots;
mod schedule;
mod scopes;
mod time_of_day;
mod urls;
mod world;
