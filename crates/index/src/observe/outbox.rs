use std::collections::BTreeMap;

use super::Queue;
use crate::codec::put_number;
use crate::schema::NOTES;

/// A note ends where it gets heavier than this, and another begins.
const NOTE_WEIGHT_MAX: usize = 1 << 20;

/// What a transaction is about to send to one queue, bundled: one note a shard, or a few.
#[derive(Debug)]
pub(crate) struct Outbox {
    pub(super) queue: Queue,
    pub(super) shards: BTreeMap<u32, Vec<Draft>>,
}

#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) weight: usize,
    body: Vec<u8>,
}

impl Draft {
    /// The weight comes first, so that it is known before the rest is read.
    pub(super) fn stored(&self) -> Vec<u8> {
        let mut value = Vec::with_capacity(self.body.len() + 4);
        put_number(&mut value, self.weight as u64);
        value.extend_from_slice(&self.body);
        NOTES.stored_raw(&value)
    }
}

impl Outbox {
    /// The first note as it is stored.
    #[cfg(test)]
    pub(crate) fn first_stored(&self) -> Vec<u8> {
        self.shards.values().flatten().next().unwrap().stored()
    }

    pub(crate) fn new(queue: Queue) -> Outbox {
        Outbox { queue, shards: BTreeMap::new() }
    }

    /// Adds one entry: `write` appends it to a body, which is empty where a new note begins.
    pub(crate) fn add(&mut self, shard: u32, weight: usize, write: impl FnOnce(&mut Vec<u8>)) {
        let drafts = self.shards.entry(shard).or_default();
        if drafts.last().is_none_or(|draft| draft.weight + weight > NOTE_WEIGHT_MAX) {
            drafts.push(Draft::default());
        }
        if let Some(draft) = drafts.last_mut() {
            draft.weight += weight;
            write(&mut draft.body);
        }
    }
}
