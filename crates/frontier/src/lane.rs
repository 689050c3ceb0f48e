//! Hosts that answer do not wait for those that do not (A15).
//!
//! Whoever looks a name up, asks a new host, or waits for one that was silent last time may wait
//! for a minute and get nothing. So a unit queues in one of two lanes: it is [live](Lane::Live) if
//! its last request was answered, and [silent](Lane::Silent) if it never was, or not the last time.
//! Each lane has a [room](Room) of its own. However many silent hosts there are, they fill only
//! theirs, and a reservation never has to look past them to find a live one.
//!
//! The lane follows from the row (`response_time`: that of the last answer, none where there was
//! none) at the moment the unit is put into a queue. Nothing breaks if it changes while it stands
//! there: whoever takes a unit out looks where it is.

use policy::time::{Span, Time};
use store::Result;
use store::table::Table;

use crate::schema::{HOST_QUEUE, SILENT_QUEUE, Slots};
use crate::shard::Shard;
use crate::transaction::Transaction;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// The last request was answered.
    Live,
    /// No request was answered yet, or the last was not.
    Silent,
}

impl Lane {
    pub(crate) const ALL: [Lane; 2] = [Lane::Live, Lane::Silent];

    pub(crate) fn queue(self) -> &'static Table<(Shard, i64, String), ()> {
        match self {
            Lane::Live => &HOST_QUEUE,
            Lane::Silent => &SILENT_QUEUE,
        }
    }
}

/// How many orders may be given out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    pub live: usize,
    pub silent: usize,
    /// Of both together.
    pub total: usize,
}

impl Room {
    /// No matter for whom.
    pub fn of(total: usize) -> Room {
        Room { live: total, silent: total, total }
    }

    pub(crate) fn of_lane(self, lane: Lane) -> usize {
        let own = match lane {
            Lane::Live => self.live,
            Lane::Silent => self.silent,
        };
        own.min(self.total)
    }

    /// There is room for somebody.
    pub fn is_some(self) -> bool {
        Lane::ALL.into_iter().any(|lane| self.of_lane(lane) > 0)
    }

    pub(crate) fn take(&mut self, lane: Lane, orders: usize) {
        let own = match lane {
            Lane::Live => &mut self.live,
            Lane::Silent => &mut self.silent,
        };
        *own = own.saturating_sub(orders);
        self.total = self.total.saturating_sub(orders);
    }
}

impl Slots {
    pub(crate) fn lane(&self) -> Lane {
        match self.response_time {
            Span::ZERO => Lane::Silent,
            _ => Lane::Live,
        }
    }

    /// A request was answered after this time, or was not.
    pub(crate) fn answered(&mut self, after: Option<Span>) {
        // An answer may come within the millisecond.
        self.response_time = after.map_or(Span::ZERO, |after| after.max(Span(1)));
    }
}

impl Transaction<'_> {
    /// The lane in which a unit stands that says it stands there.
    pub(crate) async fn lane_of(&self, shard: Shard, unit: &str, at: Time) -> Result<Lane> {
        let silent = SILENT_QUEUE.get(self.tx, (shard, at.0, unit)).await?;
        Ok(if silent.is_some() { Lane::Silent } else { Lane::Live })
    }
}
