//! What is told of a load: problems as they are found, progress now and then, and a summary.

use std::io::{IsTerminal, Write};
use std::path::Path;

use anyhow::Result;
use declare::counted;
use declare::text::{bytes_text, rate_text, time_json};
use frontier::ports::Clock;
use harvest::clock::SystemClock;
use harvest::session::stdout;
use index::Totals;
use policy::time::{Span, Time};
use serde_json::json;

use super::tally::Tally;
use super::text::json_line;
use crate::pages::{At, Problem};

/// How often the line moves, and how often one is written where none can move.
const TERMINAL_EVERY: Span = Span(250);
const LOG_EVERY: Span = Span::seconds(10);
/// Problems of one command that are told; the rest is counted.
const PROBLEMS_TOLD_MAX: u64 = 1000;

pub(super) struct Teller {
    as_json: bool,
    on_terminal: bool,
    began: Time,
    told_at: Time,
    told_links: u64,
    line_is_open: bool,
    problems: u64,
}

/// How far the load is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Progress {
    /// Of this run.
    pub(super) pages: u64,
    pub(super) links: u64,
    pub(super) bytes: u64,
    /// None where a length is not known.
    pub(super) bytes_total: Option<u64>,
    /// Notes that wait for observers.
    pub(super) waiting: u64,
}

/// What a load came to.
pub(super) struct Outcome<'a> {
    pub(super) collection: &'a str,
    pub(super) files: usize,
    /// Of the files, whichever run loaded it.
    pub(super) tally: Tally,
    /// Links of this run.
    pub(super) links: u64,
    pub(super) totals: Totals,
    pub(super) interrupted: bool,
}

impl Teller {
    pub(super) fn new(as_json: bool) -> Teller {
        let now = SystemClock.now();
        Teller {
            as_json,
            on_terminal: !as_json && std::io::stderr().is_terminal(),
            began: now,
            told_at: now,
            told_links: 0,
            line_is_open: false,
            problems: 0,
        }
    }

    /// Leaves the moving line.
    pub(super) fn end(&mut self) {
        if std::mem::take(&mut self.line_is_open) {
            let _ = writeln!(std::io::stderr().lock());
        }
    }

    /// Something a person wants to know at once.
    pub(super) fn say(&mut self, text: &str) {
        if !self.as_json {
            self.end();
            let _ = writeln!(std::io::stderr().lock(), "{text}");
        }
    }

    pub(super) fn problem(&mut self, file: &Path, problem: &Problem) {
        self.problems += 1;
        if self.problems > PROBLEMS_TOLD_MAX {
            return;
        }
        let (file, reason) = (file.display(), &problem.reason);
        if self.as_json {
            let (line, offset) = match problem.at {
                At::Line(line) => (Some(line), None),
                At::Offset(offset) => (None, Some(offset)),
            };
            let object = json!({ "event": "skipped", "file": file.to_string(), "line": line, "offset": offset, "reason": reason });
            let _ = writeln!(std::io::stdout().lock(), "{}", json_line(&object));
            return;
        }
        match problem.at {
            At::Line(line) => self.say(&format!("{file}:{line}: skipped: {reason}")),
            At::Offset(offset) => self.say(&format!("{file}: skipped at byte {offset}: {reason}")),
        }
    }

    /// Whether it is time to tell how far the load is.
    pub(super) fn is_due(&self) -> bool {
        let every = if self.on_terminal { TERMINAL_EVERY } else { LOG_EVERY };
        SystemClock.now().since(self.told_at) >= every
    }

    pub(super) fn progress(&mut self, progress: &Progress) {
        let now = SystemClock.now();
        let passed = now.since(self.told_at);
        let rate = per_second(progress.links.saturating_sub(self.told_links), passed);
        // Whoever does not listen any more is not worth stopping for.
        let _ = if self.as_json {
            writeln!(std::io::stdout().lock(), "{}", progress_json(progress, rate, now))
        } else if self.on_terminal {
            self.line_is_open = true;
            let line = progress_text(progress, rate);
            write!(std::io::stderr().lock(), "\r\x1b[2K{line}").and_then(|()| std::io::stderr().flush())
        } else {
            writeln!(std::io::stderr().lock(), "{}", progress_text(progress, rate))
        };
        (self.told_at, self.told_links) = (now, progress.links);
    }

