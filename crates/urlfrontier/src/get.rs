//! URLs that go out, under a lease (G5, G6).
//!
//! A crawl's queues that may give stand in the order of when they might; whoever gave goes behind
//! the others, so they take turns. A lease that ran out needs no hand: its URL is found among the
//! leases of its queue, and takes its place by when it was due.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use foldhash::fast::RandomState;
use store::table::KeyRange;
use store::{Durability, Error, Order, Result, Tx};

use crate::UrlFrontier;
use crate::neighbours::{Meeting, is_host};
use crate::queues::{Settled, Sight};
use crate::tables::{
    COUNTS, CRAWL_COUNTS, CRAWLS, LEASES, PLACES, QUEUES, Queue, READY, Settings, State, URLS, millis, sum,
};

/// What no limit comes to.
pub const URLS_MAX: usize = 10_000;
const QUEUES_MAX: usize = 10_000;
const BYTES_MAX: usize = 16 << 20;
/// URLs whose metadata are read together.
const READ_AT_ONCE: usize = 256;
/// URLs of one transaction, about.
const URLS_PER_COMMIT: usize = 1000;
/// Queues that are looked at beyond those that are asked for.
const LOOKS_EXTRA: usize = 64;
/// The lease of whoever names none.
const LEASE_S: u32 = 30;
/// A queue that gave nothing since it has enough in process is passed over for so long.
const PASSED_OVER_MS: i64 = 1000;
const CRAWLS_MAX: usize = 10_000;

/// What is asked for; 0: no limit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// None: of any.
    pub crawl: Option<String>,
    /// None: of any.
    pub key: Option<String>,
    pub queues_max: u32,
    pub urls_per_queue_max: u32,
    pub lease_s: u32,
}

/// A URL that was handed out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handed {
    pub crawl: Arc<str>,
    pub key: Arc<str>,
    pub url: String,
    pub metadata: Vec<u8>,
}

/// How far a call has come.
struct Call {
    per_queue: usize,
    lease_ms: i64,
    /// Still to be served.
    queues: usize,
    looks: usize,
    urls: usize,
    bytes: usize,
    served: HashSet<(u64, String), RandomState>,
}

/// A crawl, as one call sees it.
#[derive(Clone)]
struct Crawl {
    id: u64,
    name: Arc<str>,
}

/// What one transaction found.
#[derive(Default)]
struct Found {
    handed: Vec<Handed>,
    served: Vec<(u64, String)>,
    looks: usize,
    /// From where on the crawl is to be looked at; none: there is no more of it.
    head: Option<i64>,
    more: bool,
}

fn limit(asked: u32, most: usize) -> usize {
    match asked {
        0 => most,
        asked => most.min(asked as usize),
    }
}

impl Call {
    fn new(wanted: &Wanted) -> Call {
        let queues = limit(wanted.queues_max, QUEUES_MAX);
        let lease_s = if wanted.lease_s == 0 { LEASE_S } else { wanted.lease_s };
        Call {
            per_queue: limit(wanted.urls_per_queue_max, URLS_MAX),
            lease_ms: millis(u64::from(lease_s)),
            queues,
            looks: queues + LOOKS_EXTRA,
            urls: URLS_MAX,
            bytes: BYTES_MAX,
            served: HashSet::default(),
        }
    }

    fn is_over(&self) -> bool {
        self.queues == 0 || self.looks == 0 || self.urls == 0 || self.bytes == 0
    }

    fn take(&mut self, found: Found, all: &mut Vec<Handed>) {
        self.queues = self.queues.saturating_sub(found.served.len());
        self.looks = self.looks.saturating_sub(found.looks);
        self.urls = self.urls.saturating_sub(found.handed.len());
        let bytes: usize = found.handed.iter().map(|one| one.url.len() + one.metadata.len() + 64).sum();
        self.bytes = self.bytes.saturating_sub(bytes);
        self.served.extend(found.served);
        all.extend(found.handed);
    }
}

impl UrlFrontier {
    /// Hands out what is due, each URL under a lease that no kill takes back when this returns. It
    /// does not wait for the disk: a power cut may forget the leases of a tenth of a second, whose
    /// URLs are then due as they were.
    pub async fn get(&self, wanted: &Wanted) -> Result<Vec<Handed>> {
        let mut all = Vec::new();
        let tx = self.look().await?;
        if !self.settings(&tx).await?.active {
            return Ok(all);
        }
        let crawls = self.wanted_crawls(&tx, wanted.crawl.as_deref()).await?;
        drop(tx);
        let mut call = Call::new(wanted);
        for crawl in crawls {
            loop {
                if call.is_over() {
                    return Ok(all);
                }
                let found = self.serve(&crawl, &call, wanted.key.as_deref()).await?;
                let more = found.more && found.looks > 0;
                if !found.handed.is_empty() {
                    self.figures.handed(&crawl.name, found.handed.len() as u64);
                }
                call.take(found, &mut all);
                if !more {
                    break;
                }
            }
        }
        Ok(all)
    }

