//! Hears of every result of a walk: tells it, has it written, and stops the run when the walks have
//! ended.

use std::io::Write;
use std::sync::Arc;

use anyhow::Result;
use app::event::harvest_json;
use frontier::{Frontier, Harvested, Witness};
use harvest::Harvest;
use harvest::figures::Figures;
use harvest::walk::map::{self, Map};
use harvest::walk::words;
use parking_lot::Mutex;
use tokio::sync::watch;

use super::events;
use super::outputs::Outputs;
use crate::progress::{Manner, Progress};

/// Walks that are drawn while they go.
const DRAWN_MAX: usize = 6;
const COLUMNS_DEFAULT: usize = 80;

pub(crate) struct Teller {
    frontier: Arc<Frontier>,
    /// In the order of their turns.
    walks: Vec<String>,
    figures: Arc<Figures>,
    manner: Manner,
    stop: watch::Sender<bool>,
    state: Mutex<State>,
}

struct State {
    outputs: Outputs,
    /// What kept something from being written.
    failed: Option<anyhow::Error>,
    progress: Progress,
    /// Lines on the terminal that are drawn over next time.
    drawn: usize,
}

impl Teller {
    pub(crate) fn new(
        harvest: &Harvest,
        walks: Vec<String>,
        outputs: Outputs,
        json: bool,
        stop: watch::Sender<bool>,
    ) -> Teller {
        let progress = Progress::new(json);
        let manner = progress.manner;
        let state = State { outputs, failed: None, progress, drawn: 0 };
        Teller {
            frontier: Arc::clone(&harvest.frontier),
            walks,
            figures: Arc::clone(&harvest.figures),
            manner,
            stop,
            state: Mutex::new(state),
        }
    }

    /// Clears the map away, and says what could not be written.
    pub(crate) fn end(&self) -> Result<()> {
        let mut state = self.state.lock();
        if state.drawn > 0 {
            let _ = write!(std::io::stderr().lock(), "\x1b[{}A\r\x1b[J", state.drawn);
            state.drawn = 0;
        }
        match state.failed.take() {
            Some(error) => Err(error),
            None => state.outputs.sync(),
        }
    }

    /// The run ends: what cannot be written is made up for next time.
    fn fail(&self, state: &mut State, error: anyhow::Error) {
        if state.failed.is_none() {
            state.failed = Some(error);
            let _ = self.stop.send(true);
        }
    }

    fn progress(&self, state: &mut State) {
        if self.manner == Manner::Json || state.progress.due().is_none() {
            return;
        }
        let lines = self.lines();
        // Whoever does not listen any more is not worth stopping for.
        let _ = match self.manner {
            Manner::Terminal => {
                let up = match std::mem::replace(&mut state.drawn, lines.len()) {
                    0 => String::new(),
                    drawn => format!("\x1b[{drawn}A\r"),
                };
                let lines: String = lines.iter().map(|line| format!("{line}\x1b[K\n")).collect();
                write!(std::io::stderr().lock(), "{up}{lines}\x1b[J")
            }
            _ => writeln!(std::io::stderr().lock(), "{}", lines.join("\n")),
        };
    }

    /// The walks as they are now, a line each or three.
    fn lines(&self) -> Vec<String> {
        let columns = terminal_size::terminal_size_of(std::io::stderr());
        let columns = columns.map_or(COLUMNS_DEFAULT, |(width, _)| usize::from(width.0));
        let mut lines = Vec::new();
        for name in self.walks.iter().take(DRAWN_MAX) {
            self.frontier.peek_walk(name, |walk, run| {
                let title = format!("{name}: {}", words::figures(walk, run));
                lines.push(title.chars().take(columns.saturating_sub(1)).collect());
                if self.manner == Manner::Terminal {
                    let colours = map::has_colours(&std::io::stderr());
                    let cells = columns.saturating_sub(map::margins(walk) + 4).max(8);
                    lines.extend(Map::of(walk, cells).lines("  ", colours));
                }
            });
        }
        if self.walks.len() > DRAWN_MAX {
            lines.push(format!("… and {} more walks", self.walks.len() - DRAWN_MAX));
        }
        lines
    }
}

impl Witness for Teller {
    fn harvested(&self, harvested: &Harvested<'_>) {
        self.figures.add(harvested);
        let Harvested { order, report, .. } = harvested;
        tracing::debug!(
            url = order.url.as_str(),
            bytes = report.bytes,
            problem = report.problem,
            "harvested"
        );
        if self.manner == Manner::Json {
            let event = if order.walk.is_some() { events::fetch } else { harvest_json }(harvested);
            let _ = writeln!(std::io::stdout().lock(), "{event}");
        }
        let mut state = self.state.lock();
        if let Err(error) = state.outputs.take(harvested) {
            self.fail(&mut state, error);
        }
    }

    fn put_off(&self, harvested: &Harvested<'_>) {
        self.figures.add_aside(harvested);
    }

    fn turn(&self, in_flight: usize) {
        self.figures.in_flight(in_flight);
        let mut state = self.state.lock();
        if let Err(error) = state.outputs.flush() {
            self.fail(&mut state, error);
        }
        self.progress(&mut state);
        if self.frontier.walks_have_ended(&self.walks) {
            let _ = self.stop.send(true);
        }
    }
}
