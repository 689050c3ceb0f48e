//! Time zones (F38): what clocks on the wall show, and when they first show it.
//!
//! By `jiff`, with its copy of the tz database compiled in and nothing else of it: the same answer on
//! every machine, also in a container without `/usr/share/zoneinfo`, and no file is read, so this room
//! stays pure. `chrono-tz` knows the same zones, but as tables of Rust code that take several times as
//! long to compile, and it needs `chrono` beside it.
//!
//! Clocks are turned on and back. A time that is skipped is the first that there is after it, one that
//! comes twice is the first of the two: in both cases the first moment at which the clock shows the
//! time or a later one.

use std::fmt;
use std::sync::LazyLock;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone, TimeZoneDatabase};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::time::Time;

static DATABASE: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// Times are asked for between these years; whatever lies beyond is taken for UTC.
const MS_MAX: i64 = 200_000_000_000_000;

/// A zone of the tz database; UTC unless another is named.
#[derive(Clone)]
pub struct Zone {
    name: String,
    rules: TimeZone,
}

impl Zone {
    /// None if the database has no such zone. Its spelling is the database's own.
    pub fn named(name: &str) -> Option<Zone> {
        let rules = DATABASE.get(name).ok()?;
        let name = rules.iana_name().unwrap_or(name).to_owned();
        Some(Zone { name, rules })
    }

    /// What counts where none is named.
    pub fn utc() -> &'static Zone {
        static UTC: LazyLock<Zone> = LazyLock::new(Zone::default);
        &UTC
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Those there are.
    pub fn names() -> impl Iterator<Item = String> {
        DATABASE.available().map(|name| name.to_string())
    }

    /// What the clock shows, as milliseconds since it showed the beginning of 1970.
    pub(crate) fn local(&self, at: Time) -> i64 {
        at.0.saturating_add(i64::from(self.offset(at.0).seconds()) * 1000)
    }

    /// The first moment at which the clock shows this time or a later one.
    pub(crate) fn first(&self, local: i64) -> Time {
        let Some(shown) = shown(local) else { return Time(local) };
        let before = |offset: Offset| local.saturating_sub(i64::from(offset.seconds()) * 1000);
        Time(match self.rules.to_ambiguous_timestamp(shown).offset() {
            AmbiguousOffset::Unambiguous { offset } => before(offset),
            AmbiguousOffset::Fold { before: first, .. } => before(first),
            AmbiguousOffset::Gap { before: old, after: new } => {
                // The clock is turned on somewhere in between, at a full second.
                let (mut early, mut late) = (before(new).div_euclid(1000), before(old).div_euclid(1000));
                while early < late {
                    let middle = early + (late - early) / 2;
                    if self.offset(middle * 1000) == new { late = middle } else { early = middle + 1 }
                }
                late * 1000
            }
        })
    }

    fn offset(&self, ms: i64) -> Offset {
        let at = Timestamp::from_millisecond(ms).ok().filter(|_| ms.abs() < MS_MAX);
        at.map_or(Offset::UTC, |at| self.rules.to_offset(at))
    }
}

fn shown(local: i64) -> Option<DateTime> {
    let at = Timestamp::from_millisecond(local).ok().filter(|_| local.abs() < MS_MAX)?;
    Some(Offset::UTC.to_datetime(at))
}

impl Default for Zone {
    fn default() -> Zone {
        Zone { name: "UTC".to_owned(), rules: TimeZone::UTC }
    }
}

impl PartialEq for Zone {
    fn eq(&self, other: &Zone) -> bool {
        self.name == other.name
    }
}

impl Eq for Zone {}

impl fmt::Debug for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// By its name.
impl Serialize for Zone {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.name.serialize(serializer)
    }
}

/// A zone that another version of the database had keeps its name, and counts as UTC.
impl<'de> Deserialize<'de> for Zone {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Zone, D::Error> {
        let name = String::deserialize(deserializer)?;
        Ok(Zone::named(&name).unwrap_or(Zone { name, rules: TimeZone::UTC }))
    }
}
