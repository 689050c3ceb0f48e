//! `skurd pause` and `skurd resume`.

use std::io::Write;

use anyhow::Result;
use app::control::{Pausable, PauseChange, PauseItem};
use axum::http::Method;
use harvest::session::stdout;
use serde_json::json;
use server::client::{Call, Client};

use crate::args::look::{PausableArgs, PauseArgs, ResumeArgs};
use crate::output::{Column, Table, left, shown};

const PAUSED: [Column<PauseItem>; 2] =
    [left("paused", |item| named(&item.target)), left("since", |item| shown(&item.since))];

pub(crate) fn pause(args: &PauseArgs) -> Result<()> {
    if args.list {
        let client = Client::open(&args.which.data.dir)?;
        return print(&client.ask::<Vec<PauseItem>>(&Call::get("pauses", Vec::new()))?, args.which.json);
    }
    change(&args.which, "pause")
}

pub(crate) fn resume(args: &ResumeArgs) -> Result<()> {
    change(&args.which, "resume")
}

/// One thing after the other; what is paused then is said, also where nothing was left to change.
fn change(args: &PausableArgs, path: &str) -> Result<()> {
    let client = Client::open(&args.data.dir)?;
    let mut paused = Vec::new();
    for target in targets(args) {
        let question = Call::new(Method::POST, path).body(&json!(target));
        paused = client.ask::<PauseChange>(&question)?.paused;
    }
    print(&paused, args.json)
}

fn targets(args: &PausableArgs) -> Vec<Pausable> {
    let collections = args.collections.iter().cloned().map(|name| Pausable::Collection { name });
    let hosts = args.hosts.iter().cloned().map(|name| Pausable::Host { name });
    let walks = args.walks.iter().cloned().map(|name| Pausable::Walk { name });
    let named: Vec<Pausable> = collections.chain(hosts).chain(walks).collect();
    if named.is_empty() { vec![Pausable::Everything {}] } else { named }
}

fn named(target: &Pausable) -> String {
    match target {
        Pausable::Everything {} => "everything".to_owned(),
        Pausable::Collection { name } => format!("collection {name}"),
        Pausable::Host { name } => format!("host {name}"),
        Pausable::Walk { name } => format!("walk {name}"),
    }
}

fn print(paused: &[PauseItem], as_json: bool) -> Result<()> {
    let mut out = stdout();
    match as_json {
        true => paused.iter().try_for_each(|item| writeln!(out, "{}", json!(item)))?,
        false if paused.is_empty() => writeln!(out, "nothing is paused")?,
        false => Table::new(&PAUSED).page(&mut out, paused)?,
    }
    Ok(out.flush()?)
}
