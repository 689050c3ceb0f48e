//! What is told while it runs: JSON lines on standard output, or one moving line on a terminal, or
//! a line now and then elsewhere.

use std::io::{IsTerminal, Write};
use std::sync::Arc;

use app::event::harvest_json;
use declare::text::{bytes_text, percent_text, rate_text, time_json};
use frontier::ports::Clock;
use frontier::{Harvested, Witness};
use harvest::clock::SystemClock;
use harvest::figures::{Counts, Figures, Standing};
use parking_lot::Mutex;
use policy::time::{Span, Time};
use serde_json::{Value, json};

/// How often the line moves, and how often one is written where none can move.
const TERMINAL_EVERY: Span = Span(250);
const LOG_EVERY: Span = Span::seconds(10);

pub(crate) struct Teller {
    figures: Arc<Figures>,
    style: Style,
    state: Mutex<State>,
    /// Who else hears of it.
    audience: Option<Arc<dyn Witness>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    Json,
    Terminal,
    Log,
}

struct State {
    told_at: Time,
    told: Counts,
    line_is_open: bool,
}

impl Teller {
    pub(crate) fn new(figures: Arc<Figures>, json: bool, audience: Option<Arc<dyn Witness>>) -> Teller {
        let style = match (json, std::io::stderr().is_terminal()) {
            (true, _) => Style::Json,
            (false, true) => Style::Terminal,
            (false, false) => Style::Log,
        };
        let told_at = SystemClock.now();
        let state = State { told_at, told: Counts::default(), line_is_open: false };
        Teller { figures, style, state: Mutex::new(state), audience }
    }

    /// Leaves the moving line.
    pub(crate) fn end(&self) {
        if self.state.lock().line_is_open {
            let _ = writeln!(std::io::stderr().lock());
        }
    }

    fn progress(&self) {
        let now = SystemClock.now();
        let mut state = self.state.lock();
        let every = if self.style == Style::Terminal { TERMINAL_EVERY } else { LOG_EVERY };
        let passed = now.since(state.told_at);
        if passed < every {
            return;
        }
        let counts = self.figures.now();
        // Whoever does not listen any more is not worth stopping for.
        let _ = match self.style {
            Style::Json => {
                writeln!(std::io::stdout().lock(), "{}", progress_json(&counts, &state.told, passed))
            }
            Style::Terminal => {
                state.line_is_open = true;
                let text = progress_text(&counts, &state.told, passed);
                write!(std::io::stderr().lock(), "\r\x1b[2K{text}").and_then(|()| std::io::stderr().flush())
            }
            Style::Log => {
                writeln!(std::io::stderr().lock(), "{}", progress_text(&counts, &state.told, passed))
            }
        };
        state.told_at = now;
        state.told = counts;
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
        if self.style == Style::Json {
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

#[allow(clippy::cast_precision_loss, reason = "a rate")]
fn per_second(now: u64, before: u64, passed: Span) -> f64 {
    now.saturating_sub(before) as f64 * 1000.0 / passed.0.max(1) as f64
}

fn progress_text(counts: &Counts, before: &Counts, passed: Span) -> String {
    let bytes = per_second(counts.bytes, before.bytes, passed);
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
        rate_text(per_second(counts.harvests, before.harvests, passed)),
        counts.hosts.len(),
        counts.in_flight,
    )
}

fn progress_json(counts: &Counts, before: &Counts, passed: Span) -> Value {
    json!({
        "event": "progress",
        "time": time_json(Some(SystemClock.now())),
        "harvests": counts.harvests,
        "harvests_per_second": per_second(counts.harvests, before.harvests, passed),
        "bytes": counts.bytes,
        "bytes_per_second": per_second(counts.bytes, before.bytes, passed),
        "hosts": counts.hosts.len(),
        "queued": counts.standing.queued,
        "in_flight": counts.in_flight,
        "on_time": counts.standing.on_time,
        "overdue": counts.standing.overdue,
        "found": counts.found,
        "missed": counts.missed,
    })
}
