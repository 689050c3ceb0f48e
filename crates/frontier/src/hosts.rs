//! The life of a host: when it may next be asked, and by whom.
//!
//! A **unit** is what politeness is kept for: a host, or a group of hosts. It stands in the host
//! queue at the moment it can next be used: not before its first URL is due, its delay has passed
//! and a backoff has ended. It is not there while all its slots are taken, and it is forgotten when
//! it has no URLs and nothing to be polite about. The hosts of a group stand in the group's own
//! queue instead, and the group in the host queue.
//!
//! [`Transaction::settle_host`] computes the place anew after anything happened to a host;
//! [`Transaction::arrive`] is for URLs that another host's page brought, and writes the host's row
//! only when they make it due earlier, so that a host everybody links to is not a row everybody
//! fights for. That leaves one race: a page queues a URL for a host that, in a transaction at the
//! same time, finds nothing due and goes to a later place or is forgotten; neither writes what the
//! other wrote, and snapshot isolation would let both pass. So an arrival that writes nothing
//! *locks* one of the host's `ARRIVALS` stripes, and whoever moves a host later than politeness
//! demands locks all of them: one of the two is run again and sees the other. Arrivals of different
//! workers take different stripes and do not disturb each other. The same holds for the `head`,
//! from which a host's queue is scanned: it is moved up under all stripes, and so only now and
//! then.
//!
//! A host with windows (F38) stands at the first moment within them, and a group likewise; who comes to it
//! outside (its windows were declared since) puts it there.

use policy::model::Politeness;
use policy::time::{Span, Time};
use store::{Order, Result};

use crate::cursor::Queue;
use crate::schema::{ARRIVALS, GROUP_QUEUE, GROUPS, Group, HOSTS, Host, QUEUE, Slots};
use crate::shard::shard_of;
use crate::transaction::{Arrivals, Transaction};

pub(crate) const STRIPES: u32 = 32;
/// A scan walks over the tombstones of at most so many turns and freed slots of a host.
const HEAD_AGE_MAX: u32 = 24;

/// What the host queue holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    Host(String),
    Group(String),
}

/// No host name contains a space.
const GROUP_MARK: &str = "group ";

impl Unit {
    pub(crate) fn parse(text: &str) -> Unit {
        match text.strip_prefix(GROUP_MARK) {
            Some(group) => Unit::Group(group.to_owned()),
            None => Unit::Host(text.to_owned()),
        }
    }
}

impl std::fmt::Display for Unit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Unit::Host(host) => f.write_str(host),
            Unit::Group(group) => write!(f, "{GROUP_MARK}{group}"),
        }
    }
}

/// Taken slots at most, however large `parallel` is declared: they live in one row.
const SLOTS_MAX: usize = 256;

impl Slots {
    pub(crate) fn has_room(&self, politeness: &Politeness) -> bool {
        self.room(politeness) > 0
    }

    /// Slots that can be taken.
    pub(crate) fn room(&self, politeness: &Politeness) -> usize {
        let parallel = usize::try_from(politeness.parallel.max(1)).unwrap_or(SLOTS_MAX);
        parallel.min(SLOTS_MAX).saturating_sub(self.taken.len())
    }

    /// F8: a request ends now, and the next is made as soon as the delay allows; says when.
    pub(crate) fn book(&mut self, now: Time, delay: Span) -> Time {
        self.hold(now, delay);
        let at = self.next_free;
        self.hold(at, delay);
        at
    }

    /// F8: a request begins or ends now; the next not before the delay.
    pub(crate) fn hold(&mut self, now: Time, delay: Span) {
        self.next_free = self.next_free.max(now.plus(delay));
    }
}

impl Host {
    /// Whether a slot holds this URL.
    pub(crate) fn is_in_flight(&self, collection: &str, url: &str) -> bool {
        self.slots.taken.iter().any(|slot| slot.collection == collection && slot.url == url)
    }

    /// When a URL that is due then can be asked for, as far as the host itself is concerned.
    pub(crate) fn ready(&self, due: Time) -> Time {
        [self.backoff_until, self.deferred_until].into_iter().flatten().fold(due, Time::max)
    }
}

