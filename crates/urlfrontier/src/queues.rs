//! Queues and crawls: when they give, what is said of them, and their end (G5, G6, G8).

use store::{Order, Result, Tx};

use crate::UrlFrontier;
use crate::tables::{
    BLOCKS, COUNTS, CRAWL_COUNTS, CRAWLS, Counts, CrawlCounts, LEASES, ONLY, PLACES, QUEUES, Queue, READY,
    REMOVED, SETTINGS, STRIPES, Settings, State, URLS, WHOLE_CRAWL, add, millis, sum,
};

/// Rows that are looked at in one transaction of a purge.
const PURGE_ROWS: usize = 1000;
const DAY_S: u64 = 24 * 60 * 60;

/// What is needed to put a queue where it belongs.
pub(crate) struct Sight<'a> {
    pub(crate) crawl: u64,
    pub(crate) key: &'a str,
    pub(crate) settings: &'a Settings,
}

/// Where a queue is to stand among those that are ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Settled {
    /// When its first URL is due and it may give.
    AsDue,
    /// Not before this moment: it could give nothing just now.
    After(i64),
    /// Nowhere, until something is put into it or said of it.
    Nowhere,
}

impl Queue {
    /// The moment from which it may give something, if it has anything.
    pub(crate) fn when(&self, settings: &Settings) -> Option<i64> {
        let delay = millis(u64::from(self.delay_s.unwrap_or(settings.delay_s)));
        let rested = self.got.map_or(i64::MIN, |got| got.saturating_add(delay));
        Some(self.first?.max(rested).max(millis(self.blocked_until_s)))
    }

    /// Takes it off the list of those that are blocked.
    pub(crate) fn unblock(&self, tx: &Tx, crawl: u64, key: &str) -> Result<()> {
        match self.blocked_until_s {
            0 => Ok(()),
            until => BLOCKS.delete(tx, (crawl, until, key)),
        }
    }
}

impl UrlFrontier {
    pub(crate) async fn settings(&self, tx: &Tx) -> Result<Settings> {
        Ok(SETTINGS.get(tx, ONLY).await?.unwrap_or_default())
    }

    /// Nobody adds to this queue between this snapshot and the commit.
    pub(crate) fn lock_gates(&self, tx: &Tx, queue: u64) -> Result<()> {
        if self.alone {
            return COUNTS.lock_unread(tx, (queue, self.stripe));
        }
        (0..STRIPES).try_for_each(|stripe| COUNTS.lock_unread(tx, (queue, stripe)))
    }

    /// The first moment of what is in a queue now, by its rows. Nothing lies before what was first.
    pub(crate) async fn first_moment(&self, tx: &Tx, crawl: u64, row: &Queue) -> Result<Option<i64>> {
        let from = row.first.unwrap_or(i64::MIN);
        let place = PLACES.first(tx, &PLACES.range_from((row.id,), (row.id, from))).await?;
        let lease = LEASES.first(tx, &LEASES.range_from((crawl, row.id), (crawl, row.id, from))).await?;
        let moments = [place.map(|((_, due, _), ())| due), lease.map(|((.., until, _), ())| until)];
        Ok(moments.into_iter().flatten().min())
    }

    /// Writes the queue, at its place among those that are ready, if anything of it is new.
    pub(crate) fn settle(
        &self,
        tx: &Tx,
        sight: &Sight<'_>,
        was: &Queue,
        mut row: Queue,
        settled: Settled,
    ) -> Result<Option<i64>> {
        let when = row.when(sight.settings);
        row.ready = match settled {
            Settled::AsDue => when,
            Settled::After(moment) => when.map(|when| when.max(moment)),
            Settled::Nowhere => None,
        };
        if row == *was {
            return Ok(row.ready);
        }
        if row.ready != was.ready {
            if let Some(ready) = was.ready {
                READY.delete(tx, (sight.crawl, ready, sight.key))?;
            }
            if let Some(ready) = row.ready {
                READY.put(tx, (sight.crawl, ready, sight.key), &())?;
                self.lower_head(sight.crawl, ready);
            }
        }
        if row.blocked_until_s != was.blocked_until_s {
            was.unblock(tx, sight.crawl, sight.key)?;
            if row.blocked_until_s > 0 {
                BLOCKS.put(tx, (sight.crawl, row.blocked_until_s, sight.key), &())?;
            }
        }
        QUEUES.put(tx, (sight.crawl, sight.key), &row)?;
        Ok(row.ready)
    }

