//! Every rule that decides about a URL, from stored state.

use frontier::{Explanation, HostSituation, Pause, Situation};
use policy::Rule;
use policy::browser::{Refusal, Rendering};
use policy::time::Time;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::control::pausing;
use super::hosts::HostItem;
use super::{Answer, App, Problem};

/// Why a URL is, or is not, harvested in one collection.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct WhyItem {
    pub collection: String,
    pub url: String,
    /// `queued`, `in-flight`, `done`, `blacklisted` or `unknown`.
    pub situation: String,
    /// The seed it belongs to.
    pub seed: Option<String>,
    /// The most specific seed for it.
    pub best_seed: Option<String>,
    /// What was wrong with the last fetch.
    pub problem: Option<String>,
    #[schema(format = DateTime)]
    pub due: Option<String>,
    pub depth: Option<u32>,
    pub hops: Option<u32>,
    /// Whether a page needs it, rather than links to it.
    pub requisite: Option<bool>,
    #[schema(format = DateTime)]
    pub last_fetch: Option<String>,
    pub run: Option<u64>,
    pub cycles: Option<u32>,
    pub errors: Option<u32>,
    pub not_found: Option<u32>,
    pub blacklist: Option<WhyBlacklisted>,
    /// What was looked at, in order.
    pub steps: Vec<WhyStep>,
    /// What decides now, and what follows.
    pub verdict: Option<WhyVerdict>,
    /// What its browser made of it the last time; none: it has none, or did not open it yet.
    pub rendering: Option<WhyRendering>,
    pub host: WhyHost,
    /// By which way it is asked (proxy, resolver, source address), in words and without credentials;
    /// none: straight.
    #[serde(default)]
    pub way: Option<String>,
    /// What keeps it from being harvested whatever the rules say: `everything`, `collection`,
    /// `host`.
    pub paused: Vec<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct WhyBlacklisted {
    pub reason: String,
    #[schema(format = DateTime)]
    pub since: String,
    #[schema(format = DateTime)]
    pub until: Option<String>,
}