impl Transaction<'_> {
    pub(crate) async fn host(&self, host: &str) -> Result<Option<Host>> {
        HOSTS.get(self.tx, (host,)).await
    }

    /// URLs were queued at these hosts.
    pub(crate) async fn arrive_all(&self, arrivals: &Arrivals) -> Result<()> {
        let rows = HOSTS.multi_get(self.tx, arrivals.keys().map(|host| (host.as_str(),))).await?;
        for ((host, due), row) in arrivals.iter().zip(rows) {
            self.arrive(host, *due, row).await?;
        }
        Ok(())
    }

    async fn arrive(&self, name: &str, due: Time, row: Option<Host>) -> Result<()> {
        let Some(mut host) = row else {
            let mut host = Host { head: due, ..Host::default() };
            return self.stand(name, &mut host, Some(due)).await;
        };
        let before = host.clone();
        host.head = host.head.min(due);
        let ready = host.ready(due);
        let free = self.opening(name, ready.max(host.slots.next_free));
        match &host.group {
            Some((_, at)) if *at <= ready => {}
            Some(_) => return self.stand(name, &mut host, Some(due)).await,
            None => match host.slots.queued_at {
                Some(at) if at <= free => {}
                Some(_) => return self.stand(name, &mut host, Some(due)).await,
                // Busy: its release looks for the first URL itself. Or there was nothing to wait for until
                // now.
                None if host.slots.has_room(&self.politeness(name)) || self.group_of(name).is_some() => {
                    return self.stand(name, &mut host, Some(due)).await;
                }
                None => {}
            },
        }
        if host == before {
            ARRIVALS.lock_unread(self.tx, (shard_of(name), name, self.stripe))
        } else {
            HOSTS.put(self.tx, (name,), &host)
        }
    }

    /// A slot of the unit was taken: a host on its own that has no other needs no look at its queue
    /// until one is freed.
    pub(crate) async fn settle_taken(&self, unit: &Unit, name: &str, host: &mut Host) -> Result<()> {
        if host.group.is_some()
            || *unit != Unit::Host(name.to_owned())
            || host.slots.has_room(&self.politeness(name))
        {
            return self.settle_host(name, host).await;
        }
        self.place(unit, &mut host.slots, None).await?;
        HOSTS.put(self.tx, (name,), host)
    }

    /// A slot of the unit was freed: puts the host where it belongs now, and a group too, which the
    /// host may have left, or be leaving, meanwhile.
    pub(crate) async fn settle_freed(&self, unit: &Unit, name: &str, host: &mut Host) -> Result<()> {
        self.settle_host(name, host).await?;
        match unit {
            Unit::Group(group) => self.settle_group(group, None).await,
            Unit::Host(_) => Ok(()),
        }
    }

    /// Something happened to the host: looks for its first waiting URL and puts it where it belongs
    /// now.
    pub(crate) async fn settle_host(&self, name: &str, host: &mut Host) -> Result<()> {
        let taken = &host.slots.taken;
        let range = QUEUE.range_from((name,), (name, host.head.0));
        let page = QUEUE.scan(self.tx, &range, taken.len() + 1, Order::Forward).await?;
        // A URL in flight is still there, and comes back to its place if its lease runs out.
        let head = page.rows.first().map_or(self.now, |((_, due, ..), ())| Time(*due));
        let empty = page.rows.is_empty();
        let mut waiting = page.rows.iter().filter(|((_, _, collection, url), ())| {
            !taken.iter().any(|slot| slot.collection == *collection && slot.url == *url)
        });
        let first = waiting.next().map(|((_, due, ..), ())| Time(*due));
        let polite = host.slots.next_free.max(self.now);
        let goes_late = first.is_none_or(|first| first > polite);
        host.head_age += 1;
        if goes_late || host.head_age >= HEAD_AGE_MAX {
            // Nobody may have brought an earlier URL meanwhile.
            for stripe in 0..STRIPES {
                ARRIVALS.lock_unread(self.tx, (shard_of(name), name, stripe))?;
            }
            host.head = head;
            host.head_age = 0;
        }
        if empty && host.slots.taken.is_empty() && !self.must_remember(host) {
            return self.forget(name, host).await;
        }
        self.stand(name, host, first).await
    }

    /// A host without URLs, and with nothing to be polite about any more.
    async fn forget(&self, name: &str, host: &mut Host) -> Result<()> {
        self.place(&Unit::Host(name.to_owned()), &mut host.slots, None).await?;
        HOSTS.delete(self.tx, (name,))?;
        match self.leave_group_queue(name, host)? {
            Some(group) => self.settle_group(&group, None).await,
            None => Ok(()),
        }
    }

    /// Puts the host where its first waiting URL says, and writes its row.
    async fn stand(&self, name: &str, host: &mut Host, first: Option<Time>) -> Result<()> {
        let ready = first.map(|due| host.ready(due));
        let left = self.leave_group_queue(name, host)?;
        let group = self.group_of(name);
        if let Some(left) = left
            && group.as_ref() != Some(&left)
        {
            self.settle_group(&left, None).await?;
        }
        let Some(group) = group else {
            let room = host.slots.has_room(&self.politeness(name));
            let at = match ready {
                Some(ready) => room.then(|| self.opening(name, ready.max(host.slots.next_free))),
                // Nothing waits: it stays until its delay has passed, so that it is not asked again too
                // early.
                None if host.slots.taken.is_empty() => Some(host.slots.next_free.max(host.ready(self.now))),
                None => None,
            };
            self.place(&Unit::Host(name.to_owned()), &mut host.slots, at).await?;
            return HOSTS.put(self.tx, (name,), host);
        };
        self.place(&Unit::Host(name.to_owned()), &mut host.slots, None).await?;
        host.group = ready.map(|at| (group.clone(), at));
        if let Some(at) = ready {
            GROUP_QUEUE.put(self.tx, (&group, at.0, name), &())?;
        }
        HOSTS.put(self.tx, (name,), host)?;
        self.settle_group(&group, ready).await
    }

    /// The group keeps the politeness of its members; a host on its own keeps it itself.
    fn must_remember(&self, host: &Host) -> bool {
        let polite = host.slots.next_free > self.now;
        let backs_off = host.backoff_until.is_some_and(|until| until > self.now);
        host.group.is_none() && (polite || backs_off)
    }

    fn leave_group_queue(&self, name: &str, host: &mut Host) -> Result<Option<String>> {
        let Some((group, at)) = host.group.take() else { return Ok(None) };
        GROUP_QUEUE.delete(self.tx, (&group, at.0, name))?;
        Ok(Some(group))
    }

    /// A member's place changed to `arrived`, or something happened to the group's slots.
    pub(crate) async fn settle_group(&self, name: &str, arrived: Option<Time>) -> Result<()> {
        let mut group = GROUPS.lock(self.tx, (name,)).await?.unwrap_or_default();
        group.head = arrived.map_or(group.head, |at| at.min(group.head));
        self.settle_group_row(name, &mut group).await
    }

    pub(crate) async fn settle_group_row(&self, name: &str, group: &mut Group) -> Result<()> {
        let range = GROUP_QUEUE.range_from((name,), (name, group.head.0));
        let first = GROUP_QUEUE.first(self.tx, &range).await?.map(|((_, at, _), ())| Time(at));
        group.head = first.unwrap_or(self.now);
        let politeness = self.catalog().group(name).map(|group| group.politeness.clone()).unwrap_or_default();
        let at = first.filter(|_| group.slots.has_room(&politeness)).map(|at| at.max(group.slots.next_free));
        let at = at.map(|at| politeness.hours().opening(at));
        self.place(&Unit::Group(name.to_owned()), &mut group.slots, at).await?;
        if first.is_none() && group.slots.taken.is_empty() && group.slots.next_free <= self.now {
            GROUPS.delete(self.tx, (name,))
        } else {
            GROUPS.put(self.tx, (name,), group)
        }
    }

    /// Moves a unit to its place in the queue of its lane.
    async fn place(&self, unit: &Unit, slots: &mut Slots, at: Option<Time>) -> Result<()> {
        if slots.queued_at == at {
            return Ok(());
        }
        let unit = unit.to_string();
        let shard = shard_of(&unit);
        if let Some(old) = slots.queued_at {
            self.lane_of(shard, &unit, old).await?.queue().delete(self.tx, (shard, old.0, &unit))?;
        }
        if let Some(at) = at {
            let lane = slots.lane();
            lane.queue().put(self.tx, (shard, at.0, &unit), &())?;
            self.cursor.entry_at(Queue::Hosts(lane), shard, (at, unit));
            self.ring(shard).await?;
        }
        slots.queued_at = at;
        Ok(())
    }

    pub(crate) fn politeness(&self, host: &str) -> Politeness {
        self.catalog().politeness(host).clone()
    }

    /// F38: this moment, or the first after it at which the host may be asked.
    pub(crate) fn opening(&self, host: &str, at: Time) -> Time {
        self.catalog().politeness(host).hours().opening(at)
    }

    pub(crate) fn group_of(&self, host: &str) -> Option<String> {
        self.catalog().group_of(host).map(|group| group.name.clone())
    }
}
