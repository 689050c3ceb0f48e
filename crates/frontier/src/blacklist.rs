//! The blacklist: what ended up there, putting URLs on it by hand, and lifting it.

use std::sync::atomic::Ordering;

use policy::model::{BlacklistEntry, BlacklistReason, Record};
use policy::time::Time;
use policy::url::CrawlUrl;
use store::table::KeyRange;
use store::{Order as ScanOrder, Result};

use crate::patterns::pattern_id;
use crate::robots::server_of;
use crate::schema::{BARRED_URLS, BLACKLIST, BLACKLIST_ENDS, DENIED, UrlState};
use crate::transaction::{Arrivals, Transaction, stored_url};
use crate::{Frontier, ranges};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlacklistRow {
    pub collection: String,
    pub url: String,
    pub entry: BlacklistEntry,
}

/// Entries ended in one transaction.
const BATCH: usize = 100;

impl Frontier {
    /// A page of the blacklist: of one collection, or of all.
    #[crate::boxed]
    pub async fn blacklist(
        &self,
        collection: Option<&str>,
        rest: Option<KeyRange>,
        limit: usize,
    ) -> Result<(Vec<BlacklistRow>, Option<KeyRange>)> {
        let tx = self.store.begin().await?;
        let range = rest.unwrap_or_else(|| ranges::blacklist(collection));
        let page = BLACKLIST.scan(&tx, &range, limit, ScanOrder::Forward).await?;
        let rows =
            page.rows.into_iter().map(|((collection, url), entry)| BlacklistRow { collection, url, entry });
        Ok((rows.collect(), page.rest))
    }

    /// Takes a queued URL out of the queue until `until`, or until it is lifted; false if it is not
    /// queued.
    #[crate::boxed]
    pub async fn blacklist_add(
        &self,
        collection: &str,
        url: &CrawlUrl,
        why: &str,
        until: Option<Time>,
    ) -> Result<bool> {
        let stripe = self.draw();
        let writer = &self.writer();
        let add = self.store.transact_idempotent(|tx| async move {
            let transaction = self.transaction(&tx, writer, stripe).await?;
            let Some(UrlState::Queued(record)) = transaction.state(collection, url.as_str()).await? else {
                return Ok(false);
            };
            let reason = BlacklistReason::Operator(why.to_owned());
            let entry = BlacklistEntry { reason, since: transaction.now, until };
            transaction.blacklist(collection, url, &record, record.clone(), &entry)?;
            transaction.close().await?;
            Ok(true)
        });
        add.await
    }

    /// Brings a blacklisted URL back into the queue, due now; false if it is not blacklisted.
    #[crate::boxed]
    pub async fn blacklist_lift(&self, collection: &str, url: &CrawlUrl) -> Result<bool> {
        let stripe = self.draw();
        let writer = &self.writer();
        let lift = self.store.transact_idempotent(|tx| async move {
            let transaction = self.transaction(&tx, writer, stripe).await?;
            let mut arrivals = Arrivals::new();
            let lifted = transaction.lift(collection, url, &mut arrivals).await?;
            transaction.arrive_all(&arrivals).await?;
            transaction.close().await?;
            Ok(lifted)
        });
        lift.await
    }

    /// When the next blacklisting ends, as far as this process knows.
    pub(crate) fn next_end(&self) -> Option<Time> {
        Some(Time(self.next_end.load(Ordering::Acquire))).filter(|end| end.0 < i64::MAX)
    }

    /// F21: blacklistings that have ended come back by themselves; returns how many.
    pub(crate) async fn end_blacklistings(&self) -> Result<usize> {
        // Whoever is blacklisted from here on tells by itself.
        self.next_end.store(i64::MAX, Ordering::Release);
        let stripe = self.draw();
        let mut ended = 0;
        loop {
            let writer = &self.writer();
            let end = self.store.transact_idempotent(|tx| async move {
                let transaction = self.transaction(&tx, writer, stripe).await?;
                let range = BLACKLIST_ENDS.range_before((), (transaction.now.0 + 1,));
                let page = BLACKLIST_ENDS.scan(&tx, &range, BATCH, ScanOrder::Forward).await?;
                let mut arrivals = Arrivals::new();
                for ((until, collection, url), ()) in &page.rows {
                    BLACKLIST_ENDS.delete(&tx, (*until, collection, url))?;
                    transaction.lift(collection, &stored_url(url)?, &mut arrivals).await?;
                }
                transaction.arrive_all(&arrivals).await?;
                transaction.close().await?;
                let next = BLACKLIST_ENDS
                    .first(&tx, &BLACKLIST_ENDS.range_from((), (transaction.now.0 + 1,)))
                    .await?;
                Ok((page.rows.len(), next.map(|((until, ..), ())| Time(until))))
            });
            let (count, next) = end.await?;
            ended += count;
            if count < BATCH {
                self.next_end.fetch_min(next.map_or(i64::MAX, |next| next.0), Ordering::AcqRel);
                return Ok(ended);
            }
        }
    }
}

impl Transaction<'_> {
    pub(crate) async fn lift(
        &self,
        collection: &str,
        url: &CrawlUrl,
        arrivals: &mut Arrivals,
    ) -> Result<bool> {
        let Some(entry) = BLACKLIST.get(self.tx, (collection, url.as_str())).await? else { return Ok(false) };
        BLACKLIST.delete(self.tx, (collection, url.as_str()))?;
        if let Some(until) = entry.until {
            BLACKLIST_ENDS.delete(self.tx, (until.0, collection, url.as_str()))?;
        }
        match &entry.reason {
            BlacklistReason::Robots => DENIED.delete(self.tx, (server_of(url), collection, url.as_str()))?,
            BlacklistReason::Pattern(name) => {
                BARRED_URLS.delete(self.tx, (pattern_id(name), collection, url.as_str()))?;
            }
            _ => {}
        }
        let state = self.state(collection, url.as_str()).await?;
        let Some(UrlState::Blacklisted(record)) = &state else { return Ok(false) };
        let mut back = Record { due: self.now, owed: record.owed.back(self.now), ..record.clone() };
        back.charges.held_by = None;
        self.enqueue(collection, url, state.as_ref(), back, arrivals)?;
        Ok(true)
    }
}
