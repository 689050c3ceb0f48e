//! `skurd why`: every rule that decides about a URL, from stored state.

use std::io::Write;

use anyhow::Result;
use app::why::{WhyHost, WhyItem};
use frontier::ports::Clock;
use harvest::clock::SystemClock;
use harvest::session::stdout;
use policy::time::Time;
use serde_json::value::RawValue;
use server::client::{Call, Client};

use super::listing::given;
use crate::args::look::WhyArgs;

pub(crate) fn run(args: &WhyArgs) -> Result<()> {
    let ask = Client::open(&args.data.dir)?;
    let query = given([("url", Some(args.url.clone())), ("collection", args.collection.clone())]);
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
    if let Some(seen) = &why.rendering {
        let seconds = |ms: u64| format!("{}.{} s", ms / 1000, ms % 1000 / 100);
        fact(
            "browser",
            &format!(
                "{} in {} (load {}, behaviours {}, collect {}); {} requests, {} of them from the archive, {} failed, {} refused",
                seen.ending,
                seconds(seen.total_ms),
                seconds(seen.load_ms),
                seconds(seen.behave_ms),
                seconds(seen.collect_ms),
                seen.requests,
                seen.from_archive,
                seen.failed,
                seen.refused,
            ),
        )?;
        for refusal in &seen.refusals {
            fact("refused", &format!("{}: {}", refusal.url, refusal.reason))?;
        }
        for said in seen.truncated.iter().chain(&seen.note) {
            fact("browser", said)?;
        }
    }
    fact("host", &host_sentence(&why.host, now))?;
    if let Some(way) = &why.way {
        fact("way", way)?;
    }
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

/// What the host of a URL is doing, and the group it shares its slots with.
fn host_sentence(host: &WhyHost, now: Time) -> String {
    if host.idle {
        return format!("{} has no URLs waiting", host.host);
    }
    let mut parts = vec![host.host.clone()];
    if let Some(group) = &host.group {
        parts[0].push_str(&format!(" (in group {group})"));
    }
    parts.extend(busy("busy with", &host.in_flight, host.busy_until.as_deref()));
    parts.extend(busy("its group is busy with", &host.group_in_flight, host.group_busy_until.as_deref()));
    let backs_off = host.backoff_until.as_deref().and_then(moment).filter(|until| *until > now);
    if let Some(until) = backs_off {
        parts.push(format!("backs off until {} after {} failures", when(until, now), host.failures));
    }
    parts.extend(host.windows.as_ref().map(|windows| format!("is asked only {windows}")));
    parts.push(match next(host) {
        Some(next) if next > now => format!("can next be asked {}", when(next, now)),
        Some(_) => "can be asked now".to_owned(),
        None => "no slot is free".to_owned(),
    });
    parts.join(", ")
}

/// When it can next be asked; a host in a group that is in use waits for the group too.
fn next(host: &WhyHost) -> Option<Time> {
    let own = host.next.as_deref().and_then(moment);
    match host.group_in_use {
        true => own.zip(host.group_next.as_deref().and_then(moment)).map(|(own, group)| own.max(group)),
        false => own,
    }
}

fn busy(how: &str, urls: &[String], until: Option<&str>) -> Option<String> {
    let (first, until) = urls.first().zip(until)?;
    let more = if urls.len() > 1 { format!(" and {} more", urls.len() - 1) } else { String::new() };
    Some(format!("{how} {first}{more}, reserved until {until}"))
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
