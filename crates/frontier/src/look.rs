//! Looking at the queue and the hosts, page by page.

use std::collections::{BTreeSet, HashMap};

use policy::browser::Rendering;
use policy::cookies;
use policy::model::Record;
use policy::time::{Span, Time};
use policy::url::CrawlUrl;
use serde::Serialize;
use serde::de::DeserializeOwned;
use store::key::{Key, Prefix};
use store::table::{KeyRange, Table};
use store::{Order, Result, Tx};

use crate::schema::{
    CAPTURES, COOKIES, Capture, HOSTS, Host, QUEUE, RENDERINGS, URLS, UrlState, surt_in_key,
};
use crate::transaction::{Arrivals, stored_url};
use crate::{Frontier, ranges};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Queued,
    InFlight,
    Done,
    Blacklisted,
}

impl State {
    pub fn as_str(self) -> &'static str {
        match self {
            State::Queued => "queued",
            State::InFlight => "in flight",
            State::Done => "done",
            State::Blacklisted => "blacklisted",
        }
    }
}
/// A URL in a collection.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueRow {
    pub collection: String,
    pub url: String,
    pub host: String,
    pub state: State,
    /// None where only the fact is remembered that it is done.
    pub record: Option<Record>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct HostRow {
    pub host: String,
    pub group: Option<String>,
    /// When it can next be used; none while all its slots are taken.
    pub next: Option<Time>,
    pub in_flight: Vec<String>,
    /// When the first of its reservations runs out, if it is not released before.
    pub busy_until: Option<Time>,
    pub response_time: Span,
    pub backoff_until: Option<Time>,
    pub failures: u32,
}

/// Names a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaptureId {
    pub collection: String,
    /// As much of it as a key takes.
    pub surt: String,
    pub time: Time,
    pub offset: u64,
}

impl CaptureId {
    pub fn new(collection: &str, surt: &str, time: Time, offset: u64) -> CaptureId {
        CaptureId { collection: collection.to_owned(), surt: surt_in_key(surt).to_owned(), time, offset }
    }

    fn key(&self) -> (&str, &str, i64, u64) {
        (&self.collection, &self.surt, self.time.0, self.offset)
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        CAPTURES.key(self.key())
    }

    pub fn from_bytes(bytes: &[u8]) -> Option<CaptureId> {
        CAPTURES.key_from(bytes).ok().map(CaptureId::from)
    }
}

impl From<(String, String, i64, u64)> for CaptureId {
    fn from((collection, surt, at, offset): (String, String, i64, u64)) -> CaptureId {
        CaptureId { collection, surt, time: Time(at), offset }
    }
}

/// Captures of a URL looked at in one go, for one that is no revisit.
pub(crate) const ORIGINAL_PAGE: usize = 20;
/// Hosts looked at in one go.
const IDLE_PAGE: usize = 1000;

impl Frontier {
    /// A page of all known URLs: of one collection, or of all.
    #[crate::boxed]
    pub async fn urls(
        &self,
        collection: Option<&str>,
        rest: Option<KeyRange>,
        limit: usize,
    ) -> Result<(Vec<QueueRow>, Option<KeyRange>)> {
        let tx = self.store.begin().await?;
        let range = rest.unwrap_or_else(|| ranges::urls(collection));
        let page = URLS.scan(&tx, &range, limit, Order::Forward).await?;
        let mut hosts = HashMap::new();
        let mut rows = Vec::with_capacity(page.rows.len());
        for ((collection, url), state) in page.rows {
            rows.push(row(&tx, &mut hosts, collection, url, state).await?);
        }
        Ok((rows, page.rest))
    }

    /// A page of one host's queue in the order of due times.
    #[crate::boxed]
    pub async fn queue_of(
        &self,
        host: &str,
        rest: Option<KeyRange>,
        limit: usize,
    ) -> Result<(Vec<QueueRow>, Option<KeyRange>)> {
        let tx = self.store.begin().await?;
        let range = rest.unwrap_or_else(|| QUEUE.range((host,)));
        let page = QUEUE.scan(&tx, &range, limit, Order::Forward).await?;
        let mut hosts = HashMap::new();
        let mut rows = Vec::with_capacity(page.rows.len());
        for ((_, _, collection, url), ()) in page.rows {
            if let Some(state) = URLS.get(&tx, (&collection, &url)).await? {
                rows.push(row(&tx, &mut hosts, collection, url, state).await?);
            }
        }
        Ok((rows, page.rest))
    }

    /// A page of the hosts that have URLs.
    #[crate::boxed]
    pub async fn hosts(
        &self,
        rest: Option<KeyRange>,
        limit: usize,
    ) -> Result<(Vec<HostRow>, Option<KeyRange>)> {
        let tx = self.store.begin().await?;
        self.declared.catch_up(&tx).await?;
        let page = HOSTS.scan(&tx, &rest.unwrap_or_else(|| HOSTS.range(())), limit, Order::Forward).await?;
        let catalog = self.declared.catalog.read();
        let rows = page.rows.into_iter().map(|((name,), host)| {
            let group = catalog.group_of(&name).map(|group| group.name.clone());
            host_row(name, host, group)
        });
        Ok((rows.collect(), page.rest))
    }

