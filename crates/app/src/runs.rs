//! Runs: what was started when, what came of it, and how that compares with the time before.

use std::collections::{BTreeMap, BTreeSet};

use frontier::{RunCounts, RunOf, RunSight, is_not_found};
use http::StatusCode;
use policy::time::Time;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::page::{self, Page, Paging};
use crate::reports::budgets::{BudgetEnding, endings};
use crate::{Answer, App, Problem};

/// So many runs are looked at for the one before.
const BEFORE_MAX: usize = 1000;

/// A run.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct RunItem {
    pub run: u64,
    /// None: it was started by a version that did not keep it.
    #[schema(format = DateTime)]
    pub started: Option<String>,
    /// `new` (seeds that nobody had started yet), `seed`, `profile` or `collection`; none as above.
    pub of: Option<String>,
    pub name: Option<String>,
    /// The profiles that were named with a seed.
    pub profiles: Vec<String>,
    /// `under-way`: some of its URLs wait for their first answer. `repeating`: all were answered, and
    /// come again at their frequency. `ended`: none of its URLs is queued.
    pub state: RunState,
    /// Why it has ended, or what ended it before its time.
    pub ended_by: Option<String>,
    pub collections: Vec<String>,
    /// Of its URLs that are known now, the share that does not wait for a first answer; 0 to 1.
    pub progress: Option<f64>,
    #[serde(flatten)]
    pub figures: RunFigures,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RunState {
    UnderWay,
    Repeating,
    Ended,
}

impl RunState {
    pub fn as_str(self) -> &'static str {
        match self {
            RunState::UnderWay => "under-way",
            RunState::Repeating => "repeating",
            RunState::Ended => "ended",
        }
    }
}

/// What a run has come to.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct RunFigures {
    /// URLs that belong to it now; who is started again belongs to the later run.
    pub urls: u64,
    /// Also those in flight.
    pub queued: u64,
    /// Those of the queued that wait for their first answer in it.
    pub waiting: u64,
    pub done: u64,
    pub blacklisted: u64,
    pub harvests: u64,
    /// Pages that were not had before, are another than before, or the same.
    pub new: u64,
    pub changed: u64,
    pub unchanged: u64,
    /// Answered 404 or 410.
    pub gone: u64,
    /// Answered with another error.
    pub refused: u64,
    /// Harvests without an answer, by reason.
    pub errors: BTreeMap<String, u64>,
    pub bytes: u64,
    /// When the first and the last of it were harvested.
    #[schema(format = DateTime)]
    pub first: Option<String>,
    #[schema(format = DateTime)]
    pub last: Option<String>,
}

impl RunFigures {
    pub fn failed(&self) -> u64 {
        self.errors.values().sum()
    }

    fn of(counts: &RunCounts) -> RunFigures {
        let RunCounts { urls, traffic } = counts;
        let count = |number: i64| u64::try_from(number).unwrap_or(0);
        let text = |time: Option<Time>| time.map(|time| time.to_string());
        let answered = &traffic.traffic;
        let is_refused = |status: u16| status >= 400 && !is_not_found(status);
        RunFigures {
            urls: count(urls.all()),
            queued: count(urls.queued),
            waiting: count(urls.waiting),
            done: count(urls.done),
            blacklisted: count(urls.blacklisted),
            harvests: answered.answers(|_| true) + answered.no_answers(),
            new: answered.new,
            changed: answered.changed,
            unchanged: answered.unchanged,
            gone: answered.answers(is_not_found),
            refused: answered.answers(is_refused),
            errors: answered.errors.iter().map(|(kind, count)| (kind.as_str().to_owned(), *count)).collect(),
            bytes: answered.bytes,
            first: text(traffic.first),
            last: text(traffic.last),
        }
    }
}

/// A run, part by part.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct RunDetail {
    #[serde(flatten)]
    pub item: RunItem,
    pub by_collection: BTreeMap<String, RunFigures>,
    /// Budgets that it came to the end of.
    pub budgets: Vec<BudgetEnding>,
    /// The run before it of the same seed, profile or collection.
    pub before: Option<RunItem>,
}

