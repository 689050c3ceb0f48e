//! Figures and lists (G7): counters as the transactions keep them, lists by key on one snapshot.

use std::collections::HashSet;

use store::table::KeyRange;
use store::{Order, Result, Tx};

use crate::UrlFrontier;
use crate::tables::{
    COUNTS, CRAWL_COUNTS, CRAWLS, Counts, LEASES, QUEUES, Queue, REMOVED, State, URLS, millis, sum,
};

const PAGE: usize = 1000;

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
}

/// A queue, with its figures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueFigures {
    pub key: String,
    pub active: u64,
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
        }
        Ok(count)
    }

    /// The crawls that have queues, by name.
    pub async fn crawls(&self) -> Result<Vec<String>> {
        let tx = self.look().await?;
        Ok(self.all_crawls(&tx).await?.into_iter().map(|(name, _)| name).collect())
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

    /// The crawls that have queues, with their figures.
    pub async fn figures(&self) -> Result<Vec<CrawlFigures>> {
        let tx = self.look().await?;
        let mut all = Vec::new();
        for (name, id) in self.all_crawls(&tx).await? {
            all.push(CrawlFigures { name, stats: self.crawl_stats(&tx, id).await? });
        }
        Ok(all)
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
        }
        Ok(keys)
    }

    /// Queues with their figures, by key, behind this one.
    pub async fn queue_page(&self, crawl: &str, behind: Option<&str>, size: usize) -> Result<QueuePage> {
        let tx = self.look().await?;
        let Some(id) = CRAWLS.get(&tx, (crawl,)).await? else { return Ok(QueuePage::default()) };
        let settings = self.settings(&tx).await?;
        let now = self.now(&tx);
        let mut range = QUEUES.range((id,));
        if let Some(behind) = behind {
            range.from = QUEUES.key((id, behind));
            range.from.push(0);
        }
        let page = QUEUES.scan(&tx, &range, size, Order::Forward).await?;
        let last = page.rows.last().map(|((_, key), _)| key.clone());
        let mut queues = Vec::with_capacity(page.rows.len());
        for ((_, key), row) in page.rows {
            let Counts { active, completed } = match row.id {
                0 => Counts::default(),
                id => sum(&tx, &COUNTS, id).await?,
            };
            queues.push(QueueFigures {
                key,
                active: natural(active),
                completed: natural(completed),
                blocked_until_s: Some(row.blocked_until_s).filter(|second| millis(*second) > now),
                delay_s: row.delay_s.unwrap_or(settings.delay_s),
                limit: row.limit,
                next: row.when(&settings),
            });
        }
        Ok(QueuePage { queues, next: page.rest.and(last) })
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
