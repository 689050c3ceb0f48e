//! Domain observer (X8): pagecount and the rank of domains.
//!
//! Differences may come in any order, a URI's end before its beginning where two processes sent
//! them. So a count may be below zero for a while; it is kept, and not shown.

use std::collections::BTreeMap;

use store::key::Desc;
use store::{Result, Tx};

use crate::handle::Index;
use crate::observe::{Note, Queue};
use crate::schema::{DOMAINS, DOMAINS_RANK, TOTALS};

impl Index {
    pub(crate) async fn observe_domains(&self, tx: &Tx, shard: u32, notes: &[Note]) -> Result<()> {
        let mut changes: BTreeMap<&str, i64> = BTreeMap::new();
        for note in notes {
            let mut reader = note.reader();
            while !reader.is_empty() {
                let (domain, change) = (reader.text()?, reader.signed()?);
                *changes.entry(domain).or_default() += change;
            }
        }
        changes.retain(|_, change| *change != 0);
        let keys = changes.keys().map(|domain| (self.number(), *domain));
        let counts = DOMAINS.multi_get(tx, keys).await?;
        let mut appeared = 0;
        for ((domain, change), known) in changes.into_iter().zip(counts) {
            let before = known.unwrap_or(0);
            let after = before.saturating_add(change);
            appeared += i64::from(after > 0) - i64::from(before > 0);
            self.move_domain(tx, domain, before, after)?;
        }
        if appeared == 0 {
            return Ok(());
        }
        let key = (self.number(), Queue::Domains.id(), shard);
        let mut tally = TOTALS.get(tx, key).await?.unwrap_or_default();
        tally.domains += appeared;
        TOTALS.put(tx, key, &tally)
    }

    fn move_domain(&self, tx: &Tx, domain: &str, before: i64, after: i64) -> Result<()> {
        if before > 0 {
            DOMAINS_RANK.delete(tx, (self.number(), Desc(before.unsigned_abs()), domain))?;
        }
        if after == 0 {
            return DOMAINS.delete(tx, (self.number(), domain));
        }
        if after > 0 {
            DOMAINS_RANK.put(tx, (self.number(), Desc(after.unsigned_abs()), domain), &())?;
        }
        DOMAINS.put(tx, (self.number(), domain), &after)
    }
}
