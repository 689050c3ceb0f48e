//! Reserving (F5) and evaluating (F9–F16): from the host queue to an order.
//!
//! One transaction takes as many units off the heads of the host queue as there are workers waiting,
//! goes through the due URLs of each until one is to be harvested, and gives it a slot with a
//! lease. URLs that are not to be harvested are dealt with on the way (removed, put back,
//! remembered as done), a bounded number at a time. The lease is a fencing token: whoever
//! commits the harvest must still hold it.
//!
//! A reservation that a power cut forgets was never there, and the URL still is: so it does not
//! wait for the disk.

use std::sync::atomic::Ordering;

use policy::cookies;
use policy::evaluate::{Plan, Verdict, evaluate};
use policy::model::Record;
use policy::schedule::politeness_delay;
use policy::standing::Subject;
use policy::time::{Span, Time};
use policy::url::CrawlUrl;
use store::{Durability, Order as ScanOrder, Result};

use crate::Frontier;
use crate::budgets::done;
use crate::cursor::{Due, Place, Queue};
use crate::hosts::Unit;
use crate::lane::{Lane, Room};
use crate::line::Line;
use crate::ports::{Held, Order};
use crate::schema::{
    COOKIES, GROUP_QUEUE, GROUPS, HOSTS, Host, QUEUE, SHARD_OWNERS, SILENT_QUEUE, Slot, URLS, UrlState,
};
use crate::shard::{Shard, shard_of};
use crate::transaction::{Arrivals, Transaction, stored_url};
use crate::walks::Granted;

/// URLs looked at per unit and transaction.
const EVALUATIONS_MAX: usize = 32;
/// How long nothing is asked for again while orders are held back.
const HELD_BACK: Span = Span(100);
/// Units looked at per transaction, over those that gave an order.
const IDLE_UNITS_MAX: usize = 32;

/// A URL that evaluation let through.
pub(crate) struct Picked {
    pub(crate) collection: String,
    pub(crate) url: CrawlUrl,
    pub(crate) record: Record,
    pub(crate) plan: Plan,
}

/// What a reservation found.
#[derive(Debug)]
pub struct Reserved {
    pub orders: Vec<Order>,
    /// When to look again, if nobody adds anything: now, if there may be more.
    pub next: Option<Time>,
}

/// How long walks that found no slot wait at least before they look again.
const WALKS_IDLE: Span = Span(50);

impl Frontier {
    /// Up to `wanted` orders whose time has come.
    #[crate::boxed]
    pub async fn reserve(&self, wanted: usize) -> Result<Reserved> {
        self.reserve_in(Room::of(wanted)).await
    }

