//! Figures and lists (G7): counters as the transactions keep them, lists by key on one snapshot.

use std::collections::HashSet;

use store::table::KeyRange;
use store::{Order, Result, Tx};

use crate::UrlFrontier;
use crate::tables::{
    BLOCKS, COUNTS, CRAWL_COUNTS, CRAWLS, Counts, LEASES, QUEUES, Queue, REMOVED, State, URLS, millis, sum,
};

const PAGE: usize = 1000;
/// Leases of one queue that a list counts.
pub const IN_PROCESS_MAX: usize = 10_000;

/// Of a crawl, or of one of its queues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// URLs that are not completed, those in process included.
    pub active: u64,
    pub in_process: u64,
    pub completed: u64,
    pub queues: u64,
    /// Those with URLs that are not completed.
    pub active_queues: u64,
}

/// A crawl, with its figures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrawlFigures {
    pub name: String,
    pub stats: Stats,
    /// Those that give nothing at this moment since they are blocked.
    pub blocked_queues: u64,
}

/// Some crawls, and the name that the next page goes on behind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CrawlPage {
    pub crawls: Vec<CrawlFigures>,
    pub next: Option<String>,
}

/// A queue, with its figures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueFigures {
    pub key: String,
    pub active: u64,
    /// Counted up to [`IN_PROCESS_MAX`].
    pub in_process: u64,
    pub completed: u64,
    /// In seconds since 1970; none: it is not blocked.
    pub blocked_until_s: Option<u64>,
    pub delay_s: u32,
    /// 0: none.
    pub limit: u32,
    /// When it may give something, in milliseconds since 1970.
    pub next: Option<i64>,
}

/// Some queues of a crawl, and the key that the next page goes on behind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueuePage {
    pub queues: Vec<QueueFigures>,
    pub next: Option<String>,
}

/// A URL as it is listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    pub key: String,
    pub url: String,
    pub metadata: Vec<u8>,
    pub created_s: u64,
    /// 0: completed.
    pub date_s: u64,
}

/// Which URLs are meant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    pub crawl: String,
    /// None: of all queues.
    pub key: Option<String>,
    /// A part of the URL; empty: all.
    pub part: String,
    pub ignore_case: bool,
}

impl Filter {
    fn holds(&self, url: &str) -> bool {
        match (self.part.is_empty(), self.ignore_case) {
            (true, _) => true,
            (false, false) => url.contains(&self.part),
            (false, true) => url.to_lowercase().contains(&self.part.to_lowercase()),
        }
    }
}

fn natural(count: i64) -> u64 {
    u64::try_from(count).unwrap_or_default()
}

/// How many rows are in a range.
async fn count_rows(tx: &Tx, range: KeyRange) -> Result<u64> {
    let (mut rest, mut rows) = (Some(range), 0);
    while let Some(range) = rest {
        let page = tx.scan(&range, PAGE, Order::Forward).await?;
        rows += page.items.len() as u64;
        rest = page.rest;
        // Nothing here waits by itself, and others have calls on the same thread.
        tokio::task::yield_now().await;
    }
    Ok(rows)
}

impl UrlFrontier {
    /// Of a crawl, or of one of its queues; of what is not there, nothing.
    pub async fn stats(&self, crawl: &str, key: Option<&str>) -> Result<Stats> {
        let tx = self.look().await?;
        let Some(id) = CRAWLS.get(&tx, (crawl,)).await? else { return Ok(Stats::default()) };
        let Some(key) = key else { return self.crawl_stats(&tx, id).await };
        let Some(row) = self.queue(&tx, id, key).await? else { return Ok(Stats::default()) };
        let counts = sum(&tx, &COUNTS, row.id).await?;
        let from = self.now(&tx).saturating_add(1);
        Ok(Stats {
            active: natural(counts.active),
            in_process: count_rows(&tx, LEASES.range_from((id, row.id), (id, row.id, from))).await?,
            completed: natural(counts.completed),
            queues: 1,
            active_queues: u64::from(counts.active > 0),
        })
    }

    /// A queue that something was put into.
    async fn queue(&self, tx: &Tx, crawl: u64, key: &str) -> Result<Option<Queue>> {
        Ok(QUEUES.get(tx, (crawl, key)).await?.filter(|row| row.id != 0))
    }

