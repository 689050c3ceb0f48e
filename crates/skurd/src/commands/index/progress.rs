//! What is told of a load: problems as they are found, progress now and then, and a summary.

use std::io::Write;
use std::path::Path;

use anyhow::Result;
use declare::counted;
use declare::text::{bytes_text, rate_text, time_json};
use frontier::ports::Clock;
use harvest::clock::SystemClock;
use harvest::session::note;
use index::Totals;
use policy::time::{Span, Time};
use serde::Serialize;
use serde_json::{Value, json};

use super::tally::Tally;
use super::text::json_line;
use crate::output::line;
use crate::pages::{At, Problem};
use crate::progress::{Manner, Progress, per_second};

/// Problems of one command that are told; the rest is counted.
const PROBLEMS_TOLD_MAX: u64 = 1000;

pub(super) struct Teller {
    pub(super) progress: Progress,
    began: Time,
    told_links: u64,
    problems: u64,
}

/// How far the load is.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct Loading {
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
        Teller { progress: Progress::new(as_json), began: SystemClock.now(), told_links: 0, problems: 0 }
    }

    fn is_json(&self) -> bool {
        self.progress.manner == Manner::Json
    }

    /// Something a person wants to know at once.
    pub(super) fn say(&mut self, text: &str) {
        if !self.is_json() {
            self.progress.end();
            let _ = note(text);
        }
    }

    pub(super) fn problem(&mut self, file: &Path, problem: &Problem) {
        self.problems += 1;
        if self.problems > PROBLEMS_TOLD_MAX {
            return;
        }
        let (file, reason) = (file.display(), &problem.reason);
        let (line, offset, text) = match problem.at {
            At::Line(line) => (Some(line), None, format!("{file}:{line}: skipped: {reason}")),
            At::Offset(offset) => (None, Some(offset), format!("{file}: skipped at byte {offset}: {reason}")),
        };
        self.say(&text);
        if self.is_json() {
            let object = json!({ "event": "skipped", "file": file.to_string(), "line": line, "offset": offset, "reason": reason });
            let _ = writeln!(std::io::stdout().lock(), "{}", json_line(&object));
        }
    }

    pub(super) fn tell(&mut self, loading: &Loading, passed: Span) {
        let rate = per_second(loading.links, self.told_links, passed);
        self.told_links = loading.links;
        self.progress.tell(|| progress_text(loading, rate), || progress_json(loading, rate));
    }

    pub(super) fn summary(&mut self, outcome: &Outcome<'_>) -> Result<()> {
        self.progress.end();
        if self.problems > PROBLEMS_TOLD_MAX {
            self.say(&format!("… and {} more", self.problems - PROBLEMS_TOLD_MAX));
        }
        let took = SystemClock.now().since(self.began);
        match self.is_json() {
            true => line(json_line(&summary_json(outcome, took))),
            false => line(summary_text(outcome, took)),
        }
    }
}

fn progress_text(loading: &Loading, rate: f64) -> String {
    let Loading { pages, links, bytes, bytes_total, waiting } = loading;
    let of = bytes_total.map_or_else(String::new, |total| format!(" of {}", bytes_text(total)));
    let (rate, bytes) = (rate_text(rate), bytes_text(*bytes));
    format!("{pages} pages, {links} links, {rate} links/s, {waiting} batches wait, {bytes}{of}")
}

fn progress_json(loading: &Loading, rate: f64) -> Value {
    let mut object = json!(loading);
    object["event"] = json!("progress");
    object["time"] = time_json(Some(SystemClock.now()));
    object["links_per_second"] = json!(rate);
    object
}

#[allow(clippy::cast_precision_loss, reason = "seconds with three decimals")]
fn summary_json(outcome: &Outcome<'_>, took: Span) -> Value {
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
        "revisits": tally.revisits,
        "revisits_skipped": tally.unfollowed,
        "broken": tally.broken,
        "damaged": tally.damaged,
        "seconds": took.0 as f64 / 1000.0,
        "uris": totals.uris,
        "loaded": totals.loaded,
        "stopped": if outcome.interrupted { "interrupted" } else { "done" },
    })
}

fn revisits_text(tally: &Tally) -> String {
    match (tally.revisits, tally.unfollowed) {
        (0, _) => "none".to_owned(),
        (all, 0) => format!("{all}, whose links are those of the records they refer to"),
        (all, lost) => {
            format!("{all}; the records that {lost} of them refer to are in none of these files: skipped")
        }
    }
}

fn summary_text(outcome: &Outcome<'_>, took: Span) -> String {
    let Outcome { tally, totals, collection, .. } = outcome;
    let rate = rate_text(per_second(outcome.links, 0, took));
    let (what, next) = match outcome.interrupted {
        true => ("stopped after", "the same command goes on where it stopped"),
        false => ("loaded", "skurd index top | skurd index missing | skurd index page URL --inlinks"),
    };
    let (pages, links) = (counted(tally.pages, "page"), counted(tally.links, "link"));
    let lines = [
        format!("{what} {pages} with {links} in {took}, {rate} links/s"),
        format!("  changed   {} new or other than before", counted(tally.changed, "page")),
        format!("  deleted   {}", counted(tally.deletes, "page")),
        format!("  skipped   links: {}", tally.skipped_text()),
        format!("  revisits  {}", revisits_text(tally)),
        format!("  broken    {} lines or records left out, {} places damaged", tally.broken, tally.damaged),
        format!(
            "  index     {collection}: {} URIs, {} of them loaded, {} links, {} domains",
            totals.uris, totals.loaded, totals.links, totals.domains
        ),
        format!("next: {next}"),
    ];
    lines.join("\n")
}
