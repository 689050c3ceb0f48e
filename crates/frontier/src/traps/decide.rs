//! What there is to decide, and what follows.

use policy::model::Record;
use policy::trap::{Decision, Suspicion};
use store::table::KeyRange;
use store::{Order, Result};

use super::{TrapKey, all, changed};
use crate::Frontier;
use crate::schema::{HELD, TRAPS, UrlState};
use crate::transaction::{Arrivals, Transaction, stored_url};

/// URLs brought back in one transaction.
const BATCH: usize = 200;
/// Held URLs are counted up to here.
const COUNTED_MAX: usize = 10_000;

/// A suspicion and its names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trap {
    pub key: TrapKey,
    pub suspicion: Suspicion,
}

impl Frontier {
    /// All suspicions, by host.
    #[crate::boxed]
    pub async fn traps(&self) -> Result<Vec<Trap>> {
        let rows = all(&self.store.begin().await?).await?;
        Ok(rows.into_iter().map(|(key, suspicion)| Trap { key, suspicion }).collect())
    }

    /// URLs of a host in a collection that are held; at most 10,000 are counted.
    #[crate::boxed]
    pub async fn held(&self, host: &str, collection: &str) -> Result<usize> {
        let range = HELD.range((host, collection));
        let page = HELD.scan(&self.store.begin().await?, &range, COUNTED_MAX, Order::Forward).await?;
        Ok(page.rows.len())
    }

    /// It is no trap: from now on nothing is held for it, and what was comes back. None: there is no
    /// such suspicion; otherwise how many URLs came back.
    #[crate::boxed]
    pub async fn release_trap(&self, key: &TrapKey) -> Result<Option<usize>> {
        self.decide_trap(key, Decision::Released(self.now())).await
    }

    /// What ends it has been declared: what was held comes back, for evaluation to remove.
    #[crate::boxed]
    pub async fn trap_excluded(&self, key: &TrapKey) -> Result<Option<usize>> {
        self.decide_trap(key, Decision::Excluded(self.now())).await
    }

    async fn decide_trap(&self, key: &TrapKey, decision: Decision) -> Result<Option<usize>> {
        let decision = &decision;
        let decided = {
            // No reservation is under way that does not know of it yet.
            let _no_reservation = self.reserving.lock().await;
            let decide = self.store.transact_idempotent(|tx| async move {
                let row = (key.host.as_str(), key.collection.as_str(), key.id.as_str());
                let Some(suspicion) = TRAPS.lock(&tx, row).await? else { return Ok(false) };
                TRAPS.put(&tx, row, &Suspicion { decision: decision.clone(), ..suspicion })?;
                changed(&tx).await?;
                Ok(true)
            });
            let decided = decide.await?;
            self.traps.catch_up(&self.store.begin().await?).await?;
            decided
        };
        if !decided {
            return Ok(None);
        }
        let mut back = 0;
        let mut rest = Some(HELD.range((key.host.as_str(), key.collection.as_str())));
        while let Some(range) = rest {
            let range = &range;
            let stripe = self.draw();
            let writer = &self.writer();
            let bring_back = self.store.transact_idempotent(|tx| async move {
                let transaction = self.transaction(&tx, writer, stripe).await?;
                transaction.bring_back(range).await
            });
            let (count, next) = bring_back.await?;
            back += count;
            rest = next;
        }
        Ok(Some(back))
    }
}

impl Transaction<'_> {
    /// Makes due what no suspicion holds any more.
    async fn bring_back(&self, range: &KeyRange) -> Result<(usize, Option<KeyRange>)> {
        let page = HELD.scan(self.tx, range, BATCH, Order::Forward).await?;
        let mut arrivals = Arrivals::new();
        let mut back = 0;
        for ((host, collection, text), ()) in page.rows {
            let url = stored_url(&text)?;
            if self.traps.suspicion_of(&collection, &url).is_some() {
                continue;
            }
            HELD.delete(self.tx, (&host, &collection, &text))?;
            let Some(UrlState::Queued(record)) = self.state(&collection, &text).await? else { continue };
            back += 1;
            if record.due > self.now {
                let now = Record { due: self.now, owed: record.owed.back(self.now), ..record.clone() };
                self.requeue(&collection, &url, &record, now, &mut arrivals)?;
            }
        }
        self.arrive_all(&arrivals).await?;
        self.close().await?;
        Ok((back, page.rest))
    }
}
