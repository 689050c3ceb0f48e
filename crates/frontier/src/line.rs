//! The units that stand in a lane, in the order of their places, over all shards.
//!
//! Each shard says where it begins at the earliest ([`crate::cursor`]), and is read when that comes
//! before everything found so far, and only a few units at a time. So the order is that of one
//! queue, and as many shards are read as it takes to find those whose turn it is.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use policy::time::Time;
use store::table::KeyRange;
use store::{Order, Result, Tx};

use crate::cursor::{Due, Place, the_end};
use crate::lane::Lane;
use crate::shard::Shard;

/// Units of a shard read at a time: most shards have few that are due.
const PAGE: usize = 4;

pub(crate) struct Line {
    pub(crate) lane: Lane,
    /// What is left to be read, by where it begins at the earliest.
    unread: BTreeMap<(Option<Place>, Shard), KeyRange>,
    found: BTreeSet<(Place, Shard)>,
    /// Those that had their turn: at most so many, and each once.
    had: Vec<(Place, Shard)>,
    had_max: usize,
    units: HashSet<String>,
    read: BTreeSet<Shard>,
    looked_at: Vec<(Place, Shard)>,
}

impl Line {
    pub(crate) fn new<'a>(lane: Lane, due: impl Iterator<Item = &'a Due>, had_max: usize) -> Line {
        let queue = lane.queue();
        let unread = due.map(|(shard, from)| {
            let range = match from {
                Some((at, unit)) => queue.range_from((*shard,), (*shard, at.0, unit.as_str())),
                None => queue.range((*shard,)),
            };
            ((from.clone(), *shard), range)
        });
        Line {
            lane,
            unread: unread.collect(),
            found: BTreeSet::new(),
            had: Vec::new(),
            had_max,
            units: HashSet::new(),
            read: BTreeSet::new(),
            looked_at: Vec::new(),
        }
    }

    /// Reads what of the shards may be due, and gives the first that are, for those who read ahead
    /// what these need.
    pub(crate) async fn look_ahead(&mut self, tx: &Tx, now: Time, max: usize) -> Result<Vec<Place>> {
        let due = self.unread.iter().filter(|((from, _), _)| from.as_ref().is_none_or(|from| from.0 <= now));
        tx.scan_ahead(due.take(max).map(|(_, range)| (range.clone(), PAGE)).collect()).await?;
        let mut units = Vec::new();
        while units.len() < max
            && let Some(place) = self.first_due(tx, now).await?
        {
            units.push(place);
            let Some(first) = self.found.pop_first() else { break };
            self.looked_at.push(first);
        }
        self.found.extend(self.looked_at.drain(..));
        Ok(units)
    }

    /// Where the first of those stands that are due and had no turn yet.
    pub(crate) async fn first_due(&mut self, tx: &Tx, now: Time) -> Result<Option<Place>> {
        if self.had.len() >= self.had_max {
            return Ok(None);
        }
        while let Some(entry) = self.unread.first_entry() {
            let (from, shard) = entry.key();
            let found = self.found.first().map(|(place, _)| place);
            if from.as_ref().is_some_and(|from| from.0 > now || found.is_some_and(|found| found < from)) {
                break;
            }
            let (shard, range) = (*shard, entry.remove());
            let page = self.lane.queue().scan(tx, &range, PAGE, Order::Forward).await?;
            self.read.insert(shard);
            let places = page.rows.into_iter().map(|((_, at, unit), ())| (Time(at), unit));
            let places: Vec<Place> = places.collect();
            if let Some(rest) = page.rest {
                self.unread.insert((places.last().cloned(), shard), rest);
            }
            // One that was put back meanwhile is seen when its new time comes.
            let fresh = places.into_iter().filter(|(_, unit)| !self.units.contains(unit));
            self.found.extend(fresh.map(|place| (place, shard)));
        }
        Ok(self.found.first().map(|(place, _)| place.clone()).filter(|(at, _)| *at <= now))
    }

    /// The first has its turn.
    pub(crate) fn take(&mut self) -> Option<Place> {
        let (place, shard) = self.found.pop_first()?;
        self.units.insert(place.1.clone());
        self.had.push((place.clone(), shard));
        Some(place)
    }

    /// Where the shards begin that were read, as the transaction leaves them, but for what it puts.
    pub(crate) async fn begins(&self, tx: &Tx) -> Result<Vec<(Shard, Place)>> {
        let mut begins: BTreeMap<Shard, Place> = self.read.iter().map(|shard| (*shard, the_end())).collect();
        let mut at_most = |shard: Shard, place: &Place| {
            if let Some(begin) = begins.get_mut(&shard).filter(|begin| **begin > *place) {
                begin.clone_from(place);
            }
        };
        self.found.iter().for_each(|(place, shard)| at_most(*shard, place));
        for (from, shard) in self.unread.keys() {
            from.iter().for_each(|from| at_most(*shard, from));
        }
        for (place, shard) in &self.had {
            if self.lane.queue().get(tx, (*shard, place.0.0, &place.1)).await?.is_some() {
                at_most(*shard, place);
            }
        }
        Ok(begins.into_iter().collect())
    }
}