    /// As many orders whose time has come as there is room for.
    #[crate::boxed]
    pub async fn reserve_in(&self, room: Room) -> Result<Reserved> {
        if self.held_back.load(Ordering::Relaxed) != 0 {
            return Ok(Reserved { orders: Vec::new(), next: Some(self.now().plus(HELD_BACK)) });
        }
        let _one_at_a_time = self.reserving.lock().await;
        let planned = &self.plan_walks(room.total).await?;
        let lanes = Lane::ALL.into_iter().filter(|lane| room.of_lane(*lane) > 0);
        self.listen().await?;
        let own = self.share.shards();
        let works_on = |shard: Shard| own[usize::from(shard)];
        let due = |lane| (lane, self.cursor.scan(Queue::Hosts(lane), self.now(), works_on));
        let due = &lanes.map(due).collect::<Vec<_>>();
        let writer = &self.writer();
        let reserve = self.store.transact_idempotent(|tx| async move {
            tx.set_durability(Durability::Relaxed);
            // New numbers for every run: one that was committed without our hearing of it keeps its own until
            // they run out.
            let leases: Vec<u64> = (0..room.total).map(|_| self.draw()).collect();
            let transaction = self.transaction(&tx, writer, self.draw()).await?;
            self.pauses.catch_up(&tx).await?;
            self.traps.catch_up(&tx).await?;
            if self.share.has_company() {
                self.walks.catch_up(&tx).await?;
            }
            if self.pauses.everything() {
                return Ok((Granted::none(planned), Vec::new(), None));
            }
            let mut left = room;
            let granted = transaction.reserve_walks(planned, &leases, &mut left).await?;
            let line = |(lane, due): &(Lane, Vec<Due>)| {
                let due = due.iter().filter(|(shard, _)| self.share.works_on(*shard));
                Line::new(*lane, due, left.of_lane(*lane) + IDLE_UNITS_MAX)
            };
            let mut lines: Vec<Line> = due.iter().map(line).collect();
            for line in &mut lines {
                transaction.look_ahead_in(line, left).await?;
            }
            let leases = &leases[granted.orders.len()..];
            let orders = transaction.reserve_units(leases, &mut lines, &mut left).await?;
            let claims = granted.orders.iter().chain(&orders).filter_map(|order| order.claim).collect();
            if !transaction.lost_claims(&claims).await?.is_empty() {
                // Another has taken what it was to be given out from: once more, without it.
                return Err(store::Error::Conflict { key_hash: 0 });
            }
            transaction.close().await?;
            let mut begins = Vec::new();
            for line in &lines {
                begins.push((line.lane, line.begins(&tx).await?));
            }
            Ok((granted, orders, Some((left, begins))))
        });
        let (granted, mut orders, looked) = match reserve.await {
            Ok(reserved) => reserved,
            Err(error) => {
                self.walks.forget();
                return Err(error);
            }
        };
        let mut next = None;
        if let Some((left, begins)) = looked {
            for (lane, begins) in begins {
                let queue = Queue::Hosts(lane);
                begins.into_iter().for_each(|(shard, first)| self.cursor.scanned(queue, shard, first));
                // Whose lane is full is looked for when there is room again.
                if left.total == 0 || left.of_lane(lane) > 0 {
                    next = next.into_iter().chain(self.cursor.next(queue, works_on)).min();
                }
            }
        }
        let next = next.map(|next| next.max(self.now()));
        let walks = self.walks.granted(planned, &granted);
        // Where nothing was given out, a walk may stand back for a URL of its host that cannot go either:
        // only time changes that, and whoever looks again at once would look for ever.
        let is_idle = orders.is_empty() && granted.orders.is_empty();
        let walks = walks.map(|at| if is_idle { at.max(self.now().plus(WALKS_IDLE)) } else { at });
        let next = next.into_iter().chain(walks).min();
        orders.splice(0..0, granted.orders);
        Ok(Reserved { orders, next })
    }
}

