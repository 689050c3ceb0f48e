//! Reserving (F5) and evaluating (F9–F16): from the host queue to an order.
//!
//! One transaction takes as many units off the head of the host queue as there are workers waiting,
//! goes through the due URLs of each until one is to be harvested, and gives it a slot with a
//! lease. URLs that are not to be harvested are dealt with on the way (removed, put back,
//! remembered as done), a bounded number at a time. The lease is a fencing token: whoever
//! commits the harvest must still hold it.
//!
//! A reservation that a power cut forgets was never there, and the URL still is: so it does not
//! wait for the disk.

use std::collections::VecDeque;
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
use crate::cursor::Place;
use crate::hosts::Unit;
use crate::lane::{Lane, Room};
use crate::ports::Order;
use crate::schema::{COOKIES, GROUP_QUEUE, GROUPS, Host, LEASES, QUEUE, Slot, UrlState};
use crate::size::ROOM_BYTES_MIN;
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

/// The units of a lane that are looked at.
struct Line {
    lane: Lane,
    units: VecDeque<Place>,
    /// The first of them had their turn.
    moved: bool,
}

impl Line {
    /// When to look at it again: when the first is due that had no turn, or now, if more may stand
    /// behind those that had.
    fn next(&self, now: Time) -> Option<Time> {
        match self.units.front() {
            Some((at, _)) => Some(now.max(*at)),
            None => self.moved.then_some(now),
        }
    }
}

/// The earliest of those that are due and have room in their lanes.
fn whose_turn(lines: &mut [Line], room: Room, now: Time) -> Option<(Lane, Place)> {
    let is_due = |line: &Line| line.units.front().is_some_and(|(at, _)| *at <= now);
    let open = lines.iter_mut().filter(|line| is_due(line) && room.of_lane(line.lane) > 0);
    let line = open.min_by(|a, b| a.units.front().cmp(&b.units.front()))?;
    line.moved = true;
    Some((line.lane, line.units.pop_front()?))
}

impl Frontier {
    /// Up to `wanted` orders whose time has come.
    #[crate::boxed]
    pub async fn reserve(&self, wanted: usize) -> Result<Reserved> {
        self.reserve_in(Room::of(wanted)).await
    }

    /// As many orders whose time has come as there is room for.
    #[crate::boxed]
    pub async fn reserve_in(&self, room: Room) -> Result<Reserved> {
        if self.held_back.load(Ordering::Relaxed) {
            return Ok(Reserved { orders: Vec::new(), next: Some(self.now().plus(HELD_BACK)) });
        }
        let _one_at_a_time = self.reserving.lock().await;
        let planned = &self.plan_walks(room.total).await?;
        let lanes = Lane::ALL.into_iter().filter(|lane| room.of_lane(*lane) > 0);
        let from = &lanes.map(|lane| (lane, self.cursor.scan(lane))).collect::<Vec<_>>();
        let writer = &self.writer();
        let reserve = self.store.transact_idempotent(|tx| async move {
            tx.set_durability(Durability::Relaxed);
            // New numbers for every run: one that was committed without our hearing of it keeps its own until
            // they run out.
            let leases: Vec<u64> = (0..room.total).map(|_| self.draw()).collect();
            let transaction = self.transaction(&tx, writer, self.draw()).await?;
            self.pauses.catch_up(&tx).await?;
            if self.pauses.everything() {
                let none = Reserved { orders: Vec::new(), next: None };
                return Ok((Granted::none(planned), none, Vec::new()));
            }
            let mut room = room;
            let granted = transaction.reserve_walks(planned, &leases, &mut room).await?;
            let (reserved, begins) =
                transaction.reserve_units(&leases[granted.orders.len()..], from, &mut room).await?;
            transaction.close().await?;
            Ok((granted, reserved, begins))
        });
        let (granted, mut reserved, begins) = match reserve.await {
            Ok(reserved) => reserved,
            Err(error) => {
                self.walks.forget();
                return Err(error);
            }
        };
        for (lane, first) in begins {
            self.cursor.scanned(lane, first);
        }
        let next = self.walks.granted(planned, &granted);
        reserved.next = reserved.next.into_iter().chain(next).min();
        reserved.orders.splice(0..0, granted.orders);
        Ok(reserved)
    }
}

