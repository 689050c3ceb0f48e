//! `skurd demo`: a web on loopback, harvested for real.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use tokio::runtime::Builder;

use crate::args::{DataDir, DemoArgs, HarvestArgs, WarcArg};
use crate::config;
use crate::demo::{self, Demo, Request};
use crate::harvest::{Harvest, Until, summarise};
use crate::hint::hinted;
use crate::session::{note, stdout};

/// Says that a directory is a demo's and may be thrown away.
const MARK: &str = "DEMO";
const WORKERS: u16 = 16;

pub(crate) fn run(args: &DemoArgs) -> Result<()> {
    make_room(&args.dir)?;
    let declared = config::parse("demo.yaml", demo::config().as_bytes())?;
    // The web has a thread of its own, as if it were another machine.
    let outside =
        Builder::new_multi_thread().worker_threads(1).thread_name("demo-web").enable_all().build()?;
    let web = outside
        .block_on(Demo::start_at(args.port))
        .with_context(|| format!("cannot listen on port {} of 127.0.0.1", args.port))?;
    let address = web.address();
    if !args.json {
        note(&format!(
            "a web of {} hosts is at {address}; harvesting it into {}",
            demo::HOSTS.len(),
            args.dir.display()
        ))?;
    }
    let harvest =
        Harvest::open(&harvest_args(args, &format!("*.test={address}"))?, &declared.into_changes())?;
    mark(&args.dir)?;
    harvest.start(false)?;
    let outcome = harvest.run(&Until { done: true, ..Until::default() }, None)?;
    summarise(&outcome, &args.dir, args.json)?;
    if args.json {
        return Ok(());
    }
    tell_politeness(&web.log())?;
    tell_what_to_try(&args.dir)?;
    if !args.until_done && !outcome.interrupted {
        note(&format!(
            "the web stays until Ctrl-C: `curl -x http://{address} http://avis.test/`, or a browser with that proxy, looks around in it"
        ))?;
        outside.block_on(tokio::signal::ctrl_c())?;
    }
    Ok(())
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
fn tell_politeness(log: &[Request]) -> Result<()> {
    let mut by_site: BTreeMap<&str, Vec<&Request>> = BTreeMap::new();
    for request in log {
        by_site.entry(policy::url::site_of(&request.host)).or_default().push(request);
    }
    let mut out = stdout();
    let pauses = by_site
        .values()
        .flat_map(|requests| requests.windows(2).map(|pair| pair[1].began.saturating_sub(pair[0].ended)));
    let overlaps = by_site
        .values()
        .flat_map(|requests| requests.windows(2))
        .filter(|pair| pair[1].began < pair[0].ended);
    writeln!(
        out,
        "seen from the other side: {} requests, {} of them before the one before was answered, shortest pause {} ms",
        log.len(),
        overlaps.count(),
        pauses.min().unwrap_or_default().as_millis(),
    )?;
    Ok(out.flush()?)
}

fn harvest_args(args: &DemoArgs, resolve: &str) -> Result<HarvestArgs> {
    Ok(HarvestArgs {
        data: DataDir { dir: args.dir.clone() },
        resolve: vec![resolve.to_owned()],
        allow_net: vec!["127.0.0.0/8".parse()?],
        delay: None,
        parallel: None,
        workers: WORKERS,
        robots: None,
        user_agent: None,
        contact: None,
        no_index: false,
        warc: WarcArg::Gzip,
        json: args.json,
    })
}

fn tell_what_to_try(dir: &Path) -> Result<()> {
    let mut out = stdout();
    let data = format!("--data {}", dir.display());
    writeln!(out, "try:")?;
    for (command, what) in [
        (format!("skurd why http://felle.test/ {data}"), "every rule that decides about a URL"),
        (format!("skurd captures http://avis.test/ {data}"), "the front page, twice: it changed"),
        (
            format!("skurd captures http://privat.test/ {data}"),
            "one address, seen by a guest and by a member",
        ),
        (format!("skurd blacklist {data}"), "what robots.txt denied and what was never found"),
        (format!("skurd linear show minutes {data}"), "minutes that no page links to, found by counting"),
        (format!("skurd index top --collection open {data}"), "what the town links to most"),
        (format!("skurd report domains {data}"), "answers, bytes and errors of each domain"),
        (format!("skurd report contract {data}"), "whether the promised frequency was kept"),
        (
            format!("skurd warc check {}/*.warc.gz", crate::wire::warc_dir(dir).display()),
            "the archive is sound",
        ),
    ] {
        writeln!(out, "  {command:<64} {what}")?;
    }
    Ok(out.flush()?)
}
