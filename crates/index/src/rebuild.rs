//! The index as a batch job would make it: every derived row computed anew from `page:cur`, into
//! rows of another number.
//!
//! Three passes, none of which holds more than a bounded part: the links of every page become
//! inlink rows, which the store sorts; those are read back in order and counted; domains are added
//! up. It shares the tables with the observers and nothing else, so that it can tell whether they
//! are right.

use std::collections::HashMap;

use store::key::Desc;
use store::limits::KEY_BYTES_MAX;
use store::table::KeyRange;
use store::{Bytes, Durability, Order, Result, Store, Tx};

use crate::inlinks::Cell;
use crate::page::read_links;
use crate::scan::Scan;
use crate::schema::{COUNTS, Count, DOMAIN_RANK, DOMAINS, DOMAINS_RANK, HEADS, INLINKS, LINKS, RANK, Tally};
use crate::uri::domain_of;

/// Rows written in one transaction.
const ROWS_PER_COMMIT: usize = 8192;
/// What a put may take at most, with what an engine counts for a key beside its bytes: three rows of small values.
const PUT_BYTES_MAX: usize = 4 * KEY_BYTES_MAX;
/// Domains counted in memory before their numbers are written.
const DOMAINS_IN_MEMORY: usize = 100_000;

/// Every table whose rows follow from the pages, by its range for an index.
pub(crate) fn derived(index: u32) -> [(&'static str, KeyRange); 6] {
    [
        (INLINKS.name(), INLINKS.range((index,))),
        (COUNTS.name(), COUNTS.range((index,))),
        (RANK.name(), RANK.range((index,))),
        (DOMAIN_RANK.name(), DOMAIN_RANK.range((index,))),
        (DOMAINS.name(), DOMAINS.range((index,))),
        (DOMAINS_RANK.name(), DOMAINS_RANK.range((index,))),
    ]
}

/// A rebuild of `index` as `tx` sees it, into `scratch`.
pub(crate) struct Rebuild<'a> {
    pub(crate) store: &'a Store,
    pub(crate) index: u32,
    pub(crate) scratch: u32,
}

type Put = Box<dyn Fn(&Tx) -> Result<()> + Send + Sync>;

/// Rows on their way into the store.
struct Writer<'a> {
    store: &'a Store,
    puts: Vec<Put>,
}

impl Writer<'_> {
    async fn put(&mut self, put: impl Fn(&Tx) -> Result<()> + Send + Sync + 'static) -> Result<()> {
        self.puts.push(Box::new(put));
        if self.puts.len() >= ROWS_PER_COMMIT { self.flush().await } else { Ok(()) }
    }

    /// In as many transactions as it takes: an engine may hold less in one.
    async fn flush(&mut self) -> Result<()> {
        let puts = std::mem::take(&mut self.puts);
        let mut rest = puts.as_slice();
        while !rest.is_empty() {
            let waiting = rest;
            let write = self.store.transact_idempotent(|tx| async move {
                tx.set_durability(Durability::Relaxed);
                let mut written = 0;
                for put in waiting {
                    if written > 0 && tx.room() < PUT_BYTES_MAX {
                        break;
                    }
                    put(&tx)?;
                    written += 1;
                }
                Ok(written)
            });
            rest = &rest[write.await?..];
        }
        Ok(())
    }
}