    /// The crawl that is named; of all crawls, one after the other is the first.
    async fn wanted_crawls(&self, tx: &Tx, named: Option<&str>) -> Result<Vec<Crawl>> {
        if let Some(name) = named {
            let id = CRAWLS.get(tx, (name,)).await?;
            return Ok(id.map(|id| Crawl { id, name: name.into() }).into_iter().collect());
        }
        let page = CRAWLS.scan(tx, &CRAWLS.range(()), CRAWLS_MAX, Order::Forward).await?;
        let mut all: Vec<Crawl> =
            page.rows.into_iter().map(|((name,), id)| Crawl { id, name: name.into() }).collect();
        if !all.is_empty() {
            let first = self.next_crawl.fetch_add(1, Relaxed) % all.len();
            all.rotate_left(first);
        }
        Ok(all)
    }

    /// One transaction of a call.
    async fn serve(&self, crawl: &Crawl, call: &Call, key: Option<&str>) -> Result<Found> {
        let _turn = self.turn.lock().await;
        let head = self.head(crawl.id);
        if key.is_none() {
            // Nothing is known of it until this is committed.
            self.heads.lock().remove(&crawl.id);
        }
        let meeting = self.neighbours.as_ref().and_then(|neighbours| neighbours.meet());
        let meeting = meeting.as_deref();
        let served = self
            .store
            .transact_idempotent(|tx| async move {
                tx.set_durability(Durability::Relaxed);
                let now = self.now(&tx);
                // It may have been deleted, or deactivated, since it was looked up.
                let is_there = CRAWLS.get(&tx, (&crawl.name,)).await? == Some(crawl.id);
                let settings = self.settings(&tx).await?;
                if !is_there || !settings.active {
                    return Ok(Found::default());
                }
                let round = Round { frontier: self, tx: &tx, now, crawl, call, settings: &settings, meeting };
                match key {
                    Some(key) => round.one(key).await,
                    None => round.all(head).await,
                }
            })
            .await?;
        if let Some(head) = served.head {
            self.heads.lock().insert(crawl.id, head);
        }
        Ok(served)
    }
}

/// One transaction of a call, on one crawl.
struct Round<'a> {
    frontier: &'a UrlFrontier,
    tx: &'a Tx,
    now: i64,
    crawl: &'a Crawl,
    call: &'a Call,
    settings: &'a Settings,
    meeting: Option<&'a dyn Meeting>,
}

