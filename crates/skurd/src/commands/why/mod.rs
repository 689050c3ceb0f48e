//! `skurd why`: every rule that decides about a URL, from stored state.

mod host;

use std::io::Write;

use anyhow::Result;
use app::why::WhyItem;
use frontier::ports::Clock;
use harvest::clock::SystemClock;
use harvest::session::stdout;
use policy::time::Time;
use serde_json::value::RawValue;
use server::client::{Call, Client};

use crate::args::WhyArgs;

pub(crate) fn run(args: &WhyArgs) -> Result<()> {
    let ask = Client::open(&args.data.dir)?;
    let mut query = vec![("url", args.url.clone())];
    query.extend(args.collection.clone().map(|name| ("collection", name)));
    let items: Vec<Box<RawValue>> = ask.ask(&Call::get("why", query))?;
    let now = SystemClock.now();
    let mut out = stdout();
    for (place, item) in items.iter().enumerate() {
        if args.json {
            writeln!(out, "{item}")?;
            continue;
        }
        if place > 0 {
            writeln!(out)?;
        }
        print(&mut out, &serde_json::from_str(item.get())?, now)?;
    }
    Ok(out.flush()?)
}

fn print(out: &mut impl Write, why: &WhyItem, now: Time) -> Result<()> {
    writeln!(out, "{} in collection {}", why.url, why.collection)?;
    let mut fact = |name: &str, text: &str| writeln!(out, "  {name:<10} {text}");
    fact("situation", &situation(why, now))?;
    match (&why.seed, &why.best_seed) {
        (Some(seed), Some(best)) if best == seed => fact("seed", &format!("{seed} (the best match)"))?,
        (Some(seed), Some(best)) => fact("seed", &format!("{seed} (the best match is {best})"))?,
        (Some(seed), None) => fact("seed", &format!("{seed} (no seed matches the URL)"))?,
        (None, Some(best)) => fact("best match", &format!("seed {best}"))?,
        (None, None) => fact("best match", "no seed matches the URL")?,
    }
    if let (Some(depth), Some(hops)) = (why.depth, why.hops) {
        let requisite = if why.requisite == Some(true) { ", a page requisite" } else { "" };
        fact("position", &format!("depth {depth}, {hops} off-domain hops{requisite}"))?;
        fact("history", &history(why))?;
    }
    if let Some(problem) = &why.problem {
        fact("problem", problem)?;
    }
    fact("host", &host::sentence(&why.host, now))?;
    for what in &why.paused {
        fact("paused", &format!("{what}: nothing of it is given out until it is resumed"))?;
    }
    if !why.steps.is_empty() {
        writeln!(out, "  rules")?;
    }
    for step in &why.steps {
        writeln!(out, "    {:<4} {}", step.rule, step.finding)?;
    }
    if let Some(verdict) = &why.verdict {
        writeln!(out, "  verdict    {} {}", verdict.rule, verdict.text)?;
    }
    Ok(())
}

fn situation(why: &WhyItem, now: Time) -> String {
    let due = || why.due.as_deref().and_then(moment).map_or_else(String::new, |due| when(due, now));
    match (why.situation.as_str(), &why.blacklist) {
        ("queued", _) => format!("queued, due {}", due()),
        ("in-flight", _) => format!("in flight: being fetched, was due {}", due()),
        ("done", _) => format!("done in run {}", why.run.unwrap_or_default()),
        (_, Some(entry)) => format!("blacklisted since {} ({})", entry.since, entry.reason),
        _ => "unknown: neither queued, done nor blacklisted".to_owned(),
    }
}

fn history(why: &WhyItem) -> String {
    let last = why.last_fetch.as_ref().map_or("never fetched".to_owned(), |at| format!("last fetched {at}"));
    format!(
        "{last}; run {}: {} cycles, {} errors and {} not-founds in a row",
        why.run.unwrap_or_default(),
        why.cycles.unwrap_or_default(),
        why.errors.unwrap_or_default(),
        why.not_found.unwrap_or_default()
    )
}

/// A time as the API writes it.
fn moment(text: &str) -> Option<Time> {
    net::warc::date::parse(text)
}

/// `2024-02-29T12:00:00Z (in 3h)`.
fn when(time: Time, now: Time) -> String {
    match time > now {
        true => format!("{time} (in {})", time.since(now)),
        false => format!("{time} ({} ago)", now.since(time)),
    }
}