impl Transaction<'_> {
    /// Those whose turn it is, of both lanes, the earliest first. Also returns where the queues
    /// begin.
    async fn reserve_units(
        &self,
        leases: &[u64],
        from: &[(Lane, Option<Place>)],
        room: &mut Room,
    ) -> Result<(Reserved, Vec<(Lane, Place)>)> {
        let mut begins = Vec::new();
        let mut lines = Vec::new();
        for (lane, from) in from {
            let units = self.standing(*lane, from.as_ref(), room.of_lane(*lane) + IDLE_UNITS_MAX).await?;
            begins.push((*lane, units.front().cloned().unwrap_or((self.now, String::new()))));
            lines.push(Line { lane: *lane, units, moved: false });
        }
        let mut orders: Vec<Order> = Vec::new();
        // What is left comes with the next: evaluating may write a lot, too.
        while self.tx.room() >= ROOM_BYTES_MIN
            && let Some((lane, (at, unit))) = whose_turn(&mut lines, *room, self.now)
        {
            // A unit that was only put back stands at a time of its own choice: it is seen when that comes.
            let leases = leases.iter().skip(orders.len()).take(room.of_lane(lane));
            let leases: Vec<u64> = leases.copied().collect();
            let given = self.reserve_unit(&Unit::parse(&unit), at, lane, &leases).await?;
            room.take(lane, given.len());
            orders.extend(given);
        }
        // Whose lane is full is looked for when there is room again.
        let open = lines.iter().filter(|line| room.total == 0 || room.of_lane(line.lane) > 0);
        let next = open.filter_map(|line| line.next(self.now)).min();
        Ok((Reserved { orders, next }, begins))
    }

    /// The first units that stand in a lane: all that are due, up to so many, and the next of the
    /// others.
    async fn standing(&self, lane: Lane, from: Option<&Place>, max: usize) -> Result<VecDeque<Place>> {
        let queue = lane.queue();
        let mut rest = Some(match from {
            Some((at, unit)) => queue.range_from((), (at.0, unit.as_str())),
            None => queue.range(()),
        });
        let mut found: VecDeque<Place> = VecDeque::new();
        while let Some(range) = rest.take()
            && found.len() < max
            && found.back().is_none_or(|(at, _)| *at <= self.now)
        {
            // Most often few are due, however many there may be.
            let limit = (max - found.len()).min(IDLE_UNITS_MAX.max(found.len()));
            let page = queue.scan(self.tx, &range, limit, ScanOrder::Forward).await?;
            rest = page.rest;
            found.extend(page.rows.into_iter().map(|((at, unit), ())| (Time(at), unit)));
        }
        Ok(found)
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
                if let Some(plan) = self.judge(&collection, &url, &record, arrivals)? {
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
            Verdict::Harvest(plan) => return Ok(Some(*plan)),
            Verdict::Remove => self.unqueue(collection, url, record, None)?,
            Verdict::Done => {
                self.unqueue(collection, url, record, Some(&UrlState::Done { run: record.run }))?;
            }
            Verdict::Postpone { until } => {
                let later = {
                    let catalog = self.catalog();
                    Subject { catalog: &catalog, collection, url }.postponed(record, rule, until)
                };
                self.requeue(collection, url, record, later, arrivals)?;
            }
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
                host.slots.hold(self.now, delay);
            }
            Unit::Group(group) => {
                let mut row = GROUPS.get(self.tx, (group,)).await?.unwrap_or_default();
                let delay = politeness_delay(row.slots.response_time, &politeness, crawl_delay, None);
                row.slots.hold(self.now, delay);
                row.slots.taken.push(slot.clone());
                GROUPS.put(self.tx, (group,), &row)?;
            }
        }
        host.slots.taken.push(slot);
        host.walked = false;
        LEASES.put(self.tx, (until.0, lease), &(unit.to_string(), name.to_owned()))?;
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
            due: record.due,
            last_fetch: record.last.map(|last| last.at),
            lane: host.slots.lane(),
            until,
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