    async fn crawl_stats(&self, tx: &Tx, id: u64) -> Result<Stats> {
        let counts = sum(tx, &CRAWL_COUNTS, id).await?;
        Ok(Stats {
            active: natural(counts.urls.active),
            in_process: self.in_process(tx, id).await?,
            completed: natural(counts.urls.completed),
            queues: natural(counts.queues),
            active_queues: natural(counts.active_queues),
        })
    }

    /// Leases that hold, but for those of queues that were deleted.
    async fn in_process(&self, tx: &Tx, crawl: u64) -> Result<u64> {
        let mut removed = HashSet::new();
        let mut rest = Some(REMOVED.range((crawl,)));
        while let Some(range) = rest {
            let page = REMOVED.scan(tx, &range, PAGE, Order::Forward).await?;
            removed.extend(page.rows.iter().map(|((_, queue), ())| *queue));
            rest = page.rest;
        }
        let (mut rest, mut count, now) = (Some(LEASES.range((crawl,))), 0, self.now(tx));
        while let Some(range) = rest {
            let page = LEASES.scan(tx, &range, PAGE, Order::Forward).await?;
            let holds = |until: i64, queue: &u64| until > now && !removed.contains(queue);
            count +=
                page.rows.iter().filter(|((_, queue, until, _), ())| holds(*until, queue)).count() as u64;
            rest = page.rest;
            tokio::task::yield_now().await;
        }
        Ok(count)
    }

    /// The crawls that have queues, by name.
    pub async fn crawls(&self) -> Result<Vec<String>> {
        let tx = self.look().await?;
        Ok(self.all_crawls(&tx).await?.into_iter().map(|(name, _)| name).collect())
    }

    /// Whether something was ever put into it, or said of one of its queues.
    pub async fn is_known(&self, crawl: &str) -> Result<bool> {
        Ok(CRAWLS.get(&self.look().await?, (crawl,)).await?.is_some())
    }

    async fn all_crawls(&self, tx: &Tx) -> Result<Vec<(String, u64)>> {
        let (mut rest, mut crawls) = (Some(CRAWLS.range(())), Vec::new());
        while let Some(range) = rest {
            let page = CRAWLS.scan(tx, &range, PAGE, Order::Forward).await?;
            for ((name,), id) in page.rows {
                if sum(tx, &CRAWL_COUNTS, id).await?.queues > 0 {
                    crawls.push((name, id));
                }
            }
            rest = page.rest;
        }
        Ok(crawls)
    }

    /// The crawls that have queues, by name behind this one, with their figures.
    pub async fn crawl_page(&self, behind: Option<&str>, size: usize) -> Result<CrawlPage> {
        let tx = self.look().await?;
        let mut range = CRAWLS.range(());
        if let Some(behind) = behind {
            range.from = CRAWLS.key((behind,));
            range.from.push(0);
        }
        // One more than is wanted tells whether there is a next page.
        let (mut rest, mut crawls) = (Some(range), Vec::new());
        while let Some(range) = rest.take_if(|_| crawls.len() <= size) {
            let rows = CRAWLS.scan(&tx, &range, size + 1 - crawls.len(), Order::Forward).await?;
            for ((name,), id) in rows.rows {
                if sum(&tx, &CRAWL_COUNTS, id).await?.queues > 0 {
                    crawls.push((name, id));
                }
            }
            rest = rows.rest;
        }
        let more = crawls.len() > size;
        crawls.truncate(size);
        let mut page = CrawlPage::default();
        for (name, id) in crawls {
            let stats = self.crawl_stats(&tx, id).await?;
            let blocked_queues = count_rows(&tx, self.blocked(&tx, id)).await?;
            page.crawls.push(CrawlFigures { name, stats, blocked_queues });
        }
        page.next = page.crawls.last().filter(|_| more).map(|last| last.name.clone());
        Ok(page)
    }

    /// The rows of queues that are blocked now.
    fn blocked(&self, tx: &Tx, crawl: u64) -> KeyRange {
        // A block ends with its second, as `Queue::when` has it.
        let now_s = u64::try_from(self.now(tx).div_euclid(1000)).unwrap_or_default();
        BLOCKS.range_from((crawl,), (crawl, now_s + 1))
    }