/// List the runs, the latest first
#[crate::boxed]
pub async fn list_runs(app: &App, paging: Paging) -> Answer<Page<RunItem>> {
    let limit = page::limit(paging.limit)?;
    let below = paging.cursor.as_deref().map(page::cursor_number).transpose()?;
    let sights = app.frontier.runs(below, limit + 1).await?;
    let ended = endings(app).await?;
    let items: Vec<RunItem> = sights.iter().take(limit).map(|sight| item(sight, &ended)).collect();
    let next = items.last().filter(|_| sights.len() > limit).map(|last| page::number_cursor(last.run));
    Ok(Page { items, next })
}

/// Get a run: what it has come to, by collection, and the run before
#[crate::boxed]
pub async fn get_run(app: &App, number: String) -> Answer<RunDetail> {
    let none = || {
        let problem =
            Problem::new(StatusCode::NOT_FOUND, format!("there is no run {}", declare::excerpt(&number)));
        problem.hint("`skurd run list` lists those there are")
    };
    let run: u64 = number.parse().map_err(|_| none())?;
    let sight = app.frontier.run(run).await?.ok_or_else(none)?;
    let ended = endings(app).await?;
    let before = match sight.row.as_ref().filter(|row| row.of != RunOf::New) {
        Some(row) => app.frontier.run_before(run, &row.of, BEFORE_MAX).await?,
        None => None,
    };
    Ok(RunDetail {
        item: item(&sight, &ended),
        by_collection: sight
            .counts
            .iter()
            .map(|(name, counts)| (name.clone(), RunFigures::of(counts)))
            .collect(),
        budgets: ended.iter().filter(|ending| ending.run == run).cloned().collect(),
        before: before.map(|sight| item(&sight, &ended)),
    })
}

/// The runs of these numbers.
pub(crate) async fn items_of(app: &App, runs: impl Iterator<Item = u64>) -> Answer<Vec<RunItem>> {
    let ended = endings(app).await?;
    let mut items = Vec::new();
    for run in runs {
        items.extend(app.frontier.run(run).await?.map(|sight| item(&sight, &ended)));
    }
    Ok(items)
}

fn item(sight: &RunSight, ended: &[BudgetEnding]) -> RunItem {
    let all = sight.all();
    let figures = RunFigures::of(&all);
    let (of, name, profiles) = match sight.row.as_ref().map(|row| &row.of) {
        None => (None, None, Vec::new()),
        Some(RunOf::New) => (Some("new"), None, Vec::new()),
        Some(RunOf::Seed { name, profiles }) => (Some("seed"), Some(name), profiles.clone()),
        Some(RunOf::Profile(name)) => (Some("profile"), Some(name), Vec::new()),
        Some(RunOf::Collection(name)) => (Some("collection"), Some(name), Vec::new()),
    };
    let state = match (figures.waiting, figures.queued) {
        (1.., _) => RunState::UnderWay,
        (0, 1..) => RunState::Repeating,
        (0, 0) => RunState::Ended,
    };
    RunItem {
        run: sight.run,
        started: sight.row.as_ref().map(|row| row.started.to_string()),
        of: of.map(str::to_owned),
        name: name.cloned(),
        profiles,
        state,
        ended_by: ended_by(sight.run, state, &figures, ended),
        collections: sight.counts.keys().cloned().collect::<BTreeSet<String>>().into_iter().collect(),
        progress: share(figures.urls - figures.waiting.min(figures.urls), figures.urls),
        figures,
    }
}

fn ended_by(run: u64, state: RunState, figures: &RunFigures, ended: &[BudgetEnding]) -> Option<String> {
    let budgets = ended.iter().filter(|ending| ending.run == run);
    let budgets: Vec<String> =
        budgets.map(|ending| format!("{} of {} {}", ending.limit, ending.holder, ending.name)).collect();
    match state {
        _ if !budgets.is_empty() => Some(format!("used up: {}", budgets.join(", "))),
        RunState::Ended if figures.urls == 0 && figures.harvests == 0 => {
            Some("nothing to harvest".to_owned())
        }
        RunState::Ended if figures.urls == 0 => Some("its URLs were started again, or left".to_owned()),
        RunState::Ended if figures.done == 0 => Some("all that is left is blacklisted".to_owned()),
        RunState::Ended => Some("everything is done".to_owned()),
        RunState::UnderWay | RunState::Repeating => None,
    }
}

#[allow(clippy::cast_precision_loss, reason = "a share, told to the percent")]
fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
