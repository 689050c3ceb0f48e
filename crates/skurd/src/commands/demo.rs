//! `skurd demo`: a web on loopback, harvested for real, with the dashboard on.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use app::Live;
use declare::Declared;
use declare::hint::{hinted, misused};
use frontier::Witness;
use harvest::session::note;
use harvest::{Harvest, Until, Wanted};
use net::warc::Compression;
use policy::browser::Engine;
use policy::model::Collection;
use server::Shown;
use testkit::{self, Demo, Seen};
use tokio::runtime::Builder;

use super::serve;
use crate::args::harvest::{DemoArgs, USUAL_LISTEN};
use crate::output::line;
use crate::run::{self, summarise};

/// Says that a directory is a demo's and may be thrown away.
const MARK: &str = "DEMO";
const WORKERS: usize = 16;

pub(crate) fn run(args: &DemoArgs) -> Result<()> {
    let listener = listen(args)?;
    make_room(&args.dir)?;
    let mut declared = declare::parse("demo.yaml", testkit::config().as_bytes())?;
    // The web has a thread of its own, as if it were another machine.
    let outside =
        Builder::new_multi_thread().worker_threads(1).thread_name("demo-web").enable_all().build()?;
    let web = outside
        .block_on(Demo::start_at(args.port))
        .with_context(|| format!("cannot listen on port {} of 127.0.0.1", args.port))?;
    let address = web.address();
    let no_browser = outside.block_on(fit_browser(&mut declared));
    if !args.json {
        let (hosts, dir) = (testkit::HOSTS.len(), args.dir.display());
        note(&format!("a web of {hosts} hosts is at {address}; harvesting it into {dir}"))?;
        if let Some(why) = &no_browser {
            note(&format!("no collection is harvested with a browser: {why}"))?;
        }
    }
    let wanted = Wanted {
        store: None,
        node: None,
        dir: args.dir.clone(),
        user_agent: None,
        contact: None,
        resolve: vec![format!("*.test={address}")],
        allow_net: vec!["127.0.0.0/8".parse()?],
        compression: Some(Compression::Gzip(Compression::GZIP_LEVEL)),
        workers: WORKERS,
        disk_floor: None,
        waits_for_contact: false,
    };
    let harvest = Harvest::open(&wanted, &declared.into_changes())?;
    mark(&args.dir)?;
    let shown = Some(Shown { listener: serve::beside(listener.local_addr()?, &listener)?, public: None });
    let (server, live) = serve::start(&harvest, &args.dir, listener, shown, None, args.json)?;
    let ran = watched(args, &harvest, &web, &live, server.address);
    server.stop();
    ran
}

/// One collection is harvested with a browser; without one that starts it is left out, and this
/// says why (B20).
///
/// As root a browser has no sandbox to run in, and `sandbox: off` is for pages that are trusted.
/// These are: they are part of this program, and its harvest is let to no address but loopback.
async fn fit_browser(declared: &mut Declared) -> Option<String> {
    let program = &mut declared.settings.browser;
    program.sandbox = !harvest::wire::is_root();
    let missing = harvest::wire::try_browser(program).await.err()?;
    let wants = |name: &str, all: &[Collection]| {
        all.iter().any(|own| own.name == name && own.engine == Engine::Browser)
    };
    let Declared { collections, profiles, seeds, .. } = declared;
    profiles.retain(|profile| !wants(&profile.collection, collections));
    collections.retain(|collection| collection.engine != Engine::Browser);
    for seed in seeds.iter_mut() {
        seed.profiles.retain(|name| profiles.iter().any(|profile| profile.name == *name));
    }
    seeds.retain(|seed| !seed.profiles.is_empty());
    Some(match missing.hint {
        Some(hint) => format!("{} ({hint})", missing.reason),
        None => missing.reason,
    })
}

/// The town until it is harvested; then its life, until somebody stops it.
fn watched(
    args: &DemoArgs,
    harvest: &Harvest,
    web: &Demo,
    live: &Arc<Live>,
    dashboard: SocketAddr,
) -> Result<()> {
    harvest.start(false)?;
    let audience = || Some(Arc::clone(live) as Arc<dyn Witness>);
    let outcome = run::told(harvest, &Until { done: true, ..Until::default() }, args.json, audience())?;
    summarise(&outcome, &args.dir, args.json)?;
    if !args.json {
        let log = web.log();
        tell_politeness(&log)?;
        tell_what_to_try(&args.dir, log.iter().any(is_of_browser))?;
    }
    if args.until_done || outcome.interrupted {
        return Ok(());
    }
    if !args.json {
        note(&format!(
            "the town lives on until Ctrl-C, its newspaper is harvested every minute: look at http://{dashboard}/, or into the town itself with `curl -x http://{} http://avis.test/`",
            web.address()
        ))?;
    }
    run::told(harvest, &Until::default(), args.json, audience())?;
    Ok(())
}

