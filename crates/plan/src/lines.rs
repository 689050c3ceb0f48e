//! The same as JSON lines: one object per event, in the order in which things happened, then the
//! summaries.

use std::io::{self, Write};

use frontier::{BudgetRow, Contract, ErrorKind, FeasibilityRow, LinkTrace, State};
use policy::time::{Span, Time};
use policy::unit::print_duration;
use serde_json::{Value, json};
use sim::Harvest;

use crate::adaptive::{Compared, Spent};
use crate::contract::{ContractBy, item as contract_item};
use crate::forecast::{Forecast, UrlFact, Waiting};
use crate::ledger::Ledger;
use crate::load::HostLoad;
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
        "late_ms": harvest.ended.since(harvest.due).0,
    });
    match (harvest.status, harvest.error) {
        (Some(status), _) => {
            line["status"] = json!(status);
            line["unchanged"] = json!(harvest.unchanged);
        }
        (None, error) => line["error"] = json!(error.map(ErrorKind::as_str)),
    }
    writeln!(out, "{line}")
}

/// Decided links: of the page that was harvested, or of a start, which has none.
pub fn write_links(out: &mut impl Write, at: Time, links: &[LinkTrace]) -> io::Result<()> {
    for link in links {
        let line = json!({
            "event": "link",
            "time": at.to_string(),
            "collection": link.collection,
            "page": link.page,
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

/// F41: one line for each profile that adapts.
pub fn write_compared(out: &mut impl Write, compared: &[Compared]) -> io::Result<()> {
    for own in compared {
        let spent = |spent: &Spent| json!({ "harvests": spent.harvests, "changes_seen": spent.seen, "changes_missed": spent.missed });
        let line = json!({
            "type": "adaptive",
            "profile": own.profile,
            "every": format!("{}..{}", print_duration(own.range.0), print_duration(own.range.1)),
            "adaptive": spent(&own.adaptive.sum),
            "fixed_every": print_duration(own.fixed_every),
            "fixed": spent(&own.fixed.sum),
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
    let hosts = ledger.hosts.iter().map(|(name, load)| host_line(name, load, ledger.grid.length));
    let profiles = forecast.contract.iter().map(|(name, contract)| {
        profile_line(name, contract, forecast.waiting.get(name).copied().unwrap_or_default())
    });
    let feasibility = forecast.feasibility.iter().map(feasibility_line);
    let urls = forecast.urls.iter().map(url_line);
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
    let budgets = forecast.budgets.iter().map(|row| budget_line(row, forecast));
    let mut lines = hosts.chain(profiles).chain(feasibility).chain(budgets).chain(urls).chain([end]);
    lines.try_for_each(|line| writeln!(out, "{line}"))
}

fn host_line(name: &str, load: &HostLoad, elapsed: Span) -> Value {
    json!({
        "event": "host",
        "host": name,
        "group": load.group,
        "requests": load.requests,
        "failures": load.failures,
        "busy_share": load.busy_share(elapsed),
        "mean_per_hour": load.mean_per_hour(elapsed),
        "peak_per_hour": load.peak_per_hour,
        "polite_per_hour": load.limit_per_hour(),
    })
}

/// As the report of a harvest has it, with what waits.
fn profile_line(name: &str, contract: &Contract, waiting: Waiting) -> Value {
    let mut line = json!(contract_item(ContractBy::Profile, name, contract));
    line["event"] = json!("profile");
    line["queued"] = json!(waiting.queued);
    line["never_harvested"] = json!(waiting.never_harvested);
    line
}

/// F36: a limit, and when the first run came to its end.
fn budget_line(row: &BudgetRow, forecast: &Forecast) -> Value {
    let ended = forecast.endings.iter().find(|end| end.holder == row.holder && end.limit == row.limit);
    json!({
        "event": "budget",
        "holder": row.holder.kind(),
        "name": row.holder.name(),
        "limit": row.limit.key(),
        "run": row.run,
        "used": row.used,
        "max": row.max,
        "used_up": ended.map(|end| end.at.to_string()),
        "held": row.held,
        "refused": row.refused,
    })
}

fn feasibility_line(row: &FeasibilityRow) -> Value {
    json!({
        "event": "feasibility",
        "host": row.unit,
        "urls": row.urls,
        "wanted_per_day": row.wanted_per_day,
        "possible_per_day": row.possible_per_day,
        "delay_ms": row.delay.0,
        "load": row.load(),
        "feasible": row.load() <= 1.0,
    })
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