/// What came of the last time a browser opened it (B21).
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct WhyRendering {
    #[schema(format = DateTime)]
    pub at: String,
    /// `ok`, `slow-load`, `never-idle`, `hung`, `crashed`, `download`, `refused` or `browser-gone`.
    pub ending: String,
    pub load_ms: u64,
    pub behave_ms: u64,
    pub collect_ms: u64,
    pub total_ms: u64,
    /// Beside the document.
    pub requests: u32,
    pub from_archive: u32,
    pub failed: u32,
    pub refused: u32,
    /// The first of them.
    pub refusals: Vec<WhyRefusal>,
    /// The limit it ran into.
    pub truncated: Option<String>,
    pub note: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct WhyRefusal {
    pub url: String,
    pub reason: String,
}

impl From<Rendering> for WhyRendering {
    fn from(row: Rendering) -> WhyRendering {
        let refusal = |refusal: Refusal| WhyRefusal { url: refusal.url, reason: refusal.reason };
        WhyRendering {
            at: row.at.to_string(),
            ending: row.ending.as_str().to_owned(),
            load_ms: row.load.0,
            behave_ms: row.behave.0,
            collect_ms: row.collect.0,
            total_ms: row.total.0,
            requests: row.requests,
            from_archive: row.from_archive,
            failed: row.failed,
            refused: row.refused,
            refusals: row.refusals.into_iter().map(refusal).collect(),
            truncated: row.truncated,
            note: row.note,
        }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct WhyStep {
    pub rule: String,
    pub finding: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct WhyVerdict {
    pub rule: String,
    pub text: String,
}

/// What its host is doing.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct WhyHost {
    pub host: String,
    /// It has no URLs waiting; then there is nothing else to say.
    pub idle: bool,
    pub group: Option<String>,
    #[schema(format = DateTime)]
    pub next: Option<String>,
    pub in_flight: Vec<String>,
    #[schema(format = DateTime)]
    pub busy_until: Option<String>,
    pub response_ms: u64,
    #[schema(format = DateTime)]
    pub backoff_until: Option<String>,
    pub failures: u32,
    /// Whether the host shares its slots just now.
    pub group_in_use: bool,
    /// When the group can next be asked; none while all its slots are taken, or without a group.
    #[schema(format = DateTime)]
    pub group_next: Option<String>,
    /// What the group is busy with on other hosts.
    pub group_in_flight: Vec<String>,
    #[schema(format = DateTime)]
    pub group_busy_until: Option<String>,
    /// When it may be asked at all, with the time zone; none: always.
    pub windows: Option<String>,
}

#[derive(Clone, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// The URL that is, or is not, harvested.
    pub url: String,
    /// Only in this collection; in each if not given.
    pub collection: Option<String>,
}

/// Explain why a URL is, or is not, harvested: every rule that decides
#[crate::boxed]
pub async fn why(app: &App, asked: Asked) -> Answer<Vec<WhyItem>> {
    let url = app.url(&asked.url).await?;
    let collections = match &asked.collection {
        Some(name) => app.collections(Some(name)).await?,
        None => declared_or_left(app).await?,
    };
    if collections.is_empty() {
        let problem = Problem::new(http::StatusCode::NOT_FOUND, "there is no collection that could have it");
        return Err(problem.hint("declare what to harvest with `skurd config apply FILE`"));
    }
    let pauses = app.frontier.paused().await?;
    let mut items = Vec::new();
    for name in &collections {
        for why in app.frontier.why(&url, Some(name)).await? {
            let rendering = app.frontier.rendering(&why.collection, &why.url).await?;
            let rendering = rendering.map(WhyRendering::from);
            let way = app.look(|catalog| catalog.way(&why.collection, url.site()).told()).await?;
            items.push(WhyItem { rendering, way, ..item(why, &pauses) });
        }
    }
    Ok(items)
}

/// Those that are declared, and those that are gone but have URLs left.
async fn declared_or_left(app: &App) -> Answer<Vec<String>> {
    let mut names = app.collections(None).await?;
    app.look(|catalog| names.extend(catalog.collections().map(|found| found.name.clone()))).await?;
    names.sort();
    names.dedup();
    Ok(names)
}

fn item(why: Explanation, pauses: &[(Pause, Time)]) -> WhyItem {
    let record = why.record.as_ref();
    let blacklist = match &why.situation {
        Situation::Blacklisted(entry) => Some(WhyBlacklisted {
            reason: entry.reason.to_string(),
            since: entry.since.to_string(),
            until: text(entry.until),
        }),
        _ => None,
    };
    let run = match why.situation {
        Situation::Done { run } => Some(run),
        _ => record.map(|record| record.run),
    };
    let step = |(rule, finding): (Rule, String)| WhyStep { rule: rule.as_str().to_owned(), finding };
    let verdict = |(rule, text): (Rule, String)| WhyVerdict { rule: rule.as_str().to_owned(), text };
    WhyItem {
        situation: why.situation.as_str().to_owned(),
        seed: record.map(|record| record.seed.clone()),
        problem: record.and_then(|record| record.problem.clone()),
        due: text(why.situation.due()),
        depth: record.map(|record| record.position.depth),
        hops: record.map(|record| record.position.hops),
        requisite: record.map(|record| record.position.requisite),
        last_fetch: text(record.and_then(|record| record.last).map(|last| last.at)),
        run,
        cycles: record.map(|record| record.cycles),
        errors: record.map(|record| record.errors),
        not_found: record.map(|record| record.not_found),
        blacklist,
        rendering: None,
        way: None,
        host: host(&why.host),
        paused: pausing(pauses, Some(&why.collection), Some(&why.host.host), None),
        steps: why.steps.into_iter().map(step).collect(),
        verdict: why.verdict.map(verdict),
        best_seed: why.best_seed,
        collection: why.collection,
        url: why.url,
    }
}

fn host(HostSituation { host, row, group, windows }: &HostSituation) -> WhyHost {
    let item = row.as_ref().map(|row| HostItem::new(row, false)).unwrap_or_default();
    let slots = group.iter().flat_map(|slots| &slots.taken);
    let others = slots.filter(|slot| slot.host != *host);
    WhyHost {
        host: host.clone(),
        idle: row.is_none(),
        group: item.group,
        next: item.next,
        in_flight: item.in_flight,
        busy_until: item.busy_until,
        response_ms: item.response_ms,
        backoff_until: item.backoff_until,
        failures: item.failures,
        group_in_use: group.is_some(),
        group_next: text(group.as_ref().and_then(|slots| slots.queued_at)),
        group_in_flight: others.clone().map(|slot| slot.url.clone()).collect(),
        group_busy_until: text(others.map(|slot| slot.until).min()),
        windows: windows.clone(),
    }
}

fn text(time: Option<Time>) -> Option<String> {
    time.map(|time| time.to_string())
}