    /// Whether no URL comes due within `grace`. URLs that wait for the politeness of their host are
    /// due; those of a host that backs off are not before it does so no more.
    #[crate::boxed]
    pub async fn is_idle(&self, grace: Span) -> Result<bool> {
        if !self.walks.have_ended() {
            return Ok(false);
        }
        let tx = self.store.begin().await?;
        if self.share.has_company() && !self.walks_elsewhere_ended(&tx).await? {
            return Ok(false);
        }
        let soon = self.now().plus(grace);
        let mut rest = Some(HOSTS.range(()));
        while let Some(range) = rest {
            let page = HOSTS.scan(&tx, &range, IDLE_PAGE, Order::Forward).await?;
            for ((name,), host) in page.rows {
                if host.backoff_until.is_some_and(|until| until > soon) {
                    continue;
                }
                let queue = QUEUE.range_from((name.as_str(),), (name.as_str(), host.head.0));
                let first = QUEUE.first(&tx, &queue).await?;
                if first.is_some_and(|((_, due, ..), ())| Time(due) <= soon) {
                    return Ok(false);
                }
            }
            rest = page.rest;
        }
        Ok(true)
    }

    /// The last capture of a URL that holds content, not an error: what a revisit refers to.
    #[crate::boxed]
    pub async fn original(&self, collection: &str, surt: &str, url: &str) -> Result<Option<(Time, Capture)>> {
        let holds = |capture: &Capture| (200..300).contains(&capture.status);
        Ok(self.last_that(collection, surt, url, holds).await?.map(|(id, capture)| (id.time, capture)))
    }

    /// The last record of a name, where it is no answer: a picture, a final DOM (B16).
    #[crate::boxed]
    pub async fn last_record(
        &self,
        collection: &str,
        surt: &str,
        name: &str,
    ) -> Result<Option<(CaptureId, Capture)>> {
        self.last_that(collection, surt, name, |_| true).await
    }

    async fn last_that(
        &self,
        collection: &str,
        surt: &str,
        url: &str,
        holds: impl Fn(&Capture) -> bool,
    ) -> Result<Option<(CaptureId, Capture)>> {
        let tx = self.store.begin().await?;
        let mut rest = Some(CAPTURES.range((collection, surt_in_key(surt))));
        while let Some(range) = rest {
            let page = CAPTURES.scan(&tx, &range, ORIGINAL_PAGE, Order::Backward).await?;
            for (key, capture) in page.rows {
                if !capture.revisit && capture.url == url && holds(&capture) {
                    return Ok(Some((CaptureId::from(key), capture)));
                }
            }
            rest = page.rest;
        }
        Ok(None)
    }

    /// B15: the cookies that these hosts read, and after them as many more of the collection's as
    /// there is room for: what a page asks for by script is not known beforehand.
    #[crate::boxed]
    pub async fn cookies(
        &self,
        collection: &str,
        hosts: &[String],
        rows_max: usize,
    ) -> Result<Vec<(String, cookies::Row)>> {
        let tx = self.store.begin().await?;
        let mut rows = Vec::new();
        let mut names: Vec<&str> = hosts.iter().flat_map(|host| cookies::rows_for(host)).collect();
        names.dedup();
        tx.read_ahead(names.iter().map(|name| COOKIES.key((collection, name))).collect()).await?;
        let mut seen = BTreeSet::new();
        for name in names {
            if rows.len() < rows_max
                && seen.insert(name.to_owned())
                && let Some(row) = COOKIES.get(&tx, (collection, name)).await?
            {
                rows.push((name.to_owned(), row));
            }
        }
        let others = COOKIES.scan(&tx, &COOKIES.range((collection,)), rows_max, Order::Forward).await?.rows;
        for ((_, name), row) in others {
            if rows.len() < rows_max && seen.insert(name.clone()) {
                rows.push((name, row));
            }
        }
        Ok(rows)
    }

    /// What came of the last rendering of a URL (B21).
    #[crate::boxed]
    pub async fn rendering(&self, collection: &str, url: &str) -> Result<Option<Rendering>> {
        let tx = self.store.begin().await?;
        RENDERINGS.get(&tx, (collection, url)).await
    }

    /// The captures of a collection, in the order of their SURT keys and times.
    #[crate::boxed]
    pub async fn captures(
        &self,
        collection: &str,
        rest: Option<KeyRange>,
        limit: usize,
    ) -> Result<(Vec<(String, Time, Capture)>, Option<KeyRange>)> {
        let range = rest.unwrap_or_else(|| ranges::captures(Some(collection)));
        let (rows, rest) = self.captures_in(&range, limit).await?;
        Ok((rows.into_iter().map(|(id, row)| (id.surt, id.time, row)).collect(), rest))
    }

    /// A page of captures, from one of the [`ranges`] of them.
    #[crate::boxed]
    pub async fn captures_in(
        &self,
        range: &KeyRange,
        limit: usize,
    ) -> Result<(Vec<(CaptureId, Capture)>, Option<KeyRange>)> {
        self.captures_by(range, limit, Order::Forward).await
    }

