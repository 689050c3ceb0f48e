//! Patterns on the blacklist (F39): what they hold, and how it comes back.
//!
//! A pattern is declared like everything else, so it is in effect at the next evaluation, in every
//! process. What it finds queued then is blacklisted with its record, and listed in `BARRED_URLS` by
//! the pattern's number. It comes back when the pattern ends, as every blacklisting does (F21), or
//! when the pattern is lifted: `LIFTED` remembers that there is something to bring back, so that it
//! is done by somebody, whoever dies on the way.

use policy::blacklist::Barred;
use policy::catalog::Change;
use policy::url::CrawlUrl;
use store::table::KeyRange;
use store::{Order as ScanOrder, Result};

use crate::budgets::fingerprint;
use crate::schema::{BARRED_URLS, DECLARED, LIFTED};
use crate::transaction::{Arrivals, stored_url};
use crate::{DeclareError, Frontier, declared};

/// URLs brought back in one transaction.
const BATCH: usize = 200;
/// Patterns that have ended and are taken away in one turn.
const ENDED_MAX: usize = 100;

/// The number of a pattern, by its name.
pub(crate) fn pattern_id(name: &str) -> u64 {
    fingerprint(&[name])
}

impl Frontier {
    /// The pattern that keeps a URL out of a collection now, if one does.
    pub fn barred(&self, collection: &str, url: &CrawlUrl) -> Option<Barred> {
        self.declared.catalog.read().barring(collection, url, self.now()).cloned()
    }

    /// From now on these are left alone; who is there already under the same name is replaced.
    #[crate::boxed]
    pub async fn bar(&self, patterns: Vec<Barred>) -> Result<(), DeclareError> {
        let changes: Vec<Change> = patterns.into_iter().map(|own| Change::PutBarred(Box::new(own))).collect();
        self.declare(&changes).await
    }

    /// A page of the patterns.
    #[crate::boxed]
    pub async fn patterns(&self, range: KeyRange, limit: usize) -> Result<(Vec<Barred>, Option<KeyRange>)> {
        let tx = self.store.begin().await?;
        let page = DECLARED.scan(&tx, &range, limit, ScanOrder::Forward).await?;
        let rows = page.rows.into_iter().filter_map(|(_, change)| match change {
            Change::PutBarred(own) => Some(*own),
            _ => None,
        });
        Ok((rows.collect(), page.rest))
    }

    /// Lifts a pattern, and brings back what it held; none if there is no such pattern.
    #[crate::boxed]
    pub async fn unbar(&self, name: &str) -> Result<Option<usize>> {
        if self.with_catalog(|catalog| catalog.pattern(name).is_none()).await? {
            return Ok(None);
        }
        self.lift_pattern(name).await?;
        self.bring_back(name).await.map(Some)
    }

    async fn lift_pattern(&self, name: &str) -> Result<()> {
        let lift = self.store.transact_idempotent(|tx| async move {
            declared::write(&tx, &[Change::DeleteBarred(name.to_owned())]).await?;
            LIFTED.put(&tx, (pattern_id(name),), &name.to_owned())
        });
        lift.await?;
        self.with_catalog(|_| ()).await
    }

    /// What a pattern held that is lifted is due now.
    async fn bring_back(&self, name: &str) -> Result<usize> {
        let id = pattern_id(name);
        let mut back = 0;
        loop {
            let (writer, stripe) = (&self.writer(), self.draw());
            let lift = self.store.transact_idempotent(|tx| async move {
                let transaction = self.transaction(&tx, writer, stripe).await?;
                let again = transaction.catalog().pattern(name).is_some();
                let rows = match again {
                    // Somebody wants it after all.
                    true => Vec::new(),
                    false => {
                        BARRED_URLS
                            .scan(&tx, &BARRED_URLS.range((id,)), BATCH, ScanOrder::Forward)
                            .await?
                            .rows
                    }
                };
                let mut arrivals = Arrivals::new();
                for ((_, collection, url), ()) in &rows {
                    transaction.lift(collection, &stored_url(url)?, &mut arrivals).await?;
                }
                if rows.len() < BATCH {
                    LIFTED.delete(&tx, (id,))?;
                }
                transaction.arrive_all(&arrivals).await?;
                transaction.close().await?;
                Ok(rows.len())
            });
            let count = lift.await?;
            back += count;
            if count < BATCH {
                return Ok(back);
            }
        }
    }

    /// Takes away patterns that have ended, and brings back what others held who were lifted by
    /// somebody who did not come to that; returns how many URLs came back.
    pub(crate) async fn end_patterns(&self) -> Result<usize> {
        let now = self.now();
        let ended: Vec<String> = self.peek_catalog(|catalog| {
            let ended = catalog.patterns().filter(|own| !own.is_in_force(now));
            ended.take(ENDED_MAX).map(Barred::name).collect()
        });
        for name in &ended {
            self.lift_pattern(name).await?;
        }
        let tx = self.store.begin().await?;
        let lifted = LIFTED.scan(&tx, &LIFTED.range(()), ENDED_MAX, ScanOrder::Forward).await?.rows;
        let mut back = 0;
        for (_, name) in lifted {
            back += self.bring_back(&name).await?;
        }
        Ok(back)
    }
}