/// Where the dashboard was asked to be; where it usually is, or, if that place is taken, any that
/// is free.
fn listen(args: &DemoArgs) -> Result<TcpListener> {
    match args.listen {
        Some(address) if address.ip().is_loopback() => serve::listen(address),
        Some(address) => Err(misused(
            format!("{address} can be reached by others, and a demo has no token"),
            "listen at 127.0.0.1",
        )),
        None => {
            serve::listen(USUAL_LISTEN).or_else(|_| serve::listen(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))))
        }
    }
}

/// A fresh directory; one that an earlier demo made is emptied, any other is left alone.
fn make_room(dir: &Path) -> Result<()> {
    let cannot = || format!("cannot use {} for the demo", dir.display());
    if dir.join(MARK).is_file() {
        std::fs::remove_dir_all(dir).with_context(cannot)?;
    } else if dir.exists() && std::fs::read_dir(dir).with_context(cannot)?.next().is_some() {
        return Err(hinted(
            format!("{} is there already, and no demo made it", dir.display()),
            "--data names another directory",
        ));
    }
    Ok(())
}

/// Once the store is there, which begins in an empty directory.
fn mark(dir: &Path) -> Result<()> {
    let text = "The next `skurd demo` empties this directory.\n";
    std::fs::write(dir.join(MARK), text).with_context(|| format!("cannot write to {}", dir.display()))
}

/// What the web itself saw of our manners.
fn tell_politeness(log: &[Seen]) -> Result<()> {
    // Pages may ask for what they need by several requests at a time (B8).
    let (of_browser, plain): (Vec<&Seen>, Vec<&Seen>) = log.iter().partition(|seen| is_of_browser(seen));
    let by_site = by(&plain, |seen| policy::url::site_of(&seen.ask.host));
    let pairs = || by_site.values().flat_map(|seen| seen.windows(2));
    let pauses = pairs().filter_map(|pair| Some(pair[1].begin.saturating_duration_since(pair[0].end?)));
    let overlaps = pairs().filter(|pair| pair[0].end.is_some_and(|end| pair[1].begin < end));
    line(format!(
        "seen from the other side: {} requests, {} of them before the one before was answered, shortest pause {} ms",
        plain.len(),
        overlaps.count(),
        pauses.min().unwrap_or_default().as_millis(),
    ))?;
    if of_browser.is_empty() {
        return Ok(());
    }
    let by_host = by(&of_browser, |seen| &seen.ask.host);
    let at_once = by_host.values().map(|seen| most_at_once(seen)).max().unwrap_or_default();
    line(format!(
        "and of the browser: {} requests, at most {at_once} at a time to one host",
        of_browser.len()
    ))
}

fn is_of_browser(seen: &Seen) -> bool {
    seen.ask.header("user-agent").is_some_and(|agent| agent.starts_with("Mozilla/"))
}

fn by<'a>(log: &[&'a Seen], what: impl Fn(&'a Seen) -> &'a str) -> BTreeMap<&'a str, Vec<&'a Seen>> {
    let mut by: BTreeMap<&str, Vec<&Seen>> = BTreeMap::new();
    for seen in log {
        by.entry(what(seen)).or_default().push(seen);
    }
    by
}

fn most_at_once(seen: &[&Seen]) -> usize {
    let under_way = |at: &Seen| {
        seen.iter()
            .filter(|other| other.begin <= at.begin && other.end.is_none_or(|end| end > at.begin))
            .count()
    };
    seen.iter().map(|at| under_way(at)).max().unwrap_or_default()
}

fn tell_what_to_try(dir: &Path, has_browser: bool) -> Result<()> {
    line("try:")?;
    for (command, what) in [
        ("why http://felle.test/", "every rule that decides about a URL"),
        ("captures http://avis.test/", "the front page, twice: it changed"),
        ("captures http://privat.test/", "one address, seen by a guest and by a member"),
        ("blacklist", "what robots.txt denied and what was never found"),
        ("linear show minutes", "minutes that no page links to, found by counting"),
        ("index top --collection open", "what the town links to most"),
        ("report domains", "answers, bytes and errors of each domain"),
        ("report contract", "whether the promised frequency was kept"),
    ] {
        line(format!("  {:<64} {what}", format!("skurd {command} --data {}", dir.display())))?;
    }
    if has_browser {
        let command = format!("skurd why http://havn.test/ --data {}", dir.display());
        line(format!("  {command:<64} a page that is all script, and what a browser made of it"))?;
    }
    let check = format!("skurd warc check {}/*.warc.gz", harvest::wire::warc_dir(dir).display());
    line(format!("  {check:<64} the archive is sound"))
}
