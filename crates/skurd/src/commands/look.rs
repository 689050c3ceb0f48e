//! `skurd queue`, `hosts`, `blacklist`, `captures` and `start`: looking at what is known of URLs
//! and hosts, and deciding about them.

use std::io::Write;

use anyhow::{Context, Result, anyhow};
use app::blacklist::{Added, BlacklistItem, Lifted, LiftedPattern, PatternItem};
use app::captures::CaptureItem;
use app::control::{Run, Start};
use app::hosts::HostItem;
use app::queue::{Moved, QueueItem};
use axum::http::Method;
use declare::given::period_begin;
use declare::hint::{hinted, misused};
use declare::{counted, excerpt};
use harvest::session::{note, stdout};
use policy::time::{Span, Time};
use policy::unit::print_duration;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use server::client::{Call, Client, NOT_UNDERSTOOD, segment};

use super::archive::copy_to;
use super::listing::{Listing, given};
use crate::args::harvest::{CaptureArgs, CapturesArgs, CapturesCommand};
use crate::args::look::{
    BlacklistArgs, BlacklistCommand, BlacklistList, HostsArgs, QueueArgs, QueueCommand, StartArgs, UrlArgs,
    WhichArgs,
};
use crate::output::{Column, left, line, right, shown};

const URLS: [Column<QueueItem>; 9] = [
    left("state", |url| shown(url.state)),
    left("due", |url| shown(&url.due)),
    left("last fetch", |url| shown(&url.last_fetch)),
    right("depth", |url| shown(url.depth)),
    right("errors", |url| shown(url.errors)),
    right("cycles", |url| shown(url.cycles)),
    left("collection", |url| shown(&url.collection)),
    left("seed", |url| shown(&url.seed)),
    left("url", |url| shown(&url.url)),
];

const HOSTS: [Column<HostItem>; 8] = [
    left("host", |host| shown(&host.host)),
    left("group", |host| shown(&host.group)),
    left("next use", |host| shown(&host.next)),
    right("in flight", |host| shown(host.in_flight.len())),
    left("busy until", |host| shown(&host.busy_until)),
    right("response", |host| Span(host.response_ms).to_string()),
    left(
        "backs off until",
        |host| if host.paused { "(paused)".to_owned() } else { shown(&host.backoff_until) },
    ),
    right("failures", |host| shown(host.failures)),
];

const BLACKLISTED: [Column<BlacklistItem>; 5] = [
    left("since", |url| shown(&url.since)),
    left("until", |url| url.until.clone().unwrap_or_else(|| "lifted".to_owned())),
    left("reason", |url| shown(&url.reason)),
    left("collection", |url| shown(&url.collection)),
    left("url", |url| shown(&url.url)),
];

const PATTERNS: [Column<PatternItem>; 5] = [
    left("since", |own| shown(&own.since)),
    left("until", |own| own.until.clone().unwrap_or_else(|| "lifted".to_owned())),
    left("reason", |own| shown(&own.reason)),
    left("collection", |own| own.collection.clone().unwrap_or_else(|| "(each)".to_owned())),
    left("pattern", |own| shown(&own.pattern)),
];

const CAPTURES: [Column<CaptureItem>; 7] = [
    left("time", |capture| shown(&capture.time)),
    left("collection", |capture| shown(&capture.collection)),
    right("status", |capture| shown(capture.status)),
    left("mime", mime),
    left("url", |capture| shown(&capture.url)),
    left("file", |capture| shown(&capture.file)),
    right("offset", |capture| shown(capture.offset)),
];

/// Of a revisit, whose payload it is.
fn mime(capture: &CaptureItem) -> String {
    match &capture.refers_to {
        Some(other) if other.url != capture.url => format!("(as {} at {})", excerpt(&other.url), other.time),
        _ if capture.revisit => "(as before)".to_owned(),
        _ => shown(&capture.mime),
    }
}

pub(crate) fn queue(args: &QueueArgs) -> Result<()> {
    if let Some(QueueCommand::Move { which, to }) = &args.command {
        let to = if to.0 == 0 { "now".to_owned() } else { print_duration(*to) };
        return each(which, "queue/move", &json!({ "to": to }), |moved: Moved| {
            (format!("is due {}", moved.due), moved.url, moved.collections)
        });
    }
    let state = args.state.map(|state| state.as_str().to_owned());
    let query =
        given([("collection", args.collection.clone()), ("host", args.host.clone()), ("state", state)]);
    let listing = Listing { path: "queue", query, limit: args.limit, json: args.json, columns: &URLS };
    listing.print_or(&args.data.dir, "no URL is there; `skurd start` queues the seeds")
}

