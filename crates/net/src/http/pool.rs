//! Connections that wait to be used again.
//!
//! After a clean answer a connection rests here under its origin (scheme, host and port), for a
//! while, with bounds per origin and in all; it is taken again only by who goes the same way (A17).
//! The one that came last is taken first, since it is the least likely to have been closed; the one
//! that came first goes when there are too many. There is
//! no task behind this: what is out of date is dropped, and so closed, whenever somebody comes by.

use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use policy::way::Way;
use tokio::time::Instant;

use super::stream::Connection;

/// How many connections rest, and how long.
#[derive(Clone, Copy, Debug)]
pub struct PoolLimits {
    pub per_origin_max: usize,
    pub total_max: usize,
    pub idle: Duration,
}

impl Default for PoolLimits {
    fn default() -> PoolLimits {
        PoolLimits { per_origin_max: 8, total_max: 1024, idle: Duration::from_secs(30) }
    }
}

#[derive(Debug)]
pub(super) struct Pool {
    limits: PoolLimits,
    resting: Mutex<Resting>,
}

/// Tickets grow, so their order is that of arrival.
#[derive(Debug, Default)]
struct Resting {
    by_ticket: BTreeMap<u64, Rested>,
    by_origin: HashMap<Arc<str>, Vec<u64>>,
    next_ticket: u64,
}

#[derive(Debug)]
struct Rested {
    connection: Connection,
    since: Instant,
}

impl Pool {
    pub(super) fn new(limits: PoolLimits) -> Pool {
        Pool { limits, resting: Mutex::default() }
    }

    /// A connection to that origin, by that way, at one of its addresses that nothing speaks against.
    pub(super) fn take(&self, origin: &str, way: &Way, addresses: &[SocketAddr]) -> Option<Connection> {
        loop {
            let rested = self.resting.lock().pop(origin, way)?;
            let mut connection = rested.connection;
            let is_at_home = addresses.contains(&connection.remote);
            if is_at_home && rested.since.elapsed() < self.limits.idle && connection.stream.is_quiet() {
                connection.reused = true;
                return Some(connection);
            }
        }
    }

    pub(super) fn put(&self, connection: Connection) {
        // Closing is a system call: not under the lock.
        let mut dropped = Vec::new();
        let mut resting = self.resting.lock();
        resting.expire(self.limits.idle, &mut dropped);
        let same = resting.by_origin.get(&connection.origin).map_or(0, Vec::len);
        if same >= self.limits.per_origin_max {
            dropped.push(connection);
        } else {
            resting.push(connection);
            while resting.by_ticket.len() > self.limits.total_max {
                dropped.extend(resting.oldest());
            }
        }
        drop(resting);
    }

    /// Closes what rested too long; how many are left.
    pub(super) fn expire(&self) -> usize {
        let mut dropped = Vec::new();
        let mut resting = self.resting.lock();
        resting.expire(self.limits.idle, &mut dropped);
        resting.by_ticket.len()
    }
}

impl Resting {
    fn push(&mut self, connection: Connection) {
        let ticket = self.next_ticket;
        self.next_ticket += 1;
        self.by_origin.entry(connection.origin.clone()).or_default().push(ticket);
        self.by_ticket.insert(ticket, Rested { connection, since: Instant::now() });
    }

    fn pop(&mut self, origin: &str, way: &Way) -> Option<Rested> {
        let tickets = self.by_origin.get_mut(origin)?;
        let by_ticket = &self.by_ticket;
        let is_by = |ticket: &u64| by_ticket.get(ticket).is_some_and(|rested| rested.connection.way == *way);
        let ticket = tickets.iter().rposition(is_by).map(|at| tickets.remove(at));
        if tickets.is_empty() {
            self.by_origin.remove(origin);
        }
        self.by_ticket.remove(&ticket?)
    }

    fn oldest(&mut self) -> Option<Connection> {
        let (ticket, rested) = self.by_ticket.pop_first()?;
        let origin = &rested.connection.origin;
        if let Some(tickets) = self.by_origin.get_mut(origin) {
            tickets.retain(|other| *other != ticket);
            if tickets.is_empty() {
                self.by_origin.remove(origin);
            }
        }
        Some(rested.connection)
    }

    fn expire(&mut self, idle: Duration, dropped: &mut Vec<Connection>) {
        while self.by_ticket.first_key_value().is_some_and(|(_, rested)| rested.since.elapsed() >= idle) {
            dropped.extend(self.oldest());
        }
    }
}
