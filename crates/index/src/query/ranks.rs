//! Ranks, merged from two streams.
//!
//! A scope (everything, or a domain) keeps its URIs in two ranges, not loaded and loaded, each by
//! incount. By score the second counts one more. Merging the two gives either order.

use store::key::Desc;
use store::table::KeyRange;
use store::{Bytes, Order, Tx};

use super::{By, LIMIT_MAX, Listing, RankedDomain, RankedPage, cursor};
use crate::error::Error;
use crate::handle::Index;
use crate::schema::{Count, DOMAIN_RANK, DOMAINS_RANK, RANK};
use crate::uri::Uri;

/// Whose ranks.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Scope<'a> {
    Everything,
    Domain(&'a str),
    /// The domains themselves by pagecount, as if all were not loaded.
    Domains,
}

/// An entry of a rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) count: Count,
    pub(crate) uri: String,
}

impl Entry {
    pub(crate) fn value(&self, by: By) -> u64 {
        match by {
            By::Incount => self.count.incount,
            By::Score => self.count.score(),
        }
    }
}

/// The loaded or the not loaded URIs of a scope, by incount.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stream<'a> {
    pub(crate) index: u32,
    pub(crate) scope: Scope<'a>,
    pub(crate) loaded: bool,
}

impl Stream<'_> {
    /// All of it with an incount of at most `highest` and at least `lowest`.
    pub(crate) fn between(&self, highest: u64, lowest: u64) -> KeyRange {
        let loaded = u8::from(self.loaded);
        let (from, last) = match self.scope {
            Scope::Everything => (
                RANK.range((self.index, loaded, Desc(highest))),
                RANK.range((self.index, loaded, Desc(lowest))),
            ),
            Scope::Domain(domain) => (
                DOMAIN_RANK.range((self.index, domain, loaded, Desc(highest))),
                DOMAIN_RANK.range((self.index, domain, loaded, Desc(lowest))),
            ),
            Scope::Domains => (
                DOMAINS_RANK.range((self.index, Desc(highest))),
                DOMAINS_RANK.range((self.index, Desc(lowest))),
            ),
        };
        KeyRange { from: from.from, to: last.to }
    }

    /// What comes after a URI of this incount, whether it is there or not.
    pub(crate) fn after(&self, incount: u64, uri: &str, lowest: u64) -> KeyRange {
        let loaded = u8::from(self.loaded);
        let mut from = match self.scope {
            Scope::Everything => RANK.key((self.index, loaded, Desc(incount), uri)),
            Scope::Domain(domain) => {
                let rest = uri.strip_prefix(domain).unwrap_or(uri);
                DOMAIN_RANK.key((self.index, domain, loaded, Desc(incount), rest))
            }
            Scope::Domains => DOMAINS_RANK.key((self.index, Desc(incount), uri)),
        };
        from.push(0);
        KeyRange { from, to: self.between(lowest, lowest).to }
    }

    pub(crate) fn entry(&self, key: &Bytes) -> store::Result<Entry> {
        let (incount, uri) = match self.scope {
            Scope::Everything => {
                let (_, _, Desc(incount), uri) = RANK.key_from(key)?;
                (incount, uri)
            }
            Scope::Domain(_) => {
                let (_, domain, _, Desc(incount), rest) = DOMAIN_RANK.key_from(key)?;
                (incount, domain + &rest)
            }
            Scope::Domains => {
                let (_, Desc(pagecount), domain) = DOMAINS_RANK.key_from(key)?;
                (pagecount, domain)
            }
        };
        Ok(Entry { count: Count { incount, loaded: self.loaded }, uri })
    }

    async fn read(&self, tx: &Tx, range: &KeyRange, limit: usize) -> store::Result<Vec<Entry>> {
        let page = tx.scan(range, limit, Order::Forward).await?;
        page.items.iter().map(|(key, _)| self.entry(key)).collect()
    }
}

impl Index {
    /// X9, X12: URIs by incount or score, highest first. By incount, those without inlinks are not
    /// listed.
    #[crate::boxed]
    pub async fn top(&self, by: By, after: Option<&str>, limit: usize) -> Result<Listing<RankedPage>, Error> {
        let query = match by {
            By::Incount => "incount",
            By::Score => "score",
        };
        self.ranked(Scope::Everything, by, &[false, true], query, after, limit).await
    }

    /// X15: URIs that were never captured, the most linked-to first.
    #[crate::boxed]
    pub async fn missing(&self, after: Option<&str>, limit: usize) -> Result<Listing<RankedPage>, Error> {
        self.ranked(Scope::Everything, By::Incount, &[false], "missing", after, limit).await
    }

    /// X8: the URIs of a domain by score; the domain is spelt as in [`Uri::domain`].
    #[crate::boxed]
    pub async fn domain_pages(
        &self,
        domain: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Listing<RankedPage>, Error> {
        let query = format!("domain {domain}");
        self.ranked(Scope::Domain(domain), By::Score, &[false, true], &query, after, limit).await
    }

    /// X9: domains by the number of URIs known in them.
    #[crate::boxed]
    pub async fn top_domains(
        &self,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Listing<RankedDomain>, Error> {
        let listing = self.ranked(Scope::Domains, By::Incount, &[false], "domains", after, limit).await?;
        let domains = listing
            .items
            .into_iter()
            .map(|entry| RankedDomain { domain: entry.uri.as_str().to_owned(), pagecount: entry.incount });
        Ok(Listing { items: domains.collect(), next: listing.next })
    }

    async fn ranked(
        &self,
        scope: Scope<'_>,
        by: By,
        loaded: &[bool],
        query: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Listing<RankedPage>, Error> {
        let tx = self.store().begin().await?;
        let limit = limit.clamp(1, LIMIT_MAX);
        let after = cursor::read(query, after)?;
        let mut entries = Vec::new();
        for &loaded in loaded {
            let stream = Stream { index: self.number(), scope, loaded };
            let lowest = u64::from(by == By::Incount);
            let range = match &after {
                None => stream.between(u64::MAX, lowest),
                Some(after) => {
                    let more = u64::from(loaded && by == By::Score);
                    let incount = after.value.checked_sub(more).ok_or(Error::BadCursor)?;
                    stream.after(incount, &after.name, lowest)
                }
            };
            entries.extend(stream.read(&tx, &range, limit + 1).await?);
        }
        entries.sort_by(|a, b| b.value(by).cmp(&a.value(by)).then_with(|| a.uri.cmp(&b.uri)));
        entries.truncate(limit + 1);
        let items: Vec<RankedPage> = entries.into_iter().map(RankedPage::from).collect();
        Ok(page_of(items, limit, |last| {
            let value = if by == By::Incount { last.incount } else { last.score };
            cursor::write(query, value, last.uri.as_str())
        }))
    }
}

impl From<Entry> for RankedPage {
    fn from(entry: Entry) -> RankedPage {
        RankedPage {
            uri: Uri::known(&entry.uri),
            incount: entry.count.incount,
            score: entry.count.score(),
            loaded: entry.count.loaded,
        }
    }
}

/// One entry more than asked for tells that there is more.
pub(super) fn page_of<T>(mut items: Vec<T>, limit: usize, cursor: impl Fn(&T) -> String) -> Listing<T> {
    let more = items.len() > limit;
    items.truncate(limit);
    let next = items.last().filter(|_| more).map(cursor);
    Listing { items, next }
}
