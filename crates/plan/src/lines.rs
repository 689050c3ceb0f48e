//! The same as JSON lines: one object per event, in the order in which things happened, then the
//! summaries.

use std::io::{self, Write};

use frontier::{ErrorKind, LinkTrace, State};
use policy::time::Time;
use serde_json::{Value, json};
use sim::Harvest;

use crate::contract::{ContractBy, item as contract_item};
use crate::forecast::{Forecast, UrlFact};
use crate::ledger::Ledger;
use crate::load::lateness;
use crate::text::short;

pub fn write_harvest(out: &mut impl Write, harvest: &Harvest) -> io::Result<()> {
    let mut line = json!({
        "event": "harvest",
        "time": harvest.ended.to_string(),
        "collection": harvest.collection,
        "url": harvest.url,
        "host": harvest.host,
        "seed": harvest.seed,
        "due": harvest.due.to_string(),
        "late_ms": lateness(harvest.due, harvest.ended).0,
    });
    match (harvest.status, harvest.error) {
        (Some(status), _) => {
            line["status"] = json!(status);
            line["unchanged"] = json!(harvest.unchanged);
        }
        (None, error) => line["error"] = json!(error.map(error_word)),
    }
    writeln!(out, "{line}")
}

fn error_word(error: ErrorKind) -> &'static str {
    match error {
        ErrorKind::Dns => "dns",
        ErrorKind::Connect => "connect",
        ErrorKind::Timeout => "timeout",
        ErrorKind::Broken => "broken",
        ErrorKind::Robots => "robots",
    }
}

/// Decided links: of the page that was harvested, or of a start, which has none.
pub fn write_links(
    out: &mut impl Write,
    at: Time,
    page: Option<&str>,
    links: &[LinkTrace],
) -> io::Result<()> {
    for link in links {
        let line = json!({
            "event": "link",
            "time": at.to_string(),
            "collection": link.collection,
            "page": page,
            "harvest_of": harvest_of(link),
            "url": link.url,
            "p": link.parent,
            "s_before": link.queued,
            "b": link.best,
            "c": link.context.as_ref().map(|(seed, _)| seed),
            "c_rule": link.context.as_ref().map(|(_, rule)| rule.as_str()),
            "s_after": link.owner,
            "rule": link.rule.as_str(),
        });
        writeln!(out, "{line}")?;
    }
    Ok(())
}

pub fn write_summaries(
    out: &mut impl Write,
    ledger: &Ledger,
    forecast: &Forecast,
    seed: u64,
) -> io::Result<()> {
    write_hosts(out, ledger)?;
    write_profiles(out, forecast)?;
    write_feasibility(out, forecast)?;
    for fact in &forecast.urls {
        writeln!(out, "{}", url_line(fact))?;
    }
    let state = |state| forecast.count(state);
    let end = json!({
        "event": "end",
        "time": forecast.end.to_string(),
        "seed": seed,
        "simulated_ms": ledger.grid.length.0,
        "harvests": ledger.harvests,
        "urls": forecast.urls.len(),
        "queued": state(State::Queued) + state(State::InFlight),
        "done": state(State::Done),
        "blacklisted": state(State::Blacklisted),
    });
    writeln!(out, "{end}")
}

fn write_hosts(out: &mut impl Write, ledger: &Ledger) -> io::Result<()> {
    let elapsed = ledger.grid.length;
    for (name, load) in &ledger.hosts {
        let line = json!({
            "event": "host",
            "host": name,
            "group": load.group,
            "requests": load.requests,
            "failures": load.failures,
            "busy_share": load.busy_share(elapsed),
            "mean_per_hour": load.mean_per_hour(elapsed),
            "peak_per_hour": load.peak_per_hour,
            "polite_per_hour": load.limit_per_hour(),
        });
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// As the report of a harvest has them.
fn write_profiles(out: &mut impl Write, forecast: &Forecast) -> io::Result<()> {
    for (name, contract) in &forecast.contract {
        let waiting = forecast.waiting.get(name).copied().unwrap_or_default();
        let mut line = json!({
            "event": "profile",
            "queued": waiting.queued,
            "never_harvested": waiting.never_harvested,
        });
        let item = json!(contract_item(ContractBy::Profile, name, contract));
        if let (Some(line), Value::Object(item)) = (line.as_object_mut(), item) {
            line.extend(item);
        }
        writeln!(out, "{line}")?;
    }
    Ok(())
}

fn write_feasibility(out: &mut impl Write, forecast: &Forecast) -> io::Result<()> {
    for row in &forecast.feasibility {
        let line = json!({
            "event": "feasibility",
            "host": row.unit,
            "urls": row.urls,
            "wanted_per_day": row.wanted_per_day,
            "possible_per_day": row.possible_per_day,
            "delay_ms": row.delay.0,
            "load": row.load(),
            "feasible": row.load() <= 1.0,
        });
        writeln!(out, "{line}")?;
    }
    Ok(())
}

fn url_line(fact: &UrlFact) -> Value {
    let record = fact.record.as_ref();
    json!({
        "event": "url",
        "collection": fact.collection,
        "url": fact.url,
        "host": fact.row.host,
        "state": fact.state.map_or("removed", State::as_str),
        "seed": record.map(|record| &record.seed),
        "depth": record.map(|record| record.position.depth),
        "hops": record.map(|record| record.position.hops),
        "due": record.map(|record| record.due.to_string()),
        "last_fetch": record.and_then(|record| record.last).map(|last| last.at.to_string()),
        "harvests": fact.row.harvests,
        "errors": record.map(|record| record.errors),
        "not_found": record.map(|record| record.not_found),
        "cycles": record.map(|record| record.cycles),
    })
}

/// The seed that was started, or for which the page was harvested.
pub fn harvest_of(link: &LinkTrace) -> &str {
    let started = link.context.as_ref().map(|(seed, _)| seed.as_str());
    short(link.parent.as_deref().or(started).unwrap_or("–"))
}