pub(crate) fn hosts(args: &HostsArgs) -> Result<()> {
    let query = vec![("busy", args.busy.to_string())];
    let listing = Listing { path: "hosts", query, limit: args.limit, json: args.json, columns: &HOSTS };
    listing.print_or(
        &args.data.dir,
        match args.busy {
            true => "no host is being asked just now",
            false => "no host has URLs; `skurd start` queues the seeds",
        },
    )
}

pub(crate) fn blacklist(args: &BlacklistArgs) -> Result<()> {
    match &args.command {
        None => blacklisted(&args.list),
        Some(BlacklistCommand::List(args)) => blacklisted(args),
        Some(BlacklistCommand::Add { which, reason, span, until }) => {
            let until = until.map(|until| until.to_string());
            let how = json!({ "reason": reason, "for": span.map(print_duration), "until": until });
            bar(which, &how)?;
            each(&which.of_urls(), "blacklist", &how, |added: Added| {
                let end =
                    added.until.map_or("until it is lifted".to_owned(), |until| format!("until {until}"));
                (format!("is blacklisted {end}"), added.url, added.collections)
            })
        }
        Some(BlacklistCommand::Lift(which)) => lift(which).and_then(|()| {
            each(&which.of_urls(), "blacklist/lift", &json!({}), |lifted: Lifted| {
                ("is back in the queue".to_owned(), lifted.url, lifted.collections)
            })
        }),
    }
}

impl WhichArgs {
    fn of_urls(&self) -> UrlArgs {
        UrlArgs { data: self.data.clone(), urls: self.urls.clone(), collection: self.collection.clone() }
    }

    /// As the API spells them.
    fn patterns(&self) -> Vec<String> {
        let all = [("host", &self.hosts), ("prefix", &self.prefixes), ("regex", &self.regexes)];
        all.into_iter().flat_map(|(kind, own)| own.iter().map(move |text| format!("{kind}:{text}"))).collect()
    }
}

/// F39.
fn bar(which: &WhichArgs, how: &Value) -> Result<()> {
    let patterns = which.patterns();
    if patterns.is_empty() {
        return Ok(());
    }
    let mut body = how.clone();
    body["patterns"] = json!(patterns);
    body["collection"] = json!(which.collection);
    let ask = Client::open(&which.data.dir)?;
    let added: Vec<PatternItem> = ask.ask(&Call::new(Method::POST, "blacklist/patterns").body(&body))?;
    let told = added.iter().map(|own| {
        let end =
            own.until.as_ref().map_or("until it is lifted".to_owned(), |until| format!("until {until}"));
        let place = own.collection.as_ref().map_or(String::new(), |name| format!(" in {name}"));
        format!("{} is blacklisted{place} {end}", own.pattern)
    });
    line(told.collect::<Vec<_>>().join("\n"))
}

fn lift(which: &WhichArgs) -> Result<()> {
    let patterns = which.patterns();
    if patterns.is_empty() {
        return Ok(());
    }
    let ask = Client::open(&which.data.dir)?;
    for pattern in patterns {
        let body = json!({ "pattern": pattern, "collection": which.collection });
        let lifted: LiftedPattern =
            ask.ask(&Call::new(Method::POST, "blacklist/patterns/lift").body(&body))?;
        line(format!("{} is lifted: {} back in the queue", lifted.pattern, counted(lifted.urls, "URL")))?;
    }
    Ok(())
}

fn blacklisted(args: &BlacklistList) -> Result<()> {
    let query = given([("collection", args.collection.clone())]);
    let (limit, json) = (args.limit, args.json);
    if args.patterns {
        let listing = Listing { path: "blacklist/patterns", query, limit, json, columns: &PATTERNS };
        return listing.print_or(&args.data.dir, "no pattern is on the blacklist");
    }
    let listing = Listing { path: "blacklist", query, limit, json, columns: &BLACKLISTED };
    listing.print_or(&args.data.dir, "nothing is blacklisted")
}

