//! The columns of the reports.

use crate::output::{Column, left, right};

pub(super) const BY_PROFILE: [Column; 13] = contract("profile");
pub(super) const BY_DOMAIN: [Column; 13] = contract("domain");
pub(super) const BY_HOUR: [Column; 13] = contract("hour");
pub(super) const NOW: [Column; 6] = [
    left("collection"),
    right("queued"),
    right("never harvested"),
    right("overdue"),
    right("done"),
    right("blacklisted"),
];

const fn contract(name: &'static str) -> [Column; 13] {
    [
        left(name),
        right("promised"),
        right("on time"),
        right("late"),
        right("missed"),
        right("overdue"),
        right("on time %"),
        right("late p50 ≤"),
        right("p95 ≤"),
        right("p99 ≤"),
        right("first"),
        right("waited p50 ≤"),
        right("p95 ≤"),
    ]
}

/// Without its time, of all times together.
pub(super) const DOMAINS: [Column; 14] = [
    left("time"),
    left("domain"),
    right("requests"),
    right("2xx"),
    right("3xx"),
    right("not found"),
    right("errors"),
    right("no answer"),
    right("bytes"),
    right("new"),
    right("changed"),
    right("unchanged"),
    right("response p50 ≤"),
    right("p95 ≤"),
];

pub(super) const TIMES: [Column; 13] = [
    left("time"),
    right("requests"),
    right("2xx"),
    right("3xx"),
    right("not found"),
    right("errors"),
    right("no answer"),
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
