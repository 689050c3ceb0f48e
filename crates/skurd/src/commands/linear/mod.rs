//! `skurd linear`: walks without a config file (spec 3).
//!
//! [`arguments`] makes walks of the command line, or says what is wrong with it. While they go,
//! [`Teller`] hears of every result: it tells it, has it [written](Outputs), and stops the run when
//! the walks have ended. [`harvest::walk::map`] draws what is known of the ids, [`events`] says it
//! in JSON, in the same [words](harvest::walk::Standing) as the API.
//!
//! The walks of a command belong to a collection and a profile of their own, and take turns in one
//! round. Those of earlier commands in the same data directory are switched off meanwhile.

mod arguments;
mod events;
mod files;
mod lines;
mod outputs;
mod progress;
mod ranges;
mod show;

use std::io::Write;
use std::sync::Arc;

use anyhow::Result;
use arguments::{LINEAR, asked, refused};
use declare::Declared;
use declare::hint::{Usage, hinted};
use declare::text::bytes_text;
use frontier::{DeclareError, WalkError};
use harvest::session::{note, stdout};
use harvest::walk::map::{CELLS, Map, has_colours};
use harvest::walk::{Stopped, words};
use harvest::wire;
use harvest::{Harvest, Outcome, Until, unanswered};
use outputs::{Outputs, Wanted};
use policy::catalog::Change;
use policy::model::DeclaredWalk;
use policy::scope::Scope;
use policy::url::CrawlUrl;
use policy::walk::{Refusal, Resume};
use progress::Teller;
use tokio::sync::watch;

use super::crawl::{adjust, collection, profile};
use super::serve::Beside;
use crate::args::harvest::WarcArg;
use crate::args::linear::{LinearArgs, LinearCommand, WalkArgs};
use crate::run::data_flag;

pub(crate) fn run(args: &LinearArgs) -> Result<()> {
    match &args.command {
        Some(LinearCommand::Show { walk, data, json }) => show::run(walk.as_deref(), &data.dir, *json),
        None => walk(&args.walk),
    }
}

fn walk(args: &WalkArgs) -> Result<()> {
    let walks = asked(args)?;
    let writes = !args.files.is_empty() || !args.jsonl.is_empty();
    if writes && args.harvest.warc == WarcArg::None {
        let what = "--warc: --files and --jsonl are made from the archive; it takes gzip or zstd";
        return Err(Usage(what.into()).into());
    }
    let harvest = open(args, &walks)?;
    harvest.wait(begin(&harvest, &walks, args.resume))?;
    let outputs = harvest.wait(async {
        let mut outputs = Outputs::open(&walks, &wire::warc_dir(&args.harvest.data.dir))?;
        outputs.complete(&harvest.frontier).await?;
        anyhow::Ok(outputs)
    })?;
    let names: Vec<String> = walks.iter().map(|(walk, _)| walk.name.clone()).collect();
    let (stop, _) = watch::channel(false);
    let json = args.harvest.json;
    let teller = Arc::new(Teller::new(&harvest, names.clone(), outputs, json, stop.clone()));
    let until = Until { length: args.length, ..Until::default() };
    let beside = Beside::start(&harvest, &args.harvest.data.dir)?;
    let ran = harvest.run(&until, &teller, stop);
    beside.stop();
    let written = teller.end();
    let outcome = ran?;
    match json {
        true => print_events(&harvest, &names)?,
        false => print_summary(args, &harvest, &names, &outcome)?,
    }
    written?;
    achieved(args, &outcome)
}

/// I7: walks that nobody answered fail. With nothing left to ask for, there was nothing to achieve.
fn achieved(args: &WalkArgs, outcome: &Outcome) -> Result<()> {
    const AGAIN: &str = "--resume holes asks again for the ids that are missing";
    let counts = outcome.figures.now();
    match counts.harvests {
        _ if outcome.interrupted || !counts.statuses.is_empty() => Ok(()),
        0 if args.harvest.json => Ok(()),
        0 => note(&format!("nothing was left to ask for; {AGAIN}")),
        _ => Err(hinted(unanswered(&counts), AGAIN)),
    }
}

