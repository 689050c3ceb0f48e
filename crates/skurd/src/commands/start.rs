//! `skurd start`: a seed, a profile or a collection as a new run (F1–F4).

use std::io::Write;

use anyhow::Result;
use app::control::{Run, Start};
use axum::http::Method;
use declare::counted;
use harvest::session::stdout;
use server::client::{Call, Client};

use crate::args::StartArgs;

pub(crate) fn run(args: &StartArgs) -> Result<()> {
    let ask = Client::open(&args.data.dir)?;
    let start = Start {
        seed: args.seed.clone(),
        profiles: args.profiles.clone(),
        collection: args.collection.clone(),
    };
    let runs: Vec<Run> = ask.ask(&Call::new(Method::POST, "start").body(&serde_json::to_value(start)?))?;
    let mut out = stdout();
    for run in &runs {
        match args.json {
            true => writeln!(out, "{}", serde_json::to_string(run)?)?,
            false => print(&mut out, run)?,
        }
    }
    Ok(out.flush()?)
}

fn print(out: &mut impl Write, run: &Run) -> Result<()> {
    let Run { run, started, seeds, changed } = run;
    write!(out, "run {run}: started {started}: {}, {changed} queued", counted(*seeds, "seed"))?;
    match seeds.saturating_sub(*changed) {
        0 => writeln!(out)?,
        rest => writeln!(out, ", {rest} as before (queued already, or blacklisted)")?,
    }
    Ok(())
}
