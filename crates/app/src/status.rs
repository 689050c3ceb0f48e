//! Figures: now, and over the last hours.

use std::collections::BTreeMap;

use frontier::{Latest, UrlCounts};
use harvest::figures::Disk;
use harvest::wire::archive::Health;
use policy::time::Time;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::control::{Pausable, PauseItem, list_pauses};
use super::{Answer, App};
use crate::Sample;
use crate::reports::budgets::{BudgetEnding, endings};

/// Harvests told by name.
const LATEST_MAX: usize = 32;

/// What the harvest is doing.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Status {
    pub version: &'static str,
    /// `harvesting`, `paused`, `waiting` (nobody has said yet how to reach who asks) or `stopping`.
    pub state: &'static str,
    #[schema(format = DateTime)]
    pub started: String,
    pub uptime_s: u64,
    pub figures: Sample,
    /// Answers by status, of all time.
    pub statuses: BTreeMap<String, u64>,
    /// Harvests without an answer by reason, of all time.
    pub errors: BTreeMap<&'static str, u64>,
    /// URLs by state, by collection.
    pub collections: BTreeMap<String, CollectionCounts>,
    /// What is left alone.
    pub paused: Vec<PauseItem>,
    pub archive: ArchiveStatus,
    /// Runs that came to the end of a budget and wait since, the latest first.
    pub budgets: Vec<BudgetEnding>,
    /// Of the data directory, once somebody has looked.
    pub disk: Option<DiskStatus>,
}

/// The disk of the data directory.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct DiskStatus {
    pub free_bytes: u64,
    /// What is to stay free.
    pub floor_bytes: Option<u64>,
    /// Nothing is harvested until there is room.
    pub is_full: bool,
}

impl From<Disk> for DiskStatus {
    fn from(disk: Disk) -> DiskStatus {
        DiskStatus { free_bytes: disk.free, floor_bytes: disk.floor, is_full: disk.is_full }
    }
}

/// How the archive is, as far as it was looked at when the harvest began.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ArchiveStatus {
    /// `sound`, `degraded` or `failed`.
    pub state: &'static str,
    /// What is wrong, in a sentence.
    pub problem: Option<String>,
    /// Files that are missing or cut off, and the captures in them.
    pub files_missing: u64,
    pub captures_missing: u64,
}

impl ArchiveStatus {
    fn of(health: &Health) -> ArchiveStatus {
        let (files_missing, captures_missing) = health.missing();
        let (state, problem) = match (health.failure(), health.complaint()) {
            (Some(failure), _) => ("failed", Some(failure)),
            (None, Some(complaint)) => ("degraded", Some(complaint)),
            (None, None) => ("sound", None),
        };
        ArchiveStatus { state, problem, files_missing, captures_missing }
    }
}

/// URLs of a collection, and its captures.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct CollectionCounts {
    /// Also those in flight.
    pub queued: i64,
    pub never_harvested: i64,
    pub done: i64,
    pub blacklisted: i64,
    pub captures: i64,
}

impl From<UrlCounts> for CollectionCounts {
    fn from(counts: UrlCounts) -> CollectionCounts {
        let UrlCounts { queued, unharvested, done, blacklisted, captures } = counts;
        CollectionCounts { queued, never_harvested: unharvested, done, blacklisted, captures }
    }
}

/// Get the figures of now
#[crate::boxed]
pub async fn status(app: &App) -> Answer<Status> {
    let traffic = app.frontier.totals().await?.traffic;
    let paused = list_pauses(app).await?;
    let everything = paused.iter().any(|item| item.target == Pausable::Everything {});
    let (waits, disk) = app.live.figures.look_at(|counts| (counts.waits_for_contact, counts.disk));
    let is_full = disk.is_some_and(|disk| disk.is_full);
    let state = match (app.live.is_stopping(), everything, waits || is_full) {
        (true, ..) => "stopping",
        (false, true, _) => "paused",
        (false, false, true) => "waiting",
        (false, false, false) => "harvesting",
    };
    Ok(Status {
        version: env!("CARGO_PKG_VERSION"),
        state,
        started: app.live.began.to_string(),
        uptime_s: app.frontier.now().since(app.live.began).0 / 1000,
        figures: app.live.now(),
        statuses: traffic.statuses.iter().map(|(status, count)| (status.to_string(), *count)).collect(),
        errors: traffic.errors.iter().map(|(kind, count)| (kind.as_str(), *count)).collect(),
        collections: app.frontier.url_counts().await?.into_iter().map(|(c, n)| (c, n.into())).collect(),
        paused,
        archive: ArchiveStatus::of(&app.live.archive),
        budgets: endings(app).await?,
        disk: disk.map(DiskStatus::from),
    })
}

/// How finely.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Step {
    /// The last quarter of an hour, second by second
    Second,
    /// The last day, minute by minute
    #[default]
    Minute,
}

#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// How finely, and so how far back.
    #[serde(default)]
    #[param(inline)]
    pub step: Step,
}

/// The figures of the last hours, the oldest first.
pub fn history(app: &App, asked: &Asked) -> Vec<Sample> {
    match asked.step {
        Step::Second => app.live.by_second(),
        Step::Minute => app.live.by_minute(),
    }
}

/// One of the last harvests.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct LatestItem {
    #[schema(format = DateTime)]
    pub time: String,
    pub collection: String,
    pub url: String,
    pub status: Option<u16>,
    /// Why there was no answer.
    pub error: Option<String>,
    pub bytes: u64,
}

/// Get the last harvests, the latest first
///
/// A few dozen are kept, also over a restart.
#[crate::boxed]
pub async fn latest(app: &App) -> Answer<Vec<LatestItem>> {
    let rows = app.frontier.latest(LATEST_MAX).await?;
    let item = |(time, row): (Time, Latest)| LatestItem {
        time: time.to_string(),
        collection: row.collection,
        url: row.url,
        status: row.status,
        error: row.error.map(|kind| kind.as_str().to_owned()),
        bytes: row.bytes,
    };
    Ok(rows.into_iter().map(item).collect())
}
