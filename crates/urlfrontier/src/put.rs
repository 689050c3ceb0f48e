//! Items that come in (G4): many in one transaction, each answered by itself.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;
use store::{Result, Tx};

use crate::UrlFrontier;
use crate::item::{Item, News};
use crate::queues::{Settled, Sight};
use crate::tables::{CRAWLS, Counts, CrawlCounts, LEASES, PLACES, QUEUES, Queue, State, URLS, add};

/// What became of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ack {
    Ok,
    /// It was discovered, and is known: nothing was changed.
    Skipped,
    Fail,
}

/// A queue that items of a batch belong to.
struct Touched<'a> {
    crawl: u64,
    key: &'a str,
    row: Queue,
    /// As it is stored.
    was: Option<Queue>,
    delta: Counts,
    changed: bool,
    /// What was first may be so no more.
    left: bool,
}

impl Touched<'_> {
    /// Something of it is due at this moment.
    fn has(&mut self, moment: i64) {
        self.row.first = Some(self.row.first.map_or(moment, |first| first.min(moment)));
    }
}

type ByName<'a> = HashMap<(&'a str, &'a str), usize, RandomState>;

struct Batch<'a> {
    frontier: &'a UrlFrontier,
    tx: &'a Tx,
    now: i64,
    queues: Vec<Touched<'a>>,
}

impl UrlFrontier {
    /// Takes the items in, all in one commit that is on disk when this returns; one answer for each.
    pub async fn put(&self, items: Arc<Vec<Item>>) -> Result<Vec<Ack>> {
        let turn = self.turn.lock().await;
        // A second run meets what the first one put as known, which is as good.
        let acks = self
            .store
            .transact_idempotent(|tx| {
                let items = Arc::clone(&items);
                async move { self.put_all(&tx, &items).await }
            })
            .await?;
        drop(turn);
        self.count_acks(&items, &acks);
        Ok(acks)
    }

    /// Neighbours are mostly of one crawl.
    fn count_acks(&self, items: &[Item], acks: &[Ack]) {
        let mut acks = acks.iter();
        for run in items.chunk_by(|one, next| one.crawl == next.crawl) {
            let ok = acks.by_ref().take(run.len()).filter(|ack| **ack == Ack::Ok).count() as u64;
            self.figures.put(&run[0].crawl, ok, run.len() as u64 - ok);
        }
    }

    async fn put_all(&self, tx: &Tx, items: &[Item]) -> Result<Vec<Ack>> {
        let mut batch = Batch { frontier: self, tx, now: self.now(tx), queues: Vec::new() };
        let of = batch.find_queues(items).await?;
        let keys: Vec<Vec<u8>> =
            items.iter().zip(&of).map(|(item, &at)| URLS.key((batch.queues[at].row.id, &item.url))).collect();
        let found = tx.multi_get(&keys).await?;
        // Items of one URL see each other.
        let mut fresh: HashMap<&[u8], State, RandomState> = HashMap::default();
        let mut acks = Vec::with_capacity(items.len());
        for (at, item) in items.iter().enumerate() {
            let old = match fresh.get(&*keys[at]) {
                Some(state) => Some(*state),
                None => found[at].as_ref().map(State::read).transpose()?.map(|(state, _)| state),
            };
            let Some(state) = batch.next_state(item, old) else {
                acks.push(Ack::Skipped);
                continue;
            };
            batch.change(of[at], item, old, state)?;
            tx.put(&*keys[at], URLS.stored_raw(&state.with(&item.metadata)?))?;
            fresh.insert(&keys[at], state);
            acks.push(Ack::Ok);
        }
        batch.close().await?;
        Ok(acks)
    }
}

impl<'a> Batch<'a> {
    /// The queue of each item; those that are not there come into being.
    async fn find_queues(&mut self, items: &'a [Item]) -> Result<Vec<usize>> {
        let mut crawls: HashMap<&str, u64, RandomState> = HashMap::default();
        let mut names = ByName::default();
        let mut of = Vec::with_capacity(items.len());
        for item in items {
            if let Some(&at) = names.get(&(item.crawl.as_str(), item.key.as_str())) {
                of.push(at);
                continue;
            }
            let crawl = match crawls.get(item.crawl.as_str()) {
                Some(id) => *id,
                None => {
                    let id = self.frontier.crawl_or_new(self.tx, &item.crawl).await?;
                    crawls.insert(&item.crawl, id);
                    id
                }
            };
            names.insert((&item.crawl, &item.key), self.queues.len());
            of.push(self.queues.len());
            let fresh = Queue::default();
            self.queues.push(Touched {
                crawl,
                key: &item.key,
                row: fresh,
                was: None,
                delta: Counts::default(),
                changed: false,
                left: false,
            });
        }
        let rows = QUEUES.multi_get(self.tx, self.queues.iter().map(|one| (one.crawl, one.key))).await?;
        for (one, was) in self.queues.iter_mut().zip(rows) {
            one.row = was.clone().unwrap_or_default();
            one.was = was;
            if one.row.id == 0 {
                one.row.id = self.frontier.draw();
            }
        }
        Ok(of)
    }

