//! What is known of the harvest right now, and what was in the last hours.
//!
//! Once a second the figures of the harvest become a [`Sample`]: it goes to everybody on the event
//! stream and into two rings, the last minutes second by second and the last day minute by minute.
//! Harvested URLs go to the stream as well, a few a second. The harvest never waits for anybody:
//! who listens too slowly misses events, and with nobody listening none is made.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;

use frontier::ports::Clock;
use frontier::{Harvested, Witness};
use harvest::clock::SystemClock;
use harvest::figures::{Counts, Figures};
use harvest::wire::archive::Health;
use parking_lot::Mutex;
use policy::time::{Span, Time};
use serde::Serialize;
use tokio::sync::{broadcast, watch};
use tokio::time::MissedTickBehavior;
use utoipa::ToSchema;

use crate::event::{budget_json, harvest_json, traps_json};

/// Events kept for who is slow.
const EVENTS_KEPT: usize = 256;
/// Harvested URLs told a second.
const HARVESTS_TOLD: u32 = 20;
/// Samples kept second by second, and minute by minute.
const SECONDS_KEPT: usize = 900;
const MINUTES_KEPT: usize = 24 * 60;
const MINUTE: u64 = 60;

pub struct Live {
    pub figures: Arc<Figures>,
    pub began: Time,
    events: broadcast::Sender<Event>,
    told: AtomicU32,
    /// Runs that ended by a budget.
    endings_told: AtomicUsize,
    rings: Mutex<Rings>,
    over: watch::Sender<bool>,
    /// How the archive is.
    pub archive: Arc<Health>,
}

/// One event of the stream: its name and its JSON.
#[derive(Clone, Debug)]
pub struct Event {
    pub name: &'static str,
    pub json: Arc<str>,
}

#[derive(Default)]
struct Rings {
    seconds: VecDeque<Sample>,
    minutes: VecDeque<Sample>,
    ticks: u64,
    last_minute: Option<(Time, Sample)>,
    last_second: Option<(Time, Sample)>,
}

/// The harvest at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, ToSchema)]
pub struct Sample {
    #[schema(value_type = String, format = DateTime)]
    pub time: String,
    /// Since this process began, as are `bytes`, `captures` and `hosts`.
    pub harvests: u64,
    /// Of all time, as are the next two.
    pub total_harvests: u64,
    pub total_bytes: u64,
    pub total_captures: u64,
    /// Since the sample before, of all nodes.
    pub harvests_per_second: f64,
    pub bytes: u64,
    pub bytes_per_second: f64,
    pub captures: u64,
    pub hosts: usize,
    /// URLs that wait, also those in flight.
    pub queued: u64,
    /// On all nodes.
    pub in_flight: usize,
    /// Share on time of the harvests that the last day was to bring; none where there were none.
    pub on_time: Option<f64>,
    /// Of those, what was missed.
    pub missed: u64,
    /// What is due and can only come late.
    pub overdue: u64,
    /// Of the bytes of all time, those that are archived as references to captures that have them.
    pub total_saved_bytes: u64,
}

impl Live {
    pub fn new(figures: Arc<Figures>, archive: Arc<Health>) -> Live {
        Live {
            figures,
            began: SystemClock.now(),
            events: broadcast::Sender::new(EVENTS_KEPT),
            told: AtomicU32::new(0),
            endings_told: AtomicUsize::new(0),
            rings: Mutex::default(),
            over: watch::Sender::new(false),
            archive,
        }
    }

    /// Takes a sample once a second, until the end.
    #[crate::boxed]
    pub async fn run(&self) {
        let mut every = tokio::time::interval(Duration::from_secs(1));
        every.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut over = self.over.subscribe();
        loop {
            tokio::select! {
                _ = every.tick() => self.tick(SystemClock.now()),
                _ = over.changed() => return,
            }
        }
    }

    fn tick(&self, now: Time) {
        self.told.store(0, Ordering::Relaxed);
        let sample = self.figures.look_at(|counts| self.rings.lock().take(now, counts));
        let told = self.endings_told.load(Ordering::Relaxed);
        let endings = self.figures.look_at(|counts| counts.endings.get(told..).unwrap_or_default().to_vec());
        self.endings_told.store(told + endings.len(), Ordering::Relaxed);
        if self.events.receiver_count() > 0 {
            endings.iter().for_each(|ending| self.tell("budget", &budget_json(ending)));
            self.tell("figures", &sample);
        }
    }

    fn tell(&self, name: &'static str, event: &impl Serialize) {
        if let Ok(json) = serde_json::to_string(event) {
            // Nobody listens: that is fine.
            let _ = self.events.send(Event { name, json: json.into() });
        }
    }

    /// The event stream from now on.
    pub fn listen(&self) -> (broadcast::Receiver<Event>, watch::Receiver<bool>) {
        (self.events.subscribe(), self.over.subscribe())
    }

    pub fn listeners(&self) -> usize {
        self.events.receiver_count()
    }

    /// The last sample; of this moment, if there is none yet.
    pub fn now(&self) -> Sample {
        let last = self.rings.lock().seconds.back().cloned();
        last.unwrap_or_else(|| self.figures.look_at(|counts| sample(SystemClock.now(), counts, None)))
    }