fn open(args: &WalkArgs, walks: &[(DeclaredWalk, Wanted)]) -> Result<Harvest> {
    let mut declared = Declared {
        collections: vec![collection(LINEAR)],
        profiles: vec![profile(LINEAR, LINEAR, Scope::default())],
        walks: walks.iter().map(|(walk, _)| walk.clone()).collect(),
        ..Declared::default()
    };
    adjust(&mut declared, &args.harvest);
    Harvest::open(&args.harvest.wanted(), &declared.into_changes()).map_err(|error| {
        let Some(DeclareError::Walk { walk, refusal: Refusal::Settings(problem) }) = error.downcast_ref()
        else {
            return error;
        };
        let asked = walks.iter().find(|(asked, _)| asked.name == *walk);
        asked.map_or_else(|| anyhow::anyhow!("{problem}"), |(walk, _)| refused(problem, walk).into())
    })
}

/// Switches off the walks of other commands, and begins another run of these.
async fn begin(harvest: &Harvest, walks: &[(DeclaredWalk, Wanted)], resume: Resume) -> Result<()> {
    let is_asked = |name: &str| walks.iter().any(|(walk, _)| walk.name == name);
    let others = |walk: &&DeclaredWalk| walk.active && walk.profile == LINEAR && !is_asked(&walk.name);
    let off = |walk: &DeclaredWalk| Change::PutWalk(Box::new(DeclaredWalk { active: false, ..walk.clone() }));
    let frontier = &harvest.frontier;
    let changes: Vec<Change> =
        frontier.with_catalog(|catalog| catalog.walks().filter(others).map(off).collect()).await?;
    frontier.declare(&changes).await?;
    for (walk, _) in walks {
        // Whoever gives the command does not mean to wait for the end of a backoff.
        if let Ok(url) = CrawlUrl::from_normal(walk.settings.template().url(walk.settings.start())) {
            frontier.end_backoff(url.site()).await?;
        }
        match frontier.resume_walk(&walk.name, resume).await {
            Err(WalkError::Refused(Refusal::Settings(problem))) => return Err(refused(&problem, walk).into()),
            done => done?,
        }
    }
    Ok(())
}

/// Where the walks stand, as events.
fn print_events(harvest: &Harvest, names: &[String]) -> Result<()> {
    let mut out = stdout();
    for name in names {
        let sight = harvest.wait(harvest.frontier.walk(name))?;
        let in_memory = harvest.frontier.peek_walk(name, |walk, run| events::walk(&mut out, name, walk, run));
        in_memory.unwrap_or_else(|| events::walk(&mut out, name, &sight.walk, &sight.run))?;
    }
    Ok(out.flush()?)
}

fn print_summary(args: &WalkArgs, harvest: &Harvest, names: &[String], outcome: &Outcome) -> Result<()> {
    let mut out = stdout();
    for name in names {
        let sight = harvest.wait(harvest.frontier.walk(name))?;
        let why = harvest.frontier.peek_walk(name, |walk, _| walk.ended());
        let stopped = Stopped::from(why.unwrap_or_else(|| sight.walk.ended())).as_str();
        writeln!(out, "{name}: {}, stopped: {stopped}", words::figures(&sight.walk, &sight.run))?;
        for line in Map::of(&sight.walk, CELLS).lines("  ", has_colours(&std::io::stdout())) {
            writeln!(out, "{}", line.trim_end())?;
        }
    }
    let counts = outcome.figures.now();
    let took = outcome.ended.since(outcome.began);
    let dir = &args.harvest.data.dir;
    let (requests, captures, bytes) = (counts.harvests, counts.captures, bytes_text(counts.bytes));
    let files = wire::warc_dir(dir);
    writeln!(out, "{requests} requests in {took}, {bytes}, {captures} captures in {}", files.display())?;
    let at = data_flag(dir);
    writeln!(out, "next: skurd linear show WALK{at} | skurd captures{at} | skurd cdx export{at}")?;
    Ok(out.flush()?)
}