    /// Keys of queues, by key, after so many of those that are meant.
    pub async fn list_queues(
        &self,
        crawl: &str,
        start: usize,
        size: usize,
        inactive: bool,
    ) -> Result<Vec<String>> {
        let tx = self.look().await?;
        let Some(id) = CRAWLS.get(&tx, (crawl,)).await? else { return Ok(Vec::new()) };
        let now = self.now(&tx);
        let is_meant = |row: &Queue| {
            row.id != 0 && (inactive || (row.first.is_some() && millis(row.blocked_until_s) <= now))
        };
        let (mut rest, mut skip, mut keys) = (Some(QUEUES.range((id,))), start, Vec::new());
        while let Some(range) = rest.filter(|_| keys.len() < size) {
            let page = QUEUES.scan(&tx, &range, PAGE, Order::Forward).await?;
            for ((_, key), _) in page.rows.into_iter().filter(|(_, row)| is_meant(row)) {
                match skip {
                    0 if keys.len() < size => keys.push(key),
                    0 => break,
                    _ => skip -= 1,
                }
            }
            rest = page.rest;
            tokio::task::yield_now().await;
        }
        Ok(keys)
    }

    /// Queues whose key begins so, with their figures, by key, behind this one.
    pub async fn queue_page(
        &self,
        crawl: &str,
        prefix: &str,
        behind: Option<&str>,
        size: usize,
    ) -> Result<QueuePage> {
        let tx = self.look().await?;
        let Some(id) = CRAWLS.get(&tx, (crawl,)).await? else { return Ok(QueuePage::default()) };
        let mut range = QUEUES.range_from((id,), (id, prefix));
        if let Some(behind) = behind.filter(|behind| *behind >= prefix) {
            range.from = QUEUES.key((id, behind));
            range.from.push(0);
        }
        let page = QUEUES.scan(&tx, &range, size.saturating_add(1), Order::Forward).await?;
        let mut rows: Vec<(String, Queue)> =
            page.rows.into_iter().map(|((_, key), row)| (key, row)).collect();
        // Keys that begin alike stand together.
        rows.retain(|(key, _)| key.starts_with(prefix));
        let more = rows.len() > size;
        rows.truncate(size);
        let next = rows.last().filter(|_| more).map(|(key, _)| key.clone());
        Ok(QueuePage { queues: self.queue_figures(&tx, id, rows).await?, next })
    }

    /// Queues that are blocked now, by when that ends, behind this moment and key.
    pub async fn blocked_page(
        &self,
        crawl: &str,
        behind: Option<(u64, &str)>,
        size: usize,
    ) -> Result<(Vec<QueueFigures>, Option<(u64, String)>)> {
        let tx = self.look().await?;
        let Some(id) = CRAWLS.get(&tx, (crawl,)).await? else { return Ok((Vec::new(), None)) };
        let mut range = self.blocked(&tx, id);
        if let Some((until, key)) = behind {
            let mut from = BLOCKS.key((id, until, key));
            from.push(0);
            range.from = range.from.max(from);
        }
        if range.is_empty() {
            return Ok((Vec::new(), None));
        }
        let page = BLOCKS.scan(&tx, &range, size.saturating_add(1), Order::Forward).await?;
        let mut places: Vec<(u64, String)> =
            page.rows.into_iter().map(|((_, until, key), ())| (until, key)).collect();
        let more = places.len() > size;
        places.truncate(size);
        let next = places.last().filter(|_| more).cloned();
        let keys: Vec<String> = places.into_iter().map(|(_, key)| key).collect();
        let rows = QUEUES.multi_get(&tx, keys.iter().map(|key| (id, key.as_str()))).await?;
        let rows = keys.into_iter().zip(rows).filter_map(|(key, row)| Some((key, row?))).collect();
        Ok((self.queue_figures(&tx, id, rows).await?, next))
    }