/// Does it to each URL, and says what was done in which collection.
fn each<T: DeserializeOwned>(
    which: &UrlArgs,
    path: &str,
    how: &Value,
    told: impl Fn(T) -> (String, String, Vec<String>),
) -> Result<()> {
    if which.urls.is_empty() {
        return Ok(());
    }
    let ask = Client::open(&which.data.dir)?;
    let mut out = stdout();
    for url in &which.urls {
        let mut body = how.clone();
        body["url"] = json!(url);
        body["collection"] = json!(which.collection);
        let (now, url, collections) = told(ask.ask(&Call::new(Method::POST, path).body(&body))?);
        for collection in collections {
            writeln!(out, "{url} {now} in {collection}")?;
        }
        out.flush()?;
    }
    Ok(())
}

pub(crate) fn captures(args: &CapturesArgs) -> Result<()> {
    match &args.command {
        Some(CapturesCommand::Get { which, record: false }) => return capture(which, "content"),
        Some(CapturesCommand::Get { which, record: true }) => return capture(which, "record"),
        Some(CapturesCommand::Text(which)) => return capture(which, "text"),
        None => {}
    }
    let query = given([("url", args.url.clone()), ("collection", args.collection.clone())]);
    let listing = Listing { path: "captures", query, limit: args.limit, json: args.json, columns: &CAPTURES };
    match listing.print(&args.data.dir)? {
        true => {
            let of = args.url.as_ref().map_or_else(String::new, |url| format!(" of {url}"));
            line(format!("nothing is archived{of}"))
        }
        false => Ok(()),
    }
}

/// A part of one capture (I10).
fn capture(which: &CaptureArgs, part: &str) -> Result<()> {
    let ask = Client::open(&which.data.dir)?;
    let query = given([("url", Some(which.url.clone())), ("collection", which.collection.clone())]);
    // How far from the time that is wanted, if one is.
    let distance = |at: Time| which.time.map_or(u64::MAX - at.0.unsigned_abs(), |time| time.0.abs_diff(at.0));
    let mut closest: Option<(u64, CaptureItem)> = None;
    ask.pages("captures", query, |items| {
        for item in items {
            let item: CaptureItem = serde_json::from_str(item.get()).context(NOT_UNDERSTOOD)?;
            let away = distance(period_begin(&item.time).map_err(|_| anyhow!(NOT_UNDERSTOOD))?);
            if closest.as_ref().is_none_or(|(least, _)| away < *least) {
                closest = Some((away, item));
            }
        }
        Ok(true)
    })?;
    let Some((_, item)) = closest else {
        return Err(hinted(
            format!("nothing is archived of {}", which.url),
            format!("`skurd why {}` says why", which.url),
        ));
    };
    let status = item.status.map_or_else(String::new, |status| format!(" {status}"));
    note(&format!("{}{status} {} in {}", item.time, shown(&item.mime), item.collection))?;
    let question = Call::get(&format!("captures/{}/{part}", segment(&item.id)), Vec::new());
    copy_to(which.output.as_deref(), &ask, &question)
}

/// A seed, a profile or a collection as a new run (F1–F4).
pub(crate) fn start(args: &StartArgs) -> Result<()> {
    if let Some(name) = &args.name {
        let hint =
            format!("--seed {name}, --profile {name} or --collection {name}; nothing starts everything");
        return Err(misused(format!("{}: of what is this the name?", excerpt(name)), hint));
    }
    let ask = Client::open(&args.data.dir)?;
    let start = Start {
        seed: args.seed.clone(),
        profiles: args.profiles.clone(),
        collection: args.collection.clone(),
    };
    let runs: Vec<Run> = ask.ask(&Call::new(Method::POST, "start").body(&json!(start)))?;
    for run in &runs {
        let Run { run: number, started, seeds, changed } = run;
        let before = match seeds.saturating_sub(*changed) {
            0 => String::new(),
            rest => format!(", {rest} as before (queued already, or blacklisted)"),
        };
        let seeds = counted(*seeds, "seed");
        match args.json {
            true => line(serde_json::to_string(run)?)?,
            false => line(format!("run {number}: started {started}: {seeds}, {changed} queued{before}"))?,
        }
    }
    Ok(())
}
