//! A harvest from the command line, and everything that is told about it: while it goes and at its
//! end.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use app::event::{budget_json, harvest_json, traps_json};
use declare::counted;
use declare::text::{bytes_text, percent_text, rate_text, time_json};
use frontier::ports::Clock;
use frontier::{Harvested, Started, Witness};
use harvest::clock::SystemClock;
use harvest::figures::{Counts, Figures, Standing};
use harvest::session::note;
use harvest::{Harvest, Outcome, Until};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::output::line;
use crate::progress::{Manner, Progress, per_second};

/// Says what was started, if anything was.
pub(crate) fn tell_started(started: &Started, as_json: bool) -> Result<()> {
    match as_json || started.seeds == 0 {
        true => Ok(()),
        false => note(&format!("run {}: {} started", started.run, counted(started.seeds, "seed"))),
    }
}

/// Harvests until its end, or until a signal asks it to stop, and tells of it. The audience hears
/// of every harvest.
pub(crate) fn told(
    harvest: &Harvest,
    until: &Until,
    json: bool,
    audience: Option<Arc<dyn Witness>>,
) -> Result<Outcome> {
    let progress = Progress::new(json);
    let manner = progress.manner;
    let state = Mutex::new(State { progress, told: (0, 0), endings_told: 0 });
    let teller = Arc::new(Teller { figures: Arc::clone(&harvest.figures), manner, state, audience });
    let ran = harvest.run(until, &teller, watch::channel(false).0);
    teller.endings();
    teller.state.lock().progress.end();
    ran
}

/// Tells of each URL as JSON, and how far the harvest is.
struct Teller {
    figures: Arc<Figures>,
    manner: Manner,
    state: Mutex<State>,
    /// Who else hears of it.
    audience: Option<Arc<dyn Witness>>,
}

struct State {
    progress: Progress,
    /// Harvests and bytes that were told last.
    told: (u64, u64),
    /// Runs that ended by a budget.
    endings_told: usize,
}

/// Of harvests and of bytes, a second.
type Rates = (f64, f64);

impl Teller {
    /// F36: a run that ended by its budget says so.
    fn endings(&self) {
        let told = self.state.lock().endings_told;
        let new = self.figures.look_at(|counts| counts.endings.get(told..).unwrap_or_default().to_vec());
        self.state.lock().endings_told += new.len();
        for ending in &new {
            let _ = match self.manner {
                Manner::Json => {
                    writeln!(std::io::stdout().lock(), "{}", budget_json(ending)).map_err(Into::into)
                }
                _ => note(&format!(
                    "run {} has used up the budget of {}: {} of {} ({}); `skurd report budgets` lists what it keeps back",
                    ending.run,
                    ending.holder,
                    ending.limit.says(ending.used),
                    ending.limit.says(ending.max),
                    ending.limit.key(),
                )),
            };
        }
    }

    fn progress(&self) {
        let State { progress, told, .. } = &mut *self.state.lock();
        let Some(passed) = progress.due() else { return };
        let counts = self.figures.now();
        let rates = (per_second(counts.harvests, told.0, passed), per_second(counts.bytes, told.1, passed));
        *told = (counts.harvests, counts.bytes);
        progress.tell(|| progress_text(&counts, rates), || progress_json(&counts, rates));
    }
}

impl Witness for Teller {
    fn harvested(&self, harvested: &Harvested<'_>) {
        self.figures.add(harvested);
        if let Some(audience) = &self.audience {
            audience.harvested(harvested);
        }
        let Harvested { order, report, .. } = harvested;
        match &report.problem {
            Some(problem) => tracing::info!(url = order.url.as_str(), problem),
            None => tracing::debug!(url = order.url.as_str(), bytes = report.bytes, "harvested"),
        }
        if self.manner == Manner::Json {
            let mut out = std::io::stdout().lock();
            let _ = writeln!(out, "{}", harvest_json(harvested));
            for trap in traps_json(harvested) {
                let _ = writeln!(out, "{trap}");
            }
        }
        for suspicion in &harvested.summary.suspected {
            let (kind, line) = (suspicion.kind.as_str(), suspicion.remedy.line());
            tracing::warn!(host = order.host, kind, line, "seems to be a trap: `skurd traps list`");
        }
    }

    fn put_off(&self, harvested: &Harvested<'_>) {
        self.figures.add_aside(harvested);
    }

    fn turn(&self, in_flight: usize) {
        self.figures.in_flight(in_flight);
        self.progress();
        self.endings();
    }
}

