//! How much of a transaction a harvest takes (A12).
//!
//! A transaction has an end, and a page from the web none. So before harvests are committed
//! together it is estimated what each will write, and they share a transaction only while it has
//! room for all of them. One that is too large alone keeps as many of its links as fit, as counted
//! while they are written: what comes after the links has its own room.

use policy::cookies::{ROW_BYTES_MAX, ROWS_MAX};
use policy::model::Record;
use policy::url::CrawlUrl;
use store::{Error, Result};

use crate::links::Page;
use crate::payloads::ROW_OF_PAYLOADS_BYTES_MAX;
use crate::ports::{Order, Outlink, PageNow, Report};
use crate::schema::{URLS, UrlState};
use crate::transaction::{Arrivals, Transaction};

/// Harvests are committed together while they weigh no more than this, of a transaction that holds
/// so much.
pub(crate) fn batch_bytes_max(txn_bytes_max: usize) -> usize {
    txn_bytes_max / 2
}

/// Kept free for what is written after the links of a page: its hosts, statistics, what the link
/// index is told.
fn room_bytes_min(txn_bytes_max: usize) -> usize {
    txn_bytes_max / 4
}

/// Links looked up and written at a time, between two looks at the room.
const LINKS_AT_ONCE: usize = 256;
/// What a host that is named for the first time takes: its row, its place, and the lock that tells
/// others.
pub(crate) const HOST_BYTES: usize = 2 << 10;
/// The rows of a record beside its names.
const RECORD_BYTES: usize = 512;
/// What a harvest writes besides: its record, captures, counters, and the row of its host with a
/// few slots.
const HARVEST_BYTES: usize = 64 << 10;
/// Indexes that are told of a page: that of its collection, and the one across all.
const INDEXES: usize = 2;

/// What committing the harvest writes, at most and roughly.
pub(crate) fn weight(order: &Order, report: &Report) -> usize {
    let names = order.collection.len() + order.seed.len();
    let links: usize = report.outlinks.iter().map(|link| link_weight(link, names)).sum();
    let page = match &report.page {
        Some(PageNow::Links(page)) => INDEXES * page.weight(),
        Some(PageNow::Gone) | None => 0,
    };
    let cookies = report.cookies.len().min(ROWS_MAX) * 2 * ROW_BYTES_MAX;
    let payloads = report.payloads.len() * ROW_OF_PAYLOADS_BYTES_MAX;
    HARVEST_BYTES + links + page + cookies + payloads
}

/// A link that moves writes its old place, its new one and its record; and it may be the first of
/// its host.
fn link_weight(link: &Outlink, names: usize) -> usize {
    3 * (link.url.as_str().len() + names) + 6 * link.url.site().len() + RECORD_BYTES
}

impl Order {
    /// How many of these links, in their order, can be taken in at all.
    pub fn links_that_fit<'a>(&self, links: impl Iterator<Item = &'a CrawlUrl>) -> usize {
        let names = 2 * self.collection.len() + self.seed.len();
        let most = store::limits::TXN_BYTES_MAX;
        let mut room = most - room_bytes_min(most);
        let fits = |url: &&CrawlUrl| {
            let taken = 2 * url.as_str().len() + url.site().len() + names;
            let left = room.checked_sub(taken);
            room = left.unwrap_or(0);
            left.is_some()
        };
        links.take_while(fits).count()
    }
}

/// What became of a page's links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Followed {
    pub(crate) added: u64,
    pub(crate) left_out: u64,
}

impl Transaction<'_> {
    /// As much room is left for what is written last.
    pub(crate) fn room_min(&self) -> usize {
        room_bytes_min(self.tx.capacity())
    }

    /// Takes in the links of a page: all of them, or, where it has the transaction to itself, as
    /// many as fit.
    pub(crate) async fn follow_fitting(
        &self,
        page: &Page<'_>,
        links: &[Outlink],
        alone: bool,
        arrivals: &mut Arrivals,
    ) -> Result<Followed> {
        let mut followed = Followed::default();
        for (at, some) in links.chunks(LINKS_AT_ONCE).enumerate() {
            if self.tx.room() < self.room_min() + arrivals.len() * HOST_BYTES {
                let max = self.tx.capacity();
                if !alone {
                    return Err(Error::TooLarge { what: "a transaction", size: max, max });
                }
                followed.left_out = (links.len() - at * LINKS_AT_ONCE) as u64;
                break;
            }
            followed.added += self.discover(page, some, arrivals).await?;
        }
        Ok(followed)
    }

    /// The record of a page says that not all of its links were taken in.
    pub(crate) async fn note_left_out(&self, order: &Order, left_out: u64, links: usize) -> Result<()> {
        let state = self.state(&order.collection, order.url.as_str()).await?;
        let note = |record: Record| {
            let kept = (links as u64).saturating_sub(left_out);
            let cut =
                format!("{kept} of its {links} links were taken in: more do not fit in one transaction");
            let problem = record.problem.map_or(cut.clone(), |problem| format!("{problem}; {cut}"));
            Record { problem: Some(problem), ..record }
        };
        let state = match state {
            Some(UrlState::Queued(record)) => UrlState::Queued(note(record)),
            Some(UrlState::Blacklisted(record)) => UrlState::Blacklisted(note(record)),
            Some(UrlState::Done { .. }) | None => return Ok(()),
        };
        URLS.put(self.tx, (&order.collection, order.url.as_str()), &state)
    }
}