    /// Changes what is said of a queue, known or not.
    async fn say(&self, crawl: &str, key: &str, change: impl Fn(&mut Queue) + Copy + Send) -> Result<()> {
        let _turn = self.turn.lock().await;
        self.store
            .transact_idempotent(|tx| async move {
                let crawl = self.crawl_or_new(&tx, crawl).await?;
                let settings = self.settings(&tx).await?;
                let was = QUEUES.lock(&tx, (crawl, key)).await?.unwrap_or_default();
                CRAWL_COUNTS.lock_unread(&tx, (crawl, self.stripe))?;
                let mut row = was.clone();
                change(&mut row);
                let sight = Sight { crawl, key, settings: &settings };
                self.settle(&tx, &sight, &was, row, Settled::AsDue).map(|_| ())
            })
            .await
    }

    /// The queue gives nothing before this second; 0 ends that.
    pub async fn block_until(&self, crawl: &str, key: &str, second: u64) -> Result<()> {
        self.say(crawl, key, move |queue| queue.blocked_until_s = second).await
    }

    /// The queue rests so long after URLs were taken from it; without a key, all that have no delay
    /// of their own (from when they are next looked at, if it is a shorter one).
    pub async fn set_delay(&self, crawl: &str, key: &str, seconds: u32) -> Result<()> {
        if key.is_empty() {
            return self.change_settings(move |settings| settings.delay_s = seconds).await;
        }
        self.say(crawl, key, move |queue| queue.delay_s = Some(seconds)).await
    }

    /// The queue gives nothing once so many of its URLs are completed; 0: no limit.
    pub async fn set_limit(&self, crawl: &str, key: &str, limit: u32) -> Result<()> {
        self.say(crawl, key, move |queue| queue.limit = limit).await
    }

    pub async fn set_active(&self, active: bool) -> Result<()> {
        self.change_settings(move |settings| settings.active = active).await
    }

    pub async fn is_active(&self) -> Result<bool> {
        Ok(self.settings(&self.look().await?).await?.active)
    }

    /// The delay, in seconds, of queues that have none of their own.
    pub async fn usual_delay_s(&self) -> Result<u32> {
        Ok(self.settings(&self.look().await?).await?.delay_s)
    }

    async fn change_settings(&self, change: impl Fn(&mut Settings) + Copy + Send) -> Result<()> {
        let _turn = self.turn.lock().await;
        self.store
            .transact_idempotent(|tx| async move {
                let mut settings = self.settings(&tx).await?;
                change(&mut settings);
                SETTINGS.put(&tx, ONLY, &settings)
            })
            .await
    }

    /// Deletes a queue and all that is said of it; how many URLs it had.
    pub async fn delete_queue(&self, crawl: &str, key: &str) -> Result<u64> {
        let _turn = self.turn.lock().await;
        self.store
            .transact(|tx| async move {
                let Some(crawl) = CRAWLS.get(&tx, (crawl,)).await? else { return Ok(0) };
                let Some(row) = QUEUES.lock(&tx, (crawl, key)).await? else { return Ok(0) };
                QUEUES.delete(&tx, (crawl, key))?;
                if let Some(ready) = row.ready {
                    READY.delete(&tx, (crawl, ready, key))?;
                }
                row.unblock(&tx, crawl, key)?;
                if row.id == 0 {
                    return Ok(0);
                }
                let had = sum(&tx, &COUNTS, row.id).await?;
                (0..STRIPES).try_for_each(|stripe| COUNTS.delete(&tx, (row.id, stripe)))?;
                let gone = CrawlCounts {
                    queues: -1,
                    active_queues: -i64::from(row.first.is_some()),
                    urls: Counts { active: -had.active, completed: -had.completed },
                };
                add(&tx, &CRAWL_COUNTS, (crawl, self.stripe), &gone).await?;
                REMOVED.put(&tx, (crawl, row.id), &())?;
                Ok((had.active + had.completed).unsigned_abs())
            })
            .await
    }

