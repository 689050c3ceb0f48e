//! Tells of a harvest while it goes: each URL as JSON, and how far it is.

use std::io::Write;
use std::sync::Arc;

use app::event::harvest_json;
use declare::text::{bytes_text, percent_text, rate_text, time_json};
use frontier::ports::Clock;
use frontier::{Harvested, Witness};
use harvest::clock::SystemClock;
use harvest::figures::{Counts, Figures, Standing};
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::progress::{Manner, Progress, per_second};

pub(crate) struct Teller {
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
}

/// Of harvests and of bytes, a second.
type Rates = (f64, f64);

impl Teller {
    pub(crate) fn new(figures: Arc<Figures>, json: bool, audience: Option<Arc<dyn Witness>>) -> Teller {
        let progress = Progress::new(json);
        let manner = progress.manner;
        Teller { figures, manner, state: Mutex::new(State { progress, told: (0, 0) }), audience }
    }

    /// Leaves the moving line.
    pub(crate) fn end(&self) {
        self.state.lock().progress.end();
    }

    fn progress(&self) {
        let State { progress, told } = &mut *self.state.lock();
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
            let _ = writeln!(std::io::stdout().lock(), "{}", harvest_json(harvested));
        }
    }

    fn put_off(&self, harvested: &Harvested<'_>) {
        self.figures.add_aside(harvested);
    }

    fn turn(&self, in_flight: usize) {
        self.figures.in_flight(in_flight);
        self.progress();
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
