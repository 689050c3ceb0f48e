//! Looks at every commit as it is made, and knows nothing of how nodes come to agree: who has a
//! shard and under which epoch stands in the rows, what is given out is a lease, and what is
//! brought home is a lease that goes together with captures.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use frontier::schema::{CAPTURES, FILES, HOSTS, LEASES, SHARD_OWNERS, ShardRow};
use parking_lot::Mutex;
use store::{Bytes, Store};

use crate::fleet::{WALK_HOST, round_of};

type Writes = [(Bytes, Option<Bytes>)];
/// A node and one of its processes.
type Process = (String, u64);

#[derive(Default)]
pub(crate) struct Commits {
    shards: BTreeMap<u8, ShardRow>,
    /// Who had a shard under an epoch.
    owners: BTreeMap<(u8, u64), Process>,
    /// By lease.
    given: HashMap<u64, Given>,
    pub(crate) harvests: u64,
    /// Shards taken from somebody who had them before.
    pub(crate) moves: u64,
    pub(crate) wrong: Vec<String>,
}

/// Under what an order was given out.
#[derive(Clone, Debug)]
struct Given {
    shard: u8,
    epoch: u64,
    owner: Process,
}

/// What a commit does, in our words.
#[derive(Default)]
struct Deeds {
    shards: Vec<(u8, ShardRow)>,
    /// The shard of the unit, the lease, and who gives it.
    leases: Vec<(u8, u64, String)>,
    leases_gone: Vec<u64>,
    /// By lease: the URL it holds.
    slots: HashMap<u64, String>,
    /// Whose archive has got further.
    archives: Vec<String>,
    captures: usize,
}

impl Commits {
    /// Looks on from now on.
    pub(crate) fn watch(store: &Store) -> Arc<Mutex<Commits>> {
        let commits = Arc::new(Mutex::new(Commits::default()));
        let books = Arc::clone(&commits);
        store.watch(move |writes| books.lock().committed(&Deeds::read(writes))).unwrap();
        commits
    }

    fn committed(&mut self, deeds: &Deeds) {
        for (shard, row) in &deeds.shards {
            self.shard_changes(*shard, row);
        }
        for (unit_shard, lease, node) in &deeds.leases {
            self.given_out(*unit_shard, *lease, node, deeds);
        }
        // Leases are taken back without captures, and moved when they are renewed.
        let is_harvest = deeds.captures > 0;
        for lease in &deeds.leases_gone {
            if deeds.leases.iter().any(|(_, again, _)| again == lease) {
                continue;
            }
            let given = self.given.remove(lease);
            if is_harvest {
                self.harvests += 1;
                self.brought_home(*lease, given, deeds);
            }
        }
    }

    /// M4: an epoch is one owner's, and counts up.
    fn shard_changes(&mut self, shard: u8, row: &ShardRow) {
        let before = self.shards.insert(shard, row.clone()).unwrap_or_default();
        if row.epoch < before.epoch {
            self.wrong.push(format!("M4: shard {shard} goes back from {before:?} to {row:?}"));
        }
        if row.owner.is_empty() {
            return;
        }
        let owner = (row.owner.clone(), row.process);
        let first = self.owners.entry((shard, row.epoch)).or_insert_with(|| owner.clone());
        if *first != owner {
            self.wrong.push(format!("M4: shard {shard} has two owners in one epoch: {first:?}, {row:?}"));
        }
        self.moves += u64::from(row.epoch > 1 && row.epoch != before.epoch);
    }

    /// M4, M6: who gives something out has the shard, of the unit or of the walk.
    fn given_out(&mut self, unit_shard: u8, lease: u64, node: &str, deeds: &Deeds) {
        if self.given.contains_key(&lease) {
            return;
        }
        let url = deeds.slots.get(&lease).map_or("", String::as_str);
        let shard = match walk_of(url) {
            Some(walk) => shard_of(&round_of(walk)),
            None => unit_shard,
        };
        let row = self.shards.get(&shard).cloned().unwrap_or_default();
        if row.owner != node {
            self.wrong.push(format!("M4: {node} gives out {url} of shard {shard}, which has {row:?}"));
        }
        self.given.insert(lease, Given { shard, epoch: row.epoch, owner: (row.owner, row.process) });
    }

    /// M4: nothing is committed under an old epoch.
    fn brought_home(&mut self, lease: u64, given: Option<Given>, deeds: &Deeds) {
        let Some(given) = given else {
            self.wrong.push(format!("F6: a harvest under lease {lease}, which nobody was given"));
            return;
        };
        let row = self.shards.get(&given.shard).cloned().unwrap_or_default();
        if row.epoch != given.epoch || (row.owner.clone(), row.process) != given.owner {
            self.wrong.push(format!("M4: a harvest under an old epoch: {given:?}, by now {row:?}"));
        }
        if deeds.archives.iter().any(|node| *node != given.owner.0) {
            self.wrong.push(format!("M4: {:?} commit what {given:?} was given", deeds.archives));
        }
    }
}

impl Deeds {
    fn read(writes: &Writes) -> Deeds {
        let mut deeds = Deeds::default();
        for (key, value) in writes {
            let table = key.first().copied();
            let is = |id: u8| table == Some(id);
            match value {
                Some(value) if is(SHARD_OWNERS.id()) => {
                    let (shard,) = SHARD_OWNERS.key_from(key).unwrap();
                    deeds.shards.push((shard, SHARD_OWNERS.value_from(value).unwrap()));
                }
                Some(value) if is(LEASES.id()) => {
                    let (shard, _, lease) = LEASES.key_from(key).unwrap();
                    deeds.leases.push((shard, lease, LEASES.value_from(value).unwrap().node));
                }
                None if is(LEASES.id()) => deeds.leases_gone.push(LEASES.key_from(key).unwrap().2),
                Some(value) if is(HOSTS.id()) => {
                    let slots = HOSTS.value_from(value).unwrap().slots;
                    deeds.slots.extend(slots.taken.into_iter().map(|slot| (slot.lease, slot.url)));
                }
                Some(value) if is(FILES.id()) => {
                    deeds.archives.push(FILES.value_from(value).unwrap().node);
                }
                Some(_) if is(CAPTURES.id()) => deeds.captures += 1,
                _ => {}
            }
        }
        deeds
    }
}

/// The number of the walk that a URL is an id of.
fn walk_of(url: &str) -> Option<usize> {
    let path = url.strip_prefix("https://")?.strip_prefix(WALK_HOST)?;
    path.split('/').nth(1)?.parse().ok()
}

/// As stores have it in their keys: FNV-1a, its four bytes folded into one.
fn shard_of(name: &str) -> u8 {
    let mut hash: u32 = 0x811C_9DC5;
    for byte in name.bytes() {
        hash = (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    }
    hash.to_be_bytes().into_iter().fold(0, |fold, byte| fold ^ byte)
}