    pub fn by_second(&self) -> Vec<Sample> {
        self.rings.lock().seconds.iter().cloned().collect()
    }

    pub fn by_minute(&self) -> Vec<Sample> {
        self.rings.lock().minutes.iter().cloned().collect()
    }

    pub fn is_stopping(&self) -> bool {
        self.figures.was_stopped() || *self.over.borrow()
    }

    /// No more events: streams end.
    pub fn end(&self) {
        self.over.send_replace(true);
    }
}

impl Witness for Live {
    fn harvested(&self, harvested: &Harvested<'_>) {
        if self.events.receiver_count() > 0 && self.told.fetch_add(1, Ordering::Relaxed) < HARVESTS_TOLD {
            self.tell("harvest", &harvest_json(harvested));
        }
        if self.events.receiver_count() > 0 {
            traps_json(harvested).iter().for_each(|trap| self.tell("trap", trap));
        }
    }

    fn turn(&self, _: usize) {}
}

impl Rings {
    fn take(&mut self, now: Time, counts: &Counts) -> Sample {
        let second = sample(now, counts, self.last_second.as_ref());
        push(&mut self.seconds, second.clone(), SECONDS_KEPT);
        self.last_second = Some((now, second.clone()));
        if self.ticks.is_multiple_of(MINUTE) {
            let minute = sample(now, counts, self.last_minute.as_ref());
            push(&mut self.minutes, minute.clone(), MINUTES_KEPT);
            self.last_minute = Some((now, minute));
        }
        self.ticks += 1;
        second
    }
}

fn push(ring: &mut VecDeque<Sample>, sample: Sample, kept: usize) {
    if ring.len() >= kept {
        ring.pop_front();
    }
    ring.push_back(sample);
}

fn sample(now: Time, counts: &Counts, before: Option<&(Time, Sample)>) -> Sample {
    let per_second = |pick: fn(&Sample) -> u64, count: u64| {
        before.map_or(0.0, |(at, old)| rate(count.saturating_sub(pick(old)), now.since(*at)))
    };
    let standing = counts.standing;
    // With other nodes at work (M9) the rates are those of all, which the counters of the store tell.
    let (harvests_per_second, bytes_per_second) = match standing.others {
        0 => (per_second(|old| old.harvests, counts.harvests), per_second(|old| old.bytes, counts.bytes)),
        _ => (
            per_second(|old| old.total_harvests, standing.harvests),
            per_second(|old| old.total_bytes, standing.bytes),
        ),
    };
    Sample {
        time: now.to_string(),
        harvests: counts.harvests,
        harvests_per_second,
        bytes: counts.bytes,
        bytes_per_second,
        captures: counts.captures,
        hosts: counts.hosts.len(),
        total_harvests: standing.harvests,
        total_bytes: standing.bytes,
        total_captures: standing.captures,
        queued: standing.queued,
        in_flight: counts.in_flight + standing.in_flight_elsewhere,
        on_time: standing.on_time,
        missed: standing.missed,
        overdue: standing.overdue,
        total_saved_bytes: standing.saved_bytes,
    }
}

#[allow(clippy::cast_precision_loss, reason = "a rate")]
fn rate(count: u64, passed: Span) -> f64 {
    if passed == Span::ZERO { 0.0 } else { count as f64 * 1000.0 / passed.0 as f64 }
}

#[cfg(test)]
mod tests {
    use harvest::figures::Standing;

    use super::*;

    fn counts(harvests: u64, on_time: Option<f64>) -> Counts {
        let mut counts = Counts::default();
        counts.standing = Standing { on_time, queued: 7, harvests: harvests + 1000, ..Standing::default() };
        (counts.harvests, counts.bytes) = (harvests, harvests * 100);
        counts
    }

    #[test]
    fn m9_with_other_nodes_at_work_the_figures_are_those_of_all() {
        let mut rings = Rings::default();
        let shared = |own: u64, all: u64| {
            let mut counts = counts(own, None);
            let others = Standing { others: 2, in_flight_elsewhere: 5, ..counts.standing };
            counts.standing = Standing { harvests: all, bytes: all * 100, ..others };
            counts.in_flight = 3;
            counts
        };
        rings.take(Time(0), &shared(0, 1000));
        let sample = rings.take(Time(2000), &shared(10, 1060));
        assert_eq!((sample.harvests_per_second, sample.bytes_per_second), (30.0, 3000.0));
        assert_eq!((sample.in_flight, sample.harvests), (8, 10));
    }

    #[test]
    fn i4_samples_tell_rates_since_the_one_before_and_the_rings_are_bounded() {
        let mut rings = Rings::default();
        let first = rings.take(Time(0), &counts(0, None));
        assert_eq!((first.harvests_per_second, first.on_time, first.queued), (0.0, None, 7));
        let second = rings.take(Time(2000), &counts(10, Some(0.5)));
        let rates = (second.harvests_per_second, second.bytes_per_second);
        assert_eq!((rates, second.on_time, second.total_harvests), ((5.0, 500.0), Some(0.5), 1010));
        for tick in 3..200_000 {
            rings.take(Time(tick * 1000), &counts(10, None));
        }
        assert_eq!((rings.seconds.len(), rings.minutes.len()), (SECONDS_KEPT, MINUTES_KEPT));
    }
}
