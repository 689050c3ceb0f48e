//! What robots.txt denies (F17): out of the queue, and back as soon as it is read again and allows
//! it.
//!
//! A denied URL is blacklisted until its robots.txt is due to be read. It may be read before that,
//! by whoever comes by: another URL of the server, another collection, the next process. So
//! `DENIED` lists the blacklisted URLs by server, and whoever has read a robots.txt has them gone
//! through: what it allows comes back, each by the rules that its profiles obey by now. What it
//! still denies stays until its end.

use policy::evaluate::robots_policy;
use policy::model::{Record, RobotsPolicy};
use policy::standing::Subject;
use policy::url::CrawlUrl;
use store::table::KeyRange;
use store::{Order, Result};

use crate::Frontier;
use crate::schema::{DENIED, UrlState};
use crate::transaction::{Arrivals, Transaction, stored_url};

/// URLs looked at in one transaction.
const BATCH: usize = 100;

/// Scheme, host and port: what a robots.txt is for.
pub fn server_of(url: &CrawlUrl) -> &str {
    let text = url.as_str();
    &text[..text.len() - url.path_and_query().len()]
}

/// Whether the robots.txt that was read allows a URL, in a collection, under a policy.
pub trait Allows: Fn(&str, &RobotsPolicy, &CrawlUrl) -> bool + Sync {}

impl<T: Fn(&str, &RobotsPolicy, &CrawlUrl) -> bool + Sync> Allows for T {}

impl Frontier {
    /// The robots.txt of a server was read: what it allows, and did not, is due again. Returns how
    /// many URLs that are.
    pub async fn readmit(&self, server: &str, allows: &impl Allows) -> Result<usize> {
        let mut back = 0;
        let mut rest = Some(DENIED.range((server,)));
        while let Some(range) = rest {
            let range = &range;
            let stripe = self.draw();
            let writer = &self.writer();
            let readmit = self.store.transact_idempotent(|tx| async move {
                if DENIED.first(&tx, range).await?.is_none() {
                    return Ok((0, None));
                }
                let transaction = self.transaction(&tx, writer, stripe).await?;
                transaction.readmit(range, allows).await
            });
            let (count, next) = readmit.await?;
            back += count;
            rest = next;
        }
        Ok(back)
    }
}

impl Transaction<'_> {
    async fn readmit(&self, range: &KeyRange, allows: &impl Allows) -> Result<(usize, Option<KeyRange>)> {
        let page = DENIED.scan(self.tx, range, BATCH, Order::Forward).await?;
        let mut arrivals = Arrivals::new();
        let mut back = 0;
        for ((_, collection, text), ()) in page.rows {
            let url = stored_url(&text)?;
            let Some(UrlState::Blacklisted(record)) = self.state(&collection, &text).await? else { continue };
            let allowed = match self.robots_policy(&collection, &url, &record) {
                Some(policy) => allows(&collection, &policy, &url),
                // Nobody wants it: evaluation says what becomes of it.
                None => true,
            };
            if allowed {
                back += usize::from(self.lift(&collection, &url, &mut arrivals).await?);
            }
        }
        self.arrive_all(&arrivals).await?;
        self.close().await?;
        Ok((back, page.rest))
    }

    fn robots_policy(&self, collection: &str, url: &CrawlUrl, record: &Record) -> Option<RobotsPolicy> {
        let catalog = self.catalog();
        robots_policy(Subject { catalog: &catalog, collection, url }, &record.seed, record.position)
    }
}