fn progress_text(counts: &Counts, (harvests, bytes): Rates) -> String {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate that is not negative")]
    let bytes = bytes_text(bytes as u64);
    let walked = match counts.found + counts.missed {
        0 => String::new(),
        _ => format!(", {} ids found, {} missed", counts.found, counts.missed),
    };
    let Standing { queued, on_time, overdue, .. } = counts.standing;
    let on_time = on_time.map_or_else(String::new, |share| format!(", {} on time", percent_text(share)));
    let overdue = if overdue > 0 { format!(", {overdue} overdue") } else { String::new() };
    format!(
        "{} harvested, {}/s, {bytes}/s, {} hosts, {queued} queued, {} in flight{on_time}{overdue}{walked}",
        counts.harvests,
        rate_text(harvests),
        counts.hosts.len(),
        counts.in_flight,
    )
}

fn progress_json(counts: &Counts, (harvests, bytes): Rates) -> Value {
    json!({
        "event": "progress",
        "time": time_json(Some(SystemClock.now())),
        "harvests": counts.harvests,
        "harvests_per_second": harvests,
        "bytes": counts.bytes,
        "bytes_per_second": bytes,
        "hosts": counts.hosts.len(),
        "queued": counts.standing.queued,
        "in_flight": counts.in_flight,
        "on_time": counts.standing.on_time,
        "overdue": counts.standing.overdue,
        "found": counts.found,
        "missed": counts.missed,
    })
}

/// What is told at the end: figures, files, and what to run next.
pub(crate) fn summarise(outcome: &Outcome, data: &Path, as_json: bool) -> Result<()> {
    let counts = outcome.figures.now();
    let took = outcome.ended.since(outcome.began);
    if as_json {
        return line(json!({
            "event": "summary",
            "harvests": counts.harvests,
            "pages": counts.pages,
            "unchanged": counts.unchanged,
            "bytes": counts.bytes,
            "captures": counts.captures,
            "statuses": counts.statuses.iter().map(|(status, n)| (status.to_string(), *n)).collect::<BTreeMap<_, _>>(),
            "errors": counts.errors,
            "hosts": counts.hosts.len(),
            "added": counts.added,
            "queued": counts.standing.queued,
            "on_time": counts.standing.on_time,
            "missed_promises": counts.standing.missed,
            "overdue": counts.standing.overdue,
            "found": counts.found,
            "missed": counts.missed,
            "files": counts.files.keys().collect::<Vec<_>>(),
            "unanswered": counts.unanswered,
            "leases_lost": outcome.tally.leases_lost,
            "seconds": took.0 / 1000,
            "budgets": counts.endings.iter().map(budget_json).collect::<Vec<_>>(),
            "stopped": if outcome.interrupted { "interrupted" } else { "done" },
        }));
    }
    let listed = |pairs: Vec<String>| if pairs.is_empty() { "none".to_owned() } else { pairs.join(", ") };
    let statuses = listed(counts.statuses.iter().map(|(status, n)| format!("{status}: {n}")).collect());
    let errors = listed(counts.errors.iter().map(|(kind, n)| format!("{kind}: {n}")).collect());
    let (harvests, hosts, bytes) = (counts.harvests, counts.hosts.len(), bytes_text(counts.bytes));
    let mut lines = vec![
        format!("{harvests} URLs harvested in {took} from {hosts} hosts, {bytes}"),
        format!("  answers   {statuses}"),
        format!("  no answer {errors}"),
        format!("  unchanged {}", counts.unchanged),
    ];
    let Standing { queued, on_time, missed, overdue, .. } = counts.standing;
    lines.extend(on_time.map(percent_text).map(|on_time| {
        format!("  on time   {on_time} of what the last day was to bring, {missed} missed, {overdue} overdue")
    }));
    lines.push(format!("  queue     {queued} URLs wait for their time or for another try"));
    if counts.found + counts.missed > 0 {
        lines.push(format!("  walks     {} ids found, {} missed", counts.found, counts.missed));
    }
    let archive = match counts.files.len() {
        0 => "nothing new".to_owned(),
        files => {
            let (files, dir) = (counted(files, "file"), harvest::wire::warc_dir(data));
            format!("{} captures in {files} in {}", counts.captures, dir.display())
        }
    };
    lines.push(format!("  archive   {archive}"));
    let at = data_flag(data);
    lines.push(format!(
        "next: skurd captures{at} | skurd report domains{at} | skurd why URL{at} | skurd cdx export{at}"
    ));
    line(lines.join("\n"))
}

/// The option that leads to this data directory, where one is needed.
pub(crate) fn data_flag(data: &Path) -> String {
    match data == Path::new("./skurd-data") {
        true => String::new(),
        false => format!(" --data {}", data.display()),
    }
}