    pub(super) fn summary(&mut self, outcome: &Outcome<'_>) -> Result<()> {
        self.end();
        if self.problems > PROBLEMS_TOLD_MAX {
            self.say(&format!("… and {} more", self.problems - PROBLEMS_TOLD_MAX));
        }
        let took = SystemClock.now().since(self.began);
        let mut out = stdout();
        match self.as_json {
            true => writeln!(out, "{}", json_line(&summary_json(outcome, took)))?,
            false => summary_text(&mut out, outcome, took)?,
        }
        Ok(out.flush()?)
    }
}

#[allow(clippy::cast_precision_loss, reason = "a rate")]
fn per_second(number: u64, passed: Span) -> f64 {
    number as f64 * 1000.0 / passed.0.max(1) as f64
}

fn progress_text(progress: &Progress, rate: f64) -> String {
    let of = progress.bytes_total.map_or_else(String::new, |total| format!(" of {}", bytes_text(total)));
    format!(
        "{} pages, {} links, {} links/s, {} batches wait, {}{of}",
        progress.pages,
        progress.links,
        rate_text(rate),
        progress.waiting,
        bytes_text(progress.bytes),
    )
}

fn progress_json(progress: &Progress, rate: f64, now: Time) -> serde_json::Value {
    json!({
        "event": "progress",
        "time": time_json(Some(now)),
        "pages": progress.pages,
        "links": progress.links,
        "links_per_second": rate,
        "waiting": progress.waiting,
        "bytes": progress.bytes,
        "bytes_total": progress.bytes_total,
    })
}

#[allow(clippy::cast_precision_loss, reason = "seconds with three decimals")]
fn summary_json(outcome: &Outcome<'_>, took: Span) -> serde_json::Value {
    let Outcome { tally, totals, .. } = outcome;
    json!({
        "event": "summary",
        "collection": outcome.collection,
        "files": outcome.files,
        "pages": tally.pages,
        "deleted": tally.deletes,
        "changed": tally.changed,
        "links": tally.links,
        "skipped": tally.skipped_json(),
        "broken": tally.broken,
        "damaged": tally.damaged,
        "seconds": took.0 as f64 / 1000.0,
        "uris": totals.uris,
        "loaded": totals.loaded,
        "stopped": if outcome.interrupted { "interrupted" } else { "done" },
    })
}

fn many(number: u64, thing: &str) -> String {
    counted(usize::try_from(number).unwrap_or(usize::MAX), thing)
}

fn summary_text(out: &mut impl Write, outcome: &Outcome<'_>, took: Span) -> Result<()> {
    let Outcome { tally, totals, collection, .. } = outcome;
    let rate = rate_text(per_second(outcome.links, took));
    let what = if outcome.interrupted { "stopped after" } else { "loaded" };
    let (pages, links) = (many(tally.pages, "page"), many(tally.links, "link"));
    writeln!(out, "{what} {pages} with {links} in {took}, {rate} links/s")?;
    writeln!(out, "  changed   {} new or other than before", many(tally.changed, "page"))?;
    writeln!(out, "  deleted   {}", many(tally.deletes, "page"))?;
    writeln!(out, "  skipped   links: {}", tally.skipped_text())?;
    writeln!(
        out,
        "  broken    {} lines or records left out, {} places damaged",
        tally.broken, tally.damaged
    )?;
    writeln!(
        out,
        "  index     {collection}: {} URIs, {} of them loaded, {} links, {} domains",
        totals.uris, totals.loaded, totals.links, totals.domains
    )?;
    match outcome.interrupted {
        true => writeln!(out, "next: the same command goes on where it stopped")?,
        false => {
            writeln!(out, "next: skurd index top | skurd index missing | skurd index page URL --inlinks")?;
        }
    }
    Ok(())
}