impl Round<'_> {
    /// Only this queue.
    async fn one(&self, key: &str) -> Result<Found> {
        let mut found = Found { looks: 1, ..Found::default() };
        if let Some(row) = QUEUES.lock(self.tx, (self.crawl.id, key)).await? {
            self.visit(key, row, &mut found).await?;
        }
        Ok(found)
    }

    /// The queues that are ready, from this moment on.
    async fn all(&self, head: i64) -> Result<Found> {
        let crawl = self.crawl.id;
        let mut found = Found::default();
        let end = self.now.saturating_add(1);
        let range = READY.range_from((crawl,), (crawl, head));
        let range = KeyRange { to: READY.range_before((crawl,), (crawl, end)).to, ..range };
        if range.is_empty() {
            return Ok(Found { head: Some(head), ..found });
        }
        // Nearly always the first are the ones. Where others serve the same crawl, it is some of the
        // first that are drawn: so nodes are rarely at the same queue, and none waits for ever.
        let mut limit = self.call.queues.saturating_add(if self.frontier.alone { 1 } else { LOOKS_EXTRA });
        let (mut rest, mut lowest) = (Some(range), end);
        let mut seen: HashSet<String, RandomState> = HashSet::default();
        while let Some(range) = rest.take() {
            let looks = self.call.looks - found.looks;
            let page = READY.scan(self.tx, &range, limit.clamp(1, URLS_PER_COMMIT), Order::Forward).await?;
            let mut ready: Vec<(i64, String)> =
                page.rows.into_iter().map(|((_, ready, key), ())| (ready, key)).collect();
            let last = ready.last().map(|(last, _)| *last);
            if !self.frontier.alone && !ready.is_empty() {
                let wanted = self.call.queues.clamp(1, ready.len());
                let places = (ready.len() / wanted) as u64;
                let place = usize::try_from(self.frontier.draw() % places).unwrap_or_default();
                ready.rotate_left(place * wanted);
            }
            let visits = ready.len().min(looks);
            let rows = ready[..visits].iter().map(|(_, key)| (crawl, key.as_str()));
            let mut queues = QUEUES.multi_get(self.tx, rows).await?.into_iter();
            for (ready, key) in ready {
                let row = queues.next();
                // Whoever was served may be ready again.
                let was_here = seen.contains(&key) || self.call.served.contains(&(crawl, key.clone()));
                let is_full = self.is_full(&found) || row.is_none();
                if is_full || was_here {
                    found.more |= is_full;
                    lowest = lowest.min(ready);
                    continue;
                }
                found.looks += 1;
                let row = row.flatten();
                let row =
                    row.ok_or_else(|| Error::Corrupt(format!("queue {key} is ready, and is not there")))?;
                let stands = self.visit(&key, row, &mut found).await?;
                lowest = lowest.min(stands.unwrap_or(end));
                seen.insert(key);
            }
            rest = page.rest;
            if rest.is_some() && (self.is_full(&found) || found.looks >= self.call.looks) {
                // What is beyond still stands there.
                found.more = true;
                lowest = lowest.min(last.unwrap_or(end));
                break;
            }
            limit = LOOKS_EXTRA;
        }
        found.head = Some(lowest);
        Ok(found)
    }

    /// No more is wanted, or no more goes into this transaction.
    fn is_full(&self, found: &Found) -> bool {
        found.served.len() >= self.call.queues || found.handed.len() >= self.call.urls.min(URLS_PER_COMMIT)
    }

    /// Takes from a queue what it gives, and puts it where it belongs; where it stands then.
    async fn visit(&self, key: &str, was: Queue, found: &mut Found) -> Result<Option<i64>> {
        let sight = Sight { crawl: self.crawl.id, key, settings: self.settings };
        let mut row = was.clone();
        if was.id == 0 || was.when(self.settings).is_none_or(|when| when > self.now) {
            return self.frontier.settle(self.tx, &sight, &was, row, Settled::AsDue);
        }
        CRAWL_COUNTS.lock_unread(self.tx, (self.crawl.id, self.frontier.stripe))?;
        if row.limit > 0 && sum(self.tx, &COUNTS, row.id).await?.completed >= i64::from(row.limit) {
            // Whoever completes less meanwhile must come again.
            self.frontier.lock_gates(self.tx, row.id)?;
            return self.frontier.settle(self.tx, &sight, &was, row, Settled::Nowhere);
        }
        let leases = self.leases(&row).await?;
        if leases.in_process >= self.call.per_queue {
            let later = Settled::After(self.now.saturating_add(PASSED_OVER_MS));
            return self.frontier.settle(self.tx, &sight, &was, row, later);
        }
        let shared = self.meeting.filter(|_| is_host(key));
        if let Some(meeting) = shared
            && let Some(free) = meeting.free_at(self.tx, key).await?
        {
            return self.frontier.settle(self.tx, &sight, &was, row, Settled::After(free));
        }
        let wanted = self.call.per_queue.min(self.call.urls - found.handed.len().min(self.call.urls));
        let held_until = leases.held_until;
        let (taken, left) = self.take(&row, leases.over, wanted, found, key).await?;
        if taken == 0 {
            return self.frontier.settle(self.tx, &sight, &was, row, Settled::AsDue);
        }
        if let Some(meeting) = shared {
            // As if it were asked for one after the other, for as long as they are the client's.
            let delay = millis(u64::from(row.delay_s.unwrap_or(self.settings.delay_s)));
            let busy = delay.saturating_mul(i64::try_from(taken).unwrap_or(i64::MAX)).min(self.call.lease_ms);
            meeting.book(self.tx, key, self.now.saturating_add(busy)).await?;
        }
        row.got = Some(self.now);
        self.frontier.lock_gates(self.tx, row.id)?;
        row.first = match (left, held_until) {
            (Some(place), Some(until)) => {
                let leased = self.now.saturating_add(self.call.lease_ms);
                [place, until, Some(leased)].into_iter().flatten().min()
            }
            _ => self.frontier.first_moment(self.tx, self.crawl.id, &row).await?,
        };
        found.served.push((self.crawl.id, key.to_owned()));
        self.frontier.settle(self.tx, &sight, &was, row, Settled::AsDue)
    }

    /// What is under a lease, and what was.
    async fn leases(&self, row: &Queue) -> Result<Leases> {
        let crawl = self.crawl.id;
        let first = row.first.unwrap_or(i64::MIN);
        let most = self.call.per_queue.saturating_mul(2);
        let range = LEASES.range_from((crawl, row.id), (crawl, row.id, first));
        let page = LEASES.scan(self.tx, &range, most, Order::Forward).await?;
        let full = page.rest.is_some();
        let mut leases = Leases { over: Vec::new(), in_process: 0, held_until: None };
        let mut held_until = None;
        for ((.., until, url), ()) in page.rows {
            if until <= self.now {
                leases.over.push((until, url));
            } else {
                leases.in_process += 1;
                held_until = held_until.or(Some(until));
            }
        }
        leases.held_until = (!full).then_some(held_until);
        if full && leases.in_process < self.call.per_queue {
            let end = self.now.saturating_add(1);
            let range = LEASES.range_from((crawl, row.id), (crawl, row.id, end));
            leases.in_process = self.tx.scan(&range, self.call.per_queue, Order::Forward).await?.items.len();
        }
        Ok(leases)
    }

    /// Leases the oldest of what waits and of what was leased too long: how many, and when the first
    /// of what waits still is due, where that is seen.
    async fn take(
        &self,
        row: &Queue,
        over: Vec<(i64, String)>,
        wanted: usize,
        found: &mut Found,
        key: &str,
    ) -> Result<(usize, Option<Option<i64>>)> {
        let (id, first) = (row.id, row.first.unwrap_or(i64::MIN));
        let range = PLACES.range_from((id,), (id, first));
        // One more than is taken: it is what is first then.
        let waiting = PLACES.scan(self.tx, &range, wanted.saturating_add(1), Order::Forward).await?.rows;
        let mut urls: Vec<String> = over.into_iter().map(|(_, url)| url).collect();
        let none_over = urls.is_empty();
        let due = waiting.iter().take(wanted).take_while(|((_, due, _), ())| *due <= self.now).count();
        let left = waiting.get(due).map(|((_, due, _), ())| *due);
        urls.extend(waiting.into_iter().take(due).map(|((_, _, url), ())| url));
        let offered = urls.len();
        let (mut due, mut bytes) = (Vec::with_capacity(urls.len()), 0);
        let mut urls = urls.into_iter();
        while bytes < BYTES_MAX && urls.len() > 0 {
            let some: Vec<String> = urls.by_ref().take(READ_AT_ONCE).collect();
            let keys: Vec<Vec<u8>> = some.iter().map(|url| URLS.key((id, url))).collect();
            let stored = self.tx.multi_get(&keys).await?;
            for ((url, key), stored) in some.into_iter().zip(keys).zip(stored) {
                let stored =
                    stored.ok_or_else(|| Error::Corrupt(format!("{url} waits, and is not there")))?;
                bytes += stored.len();
                due.push((State::read(&stored)?.0, url, key, stored));
            }
        }
        if !none_over {
            due.sort_by(|(a, x, ..), (b, y, ..)| (a.due(), x).cmp(&(b.due(), y)));
            due.truncate(wanted);
        }
        let until = self.now.saturating_add(self.call.lease_ms);
        let (crawl, name): (_, Arc<str>) = (self.crawl.id, key.into());
        let mut taken = 0;
        for (state, url, stored_key, stored) in due {
            // What has no room in this transaction waits for the next call.
            if self.tx.room() < self.tx.capacity() / 4 {
                break;
            }
            taken += 1;
            let (_, metadata) = State::read(&stored)?;
            match state.until {
                0 => PLACES.delete(self.tx, (id, state.due(), &url))?,
                until => LEASES.delete(self.tx, (crawl, id, until, &url))?,
            }
            LEASES.put(self.tx, (crawl, id, until, &url), &())?;
            let leased = State { until, ..state }.with(metadata)?;
            self.tx.put(stored_key, URLS.stored_raw(&leased))?;
            let metadata = metadata.to_vec();
            found.handed.push(Handed {
                crawl: Arc::clone(&self.crawl.name),
                key: Arc::clone(&name),
                url,
                metadata,
            });
        }
        Ok((taken, (none_over && taken == offered).then_some(left)))
    }
}

struct Leases {
    /// Those that ran out, with when.
    over: Vec<(i64, String)>,
    in_process: usize,
    /// When the first of those that hold ends, where all of them were seen.
    held_until: Option<Option<i64>>,
}