impl Rebuild<'_> {
    pub(crate) async fn run(&self, tx: &Tx) -> Result<Tally> {
        self.clear().await?;
        self.links(tx).await?;
        self.counts().await
    }

    /// Nothing of an earlier rebuild is left.
    pub(crate) async fn clear(&self) -> Result<()> {
        let rows = ROWS_PER_COMMIT.min(self.store.txn_bytes_max() / (2 * KEY_BYTES_MAX));
        for (_, range) in derived(self.scratch) {
            let mut rest = Some(range);
            while let Some(range) = rest {
                let range = &range;
                let clear = self.store.transact_idempotent(|tx| async move {
                    tx.set_durability(Durability::Relaxed);
                    let page = tx.scan(range, rows, Order::Forward).await?;
                    page.items.iter().try_for_each(|(key, _)| tx.delete(key.clone()))?;
                    Ok(page.rest)
                });
                rest = clear.await?;
            }
        }
        Ok(())
    }

    fn writer(&self) -> Writer<'_> {
        Writer { store: self.store, puts: Vec::new() }
    }

    /// Pass one: inlinks of all targets, and a count of none for all pages.
    async fn links(&self, tx: &Tx) -> Result<()> {
        let scratch = self.scratch;
        let mut writer = self.writer();
        let mut heads = Scan::new(HEADS.range((self.index,)));
        while let Some((key, value)) = heads.next(tx).await? {
            let (source, head) = (HEADS.key_from(&key)?.1, HEADS.value_from(&value)?);
            let Some(content) = head.cur else { continue };
            let bytes = tx.get(&LINKS.key((self.index, &source, head.slot))).await?;
            for (target, anchor) in read_links(LINKS.raw(bytes.as_ref())?)? {
                let key = INLINKS.key((scratch, &target, &source));
                let cell = Cell { first_seen: content.since, anchor }.stored();
                writer.put(move |tx| tx.put(key.as_slice(), cell.as_slice())).await?;
            }
            let loaded = Count { incount: 0, loaded: true };
            writer.put(move |tx| COUNTS.put(tx, (scratch, &source), &loaded.into())).await?;
        }
        writer.flush().await
    }

    /// Pass two: inlinks and pages read back side by side, in order of URI.
    async fn counts(&self) -> Result<Tally> {
        let tx = self.store.begin().await?;
        let mut inlinks = Scan::new(INLINKS.range((self.scratch,)));
        let mut pages = Scan::new(COUNTS.range((self.scratch,)));
        let mut made = Made { tally: Tally::default(), domains: HashMap::new(), writer: self.writer() };
        let mut target = target_of(inlinks.next(&tx).await?)?;
        let mut page = page_of(pages.next(&tx).await?)?;
        while let Some(uri) = [&target, &page].into_iter().flatten().min().cloned() {
            let mut count = Count::default();
            if page.as_ref() == Some(&uri) {
                count.loaded = true;
                page = page_of(pages.next(&tx).await?)?;
            }
            while target.as_ref() == Some(&uri) {
                count.incount += 1;
                target = target_of(inlinks.next(&tx).await?)?;
            }
            self.add(&mut made, &uri, count).await?;
        }
        self.add_domains(&mut made).await?;
        self.rank_domains(&mut made).await?;
        Ok(made.tally)
    }

    async fn add(&self, made: &mut Made<'_>, uri: &str, count: Count) -> Result<()> {
        let domain = domain_of(uri);
        let (scratch, loaded, incount) = (self.scratch, u8::from(count.loaded), Desc(count.incount));
        let in_domain = DOMAIN_RANK.key((scratch, domain, loaded, incount, &uri[domain.len()..]));
        let owned = uri.to_owned();
        let put = move |tx: &Tx| {
            COUNTS.put(tx, (scratch, &owned), &count.into())?;
            RANK.put(tx, (scratch, loaded, incount, &owned), &())?;
            tx.put(in_domain.as_slice(), [])
        };
        made.writer.put(put).await?;
        made.tally.uris += 1;
        made.tally.loaded += i64::from(count.loaded);
        made.tally.links += count.incount.cast_signed();
        match made.domains.get_mut(domain) {
            Some(known) => *known += 1,
            None => drop(made.domains.insert(domain.to_owned(), 1)),
        }
        if made.domains.len() >= DOMAINS_IN_MEMORY { self.add_domains(made).await } else { Ok(()) }
    }

    /// Adds what was counted to what is written already.
    async fn add_domains(&self, made: &mut Made<'_>) -> Result<()> {
        made.writer.flush().await?;
        let tx = self.store.begin().await?;
        for (domain, more) in std::mem::take(&mut made.domains) {
            let known = DOMAINS.get(&tx, (self.scratch, &domain)).await?.unwrap_or(0);
            let scratch = self.scratch;
            made.writer.put(move |tx| DOMAINS.put(tx, (scratch, &domain), &(known + more))).await?;
        }
        made.writer.flush().await
    }

    /// Pass three.
    async fn rank_domains(&self, made: &mut Made<'_>) -> Result<()> {
        let tx = self.store.begin().await?;
        let scratch = self.scratch;
        let mut domains = Scan::new(DOMAINS.range((scratch,)));
        while let Some((key, value)) = domains.next(&tx).await? {
            let (domain, pagecount) = (DOMAINS.key_from(&key)?.1, DOMAINS.value_from(&value)?);
            made.tally.domains += 1;
            let rank = Desc(pagecount.unsigned_abs());
            made.writer.put(move |tx| DOMAINS_RANK.put(tx, (scratch, rank, &domain), &())).await?;
        }
        made.writer.flush().await
    }
}

struct Made<'a> {
    tally: Tally,
    domains: HashMap<String, i64>,
    writer: Writer<'a>,
}

fn target_of(row: Option<(Bytes, Bytes)>) -> Result<Option<String>> {
    row.map(|(key, _)| Ok(INLINKS.key_from(&key)?.1)).transpose()
}

fn page_of(row: Option<(Bytes, Bytes)>) -> Result<Option<String>> {
    row.map(|(key, _)| Ok(COUNTS.key_from(&key)?.1)).transpose()
}
