//! Somebody asks again (I7): what failed is tried now, and what was never answered is named.
//!
//! By itself, a URL that failed waits for its next try, and its host for the end of its backoff.
//! Whoever gives the command once more does not mean to wait for either. Nothing else of the record
//! changes: errors stay counted, so that a URL that always fails still comes to its end.

use std::collections::BTreeSet;

use policy::model::Record;
use policy::time::Time;
use policy::url::CrawlUrl;
use store::Result;

use crate::Frontier;
use crate::schema::{HOSTS, URLS, UrlState};
use crate::start::{Target, pairs};
use crate::transaction::{Arrivals, Transaction};

/// Seeds looked at in one transaction.
const BATCH: usize = 100;
/// Seeds without an answer that are named.
const NAMED_MAX: usize = 100;

/// A seed that never answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unanswered {
    pub url: CrawlUrl,
    pub collection: String,
    /// What went wrong last; none if it was not asked.
    pub problem: Option<String>,
    /// It is not asked any more.
    pub blacklisted: bool,
}

impl Frontier {
    /// URLs of these seeds (of all, if none are named) that wait for another try are due now, and
    /// their hosts back off no longer. Returns how many there are.
    #[crate::boxed]
    pub async fn try_again(&self, seeds: Option<&[String]>) -> Result<usize> {
        let mut tried = 0;
        for batch in self.places(seeds).await?.chunks(BATCH) {
            let stripe = self.draw();
            let writer = &self.writer();
            let again = self.store.transact_idempotent(|tx| async move {
                let transaction = self.transaction(&tx, writer, stripe).await?;
                let mut arrivals = Arrivals::new();
                let mut hosts = BTreeSet::new();
                let mut tried = 0;
                let keys = batch.iter().map(|(collection, url)| (collection.as_str(), url.as_str()));
                let states = URLS.multi_get(&tx, keys).await?;
                for ((collection, url), state) in batch.iter().zip(states) {
                    if let Some(UrlState::Queued(record)) = state.filter(failed) {
                        let now = Record { due: record.due.min(transaction.now), ..record.clone() };
                        transaction.requeue(collection, url, &record, now, &mut arrivals)?;
                        hosts.insert(url.site());
                        tried += 1;
                    }
                }
                for host in hosts {
                    transaction.end_backoff(host, arrivals.remove(host)).await?;
                }
                transaction.arrive_all(&arrivals).await?;
                Ok(tried)
            });
            tried += again.await?;
        }
        Ok(tried)
    }

    /// The host backs off no longer.
    #[crate::boxed]
    pub async fn end_backoff(&self, host: &str) -> Result<()> {
        let stripe = self.draw();
        let writer = &self.writer();
        let end = self.store.transact_idempotent(|tx| async move {
            let transaction = self.transaction(&tx, writer, stripe).await?;
            transaction.end_backoff(host, None).await
        });
        end.await
    }

    /// The seeds that never answered, the first of them; none if one of them did, or if there are
    /// no seeds.
    #[crate::boxed]
    pub async fn unanswered(&self, seeds: Option<&[String]>) -> Result<Vec<Unanswered>> {
        let tx = self.store.begin().await?;
        let mut found = Vec::new();
        for (collection, url) in self.places(seeds).await? {
            let (record, blacklisted) = match URLS.get(&tx, (&collection, url.as_str())).await? {
                Some(UrlState::Done { .. }) => return Ok(Vec::new()),
                Some(UrlState::Queued(record)) => (Some(record), false),
                Some(UrlState::Blacklisted(record)) => (Some(record), true),
                None => (None, false),
            };
            if record.as_ref().is_some_and(answered) {
                return Ok(Vec::new());
            }
            if found.len() < NAMED_MAX {
                let problem = record.and_then(|record| record.problem);
                found.push(Unanswered { url, collection, problem, blacklisted });
            }
        }
        Ok(found)
    }

    /// Each URL of the seeds in each collection it is harvested in.
    async fn places(&self, seeds: Option<&[String]>) -> Result<Vec<(String, CrawlUrl)>> {
        self.with_catalog(|catalog| {
            let targets: Vec<Target> = match seeds {
                Some(names) => {
                    names.iter().map(|name| Target::Seed { name: name.clone(), profiles: None }).collect()
                }
                None => catalog.collections().map(|c| Target::Collection(c.name.clone())).collect(),
            };
            let found = targets.iter().flat_map(|target| pairs(catalog, target));
            found
                .filter_map(|(seed, collection)| Some((collection, catalog.seed(&seed)?.url.clone())))
                .collect()
        })
        .await
    }
}

impl Transaction<'_> {
    /// The host goes to where its first URL is due; `arrived` is when one of those that came just
    /// now is.
    async fn end_backoff(&self, name: &str, arrived: Option<Time>) -> Result<()> {
        let Some(mut host) = HOSTS.lock(self.tx, (name,)).await? else { return Ok(()) };
        host.backoff_until = None;
        host.head = arrived.map_or(host.head, |due| host.head.min(due));
        self.settle_host(name, &mut host).await
    }
}

fn failed(state: &UrlState) -> bool {
    matches!(state, UrlState::Queued(record) if record.errors > 0)
}

fn answered(record: &Record) -> bool {
    record.cycles > 0 || record.digest.is_some()
}