    async fn queue_figures(
        &self,
        tx: &Tx,
        crawl: u64,
        rows: Vec<(String, Queue)>,
    ) -> Result<Vec<QueueFigures>> {
        let settings = self.settings(tx).await?;
        let now = self.now(tx);
        let mut queues = Vec::with_capacity(rows.len());
        for (key, row) in rows {
            let (mut counts, mut in_process) = (Counts::default(), 0);
            if row.id != 0 {
                counts = sum(tx, &COUNTS, row.id).await?;
                let leases = LEASES.range_from((crawl, row.id), (crawl, row.id, now.saturating_add(1)));
                in_process = tx.scan(&leases, IN_PROCESS_MAX, Order::Forward).await?.items.len() as u64;
            }
            queues.push(QueueFigures {
                key,
                active: natural(counts.active),
                in_process,
                completed: natural(counts.completed),
                blocked_until_s: Some(row.blocked_until_s).filter(|second| millis(*second) > now),
                delay_s: row.delay_s.unwrap_or(settings.delay_s),
                limit: row.limit,
                next: row.when(&settings),
            });
        }
        Ok(queues)
    }

    pub async fn status(&self, crawl: &str, key: &str, url: &str) -> Result<Option<Listed>> {
        let tx = self.look().await?;
        let Some(id) = CRAWLS.get(&tx, (crawl,)).await? else { return Ok(None) };
        let Some(row) = self.queue(&tx, id, key).await? else { return Ok(None) };
        let stored = tx.get(&URLS.key((row.id, url))).await?;
        stored.map(|stored| listed(key, url.to_owned(), &stored)).transpose()
    }

    /// How many URLs are meant; without a part, by the counters.
    pub async fn count(&self, filter: &Filter) -> Result<u64> {
        if filter.part.is_empty() {
            let stats = self.stats(&filter.crawl, filter.key.as_deref()).await?;
            return Ok(stats.active + stats.completed);
        }
        let mut list = self.list(filter.clone()).await?;
        let mut count = 0;
        while let Some(urls) = list.next().await? {
            count += urls.len() as u64;
            tokio::task::yield_now().await;
        }
        Ok(count)
    }

    /// The URLs that are meant, by key and URL, on one snapshot.
    pub async fn list(&self, filter: Filter) -> Result<List> {
        let tx = self.look().await?;
        let crawl = CRAWLS.get(&tx, (&filter.crawl,)).await?;
        let mut list = List { tx, filter, queues: None, queue: None };
        if let Some(crawl) = crawl {
            match list.filter.key.clone() {
                None => list.queues = Some(QUEUES.range((crawl,))),
                Some(key) => {
                    let row = self.queue(&list.tx, crawl, &key).await?;
                    list.queue = row.map(|row| (key, URLS.range((row.id,))));
                }
            }
        }
        Ok(list)
    }
}

fn listed(key: &str, url: String, stored: &store::Bytes) -> Result<Listed> {
    let (state, metadata) = State::read(stored)?;
    let (created_s, date_s) = (state.created_s, state.date_s);
    Ok(Listed { key: key.to_owned(), url, metadata: metadata.to_vec(), created_s, date_s })
}

/// A walk over the URLs of a crawl.
#[derive(Debug)]
pub struct List {
    tx: Tx,
    filter: Filter,
    /// The queues that are still to come.
    queues: Option<KeyRange>,
    /// The one under way, and what is left of it.
    queue: Option<(String, KeyRange)>,
}

impl List {
    /// Some more of them; they may be none, until there is no more.
    pub async fn next(&mut self) -> Result<Option<Vec<Listed>>> {
        let Some((key, range)) = self.queue.take() else {
            let Some(range) = self.queues.take() else { return Ok(None) };
            let page = QUEUES.scan(&self.tx, &range, 1, Order::Forward).await?;
            self.queues = page.rest;
            let next = page.rows.into_iter().find(|(_, row)| row.id != 0);
            self.queue = next.map(|((_, key), row)| (key, URLS.range((row.id,))));
            return Ok(Some(Vec::new()));
        };
        let page = self.tx.scan(&range, PAGE, Order::Forward).await?;
        let mut urls = Vec::new();
        for (stored_key, stored) in &page.items {
            let (_, url) = URLS.key_from(stored_key)?;
            if self.filter.holds(&url) {
                urls.push(listed(&key, url, stored)?);
            }
        }
        self.queue = page.rest.map(|rest| (key, rest));
        Ok(Some(urls))
    }
}
