//! Nodes (M2, M4): several processes on one store, and the shards each of them works on.
//!
//! A node **joins** under a name, with a row that says until when it is believed to live. It
//! **beats**: a third of that time later, and again, it prolongs the row, looks who else lives, and
//! takes shards and lets them go. It **departs**, and gives everything away at once; or it falls
//! silent, and once its row has run out it is dead to the others.
//!
//! Who should work on a shard follows from the names of those that live, by rendezvous hashing: all
//! come to the same, and a node that comes or goes moves only its own part. A shard has a row with
//! its owner and an **epoch**. It is taken only where nobody has it, or the owner is dead, and every
//! taking is another epoch. Whoever is to give one away gives out nothing more of it, and lets go
//! as soon as nothing of it is in flight, or after a whole lease.
//!
//! Whoever reserves or commits locks the rows of the shards its orders came from and compares
//! ([`Transaction::holds`]): so nothing is committed under an old epoch, as under an old lease
//! (F6). That the web is asked politely does not rest on this, but on the slots in the rows of
//! hosts, which stay taken until their leases end, whoever has the shard by then (M5).
//!
//! What a node keeps in memory of its shards (the heads of their queues, walks) nobody else changes
//! without telling: who puts an entry into a queue of a shard that is not its own **rings**, in the
//! same transaction, a bell of its own, and everybody looks at all bells now and then.
//!
//! A frontier that has not joined is alone: it works on all shards, and nothing is written down.

use std::collections::{BTreeMap, BTreeSet};

use parking_lot::RwLock;
use policy::time::{Span, Time};
use store::{Durability, Error, Order as ScanOrder, Result, Tx};

use crate::Frontier;
use crate::schema::{BELLS, NODES, NodeFigures, NodeRow, SHARD_OWNERS, ShardRow};
use crate::shard::{SHARDS, Shard, shard_of};
use crate::transaction::Transaction;

/// How long a node is believed to live after it was last heard of.
pub const NODE_LEASE: Span = Span::seconds(10);
/// Between two beats.
const BEAT_EVERY: Span = Span(NODE_LEASE.0 / 3);
/// Between two looks at the bells of others.
const LISTEN_EVERY: Span = Span::seconds(1);
/// Between two looks at a shard from its beginning, should somebody not have rung.
const LOOK_EVERY: Span = Span::minutes(1);
/// Nodes of one store.
const NODES_MAX: usize = 1000;

/// What an order rests on beside its lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Claim {
    pub shard: Shard,
    pub epoch: u64,
}

/// Why a node cannot join.
#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    #[error("a node called {name:?} is at work on this store, last heard of at {heard}")]
    NameTaken { name: String, heard: Time },
    #[error("{0} nodes are on this store, and it takes no more")]
    TooMany(usize),
    #[error(transparent)]
    Store(#[from] Error),
}

/// The part of the shards that this process works on.
#[derive(Debug, Default)]
pub(crate) struct Share {
    member: RwLock<Option<Member>>,
    /// The store has others at work on it, and this one has not joined: it works on nothing.
    is_guest: bool,
}

/// A node as it knows itself.
#[derive(Clone, Debug)]
struct Member {
    name: String,
    /// Drawn anew by each process.
    process: u64,
    home: u64,
    since: Time,
    address: Option<String>,
    /// By shard.
    held: Vec<Held>,
    beat_at: Time,
    listened_at: Time,
    looked_at: Time,
    /// What was heard of the others' bells.
    heard: BTreeMap<String, Vec<u32>>,
    /// Counts changes of what is held.
    changes: u64,
    others: usize,
    /// None where nobody else can be.
    stripe: Option<u32>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Held {
    /// None: another has it, or nobody.
    epoch: Option<u64>,
    /// Since when it is being given away.
    leaving: Option<Time>,
}

impl Share {
    pub(crate) fn of(store: &store::Store) -> Share {
        Share { is_guest: store.is_shared(), ..Share::default() }
    }

    fn of_all<T>(&self, own: impl FnOnce(&Member) -> T, alone: T) -> T {
        self.member.read().as_ref().map_or(alone, own)
    }

    /// Whether orders of it are given out here.
    pub(crate) fn works_on(&self, shard: Shard) -> bool {
        self.of_all(|member| member.held[usize::from(shard)].works(), !self.is_guest)
    }