    /// What is known of the URL from now on; none: the same as before.
    fn next_state(&self, item: &Item, old: Option<State>) -> Option<State> {
        let now = u64::try_from(self.now).unwrap_or_default();
        let created_s = old.map_or(now / 1000, |old| old.created_s);
        match (item.news, old) {
            (News::Discovered, Some(_)) => None,
            (News::Discovered, None) =>
            {
                #[allow(clippy::cast_possible_truncation, reason = "below 1000")]
                Some(State { created_s, date_s: now / 1000, date_ms: (now % 1000) as u16, until: 0 })
            }
            (News::Known(date_s), _) => Some(State { created_s, date_s, date_ms: 0, until: 0 }),
        }
    }

    /// Takes the URL from where it was to where it belongs.
    fn change(&mut self, at: usize, item: &Item, old: Option<State>, new: State) -> Result<()> {
        let queue = &mut self.queues[at];
        queue.changed = true;
        let (id, url) = (queue.row.id, item.url.as_str());
        if let Some(old) = old {
            let moment = match old {
                State { until: 1.., .. } => Some(old.until),
                old if old.is_completed() => None,
                old => Some(old.due()),
            };
            match moment {
                Some(until) if old.until > 0 => LEASES.delete(self.tx, (queue.crawl, id, until, url))?,
                Some(due) => PLACES.delete(self.tx, (id, due, url))?,
                None => {}
            }
            queue.left |= moment.is_some() && moment == queue.row.first;
            *(if moment.is_some() { &mut queue.delta.active } else { &mut queue.delta.completed }) -= 1;
        }
        if new.is_completed() {
            queue.delta.completed += 1;
            return Ok(());
        }
        queue.delta.active += 1;
        queue.has(new.due());
        PLACES.put(self.tx, (id, new.due(), url), &())
    }

    /// Counts, and puts the queues where they belong.
    async fn close(self) -> Result<()> {
        if self.queues.iter().all(|queue| !queue.changed) {
            return Ok(());
        }
        let mut crawls: HashMap<u64, CrawlCounts, RandomState> = HashMap::default();
        let settings = self.frontier.settings(self.tx).await?;
        let stripe = self.frontier.stripe;
        for queue in self.queues.into_iter().filter(|queue| queue.changed) {
            let was = queue.was.unwrap_or_default();
            let mut row = queue.row;
            let sight = Sight { crawl: queue.crawl, key: queue.key, settings: &settings };
            if queue.left {
                self.frontier.lock_gates(self.tx, row.id)?;
                row.first = self.frontier.first_moment(self.tx, queue.crawl, &row).await?;
            }
            add(self.tx, &crate::tables::COUNTS, (row.id, stripe), &queue.delta).await?;
            let counts = crawls.entry(queue.crawl).or_default();
            counts.urls.active += queue.delta.active;
            counts.urls.completed += queue.delta.completed;
            counts.queues += i64::from(was.id == 0);
            counts.active_queues += i64::from(row.first.is_some()) - i64::from(was.first.is_some());
            self.frontier.settle(self.tx, &sight, &was, row, Settled::AsDue)?;
        }
        for (crawl, counts) in crawls {
            add(self.tx, &crate::tables::CRAWL_COUNTS, (crawl, stripe), &counts).await?;
        }
        Ok(())
    }
}

impl UrlFrontier {
    /// The number of a crawl, which gets one if it has none.
    pub(crate) async fn crawl_or_new(&self, tx: &Tx, name: &str) -> Result<u64> {
        if let Some(id) = CRAWLS.get(tx, (name,)).await? {
            return Ok(id);
        }
        let id = self.draw();
        CRAWLS.put(tx, (name,), &id)?;
        Ok(id)
    }
}
