//! The columns of the reports.

use crate::output::{Column, left, right};

pub(super) const BY_PROFILE: [Column; 7] = contract("profile");
pub(super) const BY_DOMAIN: [Column; 7] = contract("domain");
pub(super) const BY_HOUR: [Column; 7] = contract("hour");
pub(super) const NOW: [Column; 4] =
    [left("collection"), right("queued"), right("never harvested"), right("overdue")];

const fn contract(name: &'static str) -> [Column; 7] {
    [
        left(name),
        right("harvests"),
        right("on time"),
        right("on time %"),
        right("late p50 ≤"),
        right("p95 ≤"),
        right("p99 ≤"),
    ]
}

pub(super) const DOMAINS: [Column; 13] = [
    left("domain"),
    right("requests"),
    right("2xx"),
    right("3xx"),
    right("4xx"),
    right("5xx"),
    right("errors"),
    right("bytes"),
    right("new"),
    right("changed"),
    right("unchanged"),
    right("response p50 ≤"),
    right("p95 ≤"),
];

pub(super) const ERRORS: [Column; 4] = [left("kind"), right("count"), right("of requests"), left("domain")];

pub(super) const FEASIBILITY: [Column; 7] = [
    left("host or group"),
    right("urls"),
    right("wanted/day"),
    right("possible/day"),
    right("load"),
    right("delay"),
    left("verdict"),
];
