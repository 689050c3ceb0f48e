//! What is told while something goes on: JSON lines on standard output, or one moving line on a
//! terminal, or a line now and then elsewhere.

use std::io::{IsTerminal, Write};

use frontier::ports::Clock;
use harvest::clock::SystemClock;
use policy::time::{Span, Time};
use serde_json::Value;

/// How often the line moves, and how often one is written where none can move.
const TERMINAL_EVERY: Span = Span(250);
const LOG_EVERY: Span = Span::seconds(10);

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    Json,
    Terminal,
    Log,
}

pub(crate) struct Progress {
    pub(crate) manner: Manner,
    told_at: Time,
    line_is_open: bool,
}

impl Progress {
    pub(crate) fn new(json: bool) -> Progress {
        let manner = match (json, std::io::stderr().is_terminal()) {
            (true, _) => Manner::Json,
            (false, true) => Manner::Terminal,
            (false, false) => Manner::Log,
        };
        Progress { manner, told_at: SystemClock.now(), line_is_open: false }
    }

    /// When it is time to tell how far it is: how long ago that was told last.
    pub(crate) fn due(&mut self) -> Option<Span> {
        let (now, before) = (SystemClock.now(), self.told_at);
        let every = if self.manner == Manner::Terminal { TERMINAL_EVERY } else { LOG_EVERY };
        (now.since(before) >= every).then(|| {
            self.told_at = now;
            now.since(before)
        })
    }

    pub(crate) fn tell(&mut self, text: impl FnOnce() -> String, json: impl FnOnce() -> Value) {
        // Whoever does not listen any more is not worth stopping for.
        let _ = match self.manner {
            Manner::Json => writeln!(std::io::stdout().lock(), "{}", json()),
            Manner::Terminal => {
                self.line_is_open = true;
                write!(std::io::stderr().lock(), "\r\x1b[2K{}", text())
                    .and_then(|()| std::io::stderr().flush())
            }
            Manner::Log => writeln!(std::io::stderr().lock(), "{}", text()),
        };
    }

    /// Leaves the moving line.
    pub(crate) fn end(&mut self) {
        if std::mem::take(&mut self.line_is_open) {
            let _ = writeln!(std::io::stderr().lock());
        }
    }
}

#[allow(clippy::cast_precision_loss, reason = "a rate")]
pub(crate) fn per_second(now: u64, before: u64, passed: Span) -> f64 {
    now.saturating_sub(before) as f64 * 1000.0 / passed.0.max(1) as f64
}
