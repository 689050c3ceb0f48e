//! What a link changes about a URL that is already queued.
//!
//! Everything here ends in [`changed`]: a record that comes out as it went in is kept without a
//! write.

use crate::model::{Position, Record};
use crate::outlink::Action;
use crate::owner::{Claim, Via};
use crate::standing::Standing;
use crate::time::{Span, Time};

/// A link renews the ttl only when that moves it by more than this part of it, which saves a write
/// per link and lets a URL go at most that much early.
const TTL_PARTS: u64 = 16;

/// What a link can change; the rest of the record is the harvest's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Renewal {
    position: Position,
    via: Via,
    due: Time,
    run: u64,
    cycles: u32,
    linked: Time,
}

/// Where the URL stands from its seed, and whose claim says so.
type Claimed = (Position, Via);

/// F23: the better of the two positions the URL has under one seed.
pub(super) fn better_position(
    stored: Position,
    new: Position,
    claim: impl Fn(Position) -> Claim,
) -> Position {
    if stored.dominates(&new) {
        return stored;
    }
    if new.dominates(&stored) {
        return new;
    }
    let stored_first = claim(stored).cmp(&claim(new)).then_with(|| stored.order(&new)).is_le();
    if stored_first { stored } else { new }
}

/// F23: same seed. `standing` is that of the claimed position.
pub(super) fn renewed(
    record: &Record,
    claimed: Claimed,
    standing: &Standing,
    scheduled: Option<Time>,
    run: u64,
    now: Time,
) -> Action {
    let renewal = renewal(record, claimed, standing, scheduled, run, now);
    changed(record, None, renewal)
}

/// F24, the context won: seed and position are its own, what the harvests brought stays.
pub(super) fn taken_over(
    record: &Record,
    seed: &str,
    claimed: Claimed,
    standing: &Standing,
    scheduled: Option<Time>,
    run: u64,
    now: Time,
) -> Action {
    let renewal = renewal(record, claimed, standing, scheduled, run, now);
    changed(record, Some(seed), renewal)
}

/// F24, the queued seed stays: a link is a link for its ttl, but position and run are another
/// seed's business.
pub(super) fn touched(record: &Record, standing: &Standing, now: Time) -> Action {
    let linked = linked(record, standing, now);
    changed(record, None, Renewal { linked, ..as_stored(record) })
}

fn renewal(
    record: &Record,
    claimed: Claimed,
    standing: &Standing,
    scheduled: Option<Time>,
    run: u64,
    now: Time,
) -> Renewal {
    let (position, via) = claimed;
    Renewal {
        position,
        via,
        due: due(record, scheduled),
        run: record.run.max(run),
        cycles: cycles_in_run(record, run),
        linked: linked(record, standing, now),
    }
}

/// F4: a newer run that reaches a queued URL counts its cycles from the beginning.
pub(super) fn cycles_in_run(record: &Record, run: u64) -> u32 {
    if run > record.run { 0 } else { record.cycles }
}

/// The earlier of the queued due and what the schedule gives now. A retry after an error keeps its
/// time, and where no live profile asks for a harvest there is nothing to hurry for.
fn due(record: &Record, scheduled: Option<Time>) -> Time {
    scheduled.filter(|_| record.errors == 0).map_or(record.due, |scheduled| record.due.min(scheduled))
}

fn linked(record: &Record, standing: &Standing, now: Time) -> Time {
    let Some(ttl) = standing.shortest_ttl else { return record.linked };
    if now.since(record.linked) > Span(ttl.0 / TTL_PARTS) { now } else { record.linked }
}

fn changed(record: &Record, seed: Option<&str>, renewal: Renewal) -> Action {
    if seed.is_none() && renewal == as_stored(record) {
        return Action::Keep;
    }
    let Renewal { position, via, due, run, cycles, linked } = renewal;
    let seed = seed.unwrap_or(&record.seed).to_owned();
    let old = record.clone();
    Action::Update(Record { seed, position, via, due, run, cycles, linked, ..old })
}

fn as_stored(record: &Record) -> Renewal {
    let Record { position, via, due, run, cycles, linked, .. } = *record;
    Renewal { position, via, due, run, cycles, linked }
}
