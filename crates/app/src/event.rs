//! A harvest as one line of JSON: the same in the stream of events and on standard output.

use declare::text::time_json;
use frontier::ports::Fetch;
use frontier::{Ending, Harvested};
use harvest::error_word;
use policy::trap::Suspicion;
use policy::walk::Outcome;
use serde_json::{Value, json};

use crate::captures::ChangeItem;

/// F36: a run that came to the end of a budget.
pub fn budget_json(ending: &Ending) -> Value {
    json!({
        "event": "budget",
        "time": time_json(Some(ending.at)),
        "holder": ending.holder.kind(),
        "name": ending.holder.name(),
        "limit": ending.limit.key(),
        "run": ending.run,
        "used": ending.used,
        "max": ending.max,
    })
}

pub fn harvest_json(harvested: &Harvested<'_>) -> Value {
    let Harvested { order, report, captures, summary } = harvested;
    let capture = captures.iter().rev().find(|(_, capture)| capture.url == order.url.as_str());
    let (status, digest, unchanged) = match &report.result {
        Fetch::Answer(facts) => (Some(facts.status), facts.digest.as_deref(), facts.unchanged),
        _ => (None, None, false),
    };
    let walk = order.walk.as_ref();
    json!({
        "event": "harvest",
        "time": time_json(Some(report.at)),
        "collection": order.collection,
        "url": order.url.as_str(),
        "seed": order.seed,
        "depth": order.position.depth,
        "status": status,
        "error": status.is_none().then(|| error_word(&report.result)),
        "problem": report.problem,
        "bytes": report.bytes,
        "digest": digest,
        "unchanged": unchanged,
        "change": summary.moved.map(ChangeItem::from),
        "rendered": report.rendering.as_ref().map(|rendering| rendering.ending.as_str()),
        "links": report.outlinks.len(),
        "added": summary.added,
        "left_out": summary.left_out,
        "next": time_json(summary.next_due),
        "file": capture.map(|(_, capture)| capture.file.as_str()),
        "offset": capture.map(|(_, capture)| capture.offset),
        "walk": walk.map(|own| own.walk.as_str()),
        "id": walk.map(|own| own.id),
        "attempt": walk.map(|own| own.attempt),
        "outcome": walk.map(|_| report.existence.unwrap_or(Outcome::Failed)),
    })
}

/// What is suspected since that harvest (F37), a line each.
pub fn traps_json(harvested: &Harvested<'_>) -> Vec<Value> {
    let Harvested { order, report, summary, .. } = harvested;
    let line = |suspicion: &Suspicion| {
        json!({
            "event": "trap",
            "time": time_json(Some(report.at)),
            "collection": order.collection,
            "host": order.host,
            "id": suspicion.id(),
            "kind": suspicion.kind.as_str(),
            "template": suspicion.template,
            "score": suspicion.score,
            "found": suspicion.figures.found,
            "says": suspicion.figures.says(suspicion.kind),
            "line": suspicion.remedy.line(),
            "examples": suspicion.examples,
        })
    };
    summary.suspected.iter().map(line).collect()
}
