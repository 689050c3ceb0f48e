//! `skurd demo`: a web on loopback, harvested for real, with the dashboard on.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use app::Live;
use declare::hint::{hinted, misused};
use frontier::Witness;
use harvest::session::note;
use harvest::{Harvest, Until, Wanted};
use net::warc::Compression;
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
    let declared = declare::parse("demo.yaml", testkit::config().as_bytes())?;
    // The web has a thread of its own, as if it were another machine.
    let outside =
        Builder::new_multi_thread().worker_threads(1).thread_name("demo-web").enable_all().build()?;
    let web = outside
        .block_on(Demo::start_at(args.port))
        .with_context(|| format!("cannot listen on port {} of 127.0.0.1", args.port))?;
    let address = web.address();
    if !args.json {
        let (hosts, dir) = (testkit::HOSTS.len(), args.dir.display());
        note(&format!("a web of {hosts} hosts is at {address}; harvesting it into {dir}"))?;
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
    };
    let harvest = Harvest::open(&wanted, &declared.into_changes())?;
    mark(&args.dir)?;
    let (server, live) = serve::start(&harvest, &args.dir, listener, None, args.json)?;
    let ran = watched(args, &harvest, &web, &live, server.address);
    server.stop();
    ran
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
        tell_politeness(&web.log())?;
        tell_what_to_try(&args.dir)?;
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
    let mut by_site: BTreeMap<&str, Vec<&Seen>> = BTreeMap::new();
    for seen in log {
        by_site.entry(policy::url::site_of(&seen.ask.host)).or_default().push(seen);
    }
    let pairs = || by_site.values().flat_map(|seen| seen.windows(2));
    let pauses = pairs().filter_map(|pair| Some(pair[1].begin.saturating_duration_since(pair[0].end?)));
    let overlaps = pairs().filter(|pair| pair[0].end.is_some_and(|end| pair[1].begin < end));
    line(format!(
        "seen from the other side: {} requests, {} of them before the one before was answered, shortest pause {} ms",
        log.len(),
        overlaps.count(),
        pauses.min().unwrap_or_default().as_millis(),
    ))
}

fn tell_what_to_try(dir: &Path) -> Result<()> {
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
    let check = format!("skurd warc check {}/*.warc.gz", harvest::wire::warc_dir(dir).display());
    line(format!("  {check:<64} the archive is sound"))
}