    /// The same in either order.
    #[crate::boxed]
    pub async fn captures_by(
        &self,
        range: &KeyRange,
        limit: usize,
        order: Order,
    ) -> Result<(Vec<(CaptureId, Capture)>, Option<KeyRange>)> {
        let tx = self.store.begin().await?;
        let page = CAPTURES.scan(&tx, range, limit, order).await?;
        let rows = page.rows.into_iter().map(|(key, row)| (CaptureId::from(key), row));
        Ok((rows.collect(), page.rest))
    }

    #[crate::boxed]
    pub async fn capture(&self, id: &CaptureId) -> Result<Option<Capture>> {
        CAPTURES.get(&self.store.begin().await?, id.key()).await
    }

    /// Whether the host has URLs, or captures; `surt` is how the SURT keys of its URLs begin.
    #[crate::boxed]
    pub async fn is_known_host(&self, host: &str, surt: &str) -> Result<bool> {
        let tx = self.store.begin().await?;
        if HOSTS.get(&tx, (host,)).await?.is_some() {
            return Ok(true);
        }
        for collection in collections_in(&tx, &CAPTURES, |(name, ..)| name).await? {
            let from = CAPTURES.range_from((collection.as_str(),), (collection.as_str(), surt));
            let first = CAPTURES.first(&tx, &from).await?;
            let rest = first.as_ref().and_then(|((_, first, ..), _)| first.strip_prefix(surt));
            if rest.is_some_and(|rest| rest.starts_with([')', ':'])) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The collections that have captures, declared or not.
    #[crate::boxed]
    pub async fn collections_with_captures(&self) -> Result<Vec<String>> {
        collections_in(&self.store.begin().await?, &CAPTURES, |(name, ..)| name).await
    }

    /// The collections that have URLs, declared or not.
    #[crate::boxed]
    pub async fn collections_with_urls(&self) -> Result<Vec<String>> {
        collections_in(&self.store.begin().await?, &URLS, |(name, _)| name).await
    }
}

pub(crate) fn host_row(host: String, row: Host, group: Option<String>) -> HostRow {
    HostRow {
        host,
        group,
        next: row.slots.queued_at.or(row.group.map(|(_, at)| at)),
        busy_until: row.slots.taken.iter().map(|slot| slot.until).min(),
        in_flight: row.slots.taken.into_iter().map(|slot| slot.url).collect(),
        response_time: row.slots.response_time,
        backoff_until: row.backoff_until,
        failures: row.failures,
    }
}

async fn row(
    tx: &Tx,
    hosts: &mut HashMap<String, Option<Host>>,
    collection: String,
    url: String,
    state: UrlState,
) -> Result<QueueRow> {
    let host = stored_url(&url)?.site().to_owned();
    if !hosts.contains_key(&host) {
        hosts.insert(host.clone(), HOSTS.get(tx, (&host,)).await?);
    }
    let in_flight =
        hosts.get(&host).and_then(Option::as_ref).is_some_and(|row| row.is_in_flight(&collection, &url));
    let (state, record) = match state {
        UrlState::Queued(record) if in_flight => (State::InFlight, Some(record)),
        UrlState::Queued(record) => (State::Queued, Some(record)),
        UrlState::Done { .. } => (State::Done, None),
        UrlState::Blacklisted(record) => (State::Blacklisted, Some(record)),
    };
    Ok(QueueRow { collection, url, host, state, record })
}

impl Frontier {
    /// Moves a queued URL to another due time; false if it is not queued. Moved earlier, it forgets
    /// when it was last fetched: somebody wants it then, and its schedule (F15) would put it
    /// right back.
    #[crate::boxed]
    pub async fn move_due(&self, collection: &str, url: &CrawlUrl, due: Time) -> Result<bool> {
        let stripe = self.draw();
        let writer = &self.writer();
        let shift = self.store.transact_idempotent(|tx| async move {
            let transaction = self.transaction(&tx, writer, stripe).await?;
            let Some(UrlState::Queued(record)) = transaction.state(collection, url.as_str()).await? else {
                return Ok(false);
            };
            let last = if due < record.due { None } else { record.last };
            let mut arrivals = Arrivals::new();
            let moved = Record { due, last, ..record.clone() };
            transaction.requeue(collection, url, &record, moved, &mut arrivals)?;
            transaction.arrive_all(&arrivals).await?;
            transaction.close().await?;
            Ok(true)
        });
        shift.await
    }
}

/// The collections of a table, without reading all of it.
async fn collections_in<K: Key + 'static, V: Serialize + DeserializeOwned>(
    tx: &Tx,
    table: &Table<K, V>,
    collection: fn(K) -> String,
) -> Result<Vec<String>>
where
    for<'a> (&'a str,): Prefix<K>,
    (): Prefix<K>,
{
    let mut names = Vec::new();
    let mut range = table.range(());
    while let Some((key, _)) = table.first(tx, &range).await? {
        let name = collection(key);
        range.from = table.range((name.as_str(),)).to;
        names.push(name);
    }
    Ok(names)
}
