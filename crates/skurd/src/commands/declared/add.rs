//! `skurd … add`: one new thing, whose references lead somewhere.

use std::collections::HashSet;

use anyhow::Result;
use app::{Kind, Problem};
use axum::http::{Method, StatusCode};
use declare::hint::hinted;
use declare::{entry, written};
use harvest::session::parse_url;
use policy::model::{Collection, HostGroup, Limits, Politeness, Profile, Seed, Settings};
use policy::scope::Scope;
use policy::url::UrlRules;
use policy::way::Way;
use serde_json::Value;
use server::client::{Call, Client};

use super::path;
use crate::args::add::{CollectionArgs, GroupArgs, HostArgs, PolitenessArgs, ProfileArgs, SeedArgs};
use crate::output::line;

pub(crate) fn seed(args: SeedArgs) -> Result<()> {
    let ask = Client::create(&args.data.dir)?;
    let url = parse_url(&args.url, &UrlRules::from(&settings(&ask)?))?;
    let name = args.name.unwrap_or_else(|| url.as_str().to_owned());
    let profiles = once(args.profiles);
    let seed = Seed {
        name: name.clone(),
        url: args.url,
        active: !args.add.inactive,
        profiles,
        budget: args.budget.into(),
    };
    add(&ask, Kind::Seed, &name, args.add.replace, &written(&seed))
}

pub(crate) fn profile(args: ProfileArgs) -> Result<()> {
    let standard = Limits::default();
    let limits = Limits {
        max_errors: args.limits.max_errors.unwrap_or(standard.max_errors),
        max_not_found: args.limits.max_not_found.unwrap_or(standard.max_not_found),
        blacklist_for: args.limits.blacklist_for,
        ..standard
    };
    let scope = Scope {
        within: args.scope.within,
        max_depth: args.scope.max_depth,
        off_domain_hops: args.scope.off_domain_hops,
        requisites: !args.scope.no_requisites,
        include: args.scope.include,
        exclude: args.scope.exclude,
        ..Scope::default()
    };
    let profile = Profile {
        name: args.name.clone(),
        active: !args.add.inactive,
        collection: args.collection,
        scope,
        every: args.every.0,
        slowest: args.every.1,
        at: args.at,
        weekdays: args.weekdays,
        timezone: args.timezone,
        windows: args.windows,
        length: args.length,
        ttl: args.ttl,
        robots: args.robots,
        limits,
        budget: args.budget.into(),
        traps: args.traps,
    };
    let client = Client::create(&args.data.dir)?;
    add(&client, Kind::Profile, &args.name, args.add.replace, &written(&profile))
}

pub(crate) fn collection(args: CollectionArgs) -> Result<()> {
    let collection = Collection {
        name: args.name.clone(),
        active: !args.add.inactive,
        user_agent: args.user_agent,
        warc_prefix: args.warc_prefix,
        index: !args.no_index,
        engine: args.engine,
        dedup: args.dedup,
        budget: args.budget.into(),
        ..Collection::default()
    };
    let client = Client::create(&args.data.dir)?;
    add(&client, Kind::Collection, &args.name, args.add.replace, &written(&collection))
}

pub(crate) fn group(args: GroupArgs) -> Result<()> {
    let ask = Client::create(&args.data.dir)?;
    let politeness = politeness(&ask, args.politeness)?;
    let group =
        HostGroup { name: args.name.clone(), hosts: once(args.hosts), politeness, ..HostGroup::default() };
    add(&ask, Kind::Group, &args.name, args.replace, &written(&group))
}

pub(crate) fn host(args: HostArgs) -> Result<()> {
    let ask = Client::create(&args.data.dir)?;
    let politeness = politeness(&ask, args.politeness)?;
    let own = (args.host.clone(), politeness, Way::default());
    add(&ask, Kind::Host, &args.host, args.replace, &written(&own))
}

/// What is not given is as in the settings.
fn politeness(ask: &Client, args: PolitenessArgs) -> Result<Politeness> {
    let mut politeness = settings(ask)?.politeness;
    if let Some(delay) = args.delay {
        politeness.min = delay.min;
        politeness.max = delay.max.unwrap_or(politeness.max.max(delay.min));
    }
    politeness.parallel = args.parallel.unwrap_or(politeness.parallel);
    if !args.windows.is_empty() {
        (politeness.windows, politeness.timezone) = (args.windows, args.timezone);
    }
    politeness.budget = args.budget.into();
    Ok(politeness)
}

/// Each of them once, in their order.
fn once(mut given: Vec<String>) -> Vec<String> {
    let mut seen = HashSet::new();
    given.retain(|name| seen.insert(name.clone()));
    given
}

fn settings(ask: &Client) -> Result<Settings> {
    let shown: Value = ask.ask(&Call::get("settings", Vec::new()))?;
    Ok(entry::read_settings(&shown).map_err(Problem::from)?)
}

/// Declares it, unless its name is taken.
fn add(ask: &Client, kind: Kind, name: &str, replace: bool, thing: &Value) -> Result<()> {
    let was_there = replace && super::thing(ask, kind, name).is_ok();
    let question = Call::new(Method::PUT, &path(kind, name)).body(thing);
    let added = ask.raw(&Call { only_new: !replace, ..question });
    added.map_err(|error| match error.downcast::<Problem>() {
        Ok(problem) if problem.status() == StatusCode::PRECONDITION_FAILED => {
            hinted(problem.detail, format!("--replace replaces it; `skurd {} show` shows it", kind.command()))
        }
        Ok(problem) => problem.into(),
        Err(error) => error,
    })?;
    line(format!("{kind} {name} is {}", if was_there { "replaced" } else { "added" }))
}
