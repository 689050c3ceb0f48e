//! Walks as JSON lines: a `fetch` for each request, a `walk` for where each stands.
//!
//! Ranges may be many, so they are written as they are found.

use std::io::{self, Write};

use declare::text::time_json;
use frontier::ports::{Fetch, WalkOrder};
use frontier::{Harvested, WalkRun};
use harvest::error_word;
use harvest::walk::Standing;
use policy::walk::{Kind, Outcome, Walk};
use serde_json::{Value, json};

/// What a request to an id came to.
pub(crate) fn fetch(own: &WalkOrder, harvested: &Harvested<'_>) -> Value {
    let Harvested { order, report, captures, .. } = harvested;
    let capture = captures.iter().rev().find(|(_, capture)| capture.url == order.url.as_str());
    let status = match &report.result {
        Fetch::Answer(facts) => Some(facts.status),
        _ => None,
    };
    json!({
        "event": "fetch",
        "walk": own.walk,
        "id": own.id,
        "attempt": own.attempt,
        "outcome": report.existence.unwrap_or(Outcome::Failed),
        "url": order.url.as_str(),
        "status": status,
        "error": status.is_none().then(|| error_word(&report.result)),
        "problem": report.problem,
        "time": time_json(Some(report.at)),
        "bytes": report.bytes,
        "digest": capture.map(|(_, capture)| capture.digest.as_str()),
        "file": capture.map(|(_, capture)| capture.file.as_str()),
        "offset": capture.map(|(_, capture)| capture.offset),
    })
}

/// Where a walk stands: its split, and why it stopped.
pub(crate) fn walk(out: &mut impl Write, name: &str, walk: &Walk, run: &WalkRun) -> io::Result<()> {
    write!(out, "{{\"event\":\"walk\",\"walk\":{}", Value::from(name))?;
    for (field, kind) in [("content", Kind::Content), ("holes", Kind::Hole), ("remaining", Kind::Unknown)] {
        write!(out, ",\"{field}\":[")?;
        let mut between = "";
        for range in walk.ranges(kind, 0) {
            write!(out, "{between}[{},{}]", range.start(), range.end())?;
            between = ",";
        }
        write!(out, "]")?;
    }
    let rest = serde_json::to_string(&Standing::of(walk, run))?;
    writeln!(out, ",{}", rest.trim_start_matches('{'))
}
