//! Requests that somebody else makes to hosts, out of the same store: other crawlers, whose URLs are
//! theirs to judge and whose hosts are ours too (G11).
//!
//! Where the settings say `share_hosts`, a host rests after them as it rests after us, and they wait
//! for what we wait for: a slot, the delay, a backoff, its windows. Both are in the row of the host,
//! which whoever asks writes in the transaction of its own: so of two that ask at the same time one
//! is run again, and sees the other. Robots, frequencies and pauses are no politeness of a host, and
//! stay everybody's own.

use policy::time::Time;
use policy::url::site_of;
use store::{Result, Tx};

use crate::Frontier;
use crate::cursor::Writer;
use crate::schema::{GROUPS, HOSTS, Host};
use crate::transaction::Transaction;
use crate::visits::COME_AGAIN;

/// Somebody else's transaction; to be begun before it takes its snapshot, and to last until it is
/// committed or given up.
#[derive(Debug)]
pub struct Guests<'a> {
    frontier: &'a Frontier,
    writer: Writer<'a>,
}

impl Frontier {
    /// None: hosts are not shared, as far as is known here.
    pub fn guests(&self) -> Option<Guests<'_>> {
        let shares = self.declared.catalog.read().settings().share_hosts;
        shares.then(|| Guests { frontier: self, writer: self.writer() })
    }
}

impl Guests<'_> {
    /// When the host may be asked; none: now, or whenever they like.
    #[crate::boxed]
    pub async fn free_at(&self, tx: &Tx, host: &str) -> Result<Option<Time>> {
        let transaction = self.frontier.transaction(tx, &self.writer, self.frontier.draw()).await?;
        if !transaction.catalog().settings().share_hosts {
            return Ok(None);
        }
        transaction.free_at(site_of(host)).await
    }

    /// The host is asked from now on, and let alone by us until then.
    #[crate::boxed]
    pub async fn book(&self, tx: &Tx, host: &str, until: Time) -> Result<()> {
        let transaction = self.frontier.transaction(tx, &self.writer, self.frontier.draw()).await?;
        if !transaction.catalog().settings().share_hosts {
            return Ok(());
        }
        transaction.book(site_of(host), until).await
    }
}

impl Transaction<'_> {
    async fn free_at(&self, name: &str) -> Result<Option<Time>> {
        let opens = self.opening(name, self.now);
        let host = HOSTS.lock(self.tx, (name,)).await?.unwrap_or_default();
        let row = match self.group_of(name) {
            Some(group) => Some(GROUPS.lock(self.tx, (&group,)).await?.unwrap_or_default()),
            None => None,
        };
        let slots = row.as_ref().map_or(&host.slots, |row| &row.slots);
        let free = slots.next_free.max(opens).max(host.backoff_until.unwrap_or(self.now));
        let free = match slots.has_room(&self.politeness(name)) {
            true => free,
            false => free.max(self.now.plus(COME_AGAIN)),
        };
        Ok((free > self.now).then_some(free))
    }

    async fn book(&self, name: &str, until: Time) -> Result<()> {
        let fresh = || Host { head: self.now, ..Host::default() };
        let mut host = HOSTS.lock(self.tx, (name,)).await?.unwrap_or_else(fresh);
        let Some(group) = self.group_of(name) else {
            host.slots.next_free = host.slots.next_free.max(until);
            return self.settle_host(name, &mut host).await;
        };
        let mut row = GROUPS.lock(self.tx, (&group,)).await?.unwrap_or_default();
        row.slots.next_free = row.slots.next_free.max(until);
        self.settle_group_row(&group, &mut row).await
    }
}
