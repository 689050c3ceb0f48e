//! What is told at the end: figures, files, and what to run next.

use std::io::Write;
use std::path::Path;

use anyhow::Result;
use declare::text::{bytes_text, percent_text};
use harvest::Outcome;
use harvest::figures::Standing;
use harvest::session::stdout;
use serde_json::json;

pub(crate) fn summarise(outcome: &Outcome, data: &Path, as_json: bool) -> Result<()> {
    let counts = outcome.figures.now();
    let mut out = stdout();
    let took = outcome.ended.since(outcome.began);
    if as_json {
        let object = json!({
            "event": "summary",
            "harvests": counts.harvests,
            "pages": counts.pages,
            "unchanged": counts.unchanged,
            "bytes": counts.bytes,
            "captures": counts.captures,
            "statuses": counts.statuses.iter().map(|(status, n)| (status.to_string(), *n)).collect::<std::collections::BTreeMap<_, _>>(),
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
            "stopped": if outcome.interrupted { "interrupted" } else { "done" },
        });
        writeln!(out, "{object}")?;
        return Ok(out.flush()?);
    }
    let listed = |pairs: Vec<String>| if pairs.is_empty() { "none".to_owned() } else { pairs.join(", ") };
    writeln!(
        out,
        "{} URLs harvested in {took} from {} hosts, {}",
        counts.harvests,
        counts.hosts.len(),
        bytes_text(counts.bytes)
    )?;
    let statuses = counts.statuses.iter().map(|(status, n)| format!("{status}: {n}")).collect();
    writeln!(out, "  answers   {}", listed(statuses))?;
    let errors = counts.errors.iter().map(|(kind, n)| format!("{kind}: {n}")).collect();
    writeln!(out, "  no answer {}", listed(errors))?;
    writeln!(out, "  unchanged {}", counts.unchanged)?;
    let Standing { queued, on_time, missed, overdue, .. } = counts.standing;
    if let Some(on_time) = on_time {
        let on_time = percent_text(on_time);
        writeln!(
            out,
            "  on time   {on_time} of what the last day was to bring, {missed} missed, {overdue} overdue"
        )?;
    }
    writeln!(out, "  queue     {queued} URLs wait for their time or for another try")?;
    if counts.found + counts.missed > 0 {
        writeln!(out, "  walks     {} ids found, {} missed", counts.found, counts.missed)?;
    }
    match counts.files.len() {
        0 => writeln!(out, "  archive   nothing new")?,
        files => writeln!(
            out,
            "  archive   {} captures in {files} file{} in {}",
            counts.captures,
            if files == 1 { "" } else { "s" },
            harvest::wire::warc_dir(data).display()
        )?,
    }
    let at = data_flag(data);
    writeln!(
        out,
        "next: skurd captures{at} | skurd report domains{at} | skurd why URL{at} | skurd cdx export{at}"
    )?;
    Ok(out.flush()?)
}

/// The option that leads to this data directory, where one is needed.
pub(crate) fn data_flag(data: &Path) -> String {
    match data == Path::new("./skurd-data") {
        true => String::new(),
        false => format!(" --data {}", data.display()),
    }
}