    /// Whether it is here, be it that it is given away as soon as what is in flight is home.
    pub(crate) fn holds(&self, shard: Shard) -> bool {
        self.of_all(|member| member.held[usize::from(shard)].epoch.is_some(), !self.is_guest)
    }

    /// All of those that are.
    pub(crate) fn shards(&self) -> [bool; SHARDS] {
        self.of_all(|member| std::array::from_fn(|at| member.held[at].works()), [!self.is_guest; SHARDS])
    }

    /// Under what an order of this shard is given out; nothing where nobody else can take it.
    pub(crate) fn claim(&self, shard: Shard) -> Option<Claim> {
        let share = self.member.read();
        let member = share.as_ref().filter(|member| member.stripe.is_some())?;
        Some(Claim { shard, epoch: member.held[usize::from(shard)].epoch.unwrap_or(0) })
    }

    /// The name of the node; nothing where it is alone.
    pub(crate) fn node(&self) -> String {
        self.member.read().as_ref().map(|member| member.name.clone()).unwrap_or_default()
    }

    /// Whose counters a node writes: its own, for as long as it has its name. None where it is alone.
    pub(crate) fn stripe(&self) -> Option<u32> {
        self.of_all(|member| member.stripe, None)
    }

    /// How often it has changed.
    pub(crate) fn changes(&self) -> u64 {
        self.member.read().as_ref().map_or(0, |member| member.changes)
    }

    pub(crate) fn is_member(&self) -> bool {
        self.member.read().is_some()
    }

    /// Others live on the store: what they change is not in this memory.
    pub(crate) fn has_company(&self) -> bool {
        self.of_all(|member| member.others > 0, self.is_guest)
    }

    /// Another has it, as a transaction found out.
    fn lost(&self, shard: Shard) {
        if let Some(member) = self.member.write().as_mut() {
            member.hold(shard, Held::default());
        }
    }
}

impl Held {
    fn works(self) -> bool {
        self.epoch.is_some() && self.leaving.is_none()
    }
}

impl Member {
    fn hold(&mut self, shard: Shard, held: Held) {
        let before = std::mem::replace(&mut self.held[usize::from(shard)], held);
        self.changes += u64::from(before != held);
    }

    fn row(&self, now: Time, figures: NodeFigures) -> NodeRow {
        NodeRow {
            process: self.process,
            home: self.home,
            since: self.since,
            until: now.plus(NODE_LEASE),
            address: self.address.clone(),
            shards: u32::try_from(self.held.iter().filter(|held| held.epoch.is_some()).count()).unwrap_or(0),
            figures,
        }
    }
}

/// Who should work on a shard, of those that live: the one whose name and the shard's number make
/// the highest hash.
fn rendezvous<'a>(shard: Shard, live: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    live.max_by_key(|name| (mixed(name, shard), *name))
}