    /// Deletes a crawl with all its queues; how many URLs it had.
    pub async fn delete_crawl(&self, crawl: &str) -> Result<u64> {
        let _turn = self.turn.lock().await;
        self.store
            .transact(|tx| async move {
                let Some(id) = CRAWLS.lock(&tx, (crawl,)).await? else { return Ok(0) };
                let had = sum(&tx, &CRAWL_COUNTS, id).await?;
                CRAWLS.delete(&tx, (crawl,))?;
                (0..STRIPES).try_for_each(|stripe| CRAWL_COUNTS.delete(&tx, (id, stripe)))?;
                REMOVED.put(&tx, (id, WHOLE_CRAWL), &())?;
                Ok((had.urls.active + had.urls.completed).unsigned_abs())
            })
            .await
    }

    /// Deletes the URLs of a crawl, or of one of its queues, that were first put more than so many
    /// days ago; how many.
    pub async fn purge(&self, crawl: &str, key: Option<&str>, days: u32) -> Result<u64> {
        let tx = self.look().await?;
        let Some(id) = CRAWLS.get(&tx, (crawl,)).await? else { return Ok(0) };
        let now_s = u64::try_from(self.now(&tx) / 1000).unwrap_or_default();
        let before_s = now_s.saturating_sub(u64::from(days) * DAY_S);
        if let Some(key) = key {
            let row = QUEUES.get(&tx, (id, key)).await?.unwrap_or_default();
            return self.purge_queue(id, key, row.id, before_s).await;
        }
        let mut purged = 0;
        let mut rest = Some(QUEUES.range((id,)));
        while let Some(range) = rest {
            let page = QUEUES.scan(&tx, &range, PURGE_ROWS, Order::Forward).await?;
            for ((_, key), row) in page.rows {
                purged += self.purge_queue(id, &key, row.id, before_s).await?;
            }
            rest = page.rest;
        }
        Ok(purged)
    }

    async fn purge_queue(&self, crawl: u64, key: &str, queue: u64, before_s: u64) -> Result<u64> {
        let mut purged = 0;
        let mut rest = Some(URLS.range((queue,)));
        while let Some(range) = rest {
            let _turn = self.turn.lock().await;
            let (gone, left) = self
                .store
                .transact(|tx| {
                    let range = range.clone();
                    async move { self.purge_page(&tx, crawl, key, queue, before_s, &range).await }
                })
                .await?;
            purged += gone;
            rest = left;
            tokio::task::yield_now().await;
        }
        Ok(purged)
    }

    async fn purge_page(
        &self,
        tx: &Tx,
        crawl: u64,
        key: &str,
        queue: u64,
        before_s: u64,
        range: &store::table::KeyRange,
    ) -> Result<(u64, Option<store::table::KeyRange>)> {
        let was = QUEUES.lock(tx, (crawl, key)).await?.unwrap_or_default();
        if queue == 0 || was.id != queue {
            return Ok((0, None));
        }
        let page = tx.scan(range, PURGE_ROWS, Order::Forward).await?;
        let mut gone = Counts::default();
        for (stored_key, stored) in &page.items {
            let (state, _) = State::read(stored)?;
            if state.created_s >= before_s {
                continue;
            }
            let (_, url) = URLS.key_from(stored_key)?;
            match state {
                State { until: 1.., .. } => LEASES.delete(tx, (crawl, queue, state.until, &url))?,
                state if state.is_completed() => {}
                state => PLACES.delete(tx, (queue, state.due(), &url))?,
            }
            *(if state.is_completed() { &mut gone.completed } else { &mut gone.active }) -= 1;
            tx.delete(stored_key.clone())?;
        }
        let mut row = was.clone();
        self.lock_gates(tx, queue)?;
        row.first = self.first_moment(tx, crawl, &row).await?;
        add(tx, &COUNTS, (queue, self.stripe), &gone).await?;
        let active_queues = i64::from(row.first.is_some()) - i64::from(was.first.is_some());
        let counts = CrawlCounts { queues: 0, active_queues, urls: gone };
        add(tx, &CRAWL_COUNTS, (crawl, self.stripe), &counts).await?;
        let settings = self.settings(tx).await?;
        let sight = Sight { crawl, key, settings: &settings };
        self.settle(tx, &sight, &was, row, Settled::AsDue)?;
        Ok(((gone.active + gone.completed).unsigned_abs(), page.rest))
    }
}
