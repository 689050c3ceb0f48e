//! `skurd crawl`: URLs, each once, or what a config file says.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use declare::hint::hinted;
use declare::{self, Declared};
use harvest::session::{note, parse_url};
use harvest::{Harvest, Until, achieved};
use policy::model::{Collection, Politeness, Profile, Seed};
use policy::scope::Scope;
use policy::time::Span;
use policy::url::{UrlRules, normalise};

use crate::args::harvest::{CrawlArgs, HarvestArgs};
use crate::commands::config::warn;
use crate::commands::serve::Beside;
use crate::run::{self, summarise};

/// Where URLs from the command line are harvested.
const COLLECTION: &str = "crawl";
const PROFILE: &str = "once";

pub(crate) fn run(args: &CrawlArgs) -> Result<()> {
    let (declared, from_config) = declared(args)?;
    let warnings = declared.warnings();
    // Of a config, whatever is declared; else the URLs that are given.
    let own: Vec<String> = declared.seeds.iter().map(|seed| seed.name.clone()).collect();
    let seeds = (!from_config).then_some(own.as_slice());
    let harvest = Harvest::open(&args.harvest.wanted(), &declared.into_changes())?;
    warn(&args.what.join(" "), &warnings)?;
    let started = harvest.start(args.again)?;
    run::tell_started(&started, args.harvest.json)?;
    let until = Until {
        done: args.until_done || (!from_config && (args.length.is_none() || args.max_urls.is_some())),
        length: args.length,
        max_urls: args.max_urls,
    };
    if until.done {
        harvest.wait(harvest.frontier.try_again(seeds))?;
    }
    let dir = &args.harvest.data.dir;
    let beside = Beside::start(&harvest, dir)?;
    let ran = run::told(&harvest, &until, args.harvest.json, Some(Arc::clone(&beside.live) as _));
    beside.stop();
    let outcome = ran?;
    summarise(&outcome, dir, args.harvest.json)?;
    achieved(&harvest, &outcome, seeds)?;
    if !args.harvest.json && outcome.tally.harvests == 0 && !outcome.interrupted {
        note("nothing was due; --again harvests everything once more")?;
    }
    Ok(())
}

/// What to harvest, and whether a config file says so.
fn declared(args: &CrawlArgs) -> Result<(Declared, bool)> {
    let configs = args.what.iter().filter(|what| is_config(what)).count();
    let (mut declared, from_config) = match (configs, args.what.as_slice()) {
        (0, urls) => (of_urls(urls, args.depth)?, false),
        (1, [_]) if args.depth.is_some() => {
            let hint = "a config has `max_depth` in the scope of its profiles";
            return Err(hinted("--depth is for URLs", hint));
        }
        (1, [file]) => (declare::load(Path::new(file))?, true),
        _ => {
            let what = "a config file cannot be mixed with anything else";
            return Err(hinted(what, "give URLs, or one config file"));
        }
    };
    adjust(&mut declared, &args.harvest);
    Ok((declared, from_config))
}

/// A URL has a scheme; whatever is a file, or is called like one, is a config.
pub(super) fn is_config(what: &str) -> bool {
    if what.contains("://") {
        return false;
    }
    let path = Path::new(what);
    let named = path
        .extension()
        .is_some_and(|end| ["yaml", "yml", "json"].iter().any(|known| end.eq_ignore_ascii_case(known)));
    named || path.is_file()
}

/// One collection, one profile that harvests everything once, a seed for each.
fn of_urls(urls: &[String], depth: Option<u32>) -> Result<Declared> {
    let rules = UrlRules::default();
    let mut seeds: Vec<Seed> = Vec::new();
    for text in urls {
        let url = parse_url(text, &rules).with_context(|| format!("{text:?}"))?;
        let url = normalise(url.as_str(), None, &rules)?;
        if seeds.iter().all(|seed| seed.name != url.as_str()) {
            let name = url.as_str().to_owned();
            let profiles = vec![PROFILE.to_owned()];
            seeds.push(Seed { url: name.clone(), name, profiles, ..Seed::default() });
        }
    }
    Ok(Declared {
        collections: vec![collection(COLLECTION)],
        profiles: vec![profile(PROFILE, COLLECTION, Scope { max_depth: depth, ..Scope::default() })],
        seeds,
        ..Declared::default()
    })
}

/// A collection with nothing special about it.
pub(super) fn collection(name: &str) -> Collection {
    Collection { name: name.to_owned(), ..Collection::default() }
}

/// A profile that harvests everything once.
pub(super) fn profile(name: &str, collection: &str, scope: Scope) -> Profile {
    let (name, collection) = (name.to_owned(), collection.to_owned());
    Profile { name, collection, scope, every: Span::days(1), length: Some(1), ..Profile::default() }
}

/// What the command line says goes before what the file says.
pub(super) fn adjust(declared: &mut Declared, args: &HarvestArgs) {
    let politeness = |politeness: &mut Politeness| {
        if let Some(delay) = args.delay {
            politeness.min = delay.min;
            politeness.max = delay.max.unwrap_or(delay.min);
        }
        if let Some(parallel) = args.parallel {
            politeness.parallel = parallel;
        }
    };
    politeness(&mut declared.settings.politeness);
    declared.hosts.iter_mut().for_each(|(_, own, _)| politeness(own));
    declared.groups.iter_mut().for_each(|group| politeness(&mut group.politeness));
    if let Some(robots) = &args.robots {
        declared.profiles.iter_mut().for_each(|profile| profile.robots = robots.clone());
    }
    if args.no_index {
        declared.collections.iter_mut().for_each(|collection| collection.index = false);
    }
}