impl Transaction<'_> {
    /// Those whose turn it is, of both lanes, the earliest first.
    async fn reserve_units(&self, leases: &[u64], lines: &mut [Line], room: &mut Room) -> Result<Vec<Order>> {
        let mut orders: Vec<Order> = Vec::new();
        // What is left comes with the next: evaluating may write a lot, too.
        while self.tx.room() >= self.room_min()
            && let Some((lane, (at, unit))) = self.whose_turn(lines, *room).await?
        {
            // A unit that was only put back stands at a time of its own choice: it is seen when that comes.
            let leases = leases.iter().skip(orders.len()).take(room.of_lane(lane));
            let leases: Vec<u64> = leases.copied().collect();
            let given = self.reserve_unit(&Unit::parse(&unit), at, lane, &leases).await?;
            room.take(lane, given.len());
            orders.extend(given);
        }
        Ok(orders)
    }

    /// M11: what the first units of a line will need, in a few round trips for all.
    async fn look_ahead_in(&self, line: &mut Line, room: Room) -> Result<()> {
        if !self.tx.reads_ahead() {
            return Ok(());
        }
        let units = line.look_ahead(self.tx, self.now, room.of_lane(line.lane)).await?;
        let mut keys = Vec::new();
        for (at, unit) in &units {
            let shard = shard_of(unit);
            keys.push(SHARD_OWNERS.key((shard,)));
            keys.push(SILENT_QUEUE.key((shard, at.0, unit)));
            match Unit::parse(unit) {
                Unit::Host(host) => keys.push(HOSTS.key((&host,))),
                Unit::Group(group) => keys.push(GROUPS.key((&group,))),
            }
        }
        self.tx.read_ahead(keys).await?;
        let mut queues = Vec::new();
        for (_, unit) in &units {
            if let Unit::Host(name) = Unit::parse(unit)
                && let Some(host) = self.host(&name).await?
            {
                let wanted = self.at_once(&Unit::Host(name.clone()), &name, &host);
                let range = QUEUE.range_from((name.as_str(),), (name.as_str(), host.head.0));
                queues.push((range, host.slots.taken.len() + wanted + 1, name));
            }
        }
        let ranges = queues.iter().map(|(range, limit, _)| (range.clone(), *limit)).collect();
        self.tx.scan_ahead(ranges).await?;
        let mut keys = Vec::new();
        for (range, limit, name) in &queues {
            for ((_, _, collection, url), ()) in
                QUEUE.scan(self.tx, range, *limit, ScanOrder::Forward).await?.rows
            {
                keys.extend(cookies::rows_for(name).into_iter().map(|row| COOKIES.key((&collection, row))));
                keys.push(URLS.key((&collection, &url)));
            }
        }
        self.tx.read_ahead(keys).await
    }

    /// The earliest of those that are due and have room in their lanes.
    async fn whose_turn(&self, lines: &mut [Line], room: Room) -> Result<Option<(Lane, Place)>> {
        let mut first: Option<(Place, &mut Line)> = None;
        for line in lines.iter_mut().filter(|line| room.of_lane(line.lane) > 0) {
            let Some(place) = line.first_due(self.tx, self.now).await? else { continue };
            if first.as_ref().is_none_or(|(earliest, _)| place < *earliest) {
                first = Some((place, line));
            }
        }
        Ok(first.and_then(|(_, line)| Some((line.lane, line.take()?))))
    }

    /// Orders of one unit: one, or as many as it may be asked at once where that needs no pause in
    /// between.
    async fn reserve_unit(&self, unit: &Unit, at: Time, lane: Lane, leases: &[u64]) -> Result<Vec<Order>> {
        let host = match unit {
            Unit::Host(host) => Some(host.clone()),
            Unit::Group(group) => self.first_member(group).await?,
        };
        let Some(name) = host else { return Ok(Vec::new()) };
        let Some(mut host) = self.host(&name).await? else {
            let text = format!("{unit} stands in the host queue at {at}, but {name} has no row");
            return Err(store::Error::Corrupt(text));
        };
        // Its group changed since it was queued: it goes where it belongs now.
        let belongs = self.group_of(&name);
        let comes_from = match unit {
            Unit::Host(_) => None,
            Unit::Group(group) => Some(group),
        };
        if belongs.as_ref() != comes_from {
            self.settle_host(&name, &mut host).await?;
            return Ok(Vec::new());
        }
        if self.is_paused_host(&name) {
            self.set_aside(&name, &mut host).await?;
            return Ok(Vec::new());
        }
        if self.opening(&name, self.now) > self.now {
            self.settle_host(&name, &mut host).await?;
            return Ok(Vec::new());
        }
        let mut arrivals = Arrivals::new();
        let wanted = self.at_once(unit, &name, &host).min(leases.len());
        let picked = self.pick(&name, &mut host, wanted, &mut arrivals).await?;
        if picked.is_empty() {
            self.settle_host(&name, &mut host).await?;
            return Ok(Vec::new());
        }
        let mut orders = Vec::with_capacity(picked.len());
        for (picked, lease) in picked.into_iter().zip(leases) {
            let mut order = self.take_slot(unit, &name, &mut host, picked, *lease).await?;
            order.lane = lane;
            orders.push(order);
        }
        self.settle_taken(unit, &name, &mut host).await?;
        Ok(orders)
    }

    /// How many slots a unit can give without a pause between them.
    fn at_once(&self, unit: &Unit, name: &str, host: &Host) -> usize {
        let politeness = self.politeness(name);
        let delay = politeness_delay(host.slots.response_time, &politeness, host.crawl_delay, None);
        match unit {
            Unit::Host(_) if delay == Span::ZERO => host.slots.room(&politeness).max(1),
            // A group's slots are in its own row: it comes up again for more.
            _ => 1,
        }
    }

    /// The member of a group that is first in its queue; one whose time has not come puts the group
    /// right.
    async fn first_member(&self, name: &str) -> Result<Option<String>> {
        let mut group = GROUPS.get(self.tx, (name,)).await?.unwrap_or_default();
        let range = GROUP_QUEUE.range_from((name,), (name, group.head.0));
        match GROUP_QUEUE.first(self.tx, &range).await? {
            Some(((_, at, host), ())) if Time(at) <= self.now => Ok(Some(host)),
            _ => {
                self.settle_group_row(name, &mut group).await?;
                Ok(None)
            }
        }
    }

    /// Goes through the host's due URLs until there are enough that are to be harvested.
    async fn pick(
        &self,
        name: &str,
        host: &mut Host,
        wanted: usize,
        arrivals: &mut Arrivals,
    ) -> Result<Vec<Picked>> {
        let mut picked = Vec::new();
        let mut rest = Some(QUEUE.range_from((name,), (name, host.head.0)));
        let mut looked_at = 0;
        while let Some(range) = rest.take()
            && looked_at < EVALUATIONS_MAX + wanted
        {
            // Nearly always the first that are not in flight are the ones.
            let limit = host.slots.taken.len() + wanted + looked_at;
            let page = QUEUE.scan(self.tx, &range, limit, ScanOrder::Forward).await?;
            rest = page.rest;
            for ((_, due, collection, url), ()) in page.rows {
                if Time(due) > self.now || picked.len() == wanted {
                    return Ok(picked);
                }
                looked_at += 1;
                if host.is_in_flight(&collection, &url) {
                    continue;
                }
                let url = stored_url(&url)?;
                let Some(UrlState::Queued(record)) = self.state(&collection, url.as_str()).await? else {
                    let text = format!("{url} is in the queue of {name}, but its record is not");
                    return Err(store::Error::Corrupt(text));
                };
                if let Some(plan) = self.judge(&collection, &url, &record, arrivals)?
                    && let Some(plan) = self.afford(&collection, &url, &record, plan, arrivals).await?
                {
                    picked.push(Picked { collection, url, record, plan });
                }
            }
        }
        Ok(picked)
    }

    /// F9–F16. None: the URL is not to be harvested, and has been dealt with.
    fn judge(
        &self,
        collection: &str,
        url: &CrawlUrl,
        record: &Record,
        arrivals: &mut Arrivals,
    ) -> Result<Option<Plan>> {
        if self.postpone_paused(collection, url, record, arrivals)? {
            return Ok(None);
        }
        let (rule, verdict) = {
            let catalog = self.catalog();
            let evaluation = evaluate(&catalog, collection, url, record, None, self.now);
            (evaluation.rule, evaluation.verdict)
        };
        match verdict {
            Verdict::Harvest(plan) => {
                let held = self.hold_suspected(collection, url, record, &plan, arrivals)?;
                return Ok((!held).then_some(*plan));
            }
            Verdict::Remove => self.unqueue(collection, url, record, None)?,
            Verdict::Done => {
                self.unqueue(collection, url, record, Some(&done(record)))?;
            }
            Verdict::Postpone { until } => {
                let later = {
                    let catalog = self.catalog();
                    Subject { catalog: &catalog, collection, url }.postponed(record, rule, until)
                };
                self.requeue(collection, url, record, later, arrivals)?;
            }
            Verdict::Blacklist(entry) => self.blacklist(collection, url, record, record.clone(), &entry)?,
        }
        Ok(None)
    }

    /// The slot is in the host's row; the caller settles the host and so writes it.
    pub(crate) async fn take_slot(
        &self,
        unit: &Unit,
        name: &str,
        host: &mut Host,
        picked: Picked,
        lease: u64,
    ) -> Result<Order> {
        let Picked { collection, url, record, plan } = picked;
        let until = self.now.plus(self.catalog().settings().lease);
        let slot = Slot {
            lease,
            until,
            host: name.to_owned(),
            collection: collection.clone(),
            url: url.as_str().to_owned(),
            due: record.due,
        };
        let politeness = self.politeness(name);
        let crawl_delay = host.crawl_delay;
        match unit {
            Unit::Host(_) => {
                let delay = politeness_delay(host.slots.response_time, &politeness, crawl_delay, None);
                host.slots.hold(self.asked_at(delay), delay);
            }
            Unit::Group(group) => {
                let mut row = GROUPS.get(self.tx, (group,)).await?.unwrap_or_default();
                let delay = politeness_delay(row.slots.response_time, &politeness, crawl_delay, None);
                row.slots.hold(self.asked_at(delay), delay);
                row.slots.taken.push(slot.clone());
                GROUPS.put(self.tx, (group,), &row)?;
            }
        }
        let closes = [plan.closes, politeness.hours().closing(self.now)].into_iter().flatten().min();
        host.slots.taken.push(slot);
        host.walked = false;
        self.put_lease(&unit.to_string(), name, until, lease)?;
        let mut cookies = Vec::new();
        for row in cookies::rows_for(name) {
            let kept = COOKIES.get(self.tx, (&collection, row)).await?;
            cookies.extend(kept.map(|kept| (row.to_owned(), kept)));
        }
        Ok(Order {
            lease,
            unit: unit.to_string(),
            host: name.to_owned(),
            collection,
            url,
            seed: record.seed,
            run: record.run,
            due: record.due,
            last_fetch: record.last.map(|last| last.at),
            lane: host.slots.lane(),
            held: Held::until(until),
            claim: self.share.claim(shard_of(&unit.to_string())),
            closes,
            plan,
            position: record.position,
            politeness,
            etag: record.etag,
            last_modified: record.last_modified,
            digest: record.digest,
            cookies,
            walk: None,
        })
    }
}