/// FNV-1a and a finaliser: the last byte alone must turn everything around.
fn mixed(name: &str, shard: Shard) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
    let mut hash = name.bytes().chain([0, shard]).fold(0xCBF2_9CE4_8422_2325, step);
    for _ in 0..2 {
        hash = (hash ^ (hash >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    }
    hash ^ (hash >> 32)
}

/// Far from those that are drawn; that two nodes have the same does no harm, and is rare.
fn stripe_of(name: &str) -> u32 {
    let [a, b, c, d, ..] = mixed(name, 0).to_be_bytes();
    u32::from_be_bytes([a, b, c, d]) | (1 << 31)
}

/// What a beat does with the shards.
#[derive(Default)]
struct Moves {
    held: Vec<(Shard, Held)>,
    others: usize,
}

impl Frontier {
    /// Becomes a node of the store. `home` is the place of its archive: a process with the same is
    /// this one's predecessor, and gone, since a place is used by one at a time.
    #[crate::boxed]
    pub async fn join(&self, name: &str, home: u64) -> Result<(), JoinError> {
        let process = self.draw();
        let begun = self.store.transact_idempotent(|tx| async move {
            let now = self.time_of(&tx).await?;
            let before = NODES.lock(&tx, (name,)).await?;
            let may_live = |row: &NodeRow| self.is_shared(&tx) && row.until > now && row.home != home;
            if let Some(other) = before.filter(may_live) {
                return Ok(Err(other.until));
            }
            let row =
                NodeRow { process, home, since: now, until: now.plus(NODE_LEASE), ..NodeRow::default() };
            if !self.is_shared(&tx) {
                let page = NODES.scan(&tx, &NODES.range(()), NODES_MAX, ScanOrder::Forward).await?;
                page.rows.iter().try_for_each(|((gone,), _)| NODES.delete(&tx, (gone,)))?;
            }
            NODES.put(&tx, (name,), &row)?;
            Ok(Ok((now, self.is_shared(&tx))))
        });
        let (now, shared) = match begun.await? {
            Ok(begun) => begun,
            Err(until) => {
                let heard = Time(until.0.saturating_sub_unsigned(NODE_LEASE.0));
                return Err(JoinError::NameTaken { name: name.to_owned(), heard });
            }
        };
        let nodes = self.nodes().await?.len();
        if nodes > NODES_MAX {
            return Err(JoinError::TooMany(nodes));
        }
        let never = Time(i64::MIN);
        *self.share.member.write() = Some(Member {
            name: name.to_owned(),
            process,
            home,
            since: now,
            address: None,
            held: vec![Held::default(); SHARDS],
            beat_at: never,
            listened_at: never,
            looked_at: now,
            heard: BTreeMap::new(),
            changes: 0,
            others: 0,
            stripe: shared.then(|| stripe_of(name)),
        });
        if shared {
            self.trim_latest(nodes).await?;
        }
        self.walks.forget();
        self.recent.forget();
        Ok(self.beat_now().await?)
    }

    /// Says that the node lives, and puts its share right; only when it is time. `busy` are the
    /// shards of orders in flight.
    pub(crate) async fn beat_if_due(
        &self,
        busy: impl FnOnce() -> BTreeSet<Shard>,
        figures: NodeFigures,
    ) -> Result<()> {
        let now = self.now();
        let due = self.share.member.read().as_ref().is_some_and(|member| {
            // A clock may have gone back.
            now >= member.beat_at.plus(BEAT_EVERY) || now < member.beat_at
        });
        if due { self.beat(&busy(), figures).await } else { Ok(()) }
    }

    /// Whether others may be at work on the store. Where it has one process at a time, whoever was there
    /// is gone.
    pub(crate) fn is_shared(&self, tx: &Tx) -> bool {
        self.store.is_shared() || tx.time().is_some()
    }

    /// Says that the node lives, with nothing in flight.
    #[crate::boxed]
    pub async fn beat_now(&self) -> Result<()> {
        self.beat(&BTreeSet::new(), NodeFigures::default()).await
    }

    async fn beat(&self, busy: &BTreeSet<Shard>, figures: NodeFigures) -> Result<()> {
        let Some(member) = &self.share.member.read().clone() else { return Ok(()) };
        let beat = self.store.transact_idempotent(|tx| async move {
            tx.set_durability(Durability::Relaxed);
            let now = self.time_of(&tx).await?;
            let own = NODES.lock(&tx, (&member.name,)).await?;
            if own.is_some_and(|row| row.process != member.process) {
                let told = format!(
                    "another process works as node {:?} by now: it was not heard of for too long",
                    member.name
                );
                return Err(Error::lasting(told));
            }
            let page = NODES.scan(&tx, &NODES.range(()), NODES_MAX, ScanOrder::Forward).await?;
            let mut live: BTreeMap<String, u64> = BTreeMap::new();
            live.extend(
                page.rows
                    .into_iter()
                    .filter(|(_, row)| self.is_shared(&tx) && row.until > now)
                    .map(|((name,), row)| (name, row.process)),
            );
            live.insert(member.name.clone(), member.process);
            let page = SHARD_OWNERS.scan(&tx, &SHARD_OWNERS.range(()), SHARDS, ScanOrder::Forward).await?;
            let rows: BTreeMap<Shard, ShardRow> =
                page.rows.into_iter().map(|((shard,), row)| (shard, row)).collect();
            let mut moves = Moves { others: live.len() - 1, ..Moves::default() };
            let mut after = member.clone();
            for shard in 0..=Shard::MAX {
                let row = rows.get(&shard).cloned().unwrap_or_default();
                let wanted = rendezvous(shard, live.keys().map(String::as_str)) == Some(member.name.as_str());
                let own = row.owner == member.name && row.process == member.process;
                let before = member.held[usize::from(shard)];
                let held = if own && wanted {
                    Held { epoch: Some(row.epoch), leaving: None }
                } else if own {
                    let since = before.leaving.unwrap_or(now);
                    if busy.contains(&shard) && now < since.plus(NODE_LEASE) {
                        Held { epoch: Some(row.epoch), leaving: Some(since) }
                    } else {
                        SHARD_OWNERS.put(
                            &tx,
                            (shard,),
                            &ShardRow { epoch: row.epoch, ..ShardRow::default() },
                        )?;
                        Held::default()
                    }
                } else if wanted && live.get(&row.owner) != Some(&row.process) {
                    let epoch = row.epoch + 1;
                    let taken = ShardRow { owner: member.name.clone(), process: member.process, epoch };
                    SHARD_OWNERS.put(&tx, (shard,), &taken)?;
                    Held { epoch: Some(epoch), leaving: None }
                } else {
                    Held::default()
                };
                after.hold(shard, held);
                moves.held.push((shard, held));
            }
            NODES.put(&tx, (&member.name,), &after.row(now, figures))?;
            Ok((moves, now))
        });
        let (moves, now) = beat.await?;
        let mut share = self.share.member.write();
        let Some(member) = share.as_mut() else { return Ok(()) };
        for (shard, held) in moves.held {
            // What it did not have was others' to change.
            if member.held[usize::from(shard)].epoch != held.epoch {
                self.cursor.forget(shard);
            }
            member.hold(shard, held);
        }
        member.others = moves.others;
        member.beat_at = now;
        Ok(())
    }

    /// The heads of queues that others have put something into are not what they were.
    pub(crate) async fn listen(&self) -> Result<()> {
        let now = self.now();
        let due = |at: Time, every: Span| now >= at.plus(every) || now < at;
        let (name, listens, looks) = {
            let mut share = self.share.member.write();
            let Some(member) = share.as_mut().filter(|member| member.others > 0) else { return Ok(()) };
            let (listens, looks) = (due(member.listened_at, LISTEN_EVERY), due(member.looked_at, LOOK_EVERY));
            member.looked_at = if looks { now } else { member.looked_at };
            member.listened_at = if listens { now } else { member.listened_at };
            (member.name.clone(), listens, looks)
        };
        if looks {
            (0..=Shard::MAX).for_each(|shard| self.cursor.forget(shard));
        }
        if !listens {
            return Ok(());
        }
        let tx = self.store.begin().await?;
        let page = BELLS.scan(&tx, &BELLS.range(()), NODES_MAX, ScanOrder::Forward).await?;
        let mut share = self.share.member.write();
        let Some(member) = share.as_mut() else { return Ok(()) };
        for ((other,), counts) in page.rows.into_iter().filter(|((other,), _)| *other != name) {
            let heard = member.heard.entry(other).or_default();
            for (shard, count) in (0..=Shard::MAX).zip(&counts) {
                if heard.get(usize::from(shard)) != Some(count) {
                    self.cursor.forget(shard);
                }
            }
            *heard = counts;
        }
        Ok(())
    }

    /// M7: whether this node looks after a part of the link index' notes.
    pub fn works_on_notes(&self, part: u64) -> bool {
        self.share.works_on(shard_of(&part.to_string()))
    }

    /// Where the others reach this node's API; they are told with the next beat.
    pub fn set_address(&self, address: &str) {
        if let Some(member) = self.share.member.write().as_mut() {
            member.address = Some(address.to_owned());
        }
    }

    /// The name of this node; nothing where it is alone.
    pub fn node(&self) -> String {
        self.share.node()
    }

    /// Gives all shards away, and is no node any more.
    #[crate::boxed]
    pub async fn depart(&self) -> Result<()> {
        let Some(member) = &self.share.member.write().take() else { return Ok(()) };
        let depart = self.store.transact_idempotent(|tx| async move {
            if NODES.lock(&tx, (&member.name,)).await?.is_none_or(|row| row.process != member.process) {
                return Ok(());
            }
            NODES.delete(&tx, (&member.name,))?;
            BELLS.delete(&tx, (&member.name,))?;
            let page = SHARD_OWNERS.scan(&tx, &SHARD_OWNERS.range(()), SHARDS, ScanOrder::Forward).await?;
            for ((shard,), row) in page.rows {
                if row.owner == member.name && row.process == member.process {
                    SHARD_OWNERS.put(&tx, (shard,), &ShardRow { epoch: row.epoch, ..ShardRow::default() })?;
                }
            }
            Ok(())
        });
        depart.await
    }

    /// All nodes that have not departed, by name; those past their `until` are not heard of any
    /// more.
    #[crate::boxed]
    pub async fn nodes(&self) -> Result<Vec<(String, NodeRow)>> {
        let tx = self.store.begin().await?;
        let page = NODES.scan(&tx, &NODES.range(()), NODES_MAX, ScanOrder::Forward).await?;
        Ok(page.rows.into_iter().map(|((name,), row)| (name, row)).collect())
    }

    /// Who works on which shard, as far as anybody ever did.
    #[crate::boxed]
    pub async fn shard_owners(&self) -> Result<Vec<(Shard, ShardRow)>> {
        let tx = self.store.begin().await?;
        let page = SHARD_OWNERS.scan(&tx, &SHARD_OWNERS.range(()), SHARDS, ScanOrder::Forward).await?;
        Ok(page.rows.into_iter().map(|((shard,), row)| (shard, row)).collect())
    }

    /// Takes a node that is gone off the list; false if there is none of that name, or it lives.
    #[crate::boxed]
    pub async fn forget_node(&self, name: &str) -> Result<bool> {
        let forget = self.store.transact_idempotent(|tx| async move {
            let now = self.time_of(&tx).await?;
            if NODES.lock(&tx, (name,)).await?.is_none_or(|row| row.until > now) {
                return Ok(false);
            }
            NODES.delete(&tx, (name,))?;
            BELLS.delete(&tx, (name,))?;
            Ok(true)
        });
        forget.await
    }
}

impl Transaction<'_> {
    /// Which of the claims hold no more. Those that do, do until the commit; those that do not never
    /// will again, so the rows of their new owners are left to these.
    pub(crate) async fn lost_claims(&self, claims: &BTreeSet<Claim>) -> Result<BTreeSet<Claim>> {
        let mut lost = BTreeSet::new();
        for claim in claims {
            let row = SHARD_OWNERS.get(self.tx, (claim.shard,)).await?.unwrap_or_default();
            if row.epoch != claim.epoch || row.owner.is_empty() {
                self.share.lost(claim.shard);
                lost.insert(*claim);
            } else {
                SHARD_OWNERS.lock_unread(self.tx, (claim.shard,))?;
            }
        }
        Ok(lost)
    }

    /// An entry was put into a queue of this shard: if it is not this node's, its owner is told.
    pub(crate) async fn ring(&self, shard: Shard) -> Result<()> {
        if self.share.works_on(shard) {
            return Ok(());
        }
        let node = self.share.node();
        let mut counts = BELLS.get(self.tx, (&node,)).await?.unwrap_or_default();
        counts.resize(SHARDS, 0);
        let count = &mut counts[usize::from(shard)];
        *count = count.wrapping_add(1);
        BELLS.put(self.tx, (&node,), &counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owners(live: &[&str]) -> Vec<String> {
        (0..=Shard::MAX).map(|shard| rendezvous(shard, live.iter().copied()).unwrap().to_owned()).collect()
    }

    #[test]
    fn m4_shards_are_divided_evenly_and_only_the_part_of_who_comes_or_goes_moves() {
        let names = ["a", "b", "c", "d", "e"];
        let all = owners(&names);
        for name in names {
            let part = all.iter().filter(|owner| *owner == name).count();
            assert!((30..=75).contains(&part), "{name} has {part} of 256");
            let rest: Vec<&str> = names.into_iter().filter(|other| *other != name).collect();
            let without = owners(&rest);
            for (shard, (before, after)) in all.iter().zip(&without).enumerate() {
                assert!(before == after || before == name, "shard {shard} moved from {before} to {after}");
            }
        }
    }
}
